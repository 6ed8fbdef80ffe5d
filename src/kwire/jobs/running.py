# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a job's tasks, either sequentially in this process or on Spark.

A task is a small picklable value. Its function may be called repeatedly, because Spark
retries failed tasks. On Spark, every task is a separate partition. Exceptions of tasks
are raised unchanged in the calling process. This module is independent of the jobs that
use it.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from ..errors import KwireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    Part = TypeVar("Part")
    Task = TypeVar("Task")
    Summary = TypeVar("Summary")
    Progress = Callable[[int], object]

SPARK_FROM_BYTES = 1 << 30
"""Minimum input size in bytes from which a job uses Spark automatically, if Spark is
installed.
"""

_MIN_JAVA_VERSION = 17
_POLL_INTERVAL_S = 0.2
_MAX_LOG_CHARACTERS = 400
_MAX_ERROR_CHARACTERS = 300
_PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
_ERROR_MARKERS = "kwire-task-failed:", ":kwire-task-failed"


class JobError(KwireError):
    """A job cannot run or continue: its input is unsuitable, or Spark has failed."""


def choose_spark(asked: str | None, total_bytes: int) -> str | None:
    """Return the requested Spark master, or a local master if the input is large.

    Returns None to use this process: if the input is small, or pyspark or Java is not
    available.
    """
    if asked is not None or total_bytes < SPARK_FROM_BYTES:
        return asked
    has_pyspark = importlib.util.find_spec("pyspark") is not None
    return "local[*]" if has_pyspark and java_problem() is None else None


@contextmanager
def open_runner(
    spark: Any, total_bytes: int, progress: Progress | None
) -> Iterator[Callable[..., list[Any]]]:
    """Open a Spark session if required, and return a function that runs tasks.

    * ``spark``: Spark master, ``SparkSession``, or None to choose automatically.
    * ``total_bytes``: input size, for the automatic choice.
    * ``progress``: see ``run_tasks``.

    The function is ``run_tasks`` with bound ``spark`` and ``progress`` arguments, so
    that all passes of a job share a single Spark session. The session is stopped at the
    end of the block, unless it existed before. Raises ``JobError`` if Spark does not
    start, and ``ImportError`` if a master is specified without PySpark.
    """
    if spark is None:
        spark = choose_spark(None, total_bytes)
    with (
        open_session(spark) if isinstance(spark, str) else nullcontext(spark) as session
    ):
        yield partial(run_tasks, spark=session, progress=progress)


def pack_tasks(sized: Iterable[tuple[int, Part]], most: int) -> list[tuple[Part, ...]]:
    """Combine (size, part) pairs, in order, to packs with the maximum size ``most``.

    A larger part becomes a separate pack. The result contains at least one pack, so
    that its task creates the tables even if they are empty.
    """
    packs: list[list[Part]] = [[]]
    filled = 0
    for size, part in sized:
        if packs[-1] and filled + size > most:
            packs.append([])
            filled = 0
        packs[-1].append(part)
        filled += size
    return [tuple(pack) for pack in packs]


def run_tasks(
    function: Callable[[Task], Summary],
    tasks: Sequence[Task],
    *,
    sizes: Sequence[int],
    spark: Any = None,
    progress: Progress | None = None,
) -> list[Summary]:
    """Run ``function`` for every task, and return the results in task order.

    * ``sizes``: sizes of the tasks in bytes, for ``progress``.
    * ``spark``: None for this process, a master such as ``"local[2]"``, or a
      ``SparkSession``, which remains open.
    * ``progress``: callback that receives the size of every completed task. On Spark it
      is called from another thread, and receives the sum of several tasks.

    Raises the exception of a failed task. On Spark, raises ``JobError`` if Spark itself
    fails, or if the exception cannot be pickled.
    """
    if not tasks:
        return []
    if spark is None:
        summaries = []
        for task, size in zip(tasks, sizes, strict=True):
            summaries.append(function(task))
            if progress is not None:
                progress(size)
        return summaries
    if isinstance(spark, str):
        with open_session(spark) as session:
            return _run_on_spark(function, tasks, sizes, session, progress)
    return _run_on_spark(function, tasks, sizes, spark, progress)


