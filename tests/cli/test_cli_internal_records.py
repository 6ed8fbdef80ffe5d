# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump`` for internal topics and control records."""

import shutil

import pytest

from kwire import encode, messages
from kwire.messages import internal_topics
from tests.cli.made_logs import DATA, write_log

OFFSETS = "__consumer_offsets"
NEWEST = DATA / "4.3.1" / "data"


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("__consumer_offsets", {"OffsetCommitKey", "GroupMetadataKey"}),
        ("__transaction_state", {"TransactionLogKey"}),
        ("__share_group_state", {"ShareSnapshotKey", "ShareUpdateKey"}),
        ("__cluster_metadata", {None}),
    ],
)
def test_internal_topics_are_decoded(run, topic, names):
    rows = run("dump", NEWEST, "-t", topic, "-o", "jsonl").rows
    assert rows and not [row["error"] for row in rows if "error" in row]
    assert {row.get("key_json", {}).get("name") for row in rows} >= names
    for row in rows:
        assert "value_json" in row or row["value"] is None


def test_a_value_is_decoded_at_its_own_version(run):
    """Old versions have fields that new versions lack. The version is printed."""
    versions = set()
    for release in ("2.8.2", "4.3.1"):
        ran = run(
            "dump",
            DATA / release / "data",
            "-t",
            "__consumer_offsets",
            "-o",
            "jsonl",
        )
        versions |= {
            row["value_json"]["version"]
            for row in ran.rows
            if row.get("key_json", {}).get("name") == "OffsetCommitKey"
            and "value_json" in row
        }
    assert versions >= {3, 4}


def test_raw_switches_decoding_off(run):
    rows = run("dump", NEWEST, "-t", "__consumer_offsets", "-o", "jsonl", "--raw").rows
    assert rows and not any("key_json" in row or "value_json" in row for row in rows)


def test_a_table_names_the_message(run):
    out = run("dump", NEWEST, "-t", "__transaction_state", "-n", 1).out
    assert "TransactionLog transactionalId=one producerId=12 " in out


def test_members_of_groups_are_decoded(run):
    """Data that members exchange is decoded instead of printed as base64."""
    member_count = 0
    for release in ("2.8.2", "3.9.2", "4.3.1"):
        ran = run("dump", DATA / release / "data", "-t", OFFSETS, "-o", "jsonl")
        for row in ran.rows:
            value = row.get("value_json", {"name": None})
            if value["name"] != "GroupMetadataValue":
                continue
            for member in value["data"]["members"]:
                subscription, assignment = member["subscription"], member["assignment"]
                assert subscription["name"] == "ConsumerProtocolSubscription"
                (topic,) = subscription["data"]["topics"]
                assert assignment["name"] == "ConsumerProtocolAssignment"
                assigned = assignment["data"]["assignedPartitions"]
                assert assigned == [{"topic": topic, "partitions": [0]}]
                member_count += 1
    assert member_count >= 3


def group_of(protocol_type, subscription):
    """Return the encoded key and value of a group with one member."""
    member = messages.GroupMetadataValue.MemberMetadata(subscription=subscription)
    value = messages.GroupMetadataValue(protocol_type=protocol_type, members=[member])
    key = messages.GroupMetadataKey(group="g")
    return internal_topics.encode(OFFSETS, key, value, 3)


def test_undecodable_members_remain_bytes(run, tmp_path):
    """Other protocols have other formats, and a member may send any bytes."""
    groups = [
        ("connect", b"\0\0\0\0\0\0"),
        ("consumer", b"\0\0\xff"),
        ("consumer", b""),
    ]
    rows = [(*group_of(*group), 0, []) for group in groups]
    write_log(tmp_path / f"{OFFSETS}-0", [rows])
    ran = run("dump", tmp_path, "-o", "jsonl")
    members = [row["value_json"]["data"]["members"][0] for row in ran.rows]
    assert [member["subscription"] for member in members] == ["AAAAAAAA", "AAD/", ""]


