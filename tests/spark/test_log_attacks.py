# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log`` with inputs that once lost, duplicated or mixed up rows.

Range limits in old message wrappers, damage at the ends of segments and micro-batches,
directories that change while they are listed, and column names in use. All tests run
without a Spark session.
"""

import importlib
import json
from itertools import pairwise

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import LongType, StructField, StructType

from kwire.client import DataLost
from kwire.spark.log import planning
from kwire.spark.log import source as log_source
from kwire.spark.log import stream as log_stream
from kwire.spark.log.options import read_options
from kwire.spark.log.reading import read_pieces
from kwire.spark.topics import stream_reader
from kwire.spark.topics.layout import chosen_layout, default_layout
from tests.log.log_files import (
    COMMIT,
    Folder,
    batch,
    checked,
    flip,
    log_of,
    messages,
    overwrite,
)

EVERYTHING = ReadAllAvailable()
BAD = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "bad"}
SMALL = {"maxPartitionBytes": "1", "minPartitions": "1000"}


def at(number, topic="orders", partition="0"):
    return {topic: {partition: number}}


def rows_of(*paths, **settings):
    """Read a table as Spark's tasks do, and return its rows."""
    options = read_options({"paths": json.dumps(list(map(str, paths))), **settings})
    layout = default_layout(options)
    partitions = planning.find_partitions(options)
    pieces = planning.plan_pieces(partitions, options, planning.Bounds())
    return [
        row
        for split in planning.pack(pieces, options)
        for table in read_pieces(split, layout, options)
        for row in table.to_pylist()
    ]


def offsets_of(*paths, **settings):
    return [row["offset"] for row in rows_of(*paths, **settings)]


def read_log(root, **settings):
    options = read_options({"path": str(root), **settings})
    return options, default_layout(options)


def reader_of(root, **settings):
    stream = log_stream.LogStream(*read_log(root, **settings))
    return stream_reader.make_stream_reader(lambda: stream)


def batch_of(reader, start, end):
    """Return the rows of one micro-batch."""
    return [
        row
        for part in reader.partitions(start, end)
        for table in reader.read(part)
        for row in table.to_pylist()
    ]


def read_offsets(reader, start, end):
    return [row["offset"] for row in batch_of(reader, start, end)]


@pytest.fixture
def orders(tmp_path):
    """Write a segment of ten batches with three records each."""
    folder = Folder(tmp_path / "logs" / "orders-0")
    folder.root = tmp_path / "logs"
    folder.log, folder.spans = folder.segment(0, log_of([3] * 10))
    return folder


@pytest.fixture
def wrappers(tmp_path):
    """Write ten compressed magic 1 messages with three inner messages each."""
    folder = Folder(tmp_path / "orders-0")
    log = [messages(n, 3, magic=1, codec="gzip") for n in range(0, 30, 3)]
    folder.log, folder.spans = folder.segment(0, log)
    return folder


# Offsets


@pytest.mark.parametrize("end", range(31))
def test_an_end_within_a_wrapper_loses_none_of_it(wrappers, end):
    """If a range ends within a wrapper, all requested inner messages are read.

    A wrapper has the offset of its last message, so a split may start with a wrapper.
    """
    settings = {"endingOffsets": json.dumps(at(end)), **SMALL}
    assert offsets_of(wrappers.path, **settings) == list(range(end))


def test_micro_batches_that_end_within_wrappers_lose_nothing(wrappers):
    reader = reader_of(wrappers.path, **SMALL)
    batches = [read_offsets(reader, at(n), at(n + 2)) for n in range(0, 30, 2)]
    assert batches == [[n, n + 1] for n in range(0, 30, 2)]


def test_the_batches_view_has_the_wrapper_that_the_end_is_in(wrappers):
    settings = {"view": "batches", "endingOffsets": json.dumps(at(4))}
    last_offsets = [row["last_offset"] for row in rows_of(wrappers.path, **settings)]
    assert last_offsets == [2, 5]


def test_directory_with_two_paths_is_read_once(orders):
    """A directory that is reachable by two paths is read once.

    The files in both paths are one log, even if only one file is selected.
    """
    orders.second, _ = orders.segment(30, log_of([3], 30))
    everything = list(range(33))
    paths = [orders.root, orders.path, orders.root / ".." / "logs"]
    assert offsets_of(*paths) == everything
    files = [orders.second, orders.log]
    assert offsets_of(*files) == everything
    assert offsets_of(*files, duplicates="longest") == everything
    assert offsets_of(*files, duplicates="error") == everything


