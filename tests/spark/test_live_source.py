# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` in Spark: queries, plans without secrets, and short errors.

``test_live_reading.py`` covers plans and rows without Spark.
"""

import importlib
import socket

import pytest
from pyspark.errors import PySparkException

import kwire.spark
from tests.client.log_broker import LogBroker
from tests.spark.stream_progress import end_offsets

PASSWORD = "s3cr3t-Kx9"
JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="reader" password="{}";'
)


@pytest.fixture(scope="module")
def broker():
    """Return a broker with two topics. Tests do not change it."""
    with LogBroker({"orders": (35, 20), "bills": (5,)}) as running:
        yield running


def reader(spark, address, **settings):
    options = {"kafka.bootstrap.servers": address, **settings}
    return spark.read.format("kafka-live").options(**options)


def test_spark_finds_the_format_without_registration():
    module = importlib.import_module("pyspark_kwire_live")
    assert module.DefaultSource is kwire.spark.KafkaLiveSource


def test_a_query_reads_topics_from_brokers(spark, broker):
    """A query reads topics from brokers in Spark's workers, with all columns."""
    settings = {"subscribePattern": "orders|bills", "includeHeaders": "true"}
    table = reader(spark, broker.address, minPartitions="4", **settings).load()
    assert table.dtypes == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("offset", "bigint"),
        ("timestamp", "timestamp"),
        ("timestampType", "int"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    counts = table.groupBy("topic", "partition").count().collect()
    assert {(row.topic, row.partition, row["count"]) for row in counts} == {
        ("orders", 0, 35),
        ("orders", 1, 20),
        ("bills", 0, 5),
    }


def test_a_schema_and_sql_names_work_as_with_the_other_formats(spark, broker):
    kwire.spark.register(spark)
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW live USING kafka_live OPTIONS ("
        f'`kafka.bootstrap.servers` "{broker.address}", subscribe "bills")'
    )
    (row,) = spark.sql("SELECT count(value), max(offset) FROM live").collect()
    assert tuple(row) == (5, 4)
    values = reader(spark, broker.address, subscribe="bills").schema("value binary")
    assert values.load().columns == ["value"] and values.load().count() == 5


def test_secrets_are_in_no_plan_and_no_error(spark):
    """No plan and no error contains a secret, with a correct or a wrong password."""
    settings = {
        "subscribe": "orders",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": JAAS.format(PASSWORD),
    }
    with LogBroker({"orders": (3,)}, users={"reader": PASSWORD}) as broker:
        table = reader(spark, broker.address, **settings).load()
        assert table.count() == 3
        plans = table._jdf.queryExecution().toString()
        assert "kafka-live" in plans.lower() and PASSWORD not in plans
        settings["kafka.sasl.jaas.config"] = JAAS.format(PASSWORD + "-2")
        with pytest.raises(PySparkException) as caught:
            reader(spark, broker.address, **settings).load().count()
    text = str(caught.value)
    assert PASSWORD not in text and broker.address in text
    assert "AuthenticationFailed" in text and "Traceback" not in text


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_broker_errors_are_one_sentence_with_the_address(spark, broker):
    """An error of a broker is one sentence with its address, without a traceback.

    Examples are a closed port and an unknown topic.
    """
    closed = f"127.0.0.1:{closed_port()}"
    for address, topic, expected_error in (
        (closed, "orders", f"{closed}: "),
        (broker.address, "ordres", f"{broker.address}: topic 'ordres' does not exist"),
    ):
        with pytest.raises(PySparkException) as caught:
            reader(spark, address, subscribe=topic).load().count()
        text = str(caught.value)
        assert expected_error in text and "Traceback" not in text, text


def test_wrong_options_are_rejected_immediately(spark, broker):
    """Wrong options raise an error before a request is sent to a broker.

    This applies to batches and streams.
    """
    with pytest.raises(
        PySparkException, match="has no option 'subscrib': did you mean"
    ):
        reader(spark, broker.address, subscrib="orders").load()
    stream = spark.readStream.format("kafka-live").option("subscribe", "orders").load()
    query = stream.writeStream.format("noop").start()
    with pytest.raises(PySparkException, match="kafka-live requires brokers"):
        query.processAllAvailable()


def run(spark, broker, out, checkpoint, name="kafka-live", **settings):
    """Run a streaming query over all records.

    Return the end offsets by batch number.
    """
    query = (
        spark.readStream.format(name)
        .option("kafka.bootstrap.servers", broker.address)
        .options(subscribe="orders", startingOffsets="earliest", **settings)
        .load()
        .writeStream.format("parquet")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start(str(out))
    )
    query.awaitTermination(600)
    assert query.exception() is None
    return end_offsets(query)


def test_stream_continues_after_a_restart(spark, tmp_path):
    """After a restart, a stream continues with the records that were added since."""
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    with LogBroker({"orders": (30,)}) as broker:
        ends = run(spark, broker, out, checkpoint)
        assert [end for end in ends if end is not None][-1] == {"orders": {"0": 30}}
        broker.log("orders").append(7)
        run(spark, broker, out, checkpoint, maxRecordsPerPartition="3")
        rows = spark.read.parquet(str(out)).select("offset", "value").collect()
        assert {row.offset: bytes(row.value) for row in rows} == broker.log(
            "orders"
        ).readable(0, 37, False)
        assert len(rows) == 37
