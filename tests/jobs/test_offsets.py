# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The job ``offsets`` from end to end, with a simulated cluster.

The expected rows are stored while the logs are written. The tables must contain exactly
these rows, even if other batches are damaged.
"""

import importlib
from pathlib import Path

import pytest

from kwire import encode, messages
from tests.jobs.made_groups import (
    MINUTE,
    START,
    TOPIC_ID,
    TOPIC_ID_TEXT,
    Groups,
    Topic,
    consumer_records,
    write_cluster,
)
from tests.jobs.offsets_tables import read_rows, read_tuples


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Write the logs of a cluster over 30 minutes. Tests must not change the files."""
    root = tmp_path_factory.mktemp("cluster")
    groups = write_cluster(root)
    groups.root = root
    return groups


@pytest.fixture(scope="module")
def results(kwire, cluster, tmp_path_factory):
    """Return the result of the job for the cluster, once for each engine."""
    jobs = importlib.import_module(f"{kwire.__name__}.jobs")
    return jobs.offsets(cluster.root, tmp_path_factory.mktemp("known") / "out")


def by_commit(rows):
    return sorted(rows, key=lambda row: (row["log_offset"], row["topic"]))


def test_every_commit_that_counts_is_a_row(results, cluster):
    """The commits table contains exactly the valid commits and tombstones.

    Commits in aborted or unfinished transactions are only counted.
    """
    assert read_rows(results, "commits") == cluster.commits
    (history,) = read_rows(results, "history")
    assert history["commits"] == len(cluster.lag)
    assert (history["aborted_commits"], history["pending_commits"]) == (2, 1)


def test_lag_is_that_of_the_time_of_the_commit(results, cluster):
    """The lag of a commit is the number of unread records at the time of the commit.

    The expected value is counted record by record. If the topic has no log, the lag is
    null.
    """
    assert by_commit(read_rows(results, "lag")) == cluster.lag
    unknown = [row for row in cluster.lag if row["log_end"] is None]
    assert {row["topic"] for row in unknown} == {"unseen"}


def test_group_without_progress_in_a_growing_log_is_stuck(results, cluster):
    """A group is stuck if the log grows and the group's commits do not progress.

    Slow readers are not stuck, and neither are readers of a log that does not grow.
    """
    columns = ("group", "topic", "partition", "committed", "log_end", "since")
    stuck_rows = read_tuples(results, "stuck", *columns, "last_commit")
    assert stuck_rows == cluster.stuck
    assert results.findings == 2


def test_stuck_needs_a_record_that_waited_so_long(offsets, tmp_path):
    """A group is stuck only if an unread record has waited for ``stuck_after_s``.

    The limit is exact to the millisecond. Records before the committed offset do not
    count.
    """
    topic = Topic(tmp_path, "t", 0)
    topic.produce(5, START)
    topic.produce(5, START + 1000)
    topic.write()
    groups = Groups(tmp_path, 0, {("t", 0): topic})
    groups.commit("g", "t", 0, 3, START + 500)
    groups.commit("other", "t", 0, 10, START + 61_000)
    groups.write()
    assert offsets(tmp_path, stuck_after_s=60.001).findings == 0
    (tmp_path / "out").rename(tmp_path / "first")
    result = offsets(tmp_path / "t-0", groups.folder, stuck_after_s=60)
    assert read_tuples(result, "stuck", "group", "since") == [("g", START + 500)]


def test_markers_of_transactions_are_nothing_to_read(offsets, tmp_path):
    """A group that has read all records is not stuck because of a transaction marker.

    The marker has an offset, but no consumer ever reads it.
    """
    topic = Topic(tmp_path, "t", 0)
    options = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}
    topic.produce(5, START, **options)
    topic.marker(1, b"\0\0\0\1", START + 1000)
    topic.write()
    groups = Groups(tmp_path, 0)
    groups.commit("g", "t", 0, 5, START + 500)
    groups.commit("g", "t", 0, 5, START + 60 * MINUTE)
    groups.write()
    result = offsets(tmp_path)
    assert result.findings == 0
    assert read_tuples(result, "lag", "lag", "lag_ms") == [(0, 0), (1, 0)]


