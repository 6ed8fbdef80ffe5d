# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the demo: record traffic, run the three jobs on Spark, measure both engines.

Every step is checked. If a check fails, a line contains FAILED and the exit code is 1.
The output is stored in ``demo-output/``, which every run replaces: ``index.html`` shows
it as charts, and ``demo.log`` contains all lines of ``--verbose``.
"""

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars
import pyarrow.parquet
from confluent_kafka import KafkaException

import kwire
import kwire.spark
from kwire import KwireError, client, jobs
from kwire.jobs.running import java_problem, open_session
from kwire.jobs.tables import Result

from . import brokers, frames, old_client, page, race, traffic
from .checks import Checks, difference
from .screen import Screen

OUT = Path("demo-output")
MESSAGES = 12_000
TARGET = "4.1"
SECONDS_TO_END = 20
EXPECTED_S = 150
RACE_START_S, LAP_S = 30, 15

FAILURES = (KwireError, KafkaException, OSError, ImportError, TimeoutError)


def main(verbose: bool) -> int:
    """Run the demo. Returns the exit code: 1 if a check has failed.

    The module docstring of the package describes the parts of the demo.
    """
    if problem := java_problem():
        sys.exit(f"demo: {problem}")
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    print(
        f"kwire {kwire.__version__}, {kwire.backend} engine: Kafka's bytes, from"
        " the wire and from disks to reports",
        flush=True,
    )
    with ExitStack() as stack:
        log = stack.enter_context(open(OUT / "demo.log", "w", encoding="utf-8"))
        screen = stack.enter_context(Screen(EXPECTED_S, has_bar=not verbose))
        checks = stack.enter_context(Checks(screen, log, verbose=verbose))
        return run(checks)


def run(checks: Checks) -> int:
    """Run all steps of the demo. Returns the exit code."""
    try:
        with traffic.mock_cluster() as cluster:
            done = record(checks, cluster)
            checks.step(
                f"Spark starts: local[{race.CORES}], with kwire's formats",
                "Spark starts",
                seconds=16,
            )
            with open_session(f"local[{race.CORES}]") as spark:
                kwire.spark.register(spark)
                check_frames(checks, spark, done)
                audited = audit(checks, spark, done)
                lost = injure(checks)
                exported = export(checks, spark, lost)
                grouped = offsets(checks, spark)
                read_log(checks, spark)
            log, medians = run_race(checks)
            read_live(checks, cluster, done)
        if not checks.failed:
            results = page.Results(
                done, audited, exported, grouped, log, medians, checks.count
            )
            show_paths(checks, [page.write(OUT, results), *results.reports])
            return 0
    except FAILURES as failure:
        checks.fail(failure)
    checks.show(
        f"demo: {checks.failed} of {checks.count} checks FAILED; {OUT}/demo.log has"
        " the lines of all steps"
    )
    return 1


def show_paths(checks: Checks, paths: list[Path]) -> None:
    """Print the paths of the reports, beginning with the report of the demo."""
    text = f"all {checks.count} checks are ok. Open these in a browser:"
    checks.step(f"Done: {text}", "Done", seconds=0)
    checks.result(f"Done: {text}")
    for path in paths:
        checks.say(str(path))
        checks.summarize(f"        {path}")


def record(checks: Checks, cluster: str) -> traffic.Traffic:
    """Run the clients, which connect to the cluster through ``kwire record``."""
    checks.step(
        "Traffic: a mock cluster of three brokers, a producer for each codec, a"
        " transactional one, a consumer group and a client of 2013, all of them"
        " through kwire record",
        "Traffic through kwire record",
        seconds=6,
    )
    with recording(checks, cluster) as address:
        done = traffic.run_clients(address, MESSAGES)
        asked = old_client.fetch_once(address, traffic.TOPIC)
    checks.say(
        f"{done.delivered:,} messages delivered, {done.received:,} received;"
        f" the old client sent {asked} requests"
    )
    checks.must(
        done.delivered == done.received == MESSAGES,
        "every message that was sent was confirmed and came back",
        f"{MESSAGES:,} sent, {done.delivered:,} confirmed, {done.received:,} received",
    )
    checks.result(
        f"Traffic: {done.delivered:,} messages sent and received through kwire record"
    )
    return done


@contextmanager
def recording(checks: Checks, upstream: str) -> Iterator[str]:
    """Run the command ``kwire record``. Yield its bootstrap address for clients."""
    command = [sys.executable, "-m", "kwire", "record", "--listen", "127.0.0.1:0"]
    command += ["--upstream", upstream, "--output", str(OUT / "capture")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        first = process.stderr.readline()
        listening = re.match(r"kwire: listening on (\S+) ", first)
        if listening is None:
            raise OSError(f"kwire record did not start: {first.strip()}")
        yield listening[1]
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS_TO_END)
    lines = said.splitlines()
    ended_well = process.returncode == 0
    for line in lines[-1:] if ended_well else lines:
        checks.say(line)
    checks.must(
        ended_well,
        "kwire record ended well",
        f"kwire record ended with code {process.returncode}",
    )


def check_frames(checks: Checks, spark, done: traffic.Traffic) -> None:
    """Decode every recorded frame and encode it again, with both engines."""
    checks.step(
        "Every frame decoded, encoded again and compared, on each engine",
        "Frames decoded and encoded again",
        seconds=20,
    )
    captured = spark.read.format("kafka-capture").load(str(OUT / "capture")).cache()
    count = captured.count()
    environment = spark.sparkContext.environment
    for engine in race.ENGINES:
        environment["KWIRE_BACKEND"] = engine
        rows = captured.mapInArrow(frames.check, frames.COLUMNS).collect()
        checks.must(
            {row.backend for row in rows} == {engine},
            f"the workers run on the {engine} engine",
            f"asked for {engine}: { ({row.backend for row in rows}) }",
        )
        wrong = [row.outcome for row in rows if row.outcome not in ("same", "odd")]
        same = sum(row.outcome == frames.SAME for row in rows)
        checks.must(
            not wrong and len(rows) == count and same > 0,
            f"{same:,} frames are the same, byte by byte; {len(rows) - same}, which"
            " leave the protocol in known ways, are set apart",
            f"{len(wrong)} frames differ: {wrong[:1]}",
        )
        produced = sum(row.produced for row in rows)
        members = (row for row in rows if row.client_id != old_client.CLIENT_ID)
        fetched = {place: n for row in members for place, n in row.fetched.items()}
        checks.must(
            produced == done.delivered and sum(fetched.values()) == done.received,
            f"{produced:,} records in Produce requests, as the producers say, and as"
            " many in Fetch answers, as the consumer says",
            f"{produced:,} records produced and {sum(fetched.values()):,} fetched,"
            f" the clients say {done.delivered:,} and {done.received:,}",
        )
    del environment["KWIRE_BACKEND"]
    captured.unpersist()
    checks.result(
        f"Frames: {same:,} of {count:,} encode to the same bytes on both engines"
    )


def audit(checks: Checks, spark, done: traffic.Traffic) -> Result:
    """Audit the recording, check the verdict on each client, and return the result."""
    checks.step(
        f"Job 1, kwire audit: who breaks when the brokers become {TARGET}?",
        "kwire audit",
        seconds=1,
    )
    result = jobs.audit([OUT / "capture"], OUT / "audit", target=TARGET, spark=spark)
    clients = rows_of(result, "clients")
    verdicts = {row["client_id"]: row["verdict"] for row in clients}
    for row in sorted(clients, key=lambda row: row["verdict"]):
        name, requests = row["client_id"], row["requests"]
        checks.say(f"{name:14} {requests:5,} requests  {row['verdict']}")
    breaking = {name for name, verdict in verdicts.items() if verdict == "BREAKS"}
    checks.must(
        breaking == {old_client.CLIENT_ID} and result.findings == 1,
        "the client of 2013 breaks, and no other",
        f"these break: {breaking}",
    )
    checks.must(
        set(verdicts) == done.client_ids | {old_client.CLIENT_ID},
        f"all {len(verdicts)} clients were seen, and no other",
        difference(set(verdicts), done.client_ids | {old_client.CLIENT_ID}),
    )
    checks.result(
        f"Audit: {result.findings} of {len(verdicts)} clients breaks when the brokers"
        f" become {TARGET}"
    )
    return result


def injure(checks: Checks) -> set[brokers.Offset]:
    """Copy the data directories of two brokers and damage the copies.

    Returns the offsets that no copy contains afterwards.
    """
    checks.step(
        f"Disks: files that a broker of Kafka {brokers.RELEASE} wrote, copied for two"
        " brokers, and then",
        "Disks are damaged",
        seconds=0.2,
    )
    brokers.copy(OUT / "disks")
    for injury in brokers.INJURIES:
        where = (
            "on both" if injury.brokers == brokers.BOTH else f"on {injury.brokers[0]}"
        )
        checks.say(f"{injury.partition}: {injury.how} {where}")
    return brokers.injure(OUT / "disks")


def export(checks: Checks, spark, lost: set[brokers.Offset]) -> Result:
    """Export the damaged segments, check the lost offsets, and return the result."""
    checks.step(
        "Job 2, kwire export: what can be recovered of both, what is lost?",
        "kwire export",
        seconds=1.2,
    )
    result = jobs.export([OUT / "disks"], OUT / "export", spark=spark)
    found = {
        (row["topic"], row["partition"], offset)
        for row in rows_of(result, "lost")
        for offset in range(row["first_offset"], row["last_offset"] + 1)
    }
    checks.must(
        found == lost,
        f"lost are exactly the {len(lost)} offsets damaged on both brokers, in"
        f" {result.findings} ranges",
        f"lost offsets: {difference(found, lost)}",
    )
    recovered = {
        (row["topic"], row["partition"], row["offset"])
        for row in rows_of(result, "records", ["topic", "partition", "offset"])
    }
    expected = (brokers.records() | brokers.consumed()) - lost
    checks.must(
        recovered == expected and len(recovered) == result.counts["records"],
        f"recovered are exactly the {len(recovered):,} others that Kafka's own tool"
        " and a consumer saw before",
        f"recovered: {difference(recovered, expected)}",
    )
    checks.result(
        f"Export: {len(recovered):,} records recovered from two damaged disks,"
        f" {len(lost)} lost on both"
    )
    return result


def offsets(checks: Checks, spark) -> Result:
    """Run the job that analyses consumer groups, and return its result."""
    checks.step(
        "Job 3, kwire offsets: what did consumer groups do?",
        "kwire offsets",
        seconds=0.7,
    )
    result = jobs.offsets([OUT / "disks"], OUT / "offsets", spark=spark)
    groups = rows_of(result, "groups")
    for row in groups:
        lag = "unknown" if row["lag"] is None else row["lag"]
        checks.say(f"{row['group']:20} commits: {row['commits']}  lag: {lag}")
    names = "group", "topic", "partition", "offset"
    found = {tuple(row[name] for name in names) for row in rows_of(result, "commits")}
    checks.must(
        found == brokers.commits(),
        f"the {len(found)} commits are those that Kafka's own tool shows",
        f"commits: {difference(found, brokers.commits())}",
    )
    checks.result(
        f"Offsets: {len(found)} commits of {len(groups)} groups, as Kafka's own tool"
        " shows them"
    )
    return result


def read_log(checks: Checks, spark) -> None:
    """Read the undamaged partitions of one broker as a DataFrame. Prints a summary."""
    checks.step(
        "kafka-log: the segments of broker-1 as a DataFrame", "kafka-log", seconds=4
    )
    hurt = {brokers.split(injury.partition)[0] for injury in brokers.INJURIES}
    healthy = {
        place for place in brokers.consumed() if place[0] not in hurt | {"tiered"}
    }
    topics = sorted({topic for topic, _, _ in healthy})
    reader = spark.read.format("kafka-log").option("subscribe", ",".join(topics))
    table = reader.load(str(OUT / "disks" / "broker-1"))
    table.createOrReplaceTempView("log")
    summary = spark.sql(
        "SELECT topic, count(*) AS records, count(DISTINCT key) AS keys, min(offset),"
        " max(offset) FROM log GROUP BY topic ORDER BY records DESC, topic LIMIT 5"
    )
    checks.say_lines(summary._show_string(5, 20).splitlines())
    rows = table.select("topic", "partition", "offset").collect()
    found = {(row.topic, row.partition, row.offset) for row in rows}
    checks.must(
        found == healthy and len(rows) == len(found),
        f"{len(rows):,} records of {len(topics)} topics, as the consumer got them",
        f"records: {difference(found, healthy)}",
    )
    checks.result(
        f"Log files: {len(rows):,} records of {len(topics)} topics in a Spark DataFrame"
    )


def run_race(checks: Checks) -> tuple[race.Log, dict]:
    """Run the same job with both engines.

    Returns the log, and the median seconds by kind of job and engine.
    """
    with tempfile.TemporaryDirectory(prefix="race-", dir=OUT) as folder:
        log = race.write_log(Path(folder))
        checks.step(
            f"The race: kafka-log over {log.records:,} records, {log.size / 1e6:.0f}"
            f" MB, on {race.CORES} cores, every column built",
            "Race of the engines: two Sparks start",
            RACE_START_S,
        )
        rounds = run_laps(checks, log)
    medians = race.medians(rounds)
    table = ["", f"{'':10}{'records/s':>14}{'MB/s':>9}"]
    for (kind, engine), took in medians.items():
        rate, size = log.records / took, log.size / took / 1e6
        table.append(f"{engine:5}{kind:10}{rate:9,.0f}{size:9,.1f}")
    checks.say_lines(table)
    gains = race.gains(medians)
    checks.say(
        f"The compiled engine is {gains[0]:.1f}x as fast as pure Python in Spark, on"
        f" {race.CORES} cores; {gains[1]:.1f}x alone, on one core, making Arrow arrays."
        " Medians of three rounds."
    )
    checks.result(
        f"Race: the compiled engine is {gains[0]:.1f}x pure Python in Spark,"
        f" {gains[1]:.1f}x alone"
    )
    return log, medians


def read_live(checks: Checks, cluster: str, done: traffic.Traffic) -> None:
    """Read the topic to polars, without Spark and without an object for each record."""
    checks.step(
        "A live topic, from the mock cluster into polars by kwire.client",
        "Live topic",
        seconds=0.5,
    )
    with client.connect_sync(cluster) as kafka:
        begun = time.perf_counter()
        columns = ("partition", "offset", "key", "value")
        # Do not verify checksums, because the mock cluster does not set them in its
        # transaction markers.
        scan = kafka.scan(traffic.TOPIC, columns=columns, check_crc=False)
        orders = polars.DataFrame(scan)
        took = time.perf_counter() - begun
    best = orders.group_by("key").len().sort("len", "key", descending=True).row(0)
    checks.say(
        f"{orders.height:,} records in {took * 1000:.0f} ms; most orders are of"
        f" {best[0].decode()}: {best[1]}"
    )
    checks.must(
        orders.height == done.delivered
        and orders.select("partition", "offset").n_unique() == orders.height,
        "every message that was confirmed is there once",
        f"{done.delivered:,} confirmed, {orders.height:,} read",
    )
    checks.result(
        f"Live topic: {orders.height:,} records into polars in {took * 1000:.0f} ms"
    )


def run_laps(checks: Checks, log: race.Log) -> list[dict]:
    """Run all rounds of the race. Returns the seconds of each round."""
    laps = race.run(log)
    for engine, (engines, count) in next(laps).items():
        checks.must(
            engines == [engine] and count == log.records,
            f"all workers are of the {engine} engine and read all records",
            f"asked for {engine}: {engines}, {count:,} records of {log.records:,}",
        )
    rounds = []
    checks.progress("Race of the engines: warm-up", LAP_S)
    for seconds in laps:
        rounds.append(seconds)
        if len(rounds) <= race.ROUNDS:
            checks.progress(
                f"Race of the engines: round {len(rounds)} of {race.ROUNDS}", LAP_S
            )
        times = ", ".join(
            f"{engine} {seconds[race.KINDS[0], engine]:.2f} s"
            for engine in race.ENGINES
        )
        checks.say(f"{'round' if rounds[1:] else 'warm-up'}: {times}")
    return rounds


def rows_of(result, table: str, columns: list[str] | None = None) -> list[dict]:
    """Return the rows of a table in a job's result."""
    return pyarrow.parquet.read_table(result.tables[table], columns=columns).to_pylist()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print every fact and every check"
    )
    sys.exit(main(parser.parse_args().verbose))
