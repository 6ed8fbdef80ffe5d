# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plans and rows of ``kafka-log`` without Spark: the same functions in process.

Directories from real brokers are compared with a consumer's records. Logs from other
libraries are damaged, split at random and read in all modes.
"""

import base64
import json
import lzma
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kwire import records
from tests.log.log_files import Folder, batch, log_of, messages
from tests.spark.log_tables import LogTables, offsets, write_orders

DATA = Path(__file__).resolve().parents[1] / "data"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BASE_TIME = 1_700_000_000_000


@pytest.fixture
def tables(kwire):
    return LogTables(kwire)


@pytest.fixture
def orders(tmp_path):
    return write_orders(tmp_path)


def list_consumed():
    """Yield (release, partition, isolation level, rows) for all consumer recordings.

    The rows are the records that the consumer received.
    """
    for release in ("2.8.2", "3.9.2", "4.3.1"):
        with lzma.open(DATA / release / "consumed.json.xz", "rt") as file:
            for name, levels in json.load(file).items():
                for level, rows in levels.items():
                    # The data directory only contains the end of the tiered topic.
                    if not name.startswith("tiered"):
                        yield pytest.param(
                            release, name, level, rows, id=f"{release}-{name}-{level}"
                        )


def text(content):
    return None if content is None else base64.b64encode(content).decode()


def as_consumed(row):
    """Return a row in the form in which librdkafka returned it to the consumer.

    librdkafka numbers timestamp types from 0 (none) to 2 (LogAppendTime).
    """
    moment = row["timestamp"]
    kind = row["timestampType"]
    headers = [
        [header["key"], text(header["value"])] for header in row["headers"] or ()
    ]
    milliseconds = (
        None if moment is None else (moment - EPOCH) // timedelta(milliseconds=1)
    )
    if kind < 0:
        milliseconds = None
    return [
        row["offset"],
        kind + 1,
        milliseconds,
        text(row["key"]),
        text(row["value"]),
        headers,
    ]


@pytest.mark.parametrize(("release", "name", "level", "rows"), list(list_consumed()))
def test_rows_equal_the_records_of_a_consumer(tables, release, name, level, rows):
    """The rows of real brokers' directories equal the records of a consumer.

    Both isolation levels are tested, with small splits.
    """
    topic, _, number = name.rpartition("-")
    table = tables.read(
        DATA / release / "data",
        assign=json.dumps({topic: [int(number)]}),
        isolationLevel=level,
        includeHeaders="true",
        maxPartitionBytes="2000",
    )
    if level == "read_committed":
        assert offsets(table) == rows
        return
    # Without a timestamp, the consumer returned -1, and the table contains null.
    expected = [
        [*row[:2], None if row[2] == -1 or not row[1] else row[2], *row[3:]]
        for row in rows
    ]
    assert [as_consumed(row) for row in table.to_pylist()] == expected


def test_splits_of_any_size_give_each_record_once(tables, orders):
    """With splits of any size, every record is read exactly once.

    A batch belongs to the split in which it starts.
    """
    for size in (1, 100, 333, 1000, 5000, 10**6):
        options = {"maxPartitionBytes": str(size), "minPartitions": "1000"}
        assert offsets(tables.read(orders.root, **options)) == list(range(60))


def test_small_files_share_a_split_and_large_ones_are_cut(tables, tmp_path):
    """Small files share a split, and large files are divided.

    A split must be large enough to justify a task, but not much larger than requested.
    """
    for number in range(20):
        Folder(tmp_path / f"orders-{number}").segment(0, log_of([3] * 5))
    Folder(tmp_path / "big-0").segment(0, log_of([3] * 400, value=b"v" * 200))
    options = tables.options.read_options(
        {"path": str(tmp_path), "maxPartitionBytes": "20000", "minPartitions": "1"}
    )
    splits = tables.splits(options)
    sizes = [sum(piece.size for piece in split) for split in splits]
    assert sum(sizes) == sum(p.stat().st_size for p in tmp_path.rglob("*.log"))
    assert max(sizes) < 40000 and max(map(len, splits)) == 20


def test_a_record_without_headers_has_null_as_in_sparks_own_source(tables, tmp_path):
    """A record without headers has null, as in Spark's own source.

    If it had an empty list, ``headers IS NULL`` would have another result.
    """
    folder = Folder(tmp_path / "orders-0")
    rows = [(b"a", b"1"), (b"b", b"2", 5, [("h", b"1"), ("h", None)]), (b"c", b"3")]
    folder.segment(0, [records.encode_batch(rows), messages(3, 2)])
    table = tables.read(tmp_path, includeHeaders="true")
    pairs = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    assert table["headers"].to_pylist() == [None, pairs, None, None, None]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_record_without_a_timestamp_has_null(tables, tmp_path, magic):
    """A record without a timestamp has null.

    Spark's own source shows such a timestamp as one millisecond before 1970.
    """
    times = [-1, BASE_TIME, -1] if magic else [-1, -1, -1]
    rows = [(b"k", b"v", timestamp) for timestamp in times]
    Folder(tmp_path / "orders-0").segment(0, [records.encode_batch(rows, magic=magic)])
    micros = tables.read(tmp_path)["timestamp"].cast("int64").to_pylist()
    assert micros == [
        None if timestamp == -1 else 1000 * timestamp for timestamp in times
    ]


@pytest.mark.parametrize("most", [1, 4, 7, 30, 59, 60, 1000])
def test_no_split_exceeds_the_maximum_number_of_offsets(tables, orders, most):
    """A split does not have more offsets than ``maxRecordsPerPartition``.

    As in Spark, a partition has as few splits as possible, of similar size.
    """
    options = tables.options.read_options(
        {"path": str(orders.root), "maxRecordsPerPartition": str(most)}
    )
    layout = tables.layout.default_layout(options)
    splits = []
    for split in tables.splits(options):
        splits.append([])
        for table in tables.reading.read_pieces(split, layout, options):
            splits[-1] += table.column("offset").to_pylist()
    assert [row for table in splits for row in table] == list(range(60))
    sizes = [len(table) for table in splits]
    assert max(sizes) <= most and max(sizes) - min(sizes) <= 1
    assert len(sizes) == -(-60 // most)


def test_partitions_do_not_share_a_split_that_is_bounded_by_records(tables, tmp_path):
    """If splits are limited by offsets, several partitions do not share a split.

    This also applies to copies of the same partition.
    """
    for folder in ("a/orders-0", "a/orders-1", "b/orders-0"):
        Folder(tmp_path / folder).segment(0, log_of([3]))
    options = tables.options.read_options(
        {"path": str(tmp_path), "maxRecordsPerPartition": "3"}
    )
    assert len(tables.splits(options)) == 3


@pytest.mark.parametrize(
    ("settings", "expected_range"),
    [
        (
            {
                "startingOffsets": '{"orders": {"0": 9}}',
                "endingOffsets": '{"orders": {"0": 7}}',
            },
            "from offset 9 to 7",
        ),
        (
            {
                "startingTimestamp": str(BASE_TIME + 40),
                "endingTimestamp": str(BASE_TIME + 31),
            },
            "from offset 40 to 31",
        ),
    ],
)
def test_a_start_above_the_end_is_refused_as_by_sparks_own_source(
    tables, orders, settings, expected_range
):
    """A start offset above the end offset raises an error, as in Spark's own source.

    Two exchanged values used to return no rows.
    """
    with pytest.raises(ValueError, match="the start must not exceed the end") as caught:
        tables.read(orders.root, **settings)
    assert f"orders-0 would be read {expected_range};" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"startingOffsets": '{"orders": {"0": 7}}'}, range(7, 60)),
        ({"startingOffsets": '{"orders": {"0": -2}}'}, range(60)),
        ({"startingOffsets": '{"orders": {"0": 30}}'}, range(30, 60)),
        ({"startingOffsets": '{"orders": {"0": 60}}'}, range(0)),
        ({"endingOffsets": '{"orders": {"0": 31}}'}, range(31)),
        ({"endingOffsets": '{"orders": {"0": 0}}'}, range(0)),
        ({"endingOffsets": '{"orders": {"0": -1}}'}, range(60)),
        (
            {
                "startingOffsets": '{"orders": {"0": 29}}',
                "endingOffsets": '{"orders": {"0": 31}}',
            },
            range(29, 31),
        ),
        ({"startingTimestamp": str(BASE_TIME + 40)}, range(40, 60)),
        ({"endingTimestamp": str(BASE_TIME + 40)}, range(40)),
        ({"endingTimestamp": str(BASE_TIME + 400)}, range(60)),
        (
            {
                "startingOffsetsByTimestamp": json.dumps(
                    {"orders": {"0": BASE_TIME + 31}}
                )
            },
            range(31, 60),
        ),
        (
            {
                "startingTimestamp": str(BASE_TIME + 400),
                "startingOffsetsByTimestampStrategy": "latest",
            },
            range(0),
        ),
    ],
)
def test_offsets_and_times_choose_as_in_sparks_own_source(
    tables, orders, settings, expected
):
    assert offsets(
        tables.read(orders.root, maxPartitionBytes="500", **settings)
    ) == list(expected)


def test_a_time_means_the_first_offset_that_late_not_all_rows(tables, tmp_path):
    """A timestamp selects all records from the first one with this timestamp on.

    Timestamps are not sorted, so later records may have lower ones. Kafka does the
    same.
    """
    folder = Folder(tmp_path / "orders-0")
    times = [100, 500, 200, 300, 50]
    folder.segment(
        0, [batch(n, 1, timestamp=BASE_TIME + t) for n, t in enumerate(times)]
    )
    read = tables.read(tmp_path, startingTimestamp=str(BASE_TIME + 250))
    assert offsets(read) == [1, 2, 3, 4]
    assert offsets(tables.read(tmp_path, endingTimestamp=str(BASE_TIME + 250))) == [0]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"startingOffsets": "latest"}, "startingOffsets of a batch cannot be -1"),
        ({"endingOffsets": "earliest"}, "endingOffsets of a batch cannot be -2"),
        ({"startingOffsets": '{"orders": {"1": 5}}'}, "names no offset for orders-0"),
        ({"subscribe": "bills"}, "no bills under"),
        ({"assign": '{"orders": [0, 7]}'}, "no orders-7 under"),
        ({"startingTimestamp": str(2**50)}, "no record of timestamp"),
    ],
)
def test_impossible_plan_is_a_one_sentence_error(tables, orders, settings, text):
    with pytest.raises(ValueError, match=r"orders|batch") as caught:
        tables.read(orders.root, **settings)
    assert text in str(caught.value)


def test_a_missing_segment_is_an_error_unless_fail_on_data_loss_is_false(
    tables, orders
):
    Folder(orders.path).segment(90, log_of([3], 90))
    for view in ({}, {"view": "batches"}):
        with pytest.raises(
            tables.planning.DataLost, match="offsets 60 to 89 are in no segment"
        ):
            tables.read(orders.root, **view)
    careless = tables.read(orders.root, failOnDataLoss="false")
    assert offsets(careless) == [*range(60), 90, 91, 92]
    before = {"endingOffsets": '{"orders": {"0": 60}}'}
    assert len(tables.read(orders.root, **before)) == 60


def test_an_offset_after_the_end_is_an_error_unless_fail_on_data_loss_is_false(
    tables, orders
):
    after = {"startingOffsets": '{"orders": {"0": 99}}'}
    with pytest.raises(
        tables.planning.DataLost, match=r"at offset 99: .* ends before offset 60"
    ):
        tables.read(orders.root, **after)
    assert not len(tables.read(orders.root, failOnDataLoss="false", **after))


def test_replicas_are_all_kept_or_the_longest_is_chosen_or_none(tables, tmp_path):
    for broker, count in (("a", 2), ("b", 4), ("c", 3)):
        Folder(tmp_path / broker / "orders-0").segment(0, log_of([3] * count))
    assert len(tables.read(tmp_path)) == 27
    paths = tables.read(tmp_path, duplicates="longest", includeFilePath="true")
    assert offsets(paths) == list(range(12))
    assert {Path(p).parts[-3] for p in paths.column("file_path").to_pylist()} == {"b"}
    with pytest.raises(ValueError, match=r"orders-0 is in 3 directories: .*longest"):
        tables.read(tmp_path, duplicates="error")


def test_batch_columns_are_those_of_each_records_batch(tables, orders):
    table = tables.read(orders.root, includeBatchColumns="true")
    row = table.to_pylist()[7]
    assert (row["offset"], row["base_offset"], row["magic"]) == (7, 6, 2)
    assert row["batch_position"] == orders.spans[2][0]
    assert (row["producer_id"], row["partition_leader_epoch"]) == (-1, 0)


def test_the_batches_view_is_one_row_a_batch(tables, orders):
    rows = tables.read(orders.root, view="batches", maxPartitionBytes="700").to_pylist()
    assert [row["base_offset"] for row in rows] == list(range(0, 60, 3))
    assert {row["record_count"] for row in rows} == {3}
    assert rows[1]["position"] == orders.spans[1][0]
    assert rows[0]["max_timestamp"] == EPOCH + timedelta(milliseconds=BASE_TIME + 2)


def test_magic_0_and_1_are_read(tables, tmp_path):
    """Messages of magic 0 and 1 are read, single or in compressed wrappers."""
    for magic in (0, 1):
        for codec in ("none", "gzip"):
            folder = Folder(tmp_path / f"m{magic}-{codec}-0")
            folder.segment(
                0, [messages(n, 3, magic=magic, codec=codec) for n in (0, 3)]
            )
    table = tables.read(tmp_path)
    assert len(table) == 24
    kinds = dict(
        zip(
            table.column("topic").to_pylist(),
            table.column("timestampType").to_pylist(),
            strict=True,
        )
    )
    assert kinds == {"m0-gzip": -1, "m0-none": -1, "m1-gzip": 0, "m1-none": 0}


def test_large_records_come_in_small_batches(tables, tmp_path):
    """Large records are returned in small record batches.

    The size of a record batch is limited in bytes, not in rows.
    """
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, log_of([40], value=bytes(500_000), codec="zstd"))
    options = tables.options.read_options({"path": str(tmp_path)})
    layout = tables.layout.default_layout(options)
    (split,) = tables.splits(options)
    sizes = [
        table.nbytes for table in tables.reading.read_pieces(split, layout, options)
    ]
    assert sum(sizes) > 20_000_000 and max(sizes) < 5_000_000


# Damage


def test_a_task_gets_the_transactions_of_its_segment_alone(tables, tmp_path):
    """A task receives only the transactions of its own segment.

    Otherwise, all transactions of a log would be sent to thousands of tasks.
    """
    folder = Folder(tmp_path / "orders-0")
    for first in (0, 10, 20):
        marker = batch(first + 5, 1, producer=first, control=b"\0\0\0\0")
        folder.segment(
            first, [batch(first, 5, producer=first), marker, batch(first + 6, 4)]
        )
    options = tables.options.read_options(
        {"path": str(tmp_path), "isolationLevel": "read_committed"}
    )
    pieces = [piece for split in tables.splits(options) for piece in split]
    aborted = [
        [transaction.first_offset for transaction in p.transactions.aborted]
        for p in pieces
    ]
    assert aborted == [[0], [10], [20]]
    table = tables.read(tmp_path, isolationLevel="read_committed")
    assert offsets(table) == [n for n in range(30) if n % 10 > 5]


# Filters


def plan_of(tables, root, **bounds):
    options = tables.options.read_options(
        {"path": str(root), "maxPartitionBytes": "400", "minPartitions": "1000"}
    )
    partitions = tables.planning.find_partitions(options)
    return tables.planning.plan_pieces(
        partitions, options, tables.planning.Bounds(**bounds)
    )


def test_bounds_skip_segments_without_matching_rows(tables, orders):
    everything = plan_of(tables, orders.root)
    assert len(everything) > 12
    assert plan_of(tables, orders.root, topics=frozenset(["bills"])) == []
    assert plan_of(tables, orders.root, partitions=frozenset([3])) == []
    assert len(plan_of(tables, orders.root, start_offset=45)) <= 16
    first = plan_of(tables, orders.root, end_offset=30)
    assert {piece.path for piece in first} == {str(orders.first)}
    late = plan_of(tables, orders.root, start_timestamp=BASE_TIME + 50)
    assert 0 < len(late) <= 4


def test_upper_time_skips_no_segment_with_create_time(tables, tmp_path):
    """An upper timestamp limit skips no segment with create time.

    A batch header has the timestamp of the first record, which may not be the minimum.
    """
    folder = Folder(tmp_path / "orders-0")
    log = [batch(n, 1, timestamp=BASE_TIME + 1000 * n) for n in range(10)]
    folder.segment(0, log)
    assert len(plan_of(tables, tmp_path, end_timestamp=BASE_TIME + 10)) == len(
        plan_of(tables, tmp_path)
    )


def test_upper_time_skips_segments_with_log_append_time(tables, tmp_path):
    """An upper timestamp limit skips later segments with LogAppendTime.

    All records of a batch have the same timestamp.
    """
    import crc32c

    folder = Folder(tmp_path / "orders-0")
    log = []
    for number in range(10):
        stamped_batch = bytearray(batch(number, 1, timestamp=BASE_TIME + 1000 * number))
        stamped_batch[22] |= 8
        stamped_batch[17:21] = crc32c.crc32c(bytes(stamped_batch[21:])).to_bytes(
            4, "big"
        )
        log.append(bytes(stamped_batch))
    folder.segment(0, log)
    everything = plan_of(tables, tmp_path)
    few = plan_of(tables, tmp_path, end_timestamp=BASE_TIME + 10)
    assert 0 < len(few) < len(everything)
