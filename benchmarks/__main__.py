# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks``: compare all values, measure, write the report.

``python -m benchmarks spark``, ``live``, ``spark-live``, ``adapters``, ``producer``,
``commands``, ``leaders`` and ``languages`` write a chapter of it alone, and ``scale``
writes ``docs/project/scale.md``; ``python -m benchmarks safety`` measures what safety
costs, on the terminal.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys

from benchmarks.codec import quick
from benchmarks.codec.report import write
from benchmarks.harness import ROOT
from benchmarks.harness.verdicts import summary

JSON = ROOT / "build" / "benchmarks.json"
ADAPTERS_JSON = ROOT / "build" / "adapters-benchmarks.json"
COMMANDS_JSON = ROOT / "build" / "commands-benchmarks.json"
PRODUCER_JSON = ROOT / "build" / "producer-benchmarks.json"
LANGUAGES_JSON = ROOT / "build" / "languages-benchmarks.json"
LEADERS_JSON = ROOT / "build" / "leader-moves.json"
LIVE_ROUNDS = 5
LIVE_JSON = ROOT / "build" / "live-benchmarks.json"
SPARK_JSON = ROOT / "build" / "spark-benchmarks.json"
SPARK_LIVE_JSON = ROOT / "build" / "spark-live-benchmarks.json"


