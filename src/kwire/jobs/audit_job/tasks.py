# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of the audit: a recording, or a piece of a request log, read once.

A task writes its rows of the table ``requests`` and brings home what it saw. Tasks and
sightings pickle, and ``read_source`` runs in whatever process it is called.
"""

from __future__ import annotations

import os
from collections import deque
from datetime import tzinfo
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import framing
from ...errors import KwireError
from ...formatting import format_name
from ...messages import ApiVersionsRequest, ApiVersionsResponse, FetchRequest
from ...recording.capture_files import (
    REQUEST,
    CaptureError,
    CaptureFile,
    list_capture_files,
    read_capture_file,
)
from ...recording.request_log import (
    LoggedRequest,
    list_request_logs,
    read_request_log,
    split_request_log,
)
from ...recording.requests import Request, find_fate, requests_batch, requests_schema
from ...regular_files import open_regular
from ..tables import TableWriter
from .sightings import API_VERSIONS, MINUTE, Client, InputProblem, Sightings, split_host
from .verdicts import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PIECE_BYTES = 128 << 20
"""Larger request logs are cut into pieces of this size."""

_COLUMNS = (
    *("recording", "connection", "direction", "timestamp", "client_address"),
    *("broker_address", "api_key", "api_version", "client_id", "size"),
    *("correlation_id", "frame"),
)
_FETCH = FetchRequest.api_key
_MOST_ROWS = 20_000
_MOST_AWAITED = 1 << 12
_PARQUET = b"PAR1"


class CaptureTask(NamedTuple):
    """Reads the files of one recording, in order."""

    files: tuple[CaptureFile, ...]


class LogTask(NamedTuple):
    """Reads the lines of a request log that begin within a range of bytes."""

    path: str
    start: int
    end: int | None


class AuditTask(NamedTuple):
    """What to read, for which target, and where the requests go."""

    source: CaptureTask | LogTask
    target: str
    timezone: tzinfo
    requests: str


def find_sources(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[CaptureTask | LogTask], list[int]]:
    """Find what there is to read at some paths, and how many bytes each one has.

    A path is a capture or a request log, or a folder with some of them at any depth.
    ``FileNotFoundError`` for a path without any.
    """
    sources: list[CaptureTask | LogTask] = []
    for path in dict.fromkeys(os.fspath(path) for path in paths):
        found = list(_list_sources(path))
        if not found:
            raise FileNotFoundError(
                2, "no captures and no request logs in this folder", path
            )
        sources += found
    return sources, list(map(_measure_source, sources))


def _list_sources(path: str) -> Iterator[CaptureTask | LogTask]:
    is_remote = "://" in path
    is_folder = os.path.isdir(path)
    if is_remote or is_folder or _is_parquet(path):
        try:
            files = list_capture_files(path)
        except FileNotFoundError:
            if is_remote:
                raise
            files = []
        folders: dict[str, list[CaptureFile]] = {}
        for file in files:
            folders.setdefault(os.path.dirname(file.path), []).append(file)
        yield from (CaptureTask(tuple(each)) for each in folders.values())
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
            yield LogTask(log, start, end)


def _is_parquet(path: str) -> bool:
    with open_regular(path) as file:
        return file.read(len(_PARQUET)) == _PARQUET


def _measure_source(source: CaptureTask | LogTask) -> int:
    if isinstance(source, CaptureTask):
        return sum(map(_measure_file, (file.path for file in source.files)))
    end = _measure_file(source.path) if source.end is None else source.end
    return end - source.start


def _measure_file(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def read_source(task: AuditTask) -> Sightings:
    """Read what a task names, write its requests, and give what was seen."""
    with TableWriter(task.requests, requests_schema()) as writer:
        seen = _Gatherer(Target(task.target), writer)
        source = task.source
        if isinstance(source, CaptureTask):
            for row in _Recording(seen).read(source.files):
                seen.write(row)
        else:
            _read_log(source, task.timezone, seen)
        seen.flush()
    return seen.sightings


class _Gatherer:
    """Takes requests, writes them, and remembers what matters."""

    def __init__(self, target: Target, writer: TableWriter) -> None:
        self.sightings = Sightings()
        self._writer = writer
        self._rows: list[Request] = []

        @cache
        def is_watched(api_key: int, api_version: int) -> bool:
            return target.refuses(api_key, api_version) or bool(
                find_fate(api_key, api_version).deprecated
            )

        self._is_watched = is_watched

    def see(self, request: Request) -> None:
        """Remember a request; of one without an API that it was there."""
        client = Client(
            split_host(request.client_address),
            request.client_id,
            request.software_name,
            request.software_version,
        )
        timestamp, sightings = request.timestamp, self.sightings
        api_key, api_version = request.api_key, request.api_version
        if api_key is None or api_version is None:
            sightings.usage(client).unreadable.add(timestamp)
            return
        sightings.request(
            client, api_key, api_version, request.broker_address, timestamp
        )
        if timestamp is not None and self._is_watched(api_key, api_version):
            minute = (api_key, api_version, timestamp // MINUTE)
            sightings.minutes[minute] = sightings.minutes.get(minute, 0) + 1

    def is_broker(self, request: Request) -> None:
        """Remember that who sent a request is a broker."""
        client = Client(
            split_host(request.client_address),
            request.client_id,
            request.software_name,
            request.software_version,
        )
        self.sightings.usage(client).is_broker = True

    def write(self, request: Request) -> None:
        """Write a row of the table."""
        self._rows.append(request)
        if len(self._rows) >= _MOST_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows that wait."""
        if self._rows:
            self._writer.write(requests_batch(self._rows))
            self._rows.clear()


