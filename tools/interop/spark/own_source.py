# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare ``kafka-live`` with Spark's ``kafka`` source on the same broker.

    python -m tools.interop.spark.own_source

The comparison covers batch queries for difficult topics with many options, streaming
queries with limited micro-batches, and a query that alternates between both sources
with the same checkpoint. All rows must be identical in every column, without
duplicates.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.harness import expect_same
from tools.interop.spark.streams import run_to_end

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LISTING = ROOT / "build" / "spark-own-source" / "classpath"
JARS = ("spark-sql-kafka", "spark-token-provider-kafka", "kafka-clients", "pool2")
SOURCES = ("kafka", "kafka-live")
COMMITTED = {"kafka.isolation.level": "read_committed"}
LONGEST = 600
"""Timeout of a query in seconds."""


def own_jars() -> list[str]:
    """Return the jars of Spark's Kafka source. Maven downloads them on first use."""
    pom = HERE / "pom.xml"
    if not LISTING.exists() or LISTING.stat().st_mtime < pom.stat().st_mtime:
        LISTING.parent.mkdir(parents=True, exist_ok=True)
        maven = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(pom)]
        output = f"-Dmdep.outputFile={LISTING}"
        brokers.run([*maven, output, "dependency:build-classpath"])
    paths = LISTING.read_text().strip().split(os.pathsep)
    return [path for path in paths if any(name in Path(path).name for name in JARS)]


@contextmanager
def open_session(folder: Path) -> Iterator[Any]:
    """Start Spark with both sources. Yields its session.

    Spark only listens on the loopback interface.
    """
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(own_jars()))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def batch_cases() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (name, options) for each batch that both sources must read."""
    first_timestamp = workloads.FIRST_TIMESTAMP
    starts = {"partitions": {"0": 3, "1": -2, "2": -2}}
    ends = {"partitions": {"0": 8, "1": 5, "2": -1}}
    times = {"partitions": {"0": 0, "1": first_timestamp, "2": 0}}
    segments = {"subscribe": "segments"}
    partitions = {"subscribe": "partitions"}
    yield "every topic", {"subscribePattern": "."}
    yield "every topic, committed", {"subscribePattern": ".", **COMMITTED}
    yield "topics that a pattern finds within", {"subscribePattern": "ec-[gz]"}
    yield "two topics", {"subscribe": "odd-rows,append-time"}
    yield "some partitions", {"assign": '{"partitions": [0, 2], "odd-rows": [0]}'}
    yield (
        "offsets",
        {
            **partitions,
            "startingOffsets": json.dumps(starts),
            "endingOffsets": json.dumps(ends),
        },
    )
    yield (
        "a start time",
        {**segments, "startingTimestamp": str(first_timestamp + 200_000)},
    )
    yield "an end time", {**segments, "endingTimestamp": str(first_timestamp + 180_000)}
    yield (
        "times of partitions",
        {
            **partitions,
            "startingOffsetsByTimestamp": json.dumps(times),
            "startingOffsetsByTimestampStrategy": "latest",
        },
    )
    yield (
        "no record as late",
        {
            **segments,
            "startingTimestamp": str(first_timestamp * 2),
            "startingOffsetsByTimestampStrategy": "latest",
        },
    )
    yield "more tasks", {**segments, "minPartitions": "7"}
    yield (
        "tasks of few records",
        {"subscribe": "compacted", "maxRecordsPerPartition": "9"},
    )
    lost = {"startingOffsets": '{"segments": {"0": 5}}', "failOnDataLoss": "false"}
    yield "a start that retention took", {**segments, **lost}


def refused_cases() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (name, options) for each batch that both sources must reject."""
    basic = {"subscribe": "segments"}
    yield "a batch from the end", {**basic, "startingOffsets": "latest"}
    yield "a batch to the start", {**basic, "endingOffsets": "earliest"}
    yield "an unknown topic", {"subscribe": "no-such-topic"}
    yield "a missing partition", {"subscribe": "partitions", **_offsets(partitions=[1])}
    yield "a time that is too late", {**basic, "startingTimestamp": "9999999999999"}
    yield "topics twice", {**basic, "subscribePattern": "."}
    yield "a start that retention took", {**basic, **_offsets(segments=[5])}


def _offsets(**topics: list[int]) -> dict[str, str]:
    named = {
        topic: {str(partition): offset for partition, offset in enumerate(offsets)}
        for topic, offsets in topics.items()
    }
    return {"startingOffsets": json.dumps(named)}


def rows_of(table: Any) -> list[Any]:
    """Return the rows of a table, sorted by topic, partition and offset."""
    return sorted(table.collect(), key=lambda row: row[2:5])


def read_batch(spark: Any, source: str, kafka: Broker, options: dict[str, str]) -> Any:
    """Return the table of a batch query, with the headers of the records."""
    reader = spark.read.format(source).option("includeHeaders", "true")
    return (
        reader.option("kafka.bootstrap.servers", kafka.address)
        .options(**options)
        .load()
    )


