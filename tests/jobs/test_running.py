# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks of jobs in this process, and errors if Spark cannot run.

``tests/spark/test_running_on_spark.py`` covers tasks on Spark.
"""

import os
import stat
import subprocess
import sys

import pytest

from kwire import jobs
from kwire.jobs import running
from kwire.jobs.running import JobError, choose_spark, java_problem, run_tasks

GIB = 1 << 30


def test_results_are_in_the_order_of_tasks():
    """Results have the order of the tasks.

    ``progress`` is called with the size of a task when the task ends.
    """
    progress = []

    def work(task):
        progress.append(("ran", task))
        return task * 2

    done = run_tasks(
        work, [3, 1, 2], sizes=[30, 10, 20], progress=lambda size: progress.append(size)
    )
    assert done == [6, 2, 4]
    assert progress == [("ran", 3), 30, ("ran", 1), 10, ("ran", 2), 20]


def test_no_task_needs_no_spark():
    """Without tasks, an empty list is returned, even if Spark is not reachable."""
    assert run_tasks(len, [], sizes=[], spark="spark://nowhere:1") == []


def test_error_of_a_task_is_raised_and_later_tasks_do_not_run():
    """If a task fails, its error is raised, and no later task is run."""
    ran = []

    def work(task):
        ran.append(task)
        raise OSError(2, "no such file", "here")

    with pytest.raises(OSError, match="here"):
        run_tasks(work, [1, 2], sizes=[1, 1])
    assert ran == [1]


def fake_java(folder, version):
    """Create a script ``java`` that prints a version. Return its directory."""
    folder.mkdir()
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return str(folder)


def test_missing_or_old_java_is_a_one_line_error(tmp_path, monkeypatch):
    """If Java is missing or too old, ``java_problem`` returns one line.

    It says which version was found, and that Java must be installed.
    """
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "none on the PATH): install" in java_problem()
    monkeypatch.setenv("PATH", fake_java(tmp_path / "old", "11.0.2"))
    assert "(got 11): install" in java_problem()
    monkeypatch.setenv("PATH", fake_java(tmp_path / "new", "21.0.2"))
    assert java_problem() is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert f"(none in JAVA_HOME, {tmp_path / 'gone'}): install" in java_problem()
    assert "\n" not in java_problem()


def test_spark_is_chosen_for_large_input_only_where_it_can_run(tmp_path, monkeypatch):
    """Spark is chosen for inputs of at least 1 GiB if Java is available.

    If the caller chooses Spark, the choice is used even without Java.
    """
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", fake_java(tmp_path / "java", "17.0.1"))
    assert choose_spark("spark://host:1", 0) == "spark://host:1"
    assert choose_spark(None, GIB - 1) is None
    assert choose_spark(None, GIB) == "local[*]"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_spark(None, GIB) is None
    assert choose_spark("local[2]", GIB) == "local[2]"


def test_missing_java_is_an_error_of_one_line(tmp_path, monkeypatch):
    """If Java is missing, a JobError names the required version.

    It is raised before a Java process is started.
    """
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(
        "pyspark.sql.SparkSession.getActiveSession", staticmethod(lambda: None)
    )
    with pytest.raises(JobError, match="Spark requires Java 17 or newer"):
        run_tasks(len, ["a"], sizes=[1], spark="local[1]")


def test_missing_pyspark_is_an_error_of_one_line(monkeypatch):
    """If PySpark is missing, an ImportError contains the installation command.

    If the caller did not choose Spark, large inputs run without it.
    """
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match="pip install 'pyspark>=4'"):
        run_tasks(len, ["a"], sizes=[1], spark="local[1]")
    monkeypatch.setattr(running.importlib.util, "find_spec", lambda name: None)
    assert choose_spark(None, GIB) is None


def test_jobs_import_without_pyspark_and_pyarrow():
    """Jobs can be imported without PySpark and pyarrow.

    Only the functions that need these packages import them.
    """
    code = (
        "import sys\n"
        "sys.modules['pyspark'] = sys.modules['pyarrow'] = None\n"
        "from kwire.jobs import charts, report, running, tables\n"
        "print(running.run_tasks(len, ['abc'], sizes=[3]))\n"
        "try: tables.Output('out').__enter__()\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
    )
    assert done.stdout == "[3]\na job requires pyarrow: pip install kwire[arrow]\n"


def test_names_of_jobs_are_functions():
    """``jobs.audit``, ``jobs.export`` and ``jobs.offsets`` are functions.

    Importing a job's modules must not replace the function by a module of the same
    name.
    """
    for name in "audit", "export", "offsets":
        __import__(f"kwire.jobs.{name}_job.job")
        assert callable(getattr(jobs, name))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jobs.nothing  # noqa: B018
