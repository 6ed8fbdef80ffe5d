# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` as a sink of Spark: batches, streams, and one-sentence errors.

``test_live_writing.py`` covers single tasks without Spark, and
``tools/interop/spark/own_sink.py`` compares the sink with Spark's own sink.
"""

import pytest
from pyspark.errors import PySparkException

from kwire.records import partitioners
from tests.client.log_broker import LogBroker
from tests.spark.topic_reading import flatten, mock_cluster

PASSWORD = "s3cr3t-Kx9"


@pytest.fixture(scope="module")
def cluster():
    """Return a mock cluster. The tests write to different topics."""
    with mock_cluster() as running:
        yield running


def write(table, address, mode="append", **settings):
    options = {"kafka.bootstrap.servers": address, **settings}
    table.write.format("kafka-live").options(**options).mode(mode).save()


def rows_of(spark, count):
    """Return a data frame with ``count`` rows in three tasks, one of which is empty.

    It has an additional column, which the sink ignores.
    """
    text = "cast(id as string)"
    return (
        spark.range(count)
        .selectExpr(
            "current_timestamp() as timestamp",
            f"if(id % 5 = 0, null, {text}) as value",
            "id as offset",
            f"if(id % 3 = 0, null, cast({text} as binary)) as key",
            "if(id % 2 = 0, array(struct('n' as key,"
            f" cast({text} as binary) as value)), null) as headers",
            "if(id % 7 = 0, 2, null) as partition",
        )
        .repartitionByRange(3, "offset")
        .where("offset < 10 or offset > 40")
    )


def expected(n):
    """Return the expected key, value and headers of row ``n``."""
    text = b"%d" % n
    key, value = (None if n % every == 0 else text for every in (3, 5))
    return key, value, [("n", text)] if n % 2 == 0 else None


def test_a_batch_is_written_as_its_rows_are(spark, cluster):
    """A batch write produces every row once, with key, value, headers and partition."""
    topic = cluster.make_topic()
    write(rows_of(spark, 100), cluster.address, topic=topic)
    numbers = [*range(10), *range(41, 100)]
    messages = flatten(cluster.read(topic, len(numbers)))
    written = [(key, value, headers) for _, key, value, headers in messages]
    order = repr
    assert sorted(written, key=order) == sorted(map(expected, numbers), key=order)
    for partition, key, value, headers in messages:
        text = key or value or (headers and headers[0][1])
        if text and int(text) % 7 == 0:
            assert partition == 2
        elif key:
            assert partition == partitioners.murmur2_random(key, range(4), [])


def test_a_column_names_the_topics(spark, cluster):
    """The column ``topic`` selects the topic of each row, also with the SQL name.

    A table without rows writes nothing.
    """
    topics = [cluster.make_topic() for _ in range(2)]
    table = rows_of(spark, 100).selectExpr(
        "value", f"if(offset < 50, '{topics[0]}', '{topics[1]}') as topic"
    )
    write(table, cluster.address)
    write(table.where("false"), cluster.address)
    for topic, count in zip(topics, (19, 50), strict=True):
        assert len(flatten(cluster.read(topic, count))) == count


def test_large_types_of_arrow_are_written(spark, cluster):
    """Large Arrow types are written. Spark uses them if its settings enable them."""
    name = "spark.sql.execution.arrow.useLargeVarTypes"
    topic = cluster.make_topic()
    spark.conf.set(name, "true")
    try:
        write(rows_of(spark, 5), cluster.address, topic=topic)
    finally:
        spark.conf.unset(name)
    assert len(flatten(cluster.read(topic, 5))) == 5


def run(spark, cluster, source, checkpoint, topic, **settings):
    """Run a stream that reads text files, until it has read all of them."""
    lines = spark.readStream.format("text").load(str(source))
    writer = lines.writeStream.format("kafka-live").options(
        **{"kafka.bootstrap.servers": cluster.address, "topic": topic, **settings}
    )
    query = (
        writer.option("checkpointLocation", str(checkpoint))
        .queryName("to a topic")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(600)
    assert query.exception() is None


def test_stream_continues_from_its_checkpoint(spark, cluster, tmp_path):
    """After a restart, a stream continues from its checkpoint.

    All lines are written once, also those that were added between the two runs.
    """
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    source.mkdir()
    topic = cluster.make_topic()
    for number in range(3):
        lines = [f"{number}-{n}" for n in range(100)]
        (source / f"{number}.txt").write_text("\n".join(lines))
        run(spark, cluster, source, checkpoint, topic)
        messages = flatten(cluster.read(topic, 100 * (number + 1)))
        values = {value.decode() for _, _, value, _ in messages}
        assert values == {
            f"{batch}-{n}" for batch in range(number + 1) for n in range(100)
        }
    run(spark, cluster, source, checkpoint, topic)
    cluster.read(topic, 300)


@pytest.mark.parametrize(
    ("change", "settings", "text"),
    [
        (
            ["key"],
            {"topic": "t"},
            "requires the column value (got key); name the column",
        ),
        (["offset as value"], {"topic": "t"}, "must be string or binary (got bigint)"),
        (["value"], {}, "requires topics: give the option topic, or a column topic"),
        (["value", "key as value"], {"topic": "t"}, "value"),
        (["value"], {"topc": "t"}, "has no option 'topc': did you mean topic?"),
        (["value"], {"topic": "t", "kafka.acks": "0"}, "kafka.acks must be one of"),
    ],
)
def test_unsupported_write_is_rejected_immediately(spark, change, settings, text):
    """An unsupported write raises an error before a request is sent to a broker."""
    with pytest.raises(PySparkException) as caught:
        write(rows_of(spark, 5).selectExpr(*change), "127.0.0.1:1", **settings)
    assert text in str(caught.value) and "kwire/" not in str(caught.value)


def test_modes_other_than_append_are_errors(spark, tmp_path):
    """Any output mode except "append" raises an error, for batches and streams.

    Spark itself rejects some of the modes.
    """
    table = rows_of(spark, 5)
    for mode, text in (
        ("overwrite", 'appends to topics: use mode("append")'),
        ("ignore", "UNSUPPORTED_DATA_SOURCE_SAVE_MODE"),
        ("errorifexists", "UNSUPPORTED_DATA_SOURCE_SAVE_MODE"),
    ):
        with pytest.raises(PySparkException) as caught:
            write(table, "127.0.0.1:1", mode, topic="t")
        assert text in str(caught.value)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("x")
    lines = spark.readStream.format("text").load(str(tmp_path / "in"))
    writer = lines.groupBy("value").count().select("value").writeStream
    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "topic": "t"}
    options["checkpointLocation"] = str(tmp_path / "checkpoint")
    query = (
        writer.format("kafka-live").options(**options).outputMode("complete").start()
    )
    with pytest.raises(PySparkException) as caught:
        query.processAllAvailable()
    assert 'use outputMode("append") (got complete)' in str(caught.value)


def test_a_task_that_fails_names_topic_partition_and_cause(spark):
    """The error of a failed task contains the topic, the partition and the cause.

    It contains neither a traceback of kwire nor a secret.
    """
    settings = {
        "topic": "orders",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.username": "writer",
        "kafka.sasl.password": PASSWORD,
    }
    table = spark.sql("SELECT 'poison' AS value, 1 AS partition")
    with LogBroker({"orders": (0, 0)}, users={"writer": PASSWORD}) as broker:
        with pytest.raises(PySparkException) as caught:
            write(table, broker.address, **settings)
        text = str(caught.value)
        expected_error = (
            "DeliveryFailed: writing 1 records to orders-1: the broker answered INV"
        )
        assert (
            expected_error in text and "Traceback" not in text and PASSWORD not in text
        )
        settings["topic"] = "ordres"
        with pytest.raises(PySparkException, match="'ordres' does not exist") as caught:
            write(table, broker.address, **settings)
        assert f"{broker.address}: topic 'ordres'" in str(caught.value)
        settings["kafka.sasl.password"] = PASSWORD + "-2"
        with pytest.raises(PySparkException, match="AuthenticationFailed") as caught:
            write(table, broker.address, **settings)
        assert PASSWORD not in str(caught.value)
