# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kill the driver of a stream repeatedly. No row may be lost or duplicated.

A log grows with torn writes, rolls segments, and deletes segments that have been read.
A ``kafka-log`` query that writes Parquet runs in a separate process. The process is
killed (SIGKILL) at random moments and at the two most important moments: after a batch
is planned but before it is written, and after it is written but before it is committed.
Finally the sink must contain every record of the log exactly once. A batch read of the
remaining records confirms this.

    python -m tools.interop.spark.stream_kills --kills 20 --seed 7
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kwire import records
from tools.interop.spark.streams import run_to_end

ROOT = Path(__file__).resolve().parents[3]
STREAM_KILLS = "tools.interop.spark.stream_kills"
TOPICS = {"orders": 2, "bills": 1}
SEGMENT_BYTES = 40_000
PER_TRIGGER = 1000
PER_LAST_TRIGGER = 20_000
LONGEST = 600
"""Timeout of a query in seconds. Starting a query may require several minutes."""
MOMENTS = ("random", "planned", "written")


def main() -> None:
    """Run the query in this process if ``--query`` is specified, otherwise the trial.

    Exits with 1 if the sink is incorrect.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--query", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.query:
        log, checkpoint, sink = chosen.query
        run_query(lambda reader: reader.format("kafka-log").load(log), checkpoint, sink)
        return
    folder = Path(tempfile.mkdtemp(prefix="kwire-kills-"))
    try:
        code = trial(folder, chosen.kills, random.Random(chosen.seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


def trial(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill the query ``kills`` times and let it finish, while a log grows.

    Returns the exit code: 1 if the sink differs from the written records.
    """
    log, checkpoint, sink = folder / "logs", folder / "checkpoint", folder / "sink"
    writer = LogWriter(log, checkpoint, random.Random(chance.random()))
    writer.start()
    done = dict.fromkeys(MOMENTS, 0)
    for number in range(kills):
        moment = MOMENTS[number % len(MOMENTS)]
        with Query(folder, "go on", str(log)) as query:
            state = kill_at(query, moment, checkpoint, sink, chance)
        done[moment] += 1
        print(f"kill {number + 1:2}, {moment:7}: {state}", flush=True)
    writer.stop()
    with Query(folder, "to the end", str(log)) as query:
        query.wait()
    return verdict(folder, writer, done)


class LogWriter(threading.Thread):
    """Thread that writes batches to log segments like a broker.

    It appends batches, interrupts some writes for a moment, rolls segments, and deletes
    segments that the query has committed. ``written`` maps (topic, partition, offset)
    to the value of each record.
    """

    def __init__(self, log: Path, checkpoint: Path, chance: random.Random) -> None:
        super().__init__(name="writer", daemon=True)
        self._log = log
        self._checkpoint = checkpoint
        self._chance = chance
        self._over = threading.Event()
        self._places = [(t, n) for t, count in TOPICS.items() for n in range(count)]
        self._next = dict.fromkeys(self._places, 0)
        self._bases = {place: [0] for place in self._places}
        self.written: dict[tuple[str, int, int], bytes] = {}
        self.rolled = self.deleted = self.torn = 0
        for place in self._places:
            self._folder(place).mkdir(parents=True)
            self._path(place, 0).touch()

    def _folder(self, place: tuple[str, int]) -> Path:
        return self._log / f"{place[0]}-{place[1]}"

    def _path(self, place: tuple[str, int], base: int) -> Path:
        return self._folder(place) / f"{base:020}.log"

    def stop(self) -> None:
        """Stop the thread when the current batch is complete."""
        self._over.set()
        self.join()

    def run(self) -> None:
        """Append batches and delete segments until ``stop`` is called."""
        while not self._over.is_set():
            self._append(self._chance.choice(self._places))
            if self._chance.random() < 0.05:
                self._delete()
            time.sleep(self._chance.random() * 0.1)

    def _append(self, place: tuple[str, int]) -> None:
        chance, first = self._chance, self._next[place]
        rows = [
            (None, chance.randbytes(chance.randrange(5, 200)))
            for _ in range(chance.randrange(1, 30))
        ]
        codec = chance.choice(["none", "zstd", "gzip"])
        data = records.encode_batch(rows, base_offset=first, compression=codec)
        path = self._path(place, self._bases[place][-1])
        if path.stat().st_size + len(data) > SEGMENT_BYTES:
            self._bases[place].append(first)
            path = self._path(place, first)
            self.rolled += 1
        with path.open("ab", buffering=0) as file:
            if chance.random() < 0.3:
                # Write the batch in two parts, because a reader can see an incomplete
                # batch while a broker writes it.
                cut = chance.randrange(1, len(data))
                file.write(data[:cut])
                time.sleep(chance.random() * 0.05)
                file.write(data[cut:])
                self.torn += 1
            else:
                file.write(data)
        for number, (_, value) in enumerate(rows):
            self.written[(*place, first + number)] = value
        self._next[place] = first + len(rows)

    def _delete(self) -> None:
        committed = committed_offsets(self._checkpoint)
        for place, bases in self._bases.items():
            while len(bases) > 1 and bases[1] <= committed.get(place, 0):
                self._path(place, bases.pop(0)).unlink()
                self.deleted += 1


