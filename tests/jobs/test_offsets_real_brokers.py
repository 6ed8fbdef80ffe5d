# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``offsets`` on real brokers' directories, compared with Kafka's tool.

The tool prints all records. Records that a coordinator ignores, such as commits in
aborted transactions, are removed here with the printed markers.
"""

import importlib
import json
import lzma
import re
from pathlib import Path

import pyarrow.parquet
import pytest

DATA = Path(__file__).parents[1] / "data"
TOPIC = "__consumer_offsets"
OLD_KEY = re.compile(r"offset_commit::group=(.*),partition=(.*)-(\d+)")
OLD_VALUE = re.compile(r"(?s)offset=(\d+)(?:,metadata=(.*))?")


def read_printed(release):
    """Return the output of Kafka's dump tool by file name."""
    with lzma.open(DATA / release / "manifest.json.xz") as file:
        return json.load(file)["files"]


def printed_records(release):
    """Return the records of ``__consumer_offsets`` that the tool prints, in log order.

    Records of aborted transactions are removed.
    """
    files = read_printed(release)
    records, running = [], {}
    paths = [p for p in files if p.startswith(TOPIC) and p.endswith(".log")]
    for path in sorted(paths):
        for batch in files[path]["batches"]:
            batch_records = batch["records"]
            if batch["is_control"]:
                if "ABORT" in batch_records[0]["control"]:
                    for record in running.pop(batch["producer_id"], ()):
                        records.remove(record)
                running.pop(batch["producer_id"], None)
                continue
            records += batch_records
            if batch["is_transactional"]:
                running.setdefault(batch["producer_id"], []).extend(batch_records)
    return records


def read_new(record):
    """Parse the JSON that newer tools print.

    Return (record type, key, version, value). For a tombstone, version and value are
    None.
    """
    key = json.loads(record["key"])
    if record["payload"] == "<DELETE>":
        return int(key["type"]), key["data"], None, None
    payload = json.loads(record["payload"])
    return int(key["type"]), key["data"], int(payload["version"]), payload["data"]


def commit_told(record):
    """Return a printed commit as a tuple of table columns.

    Return None if the record is not a commit.
    """
    position = record["offset"], record["timestamp"]
    if record["key"].startswith("{"):
        kind, key, version, value = read_new(record)
        if kind != 1:
            return None
        who = key["group"], key["topic"], key["partition"]
        if value is None:
            return (*position, *who, None, None, None, True, None, None)
        epoch = None if value["leaderEpoch"] < 0 else value["leaderEpoch"]
        commit_values = value["offset"], epoch, value["metadata"]
        return (*position, *who, *commit_values, False, version, value.get("topicId"))
    match = OLD_KEY.fullmatch(record["key"])
    if match is None:
        return None
    who = match[1], match[2], int(match[3])
    if record["payload"] == "<DELETE>":
        return (*position, *who, None, None, None, True, None, None)
    value = OLD_VALUE.fullmatch(record["payload"])
    # The old tool prints neither versions nor epochs. Brokers of 2.8 wrote version 3.
    return (*position, *who, int(value[1]), None, value[2] or "", False, 3, None)


COLUMNS = (
    "log_offset",
    "timestamp",
    "group",
    "topic",
    "partition",
    "offset",
    "leader_epoch",
    "metadata",
    "is_tombstone",
    "record_version",
    "topic_id",
)


def read(result, name):
    return pyarrow.parquet.read_table(result.tables[name]).to_pylist()


def moment(row):
    return round(row["timestamp"].timestamp() * 1000)


@pytest.fixture(scope="module", params=["4.3.1", "3.9.2", "2.8.2"])
def release(request):
    return request.param


@pytest.fixture(scope="module")
def result(kwire, release, tmp_path_factory):
    jobs = importlib.import_module(f"{kwire.__name__}.jobs")
    return jobs.offsets(DATA / release / "data", tmp_path_factory.mktemp("job") / "out")


def test_commits_are_those_that_kafka_prints(result, release):
    """The commits table equals the commits that Kafka's tool prints.

    Offsets, metadata, versions, topic ids and tombstones are compared.
    """
    rows = [row | {"timestamp": moment(row)} for row in read(result, "commits")]
    expected = [
        commit
        for commit in map(commit_told, printed_records(release))
        if commit is not None
    ]
    assert [tuple(row[name] for name in COLUMNS) for row in rows] == expected
    assert len(expected) == {"4.3.1": 9, "3.9.2": 77, "2.8.2": 77}[release]
    assert result.counts["problems"] == 0