def test_rebalances_contain_joined_and_left_members(results, cluster):
    first, second = (START + m * MINUTE + 503 for m in (10, 20))
    assert [tuple(row.values()) for row in read_rows(results, "rebalances")] == [
        (first, "good", 1, 2, ["b"], [], second - first, None),
        (second, "good", 2, 3, [], ["a"], None, None),
    ]


def test_classic_group_state_contains_subscriptions_and_assignments(results, cluster):
    """The state of a classic group contains its subscriptions and assignments.

    They are decoded with the consumer protocol.
    """
    states = read_rows(results, "group_state")
    assert [(s["generation"], s["state"], len(s["members"])) for s in states] == [
        (1, "Stable", 1),
        (2, "Stable", 2),
        (3, "Stable", 1),
    ]
    assert states[1]["members"][1] == {
        "member_id": "b",
        "instance_id": None,
        "client_id": "client",
        "host": "/10.0.0.1",
        "epoch": None,
        "subscriptions": ["orders"],
        "subscribed_regex": None,
        "assignment": [
            {
                "topic": "orders",
                "topic_id": None,
                "subtopology": None,
                "partitions": [1],
            }
        ],
    }


def test_a_consumer_group_is_put_together_from_its_records(offsets, tmp_path):
    """State and rebalance time of a consumer group are derived from its records.

    The states are assigning, reconciling, stable, empty and dead.
    """
    Topic(tmp_path, "orders", 0, topic_id=TOPIC_ID_TEXT).write()
    groups = Groups(tmp_path)
    assignments = {"m1": (1, [0, 1])}
    for delay, *records in (
        (0, *consumer_records("g", 1, assignments, joined=["m1"], assigned=1)),
        (1, *consumer_records("g", 2, {}, joined=["m2"])),
        (2, *consumer_records("g", None, {"m1": (2, [0])}, assigned=2)),
        (3, *consumer_records("g", None, {"m2": (1, [])})),
        (5, *consumer_records("g", None, {"m2": (2, [1])})),
        (9, *consumer_records("g", 3, {}, left=["m1", "m2"], assigned=3)),
        (
            10,
            (messages.ConsumerGroupMetadataKey(group_id="g"), None, 0),
            (messages.ConsumerGroupTargetAssignmentMetadataKey(group_id="g"), None, 0),
        ),
        (12, *consumer_records("g", 1, {}, joined=["m3"])),
    ):
        groups.write_records(records, START + delay)
    groups.write()
    result = offsets(tmp_path)
    states = read_rows(result, "group_state")
    assert [(s["generation"], s["state"], s["kind"]) for s in states] == [
        (1, "Stable", "consumer"),
        (2, "Assigning", "consumer"),
        (2, "Reconciling", "consumer"),
        (2, "Reconciling", "consumer"),
        (2, "Stable", "consumer"),
        (3, "Empty", "consumer"),
        (None, "Dead", "consumer"),
        (1, None, "consumer"),
    ]
    assert states[0]["members"][0]["assignment"] == [
        {
            "topic": "orders",
            "topic_id": TOPIC_ID_TEXT,
            "subtopology": None,
            "partitions": [0, 1],
        }
    ]
    assert [tuple(row.values()) for row in read_rows(result, "rebalances")] == [
        (START + 1, "g", 1, 2, ["m2"], [], 8, 4),
        (START + 9, "g", 2, 3, [], ["m1", "m2"], 1, None),
        (START + 12, "g", None, 1, ["m3"], [], None, None),
    ]


