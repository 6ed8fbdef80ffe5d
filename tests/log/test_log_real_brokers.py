# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Data directories of real brokers are decoded as by Kafka's dump tool.

``tests/data`` contains one directory per release: the broker's data directory, and a
manifest with the output of the broker's tool for all files. All batches, records and
index entries are compared.
"""

import base64
import functools
import json
import lzma
from pathlib import Path

import pytest

from tests.harness.sweeps import sweep
from tests.log.log_files import ACCESS, module, segment_of

DATA = Path(__file__).parent.parent / "data"
RELEASES = sorted(path.parent.name for path in DATA.glob("*/manifest.json.xz"))

TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1, "NoTimestampType": -1}


@functools.cache
def manifest(release):
    """Return the manifest entries of a release by path below the data directory."""
    with lzma.open(DATA / release / "manifest.json.xz", "rt") as file:
        return json.load(file)["files"]


def files(suffix):
    """Return (release, path) of all files whose names end with ``suffix``."""
    return [
        (release, name)
        for release in RELEASES
        for name in sorted(manifest(release))
        if name.endswith(suffix)
    ]


def path_of(release, name):
    return DATA / release / "data" / name


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def test_recordings_contain_all_file_types():
    """The recordings contain at least one release and every file type.

    Otherwise, the other tests would pass without comparing anything.
    """
    suffixes = {name.rpartition(".")[2] for r in RELEASES for name in manifest(r)}
    assert suffixes >= {"log", "index", "timeindex", "txnindex", "snapshot"}
    assert "checkpoint" in suffixes


def batch_fields(header):
    """Return the header fields that the tool prints for a batch or an old message."""
    return {
        "offset": header.base_offset,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "partition_leader_epoch": header.partition_leader_epoch,
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
        "delete_horizon_ms": header.delete_horizon,
        "position": header.position,
        "timestamp_type": header.timestamp_type,
        "timestamp": header.max_timestamp,
        "size": header.size,
        "magic": header.magic,
        "compression": header.compression,
        "crc": header.crc,
    }


def dumped_fields(entry):
    """Return the fields of a manifest entry that describe the batch itself."""
    assert entry["is_valid"]
    fields = {key: entry[key] for key in entry if key not in ("records", "is_valid")}
    return fields | {"timestamp_type": TIMESTAMP_TYPES[entry["timestamp_type"]]}


def check_record(record, entry):
    assert record.offset == entry["offset"]
    assert record.timestamp == entry["timestamp"]
    for content, name, size in (
        (record.key, "key", "key_size"),
        (record.value, "payload", "value_size"),
    ):
        if size in entry:
            assert (-1 if content is None else len(content)) == entry[size]
        text = entry.get(name)
        # For internal topics, the tool prints decoded records, which have another
        # length.
        if isinstance(text, str) and content is not None and len(text) == len(content):
            assert content.decode(errors="replace") == text or "\ufffd" in text
    keys = ",".join(key for key, _ in record.headers)
    assert entry.get("header_keys", "") in (keys, "")


@sweep("access", ACCESS)
@sweep(("release", "name"), files(".log") + files(".checkpoint"))
def test_batches_and_records_equal_kafkas_dump(log, release, name, access):
    segment = segment_of(log, path_of(release, name), access)
    dumped_batches = manifest(release)[name]["batches"]
    headers = list(segment.headers(check_crc=True))
    for header, entry in zip(headers, dumped_batches, strict=True):
        expected = dumped_fields(entry)
        fields = batch_fields(header)
        assert {key: fields[key] for key in expected} == expected
    records, controls = [], []
    for batch in segment.batches():
        records += batch.records
        controls += batch.control_records
    told_records = [
        record for entry in dumped_batches for record in entry.get("records", ())
    ]
    for record, entry in zip(records, told_records, strict=True):
        check_record(record, entry)
    told_controls = [entry for entry in told_records if "control" in entry]
    for control, entry in zip(controls, told_controls, strict=True):
        check_control(control, entry["control"])


def check_control(control, dumped):
    """Compare a decoded control record with the printed type and marker epoch.

    If the tool of a release cannot decode a type, it prints the type's name and number.
    """
    words = {
        "ABORT": "endTxnMarker: ABORT",
        "COMMIT": "endTxnMarker: COMMIT",
        "LEADER_CHANGE": "LeaderChange",
        "SNAPSHOT_HEADER": "SnapshotHeader",
        "SNAPSHOT_FOOTER": "SnapshotFooter",
        "KRAFT_VERSION": "KRaftVersion",
        "KRAFT_VOTERS": "KRaftVoters",
    }
    named = f"controlType: {control.type_name}({control.type})"
    assert dumped.startswith((words[control.type_name], named))
    if control.type_name in ("ABORT", "COMMIT"):
        assert dumped.endswith(f"coordinatorEpoch: {control.message.coordinator_epoch}")


@sweep(("release", "name"), files(".log"))
def test_columns_have_every_record(log, release, name):
    """The columns contain all records except control records."""
    segment = log.Segment(path_of(release, name))
    dumped_records = [
        record
        for entry in manifest(release)[name]["batches"]
        if not entry.get("is_control")
        for record in entry.get("records", ())
    ]
    tables = list(segment.columns())
    assert [n for p in tables for n in p.offset.tolist()] == [
        r["offset"] for r in dumped_records
    ]
    assert [n for p in tables for n in p.timestamp.tolist()] == [
        r["timestamp"] for r in dumped_records
    ]


@sweep(("release", "name"), files(".index"))
def test_offset_indexes_equal_kafkas_dump(log, release, name):
    dumped_entries = manifest(release)[name]["entries"]
    index = log.OffsetIndex(path_of(release, name))
    # For an empty index, the tool prints one entry with the base offset and position 0.
    expected = [(e["offset"], e["position"]) for e in dumped_entries]
    assert list(index.entries) == [e for e in expected if e != (index.base_offset, 0)]
    assert not index.has_stray_bytes


@sweep(("release", "name"), files(".timeindex"))
def test_time_indexes_equal_kafkas_dump(log, release, name):
    dumped_entries = manifest(release)[name]["entries"]
    index = log.TimeIndex(path_of(release, name))
    expected = [(e["timestamp"], e["offset"]) for e in dumped_entries]
    assert list(index.entries) == [e for e in expected if e != (0, index.base_offset)]
    assert not index.has_stray_bytes


@sweep(("release", "name"), files(".txnindex"))
def test_transaction_indexes_equal_kafkas_dump(log, release, name):
    dumped_entries = manifest(release)[name]["entries"]
    index = log.TransactionIndex(path_of(release, name))
    names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
    assert [[getattr(e, n) for n in names] for e in index.entries] == [
        [e[n] for n in names] for e in dumped_entries
    ]


@sweep(("release", "name"), files(".snapshot"))
def test_producer_snapshots_equal_kafkas_dump(log, release, name):
    dumped_entries = manifest(release)[name]["entries"]
    snapshot = log.ProducerSnapshot(path_of(release, name))
    entries = {
        entry.producer_id: {
            "producer_epoch": entry.epoch,
            "coordinator_epoch": entry.coordinator_epoch,
            "last_timestamp": entry.timestamp,
            "current_txn_first_offset": entry.current_txn_first_offset,
        }
        for entry in snapshot.entries
    }
    assert entries == {
        entry["producer_id"]: {
            "producer_epoch": entry["producer_epoch"],
            "coordinator_epoch": entry["coordinator_epoch"],
            "last_timestamp": entry.get("last_timestamp", entry["timestamp"]),
            "current_txn_first_offset": -1
            if entry["current_txn_first_offset"] in (None, "None")
            else entry["current_txn_first_offset"],
        }
        for entry in dumped_entries
    }
    for entry, dumped_entry in zip(snapshot.entries, dumped_entries, strict=True):
        if "last_offset" in dumped_entry:
            assert entry.last_offset == dumped_entry["last_offset"]
            assert entry.last_sequence == dumped_entry["last_sequence"]
            assert entry.offset_delta == dumped_entry["offset_delta"]


@pytest.mark.parametrize("release", RELEASES)
def test_directories_of_real_brokers_have_no_problems(log, release):
    """``verify`` finds no problems in data directories of real brokers.

    They contain compacted logs, truncated logs and open transactions.
    """
    logs = log.LogDirectory(DATA / release)
    assert logs.unreadable == ()
    problems = [p for partition in logs for p in log.verify(partition, deep=True)]
    assert problems == []
    dumped_partitions = {
        name.partition("/")[0] for name in manifest(release) if "/" in name
    }
    # The tool prints nothing for partitions that never had a record.
    assert {f"{p.topic}-{p.partition}" for p in logs if p.size} == dumped_partitions


@pytest.mark.parametrize("release", RELEASES)
def test_metadata_files_agree_with_the_segments(log, release):
    """``partition.metadata``, epochs and checkpoints exist and match the segments."""
    for partition in log.LogDirectory(DATA / release / "data"):
        has_id = (partition.path / "partition.metadata").exists()
        assert (partition.topic_id is not None) == has_id
        if any(h.magic == 2 for h in partition.headers()):
            assert partition.leader_epochs
        end = partition.checkpoints.get("recovery-point", partition.end_offset)
        assert end == partition.end_offset
        assert partition.start_offset <= partition.end_offset


@pytest.mark.parametrize("release", RELEASES)
def test_every_offset_and_time_is_found(log, release):
    """Seeking has the same result with and without the broker's indexes.

    All offsets and timestamps are tested.
    """
    for partition in log.LogDirectory(DATA / release / "data"):
        headers = [
            (segment, header)
            for segment in partition.segments
            for header in segment.headers()
        ]
        for segment, header in headers:
            for offset in {header.base_offset, header.last_offset}:
                result = partition.seek(offset)
                assert result == (segment, header.position), (partition, offset)
            if header.max_timestamp < 0:
                continue
            first = next(
                (s, h.position)
                for s, h in headers
                if h.max_timestamp >= header.max_timestamp
            )
            assert partition.seek_timestamp(header.max_timestamp) == first
        assert partition.seek(partition.end_offset) is None


@pytest.mark.parametrize("release", RELEASES)
def test_aborted_transactions_are_those_of_the_indexes(log, release):
    """Aborted transactions from markers equal those in the transaction indexes.

    This only applies to partitions that were never compacted.
    """
    compared = 0
    for partition in log.LogDirectory(DATA / release / "data"):
        if partition.is_compacted:
            continue
        indexed = {
            (e["producer_id"], e["first_offset"], e["last_offset"])
            for segment in partition.segments
            for e in manifest(release)
            .get(f"{partition.path.name}/{segment.path.stem}.txnindex", {})
            .get("entries", ())
        }
        for segment in partition.segments:
            segment._indexes[".txnindex"] = None
        assert set(map(tuple, partition.transactions().aborted)) == indexed
        compared += len(indexed)
    assert compared or release < "3"


def list_consumed():
    """Yield (release, partition, isolation level, rows) for all consumer recordings.

    The rows are the records that the consumer received.
    """
    for release in RELEASES:
        path = DATA / release / "consumed.json.xz"
        with lzma.open(path, "rt") as file:
            for name, levels in json.load(file).items():
                for level, rows in levels.items():
                    yield release, name, level, rows


def row_fields(record, timestamp_type):
    """Return a record in the form in which librdkafka returned it to the consumer.

    librdkafka numbers timestamp types from 0 (none) to 2 (LogAppendTime), one more than
    Kafka.
    """
    key, value = (
        None if content is None else base64.b64encode(content).decode()
        for content in (record.key, record.value)
    )
    headers = [
        [name, None if content is None else base64.b64encode(content).decode()]
        for name, content in record.headers
    ]
    timestamp = record.timestamp if timestamp_type >= 0 else None
    return [record.offset, timestamp_type + 1, timestamp, key, value, headers]


@sweep(("release", "name", "level", "rows"), list(list_consumed()))
def test_readers_return_the_records_of_a_consumer(log, release, name, level, rows):
    """``batches`` returns the records that a consumer received.

    The isolation levels differ in the records of aborted and unfinished transactions.
    """
    topic, _, number = name.rpartition("-")
    logs = log.LogDirectory(DATA / release)
    # The broker stores the newest segments, and tiered storage the oldest ones.
    parts = sorted(logs.replicas(topic, int(number)), key=lambda p: p.start_offset)
    records, offsets, end = [], [], 0
    for partition in parts:
        bounds = {
            "start_offset": max(end, partition.start_offset),
            "isolation_level": level,
        }
        records += [
            row_fields(record, batch.timestamp_type)
            for batch in partition.batches(**bounds)
            if not batch.is_control
            for record in batch.records
        ]
        for table in partition.columns(**bounds):
            offsets += table.offset.tolist()
        end = partition.end_offset
    assert offsets == [row[0] for row in records]
    if level == "read_committed":
        # For this isolation level, only offsets were recorded, because the records are
        # equal to those of the other level.
        assert offsets == rows
    else:
        # If a timestamp is missing, consumers return different values, so ignore the
        # value.
        consumed = [[*row[:2], row[2] if row[1] else None, *row[3:]] for row in rows]
        assert records == consumed