def committed_offsets(checkpoint: Path) -> dict[tuple[str, int], int]:
    """Return the offsets that the query has committed, by (topic, partition).

    Returns an empty dictionary if Spark's checkpoint contains no commit.
    """
    numbers = sorted(int(p.name) for p in (checkpoint / "commits").glob("[0-9]*"))
    if not numbers:
        return {}
    try:
        text = (checkpoint / "offsets" / str(numbers[-1])).read_text()
    except FileNotFoundError:
        return {}
    offsets = json.loads(text.splitlines()[-1])
    return {
        (topic, int(partition)): number
        for topic, partitions in offsets.items()
        for partition, number in partitions.items()
    }


class Query:
    """Process that runs the query. It is killed at the end of the ``with`` block.

    * ``how``: ``KWIRE_STREAM_KILLS`` for ``run_query``, which selects a continuous
      query or a query that ends after the available records.
    * ``source``: directory of the log, or bootstrap servers.
    * ``module``: module that runs the query for ``--query source checkpoint sink``.
    """

    def __init__(
        self, folder: Path, how: str, source: str, module: str = STREAM_KILLS
    ) -> None:
        self._log = (folder / "query.log").open("ab")
        names = source, str(folder / "checkpoint"), str(folder / "sink")
        environment = os.environ | {
            "KWIRE_STREAM_KILLS": how,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, "--query", *names],
            stdout=self._log,
            stderr=self._log,
            env=environment,
            start_new_session=True,
        )

    def __enter__(self) -> Query:
        return self

    def __exit__(self, *_: object) -> None:
        # Kill the process group, because the driver's Java process belongs to it as
        # well.
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._log.close()

    def check(self) -> None:
        """Raise ``SystemExit`` if the query has ended unexpectedly."""
        if self.process.poll() is not None:
            self.fail(f"the query ended with {self.process.returncode}")

    def fail(self, why: str) -> NoReturn:
        """Exit with the reason ``why`` and the end of the query's output."""
        said = Path(self._log.name).read_text(errors="replace")[-3000:]
        raise SystemExit(f"{why}:\n{said}")

    def wait(self) -> None:
        """Wait until the query has processed all available records.

        Exits if it fails or takes more than ``LONGEST`` seconds.
        """
        try:
            self.process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            self.fail(f"the query has not ended after {LONGEST} s")
        if self.process.returncode:
            self.check()


def kill_at(
    query: Query, moment: str, checkpoint: Path, sink: Path, chance: random.Random
) -> str:
    """Wait until the query reaches the specified moment. The caller then kills it.

    * ``moment``: "planned" and "written" are stages of a batch, otherwise a random
      time.

    Returns a description of the files on disk.
    """

    def newest(folder: Path) -> int:
        return max(
            (int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()), default=-1
        )

    offsets, commits = checkpoint / "offsets", checkpoint / "commits"
    written = sink / "_spark_metadata"
    before = newest(commits)
    deadline = time.monotonic() + LONGEST

    def until(reached: Callable[[], bool]) -> None:
        while not reached():
            query.check()
            if time.monotonic() > deadline:
                query.fail(f"no {moment} moment within {LONGEST} s")
            time.sleep(0.001)

    if moment == "random":
        # Wait up to 9 s from the start of the process, so that the startup of Spark is
        # interrupted as well.
        time.sleep(chance.random() * 9)
        query.check()
    elif moment == "planned":
        until(lambda: newest(commits) > before)
        until(lambda: newest(offsets) > newest(commits))
    else:
        until(lambda: newest(commits) > before)
        until(lambda: newest(written) > newest(commits))
    return (
        f"planned {newest(offsets)}, written {newest(written)},"
        f" committed {newest(commits)}"
    )