@pytest.mark.parametrize("kind", ["Share", "Streams"])
def test_share_and_streams_groups_have_states_too(offsets, tmp_path, kind):
    groups = Groups(tmp_path)

    def message(name, **fields):
        return getattr(messages, f"{kind}Group{name}")(**fields)

    about = {"client_id": "c", "client_host": "/h"}
    current = messages.StreamsGroupCurrentMemberAssignmentValue
    task = current.TaskIds(subtopology_id="0", partitions=[3])
    held = {"active_tasks": [task]} if kind == "Streams" else {}
    member = {"group_id": "g", "member_id": "m"}
    group = {"group_id": "g"}
    pairs = {
        "MemberMetadata": (member, about),
        "Metadata": (group, {"epoch": 4}),
        "TargetAssignmentMetadata": (group, {"assignment_epoch": 4}),
        "CurrentMemberAssignment": (member, {"member_epoch": 4, **held}),
    }
    group_records = [
        (message(f"{name}Key", **key), message(f"{name}Value", **value), 0)
        for name, (key, value) in pairs.items()
    ]
    groups.write_records(group_records, START)
    groups.write()
    (state,) = read_rows(offsets(tmp_path), "group_state")
    assert (state["kind"], state["generation"]) == (kind.lower(), 4)
    assert (state["state"], state["members"][0]["epoch"]) == ("Stable", 4)
    if kind == "Streams":
        assert state["members"][0]["assignment"][0]["subtopology"] == "0"


def test_a_commit_to_another_topic_of_the_same_name_has_no_lag(offsets, tmp_path):
    """A commit has no lag if its topic id differs from the topic id of the log.

    The topic was deleted and created again with the same name.
    """
    topic = Topic(tmp_path, "t", 0, topic_id="AAAAAAAAAAAAAAAAAAAAAg")
    topic.produce(5, START)
    topic.write()
    groups = Groups(tmp_path, 0, {("t", 0): topic})
    groups.commit("g", "t", 0, 3, START, topic_id=TOPIC_ID, version=4)
    groups.commit("g", "t", 0, 3, START + 1)
    groups.write()
    lags = read_tuples(offsets(tmp_path), "lag", "log_end", "lag")
    assert lags == [(None, None), (5, 2)]


def test_the_clock_of_a_producer_does_not_stop_the_log(offsets, tmp_path):
    """A record with a wrong timestamp gets the time of its neighbors.

    A record with a timestamp in the next year must not hide later records. A record
    with an old timestamp arrived after its predecessor.
    """
    topic = Topic(tmp_path, "t", 0)
    for delay in (0, 1000 * 365 * 86_400, 1000, -60_000, 3000):
        topic.produce(1, START + delay)
    topic.write()
    groups = Groups(tmp_path)
    for delay in (500, 1500, 3500):
        groups.commit("g", "t", 0, 0, START + delay)
    groups.write()
    lags = read_tuples(offsets(tmp_path), "lag", "log_end", "lag_ms")
    assert lags == [(2, 500), (4, 1500), (5, 3500)]


def test_lag_before_the_first_segment_is_unknown(offsets, tmp_path):
    topic = Topic(tmp_path, "t", 0, base_offset=100)
    topic.produce(10, START + 1000)
    topic.write()
    groups = Groups(tmp_path)
    groups.commit("g", "t", 0, 50, START)
    groups.commit("g", "t", 0, 60, START + 1500)
    groups.commit("g", "t", 0, 120, START + 1600)
    groups.write()
    lags = read_tuples(offsets(tmp_path), "lag", "log_end", "lag", "lag_ms")
    # A commit proves that the log reached the offset, even if this copy ends before it.
    assert lags == [(None, None, None), (110, 50, 500), (120, 0, 0)]


def test_age_is_that_of_the_batch_with_the_first_unread_record(offsets, tmp_path):
    """The lag in milliseconds is the age of the batch with the first unread record.

    If the committed offset is the last record of a batch, this batch is still unread.
    """
    topic = Topic(tmp_path, "t", 0)
    topic.produce(10, START)
    topic.produce(10, START + 1000)
    topic.write()
    groups = Groups(tmp_path)
    for offset in (9, 10, 19, 20):
        groups.commit("g", "t", 0, offset, START + 1500)
    groups.write()
    lags = read_tuples(offsets(tmp_path), "lag", "lag", "lag_ms")
    assert lags == [(11, 1500), (10, 500), (1, 500), (0, 0)]


