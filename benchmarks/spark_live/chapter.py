# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read and write a broker's topics in Spark, compared with its own source and sink.

All sources read the same topic of one live broker. Spark has two threads, and the rows
are discarded. Both sinks write the rows from a cached table to new topics. This
benchmark has a separate run and a separate chapter, because the broker and the JAR
files for Spark's own source are downloaded from Maven.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import chapters
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import Verdict
from benchmarks.spark import inputs
from benchmarks.spark.session import cpu_seconds, open_session

OPTIONS: dict[str, object] = {}
TOPIC = "orders"
PARTITIONS = 2
ROWS = 400_000
WARM_ROUNDS = 4
ROUNDS = 5

WRITTEN = "written"
CASES = ("8 columns", "value alone", WRITTEN)
SOURCES = ("kafka", "kafka-live")
READERS = (*SOURCES, "kafka-log")
LEADS = {
    "kafka-live, 8 columns": 1.3,
    "kafka-live, value alone": 2.0,
    f"kafka-live, {WRITTEN}": 1.0,
    "kafka-log, 8 columns": 2.5,
    "kafka-log, value alone": 4.0,
}
"""Minimum rows per second, relative to Spark's own source or sink."""


def write_topic(kafka: Any) -> None:
    """Write ``ROWS`` records with librdkafka, distributed equally over partitions."""
    from tools.interop.broker import clients, workloads
    from tools.interop.broker.bulk_writing import BulkRecord, write_records

    workloads.create_topic(kafka, TOPIC, partitions=PARTITIONS)
    producer = clients.librdkafka_producer(
        kafka, batch_size=16_000, queue_buffering_max_messages=500_000
    )
    dice = random.Random(1)
    sizes = inputs.KEY_BYTES, inputs.VALUE_BYTES, inputs.HEADER_BYTES - 8
    distinct = [tuple(map(dice.randbytes, sizes)) for _ in range(1000)]
    numbered = zip(range(ROWS), itertools.cycle(distinct))
    records = (
        BulkRecord(value, number % PARTITIONS, key, [("trace-id", header)])
        for number, (key, value, header) in numbered
    )
    write_records(producer, TOPIC, records)


def list_sources(case: str) -> Sequence[str]:
    """Return the sources for a case.

    ``kafka-log`` is omitted for writing, because it is read-only.
    """
    return SOURCES if case == WRITTEN else READERS


def make_table(
    session: Any, kafka: Any, source: str, case: str, topic: str = TOPIC
) -> Any:
    """Return the table of a case: eight columns, or only the value."""
    reader = session.read.format(source).option("subscribe", topic)
    if source == "kafka-log":
        reader = reader.option("path", str(kafka.data))
    else:
        reader = reader.option("kafka.bootstrap.servers", kafka.address)
    if case != "value alone":
        return reader.option("includeHeaders", "true").load()
    if source == "kafka":
        return reader.load().select("value")
    return reader.schema("value binary").load()


def make_job(session: Any, kafka: Any, source: str, case: str, rows: Any) -> Any:
    """Return a function that runs the job of a case.

    The job reads the topic, or writes ``rows`` to a newly created topic.
    """
    from tools.interop.broker import workloads

    if case != WRITTEN:
        table = make_table(session, kafka, source, case)
        return table.write.format("noop").mode("overwrite").save
    workloads.create_topic(kafka, f"to-{source}", partitions=PARTITIONS)
    writer = rows.write.format(source).mode("append").option("topic", f"to-{source}")
    return writer.option("kafka.bootstrap.servers", kafka.address).save


def delete_topics(kafka: Any) -> None:
    """Delete the topics that the sinks have written."""
    from tools.interop.broker import workloads

    workloads.administer(kafka, "delete_topics", [f"to-{each}" for each in SOURCES])


def check(session: Any, kafka: Any, rows: Any) -> None:
    """Compare the sums of all rows between the sources, and between the sinks.

    Raises ``SystemExit`` if they differ.
    """
    for each in SOURCES:
        make_job(session, kafka, each, WRITTEN, rows)()
    tables = [
        *(make_table(session, kafka, each, "8 columns") for each in READERS),
        *(make_table(session, kafka, "kafka", "", f"to-{each}") for each in SOURCES),
    ]
    sums = [
        table.selectExpr(
            "count(*)",
            "sum(offset)",
            "sum(length(key))",
            "sum(length(value))",
            "sum(crc32(value))",
            "sum(length(headers[0].value))",
        ).collect()
        for table in tables
    ]
    read, written = sums[: len(READERS)], sums[len(READERS) :]
    is_equal = all(each == read[0] for each in read) and written[0] == written[1]
    if not is_equal or read[0][0][0] != ROWS:
        raise SystemExit(f"the sources read or write different rows: {sums}")
    delete_topics(kafka)


