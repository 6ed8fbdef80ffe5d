# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the Spark tests with old PySpark releases in separate environments.

By default, two releases are tested: the oldest release that supports kwire's functions,
and the oldest release with Python data sources, which kwire's formats require. The
other libraries have the minimum versions that kwire and PySpark support. Tests that
require a newer PySpark are listed in ``LATER`` and omitted. All other tests must pass.

    python -m tools.interop.spark.oldest [--pyspark 4.1.0] [--sources] [PYTEST-OPTION]

With ``--sources``, releases with Python data sources run only the tests of the sources
and of the shipping to workers, because the functions are tested with the oldest one.
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
"""Minimum supported pyarrow version, by minimum PySpark version."""

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
"""Tests without Python data sources, so they support PySpark before 4.0."""

OF_SOURCES = ["*source*.py", "*stream*.py", "*reading*.py", "*sink*.py", "*worker*.py"]
"""Tests of Python data sources and of the workers that run them."""

LATER = {
    (4, 1): [
        # Only PySpark 4.1 and newer pass filters to Python data sources.
        "test_log_source.py::test_a_pushed_filter_spares_files",
        # PySpark 4.0 inserts an additional line before the error message.
        "test_short_errors.py",
    ],
}
LIMITS = "pyspark.sql.streaming.datasource"
"""Module imported by tests for stream limits. It requires PySpark 4.2."""

ELSEWHERE = [
    "test_worker_python.py::test_error_names_an_environment_that_is_not_activated",
]
"""Tests that need additional libraries, or an installed kwire next to PySpark."""


def make_environment(version: str) -> Path:
    """Create the virtual environment for a PySpark release if necessary.

    It is also created again if its requirements have changed. Returns the path of its
    Python interpreter.
    """
    folder = ROOT / "build" / "spark-oldest" / version
    python = folder / "bin" / "python"
    has = tuple(int(part) for part in version.split(".")[:2])
    arrow = ARROW[max(since for since in ARROW if since <= has)]
    requirements = [f"pyspark=={version}", arrow, *LIBRARIES, *TOOLS]
    marker = folder / ".made"
    if not marker.exists() or marker.read_text() != " ".join(requirements):
        print(f"==> a virtual environment with PySpark {version} (400 MB)", flush=True)
        venv.create(folder, clear=not marker.exists(), with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *requirements], check=True)
        marker.write_text(" ".join(requirements))
    return python


def list_tests(version: str, only_sources: bool) -> list[str]:
    """Return the arguments of pytest: the tests of a release, without exclusions."""
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
    if not only_sources:
        return [*options, TESTS]
    paths = {
        path for name in OF_SOURCES for path in (ROOT / TESTS).glob(f"test_{name}")
    }
    supported = {str(path) for path in paths if path.name not in names}
    return [*options, *sorted(supported)]


def main() -> int:
    """Run the tests with the PySpark releases that the command line selects.

    Returns the exit code: 1 if a test fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyspark", metavar="VERSION")
    parser.add_argument("--sources", action="store_true")
    chosen, more = parser.parse_known_args()
    versions = [chosen.pyspark] if chosen.pyspark else OLDEST
    return max(run_tests(version, chosen.sources, more) for version in versions)


def run_tests(version: str, only_sources: bool, more: list[str]) -> int:
    """Run the tests with one PySpark release. ``more`` contains options for pytest.

    Returns 1 if a test fails, otherwise 0.
    """
    python = str(make_environment(version))
    # The tests load the compiled engine of this tree, which was built for the Python
    # version that runs this program.
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    here = os.environ | {"PYTHONPATH": paths}
    # With SPARK_HOME, PySpark would start another Spark installation.
    here.pop("SPARK_HOME", None)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default"]
    print(f"==> {TESTS} on PySpark {version}", flush=True)
    tests = list_tests(version, only_sources)
    done = subprocess.run([*command, *tests, *more], env=here, cwd=ROOT)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