def test_offsets_apply_to_a_directory_without_a_partition_number(tmp_path):
    """If a directory name has no partition number, the partition is -1.

    This is the number in rows and in the offsets of options.
    """
    Folder(tmp_path / "orders").segment(0, log_of([3]))
    settings = {
        "startingOffsets": '{"orders": {"-1": 2}}',
        "assign": '{"orders": [-1]}',
    }
    assert offsets_of(tmp_path, **settings) == [2]


# Losses and damage


def test_an_end_within_a_missing_segment_is_a_loss(orders):
    orders.segment(60, log_of([3], 60))
    with pytest.raises(DataLost, match="offsets 30 to 59 are in no segment"):
        rows_of(orders.root, failOnDataLoss="true", endingOffsets=json.dumps(at(45)))


def test_a_damaged_end_of_a_segment_is_damage_and_no_loss(orders):
    """A damaged end of a segment is damage, not a data loss.

    Its bytes exist, so the mode decides. This also applies to streams.
    """
    orders.segment(30, log_of([3], 30))
    overwrite(orders.log, orders.spans[9][0] + 8, b"\xff\xff\xff\xff")
    settings = {"failOnDataLoss": "true", **BAD}
    expected = [*range(27), None, 30, 31, 32]
    assert offsets_of(orders.root, **settings) == expected
    assert read_offsets(reader_of(orders.root, **BAD), at(0), at(33)) == expected
    with pytest.raises(ValueError, match="good up to offset 26, again from 30"):
        read_offsets(reader_of(orders.root), at(0), at(33))


def test_stream_that_starts_within_a_bad_region_reports_it(orders):
    """A stream that starts within a damaged region reports the region.

    No earlier micro-batch has reported it, and its last offsets are lost.
    """
    flip(orders.log, orders.spans[3][0] + 80)
    settings = {"startingOffsets": json.dumps(at(10))}
    reader = reader_of(orders.root, **settings)
    with pytest.raises(ValueError, match="again from 12"):
        read_offsets(reader, reader.initialOffset(), at(30))
    reader = reader_of(orders.root, **settings, **BAD)
    assert read_offsets(reader, at(10), at(30)) == [None, *range(12, 30)]


def test_batch_damaged_between_plan_and_read_is_reported(orders):
    """A batch that is damaged between the plan and the read is reported.

    At the start of a task, the expected offset is not known.
    """
    entries = [(number * 3, orders.spans[number][0]) for number in range(1, 10)]
    orders.beside(0, ".index", ">ii", *entries)
    reader = reader_of(orders.root)
    (part,) = reader.partitions(at(20), at(30))
    flip(orders.log, part.value[0].start + 80)
    with pytest.raises(ValueError, match=r"crc: .*again from 21"):
        list(reader.read(part))


def test_foreign_bytes_without_lost_offsets_are_reported_once(orders):
    """Bytes between two consecutive batches are reported once, by one of the ranges."""
    data = orders.log.read_bytes()
    middle = orders.spans[5][0]
    orders.log.write_bytes(data[:middle] + b"\xff" * 50 + data[middle:])
    for cuts in ([0, 30], [0, 15, 30], [0, 14, 16, 30], [0, 12, 15, 18, 30]):
        reader = reader_of(orders.root, **BAD)
        rows = [r for s, e in pairwise(cuts) for r in batch_of(reader, at(s), at(e))]
        region_lengths = [row["bad"]["length"] for row in rows if row["bad"]]
        assert region_lengths == [50], cuts
        assert [r["offset"] for r in rows if not r["bad"]] == list(range(30))


def test_error_of_invalid_header_names_contains_the_option(tmp_path):
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, [checked(batch(0).replace(b"\x02h\x02x", b"\x02\xff\x02x"))])
    with pytest.raises(ValueError, match=r"not UTF-8.*errors=replace reads such"):
        rows_of(tmp_path)
    assert offsets_of(tmp_path, errors="replace") == [0, 1, 2]


# Streams


