# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that Spark's workers can import kwire, and recommends a fix.

Spark does not start its workers with the driver's Python, but with the executable that
``PYSPARK_PYTHON`` names, by default the ``python3`` of the PATH. This is a different
Python if the driver runs in a virtual environment that is not activated. See
``bundle.py`` for deployment to a cluster's workers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_HOME = str(Path(__file__).resolve().parents[3])
_LONGEST = 60
"""Timeout in seconds for the check in a local worker.

If Python does not start in this time, the check is skipped, and Spark reports errors.
"""

_PROBE = "import sys; print(*sys.version_info[:2], sep='.'); import kwire"
_MENDED = (
    'before the session starts, set os.environ["PYSPARK_PYTHON"] = sys.executable, or'
    f" export PYSPARK_PYTHON={sys.executable}"
)


def find_worker_problem(spark: SparkSession) -> str | None:
    """Try ``import kwire`` in the Python of Spark's workers, and describe the problem.

    Returns one sentence that ends with a line of code that fixes the problem. Returns
    None if the import succeeds or cannot be tested, for example with Spark Connect. The
    check starts a Python process if the master is local (about 50 ms), and runs a job
    with one task on a cluster.
    """
    context = getattr(spark, "sparkContext", None)
    if context is None:
        return None
    master = context.master
    if master == "local" or master.startswith("local["):
        return _find_local_problem(context)
    return _find_cluster_problem(context)


def _find_local_problem(context: SparkContext) -> str | None:
    name = context.pythonExec
    executable = shutil.which(name)
    if executable is None:
        return f"Spark's workers run {name}, which does not exist; {_MENDED}"
    try:
        done = subprocess.run(
            [executable, "-c", _PROBE],
            env=_worker_environment(context),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return f"Spark's workers run {executable}, which fails: {error}; {_MENDED}"
    ours, theirs = "{}.{}".format(*sys.version_info), done.stdout.strip()
    if theirs and theirs != ours:
        return (
            f"Spark's workers run {executable}, which is Python {theirs}, not {ours} as"
            f" this process; {_MENDED}"
        )
    if not done.returncode:
        return None
    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    mended = _MENDED
    if os.path.abspath(executable) == os.path.abspath(sys.executable):
        mended = f"before the session starts, export PYTHONPATH={_HOME}"
    return f"Spark's workers run {executable}, which has no kwire ({reason}); {mended}"


def _worker_environment(context: SparkContext) -> dict[str, str]:
    """Return the environment variables of a local worker.

    ``PYTHONPATH`` includes the files that have been added to the Spark session.
    """
    from pyspark import SparkFiles

    shipped = SparkFiles.getRootDirectory()
    paths = [
        os.environ.get("PYTHONPATH", ""),
        context.environment.get("PYTHONPATH", ""),
        shipped,
        *(os.path.join(shipped, name) for name in context._python_includes or ()),
    ]
    path = os.pathsep.join(filter(None, paths))
    return {**os.environ, **context.environment, "PYTHONPATH": path}


def _find_cluster_problem(context: SparkContext) -> str | None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        found = context.parallelize([0], 1).map(_make_probe()).collect()
    except (PySparkException, Py4JError):
        # Other problems of the workers are reported by Spark itself.
        return None
    for executable, reason in found:
        if reason:
            return (
                f"Spark's workers run {executable}, which has no kwire ({reason}); ship"
                " it: kwire spark-bundle --output deps.zip, then"
                ' spark.sparkContext.addArchive("deps.zip#kwire")'
            )
    return None


def _make_probe() -> Callable[[Any], tuple[str, str]]:
    """Return the function that runs in a worker.

    It is nested, so that it is pickled by value and the worker does not need kwire to
    load it.
    """

    def probe(_: Any) -> tuple[str, str]:
        import sys

        try:
            import kwire  # noqa: F401
        except ImportError as error:
            return sys.executable, f"{type(error).__name__}: {error}"
        return sys.executable, ""

    return probe
