# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: one Spark session with ``local[2]`` on the loopback interface.

All tests in this directory use the session. Without Java the tests fail instead of
being skipped, because kwire promises that these tests pass.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVM options for a fast start: the C1 compiler and the serial garbage collector.

The tests are too short to benefit from the defaults, which start more slowly.
"""

LATE_WORKER = "Python worker failed to connect back"
"""Matches the error of Spark if a worker does not start within ten seconds.

This happens on a busy machine.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rerun a test in this directory if Spark failed to start a worker.

    The test summary shows how many reruns there were.
    """
    again = pytest.mark.flaky(reruns=2, only_rerun=[LATE_WORKER])
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(again)


@pytest.fixture(scope="session")
def spark():
    """Yield the Spark session. Its workers import kwire from this source tree."""
    java = os.environ.get("JAVA_HOME") or shutil.which("java")
    assert java, "Spark needs Java 17: put java on the PATH or set JAVA_HOME"
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_START)
    on_interrupt = signal.getsignal(signal.SIGINT)
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession
    with tempfile.TemporaryDirectory(prefix="kwire-spark-") as folder:
        session = (
            SparkSession.builder.master("local[2]")
            .appName("kwire tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
            .config("spark.sql.execution.pyspark.udf.faulthandler.enabled", "true")
            .getOrCreate()
        )
        # Spark leaves its own SIGINT handler installed after the session has stopped,
        # so restore the handler of this process.
        signal.signal(signal.SIGINT, on_interrupt)
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
        gateway = session.sparkContext._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(timeout=30)
