# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check that kwire can be shipped to Spark workers that do not have it installed.

The workers use a virtual environment that is created here. It contains Spark's
requirements, but not kwire. The master is ``local-cluster[2,1,1024]``, whose executors
are separate processes. Formats and functions must work through ``spark.archives`` and
through ``addArchive`` at run time, with an archive of the installed kwire and with an
archive of a newly built wheel. Without an archive, the same job must fail.
``kafka-live`` reads from and writes to librdkafka's mock cluster, which runs in this
process.

    python -m tools.interop.spark.shipping
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from kwire import messages, records
from kwire.messages import framing
from kwire.spark.shipping.bundle import bundle, setting

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build" / "spark-shipping"
NEEDED = ["pyarrow", "pandas<3", "numpy"]
MASTER = "local-cluster[2,1,1024]"
LONGEST = 900
"""Timeout of a driver in seconds."""

RECORDS, EACH, FRAMES = 3000, 50, 200
CODECS = "none", "gzip", "snappy", "lz4", "zstd"
LIVE_TOPIC, WRITTEN_TOPIC = "live", "written"


def make_workers_python() -> str:
    """Create a virtual environment for the workers if it does not exist.

    Returns the path of its Python interpreter.
    """
    folder = BUILD / "workers"
    python = folder / "bin" / "python"
    if not (folder / ".made").exists():
        print("==> a Python for the workers, without kwire")
        venv.create(folder, clear=True, with_pip=True)
        pinned = ["-c", str(ROOT / "constraints.txt")]
        run([str(python), "-m", "pip", "install", "--quiet", *pinned, *NEEDED])
        (folder / ".made").touch()
    result = subprocess.run([python, "-c", "import kwire"], capture_output=True)
    if not result.returncode:
        raise SystemExit(f"{folder} has a kwire: remove it and run this again")
    return str(python)


def build_wheels(folder: Path) -> list[Path]:
    """Build a wheel of this tree, and download the wheel of the compression library."""
    print("==> a wheel (compiling takes half a minute)")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    pip += ["--wheel-dir", str(folder)]
    run([*pip, "--no-build-isolation", str(ROOT)])
    run([*pip, "-c", str(ROOT / "constraints.txt"), "cramjam"])
    return sorted(folder.glob("*.whl"))


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, cwd=ROOT)


def write_logs(folder: Path) -> None:
    """Write a partition for each compression, with decimal integers as values."""
    for codec in CODECS:
        path = folder / f"{codec}-0" / f"{0:020}.log"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            for base in range(0, RECORDS, EACH):
                rows = [(None, b"%d" % number) for number in range(base, base + EACH)]
                file.write(
                    records.encode_batch(rows, base_offset=base, compression=codec)
                )


@contextmanager
def live_brokers() -> Iterator[str]:
    """Run librdkafka's mock cluster, and write records with every compression.

    Yields the bootstrap servers of the cluster.
    """
    quiet: dict[str, Any] = {"log_level": 0}
    brokers = Producer(
        {"bootstrap.servers": "mock", "test.mock.num.brokers": 3, **quiet}
    )
    found = brokers.list_topics(timeout=LONGEST).brokers.values()
    address = ",".join(f"{each.host}:{each.port}" for each in found)
    for codec in CODECS:
        producer = Producer(
            {"bootstrap.servers": address, "compression.type": codec, **quiet}
        )
        for number in range(RECORDS):
            producer.produce(LIVE_TOPIC, b"%d" % number)
            producer.poll(0)
        if producer.flush(LONGEST):
            raise SystemExit("the mock cluster did not take all records")
    # The mock cluster creates a topic when its own client requests the topic's
    # metadata.
    brokers.list_topics(WRITTEN_TOPIC, LONGEST)
    # The mock cluster stops when this producer, which has created it, is deleted.
    yield address
    del brokers


def drive(way: str, archive: str, logs: str, address: str) -> dict[str, Any]:
    """Run one job as the driver. Returns its results and the workers' paths of kwire.

    * ``way``: shipping method, or "nothing" to run without an archive.
    * ``archive``: file that contains kwire.
    * ``logs``: directory of the log segments.
    * ``address``: bootstrap servers of the mock cluster.
    """
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(MASTER)
        .appName("kwire on bare workers")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", f"{Path(logs).parent}/warehouse")
    )
    if way == "spark.archives":
        builder = builder.config("spark.archives", setting(archive))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if way == "addArchive":
        before = spark.range(4).repartition(2).mapInArrow(where_kwire_is, "at string")
        if any(row.at for row in before.collect()):
            raise SystemExit("the workers had kwire before they were given it")
        spark.sparkContext.addArchive(setting(archive))
    try:
        return look(spark, logs, address)
    finally:
        spark.stop()


