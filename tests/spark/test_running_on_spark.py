# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Job tasks on Spark: order, failures, progress, and stopped sessions."""

import os
import site
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import kwire
from kwire import Truncated
from kwire.jobs.running import JobError, open_session, run_tasks

SOURCE = Path(kwire.__file__).parents[1]


@pytest.fixture
def work():
    """Return a function whose behavior its argument selects.

    Workers cannot import the tests, so it must not refer to this module.
    """

    def work(task):
        kind, value = task
        if kind == "raise":
            raise value
        if kind == "die":
            os._exit(value)
        return value, os.getpid()

    return work


def test_tasks_run_in_workers_and_come_back_in_order(spark, work):
    """Tasks run in workers, and their results have the order of the tasks.

    There are more tasks than cores. The size of a task is reported when it ends.
    """
    progress = []
    tasks = [("give", number) for number in range(7)]
    sizes = [10**number for number in range(7)]
    done = run_tasks(work, tasks, sizes=sizes, spark=spark, progress=progress.append)
    assert [value for value, _ in done] == list(range(7))
    assert os.getpid() not in {process for _, process in done}
    assert sum(progress) == sum(sizes)


def test_error_of_a_task_is_the_same_as_without_spark(spark, work):
    """The exception of a task has the same content as without Spark."""
    for error in (
        Truncated("the input ends", 17, "topics[3].name", "FetchResponse", 12),
        FileNotFoundError(2, "No such file or directory", "/data/orders-0/7.log"),
    ):
        with pytest.raises(type(error)) as caught:
            run_tasks(work, [("raise", error)], sizes=[1], spark=spark)
        assert str(caught.value) == str(error)
        assert "in work" in "".join(caught.value.__notes__)


def test_exception_that_cannot_be_pickled_is_reported_as_text(spark):
    """An exception that cannot be pickled is reported by its text.

    Its class requires arguments that a pickle does not contain.
    """

    class Stubborn(Exception):
        def __reduce__(self):
            raise TypeError("no")

    def fail(task):
        raise Stubborn(task)

    with pytest.raises(JobError, match="Stubborn: too odd"):
        run_tasks(fail, ["too odd"], sizes=[1], spark=spark)


def test_worker_crash_is_a_one_line_error(spark, work):
    """If a worker crashes, the error has one line.

    It says that the worker has exited.
    """
    with pytest.raises(JobError, match="exited unexpectedly") as caught:
        run_tasks(work, [("die", 3)], sizes=[1], spark=spark)
    assert "\n" not in str(caught.value)
    assert run_tasks(work, [("give", 1)], sizes=[1], spark=spark)[0][0] == 1


def test_existing_spark_session_is_used_and_not_stopped(spark):
    """A job uses an existing session, such as a notebook's, and does not stop it."""
    with open_session("local[1]") as session:
        assert session is spark
    assert spark.range(3).count() == 3


@pytest.mark.gate
def test_sessions_of_its_own_are_quiet_and_stopped(tmp_path):
    """A job without a session starts and stops its own, which prints no log lines.

    The workers do not need an installed kwire.
    """
    # The interpreter has all packages, but not the paths of an editable installation.
    worker = tmp_path / "python"
    worker.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    worker.chmod(0o755)
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.executable = {str(worker)!r}
            sys.path.insert(0, {str(SOURCE)!r})
            from kwire.jobs.running import run_tasks

            def work(task):
                import os, kwire
                with open(2, "w", closefd=False) as stderr:
                    print("a worker talks", file=stderr)
                return task, kwire.__file__

            for _ in range(2):
                [(task, home)] = run_tasks(work, [7], sizes=[1], spark="local[1]")
                print(task, home)
            import os
            from pyspark import SparkContext
            print(SparkContext._active_spark_context)
            print("SPARK_LOCAL_IP" in os.environ)
            """
        )
    )
    hidden = {"SPARK_LOCAL_IP", "PYSPARK_PYTHON"}
    done = subprocess.run(
        [sys.executable, "-P", str(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={key: value for key, value in os.environ.items() if key not in hidden}
        | {"PYTHONPATH": os.pathsep.join(site.getsitepackages())},
        cwd=tmp_path,
    )
    home = kwire.__file__
    assert done.stderr == ""
    assert done.stdout == f"7 {home}\n7 {home}\nNone\nFalse\n"