def test_members_newer_than_kwire_are_read_as_far_as_known(offsets, tmp_path):
    """Subscriptions in newer versions are decoded up to the fields that kwire knows.

    Newer versions of the consumer protocol only append fields.
    """
    groups = Groups(tmp_path)
    metadata = encode(messages.ConsumerProtocolSubscription(topics=["t"]), 3)
    member = messages.GroupMetadataValue.MemberMetadata(
        member_id="m", subscription=b"\0\x09" + metadata + b"more"
    )
    value = messages.GroupMetadataValue(
        protocol_type="consumer", generation=1, members=[member]
    )
    groups.write_records([(messages.GroupMetadataKey(group="g"), value, 3)], START)
    groups.write()
    result = offsets(tmp_path)
    (state,) = read_rows(result, "group_state")
    assert state["members"][0]["subscriptions"] == ["t"]
    assert result.counts["problems"] == 0


def test_offsets_that_make_no_sense_do_no_harm(offsets, tmp_path):
    """The minimum and maximum offsets of the format do not overflow."""
    topic = Topic(tmp_path, "t", 0, base_offset=2**63 - 100)
    topic.produce(5, START)
    topic.write()
    copy = Topic(tmp_path, "t", 1, base_offset=2**63 - 100)
    copy.produce(5, START)
    copy.write()
    groups = Groups(tmp_path)
    for partition in (0, 1):
        for offset in (-(2**63), -1, 2**63 - 1, 0):
            groups.commit("g", "t", partition, offset, START + 1)
    groups.write()
    result = offsets(tmp_path)
    end = 2**63 - 95
    lags = read_tuples(result, "lag", "log_end", "lag")
    assert lags[:4] == [(None, None)] * 2 + [(2**63 - 1, 0), (end, end)]
    assert read_tuples(result, "groups", "lag") == [(2**63 - 1,)]


def test_log_append_time_is_the_time_of_a_commit(offsets, tmp_path):
    groups = Groups(tmp_path)
    groups.commit("g", "t", 0, 5, START, log_append_time=START + 70)
    groups.write()
    assert read_tuples(offsets(tmp_path), "commits", "timestamp") == [(START + 70,)]


def test_commits_of_old_formats_take_the_time_in_their_value(offsets, tmp_path):
    """If a commit has no timestamp, the time in its value is used.

    Records of magic 0 have no timestamps.
    """
    groups = Groups(tmp_path)
    groups.commit("g", "t", 0, 5, START, version=0, magic=0)
    groups.commit("g", "t", 0, 6, START + 1, version=1, magic=1, compression="gzip")
    groups.write()
    result = offsets(tmp_path)
    assert read_rows(result, "commits") == groups.commits
    (history,) = read_rows(result, "history")
    assert history["complete_from_offset"] == 0


def test_the_first_form_of_commits_is_read_too(offsets, tmp_path):
    """Commits of record type 0 are read. They have no leader epoch and no topic id."""
    groups = Groups(tmp_path)
    key = messages.LegacyOffsetCommitKey(group="g", topic="t", partition=2)
    value = messages.LegacyOffsetCommitValue(
        offset=5, metadata="m", commit_timestamp=START
    )
    groups.write_records([(key, value, 0)], START)
    groups.write()
    (row,) = read_rows(offsets(tmp_path), "commits")
    assert list(row.values())[1:8] == ["g", "t", 2, 5, None, "m", None]


def test_damage_only_affects_its_batch_and_is_reported(offsets, tmp_path):
    """A changed bit only removes the commit in its batch, and is reported."""
    groups = write_cluster(tmp_path)
    path = groups.paths[1]
    data = bytearray(path.read_bytes())
    data[70] ^= 1
    path.write_bytes(data)
    lost = int.from_bytes(data[:8], "big")
    result = offsets(tmp_path)
    remaining = [row for row in groups.commits if row["log_offset"] != lost]
    assert len(remaining) == len(groups.commits) - 1
    assert read_rows(result, "commits") == remaining
    damage = [row for row in read_rows(result, "problems") if row["reason"] == "crc"]
    assert len(damage) == 1
    size = int.from_bytes(data[8:12], "big") + 12
    assert (damage[0]["path"], damage[0]["position"]) == (str(path), 0)
    assert (damage[0]["length"], damage[0]["offset"]) == (size, lost)
    remaining_lags = [row for row in groups.lag if row["log_offset"] != lost]
    assert by_commit(read_rows(result, "lag")) == remaining_lags


