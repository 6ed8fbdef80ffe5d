# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Request logs of brokers: the lines of ``kafka.request.logger``, one request each.

A broker of 2.8 or newer writes a request as JSON (KIP-673) when it has answered it:

    [2026-11-21 04:08:39,466] DEBUG Completed request:{"requestHeader": ...} (...)

What comes before and after the JSON is the layout's and may be anything; the time is
read from there. Lines are read as they come, of plain files and of gzip; a line that
cannot be read is given as such, with its number, and the next one is read. What a
broker passed on to its controller is in the logs of both, and counts in its own.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .._files import open_regular
from .._text import format_name
from ..schema import releases
from ..schema.versions import VersionRange
from .requests import Request, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = b"Completed request:"
_TEXT_MARK = _MARK.decode()
_BEFORE = b"received request:"
_KEYS = (b'"isForwarded"', b'"requestHeader"', b'"totalTimeMs"')
_OLD_FORM = "RequestHeader("
_GZIP = b"\x1f\x8b"

_LINE_BYTES = 64 << 20
"""A line is read as a whole up to here; brokers write no longer ones by far."""

_SNIFFED = 256 << 10
_SHOWN = 200
_BLOCK = 1 << 20

_FETCH, _API_VERSIONS = releases.key_of("Fetch"), releases.key_of("ApiVersions")
_INT16, _INT32 = 1 << 15, 1 << 31

_time = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?"
)
_connection = re.compile(r"(.+:\d+)-(.+:\d+)-\d+(?:-\d+)?")
_decode = json.JSONDecoder().raw_decode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class LoggedRequest(NamedTuple):
    """A line that was read: its request, and what else it says.

    ``offered`` are the versions that the broker answered to ApiVersions with, by API
    key; None for other requests and errors. ``is_from_broker`` is set for the fetches
    of replicas.
    """

    request: Request
    offered: dict[int, VersionRange] | None
    is_from_broker: bool


class BadLine(NamedTuple):
    """A line that was meant to be a request and cannot be read.

    ``line`` counts from 1, ``position`` is its first byte, in what is in a gzip file;
    ``text`` is how it begins.
    """

    path: str
    line: int
    position: int
    reason: str
    text: str


def is_request_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a request log does; some other lines do no harm."""
    try:
        with _open(path) as file:
            head = file.read(_SNIFFED)
    except (OSError, EOFError, zlib.error):
        return False
    return _MARK in head or all(key in head for key in _KEYS)


def list_request_logs(path: str | os.PathLike[str]) -> list[str]:
    """List the request logs at a path: that file, or those in a folder, at any depth.

    In a folder files count that look like one, whatever their names; hidden ones do
    not. ``FileNotFoundError`` if there are none.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        os.stat(name)
        return [name]
    found: list[str] = []
    for folder, below, files in os.walk(name):
        below[:] = sorted(each for each in below if not each.startswith("."))
        paths = (os.path.join(folder, each) for each in sorted(files) if each[0] != ".")
        found += filter(is_request_log, paths)
    if not found:
        raise FileNotFoundError(2, "no request logs in this folder", name)
    return found


