# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a recording as requests, each with the time that its response took.

Clients send their software once for each connection, and brokers what they offer: both
are read from the frames of ApiVersions. A request is a row when its response has come,
or will not come any more.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import framing
from ...errors import KwireError
from ...formatting import format_name
from ...messages import ApiVersionsRequest, ApiVersionsResponse, FetchRequest
from ...recording.capture_files import REQUEST, CaptureError, read_capture_file
from ...recording.requests import Request, find_fate
from .sightings import API_VERSIONS, InputProblem, Sightings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...recording.capture_files import CaptureFile

_FETCH = FetchRequest.api_key
_MOST_ROWS = 20_000
_MOST_AWAITED = 1 << 12


class _Frame(NamedTuple):
    """A row of a capture: the columns that are read; ``frame`` is Arrow's value."""

    recording: str | None
    connection: int | None
    direction: str
    timestamp: int | None
    client_address: str | None
    broker_address: str | None
    api_key: int | None
    api_version: int | None
    client_id: str | None
    size: int | None
    correlation_id: int | None
    frame: Any


class _Row:
    """A request that may still get its response."""

    __slots__ = ("is_from_broker", "is_open", "request")

    def __init__(self, request: Request, is_from_broker: bool) -> None:
        self.request = request
        self.is_from_broker = is_from_broker
        self.is_open = True


class _Connection:
    """What is known of one connection while it is read."""

    __slots__ = ("awaited", "fetches", "software")

    def __init__(self) -> None:
        self.software: tuple[str | None, str | None] = (None, None)
        self.fetches: set[int | None] = set()
        self.awaited: deque[_Row] = deque()


def read_recording(
    files: Iterable[CaptureFile], sightings: Sightings
) -> Iterator[tuple[Request, bool]]:
    """Give the requests of a recording, and whether a broker sent them.

    They come in their order, but for those that wait longer than most. What brokers
    offer and files that cannot be read are noted in ``sightings``.
    """
    reader = _RecordingReader(sightings)
    for row in reader.read(files):
        yield row.request, row.is_from_broker


class _RecordingReader:
    """Reads frames in order, and keeps the requests that wait for responses."""

    def __init__(self, sightings: Sightings) -> None:
        self._sightings = sightings
        self._connections: dict[tuple[str | None, int | None], _Connection] = {}
        self._rows: list[_Row] = []
        self._offers: set[tuple[str | None, int | None, bytes]] = set()

    def read(self, files: Iterable[CaptureFile]) -> Iterator[_Row]:
        for file in files:
            try:
                for batch in read_capture_file(file, _Frame._fields):
                    self._read_batch(batch)
                    if len(self._rows) >= _MOST_ROWS:
                        yield from self._take_answered()
            except (CaptureError, OSError) as error:
                name = format_name(file.path)
                reason = str(error).removeprefix(f"{name}: ")
                self._sightings.problems.append(InputProblem(name, None, None, reason))
        yield from self._rows

    def _take_answered(self) -> Iterator[_Row]:
        rows, self._rows = self._rows, []
        for row in rows:
            if row.is_open:
                self._rows.append(row)
            else:
                yield row
        if len(self._rows) >= _MOST_ROWS // 2:
            # They wait for responses that were not recorded.
            yield from self._rows
            self._rows.clear()

    def _read_batch(self, batch: Any) -> None:
        *columns, frames = batch.columns
        number = _Frame._fields.index("timestamp")
        columns[number] = columns[number].cast("int64")
        lists = (column.to_pylist() for column in columns)
        for frame in map(_Frame, *lists, frames):
            key = frame.recording, frame.connection
            connection = self._connections.get(key)
            if connection is None:
                connection = self._connections[key] = _Connection()
            if frame.direction == REQUEST:
                self._read_request(connection, frame)
            else:
                self._read_response(connection, frame)

    def _read_request(self, connection: _Connection, row: _Frame) -> None:
        api_key, api_version = row.api_key, row.api_version
        if api_key is None and not row.frame.is_valid:
            # A SASL token has no header, and is not kept.
            return
        is_from_broker = False
        if api_key == API_VERSIONS:
            software = _read_software(row.frame.as_py())
            if any(software):
                connection.software = software
        elif api_key == _FETCH and api_version not in connection.fetches:
            connection.fetches.add(api_version)
            is_from_broker = _is_replica(row.frame.as_py())
        name, deprecated, removed_in = (
            (None, None, None)
            if api_key is None or api_version is None
            else find_fate(api_key, api_version)
        )
        request = Request(
            timestamp=row.timestamp,
            client_address=row.client_address,
            broker_address=row.broker_address,
            api_key=api_key,
            api=name,
            api_version=api_version,
            client_id=row.client_id,
            software_name=connection.software[0],
            software_version=connection.software[1],
            size=row.size,
            correlation_id=row.correlation_id,
            deprecated=deprecated,
            removed_in=removed_in,
        )
        made = _Row(request, is_from_broker)
        self._rows.append(made)
        connection.awaited.append(made)
        if len(connection.awaited) > _MOST_AWAITED:
            connection.awaited.popleft().is_open = False

    def _read_response(self, connection: _Connection, row: _Frame) -> None:
        awaited, number = connection.awaited, row.correlation_id
        if any(each.request.correlation_id == number for each in awaited):
            # Responses come in order: a request before this one will get none.
            while (found := awaited.popleft()).request.correlation_id != number:
                found.is_open = False
            found.is_open = False
            sent = found.request.timestamp
            if row.timestamp is not None and sent is not None:
                latency = (row.timestamp - sent) / 1000
                found.request = found.request._replace(latency_ms=latency)
        if row.api_key == API_VERSIONS and row.frame.is_valid:
            frame = row.frame.as_py()
            offer = row.broker_address, row.api_version, frame[4:]
            if offer not in self._offers:
                # A broker offers the same to all, but for the correlation id.
                self._offers.add(offer)
                highest = _read_offered(frame, row.api_version)
                self._sightings.offer(row.broker_address, highest)


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


def _read_offered(frame: bytes, api_version: int | None) -> list[tuple[int, int]]:
    if api_version is None:
        return []
    try:
        answer = framing.decode_response(
            ApiVersionsResponse, frame, api_version, compat="java"
        )[1]
    except KwireError:
        # One in a version that the broker does not know is answered in version 0,
        # with an error; the client asks again.
        return []
    return [(each.api_key, each.max_version) for each in answer.api_keys]