def test_a_new_partition_begins_where_its_checkpoint_says(orders):
    """The first records of a new partition are those after its log start offset.

    Records that were deleted before the stream started are not read.
    """
    Folder(orders.root / "orders-1").segment(0, log_of([3] * 4))
    (orders.root / "log-start-offset-checkpoint").write_text("0\n1\norders 1 5\n")
    end = {"orders": {"0": 30, "1": 12}}
    assert read_offsets(reader_of(orders.root), at(30), end) == list(range(5, 12))


def test_log_whose_start_offset_is_after_its_last_batch_is_empty(orders):
    """A log whose start offset is after its last batch is empty.

    The checkpoint is newer than the copied segments. Offsets never decrease.
    """
    (orders.root / "log-start-offset-checkpoint").write_text("0\n1\norders 0 50\n")
    Folder(orders.root / "orders-1").segment(0, log_of([3] * 4))
    reader = reader_of(orders.root, maxOffsetsPerTrigger="4")
    assert reader.initialOffset() == {"orders": {"0": 50, "1": 0}}
    end = reader.latestOffset(at(0, partition="1"), reader.getDefaultReadLimit())
    assert end == {"orders": {"0": 50, "1": 4}}


def test_deleted_topic_ends_a_query_only_with_fail_on_data_loss(orders):
    bills = Folder(orders.root / "bills-0").segment(0, log_of([3]))[0]
    settings = {"subscribe": "orders,bills"}
    careless = reader_of(orders.root, **settings, failOnDataLoss="false")
    start = careless.initialOffset()
    bills.unlink()
    with pytest.warns(UserWarning, match="bills-0 at offset 0: the partition no"):
        end = careless.latestOffset(start, EVERYTHING)
    assert end == {"bills": {"0": 0}, "orders": {"0": 30}}
    with pytest.raises(ValueError, match="no bills under"):
        reader_of(orders.root, **settings).latestOffset(start, EVERYTHING)
    with pytest.raises(ValueError, match="no bills under"):
        reader_of(orders.root, **settings, failOnDataLoss="false").initialOffset()


def test_file_deleted_during_the_listing_is_not_an_error(orders, monkeypatch):
    """A segment that is deleted while the directory is listed causes no error.

    Brokers delete old segments. The next listing does not contain the segment.
    """
    orders.segment(30, log_of([3], 30))

    def list_and_delete(*arguments):
        partitions = planning.find_partitions(*arguments)
        orders.log.unlink(missing_ok=True)
        return partitions

    for module, ask in (
        (log_stream, lambda: read_offsets(reader_of(orders.root), at(30), at(33))),
        (
            log_source,
            lambda: log_source.LogReader(*read_log(orders.root, **SMALL)).partitions(),
        ),
    ):
        orders.segment(0, log_of([3] * 10))
        with monkeypatch.context() as patch:
            patch.setattr(module, "find_partitions", list_and_delete)
            assert ask()


def test_versions_without_start_offsets_notice_losses_too(orders):
    """Before Spark 4.2, a data loss at the start of a stream is detected as well.

    These releases only request the end offset, so that the plan has to check the start.
    """
    stream = log_stream.LogStream(*read_log(orders.root))
    reader = stream_reader.TopicStreamReader(stream)
    end = reader.latestOffset()
    with pytest.raises(DataLost, match="orders-1 at offset 5: the partition no"):
        reader.partitions({"orders": {"0": 0, "1": 5}}, end)
    with pytest.raises(DataLost, match="at offset 31: the log ends at offset 30"):
        reader.partitions(at(31), end)


def test_start_offset_in_an_open_transaction_waits(tmp_path):
    """A start offset within an open transaction is not a data loss.

    The stream waits until the transaction ends.
    """
    folder = Folder(tmp_path / "orders-0")
    log = [batch(0, 3), batch(3, 2, producer=7), batch(5, 3)]
    path, _ = folder.segment(0, log)
    committed = {"isolationLevel": "read_committed"}
    reader = reader_of(tmp_path, **committed, startingOffsets=json.dumps(at(6)))
    assert reader.latestOffset(reader.initialOffset(), EVERYTHING) == at(6)
    with path.open("ab") as file:
        file.write(batch(8, 1, producer=7, control=COMMIT))
    assert reader.latestOffset(at(6), EVERYTHING) == at(9)
    assert read_offsets(reader, at(6), at(9)) == [6, 7]
    with pytest.raises(DataLost, match="at offset 12: the log ends at offset 9"):
        reader.latestOffset(at(12), EVERYTHING)


