# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a recording as a sequence of requests with response latencies.

Clients send their software name, and brokers send their supported versions, only once
per connection, in ApiVersions frames. A request is complete when its response has been
read, or when a response is no longer possible.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..._text import format_name
from ...errors import KwireError
from ...messages import ApiVersionsRequest, ApiVersionsResponse, FetchRequest, framing
from ...recording.capture_files import REQUEST, CaptureError, read_capture_file
from ...recording.pairing import AwaitedRequests
from ...recording.requests import Request, make_request
from .sightings import API_VERSIONS, InputProblem, Sightings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...recording.capture_files import CaptureFile

    Message = TypeVar("Message")

_MAX_ROWS = 20_000
_MAX_AWAITED = 1 << 12


class _Frame(NamedTuple):
    """Row of a capture, limited to the required columns.

    * ``timestamp``: microseconds since 1970.
    * ``frame``: Arrow value, which is converted to bytes only if it has to be decoded.
    """

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


@dataclass(slots=True)
class CapturedRequest:
    """Recorded request.

    * ``is_from_broker``: True if a follower broker has sent the request to replicate
      partitions.
    * ``is_open``: True if the response to the request may still follow.
    """

    request: Request
    is_from_broker: bool
    is_open: bool = True


class _Connection:
    """State of one connection while its frames are read.

    * ``software``: client software name and version, if the client has sent them.
    * ``fetches``: Fetch versions that have already been checked for a replica id.
    * ``awaited``: requests without a response.
    """

    __slots__ = ("awaited", "fetches", "software")

    def __init__(self) -> None:
        self.software: tuple[str | None, str | None] = (None, None)
        self.fetches: set[int | None] = set()
        self.awaited = AwaitedRequests[CapturedRequest](_MAX_AWAITED)


def read_recording(
    files: Iterable[CaptureFile], sightings: Sightings
) -> Iterator[CapturedRequest]:
    """Find the requests in a recording.

    Requests are returned in recorded order, but requests that wait unusually long for a
    response are delayed. Versions that brokers offer, and files that cannot be read,
    are added to ``sightings``.
    """
    reader = _RecordingReader(sightings)
    for file in files:
        try:
            for batch in read_capture_file(file, _Frame._fields):
                reader.read(batch)
                if len(reader.rows) >= _MAX_ROWS:
                    yield from reader.take_complete()
        except (CaptureError, OSError) as error:
            name = format_name(file.path)
            reason = str(error).removeprefix(f"{name}: ")
            sightings.problems.append(InputProblem(name, None, None, reason))
    yield from reader.rows


class _RecordingReader:
    """Converts frames to requests, and collects the requests in ``rows``."""

    def __init__(self, sightings: Sightings) -> None:
        self.rows: list[CapturedRequest] = []
        self._sightings = sightings
        self._connections: defaultdict[Any, _Connection] = defaultdict(_Connection)
        self._known_offers: set[tuple[str | None, int | None, bytes]] = set()

    def take_complete(self) -> list[CapturedRequest]:
        """Remove and return the requests that need no further frames.

        If at least ``_MAX_ROWS // 2`` requests still wait for a response, return these
        as well, because their responses were probably not recorded.
        """
        complete = [captured for captured in self.rows if not captured.is_open]
        self.rows = [captured for captured in self.rows if captured.is_open]
        if len(self.rows) >= _MAX_ROWS // 2:
            complete += self.rows
            self.rows = []
        return complete

    def read(self, batch: Any) -> None:
        """Process an Arrow batch with captured frames, in recorded order."""
        *columns, frames = batch.columns
        timestamp_index = _Frame._fields.index("timestamp")
        columns[timestamp_index] = columns[timestamp_index].cast("int64")
        column_values = (column.to_pylist() for column in columns)
        for frame in map(_Frame, *column_values, frames):
            connection = self._connections[frame.recording, frame.connection]
            if frame.direction == REQUEST:
                self._read_request(connection, frame)
            else:
                self._read_response(connection, frame)

    def _read_request(self, connection: _Connection, frame: _Frame) -> None:
        api_key, api_version = frame.api_key, frame.api_version
        if api_key is None and not frame.frame.is_valid:
            # SASL tokens on the wire have no request header, and their content is never
            # recorded.
            return
        is_from_broker = False
        if api_key == API_VERSIONS:
            versions_request = _decode_request(frame, ApiVersionsRequest)
            if versions_request and (
                versions_request.client_software_name
                or versions_request.client_software_version
            ):
                connection.software = (
                    versions_request.client_software_name or None,
                    versions_request.client_software_version or None,
                )
        elif api_key == FetchRequest.api_key and api_version not in connection.fetches:
            connection.fetches.add(api_version)
            fetch_request = _decode_request(frame, FetchRequest)
            is_from_broker = fetch_request is not None and (
                fetch_request.replica_id >= 0
                or fetch_request.replica_state.replica_id >= 0
            )
        request = make_request(
            api_key,
            api_version,
            timestamp=frame.timestamp,
            client_address=frame.client_address,
            broker_address=frame.broker_address,
            client_id=frame.client_id,
            software_name=connection.software[0],
            software_version=connection.software[1],
            size=frame.size,
            correlation_id=frame.correlation_id,
        )
        row = CapturedRequest(request, is_from_broker)
        self.rows.append(row)
        for abandoned in connection.awaited.add(frame.correlation_id, api_key, row):
            abandoned.is_open = False

    def _read_response(self, connection: _Connection, frame: _Frame) -> None:
        answered = connection.awaited.take(frame.correlation_id)
        for captured in answered:
            captured.is_open = False
        if answered:
            sent_timestamp = answered[-1].request.timestamp
            if frame.timestamp is not None and sent_timestamp is not None:
                latency_ms = (frame.timestamp - sent_timestamp) / 1000
                answered[-1].request = answered[-1].request._replace(
                    latency_ms=latency_ms
                )
        if frame.api_key == API_VERSIONS and frame.frame.is_valid:
            response_bytes = frame.frame.as_py()
            offer = frame.broker_address, frame.api_version, response_bytes[4:]
            if offer not in self._known_offers:
                # A broker offers the same versions to all clients, so decode every
                # distinct response only once. The first four bytes are the correlation
                # id.
                self._known_offers.add(offer)
                highest = _read_offered(response_bytes, frame.api_version)
                self._sightings.offer(frame.broker_address, highest)


def _decode_request(frame: _Frame, cls: type[Message]) -> Message | None:
    """Decode a request.

    Returns None if the frame cannot be decoded, or is not a request of the class
    ``cls``.
    """
    try:
        request = framing.decode_request(frame.frame.as_py() or b"", compat="java")[1]
    except KwireError:
        return None
    # In captures from other programs, the columns can contradict the frame.
    return request if isinstance(request, cls) else None


def _read_offered(frame: bytes, api_version: int | None) -> list[tuple[int, int]]:
    if api_version is None:
        return []
    try:
        response = framing.decode_response(
            ApiVersionsResponse, frame, api_version, compat="java"
        )[1]
    except KwireError:
        # If a broker does not support the request's version, it responds with version 0
        # and an error. The client then repeats the request with another version.
        return []
    return [(api.api_key, api.max_version) for api in response.api_keys]
