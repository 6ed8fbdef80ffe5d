# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the table scan tests with pandas 3 in a separate virtual environment.

The environment of all other tests cannot install pandas 3, because PySpark requires
pandas 2. This environment also contains the newest releases of the other table
libraries.

    python -m tools.interop.table_libraries [PYTEST-ARGUMENTS]
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ["tests/client/test_scan_libraries.py"]
LIBRARIES = ["pandas>=3,<4", "pyarrow", "polars", "duckdb", "numpy"]
TOOLS = [
    "pytest",
    "pytest-randomly",
    "pytest-rerunfailures",
    "hypothesis",
    "click",
    "cryptography",
]


def make_environment() -> Path:
    """Create the virtual environment if it is missing or outdated.

    Returns the path of its Python interpreter.
    """
    folder = ROOT / "build" / "table-libraries"
    python = folder / "bin" / "python"
    requirements = [*LIBRARIES, *TOOLS]
    marker = folder / ".made"
    if not marker.exists() or marker.read_text() != " ".join(requirements):
        print("==> a virtual environment with pandas 3 (700 MB)", flush=True)
        venv.create(folder, clear=not marker.exists(), with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *requirements], check=True)
        marker.write_text(" ".join(requirements))
    return python


def main() -> int:
    """Create the environment and run the tests in it. Returns pytest's exit code."""
    python = str(make_environment())
    # The tests use the compiled engine of this tree. It was built for the Python
    # version that runs this script, so the environment must have the same version.
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default"]
    done = subprocess.run(
        [*command, *TESTS, *sys.argv[1:]],
        env=os.environ | {"PYTHONPATH": paths},
        cwd=ROOT,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
