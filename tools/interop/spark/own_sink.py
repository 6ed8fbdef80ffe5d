# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the ``kafka-live`` sink with Spark's ``kafka`` sink on a broker.

    python -m tools.interop.spark.own_sink

Both sinks write the same tables to separate topics, in batch and streaming queries.
Partition, key, value, headers and the order of the records must be identical. If one
sink rejects an input, the other must reject it too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.harness import expect_same
from tools.interop.spark.own_source import LONGEST, SOURCES, open_session
from tools.interop.spark.streams import run_to_end

PARTITIONS = 3
ROWS = 2000
OFFLINE = {"kafka.max.block.ms": "2000", "topic": "refused"}
"""Options for rejected inputs.

They limit the wait of the Java producer for partitions that do not exist.
"""

Record = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def make_table(spark: Any) -> Any:
    """Create a table with nulls, empty values, headers and explicit partitions."""
    text = "cast(id as string)"
    return spark.range(0, ROWS, 1, 1).selectExpr(
        "id as offset",
        "timestamp_millis(id) as timestamp",
        f"if(id % 4 = 0, null, cast({text} as binary)) as key",
        f"if(id % 5 = 0, null, if(id % 7 = 0, '', repeat({text}, 9))) as value",
        f"if(id % 3 = 0, array(struct('a' as key, cast({text} as binary) as value),"
        " struct('a' as key, cast(null as binary) as value)), null) as headers",
        "if(id % 4 = 0 or id % 9 = 0, cast(id % 3 as int), null) as partition",
    )


def batch_cases(table: Any) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Yield (name, table, options) for each batch that both sinks must write."""
    yield "all columns", table, {}
    yield "text keys", table.selectExpr("cast(key as string) as key", "value"), {}
    yield "binary values", table.selectExpr("cast(value as binary) as value"), {}
    yield "no rows", table.where("offset < 0"), {}
    yield "empty headers", table.selectExpr("value", "slice(headers, 1, 0) headers"), {}
    yield (
        "a value of 900 KB",
        table.selectExpr("repeat('x', 900000) value").limit(2),
        {},
    )
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        options = {"kafka.compression.type": codec, "kafka.batch.size": "5000"}
        yield f"compressed with {codec}", table, options
    yield "the leader alone", table, {"kafka.acks": "1"}


def refused_cases(spark: Any) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Yield (name, table, options) for each batch that both sinks must reject."""

    def select(columns: str) -> Any:
        return spark.sql(f"SELECT {columns}")

    yield "no value", select("'x' AS key"), {}
    yield "no value by another case", select("'x' AS Value"), {}
    yield "a number as value", select("1 AS value"), {}
    yield "a number as key", select("'x' AS value, 1 AS key"), {}
    yield "a long partition", select("'x' AS value, 0L AS partition"), {}
    yield "a map of headers", select("'x' AS value, map('a', 'b') AS headers"), {}
    yield "a partition that is not there", select("'x' AS value, 9 AS partition"), {}
    yield "a negative partition", select("'x' AS value, -1 AS partition"), {}
    yield "a null topic", select("'x' AS value, string(null) AS topic"), {"topic": ""}
    yield "no topic", select("'x' AS value"), {"topic": ""}
    yield (
        "a header without a key",
        select(
            "'x' AS value, array(struct(string(null) AS key, binary('b') AS value))"
            " AS headers"
        ),
        {},
    )
    yield "a serializer", select("'x' AS value"), {"kafka.key.serializer": "x"}


def write(table: Any, sink: str, kafka: Broker, **given: str) -> None:
    """Append a table to the topics of a broker with one sink.

    ``given`` contains further options of the sink.
    """
    options = {"kafka.bootstrap.servers": kafka.address, **given}
    table.write.format(sink).options(**options).mode("append").save()


def read_topic(kafka: Broker, topic: str) -> list[Record]:
    """Return (partition, key, value, headers) for all records, sorted by partition."""
    return [
        (partition, row.key, row.value, row.headers)
        for partition, rows in clients.read_rows(kafka, topic).items()
        for row in rows
    ]