def check_batches(spark: Any, kafka: Broker) -> None:
    """Compare rows and schemas for every batch.

    Both sources must reject the cases of ``refused_cases``.
    """
    for name, options in batch_cases():
        own, live = (read_batch(spark, each, kafka, options) for each in SOURCES)
        if own.schema != live.schema:
            raise BrokerError(f"{name}: the schema is {live.schema}, not {own.schema}")
        rows = rows_of(own)
        expect_same(name, rows_of(live), rows)
        print(f"batch, {name}: {len(rows)} rows, equal", flush=True)
    from pyspark.errors import PySparkException

    for name, options in refused_cases():
        for each in SOURCES:
            try:
                count = read_batch(spark, each, kafka, options).count()
            except (PySparkException, Exception) as error:
                if "kwire" in str(error) and "Traceback" in str(error):
                    raise BrokerError(f"{name}: a traceback: {error}") from None
                continue
            raise BrokerError(f"{name}: {each} reads {count} rows and refuses nothing")
        print(f"refused by both: {name}", flush=True)


def run_stream(
    spark: Any, source: str, kafka: Broker, folder: Path, options: dict[str, str]
) -> Any:
    """Run a query from its checkpoint to the current end of its topics.

    Returns the end offsets of its micro-batches.
    """
    reader = spark.readStream.format(source).option("includeHeaders", "true")
    reader = reader.option("kafka.bootstrap.servers", kafka.address)
    reader = reader.option("startingOffsets", "earliest").options(**options)
    writer = reader.load().writeStream.format("parquet").trigger(availableNow=True)
    checkpoint = str(folder / "checkpoint")
    writer = writer.option("checkpointLocation", checkpoint)
    try:
        query = run_to_end(lambda: writer.start(str(folder / "sink")), LONGEST)
    except TimeoutError as error:
        raise BrokerError(f"a stream of {source}: {error}") from None
    ends = [progress["sources"][0]["endOffset"] for progress in query.recentProgress]
    offsets = [json.loads(each) if isinstance(each, str) else each for each in ends]
    return [each for each in offsets if each]


def check_streams(spark: Any, kafka: Broker, folder: Path) -> None:
    """Compare the rows and the final offsets of streaming queries from both sources."""
    cases = {
        "all at once": {"subscribePattern": "."},
        "in micro-batches": {"subscribePattern": ".", "maxOffsetsPerTrigger": "300"},
        "committed": {"subscribe": "transactions", **COMMITTED},
    }
    for name, options in cases.items():
        results = {}
        for source in SOURCES:
            run_folder = folder / f"{name}-{source}".replace(" ", "-")
            ends = run_stream(spark, source, kafka, run_folder, options)
            results[source] = (
                rows_of(spark.read.parquet(str(run_folder / "sink"))),
                ends[-1],
            )
        (own, own_end), (live, live_end) = (results[each] for each in SOURCES)
        expect_same(f"stream, {name}", live, own)
        if own_end != live_end:
            raise BrokerError(f"stream, {name}: ends at {live_end}, not {own_end}")
        print(
            f"stream, {name}: {len(own)} rows, equal, to the same offsets", flush=True
        )


def check_changes(spark: Any, kafka: Broker, folder: Path) -> None:
    """Run a query alternately with each source. No row may be lost or duplicated."""
    topic, written = "changes", 0
    workloads.create_topic(kafka, topic, partitions=2)
    producer = clients.librdkafka_producer(kafka)
    for turn in range(4):
        for number in range(written, written + 500):
            producer.produce(topic, str(number).encode(), partition=number % 2)
        producer.flush(clients.SECONDS)
        written += 500
        options = {"subscribe": topic, "maxOffsetsPerTrigger": "180"}
        run_stream(spark, SOURCES[turn % 2], kafka, folder / topic, options)
    rows = spark.read.parquet(str(folder / topic / "sink")).select("value").collect()
    values = sorted(int(row.value) for row in rows)
    if values != list(range(written)):
        raise BrokerError(f"a query that changed its source has {len(values)} rows")
    print(
        f"one checkpoint, both sources in turn: {written} rows, each once", flush=True
    )


def main() -> None:
    """Start a broker and Spark, and compare both sources.

    Exits with a message on failure.
    """
    begun = time.monotonic()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="kwire-own-source-") as text,
            brokers.running("4.x") as kafka,
        ):
            folder = Path(text)
            workloads.write_odd_topics(kafka)
            open_transaction = workloads.leave_transaction_open(kafka)
            with open_session(folder) as spark:
                check_batches(spark, kafka)
                check_streams(spark, kafka, folder)
                check_changes(spark, kafka, folder)
            del open_transaction
    except (BrokerError, subprocess.CalledProcessError) as error:
        sys.exit(f"own_source: {error}")
    print(f"  {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