def split_request_log(
    path: str | os.PathLike[str], size: int
) -> list[tuple[int, int | None]]:
    """Cut a file into ranges of about ``size`` bytes, for ``read_request_log``.

    Together they give each line once. A gzip file stays whole.
    """
    with open_regular(path) as file:
        if file.read(len(_GZIP)) == _GZIP:
            return [(0, None)]
    whole = os.path.getsize(path)
    starts = range(0, max(1, whole - size // 2), size)
    return [(start, start + size) for start in starts[:-1]] + [(starts[-1], None)]


def read_request_log(
    path: str | os.PathLike[str],
    start: int = 0,
    end: int | None = None,
    *,
    timezone: tzinfo = UTC,
) -> Iterator[LoggedRequest | BadLine]:
    """Read the lines of a file that begin within a range of bytes.

    Lines that were never meant to be requests are passed over. ``timezone`` is that of
    times which do not say theirs, as log4j's do not. ``OSError`` if the file cannot be
    opened; a gzip file that is cut short ends with a ``BadLine``.
    """
    name, lines = format_name(path), 0
    # Lines before the range are counted when the first one has to be numbered.
    before = None if start else 0
    with _open(path) as file:
        try:
            for position, line in _lines(file, start, end):
                lines += 1
                found = _read_line(line, timezone)
                if isinstance(found, LoggedRequest):
                    yield found
                elif found:
                    if before is None:
                        before = _count_line_ends(path, position) + 1 - lines
                    number = before + lines
                    yield BadLine(name, number, position, found, _cut_line(line))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = f"the gzip file is damaged or incomplete ({error}); copy it again"
            yield BadLine(name, lines + 1, file.tell(), reason, "")


def _count_line_ends(path: str | os.PathLike[str], end: int) -> int:
    found = 0
    with open_regular(path) as file:
        while data := file.read(min(end - file.tell(), _BLOCK)):
            found += data.count(b"\n")
    return found


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, and decompress what gzip has written."""
    with open_regular(path) as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if is_gzip:
            with gzip.GzipFile(fileobj=file) as unzipped:
                yield unzipped  # type: ignore[misc]
        else:
            yield file


def _lines(file: BinaryIO, start: int, end: int | None) -> Iterator[tuple[int, bytes]]:
    if start:
        # The line that the range begins in belongs to the range before.
        file.seek(start - 1)
        _skip_line(file)
    position = file.tell()
    while end is None or position < end:
        line = file.readline(_LINE_BYTES)
        if not line:
            return
        yield position, line
        if len(line) == _LINE_BYTES and not line.endswith(b"\n"):
            _skip_line(file)
            position = file.tell()
        else:
            position += len(line)


def _skip_line(file: BinaryIO) -> None:
    while (part := file.readline(_BLOCK)) and not part.endswith(b"\n"):
        pass


def _read_line(line: bytes, timezone: tzinfo) -> LoggedRequest | str:
    """Read a line; give the reason if it cannot be, "" if it was never meant to be."""
    mark = line.find(_MARK)
    if mark < 0 and not any(key in line for key in _KEYS):
        return ""
    begin = mark + len(_MARK) if mark >= 0 else line.find(b"{")
    if mark < 0 and _BEFORE in line[: max(begin, 0)]:
        # Brokers that log at TRACE write a line when a request comes in, too.
        return ""
    if len(line) == _LINE_BYTES and not line.endswith(b"\n"):
        return f"the line is longer than {_LINE_BYTES >> 20} MiB"
    if mark >= 0 and line.lstrip().startswith(b"{"):
        prefix, text = _unwrap(line)
    else:
        prefix = line[: max(begin, 0)].decode("utf-8", "replace")
        text = line[max(begin, 0) :].decode("utf-8", "replace")
    text = text.lstrip()
    if text.startswith(_OLD_FORM):
        return (
            "brokers before 2.8 log requests as text, and only JSON can be read;"
            " record their traffic with kwire record"
        )
    try:
        found, _ = _decode(text)
        if isinstance(found, dict) and found.get("isForwarded") is True:
            # The broker that passed it on has logged it, with its client's address.
            return ""
        return _read_request(found, _timestamp(prefix, timezone))
    except _NoRequest as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        if not line.endswith(b"\n"):
            return "the last line of the file is not complete"
        return f"the JSON is damaged ({error})"


def _unwrap(line: bytes) -> tuple[str, str]:
    """Take a message out of JSON, in which containers and JSON layouts wrap lines.

    Returns what comes before the request, where the time is, and the request.
    """
    text = line.decode("utf-8", "replace")
    try:
        found, _ = _decode(text.lstrip())
    except (ValueError, RecursionError):
        found = {}
    texts = [value for value in found.values() if isinstance(value, str)]
    for value in texts:
        before, mark, request = value.partition(_TEXT_MARK)
        if mark:
            others = (each for each in texts if each is not value)
            return " ".join((before, *others)), request
    before, _, request = text.partition(_TEXT_MARK)
    return before, request


class _NoRequest(Exception):
    """The JSON is not that of a request; the text says why."""


def _read_request(found: Any, timestamp: int | None) -> LoggedRequest:
    header = _member(found, "requestHeader", dict)
    api_key = _number(header, "requestApiKey", _INT16)
    version = _number(header, "requestApiVersion", _INT16)
    local, remote = _addresses(_member(found, "connection", str, optional=True))
    software = _software(found, api_key)
    request = make_request(
        api_key,
        version,
        timestamp=timestamp,
        client_address=remote,
        broker_address=local,
        listener=_text(found, "listener"),
        principal=_text(found, "principal"),
        client_id=_text(header, "clientId"),
        software_name=software[0],
        software_version=software[1],
        correlation_id=_number(header, "correlationId", _INT32),
        latency_ms=_float(found.get("totalTimeMs")),
    )
    offered = _read_offer(found.get("response")) if api_key == _API_VERSIONS else None
    is_from_broker = api_key == _FETCH and _replica(found.get("request")) >= 0
    return LoggedRequest(request, offered, is_from_broker)


def _member(found: Any, name: str, kind: type, *, optional: bool = False) -> Any:
    value = found.get(name) if isinstance(found, dict) else None
    if value is None and optional:
        return None
    if not isinstance(value, kind):
        raise _NoRequest(f"the JSON is not a request: it has no {name}")
    return value


def _number(found: dict[str, Any], name: str, bound: int) -> int:
    value = found.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _NoRequest(f"the JSON is not a request: it has no {name}")
    if not -bound <= value < bound:
        raise _NoRequest(f"{name} is out of range: {value}")
    return value


def _float(value: object) -> float | None:
    """Give a number as a float; None for all else, and for what no float can hold."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _text(found: dict[str, Any], name: str) -> str | None:
    value = found.get(name)
    if not isinstance(value, str):
        return None
    # A lone surrogate is JSON, but no text that a table can hold.
    return value.encode("utf-8", "replace").decode("utf-8")


def _software(found: dict[str, Any], api_key: int) -> list[str | None]:
    """Find the name and version of the client, which it sends with ApiVersions."""
    source = _member(found, "clientInformation", dict, optional=True) or {}
    names = "softwareName", "softwareVersion"
    if api_key == _API_VERSIONS and _is_answered(found.get("response")):
        # The broker knows it from then on only.
        request = _member(found, "request", dict, optional=True) or {}
        if request.get("clientSoftwareName"):
            source, names = request, ("clientSoftwareName", "clientSoftwareVersion")
    return [
        None if text in ("unknown", "") else text
        for text in (_text(source, name) for name in names)
    ]


def _is_answered(response: Any) -> bool:
    return isinstance(response, dict) and response.get("errorCode") == 0


def _addresses(connection: str | None) -> tuple[str | None, str | None]:
    match = _connection.fullmatch(connection or "")
    return (match[1], match[2]) if match else (None, None)


def _timestamp(prefix: str, timezone: tzinfo) -> int | None:
    match = _time.search(prefix)
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    micros = (fraction or "").ljust(6, "0")[:6]
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}.{micros}{zone or ''}")
    except ValueError:
        return None
    moment = moment if zone else moment.replace(tzinfo=timezone)
    return (moment - _EPOCH) // _MICROSECOND


def _read_offer(response: Any) -> dict[int, VersionRange] | None:
    """Read what a broker offers; None for what makes no sense."""
    try:
        return {
            each["apiKey"]: VersionRange(each["minVersion"], each["maxVersion"])
            for each in response["apiKeys"]
        }
    except (LookupError, TypeError, ValueError):
        return None


def _replica(request: Any) -> int:
    """Find whose fetch it is: -1 for a consumer, else the id of a broker."""
    if not isinstance(request, dict):
        return -1
    state = request.get("replicaState")
    replica = request.get("replicaId")
    if replica is None and isinstance(state, dict):
        replica = state.get("replicaId")
    return replica if isinstance(replica, int) else -1


def _cut_line(line: bytes) -> str:
    return line[:_SHOWN].decode("utf-8", "replace").strip()