def test_undecodable_records_are_rows_of_the_problems(offsets, tmp_path):
    """Every record that cannot be decoded is a row of the problems table.

    Examples are newer record types and versions, truncated values, null keys, and
    invalid members.
    """
    groups = Groups(tmp_path)
    key = messages.OffsetCommitKey(group="g", topic="t", partition=0)
    head = b"\0\1\0\1g\0\1t\0\0\0\0"
    groups.batch([(b"\0\x63rest", b"\0\0", START)])
    groups.batch([(head, b"\0\x63rest", START + 1)])
    groups.batch([(head, b"\0\3\0\0", START + 2)])
    groups.batch([(None, b"\0\0", START + 3)])
    member = messages.GroupMetadataValue.MemberMetadata(
        member_id="m", subscription=b"\0", assignment=b"\0\0" + b"\0" * 8
    )
    value = messages.GroupMetadataValue(
        protocol_type="consumer", generation=1, members=[member]
    )
    groups.write_records([(messages.GroupMetadataKey(group="g"), value, 3)], START + 4)
    groups.commit("g", "t", 0, 5, START + 5)
    groups.write()
    result = offsets(tmp_path)
    assert read_rows(result, "commits") == groups.commits
    problems = read_rows(result, "problems")
    assert [(row["offset"], row["reason"]) for row in problems] == [
        (0, "newer"),
        (1, "newer"),
        (2, "undecodable"),
        (3, "undecodable"),
        (4, "undecodable"),
    ]
    assert {row["topic"] for row in problems} == {"__consumer_offsets"}
    assert repr(key) in problems[1]["error"]
    assert "the subscription of m" in problems[4]["error"]
    (state,) = read_rows(result, "group_state")
    assert state["members"][0]["subscriptions"] is None
    assert state["members"][0]["assignment"] == []


def test_pending_transaction_is_reported(results, cluster):
    (problem,) = read_rows(results, "problems")
    assert (problem["reason"], problem["offset"]) == ("pending", cluster.pending)
    assert "not counted: 1 offset commit of txn" in problem["error"]


@pytest.mark.parametrize(
    "trace", ["gap", "end", "empty batch", "delete horizon", "checkpoint"]
)
def test_history_is_complete_after_the_compacted_segments(offsets, tmp_path, trace):
    """The history is complete from the first segment that was never compacted.

    ``trace`` is the trace that compaction has left in the first segment.
    """
    groups = Groups(tmp_path)
    groups.commit("g", "t", 0, 1, START)
    if trace == "end":
        groups.skip(3)
    elif trace == "gap":
        groups.skip(3)
        groups.commit("g", "t", 0, 2, START + 1)
    elif trace == "empty batch":
        groups.batch([], last_offset=groups.next + 2)
    elif trace == "delete horizon":
        groups.commit("g", "t", 0, 2, START + 1, delete_horizon=START)
    groups.roll()
    groups.commit("g", "t", 0, 3, START + 10)
    groups.write()
    if trace == "checkpoint":
        text = f"0\n1\n__consumer_offsets 0 {groups.next - 1}\n"
        (tmp_path / "cleaner-offset-checkpoint").write_text(text)
    result = offsets(tmp_path)
    (history,) = read_rows(result, "history")
    assert history["complete_from_offset"] == groups.next - 1
    assert history["complete_from"] == START + 10
    page = (tmp_path / "out" / "report.html").read_text()
    assert "only contain the last commit per key" in page


def test_history_that_was_never_cleaned_is_complete(results):
    (history,) = read_rows(results, "history")
    assert history["complete_from_offset"] == 0
    assert "The history is complete, because" in Path(results.report).read_text()