def _pytest(*arguments: str) -> None:
    """Run pytest on some files; a failure ends the program with its code."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *arguments]
    code = subprocess.run(command, cwd=ROOT).returncode
    if code:
        sys.exit(code)


def main() -> None:
    """Run the parts in order; a target that is missed is no failure."""
    JSON.parent.mkdir(exist_ok=True)
    print("1/5 the same values and bytes from every contender", flush=True)
    _pytest(
        "benchmarks/codec/test_inputs.py",
        "benchmarks/codec/records/test_inputs.py",
        "benchmarks/codec/connections/test_inputs.py",
    )
    print("2/5 measuring, about six minutes", flush=True)
    _pytest(
        "benchmarks/codec/measure_rows.py",
        "benchmarks/codec/records/measure.py",
        "benchmarks/codec/measure_start.py",
        "--benchmark-quiet",
        f"--benchmark-json={JSON}",
    )
    print("3/5 writing benchmarks/RESULTS.md and its two pictures", flush=True)
    print(summary(write(JSON)))
    print("4/5 measuring in Spark, about four minutes", flush=True)
    spark()
    print("5/5 reading topics of a broker, about six minutes", flush=True)
    live(LIVE_ROUNDS, 1.0)


def spark() -> None:
    """Measure what runs in Spark, and write its chapter and picture."""
    from benchmarks.spark import chapter, rounds

    rounds.run(SPARK_JSON)
    print(summary(chapter.write_chapter(SPARK_JSON)))


def live(rounds: int, scale: float) -> None:
    """Read topics of a broker with all clients, and write the chapter."""
    from benchmarks.live import chapter
    from benchmarks.live.rounds import run

    LIVE_JSON.parent.mkdir(exist_ok=True)
    run(LIVE_JSON, rounds, scale)
    print(summary(chapter.write_chapter(LIVE_JSON)))


def adapters(rounds: int, scale: float) -> None:
    """Read topics without and with the adapters, and write the chapter."""
    from benchmarks.adapters import chapter

    ADAPTERS_JSON.parent.mkdir(exist_ok=True)
    chapter.run(ADAPTERS_JSON, rounds, scale)
    print(chapter.write_chapter(ADAPTERS_JSON))


def producer(rounds: int, scale: float) -> None:
    """Write to a topic with all clients, and write the chapter."""
    from benchmarks.producer import chapter

    PRODUCER_JSON.parent.mkdir(exist_ok=True)
    chapter.run(PRODUCER_JSON, rounds, scale)
    print(chapter.write_chapter(PRODUCER_JSON))


def commands(rounds: int, scale: float) -> None:
    """Print topics with ``kwire read`` and kcat, and write the chapter."""
    from benchmarks.commands import chapter

    COMMANDS_JSON.parent.mkdir(exist_ok=True)
    chapter.run(COMMANDS_JSON, rounds, scale)
    print(chapter.write_chapter(COMMANDS_JSON))


def leaders(moves: int) -> None:
    """Move leaders under load, and write the chapter, its page and picture."""
    from benchmarks.leaders import chapter
    from benchmarks.leaders.moves import run

    LEADERS_JSON.parent.mkdir(exist_ok=True)
    run(LEADERS_JSON, moves)
    print(chapter.write_chapter(LEADERS_JSON))


def scale() -> None:
    """Plan, list and read logs of up to 80,000 segments, and write the page."""
    from benchmarks.scale import chapter

    chapter.write_page(*chapter.run())


def languages(rounds: int) -> None:
    """Measure codecs of other languages on the same bytes, and write the chapter."""
    from benchmarks.languages import chapter
    from benchmarks.languages.rounds import run

    run(LANGUAGES_JSON, rounds)
    print(chapter.write_chapter(LANGUAGES_JSON))


def spark_live() -> None:
    """Measure ``kafka-live`` beside Spark's own source, and write its chapter."""
    from benchmarks.spark import live

    live.run(SPARK_LIVE_JSON)
    print(summary(live.write_chapter(SPARK_LIVE_JSON)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsers = parser.add_subparsers(dest="command")
    for kind in quick.ROWS:
        some = parsers.add_parser(
            kind, help=f"measure only rows of {kind}, and print them"
        )
        some.add_argument("words", nargs="*", help="words in the name of a row")
    parsers.add_parser("spark", help="measure in Spark, and write its chapter")
    read = parsers.add_parser("live", help="read topics of a broker, and its chapter")
    read.add_argument("--rounds", type=int, default=LIVE_ROUNDS)
    read.add_argument("--scale", type=float, default=1.0, help="size of the topics")
    adapted = parsers.add_parser(
        "adapters", help="read without and with the adapters, and write its chapter"
    )
    adapted.add_argument("--rounds", type=int, default=LIVE_ROUNDS)
    adapted.add_argument("--scale", type=float, default=1.0, help="size of the topics")
    written = parsers.add_parser(
        "producer", help="write to a topic with all clients, and its chapter"
    )
    written.add_argument("--rounds", type=int, default=LIVE_ROUNDS)
    written.add_argument(
        "--scale", type=float, default=1.0, help="share of the records"
    )
    printed = parsers.add_parser(
        "commands", help="print topics beside kcat, and write its chapter"
    )
    printed.add_argument("--rounds", type=int, default=LIVE_ROUNDS)
    printed.add_argument(
        "--scale", type=float, default=1.0, help="share of the records"
    )
    moved = parsers.add_parser(
        "leaders", help="move leaders of three brokers, and write its chapter"
    )
    moved.add_argument("--moves", type=int, default=40)
    compared = parsers.add_parser(
        "languages",
        help="beside codecs of Rust, Java and Go, and its chapter",
    )
    compared.add_argument("--rounds", type=int, default=21)
    parsers.add_parser(
        "spark-live", help="measure kafka-live beside Spark's own source"
    )
    parsers.add_parser("scale", help="plans of 20 TB, and reads by four executors")
    safety = parsers.add_parser("safety", help="measure what safety costs")
    safety.add_argument(
        "parts", nargs="*", help="time, bombs, import, checks, arrow; or all"
    )
    safety.add_argument("--record", action="store_true", help="note the figures")
    chosen = parser.parse_args()
    # What has begun is ended: brokers, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if chosen.command == "spark":
        spark()
    elif chosen.command == "live":
        live(chosen.rounds, chosen.scale)
    elif chosen.command == "adapters":
        adapters(chosen.rounds, chosen.scale)
    elif chosen.command == "producer":
        producer(chosen.rounds, chosen.scale)
    elif chosen.command == "commands":
        commands(chosen.rounds, chosen.scale)
    elif chosen.command == "leaders":
        leaders(chosen.moves)
    elif chosen.command == "scale":
        scale()
    elif chosen.command == "languages":
        languages(chosen.rounds)
    elif chosen.command == "spark-live":
        spark_live()
    elif chosen.command == "safety":
        from benchmarks.safety import chapter

        sys.exit(chapter.run(chosen.parts, chosen.record))
    elif chosen.command:
        quick.run(chosen.command, chosen.words)
    else:
        main()
