# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` as a stream: offsets, limits, losses, and reads after a restart.

The reader is called as by Spark. ``test_live_source.py`` contains queries in Spark.
``tools/interop/spark/live_kills.py`` shows that no record is lost or duplicated if a
driver is killed.
"""

import json
import pickle

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from kwire.client import DataLost
from kwire.spark.live.options import read_live_options
from kwire.spark.live.stream import LiveStream
from kwire.spark.topics import stream_reader
from kwire.spark.topics.layout import default_live_layout
from tests.client.log_broker import LogBroker

EVERYTHING = ReadAllAvailable()
COMMITTED = {"kafka.isolation.level": "read_committed"}


@pytest.fixture
def broker():
    """Return a broker with one topic, to which the tests write."""
    with LogBroker({"orders": (30,)}) as running:
        yield running


def reader_of(broker, **settings):
    topics = {} if "subscribePattern" in settings else {"subscribe": "orders"}
    options = {"kafka.bootstrap.servers": broker.address, **topics, **settings}
    stream = LiveStream(read_live_options(options, True), default_live_layout(False))
    return stream_reader.make_stream_reader(lambda: stream)


def offsets(reader, start, end):
    """Return the offsets of the records in a micro-batch.

    The readers are pickled and unpickled, as between Spark's processes.
    """
    batches = []
    for part in reader.partitions(start, end):
        worker, part = pickle.loads(pickle.dumps((reader, part)))
        batches += list(worker.read(part))
    return (
        pa.Table.from_batches(batches).column("offset").to_pylist() if batches else []
    )


def at(*numbers):
    return {"orders": {str(p): n for p, n in enumerate(numbers)}}


def add_partition(broker, start=0, count=0):
    """Add a partition with ``count`` records to the topic, from offset ``start`` on."""
    cluster = broker.cluster_truth
    topic = cluster.topics["orders"]
    (log,) = cluster.add_topic("spare", 1).logs
    del cluster.topics["spare"]
    topic.logs.append(log)
    topic.leaders.append(1)
    log.append(start + count)
    log.delete_before(start)
    broker.node.learn()


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({}, 30),
        ({"startingOffsets": "earliest"}, 0),
        ({"startingOffsets": json.dumps(at(7))}, 7),
        ({"startingOffsets": json.dumps(at(-1))}, 30),
        ({"startingOffsets": json.dumps(at(-2))}, 0),
        ({"startingTimestamp": "1013"}, 12),
    ],
)
def test_a_query_begins_where_sparks_own_source_does(broker, settings, first):
    """A query starts at the same offset as with Spark's own source.

    The default is the log end offset.
    """
    reader = reader_of(broker, **settings)
    assert reader.initialOffset() == at(first)
    assert reader.latestOffset(at(first), EVERYTHING) == at(30)
    assert reader.reportLatestOffset() == at(30)


def test_records_written_later_are_read_once(broker):
    reader = reader_of(broker)
    broker.log("orders").append(5)
    assert reader.latestOffset(at(30), EVERYTHING) == at(35)
    assert offsets(reader, at(30), at(35)) == list(range(30, 35))
    broker.log("orders").append(5)
    assert offsets(reader, at(30), at(35)) == list(range(30, 35))
    assert offsets(reader, at(35), at(35)) == []


def test_limits_are_those_of_the_options(broker, monkeypatch):
    """The options limit how many offsets a micro-batch contains.

    ``kafka-log`` uses the same code, and its tests cover the details.
    """
    now = 5000.0
    monkeypatch.setattr(stream_reader, "monotonic", lambda: now)
    reader = reader_of(broker, maxOffsetsPerTrigger="12")
    assert reader.getDefaultReadLimit() == ReadMaxRows(12)
    assert reader.latestOffset(at(0), ReadMaxRows(12)) == at(12)
    reader = reader_of(broker, minOffsetsPerTrigger="6", maxTriggerDelay="1m")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMinRows(6)
    assert reader.latestOffset(at(28), limit) == at(30)
    broker.log("orders").append(2)
    assert reader.latestOffset(at(30), limit) == at(30)
    now += 60
    assert reader.latestOffset(at(30), limit) == at(32)
    parts = reader_of(broker, maxRecordsPerPartition="9").partitions(at(2), at(30))
    assert [(part.value.start, part.value.end) for part in parts] == [
        (2, 9),
        (9, 16),
        (16, 23),
        (23, 30),
    ]


def test_available_now_reads_what_there_was_and_honours_the_limit(broker):
    reader = reader_of(broker, maxOffsetsPerTrigger="20", minOffsetsPerTrigger="20")
    reader.prepareForTriggerAvailableNow()
    broker.log("orders").append(5)
    limit, position, ends = reader.getDefaultReadLimit(), at(0), []
    while position not in ends:
        ends.append(position)
        position = reader.latestOffset(position, limit)
    assert ends == [at(0), at(20), at(30)]


def test_a_partition_that_is_new_is_read_from_its_beginning(broker):
    reader = reader_of(broker)
    add_partition(broker, count=4)
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == at(30, 4)
    assert offsets(reader, at(30), end) == [0, 1, 2, 3]


def test_a_partition_that_is_new_and_has_lost_records_is_a_loss(broker):
    """A new partition whose first records are already deleted is a data loss.

    Spark's own source reports it as well, because the query has never seen these
    records.
    """
    add_partition(broker, start=3, count=2)
    with pytest.raises(DataLost, match="partition is new and begins at offset 3; set"):
        reader_of(broker).partitions(at(30), at(30, 5))
    careless = reader_of(broker, failOnDataLoss="false")
    with pytest.warns(UserWarning, match="orders-1 at offset 0: the partition is new"):
        assert offsets(careless, at(30), at(30, 5)) == [3, 4]


def test_a_topic_that_matches_later_is_read_too(broker):
    reader = reader_of(broker, subscribePattern="ord.*|bills")
    assert reader.initialOffset() == at(30)
    (log,) = broker.cluster_truth.add_topic("bills", 1).logs
    log.append(3)
    broker.node.learn()
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == {"bills": {"0": 3}, **at(30)}
    assert offsets(reader, at(30), end) == [0, 1, 2]


def test_a_pattern_that_matches_nothing_yet_waits(broker):
    reader = reader_of(broker, subscribePattern="bills")
    assert reader.initialOffset() == {}
    assert reader.latestOffset({}, EVERYTHING) == {}


def test_losses_end_the_query_with_fail_on_data_loss(broker):
    """With ``failOnDataLoss``, a data loss ends the query.

    Examples are deleted offsets, a log that has become shorter, and a deleted topic.
    """
    pattern = {"subscribePattern": "orders"}
    reader = reader_of(broker, **pattern)
    careless = reader_of(broker, failOnDataLoss="false", **pattern)
    broker.log("orders").delete_before(12)
    with pytest.raises(DataLost, match="reading orders-0 at offset 5: the log"):
        offsets(reader, at(5), at(30))
    with pytest.warns(UserWarning, match="reading orders-0 at offset 5: "):
        assert offsets(careless, at(5), at(30)) == list(range(12, 30))
    with pytest.raises(DataLost, match="at offset 31: the log ends at offset 30"):
        reader.latestOffset(at(31), EVERYTHING)
    with pytest.warns(UserWarning, match="at offset 31: the log ends at offset 30"):
        assert careless.latestOffset(at(31), EVERYTHING) == at(31)
    del broker.cluster_truth.topics["orders"]
    broker.node.learn()
    with pytest.raises(DataLost, match="orders-0 at offset 30: the partition no"):
        reader.latestOffset(at(30), EVERYTHING)
    with pytest.warns(UserWarning, match="orders-0 at offset 30: the partition no"):
        assert careless.latestOffset(at(30), EVERYTHING) == at(30)
    with pytest.warns(UserWarning, match="topic 'orders' does not exist"):
        assert offsets(careless, at(20), at(30)) == []


def test_stream_ends_before_the_first_open_transaction(broker):
    """With read_committed, a stream ends before the first open transaction."""
    log = broker.log("orders")
    log.append(2, producer_id=7)
    log.append(3)
    reader = reader_of(broker, **COMMITTED)
    assert reader.latestOffset(at(30), EVERYTHING) == at(30)
    # A start offset within an open transaction is not a data loss.
    assert reader.latestOffset(at(33), EVERYTHING) == at(33)
    log.end_transaction(7, 0)
    end = reader.latestOffset(at(30), EVERYTHING)
    assert end == at(36)
    assert offsets(reader, at(30), end) == [32, 33, 34]


def test_a_stream_has_no_end(broker):
    with pytest.raises(ValueError, match="a stream has no end; leave out ending"):
        reader_of(broker, endingOffsets=json.dumps(at(3)))


def test_the_checkpoint_of_another_source_is_recognised(broker):
    with pytest.raises(ValueError, match="offsets of kafka-live must be JSON such as"):
        reader_of(broker).latestOffset({"logOffset": 3}, EVERYTHING)


def test_a_file_of_certificates_that_is_missing_is_refused_when_spark_calls(broker):
    """A missing certificate file raises an error when Spark plans the read.

    Spark does not show an error of ``streamReader`` to the user.
    """
    settings = {
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": "/no/such/store.pem",
    }
    reader = stream_reader.make_stream_reader(
        lambda: reader_of(broker, **settings)._stream
    )
    with pytest.raises(FileNotFoundError, match=r"truststore\.location") as caught:
        reader.initialOffset()
    assert "/no/such/store.pem" in str(caught.value)