def _run_rounds(
    session: Any, kafka: Any, rows: Any
) -> dict[str, list[tuple[float, float]]]:
    """Run all cases in turn for several rounds.

    Returns the elapsed seconds and the CPU seconds of each round.
    """
    times_by_case: dict[str, list[tuple[float, float]]] = {}
    order = random.Random("live")
    for number in range(WARM_ROUNDS + ROUNDS):
        turns = list(CASES)
        order.shuffle(turns)
        for case in turns:
            sources = list(list_sources(case))
            order.shuffle(sources)
            for source in sources:
                job = make_job(session, kafka, source, case, rows)
                used, begun = cpu_seconds(session), time.perf_counter()
                job()
                wall = time.perf_counter() - begun
                if number >= WARM_ROUNDS:
                    times = wall, cpu_seconds(session) - used
                    times_by_case.setdefault(f"{source}, {case}", []).append(times)
            if case == WRITTEN:
                delete_topics(kafka)
        print(f"  round {number + 1} of {WARM_ROUNDS + ROUNDS}", flush=True)
    assert len(times_by_case) == sum(len(list_sources(case)) for case in CASES)
    return times_by_case


def cache_rows(session: Any, kafka: Any) -> Any:
    """Load the rows that the sinks write into Spark's cache. Returns the table."""
    rows = make_table(session, kafka, "kafka", "8 columns")
    rows = rows.select("key", "value", "headers").cache()
    assert rows.count() == ROWS
    return rows


def measure(json_path: Path) -> None:
    """Start the broker and Spark, measure all cases, and save the figures as JSON."""
    from tools.interop.broker import broker as brokers
    from tools.interop.spark.own_source import own_jars

    with (
        tempfile.TemporaryDirectory(prefix="kwire-live-bench-") as name,
        brokers.running("4.x") as kafka,
    ):
        print(f"writing {ROWS:,} records", flush=True)
        write_topic(kafka)
        with open_session(Path(name), own_jars()) as session:
            rows = cache_rows(session, kafka)
            check(session, kafka, rows)
            seconds = _run_rounds(session, kafka, rows)
        figures = {
            "release": kafka.release,
            "cpus": os.cpu_count(),
            "load": os.getloadavg()[0],
            "seconds": seconds,
        }
    json_path.write_text(json.dumps(figures, indent=1))


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Return the verdicts as text.
    """
    figures = json.loads(json_path.read_text())
    lines, verdicts = [], []
    for case in CASES:
        own = figures["seconds"][f"kafka, {case}"]
        for source in list_sources(case):
            name = f"{source}, {case}"
            rounds = figures["seconds"][name]
            wall, cpu = (_lead(own, rounds, index) for index in (0, 1))
            taken, used = (
                statistics.median(each) for each in zip(*rounds, strict=True)
            )
            is_own = source == "kafka"
            lines.append(
                [
                    name,
                    f"{taken:.2f}",
                    f"{ROWS / taken / 1e6:.2f}",
                    "" if is_own else f"{wall:.2f}x",
                    f"{used / ROWS * 1e6:.2f}",
                    "" if is_own else f"{cpu:.2f}x",
                ]
            )
            if is_own:
                continue
            own_name = "sink" if case == WRITTEN else "source"
            wanted = f"at least {LEADS[name]}x the rows/s of Spark's own {own_name}"
            verdicts.append(Verdict(name, wanted, f"{wall:.2f}x", wall >= LEADS[name]))
    head = ("case", "seconds", "M rows/s", "faster", "CPU us a row", "less CPU")
    return chapters.write_chapter(
        __file__,
        verdicts,
        run=figures,
        rows=ROWS,
        partitions=PARTITIONS,
        warm=WARM_ROUNDS,
        measured=ROUNDS,
        table=table(head, lines),
    )


def _lead(own: list[list[float]], live: list[list[float]], index: int) -> float:
    """Return how many times as fast as Spark's own source a source is.

    ``index`` selects the elapsed time (0) or the CPU time (1). The result is the median
    of all rounds.
    """
    return statistics.median(
        a[index] / b[index] for a, b in zip(own, live, strict=True)
    )
