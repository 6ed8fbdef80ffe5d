# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of Spark on an older PySpark, in a virtual environment of its own.

Without options that is the oldest that kwire works with, beside the oldest of the
libraries that it works with. ``LATER`` names the tests of what requires a newer
PySpark; those are left out, and every other one has to pass. That kwire says what is
missing, where it is asked for it, is looked at here.

    python -m tools.interop.spark.oldest [--pyspark 4.1.0] [PYTEST-ARGUMENTS]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TESTS = "tests/spark"
OLDEST = "4.0.0"
LIBRARIES = ["pandas==2.2.0", "numpy==1.26.4"]
ARROW = {(4, 0): "pyarrow==16.0.0", (4, 2): "pyarrow==18.0.0"}
"""The oldest for PySpark since a version."""

TOOLS = [
    "pytest",
    "pytest-randomly",
    "pytest-rerunfailures",
    "hypothesis",
    "fsspec",
    "crc32c",
    "aiokafka",
    "confluent-kafka",
    "click",
    "rich",
    "jinja2",
    "cramjam",
    "isal",
    "zstandard",
    "cryptography",
]

LATER = {
    (4, 1): [
        # Filters that are pushed down.
        "test_log_source.py::test_a_pushed_filter_spares_files",
        # Functions on Arrow arrays.
        "test_functions_in_spark.py",
        "test_drop_in.py",
        # The text of an error: 4.0 puts a line of its own before it.
        "test_short_errors.py",
    ],
}
LIMITS = "pyspark.sql.streaming.datasource"
"""What tests about limits of streams import, which requires 4.2."""

ELSEWHERE = [
    "test_worker_python.py::test_an_environment_that_is_not_activated",
]
"""What wants libraries of its own, or kwire installed beside PySpark."""

SAYS = """
from kwire.spark import functions
try:
    functions.kafka_header("frame")
except ImportError as error:
    assert "pyspark 4.1" in str(error), error
else:
    raise SystemExit("kafka_header must raise ImportError on PySpark before 4.1")
"""


def make_environment(version: str) -> Path:
    """Make the virtual environment of a version, once; return its interpreter."""
    folder = ROOT / "build" / "spark-oldest" / version
    python = folder / "bin" / "python"
    has = tuple(int(part) for part in version.split(".")[:2])
    arrow = ARROW[max(since for since in ARROW if since <= has)]
    wanted = [f"pyspark=={version}", arrow, *LIBRARIES, *TOOLS]
    made = folder / ".made"
    if not made.exists() or made.read_text() != " ".join(wanted):
        print(f"==> a virtual environment with PySpark {version} (400 MB)", flush=True)
        venv.create(folder, clear=not made.exists(), with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *wanted], check=True)
        made.write_text(" ".join(wanted))
    return python


def left_out(version: str) -> list[str]:
    """Name the tests of what a version lacks, as pytest wants them named."""
    has = tuple(int(part) for part in version.split(".")[:2])
    names = [name for since, names in LATER.items() if has < since for name in names]
    if has < (4, 2):
        tests = sorted((ROOT / TESTS).glob("test_*.py"))
        names += [path.name for path in tests if LIMITS in path.read_text()]
    options = []
    for name in [*names, *ELSEWHERE]:
        path = f"{TESTS}/{name}"
        if not (ROOT / path.partition("::")[0]).exists():
            raise SystemExit(f"{path} is no more: change the list in {__file__}")
        options.append(f"--{'deselect' if '::' in name else 'ignore'}={path}")
    return options


def main() -> int:
    """Make the environment and run the tests; returns their exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyspark", default=OLDEST, metavar="VERSION")
    chosen, more = parser.parse_known_args()
    python = str(make_environment(chosen.pyspark))
    # The engine is this tree's: it was built for the Python that runs this.
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    here = os.environ | {"PYTHONPATH": paths}
    # A Spark that is installed elsewhere would be taken for this one.
    here.pop("SPARK_HOME", None)
    if chosen.pyspark < "4.1":
        subprocess.run([python, "-c", SAYS], env=here, check=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default"]
    print(f"==> {TESTS} on PySpark {chosen.pyspark}", flush=True)
    done = subprocess.run(
        [*command, *left_out(chosen.pyspark), TESTS, *more], env=here, cwd=ROOT
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
