# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The local Spark session, the table of frames, and the race of the two engines.

Loopback only. What Spark logs goes to a file, shown when it does not start.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from . import table
from .engine import EngineError
from .recording import Recorded

CORES = 2
JAVA_VERSION = 17
JAVA_PACKAGE = "openjdk-17-jre-headless"
LOG_SHOWN = 2000
ROUNDS = 3
RACE_ROWS = 200_000
RACE_BYTES = 400 << 20


def java_problem() -> str | None:
    """Say in one line what is missing to run Spark, or return None."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    advice = f"install the package {JAVA_PACKAGE}, or set JAVA_HOME"
    if not shutil.which(java):
        where = f"in JAVA_HOME ({home})" if home else "on PATH"
        return f"Spark needs Java {JAVA_VERSION} or newer, none {where}: {advice}"
    said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "((\d+)[^"]*)"', said)
    if found is None or int(found[2]) < JAVA_VERSION:
        version = found[1] if found else "one that does not tell its version"
        return f"Spark needs Java {JAVA_VERSION} or newer, found {version}: {advice}"
    return None


class SparkError(Exception):
    """Spark did not start, or a job failed; the text says why."""


@contextlib.contextmanager
def session(folder: Path) -> Iterator[SparkSession]:
    """Run a local Spark session that keeps its files in ``folder``."""
    spark = start(folder)
    try:
        yield spark
    except PySparkException as failure:
        # Its text comes from the Java process, which is about to end.
        raise SparkError(str(failure).strip()) from None
    finally:
        spark.stop()
        close_java(spark)


def start(folder: Path) -> SparkSession:
    """Start the session; what Java logs goes to a file in ``folder``."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    log = folder / "spark.log"
    try:
        with stderr_to(log):
            return (
                SparkSession.builder.master(f"local[{CORES}]")
                .appName("wire_to_table")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.memory", "3g")
                .config("spark.local.dir", str(folder))
                .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.sql.shuffle.partitions", str(CORES))
                .config("spark.sql.execution.arrow.maxBytesPerBatch", str(4 << 20))
                .config("spark.sql.execution.pyspark.udf.faulthandler.enabled", "true")
                .getOrCreate()
            )
    except PySparkException as failure:
        said = log.read_text(errors="replace")[-LOG_SHOWN:]
        raise SparkError(f"Spark did not start: {failure}\n{said}") from None


@contextlib.contextmanager
def stderr_to(log: Path) -> Iterator[None]:
    """Let processes that start in here write their stderr to ``log``."""
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def close_java(spark: SparkSession) -> None:
    """End the Java process, so that it writes nothing after the folder is gone."""
    gateway = spark.sparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=30)


def binary_frames(
    spark: SparkSession, frames: list[Recorded], folder: Path
) -> DataFrame:
    """Put the frames, as they were sent, into a Parquet file with a binary column."""
    rows = [
        {
            "connection": frame.connection,
            "sequence": frame.sequence,
            "direction": frame.direction,
            "api_key": frame.api_key,
            "api_version": frame.api_version,
            "client_id": frame.client_id,
            "frame": frame.sent,
        }
        for frame in frames
    ]
    path = str(folder / "frames.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path)
    return spark.read.parquet(path)


def frame_table(frames: DataFrame) -> DataFrame:
    """Return the table: one row per frame, decoded by kwire."""
    return frames.mapInArrow(table.rows, table.COLUMNS).cache()


def summary(rows: DataFrame) -> DataFrame:
    """Sum the table up: per API, version and direction."""
    errors = f.flatten(f.collect_list("error_codes"))
    return (
        rows.groupBy("api", "version", "direction")
        .agg(
            f.count("*").alias("frames"),
            f.sum("bytes").alias("bytes"),
            f.count("problem").alias("odd"),
            f.array_sort(f.array_distinct(errors)).alias("errors"),
        )
        .orderBy("api", "version", "direction")
    )


def sample(rows: DataFrame) -> DataFrame:
    """Pick the first row, most errors before, of some APIs and both directions."""
    apis = ["ApiVersions", "JoinGroup", "Produce", "Fetch", "Heartbeat"]
    grouped = rows.filter(f.col("api").isin(apis)).groupBy("api", "direction")
    first = f.struct(f.size("error_codes"), -f.col("sequence"))
    picked = grouped.agg(f.max_by("sequence", first).alias("sequence"))
    return (
        rows.join(picked.select("sequence"), "sequence")
        .orderBy("sequence")
        .select(
            f.col("connection").alias("conn"),
            "direction",
            "api",
            f.col("version").alias("v"),
            "client_id",
            f.col("correlation_id").alias("corr"),
            "bytes",
            f.col("error_codes").alias("errors"),
        )
    )


def many_frames(spark: SparkSession, once: DataFrame) -> tuple[DataFrame, int, int]:
    """Repeat the frames, on all cores; returns them, their count and bytes."""
    frames, size = once.agg(f.count("*"), f.sum(f.length("frame"))).first()
    copies = max(1, min(RACE_ROWS // frames, RACE_BYTES // size))
    repeats = spark.range(0, copies, numPartitions=2 * CORES)
    many = repeats.crossJoin(f.broadcast(once)).drop("id")
    return many, frames * copies, size * copies


def race(
    spark: SparkSession, frames: DataFrame, engines: tuple[str, ...]
) -> Iterator[dict[str, float]]:
    """Give the seconds per full pass: Spark alone, then each engine, round by round.

    In the first of the ``1 + ROUNDS`` rounds everything warms up: leave it out.
    """
    for engine in engines:
        use_engine(spark, engine)
    for _ in range(1 + ROUNDS):
        seconds = {"Spark": pass_seconds(frames, table.sizes, "bytes int")}
        for engine in engines:
            spark.sparkContext.environment["KWIRE_BACKEND"] = engine
            seconds[engine] = pass_seconds(frames, table.rows, table.COLUMNS)
        yield seconds


def pass_seconds(frames: DataFrame, function: Callable, columns: str) -> float:
    """Run ``function`` over all frames, throw the rows away; return the seconds."""
    start = time.perf_counter()
    job = frames.mapInArrow(function, columns)
    job.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def use_engine(spark: SparkSession, engine: str) -> None:
    """Make the Python workers of coming jobs run kwire on ``engine``."""
    spark.sparkContext.environment["KWIRE_BACKEND"] = engine
    told = spark.range(CORES).mapInArrow(table.backends, "backend string").distinct()
    found = [backend for (backend,) in told.collect()]
    if found != [engine]:
        raise EngineError(f"asked the workers for {engine}, they run on {found}")