def where_kwire_is(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield one row for each batch: engine, path of kwire, Python and parent process.

    The row is empty if the worker cannot import kwire.
    """
    import pyarrow

    for _ in batches:
        try:
            import kwire

            location = (
                f"{kwire.backend} {kwire.__file__} {sys.executable} {os.getppid()}"
            )
        except ModuleNotFoundError:
            location = ""
        yield pyarrow.RecordBatch.from_pydict({"at": [location]})


def look(spark: Any, logs: str, address: str) -> dict[str, Any]:
    from pyspark.sql import functions as sql

    from kwire.spark import functions

    columns = "topic", "value"
    brokers = {"kafka.bootstrap.servers": address}
    numbers = spark.range(FRAMES).repartition(4).selectExpr("string(id) AS value")
    sink = numbers.write.format("kafka-live").options(**brokers, topic=WRITTEN_TOPIC)
    sink.mode("append").save()
    live = spark.read.format("kafka-live").options(
        **brokers, subscribe=f"{LIVE_TOPIC},{WRITTEN_TOPIC}"
    )
    read = spark.read.format("kafka-log").load(logs).select(*columns)
    # Every driver writes the same records to the topic, so remove duplicates.
    written = live.load().where(f"topic = '{WRITTEN_TOPIC}'").select(*columns)
    records = live.load().where(f"topic = '{LIVE_TOPIC}'").select(*columns)
    both = read.union(records).union(written.distinct())
    sums = both.groupBy("topic").agg(
        sql.count("*").alias("rows"),
        sql.sum(sql.col("value").cast("string").cast("bigint")).alias("sum"),
    )
    found: dict[str, Any] = {row.topic: [row.rows, row.sum] for row in sums.collect()}
    request = messages.ApiVersionsRequest(client_software_name="shipping")
    frame = framing.encode_request(request, 3, correlation_id=7, client_id="c")[4:]
    frames = spark.createDataFrame([(bytearray(frame),)] * FRAMES, "frame binary")
    headers = frames.repartition(4).select(functions.kafka_header("frame").alias("h"))
    found["headers"] = headers.where("h.correlation_id = 7").count()
    places = spark.range(8).repartition(4).mapInArrow(where_kwire_is, "at string")
    found["places"] = sorted({row.at for row in places.collect()})
    return found


def expected() -> dict[str, Any]:
    total = RECORDS * (RECORDS - 1) // 2
    live = [len(CODECS) * RECORDS, len(CODECS) * total]
    of_logs = {codec: [RECORDS, total] for codec in CODECS}
    written = [FRAMES, FRAMES * (FRAMES - 1) // 2]
    return of_logs | {LIVE_TOPIC: live, WRITTEN_TOPIC: written, "headers": FRAMES}


def attempt(
    way: str, archive: Path, logs: Path, address: str, python: str
) -> tuple[Any, str]:
    """Run a driver in a separate process.

    Returns its results and its output, or None and the end of its output if it fails.
    """
    import pyspark

    here = os.environ | {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": python,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    # Executors inherit this environment. PYTHONPATH would let them import kwire from
    # this tree.
    here.pop("PYTHONPATH", None)
    command = [sys.executable, __file__, "--drive", way, str(archive), str(logs)]
    command.append(address)
    done = subprocess.run(
        command, env=here, capture_output=True, text=True, timeout=LONGEST
    )
    said = done.stdout.strip().splitlines()
    if done.returncode or not said:
        return None, done.stderr
    return json.loads(said[-1]), ""


def check(way: str, archive: Path, logs: Path, address: str, python: str) -> bool:
    """Test one shipping method, and print the result.

    Returns True if the results are correct and the workers have used the archive.
    """
    results, said = attempt(way, archive, logs, address, python)
    name = f"{way} with {archive.name}"
    if results is None:
        print(f"FAILED {name}: {said[-1500:]}")
        return False
    locations = results.pop("places")
    tree = str(ROOT / "src")
    right = results == expected() and all(
        location.startswith("fast ")
        and f" {python} " in location
        and tree not in location
        for location in locations
    )
    if not right:
        print(f"FAILED {name}: {results}, workers: {locations}")
        return False
    print(f"ok     {name}: {len(CODECS)} logs, live topics, {len(locations)} workers")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments = ("WAY", "ARCHIVE", "LOGS", "ADDRESS")
    parser.add_argument("--drive", nargs=len(arguments), metavar=arguments)
    options = parser.parse_args()
    if options.drive:
        print(json.dumps(drive(*options.drive)))
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    python = make_workers_python()
    with (
        tempfile.TemporaryDirectory(prefix="kwire-shipping-") as scratch,
        live_brokers() as address,
    ):
        folder = Path(scratch)
        logs = folder / "logs"
        write_logs(logs)
        installed = bundle(folder / "installed.zip")
        results, said = attempt("nothing", installed, logs, address, python)
        if results is not None or "No module named 'kwire'" not in said:
            print(f"FAILED the control: without an archive {results or said[-1500:]}")
            return 1
        print("ok     without an archive the job fails: No module named 'kwire'")
        of_wheel = bundle(folder / "wheel.zip", wheel=build_wheels(folder))
        done = [
            check(way, archive, logs, address, python)
            for archive in (installed, of_wheel)
            for way in ("spark.archives", "addArchive")
        ]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