def test_members_of_a_newer_client_are_decoded(run, tmp_path):
    """Newer versions only append fields, so that the known fields are decoded."""
    subscription = messages.ConsumerProtocolSubscription(topics=["t"])
    newest = messages.ConsumerProtocolSubscription.valid_versions.max
    data = b"\0\x63" + encode(subscription, newest) + b"more"
    rows = [(*group_of("consumer", data), 0, [])]
    write_log(tmp_path / f"{OFFSETS}-0", [rows])
    (row,) = run("dump", tmp_path, "-o", "jsonl").rows
    (member,) = row["value_json"]["data"]["members"]
    assert member["subscription"]["data"]["topics"] == ["t"]


def test_undecodable_records_are_raw_with_the_reason(run, tmp_path):
    """The record type is unknown, as it would be for a newer Kafka release.

    Its bytes are printed as base64, with the reason.
    """
    write_log(tmp_path / "__consumer_offsets-0", [[(b"\x7f\x00future", b"\x00\x00")]])
    row = run("dump", tmp_path, "-o", "jsonl").rows[0]
    assert row["key_base64"] == "fwBmdXR1cmU=" and "32512" in row["error"]
    assert "! kwire has no record type 32512" in run("dump", tmp_path).out


def test_checkpoints_of_the_metadata_log_are_read(run):
    path = max((NEWEST / "__cluster_metadata-0").glob("*.checkpoint"))
    ran = run("dump", path, "-o", "jsonl", "--control")
    kinds = [row.get("key_control") for row in ran.rows]
    assert kinds[0] == "SNAPSHOT_HEADER" and kinds[-1] == "SNAPSHOT_FOOTER"
    assert any(row["value_json"]["name"] == "TopicRecord" for row in ran.rows)


def test_control_records_are_hidden_by_default(run):
    folder = NEWEST / "transactions-0"
    hidden = run("dump", folder, "-o", "jsonl").rows
    rows = run("dump", folder, "-o", "jsonl", "--control").rows
    control = [row for row in rows if "key_control" in row]
    assert {row["key_control"] for row in control} == {"ABORT", "COMMIT"}
    assert control[0]["value_json"]["name"] == "EndTxnMarker"
    assert hidden == [row for row in rows if "key_control" not in row]
    assert "control:COMMIT" in run("dump", folder, "--control").out


def test_read_committed_leaves_aborted_records_out(run):
    folder = NEWEST / "transactions-0"
    every = run("dump", folder, "-o", "jsonl").rows
    committed = run(
        "dump", folder, "-o", "jsonl", "--isolation-level", "read_committed"
    ).rows
    assert 0 < len(committed) < len(every)
    assert [row for row in every if row in committed] == committed


def test_segments_of_one_partition_keep_its_transactions(run, tmp_path):
    """A newer segment needs the transactions that started in an older segment.

    Without them, it would return their aborted records.
    """
    folder = tmp_path / "transactions-0"
    shutil.copytree(NEWEST / "transactions-0", folder)
    options = "-o", "jsonl", "--isolation-level", "read_committed"
    all_offsets = [row["offset"] for row in run("dump", folder, *options).rows]
    newest = sorted(folder.glob("*.log"))[-1]
    start = int(newest.name.partition(".")[0])
    part = run("dump", folder, *options, "--from", start).rows
    assert [row["offset"] for row in part] == [n for n in all_offsets if n >= start]


@pytest.mark.parametrize("release", ["2.8.2", "3.9.2", "4.3.1"])
def test_parquet_has_decoded_columns_beside_the_bytes(run, tmp_path, release):
    import pyarrow.parquet as pq

    target = tmp_path / "all.parquet"
    source = DATA / release / "data"
    assert run("dump", source, "--output", target).code == 0
    table = pq.read_table(target)
    lines = run("dump", source, "-o", "jsonl").rows
    assert table.column("offset").to_pylist() == [row["offset"] for row in lines]
    assert table.column("error").null_count == table.num_rows
    decoded = sum(value is not None for value in table.column("value_json").to_pylist())
    assert decoded == sum("value_json" in row for row in lines) > 0