def test_of_several_replicas_the_longest_is_read(offsets, cluster, tmp_path):
    """If a partition has several replicas, the one with the most offsets is read."""
    follower = Groups(tmp_path / "b", 7)
    follower.commit("old", "orders", 0, 1, START)
    follower.write()
    topic = Topic(tmp_path / "b", "orders", 0)
    topic.produce(3, START)
    topic.write()
    result = offsets(tmp_path / "b", cluster.root)
    assert read_rows(result, "commits") == cluster.commits
    assert by_commit(read_rows(result, "lag")) == cluster.lag


def test_only_requested_groups_are_read(offsets, cluster):
    result = offsets(cluster.root, groups=["slow", "absent"])
    assert read_rows(result, "commits") == [
        row for row in cluster.commits if row["group"] == "slow"
    ]
    assert result.counts["group_state"] == 0
    assert read_tuples(result, "groups", "group") == [("slow",)]


def test_groups_are_summed_up_worst_first(results, cluster):
    """The groups table has one row per group, and the worst group is first.

    A row contains the type, the last state, the commits, the lag and the stuck
    partitions.
    """
    rows = read_rows(results, "groups")
    groups = {row.pop("group"): tuple(row.values()) for row in rows}
    assert list(groups)[:2] == ["dead", "blocked"]
    last = START + 29 * MINUTE + 500
    first = START + MINUTE + 500
    commits = 58
    assert groups["good"] == (
        "classic",
        "Stable",
        1,
        2,
        commits,
        first,
        last,
        2,
        2 * (1800 - 60 * 29),
        0,
        0,
        2 * (1800 - 60 * 29),
    )
    assert groups["blocked"][-4:] == (1800 - 200, 0, 1, 1800 - 200)
    assert groups["gone"][-4:] == (None, 1, 0, None)
    assert groups["expired"][3:5] == (0, 1)


def test_lag_over_time_continues_without_commits(results, cluster):
    """If a group no longer commits, its lag is computed from its last commit."""
    rows = read_rows(results, "lag_over_time")
    dead = [(row["timestamp"], row["lag"]) for row in rows if row["group"] == "dead"]
    topic = cluster.topics["orders", 0]
    assert len(dead) > 50
    assert dead == [(timestamp, topic.lag(30, timestamp)[1]) for timestamp, _ in dead]
    assert dead[-1][0] == cluster.end
    good = {row["timestamp"]: row for row in rows if row["group"] == "good"}
    assert good[cluster.end]["partitions"] == 2
    group_rows = [row for row in rows if row["group"] == "gone"]
    assert {(row["lag"], row["unknown_lags"]) for row in group_rows} == {(None, 1)}
    assert {row["missing_logs"] for row in group_rows} == {1}


def test_commit_rate_counts_each_commit_once(results, cluster):
    rows = read_rows(results, "commit_rate")
    assert sum(row["commits"] for row in rows) == len(cluster.lag)


def test_growth_names_the_keys_with_most_bytes(results, cluster):
    rows = read_rows(results, "growth")
    assert [row["bytes"] for row in rows] == sorted(
        (row["bytes"] for row in rows), reverse=True
    )
    slow = next(row for row in rows if row["group"] == "slow")
    # Header: the record type and three key fields. Value: version, offset, leader
    # epoch, metadata and time.
    size = 2 + 2 + 4 + 2 + 6 + 4 + (2 + 8 + 4 + 2 + 5 + 8)
    assert (slow["records"], slow["bytes"]) == (29, 29 * size)


def test_progress_adds_up_to_all_segments(offsets, cluster):
    progress = []
    offsets(cluster.root, progress=progress.append)
    files = cluster.root.rglob("*.log")
    assert sum(progress) == sum(path.stat().st_size for path in files)


def test_a_path_without_the_topic_is_refused(offsets, tmp_path):
    Topic(tmp_path, "orders", 0).write()
    with pytest.raises(FileNotFoundError, match="no partition of __consumer_offsets"):
        offsets(tmp_path)
    assert not (tmp_path / "out").exists()


def test_an_empty_log_makes_empty_tables(offsets, tmp_path):
    Groups(tmp_path).write()
    result = offsets(tmp_path)
    assert result.counts == dict.fromkeys(result.counts, 0) | {"history": 1}
