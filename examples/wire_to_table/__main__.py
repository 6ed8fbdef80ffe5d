# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The whole demo: traffic, round trip on both engines, Spark table, race.

Ends with code 1 and one clear line if anything is not as it must be.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from confluent_kafka import KafkaException

import kwire
from kwire import error_codes

from . import engine, recording, relay, round_trip, spark_job, traffic

BROKERS = 3
MESSAGES = 12_000
ROUNDS = 3
started = time.monotonic()


class DemoError(Exception):
    """Something is not as it must be."""


FAILURES = (
    DemoError,
    round_trip.FrameError,
    engine.EngineError,
    spark_job.SparkError,
    KafkaException,
    TimeoutError,
)


def main() -> None:
    """Run the demo; see the package's docstring for the parts."""
    if problem := spark_job.java_problem():
        sys.exit(f"demo: {problem}")
    try:
        with tempfile.TemporaryDirectory(prefix="kwire-demo-") as folder:
            frames, report = record()
            rates = both_engines(frames, Path(folder))
            to_table(frames, report, rates, Path(folder))
    except FAILURES as failure:
        sys.exit(f"demo: FAILED: {failure}")
    say("done")


def record() -> tuple[list[recording.Recorded], round_trip.Report]:
    """Make the traffic, record and check it."""
    say(f"kwire {kwire.__version__}: real Kafka bytes into a Spark table")
    say(f"1. Traffic: librdkafka's mock cluster of {BROKERS} brokers, its producers")
    say(f"   ({', '.join(traffic.CODECS)}; transactional) and a consumer group,")
    say(f"   through a relay that rewrites answers with kwire ({kwire.backend} engine)")
    with (
        traffic.mock_cluster(BROKERS) as brokers,
        relay.Relay(brokers) as tap,
    ):
        done = traffic.run_clients(tap.bootstrap_servers, MESSAGES, tap.raise_failure)
    listeners = set(tap.addresses.values())
    report = round_trip.check(tap.frames)
    say(f"   {done.delivered:,} messages delivered, {done.received:,} received")
    must_be_empty(report.failures)
    must(done.seen_brokers == listeners, "a client saw an address not of the relay")
    must(done.delivered == MESSAGES, f"{done.delivered} of {MESSAGES} were delivered")
    must(
        report.produced_records == done.delivered,
        f"Produce frames hold {report.produced_records} records, not {done.delivered}",
    )
    must(
        done.received == done.delivered == report.fetched_records,
        f"received {done.received}, in Fetch frames {report.fetched_records}",
    )
    size = sum(len(frame.sent) for frame in tap.frames)
    say(f"   {len(tap.frames):,} frames recorded, {size:,} bytes")
    say("   as many records in the Produce frames and in the Fetch frames")
    return tap.frames, report


def both_engines(frames: list[recording.Recorded], folder: Path) -> dict[str, dict]:
    """Check the frames on each engine and time the decoding, in turns."""
    say("2. Every frame decoded, encoded again and compared, on each engine")
    path = folder / "recording.pickle"
    recording.write(frames, path)
    found: dict[str, list[dict]] = {name: [] for name in engine.ENGINES}
    for _ in range(ROUNDS):
        for name, laps in found.items():
            laps.append(engine.run(name, path))
        say(f"   round {len(laps)} of {ROUNDS}")
    result = {}
    for name, laps in found.items():
        first = laps[0]
        must_be_empty(first["failures"])
        rate = statistics.median(lap["frames_per_s"] for lap in laps)
        result[name] = {**first, "frames_per_s": rate}
        same, odd = first["round_trips"], first["odd"]
        say(f"   {name}: {same:,} frames the same, byte by byte; {odd} odd set apart")
    return result


def to_table(frames, report, rates, folder: Path) -> None:
    """Make the Spark table of the frames, print it, and race the engines."""
    say(f"3. The same frames in a local Spark (local[{spark_job.CORES}]), Arrow path")
    with spark_job.session(folder) as spark:
        once = spark_job.binary_frames(spark, frames, folder)
        rows = spark_job.frame_table(once)
        check_table(rows, frames, report)
        summary = spark_job.summary(rows).cache()
        summary.show(100, truncate=False)
        explain(summary, report)
        say("   a few rows of the table:")
        spark_job.sample(rows).show(20, truncate=False)
        say(f"4. The race: about {spark_job.RACE_ROWS:,} rows through the same job")
        many, count, size = spark_job.many_frames(spark, once)
        laps = []
        for lap in spark_job.race(spark, many, engine.ENGINES):
            laps.append(lap)
            times = ", ".join(f"{name} {took:.2f} s" for name, took in lap.items())
            say(f"   {'round' if laps[1:] else 'warm-up'}: {times}")
    measured = laps[1:]
    medians = {
        name: statistics.median(lap[name] for lap in measured) for name in measured[0]
    }
    print_race(count, size, medians, rates)


def check_table(rows, frames, report) -> None:
    """Compare the table with what was recorded."""
    count, size, odd = rows.selectExpr(
        "count(*)", "sum(bytes)", "count(problem)"
    ).first()
    recorded = sum(len(frame.sent) for frame in frames)
    must(count == len(frames), f"{count} rows for {len(frames)} frames")
    must(size == recorded, f"{size} bytes in the table, {recorded} recorded")
    must(odd == len(report.odd), f"{odd} rows do not decode, {len(report.odd)} are odd")


def explain(summary, report) -> None:
    """Name the error codes in the table, and the odd answers."""
    seen = sorted({code for row in summary.collect() for code in row["errors"]})
    for code in seen:
        print(f"error {code}: {error_codes.name(code)}")
    print(f"odd: {len(report.odd)} answers of the mock to an ApiVersions version that")
    print("it does not know: error 35 over a body of no version. kwire refuses them.")


def print_race(count: int, size: int, seconds: dict, rates: dict) -> None:
    """Print rows and megabytes per second of each contender, side by side."""
    contestants = [("Spark alone, nothing decoded", count / seconds["Spark"])]
    contestants += [
        (f"Spark + kwire {name}: table rows", count / seconds[name])
        for name in engine.ENGINES
    ]
    print(f"\n{'':42}{'rows/s':>12}{'MB/s':>10}")
    for title, rate in contestants:
        print(f"{title:42}{rate:12,.0f}{rate * size / count / 1e6:10.1f}")
    for name in engine.ENGINES:
        rate, each = rates[name]["frames_per_s"], rates[name]["bytes_per_frame"]
        title = f"kwire {name} in one process: decoding alone"
        print(f"{title:42}{rate:12,.0f}{rate * each / 1e6:10.1f}")
    in_spark = seconds["pure"] / seconds["fast"]
    alone = rates["fast"]["frames_per_s"] / rates["pure"]["frames_per_s"]
    print(f"fast is {in_spark:.1f}x pure in Spark, {alone:.1f}x at decoding alone")
    print(
        f"In Spark: {count:,} rows, {size / 1e6:,.0f} MB, {spark_job.CORES} cores,",
        end=" ",
    )
    print("the whole table row made in Python.")
    print("Alone: one core, decoding only, every object built. Medians of 3, in turns.")


def must(holds: bool, otherwise: str) -> None:
    """Fail the demo unless it ``holds``."""
    if not holds:
        raise DemoError(otherwise)


def must_be_empty(failures: list[str]) -> None:
    """Fail the demo with the first of the ``failures``, if there are any."""
    if failures:
        raise DemoError(f"{failures[0]} ({len(failures)} frames failed)")


def say(text: str) -> None:
    """Print a line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - started:5.1f}s] {text}", flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    main()
