# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log`` as a stream: offsets, limits, losses, and reads after a restart.

The reader is called as by Spark, and some queries run in Spark.
``tools/interop/spark/stream_kills.py`` shows that no record is lost or read twice if a
driver is killed.
"""

import json
from itertools import pairwise
from time import monotonic

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from kwire.client import DataLost
from kwire.spark.log.options import read_options
from kwire.spark.log.stream import LogStream
from kwire.spark.topics import stream_reader
from kwire.spark.topics.layout import default_layout
from tests.log.log_files import Folder, batch, flip, log_of
from tests.spark.stream_progress import end_offsets

EVERYTHING = ReadAllAvailable()


@pytest.fixture
def orders(tmp_path):
    """Write a log of ten batches with three records each, which the tests extend."""
    folder = Folder(tmp_path / "logs" / "orders-0")
    folder.root = tmp_path / "logs"
    folder.log, folder.spans = folder.segment(0, log_of([3] * 10))
    return folder


def reader_of(root, **settings):
    options = read_options({"path": str(root), **settings})
    stream = LogStream(options, default_layout(options))
    return stream_reader.make_stream_reader(lambda: stream)


def offsets(reader, start, end):
    """Return the offsets of the records in a micro-batch.

    The readers are pickled and unpickled, as between Spark's processes.
    """
    import pickle

    batches = []
    for part in reader.partitions(start, end):
        part = pickle.loads(pickle.dumps(part))
        batches += list(reader.read(part))
    return (
        pa.Table.from_batches(batches).column("offset").to_pylist() if batches else []
    )


def at(number, topic="orders", partition="0"):
    return {topic: {partition: number}}


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_offsets_are_those_of_sparks_own_source(orders):
    """The offsets of a stream have the format of Spark's own source.

    They are the next offsets of the partitions by topic. A stream starts at the
    earliest.
    """
    reader = reader_of(orders.root)
    assert reader.initialOffset() == at(0)
    assert reader.latestOffset(at(0), EVERYTHING) == at(30)
    assert reader.reportLatestOffset() == at(30)
    assert json.loads(json.dumps(at(30))) == at(30)


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({}, 0),
        ({"startingOffsets": "latest"}, 30),
        ({"startingOffsets": '{"orders": {"0": 7}}'}, 7),
        ({"startingOffsets": '{"orders": {"0": -1}}'}, 30),
        ({"startingTimestamp": str(1_700_000_000_012)}, 12),
    ],
)
def test_query_starts_at_the_configured_offsets(orders, settings, first):
    assert reader_of(orders.root, **settings).initialOffset() == at(first)


def test_later_records_are_read_once(orders):
    """Records that are appended later are read once.

    A batch may be written in pieces, and a new segment may be started.
    """
    reader = reader_of(orders.root)
    assert offsets(reader, at(0), at(30)) == list(range(30))
    more = batch(30, 5)
    append(orders.log, more[:40])
    assert reader.latestOffset(at(30), EVERYTHING) == at(30)
    append(orders.log, more[40:-1])
    assert reader.latestOffset(at(30), EVERYTHING) == at(30)
    append(orders.log, more[-1:])
    assert reader.latestOffset(at(30), EVERYTHING) == at(35)
    orders.segment(35, [batch(35, 2)])
    assert reader.latestOffset(at(30), EVERYTHING) == at(37)
    assert offsets(reader, at(30), at(37)) == list(range(30, 37))
    assert offsets(reader, at(37), at(37)) == []


def test_a_micro_batch_reads_the_same_when_it_is_read_again(orders):
    """A micro-batch that is repeated has the same rows, although the log has grown.

    Spark repeats the last micro-batch after a failure.
    """
    reader = reader_of(orders.root)
    first = offsets(reader, at(4), at(25))
    append(orders.log, batch(30, 5))
    orders.segment(35, [batch(35, 2)])
    assert offsets(reader_of(orders.root), at(4), at(25)) == first == list(range(4, 25))


def test_limit_is_shared_in_proportion_to_available_offsets(orders):
    """A limit is divided among the partitions in proportion to their available offsets.

    Every partition makes progress.
    """
    Folder(orders.root / "orders-1").segment(0, log_of([10]))
    reader = reader_of(orders.root, maxOffsetsPerTrigger="8")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(8)
    position, offsets_read, sizes = reader.initialOffset(), [], []
    while True:
        end = reader.latestOffset(position, limit)
        if end == position:
            break
        sizes.append(sum(end["orders"].values()) - sum(position["orders"].values()))
        offsets_read += offsets(reader, position, end)
        position = end
    assert position == {"orders": {"0": 30, "1": 10}}
    assert sorted(offsets_read) == sorted([*range(30), *range(10)])
    assert max(sizes) == 8 and len(sizes) == 5
    everything = reader.latestOffset(reader.initialOffset(), EVERYTHING)
    assert everything == position


@pytest.mark.parametrize("most", [None, 7])
def test_a_micro_batch_waits_for_enough_offsets_or_for_long_enough(
    orders, monkeypatch, most
):
    """A micro-batch waits for the minimum number of offsets, or for the maximum delay.

    As in Spark, the first one does not wait. The default delay is 15 minutes.
    """
    now = 5000.0
    monkeypatch.setattr(stream_reader, "monotonic", lambda: now)
    limits = {} if most is None else {"maxOffsetsPerTrigger": str(most)}
    reader = reader_of(orders.root, minOffsetsPerTrigger="6", **limits)
    limit = reader.getDefaultReadLimit()
    assert limit == (ReadMinRows(6) if most is None else ReadMaxRows(most))
    assert reader.latestOffset(at(29), limit) == at(30)
    append(orders.log, batch(30, 5))
    assert reader.latestOffset(at(30), limit) == at(30)
    now += 899
    assert reader.latestOffset(at(30), limit) == at(30)
    now += 1
    assert reader.latestOffset(at(30), limit) == at(35)
    append(orders.log, batch(35, 5))
    assert reader.latestOffset(at(35), limit) == at(35)
    # A query that runs once reads all available records.
    assert reader.latestOffset(at(35), EVERYTHING) == at(40)
    append(orders.log, batch(40, 3))
    assert reader.latestOffset(at(35), limit) == at(43 if most is None else 42)


def test_offsets_of_new_partitions_count_for_the_minimum(orders, monkeypatch):
    monkeypatch.setattr(stream_reader, "monotonic", lambda: 1.0)
    reader = reader_of(orders.root, minOffsetsPerTrigger="6", maxTriggerDelay="1h")
    limit = reader.getDefaultReadLimit()
    assert reader.latestOffset(at(0), limit) == at(30)
    Folder(orders.root / "orders-1").segment(50, [batch(50, 4)])
    assert reader.latestOffset(at(30), limit) == at(30)
    append(orders.log, batch(30, 2))
    end = {"orders": {"0": 32, "1": 54}}
    assert reader.latestOffset(at(30), limit) == end


def test_available_now_waits_for_no_minimum(orders):
    """With the trigger availableNow, a query does not wait for a minimum.

    No more records arrive, so it would never read the last ones.
    """
    settings = {"minOffsetsPerTrigger": "12", "maxOffsetsPerTrigger": "12"}
    reader = reader_of(orders.root, **settings)
    reader.prepareForTriggerAvailableNow()
    limit, position, ends = reader.getDefaultReadLimit(), at(0), []
    while position not in ends:
        ends.append(position)
        position = reader.latestOffset(position, limit)
    assert ends == [at(0), at(12), at(24), at(30)]


def test_a_micro_batch_is_divided_by_records(orders):
    """A micro-batch is split by maxRecordsPerPartition. All records are read once."""
    orders.segment(30, log_of([3] * 2, 30))
    reader = reader_of(orders.root, maxRecordsPerPartition="7")
    splits = reader.partitions(at(2), at(36))
    offsets_by_part = [
        [row["offset"] for table in reader.read(part) for row in table.to_pylist()]
        for part in splits
    ]
    assert [len(part_offsets) for part_offsets in offsets_by_part] == [6, 7, 7, 7, 7]
    assert [row for part_offsets in offsets_by_part for row in part_offsets] == list(
        range(2, 36)
    )


def test_a_stream_waits_for_the_first_log_and_warns_once(tmp_path):
    """A stream waits for the first log in an empty directory, and warns once.

    The directory may be the target of a running copy.
    """
    reader = reader_of(tmp_path)
    with pytest.warns(
        UserWarning, match="no partition to read in .*waits"
    ) as warning_list:
        assert reader.initialOffset() == {}
        assert reader.latestOffset({}, EVERYTHING) == {}
    assert len(warning_list) == 1
    Folder(tmp_path / "orders-0").segment(0, log_of([3]))
    end = reader.latestOffset({}, EVERYTHING)
    assert end == at(3) and offsets(reader, {}, end) == [0, 1, 2]


def test_available_now_reads_what_there_was_and_honours_the_limit(orders):
    reader = reader_of(orders.root, maxOffsetsPerTrigger="20")
    reader.prepareForTriggerAvailableNow()
    append(orders.log, batch(30, 5))
    Folder(orders.root / "orders-1").segment(0, log_of([10]))
    limit = reader.getDefaultReadLimit()
    assert reader.latestOffset(at(0), limit) == at(20)
    assert reader.latestOffset(at(20), limit) == at(30)
    assert reader.latestOffset(at(30), limit) == at(30)


def test_a_new_partition_is_read_from_its_beginning(orders):
    reader = reader_of(orders.root)
    Folder(orders.root / "orders-1").segment(50, [batch(50, 3)])
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == {"orders": {"0": 30, "1": 53}}
    assert offsets(reader, at(30), end) == [50, 51, 52]


def test_deleted_offsets_end_a_stream_by_default(orders):
    """Offsets that are deleted before they are read end a stream by default.

    Offsets that were already read may be deleted.
    """
    orders.segment(30, log_of([3] * 2, 30))
    orders.log.unlink()
    reader = reader_of(orders.root)
    with pytest.raises(DataLost, match=r"at offset 12: .* begins at offset 30"):
        reader.partitions(at(12), at(36))
    assert offsets(reader, at(30), at(36)) == list(range(30, 36))
    careless = reader_of(orders.root, failOnDataLoss="false")
    assert offsets(careless, at(12), at(36)) == list(range(30, 36))


def test_a_partition_that_vanishes_or_shrinks_is_a_loss(orders):
    end_position = {"orders": {"0": 30, "1": 4}}
    reader = reader_of(orders.root)
    with pytest.raises(DataLost, match="orders-1 at offset 4: the partition no"):
        reader.latestOffset(end_position, EVERYTHING)
    with pytest.raises(DataLost, match="at offset 31: the log ends at offset 30"):
        reader.latestOffset(at(31), EVERYTHING)
    careless = reader_of(orders.root, failOnDataLoss="false")
    with pytest.warns(UserWarning, match="orders-1 at offset 4: the partition no"):
        assert careless.latestOffset(end_position, EVERYTHING) == end_position


def test_bad_region_is_reported_once_by_several_micro_batches(orders):
    """If several micro-batches read offsets of a damaged region, one reports it."""
    flip(orders.log, orders.spans[3][0] + 80)
    corrupt = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "bad"}
    for cuts in ([0, 30], [0, 9, 12, 30], [0, 10, 11, 30], [0, 5, 11, 12, 13, 30]):
        reader = reader_of(orders.root, **corrupt)
        rows = []
        for start, end in pairwise(cuts):
            for part in reader.partitions(at(start), at(end)):
                for table in reader.read(part):
                    rows += table.to_pylist()
        assert [row["offset"] for row in rows if not row["bad"]] == [
            *range(9),
            *range(12, 30),
        ]
        reasons = [row["bad"]["reason"] for row in rows if row["bad"]]
        assert reasons == ["crc"], cuts


def test_a_damaged_tail_waits_until_it_is_one(orders):
    """An incomplete last batch is not reported, because it may still be written.

    Any other incomplete batch is damage.
    """
    bad = bytearray(batch(30, 5))
    bad[-3] ^= 1
    append(orders.log, bytes(bad))
    reader = reader_of(orders.root)
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == at(30)
    append(orders.log, batch(35, 2))
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == at(37)
    with pytest.raises(ValueError, match="good up to offset 29, again from 35"):
        offsets(reader, at(30), end)


def test_committed_records_alone_stop_at_an_open_transaction(tmp_path):
    """With read_committed, a stream waits for the end of an open transaction."""
    folder = Folder(tmp_path / "orders-0")
    log = [batch(0, 3), batch(3, 2, producer=7), batch(5, 1)]
    path, _ = folder.segment(0, log)
    reader = reader_of(tmp_path, isolationLevel="read_committed")
    assert reader.latestOffset(at(0), EVERYTHING) == at(3)
    append(path, batch(6, 1, producer=7, control=b"\0\0\0\1"))
    end = reader.latestOffset(at(3), EVERYTHING)
    assert end == at(7)
    assert offsets(reader, at(3), end) == [3, 4, 5]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"view": "batches"}, "view must be records in a stream"),
        ({"endingOffsets": '{"orders": {"0": 3}}'}, "a stream has no end"),
    ],
)
def test_unsupported_stream_options_are_rejected_immediately(orders, settings, text):
    with pytest.raises(ValueError, match=text):
        reader_of(orders.root, **settings)


def test_replicas_have_to_be_chosen(orders, tmp_path):
    """A stream on several replicas of a partition raises an error.

    If it read all copies, it would return the offsets twice.
    """
    Folder(orders.root / "b" / "orders-0").segment(0, log_of([3] * 4))
    with pytest.raises(ValueError, match="duplicates=longest"):
        reader_of(orders.root).initialOffset()
    chosen = reader_of(orders.root, duplicates="longest")
    assert chosen.latestOffset(at(0), EVERYTHING) == at(30)


def run(spark, root, out, checkpoint, **settings):
    """Run a streaming query over all records.

    Return the end offsets by batch number.
    """
    query = (
        spark.readStream.format("kafka-log")
        .options(**settings)
        .load(str(root))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start(str(out))
    )
    query.awaitTermination(600)
    assert query.exception() is None
    return end_offsets(query)


def test_query_in_spark_continues_after_a_restart(spark, orders, tmp_path):
    """After a restart, a query continues with the records that were added meanwhile.

    Its micro-batches are limited.
    """
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    settings = {"maxOffsetsPerTrigger": "12"}
    ends = run(spark, orders.root, out, checkpoint, **settings)
    assert [at(12), at(24), at(30)] == [end for end in ends if end is not None][:3]
    append(orders.log, batch(30, 5))
    orders.segment(35, [batch(35, 2)])
    run(spark, orders.root, out, checkpoint, **settings)
    rows = spark.read.parquet(str(out)).select("offset").collect()
    assert sorted(row.offset for row in rows) == list(range(37))


def test_spark_takes_the_minimum_of_a_micro_batch(spark, orders, tmp_path):
    """Spark applies the minimum number of offsets.

    The first micro-batch runs immediately, and later ones wait for five offsets.
    """

    def count():
        return spark.read.parquet(str(tmp_path / "out")).count()

    query = (
        spark.readStream.format("kafka-log")
        .option("minOffsetsPerTrigger", "6")
        .load(str(orders.root))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start(str(tmp_path / "out"))
    )
    try:
        query.processAllAvailable()
        append(orders.log, batch(30, 5))
        query.processAllAvailable()
        assert count() == 30
        append(orders.log, batch(35, 1))
        deadline = monotonic() + 120
        while count() < 36 and monotonic() < deadline:
            query.processAllAvailable()
        assert count() == 36 and query.exception() is None
    finally:
        query.stop()
