# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` without a session: offsets, ranges, rows, losses, errors.

The readers are called as by Spark, with pickles between driver and tasks, and use a
broker on the loopback interface. ``test_live_stream.py`` covers streams.
"""

import json
import pickle

import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from kwire.client import ClusterError, DataLost
from kwire.records import encode_batch
from kwire.spark import KafkaLiveSource
from kwire.spark.live.options import read_live_options
from kwire.spark.live.source import LiveReader
from kwire.spark.topics.layout import default_live_layout
from tests.client.log_broker import LogBroker
from tests.client.machines.partition_log import StoredBatch
from tests.harness.loopback_brokers import make_certificate, server_context
from tests.log.log_files import checked

COUNTS = {"orders": (35, 20), "orders-eu": (5,), "other": (7,)}


@pytest.fixture(scope="module")
def broker():
    """Return a broker with several topics. Tests do not change it."""
    with LogBroker(COUNTS) as running:
        yield running


def reader_of(broker, *, headers=False, **settings):
    options = {
        "kafka.bootstrap.servers": broker.address,
        "includeHeaders": str(headers),
    }
    read = read_live_options({**options, **settings})
    return LiveReader(read, default_live_layout(read.include_headers))


def table_of(reader):
    """Read all tasks of a reader, and return the rows as one table.

    Every task is unpickled separately, as in Spark's workers.
    """
    batches = []
    for part in reader.partitions():
        worker, part = pickle.loads(pickle.dumps((reader, part)))
        batches += list(worker.read(part))
    return pa.Table.from_batches(batches) if batches else None


def offsets_of(reader):
    """Return {(topic, partition): offsets} in order. Empty partitions are omitted."""
    table = table_of(reader)
    offsets = {}
    for row in table.to_pylist() if table else ():
        offsets.setdefault((row["topic"], row["partition"]), []).append(row["offset"])
    return offsets


def ranges_of(reader):
    return [tuple(part.value[1:]) for part in reader.partitions() if part.value]


def test_rows_have_the_columns_of_sparks_own_source(broker):
    """The rows have the columns of Spark's own source.

    Names, order and Arrow types equal those of ``kafka-log``, with headers.
    """
    table = table_of(reader_of(broker, subscribe="orders", headers=True))
    headers = pa.list_(
        pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())]))
    )
    assert table.schema == pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", "UTC")),
            ("timestampType", pa.int32()),
            ("headers", headers),
        ]
    )
    rows = {(row["partition"], row["offset"]): row for row in table.to_pylist()}
    assert len(rows) == table.num_rows == 55
    for partition in (0, 1):
        written = broker.log("orders", partition).readable(0, 100, False)
        for offset, value in written.items():
            row = rows[partition, offset]
            assert row["value"] == value and row["topic"] == "orders"
            assert row["key"].startswith(b"key-") and row["headers"] is None
            assert row["timestamp"].timestamp() == (1001 + offset) / 1000
            assert row["timestampType"] == 0


@pytest.mark.parametrize(
    ("settings", "topics"),
    [
        ({"subscribe": "orders"}, {("orders", 0): 35, ("orders", 1): 20}),
        ({"subscribe": "other, orders-eu"}, {("orders-eu", 0): 5, ("other", 0): 7}),
        (
            {"assign": '{"orders": [1], "other": [0]}'},
            {("orders", 1): 20, ("other", 0): 7},
        ),
        ({"subscribePattern": "rders-"}, {("orders-eu", 0): 5}),
        ({"subscribePattern": "nothing"}, {}),
    ],
)
def test_topics_are_chosen_as_sparks_own_source_does(broker, settings, topics):
    """Topics can be selected by name, by partition, or by a pattern.

    As in Spark's own source, the pattern may match only a part of the name.
    """
    offsets = offsets_of(reader_of(broker, **settings))
    assert offsets == {
        topic_partition: list(range(count)) for topic_partition, count in topics.items()
    }


def at(*numbers):
    return json.dumps({"orders": {str(p): n for p, n in enumerate(numbers)}})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [(0, 0, 35), (1, 0, 20)]),
        ({"startingOffsets": at(7, -2)}, [(0, 7, 35), (1, 0, 20)]),
        ({"endingOffsets": at(7, -1)}, [(0, 0, 7), (1, 0, 20)]),
        ({"startingOffsets": at(9, 9), "endingOffsets": at(9, 11)}, [(1, 9, 11)]),
        # As in Spark's own source, a range whose start is after its end is empty.
        ({"startingOffsets": at(9, 9), "endingOffsets": at(3, 11)}, [(1, 9, 11)]),
        ({"startingTimestamp": "1011"}, [(0, 10, 35), (1, 10, 20)]),
        ({"endingTimestamp": "1011"}, [(0, 0, 10), (1, 0, 10)]),
        # The second partition has no record with such a late timestamp, so its range
        # ends at the log end offset.
        ({"endingTimestamp": "1031"}, [(0, 0, 30), (1, 0, 20)]),
        ({"startingOffsetsByTimestamp": at(1006, 1008)}, [(0, 5, 35), (1, 7, 20)]),
        ({"endingOffsetsByTimestamp": at(1006, 99999)}, [(0, 0, 5), (1, 0, 20)]),
        # Timestamps have precedence over offsets. A single timestamp has precedence
        # over timestamps by partition.
        (
            {"startingOffsets": at(1, 1), "startingTimestamp": "1011"},
            [(0, 10, 35), (1, 10, 20)],
        ),
        (
            {
                "startingTimestamp": "1031",
                "startingOffsetsByTimestampStrategy": "latest",
            },
            [(0, 30, 35)],
        ),
    ],
)
def test_offsets_are_those_that_the_options_name(broker, settings, expected):
    assert ranges_of(reader_of(broker, subscribe="orders", **settings)) == expected


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"startingTimestamp": "1031"}, "orders-1 has no record of timestamp 1031"),
        ({"startingOffsets": '{"orders": {"0": 3}}'}, "names no offset for orders-1"),
        ({"startingOffsets": at(1, 2, 3)}, "names orders-2, which is not among"),
        ({"startingOffsets": "latest"}, "startingOffsets of a batch cannot be latest"),
        ({"startingOffsets": at(3, -1)}, "startingOffsets of a batch cannot be latest"),
        ({"endingOffsets": "earliest"}, "endingOffsets of a batch cannot be earliest"),
    ],
)
def test_offsets_that_spark_refuses_are_refused_with_a_reason(broker, settings, text):
    with pytest.raises(ValueError, match=text):
        reader_of(broker, subscribe="orders", **settings).partitions()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"maxRecordsPerPartition": "12"}, [11, 12, 12, 10, 10]),
        ({"minPartitions": "2"}, [35, 20]),
        ({"minPartitions": "5"}, [8, 9, 9, 9, 10, 10]),
        ({"minPartitions": "5", "maxRecordsPerPartition": "7"}, [7] * 5 + [6, 7, 7]),
        ({"minPartitions": "100"}, None),
    ],
)
def test_ranges_are_cut_for_tasks(broker, settings, expected):
    """By default, there is one task per partition.

    If the options limit the size of tasks, a range is split. All rows are read once.
    """
    reader = reader_of(broker, subscribe="orders", **settings)
    sizes = [end - start for _, start, end in ranges_of(reader)]
    assert sorted(sizes) == sorted(expected or [1] * 55)
    offsets = offsets_of(reader)
    assert offsets == {("orders", 0): list(range(35)), ("orders", 1): list(range(20))}


def test_a_record_without_a_timestamp_has_null():
    """A record without a timestamp has null.

    Spark's own source shows such a timestamp as one millisecond before 1970.
    """
    with LogBroker({"orders": (0,)}) as broker:
        log = broker.log("orders")
        data = encode_batch([(b"k", b"v", -1), (b"k", b"v", 5)])
        log.batches.append(StoredBatch(0, 1, log.epoch, data, {0: b"v", 1: b"v"}))
        log.end = 2
        table = table_of(reader_of(broker, subscribe="orders"))
    assert table["timestamp"].cast("int64").to_pylist() == [None, 5000]


def test_a_range_begins_and_ends_within_a_record_batch(broker):
    """A range may start and end within a record batch.

    Brokers return complete batches, from which the other records are removed.
    """
    settings = {"startingOffsets": at(13, 3), "endingOffsets": at(27, 4)}
    offsets = offsets_of(reader_of(broker, subscribe="orders", **settings))
    assert offsets == {("orders", 0): list(range(13, 27)), ("orders", 1): [3]}


def test_aborted_records_are_omitted_from_committed_reads():
    """With read_committed, aborted records are omitted.

    The range ends before the first open transaction, as for a consumer.
    """
    with LogBroker({"orders": (3,)}) as broker:
        log = broker.log("orders")
        log.append(2, producer_id=7)
        log.end_transaction(7, 0)
        log.append(2, producer_id=7)
        log.end_transaction(7, 1)
        log.append(4, producer_id=9)
        reader = reader_of(broker, subscribe="orders")
        assert ranges_of(reader) == [(0, 0, 13)]
        assert offsets_of(reader) == {
            ("orders", 0): [0, 1, 2, 3, 4, 6, 7, 9, 10, 11, 12]
        }
        level = {"kafka.isolation.level": "read_committed"}
        reader = reader_of(broker, subscribe="orders", **level)
        assert ranges_of(reader) == [(0, 0, 9)]
        assert offsets_of(reader) == {("orders", 0): [0, 1, 2, 6, 7]}
        # An end offset within an open transaction is not a data loss.
        settings = {**level, "endingOffsets": '{"orders": {"0": 12}}'}
        assert ranges_of(reader_of(broker, subscribe="orders", **settings)) == [
            (0, 0, 9)
        ]


def test_deleted_offsets_end_the_query_by_default():
    with LogBroker({"orders": (30,)}) as broker:
        broker.log("orders").delete_before(12)
        settings = {"startingOffsets": '{"orders": {"0": 5}}'}
        with pytest.raises(
            DataLost, match="at offset 5: the log begins at offset 12; set failOnData"
        ):
            reader_of(broker, subscribe="orders", **settings).partitions()
        settings["failOnDataLoss"] = "false"
        with pytest.warns(UserWarning, match="5: the log begins at offset 12$"):
            offsets = offsets_of(reader_of(broker, subscribe="orders", **settings))
        assert offsets == {("orders", 0): list(range(12, 30))}
        settings = {"endingOffsets": '{"orders": {"0": 40}}'}
        with pytest.raises(DataLost, match="at offset 40: the log ends at offset 30"):
            reader_of(broker, subscribe="orders", **settings).partitions()


@pytest.mark.parametrize("fails", ["true", "false"])
def test_offsets_that_go_between_the_plan_and_the_read_are_a_loss(fails):
    """If records are deleted between the plan and the read, this is a data loss.

    The deleted records are missing, but a task never reads another task's offsets.
    """
    settings = {"failOnDataLoss": fails, "maxRecordsPerPartition": "10"}
    with LogBroker({"orders": (30,)}) as broker:
        reader = reader_of(broker, subscribe="orders", **settings)
        first, second, third = reader.partitions()
        broker.log("orders").delete_before(15)

        def seen(part):
            rows = [row for batch in reader.read(part) for row in batch.to_pylist()]
            return [row["offset"] for row in rows]

        if fails == "true":
            for part in (first, second):
                with pytest.raises(
                    DataLost, match=r"no longer contains this offset .*; set failOnData"
                ):
                    seen(part)
        else:
            with pytest.warns(
                UserWarning, match=r"reading orders-0 at offset 0: .* 0 to 10\)$"
            ):
                assert seen(first) == []
            with pytest.warns(UserWarning, match="no longer contains this offset"):
                assert seen(second) == list(range(15, 20))
        assert seen(third) == list(range(20, 30))


def test_a_log_that_became_shorter_is_a_loss():
    with LogBroker({"orders": (30,)}) as broker:
        reader = reader_of(broker, subscribe="orders")
        careless = reader_of(broker, subscribe="orders", failOnDataLoss="false")
        (part,) = reader.partitions()
        broker.log("orders").new_leader(cut=12)
        broker.node.learn()
        with pytest.raises(DataLost, match="the log ends at offset 10"):
            list(reader.read(part))
        with pytest.warns(UserWarning, match="the log ends at offset 10"):
            assert sum(batch.num_rows for batch in careless.read(part)) == 10


def test_a_task_never_reads_offsets_before_its_own():
    """A task never reads offsets before its own range.

    A scan that lost its position would otherwise read the range of another task.
    """
    settings = {"maxRecordsPerPartition": "10", "failOnDataLoss": "false"}
    with LogBroker({"orders": (30,)}) as broker:
        reader = reader_of(broker, subscribe="orders", **settings)
        last = reader.partitions()[-1]
        broker.log("orders").new_leader(cut=12)
        broker.node.learn()
        with pytest.warns(UserWarning, match="the log ends at offset 10"):
            assert sum(batch.num_rows for batch in reader.read(last)) == 0


def test_compacted_records_are_not_a_data_loss():
    """Offsets that compaction has removed are not a data loss.

    This applies even at the end of a range.
    """
    with LogBroker({"orders": (60,)}) as broker:
        log = broker.log("orders")
        log.compact()
        remaining_offsets = sorted(log.readable(0, 60, False))
        assert len(remaining_offsets) < 60
        settings = {"maxRecordsPerPartition": "7"}
        offsets = offsets_of(reader_of(broker, subscribe="orders", **settings))
        assert offsets == {("orders", 0): remaining_offsets}


def test_topics_are_read_through_tls_and_sasl_by_kafkas_option_names(tmp_path):
    """Topics are read with TLS and SASL, with the names of Kafka's properties.

    Every task opens its own connection with the options in the pickled reader.
    """
    certificate, key = make_certificate(tmp_path)
    login = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    settings = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": f'{login} username="reader" password="pencil-9";',
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(certificate),
    }
    context = server_context(certificate, key)
    users = {"reader": "pencil-9"}
    with LogBroker({"orders": (12,)}, users=users, context=context) as broker:
        offsets = offsets_of(reader_of(broker, subscribe="orders", **settings))
        assert offsets == {("orders", 0): list(range(12))}
        with pytest.raises(ClusterError, match=broker.address):
            reader_of(broker, subscribe="orders").partitions()
        del (
            settings["kafka.ssl.truststore.type"],
            settings["kafka.ssl.truststore.location"],
        )
        with pytest.raises(ClusterError, match=f"{broker.address}: .*not trusted"):
            reader_of(broker, subscribe="orders", **settings).partitions()


def test_names_of_headers_that_are_not_utf_8_are_read_as_kafka_reads_them():
    """Invalid UTF-8 in a header key is replaced, as in Spark's own source.

    The job continues.
    """
    with LogBroker({"orders": (1,)}) as broker:
        log = broker.log("orders")
        data = bytearray(encode_batch([(b"k", b"v", 5, [("ab", b"x")])]))
        data[data.index(b"ab")] = 0xFF
        log.batches[0] = log.batches[0]._replace(data=checked(data))
        reader = reader_of(broker, subscribe="orders", headers=True)
        (row,) = table_of(reader).to_pylist()
        assert row["headers"] == [{"key": "\ufffdb", "value": b"x"}]


def test_damaged_bytes_end_the_query_with_their_place():
    with LogBroker({"orders": (20,)}) as broker:
        log = broker.log("orders")
        bad = bytearray(log.batches[1].data)
        bad[-2] ^= 1
        log.batches[1] = log.batches[1]._replace(data=bytes(bad))
        reader = reader_of(broker, subscribe="orders")
        with pytest.raises(Exception, match=r"orders-0 at offset 0: .*checksum"):
            table_of(reader)


def test_columns_are_those_of_a_schema(broker):
    """A schema selects columns. An error about a wrong schema lists all columns."""
    settings = {"kafka.bootstrap.servers": broker.address, "subscribe": "other"}
    source = KafkaLiveSource(settings)
    offset, value = (
        StructField("offset", LongType()),
        StructField("value", BinaryType()),
    )
    reader = source.reader(StructType([offset, value]))
    assert table_of(reader).column_names == ["offset", "value"]
    for name, kind, text in (
        ("val", BinaryType(), "kafka-live has no column 'val'; it has key"),
        (
            "value",
            LongType(),
            r"kafka-live must be binary \(got bigint\)",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            source.reader(StructType([StructField(name, kind)]))
    with pytest.raises(ValueError, match="can be null; leave out NOT NULL"):
        source.reader(StructType([StructField("value", BinaryType(), False)]))