def test_classic_groups_are_those_that_kafka_prints(result, release):
    """The states of classic groups equal those that Kafka's tool prints.

    Generation, protocol, leader, members and their assignments are compared.
    """
    states = {row["log_offset"]: row for row in read(result, "group_state")}
    count = 0
    for record in printed_records(release):
        if record["key"].startswith("group_metadata"):
            group, value = record["key"].partition("group=")[2], record["payload"]
            value = None if value == "<DELETE>" else json.loads(value)
        elif record["key"].startswith("{") and read_new(record)[0] == 2:
            _, key, _, value = read_new(record)
            group = key["group"]
        else:
            continue
        count += 1
        row = states[record["offset"]]
        assert (row["group"], row["kind"]) == (group, "classic")
        if value is None:
            assert row["state"] == "Dead"
            continue
        assert row["protocol_type"] == value["protocolType"]
        assert row["protocol"] == value["protocol"]
        members = {member["member_id"]: member for member in row["members"]}
        assert row["state"] == ("Stable" if members else "Empty")
        if "generationId" in value:
            assert row["generation"] == value["generationId"]
            assert (
                f"{{{', '.join(map(old_form, row['members']))}}}"
                == (value["assignment"])
            )
            continue
        assert row["generation"] == value["generation"]
        assert row["leader"] == value["leader"]
        assert set(members) == {
            printed_member["memberId"] for printed_member in value["members"]
        }
        for printed_member in value["members"]:
            member = members[printed_member["memberId"]]
            assert member["instance_id"] == printed_member["groupInstanceId"]
            assert member["client_id"] == printed_member["clientId"]
            assert member["host"] == printed_member["clientHost"]
            assert member["subscriptions"] == printed_member["subscription"]["topics"]
            assert [(a["topic"], a["partitions"]) for a in member["assignment"]] == [
                (a["topic"], a["partitions"])
                for a in printed_member["assignment"]["assignedPartitions"]
            ]
    assert count >= 4


def old_form(member):
    names = [
        f"{topic['topic']}-{number}"
        for topic in member["assignment"]
        for number in topic["partitions"]
    ]
    return f"{member['member_id']}=[{', '.join(names)}]"


def test_lag_is_the_distance_to_the_end_of_the_real_log(result, release):
    """The lag of a commit equals the distance to the end of the real log.

    All logs were complete at the time of the commits. The lag is null for logs of magic
    0, whose records have no timestamps.
    """
    files = read_printed(release)
    rows = read(result, "lag")
    assert len(rows) == sum(not row["is_tombstone"] for row in read(result, "commits"))
    for row in rows:
        name = f"{row['topic']}-{row['partition']}/"
        paths = [p for p in files if p.startswith(name) and p.endswith(".log")]
        last = files[max(paths)]["batches"][-1]
        end = last.get("last_offset", last.get("offset")) + 1
        expected_lag = (end, end - row["committed"]) if last["magic"] else (None, None)
        assert (row["log_end"], row["lag"]) == expected_lag
    (lag,) = (
        row["lag"] for row in read(result, "groups") if row["group"] == "manual-group"
    )
    assert lag == {"4.3.1": 96, "3.9.2": 96, "2.8.2": 72}[release] - 59


@pytest.mark.parametrize("release", ["4.3.1"], indirect=True, scope="module")
def test_groups_of_the_new_protocols_are_put_together(result):
    """The last states of consumer and share groups equal those that the tool prints."""
    last = {row["group"]: row for row in read(result, "group_state")}
    lasting = last["lasting-group"]
    assert (lasting["kind"], lasting["generation"]) == ("consumer", 2)
    (member,) = lasting["members"]
    assert (lasting["state"], member["epoch"]) == ("Stable", 2)
    assert (member["client_id"], member["host"]) == ("rdkafka", "/127.0.0.1")
    (assigned,) = member["assignment"]
    assert (assigned["topic"], assigned["partitions"]) == ("codec-none", [0])
    share = last["share-group"]
    assert (share["kind"], share["generation"], share["state"]) == ("share", 4, "Empty")
    rebalances = [
        (row["group"], row["from_generation"], row["to_generation"])
        for row in read(result, "rebalances")
    ]
    assert rebalances == [("share-group", 2, 3), ("share-group", 3, 4)]
    (history,) = read(result, "history")
    assert history["complete_from_offset"] == 114