def compare(kafka: Broker, what: str, topics: list[str], is_placed: bool) -> None:
    """Compare the records in the topics of both sinks. ``what`` names the case.

    If ``is_placed`` is False, records without key and partition may be in different
    partitions. Raises ``BrokerError`` at the first difference.
    """
    own, live = (read_topic(kafka, topic) for topic in topics)
    if not is_placed:
        own, live = (
            sorted(((-1, *each[1:]) for each in records), key=repr)
            for records in (own, live)
        )
    expect_same(what, live, own)
    print(f"{what}: {len(own)} records, equal", flush=True)


def make_topics(kafka: Broker, name: str) -> list[str]:
    """Create a topic for each sink. Returns the names of both topics."""
    topics = [f"{name.replace(' ', '-')}-{sink}" for sink in SOURCES]
    for topic in topics:
        workloads.create_topic(kafka, topic, partitions=PARTITIONS)
    return topics


def check_batches(spark: Any, kafka: Broker) -> None:
    """Write every batch with both sinks, and compare their topics."""
    table = make_table(spark)
    for name, rows, options in batch_cases(table):
        topics = make_topics(kafka, name)
        for sink, topic in zip(SOURCES, topics, strict=True):
            write(rows, sink, kafka, topic=topic, **options)
        compare(kafka, f"batch, {name}", topics, "partition" in rows.columns)
    pairs = [make_topics(kafka, f"column {number}") for number in range(2)]
    for index, sink in enumerate(SOURCES):
        first, second = (pair[index] for pair in pairs)
        column = f"if(offset % 3 = 0, '{first}', '{second}') as topic"
        write(table.selectExpr("*", column), sink, kafka)
    for topics in pairs:
        compare(kafka, "batch, a column of topics", topics, True)


def check_refused(spark: Any, kafka: Broker) -> None:
    """Check that both sinks reject every case. kwire's error has no traceback."""
    workloads.create_topic(kafka, "refused", partitions=PARTITIONS)
    from pyspark.errors import PySparkException

    for name, table, given in refused_cases(spark):
        options = {key: text for key, text in {**OFFLINE, **given}.items() if text}
        for sink in SOURCES:
            try:
                write(table, sink, kafka, **options)
            except (PySparkException, Exception) as error:
                if "kwire" in str(error) and "Traceback" in str(error):
                    raise BrokerError(f"{name}: a traceback: {error}") from None
                continue
            raise BrokerError(f"{name}: {sink} refuses nothing")
        print(f"refused by both: {name}", flush=True)
    if records := read_topic(kafka, "refused"):
        raise BrokerError(f"what was refused is in the topic: {records[:3]}")


def check_streams(spark: Any, kafka: Broker, folder: Path) -> None:
    """Run a streaming query with each sink twice, and compare their topics.

    The second run continues at the checkpoint of the first run.
    """
    topics = make_topics(kafka, "stream")
    for turn in range(2):
        table = make_table(spark).where(f"offset % 2 = {turn}")
        table.coalesce(1).write.mode("append").parquet(str(folder / "in"))
        for sink, topic in zip(SOURCES, topics, strict=True):
            lines = spark.readStream.schema(table.schema).parquet(str(folder / "in"))
            writer = lines.writeStream.format(sink).trigger(availableNow=True)
            options = {"kafka.bootstrap.servers": kafka.address, "topic": topic}
            options["checkpointLocation"] = str(folder / f"checkpoint-{sink}")
            try:
                run_to_end(writer.options(**options).start, LONGEST)
            except TimeoutError as error:
                raise BrokerError(f"a stream to {sink}: {error}") from None
    compare(kafka, "stream, stopped and continued", topics, True)


def main() -> None:
    """Start a broker and Spark, and compare both sinks.

    Exits with a message on failure.
    """
    begun = time.monotonic()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="kwire-own-sink-") as text,
            brokers.running("4.x") as kafka,
            open_session(Path(text)) as spark,
        ):
            check_batches(spark, kafka)
            check_refused(spark, kafka)
            check_streams(spark, kafka, Path(text))
    except (BrokerError, subprocess.CalledProcessError) as error:
        sys.exit(f"own_sink: {error}")
    print(f"  {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
