# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Audit tasks: read a recording, or a request log section, exactly once.

A task writes its ``requests`` rows, and returns its sightings. Recordings are decoded
in ``captures``. Tasks and sightings can be pickled, because ``read_source`` may run in
another process.
"""

from __future__ import annotations

import os
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

from ..._files import open_regular
from ..._text import format_name
from ...recording.capture_files import CaptureFile, list_capture_files
from ...recording.request_log import (
    BadLine,
    list_request_logs,
    read_request_log,
    split_request_log,
)
from ...recording.requests import requests_batch, requests_schema
from ..tables import open_rows
from .captures import read_recording
from .sightings import InputProblem, Sightings
from .verdicts import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...recording.request_log import LoggedRequest
    from .captures import CapturedRequest

PIECE_BYTES = 128 << 20
"""Maximum size of a request log section in bytes. Larger request logs are split into
several sections, so that Spark can read them in parallel.
"""

_PARQUET = b"PAR1"


class CaptureTask(NamedTuple):
    """Task that reads the capture files of one recording, in order."""

    files: tuple[CaptureFile, ...]


class LogTask(NamedTuple):
    """Task that reads a section of a request log.

    It reads the lines that begin at byte ``start`` or later, and before ``end``. If
    ``end`` is None, the section extends to the end of the file.
    """

    path: str
    start: int
    end: int | None


class AuditTask(NamedTuple):
    """Input for an audit task.

    * ``source``: files to read.
    * ``target``: target release name.
    * ``timezone``: time zone for request log timestamps.
    * ``requests``: Parquet file to create.
    """

    source: CaptureTask | LogTask
    target: str
    timezone: tzinfo
    requests: str


def find_sources(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[CaptureTask | LogTask], list[int]]:
    """Find captures and request logs, and return them with their sizes in bytes.

    A path is a capture, a request log, or a directory that contains such files at any
    depth. Raises ``FileNotFoundError`` if a path contains neither.
    """
    sources: list[CaptureTask | LogTask] = []
    sizes: list[int] = []
    for path in dict.fromkeys(os.fspath(path) for path in paths):
        sized_sources = list(_list_sources(path))
        if not sized_sources:
            raise FileNotFoundError(
                2, "no captures and no request logs in this directory", path
            )
        sources += (source for source, _ in sized_sources)
        sizes += (size for _, size in sized_sources)
    return sources, sizes


def _list_sources(path: str) -> Iterator[tuple[CaptureTask | LogTask, int]]:
    is_remote = "://" in path
    is_folder = os.path.isdir(path)
    if is_remote or is_folder or _is_parquet(path):
        try:
            files = list_capture_files(path)
        except FileNotFoundError:
            if is_remote:
                raise
            files = []
        files_by_folder: dict[str, list[CaptureFile]] = {}
        for file in files:
            files_by_folder.setdefault(os.path.dirname(file.path), []).append(file)
        for capture_files in files_by_folder.values():
            size = sum(_measure_file(file.path) for file in capture_files)
            yield CaptureTask(tuple(capture_files)), size
        if not is_folder:
            return
    try:
        logs = list_request_logs(path)
    except FileNotFoundError:
        if not is_folder:
            raise
        logs = []
    for log in logs:
        for start, end in split_request_log(log, PIECE_BYTES):
            size = (_measure_file(log) if end is None else end) - start
            yield LogTask(log, start, end), size


def _is_parquet(path: str) -> bool:
    with open_regular(path) as file:
        return file.read(len(_PARQUET)) == _PARQUET


def _measure_file(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def read_source(task: AuditTask) -> Sightings:
    """Read the input of a task, and return its sightings.

    The requests are written to the Parquet file ``task.requests``.
    """
    sightings = Sightings()
    target = Target(task.target)
    requests: Iterator[CapturedRequest | LoggedRequest]
    if isinstance(task.source, CaptureTask):
        requests = read_recording(task.source.files, sightings)
    else:
        requests = _read_log(task.source, task.timezone, sightings)
    with open_rows(task.requests, requests_schema(), requests_batch) as writer:
        for entry in requests:
            writer.write(entry.request)
            sightings.add(entry.request, entry.is_from_broker, target.phases_out)
    return sightings


def _read_log(
    source: LogTask, timezone: tzinfo, sightings: Sightings
) -> Iterator[LoggedRequest]:
    """Read the requests of a log. Unreadable lines are added to ``sightings``."""
    is_empty, path_name = True, format_name(source.path)
    try:
        for entry in read_request_log(*source, timezone=timezone):
            is_empty = False
            if isinstance(entry, BadLine):
                sightings.problems.append(InputProblem(*entry))
                continue
            if entry.offered:
                highest = (
                    (key, version_range.max)
                    for key, version_range in entry.offered.items()
                )
                sightings.offer(entry.request.broker_address, highest)
            yield entry
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sightings.problems.append(InputProblem(path_name, None, None, reason))
        return
    if is_empty and (source.start, source.end) == (0, None):
        reason = "no request in it: neither a capture nor a request log"
        sightings.problems.append(InputProblem(path_name, None, None, reason))
