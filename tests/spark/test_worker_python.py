# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Workers with an unsuitable Python are reported before a job starts."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkFiles

import kwire.spark
from kwire.jobs.running import JobError, run_tasks
from kwire.spark.shipping.worker_python import find_worker_problem

MENDED = 'set os.environ["PYSPARK_PYTHON"] = sys.executable'


@pytest.fixture
def python(tmp_path):
    """Return a function that creates an executable from the lines of a shell script."""

    def make(*lines):
        path = tmp_path / "python3"
        path.write_text("\n".join(("#!/bin/sh", *lines, "")))
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture
def bare(python):
    """Return the path of a Python of this version without kwire."""
    return python(f'PYTHONPATH= exec "{sys.executable}" -S -E "$@"')


def session(spark, executable, **more):
    """Return an imitation of a session with the attributes that are inspected.

    The root directory of its files is that of the real session.
    """
    defaults = {"master": "local[2]", "environment": {}, "_python_includes": None}
    context = SimpleNamespace(**(defaults | more), pythonExec=executable)
    return SimpleNamespace(sparkContext=context)


def test_workers_with_kwire_have_no_problem(spark):
    """If the workers can import kwire, no problem is reported."""
    assert find_worker_problem(spark) is None
    assert find_worker_problem(session(spark, sys.executable)) is None


def test_worker_python_without_kwire_is_reported_with_a_solution(spark, bare):
    """If the workers' Python lacks kwire, a solution is reported.

    A virtual environment that is not activated has this effect.
    """
    problem = find_worker_problem(session(spark, bare))
    assert problem.startswith(f"Spark's workers run {bare}, which has no kwire (Mod")
    assert MENDED in problem
    assert problem.endswith(f"export PYSPARK_PYTHON={sys.executable}")
    assert "\n" not in problem


def test_python_of_another_version_is_reported(spark, python):
    """If the workers' Python has another version, it is reported.

    Spark rejects it, whichever packages it has.
    """
    old = python("echo 3.7")
    problem = find_worker_problem(session(spark, old))
    assert "which is Python 3.7, not 3." in problem
    assert MENDED in problem


def test_missing_or_invalid_worker_python_is_reported(spark, tmp_path):
    """If the workers' Python does not exist or does not run, it is reported."""
    problem = find_worker_problem(session(spark, str(tmp_path / "none")))
    assert problem.startswith(
        f"Spark's workers run {tmp_path}/none, which does not exist"
    )
    text = tmp_path / "text"
    text.write_bytes(b"\0")
    text.chmod(0o755)
    assert MENDED in find_worker_problem(session(spark, str(text)))


def test_this_python_without_a_path_to_kwire_wants_the_path(spark, bare, monkeypatch):
    """If this interpreter found kwire by its own ``sys.path``, the path is reported.

    The workers use the same interpreter, but not this path.
    """
    monkeypatch.setattr(sys, "executable", bare)
    problem = find_worker_problem(session(spark, bare))
    home = Path(kwire.__file__).parents[1]
    assert problem.endswith(f"before the session starts, export PYTHONPATH={home}")


def test_a_path_that_spark_gives_its_workers_counts(
    spark, python, tmp_path, monkeypatch
):
    """Paths that Spark passes to its workers are taken into account.

    They are ``spark.executorEnv.PYTHONPATH`` and the directory of shipped files.
    """
    folder = tmp_path / "shipped"
    (folder / "kwire").mkdir(parents=True)
    (folder / "kwire" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", "")
    executable = python(f'exec "{sys.executable}" -S "$@"')
    assert "has no kwire" in find_worker_problem(session(spark, executable))
    environment = {"PYTHONPATH": str(folder)}
    worker_session = session(spark, executable, environment=environment)
    assert find_worker_problem(worker_session) is None
    monkeypatch.setattr(SparkFiles, "getRootDirectory", lambda: str(folder))
    assert find_worker_problem(session(spark, executable)) is None


def test_a_cluster_is_asked_by_a_task(spark, python, monkeypatch):
    """On a cluster, a Spark task tests the import, because workers are elsewhere."""
    context = spark.sparkContext
    cluster = session(
        spark, "python3", master="spark://host:7077", parallelize=context.parallelize
    )
    assert find_worker_problem(cluster) is None
    # PYTHONPATH contains kwire and Spark's modules, so import only Spark's modules by
    # name.
    bare = python(
        'PYTHONPATH=$(echo "$PYTHONPATH" | tr : "\\n" | grep pyspark | tr "\\n" :)',
        f'export PYTHONPATH; exec "{sys.executable}" -S "$@"',
    )
    monkeypatch.setattr(context, "pythonExec", bare)
    problem = find_worker_problem(cluster)
    assert "which has no kwire (ModuleNotFoundError" in problem
    assert "kwire spark-bundle" in problem
    monkeypatch.setattr(context, "pythonExec", "/no/python")
    assert find_worker_problem(cluster) is None


def test_a_session_without_a_context_is_not_asked():
    """A session without a context, as in Spark Connect, is not tested.

    Its workers are on other machines.
    """
    assert find_worker_problem(SimpleNamespace()) is None


def test_register_reports_workers_without_kwire_first(spark, bare, monkeypatch):
    """``register`` reports workers without kwire before Spark's first query fails."""
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)
    with pytest.raises(ImportError) as caught:
        kwire.spark.register(spark)
    assert str(caught.value).startswith("kwire.spark.register: Spark's workers run")


def test_job_reports_workers_without_kwire(spark, python, monkeypatch):
    """A job reports workers without kwire if a notebook passes its session."""
    old = python("echo 3.7")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", old)
    with pytest.raises(JobError, match=r"which is Python 3\.7") as caught:
        run_tasks(str, [1], sizes=[1], spark=spark)
    assert "\n" not in str(caught.value)


@pytest.mark.gate
def test_error_names_an_environment_that_is_not_activated(tmp_path, bare):
    """The error names a virtual environment that is not activated.

    With cron or an IDE, another Python is often the first one on the PATH.
    """
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            from pyspark.sql import SparkSession
            import kwire.spark as ks

            spark = (
                SparkSession.builder.master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.driver.host", "127.0.0.1")
                .getOrCreate()
            )
            ks.register(spark)
            """
        )
    )
    hidden = {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    java = os.path.dirname(shutil.which("java"))
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment
        | {
            "PATH": os.pathsep.join((str(tmp_path), java, "/usr/bin", "/bin")),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        cwd=tmp_path,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: kwire.spark.register: Spark's workers run")
    assert MENDED in last
    assert "org.apache" not in done.stderr.partition("Traceback")[2]