def _read_log(source: LogTask, timezone: tzinfo, seen: _Gatherer) -> None:
    is_empty, shown = True, format_name(source.path)
    try:
        for found in read_request_log(*source, timezone=timezone):
            is_empty = False
            if isinstance(found, LoggedRequest):
                request = found.request
                seen.see(request)
                seen.write(request)
                if found.offered:
                    highest = ((key, each.max) for key, each in found.offered.items())
                    seen.sightings.offer(request.broker_address, highest)
                if found.is_from_broker:
                    seen.is_broker(request)
            else:
                seen.sightings.problems.append(InputProblem(*found))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        seen.sightings.problems.append(InputProblem(shown, None, None, reason))
        return
    if is_empty and (source.start, source.end) == (0, None):
        reason = "no request in it: neither a capture nor a request log"
        seen.sightings.problems.append(InputProblem(shown, None, None, reason))


class _Connection:
    """What is known of one connection while it is read."""

    __slots__ = ("awaited", "fetches", "software")

    def __init__(self) -> None:
        self.software: tuple[str | None, str | None] = (None, None)
        self.fetches: set[int] = set()
        self.awaited: deque[_Row] = deque()


class _Row:
    """A request that may still get its answer."""

    __slots__ = ("is_open", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.is_open = True


class _Recording:
    """Reads frames in order; gives requests when their answers have come, or will not.

    Rows come in the order of requests, but for those that wait longer than most.
    """

    def __init__(self, seen: _Gatherer) -> None:
        self._seen = seen
        self._connections: dict[tuple[str | None, int | None], _Connection] = {}
        self._rows: list[_Row] = []
        self._answers: set[tuple[str | None, int, bytes]] = set()

    def read(self, files: Iterable[CaptureFile]) -> Iterator[Request]:
        """Read some files."""
        problems = self._seen.sightings.problems
        for file in files:
            try:
                for batch in read_capture_file(file, _COLUMNS):
                    self._read_batch(batch)
                    if len(self._rows) >= _MOST_ROWS:
                        yield from self._take_settled()
            except (CaptureError, OSError) as error:
                reason = str(error).removeprefix(f"{format_name(file.path)}: ")
                problems.append(
                    InputProblem(format_name(file.path), None, None, reason)
                )
        yield from (row.request for row in self._rows)

    def _take_settled(self) -> Iterator[Request]:
        rows, self._rows = self._rows, []
        for row in rows:
            if row.is_open:
                self._rows.append(row)
            else:
                yield row.request
        if len(self._rows) >= _MOST_ROWS // 2:
            # They wait for responses that were not recorded.
            yield from (row.request for row in self._rows)
            self._rows.clear()

    def _read_batch(self, batch: Any) -> None:
        *columns, frames = batch.columns
        times = batch.column(_COLUMNS.index("timestamp")).cast("int64").to_pylist()
        lists = [column.to_pylist() for column in columns]
        lists[_COLUMNS.index("timestamp")] = times
        for number, row in enumerate(zip(*lists, strict=True)):
            place = row[0], row[1]
            connection = self._connections.get(place)
            if connection is None:
                connection = self._connections[place] = _Connection()
            if row[2] == REQUEST:
                self._read_request(connection, row[3:], frames[number])
            else:
                self._read_response(connection, row[3:], frames[number])

    def _read_request(
        self, connection: _Connection, row: Sequence[Any], frame: Any
    ) -> None:
        time, client, broker, api_key, api_version, client_id, size, number = row
        if api_key is None and not frame.is_valid:
            # A SASL token has no header, and is not kept.
            return
        is_from_broker = False
        if api_key == API_VERSIONS:
            software = _read_software(frame.as_py())
            if any(software):
                connection.software = software
        elif api_key == _FETCH and api_version not in connection.fetches:
            connection.fetches.add(api_version)
            is_from_broker = _is_replica(frame.as_py())
        name, deprecated, removed_in = (
            (None, None, None)
            if api_key is None or api_version is None
            else find_fate(api_key, api_version)
        )
        request = Request(
            timestamp=time,
            client_address=client,
            broker_address=broker,
            api_key=api_key,
            api=name,
            api_version=api_version,
            client_id=client_id,
            software_name=connection.software[0],
            software_version=connection.software[1],
            size=size,
            correlation_id=number,
            deprecated=deprecated,
            removed_in=removed_in,
        )
        self._seen.see(request)
        if is_from_broker:
            self._seen.is_broker(request)
        found = _Row(request)
        self._rows.append(found)
        connection.awaited.append(found)
        if len(connection.awaited) > _MOST_AWAITED:
            connection.awaited.popleft().is_open = False

    def _read_response(
        self, connection: _Connection, row: Sequence[Any], frame: Any
    ) -> None:
        time, _, broker, api_key, api_version, _, _, number = row
        awaited = connection.awaited
        if any(each.request.correlation_id == number for each in awaited):
            # Answers come in order: what was asked before will not be answered.
            while (found := awaited.popleft()).request.correlation_id != number:
                found.is_open = False
            found.is_open = False
            asked = found.request.timestamp
            if time is not None and asked is not None:
                found.request = found.request._replace(latency_ms=(time - asked) / 1000)
        if api_key == API_VERSIONS and frame.is_valid:
            answer = broker, api_version, frame.as_py()[4:]
            if answer not in self._answers:
                # A broker says the same to everybody, but for the correlation id.
                self._answers.add(answer)
                highest = _read_offered(frame.as_py(), api_version)
                self._seen.sightings.offer(broker, highest)


def _read_software(frame: bytes | None) -> tuple[str | None, str | None]:
    try:
        request = framing.decode_request(frame or b"", compat="java")[1]
    except KwireError:
        return None, None
    assert isinstance(request, ApiVersionsRequest)
    name, version = request.client_software_name, request.client_software_version
    return name or None, version or None


def _is_replica(frame: bytes | None) -> bool:
    try:
        request = framing.decode_request(frame or b"", compat="java")[1]
    except KwireError:
        return False
    assert isinstance(request, FetchRequest)
    return request.replica_id >= 0 or request.replica_state.replica_id >= 0


def _read_offered(frame: bytes, api_version: int) -> list[tuple[int, int]]:
    try:
        answer = framing.decode_response(
            ApiVersionsResponse, frame, api_version, compat="java"
        )[1]
    except KwireError:
        # One in a version that the broker does not know is answered in version 0,
        # with an error; the client asks again.
        return []
    return [(each.api_key, each.max_version) for each in answer.api_keys]