def test_the_checkpoint_of_another_source_is_recognised(orders):
    for offset in ({"logOffset": 3}, {"orders-0": 30}, {"orders": {"first": 3}}):
        with pytest.raises(
            ValueError, match="offsets of kafka-log must be JSON such as"
        ):
            reader_of(orders.root).latestOffset(offset, EVERYTHING)


def test_a_short_micro_batch_does_not_cut_the_whole_segment(orders, monkeypatch):
    """A micro-batch computes no split positions before its start offset.

    A split position costs a read.
    """
    entries = [(number * 3, orders.spans[number][0]) for number in range(1, 10)]
    orders.beside(0, ".index", ">ii", *entries)
    segments = importlib.import_module("kwire.log").Segment
    monkeypatch.setattr(segments, "find_splits", lambda *_: pytest.fail("was cut"))
    size = str(orders.spans[9][1] + orders.spans[8][1])
    reader = reader_of(orders.root, maxPartitionBytes=size, minPartitions="1")
    assert read_offsets(reader, at(27), at(30)) == [27, 28, 29]


# Columns and paths


@pytest.mark.parametrize("name", ["key", "Offset", "file_path", ""])
def test_the_column_of_corrupt_regions_takes_no_others_place(name):
    options = read_options({"path": "logs", "columnNameOfCorruptRecord": name})
    with pytest.raises(ValueError, match="a name that no column of view=records"):
        default_layout(options)
    with pytest.raises(ValueError, match="a name that no column of view=records"):
        chosen_layout(options, [("value", "binary")])


def test_odd_names_of_columns_are_quoted():
    options = read_options({"path": "logs", "columnNameOfCorruptRecord": "a`b"})
    assert "`a``b` struct<" in default_layout(options).ddl


def test_a_schema_of_no_columns_is_refused():
    """A schema without columns is rejected.

    Arrow does not count rows without columns, so the result would be empty.
    """
    with pytest.raises(ValueError, match="one column or more"):
        chosen_layout(read_options({"path": "logs"}), [])


def test_a_column_that_must_not_be_null_is_refused():
    """A schema with a column that must not be null is rejected.

    Spark would only fail at the first batch, without the name of the column.
    """
    source = log_source.KafkaLogSource({"path": "logs"})
    required = StructType([StructField("offset", LongType(), nullable=False)])
    with pytest.raises(ValueError, match="'offset' of kafka-log can be null"):
        source.reader(required)


def test_catalog_table_is_rejected_with_an_alternative():
    """Creating a catalog table raises an error with an alternative.

    Spark does not store the options of the table, so it could never be read.
    """
    properties = {"path": "file:/logs", "owner": "me", "provider": "kafka_log"}
    with pytest.raises(ValueError, match="CREATE TEMPORARY VIEW name USING kafka_log"):
        read_options(properties)


def test_paths_as_hadoop_writes_them_are_read(orders):
    assert offsets_of(f"file:{orders.root}") == list(range(30))
    assert offsets_of(f"file://{orders.root}") == list(range(30))


def test_every_batch_of_rows_has_the_schema_to_the_byte(orders):
    """Every record batch has exactly the schema of the table.

    Damaged regions are before, between and after the rows. Single columns are tested,
    too.
    """
    for number in (0, 4, 9):
        flip(orders.log, orders.spans[number][0] + 80)
    options = read_options({"path": str(orders.root), **BAD, **SMALL})
    columns = default_layout(options).columns
    for names in (columns, *([name] for name in columns)):
        layout = chosen_layout(options, [(name, columns[name]) for name in names])
        schema = importlib.import_module("kwire.spark.topics.layout").arrow_schema(
            layout
        )
        partitions = planning.find_partitions(options)
        pieces = planning.plan_pieces(partitions, options, planning.Bounds())
        read = list(read_pieces(pieces, layout, options))
        assert all(table.schema.equals(schema, check_metadata=True) for table in read)
        assert pa.Table.from_batches(read).num_rows == 24, names