def compare_sink(
    folder: Path, written: dict[tuple[str, int, int], bytes], done: dict[str, int]
) -> dict[tuple[str, int, int], bytes] | None:
    """Compare the files that the sink has committed with the written records.

    Prints the result. Returns the records of the sink, or None if they differ.
    """
    import pyarrow.dataset as ds

    metadata = folder / "sink" / "_spark_metadata"
    names = set()
    for path in metadata.iterdir():
        if path.name.startswith("."):
            continue
        for line in path.read_text().splitlines()[1:]:
            entry = json.loads(line)
            if entry["action"] == "add":
                names.add(folder / "sink" / entry["path"].rsplit("/", 1)[-1])
    table = ds.dataset(sorted(map(str, names)), format="parquet").to_table()
    rows = [
        ((row["topic"], row["partition"], row["offset"]), row["value"])
        for row in table.to_pylist()
    ]
    there = dict(rows)
    lost = written.keys() - there.keys()
    foreign = there.keys() - written.keys()
    wrong = [key for key in there.keys() & written if there[key] != written[key]]
    doubled = len(rows) - len(there)
    kinds = ", ".join(f"{count} {moment}" for moment, count in done.items())
    print(f"kills: {kinds}")
    print(
        f"in the sink: {len(rows):,} rows; lost {len(lost)}, doubled {doubled},"
        f" changed {len(wrong)}, foreign {len(foreign)}"
    )
    if lost or doubled or wrong or foreign:
        print(f"FAILED: first lost {sorted(lost)[:3]}")
        return None
    return there


def verdict(folder: Path, writer: LogWriter, done: dict[str, int]) -> int:
    """Compare the sink with the written records and with a batch read of the log.

    Returns the exit code: 1 if they differ or the log has not rolled and deleted
    segments.
    """
    print(
        f"{len(writer.written):,} records written; {writer.torn} torn writes,"
        f" {writer.rolled} rolls, {writer.deleted} segments deleted while it ran"
    )
    there = compare_sink(folder, writer.written, done)
    if not writer.deleted or not writer.rolled or not writer.torn:
        print("FAILED: the log did not live through what it should have")
        return 1
    if there is None:
        return 1
    left = batch_read(folder / "logs")
    missing = [key for key, value in left if there.get(key) != value]
    print(f"a batch read of what is left: {len(left):,} rows, {len(missing)} not there")
    return 1 if missing or not left else 0


def batch_read(log: Path) -> list[tuple[tuple[str, int, int], bytes]]:
    """Read the remaining log with the functions that Spark tasks run.

    Returns ((topic, partition, offset), value) for each record.
    """
    from kwire.spark.log import options, planning, reading
    from kwire.spark.topics import layout

    asked = options.read_options({"path": str(log)})
    columns = layout.default_layout(asked)
    partitions = planning.find_partitions(asked)
    pieces = planning.plan_pieces(partitions, asked, planning.Bounds())
    return [
        ((row["topic"], row["partition"], row["offset"]), row["value"])
        for batch in reading.read_pieces(pieces, columns, asked)
        for row in batch.to_pylist()
    ]


def run_query(read: Callable[[Any], Any], checkpoint: str, sink: str) -> None:
    """Run the query, which writes a stream to Parquet files.

    * ``read``: receives Spark's stream reader and returns the loaded stream.
    * ``checkpoint``, ``sink``: directories of the query.

    The query ends when all available records are written, or runs until it is killed.
    """
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", f"{checkpoint}-warehouse")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    goes_on = os.environ["KWIRE_STREAM_KILLS"] == "go on"
    most = PER_TRIGGER if goes_on else PER_LAST_TRIGGER
    table = read(spark.readStream.option("maxOffsetsPerTrigger", most))
    stream = table.writeStream.format("parquet")
    stream = stream.option("checkpointLocation", checkpoint)
    if goes_on:
        stream = stream.trigger(processingTime="100 milliseconds")
    else:
        stream = stream.trigger(availableNow=True)
    run_to_end(lambda: stream.start(sink))
    spark.stop()


if __name__ == "__main__":
    main()