@contextmanager
def open_session(master: str) -> Iterator[Any]:
    """Open a Spark session without progress output and web interface.

    A local session only listens on the loopback interface. The session is stopped at
    the end of the block. If this process already has an active session, it is used
    instead, and remains open.

    Raises ``ImportError`` without PySpark, and ``JobError`` if there is no suitable
    Java or if Spark does not start.
    """
    _import_pyspark()
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        yield session
        return
    if (problem := java_problem()) is not None:
        raise JobError(problem)
    with tempfile.TemporaryDirectory(
        prefix="kwire-spark-", ignore_cleanup_errors=True
    ) as folder:
        session = _start_spark(master, Path(folder))
        try:
            yield session
        finally:
            session.stop()


def java_problem() -> str | None:
    """Return one line that describes why Java cannot run Spark, or None if it can."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    advice = f"install one (Debian: openjdk-{_MIN_JAVA_VERSION}-jre-headless)"
    if not shutil.which(java):
        searched = f"in JAVA_HOME, {home}" if home else "on the PATH"
        return (
            f"Spark requires Java {_MIN_JAVA_VERSION} or newer (none {searched}):"
            f" {advice}"
        )
    version_output = subprocess.run(
        [java, "-version"], capture_output=True, text=True, check=False
    ).stderr
    version_match = re.search(r'version "(\d+)', version_output)
    if version_match is None or int(version_match[1]) < _MIN_JAVA_VERSION:
        version = "another" if version_match is None else version_match[1]
        return (
            f"Spark requires Java {_MIN_JAVA_VERSION} or newer (got {version}):"
            f" {advice}"
        )
    return None


def _import_pyspark() -> None:
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"Spark requires {error.name or 'pyspark'}: pip install 'pyspark>=4'",
            name=error.name,
        ) from None


def _start_spark(master: str, folder: Path) -> Any:
    """Start Spark with the specified master, and return the session.

    The output of its Java process is written to a log file in ``folder``. Raises
    ``JobError`` if the process fails, with the first exception in this output.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    is_local = master.startswith("local")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
    }
    environment = {}
    if is_local:
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings["spark.driver.host"] = "127.0.0.1"
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        environment["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("kwire")
    conf.setAll(list(settings.items()))
    log = folder / "spark.log"
    try:
        with _override_environment(environment), log.open("wb") as file:
            gateway = SparkContext._gateway or launch_gateway(
                conf, {"stdout": file, "stderr": file}
            )
            SparkContext(conf=conf, gateway=gateway)
    except (PySparkException, OSError, ValueError) as error:
        text = log.read_text(errors="replace")
        # The first exception is the cause. The following stack trace is not helpful.
        cause = re.search(r"(?:Exception|Error): (.+)", text)
        failure_text = (
            cause[1] if cause else " ".join(text.split())[-_MAX_LOG_CHARACTERS:]
        )
        raise JobError(
            f"Spark did not start: {_summarize_error(error)} {failure_text}"
        ) from error
    return SparkSession.builder.getOrCreate()


@contextmanager
def _override_environment(values: dict[str, str]) -> Iterator[None]:
    previous_values = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in previous_values.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _run_on_spark(
    function: Callable[[Task], Summary],
    tasks: Sequence[Task],
    sizes: Sequence[int],
    session: Any,
    progress: Progress | None,
) -> list[Summary]:
    _import_pyspark()
    from py4j.protocol import Py4JError
    from pyspark import cloudpickle
    from pyspark.errors import PySparkException

    processed_bytes = session.sparkContext.accumulator(0)
    worker = _make_worker(
        cloudpickle.dumps(function),
        [cloudpickle.dumps(task) for task in tasks],
        list(sizes),
        processed_bytes,
    )
    count = len(tasks)
    results = session.range(0, count, 1, count).mapInArrow(
        worker, "task bigint, summary binary"
    )
    try:
        with _report_progress(processed_bytes, progress):
            rows = results.collect()
    except (PySparkException, Py4JError) as error:
        raise _find_cause(error, session) from None
    summaries = {row.task: bytes(row.summary) for row in rows}
    return [pickle.loads(summaries[number]) for number in range(count)]


def _make_worker(
    function: bytes, tasks: list[bytes], sizes: list[int], processed_bytes: Any
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Create the function that runs in Spark's Python workers.

    kwire may not be installed in the workers. The function is pickled by value, so it
    must not refer to globals of this module.
    """
    home, (begin_mark, end_mark) = _PACKAGE_PARENT, _ERROR_MARKERS

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import base64
        import pickle
        import sys
        import traceback

        import pyarrow
        from pyspark import cloudpickle

        try:
            import kwire  # noqa: F401
        except ImportError:
            # Workers on the same machine can import kwire from the driver's location.
            sys.path.append(home)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    summary = pickle.loads(function)(pickle.loads(tasks[number]))
                    data = cloudpickle.dumps(summary)
                except Exception as error:
                    text = f"{type(error).__name__}: {error}"
                    error.add_note(traceback.format_exc())
                    try:
                        pickled = cloudpickle.dumps(error)
                        pickle.loads(pickled)
                    except Exception:
                        pickled = b""
                    encoded_error = base64.b64encode(
                        pickle.dumps((text, pickled))
                    ).decode()
                    raise RuntimeError(
                        f"{text} {begin_mark}{encoded_error}{end_mark}"
                    ) from None
                yield pyarrow.RecordBatch.from_pydict(
                    {"task": [number], "summary": [data]}
                )
                processed_bytes.add(sizes[number])

    return work


@contextmanager
def _report_progress(ended: Any, progress: Progress | None) -> Iterator[None]:
    """Report progress while Spark is running, and once more when it has finished."""
    if progress is None:
        yield
        return
    stop = threading.Event()
    reported = 0

    def report() -> None:
        nonlocal reported
        now = ended.value
        if now > reported:
            progress(now - reported)
        reported = now

    def watch() -> None:
        while not stop.wait(_POLL_INTERVAL_S):
            report()

    watcher = threading.Thread(target=watch, name="kwire-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        report()


def _find_cause(error: Exception, session: Any) -> Exception:
    """Find the exception of a task within the text of a Spark error."""
    text = str(error)
    marker_match = re.search(
        "(.*?)".join(map(re.escape, _ERROR_MARKERS)), text, re.DOTALL
    )
    if marker_match is None:
        from ..spark.shipping.worker_python import find_worker_problem

        # If a worker process has crashed, its imports were successful, so there is no
        # need to check them.
        has_died = "exited unexpectedly" in text
        problem = None if has_died else find_worker_problem(session)
        return JobError(problem or f"Spark failed: {_summarize_error(error)}")
    summary, pickled = pickle.loads(base64.b64decode(marker_match[1]))
    if "No module named 'kwire" in summary:
        return JobError(
            "kwire is missing on Spark's workers; ship it with kwire spark-bundle"
        )
    if not pickled:
        return JobError(summary)
    cause: Exception = pickle.loads(pickled)
    return cause


def _summarize_error(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    # Spark's summary in the middle of the text contains the last failure reason.
    reason = text.rpartition("most recent failure:")[2].strip()
    # In a Python traceback, the exception follows after the indented frames.
    raised = re.search(r"^Traceback \(.*\n(?: .*\n)+(.+)", reason, re.MULTILINE)
    return (raised[1] if raised else reason.splitlines()[0])[:_MAX_ERROR_CHARACTERS]
