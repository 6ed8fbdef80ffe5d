# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of Spark on older releases of PySpark, in environments of their own.

Without options the releases are the oldest with which the functions of kwire work, and
the oldest with Python data sources, which the formats of kwire require. The libraries
beside them are the oldest that kwire and PySpark work with. ``LATER`` names the tests
that require a newer PySpark. They are omitted, and every other test has to pass.

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
OLDEST = ["3.5.0", "4.0.0"]
LIBRARIES = ["pandas==2.2.0", "numpy==1.26.4"]
ARROW = {(3, 5): "pyarrow==16.0.0", (4, 2): "pyarrow==18.0.0"}
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

WITHOUT_SOURCES = ["test_functions*.py", "test_drop_in.py"]
"""Tests that require no Python data source, and so no PySpark 4.0."""

LATER = {
    (4, 1): [
        # Filters that are pushed down.
        "test_log_source.py::test_a_pushed_filter_spares_files",
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


def list_tests(version: str) -> list[str]:
    """List the tests of a version, and the options that omit tests of newer ones."""
    has = tuple(int(part) for part in version.split(".")[:2])
    if has < (4, 0):
        folder = ROOT / TESTS
        return [str(path) for name in WITHOUT_SOURCES for path in folder.glob(name)]
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
    return [*options, TESTS]


def main() -> int:
    """Make the environments and run the tests; returns 1 if a release fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyspark", metavar="VERSION")
    chosen, more = parser.parse_known_args()
    versions = [chosen.pyspark] if chosen.pyspark else OLDEST
    return max(run_tests(version, more) for version in versions)


def run_tests(version: str, more: list[str]) -> int:
    """Run the tests on one release of PySpark; returns 1 if one of them fails."""
    python = str(make_environment(version))
    # The engine is this tree's: it was built for the Python that runs this.
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    here = os.environ | {"PYTHONPATH": paths}
    # A Spark that is installed elsewhere would be taken for this one.
    here.pop("SPARK_HOME", None)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default"]
    print(f"==> {TESTS} on PySpark {version}", flush=True)
    done = subprocess.run([*command, *list_tests(version), *more], env=here, cwd=ROOT)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
