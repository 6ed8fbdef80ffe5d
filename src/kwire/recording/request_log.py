# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads broker request logs, written by ``kafka.request.logger``.

Brokers 2.8 and newer log each completed request as one line of JSON (KIP-673):

    [2026-11-21 04:08:39,466] DEBUG Completed request:{"requestHeader": ...} (...)

The text before and after the JSON depends on the log layout. The time is taken from the
text before the JSON. Plain files and gzip files are read line by line. An invalid line
is returned as ``BadLine`` with its number, and reading continues with the next line. A
request that a broker forwarded to its controller appears in two logs. Only the entry of
the forwarding broker is returned.
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
_ARRIVAL_MARK = b"received request:"
"""Text in lines that a broker logs when a request arrives. These lines are ignored."""

_KEYS = (b'"isForwarded"', b'"requestHeader"', b'"totalTimeMs"')
"""JSON keys that identify a request if the layout omits the text before the JSON."""

_OLD_FORM = "RequestHeader("
"""Beginning of a request in the text format used before 2.8."""

_GZIP = b"\x1f\x8b"

_MAX_LINE_BYTES = 64 << 20
"""Maximum line size in bytes, which limits memory if a file has no line ends. Brokers
write much shorter lines.
"""

_SNIFF_BYTES = 256 << 10
"""Number of bytes at the beginning of a file in which a request is searched, to detect
whether the file is a request log.
"""

_SHOWN_BYTES = 200
"""Number of bytes from an invalid line to include in ``BadLine.text``."""

_BLOCK_BYTES = 1 << 20

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
    """Request from a valid line, and additional information from the line.

    * ``offered``: version ranges in the ApiVersions response, by API key. None if the
      request is not ApiVersions, or if the response contains an error.
    * ``is_from_broker``: True if a follower replica has sent the request, which is then
      a Fetch.
    """

    request: Request
    offered: dict[int, VersionRange] | None
    is_from_broker: bool


class BadLine(NamedTuple):
    """Invalid line in place of a request.

    * ``line``: line number, starting with 1.
    * ``position``: byte position of the line in the file, or in the decompressed data
      if the file is a gzip file.
    * ``reason``: problem description.
    * ``text``: beginning of the line.
    """

    path: str
    line: int
    position: int
    reason: str
    text: str


def is_request_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a request log.

    Other lines before the first request are accepted. Returns False if the file cannot
    be read.
    """
    try:
        with _open_log(path) as file:
            head = file.read(_SNIFF_BYTES)
    except (OSError, EOFError, zlib.error):
        return False
    return _MARK in head or all(key in head for key in _KEYS)


def list_request_logs(path: str | os.PathLike[str]) -> list[str]:
    """List request logs in a directory and its subdirectories.

    If ``path`` is a file, it is returned without a check. In a directory, files are
    recognized by their content, not by their names. Hidden files and directories are
    skipped, and so are files and directories that cannot be read. Raises
    ``FileNotFoundError`` if ``path`` does not exist or contains no request logs.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        os.stat(name)
        return [name]
    logs: list[str] = []
    for folder, subfolders, files in os.walk(name):
        subfolders[:] = sorted(
            entry for entry in subfolders if not entry.startswith(".")
        )
        paths = (
            os.path.join(folder, entry) for entry in sorted(files) if entry[0] != "."
        )
        logs += filter(is_request_log, paths)
    if not logs:
        raise FileNotFoundError(2, "no request logs in this directory", name)
    return logs


def split_request_log(
    path: str | os.PathLike[str], size: int
) -> list[tuple[int, int | None]]:
    """Split a file into byte ranges of about ``size`` bytes for ``read_request_log``.

    Reading all ranges returns each line exactly once. The last range has no end (None),
    so it also covers lines that a broker appends later. A gzip file is not split.
    Raises ``OSError`` if the file cannot be opened.
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
    """Read all requests whose lines begin within a byte range.

    Other lines are skipped.

    * ``start``, ``end``: byte range. Default: the whole file.
    * ``timezone``: time zone for timestamps without an offset. The layouts of log4j
      write no offset.

    Raises ``OSError`` if the file cannot be opened. A truncated gzip file ends with a
    ``BadLine``.
    """
    name, lines = format_name(path), 0
    # Number of lines before the range. Counting them requires reading the file from its
    # start, so this is only done when the first ``BadLine`` needs its line number.
    lines_before = None if start else 0
    with _open_log(path) as file:
        try:
            for position, line in _iter_lines(file, start, end):
                lines += 1
                result = _read_line(line, timezone)
                if isinstance(result, LoggedRequest):
                    yield result
                elif result:
                    if lines_before is None:
                        lines_before = _count_line_ends(path, position) + 1 - lines
                    number = lines_before + lines
                    yield BadLine(name, number, position, result, _shorten_line(line))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = f"the gzip file is damaged or incomplete ({error}); copy it again"
            yield BadLine(name, lines + 1, file.tell(), reason, "")


def _count_line_ends(path: str | os.PathLike[str], end: int) -> int:
    """Count line ends before the position ``end``."""
    count = 0
    with open_regular(path) as file:
        while data := file.read(min(end - file.tell(), _BLOCK_BYTES)):
            count += data.count(b"\n")
    return count


@contextmanager
def _open_log(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading, and decompress it if it is a gzip file."""
    with open_regular(path) as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if is_gzip:
            with gzip.GzipFile(fileobj=file) as unzipped:
                yield unzipped  # type: ignore[misc]
        else:
            yield file


def _iter_lines(
    file: BinaryIO, start: int, end: int | None
) -> Iterator[tuple[int, bytes]]:
    """Yield all lines that begin in a byte range, with their offsets.

    A line longer than ``_MAX_LINE_BYTES`` is truncated, and the remainder is skipped.
    """
    if start:
        # A line that begins before the range belongs to the previous range. Start one
        # byte earlier, so that a line that begins exactly at the start is not skipped.
        file.seek(start - 1)
        _skip_line(file)
    position = file.tell()
    while end is None or position < end:
        line = file.readline(_MAX_LINE_BYTES)
        if not line:
            return
        yield position, line
        if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
            _skip_line(file)
            position = file.tell()
        else:
            position += len(line)


def _skip_line(file: BinaryIO) -> None:
    while (block := file.readline(_BLOCK_BYTES)) and not block.endswith(b"\n"):
        pass


def _read_line(line: bytes, timezone: tzinfo) -> LoggedRequest | str:
    """Parse a line. Returns the request, or a problem description.

    The description is empty if the line was never intended to be a request.
    """
    mark = line.find(_MARK)
    if mark < 0 and not any(key in line for key in _KEYS):
        return ""
    begin = mark + len(_MARK) if mark >= 0 else line.find(b"{")
    if mark < 0 and _ARRIVAL_MARK in line[: max(begin, 0)]:
        # At level TRACE, brokers also log each request when it arrives.
        return ""
    if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
        return f"the line is longer than {_MAX_LINE_BYTES >> 20} MiB"
    if mark >= 0 and line.lstrip().startswith(b"{"):
        prefix, text = _unwrap_json(line)
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
        document, _ = _decode(text)
        if isinstance(document, dict) and document.get("isForwarded") is True:
            # Skip the entry of the controller. The forwarding broker has logged the
            # request too, with the address of the client.
            return ""
        return _read_request(document, _parse_timestamp(prefix, timezone))
    except _NoRequest as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        if not line.endswith(b"\n"):
            return "the last line of the file is not complete"
        return f"the JSON is damaged ({error})"


def _unwrap_json(line: bytes) -> tuple[str, str]:
    """Extract a log message from JSON. Containers and JSON layouts wrap lines this way.

    Returns the text before the request, which contains the time, and the request.
    """
    text = line.decode("utf-8", "replace")
    try:
        document, _ = _decode(text.lstrip())
    except (ValueError, RecursionError):
        document = {}
    texts = [value for value in document.values() if isinstance(value, str)]
    for value in texts:
        before, mark, request = value.partition(_TEXT_MARK)
        if mark:
            other_texts = (
                other_text for other_text in texts if other_text is not value
            )
            return " ".join((before, *other_texts)), request
    before, _, request = text.partition(_TEXT_MARK)
    return before, request


class _NoRequest(Exception):
    """The JSON is not a request. The message contains the reason."""


def _read_request(document: Any, timestamp: int | None) -> LoggedRequest:
    """Convert the JSON of a logged request.

    Raises ``_NoRequest`` if a member is missing.
    """
    header = _get_member(document, "requestHeader", dict)
    api_key = _get_integer(header, "requestApiKey", _INT16)
    version = _get_integer(header, "requestApiVersion", _INT16)
    local, remote = _split_addresses(
        _get_member(document, "connection", str, optional=True)
    )
    software = _get_software(document, api_key)
    request = make_request(
        api_key,
        version,
        timestamp=timestamp,
        client_address=remote,
        broker_address=local,
        listener=_get_string(document, "listener"),
        principal=_get_string(document, "principal"),
        client_id=_get_string(header, "clientId"),
        software_name=software[0],
        software_version=software[1],
        correlation_id=_get_integer(header, "correlationId", _INT32),
        latency_ms=_to_float(document.get("totalTimeMs")),
    )
    offered = (
        _read_offer(document.get("response")) if api_key == _API_VERSIONS else None
    )
    is_from_broker = api_key == _FETCH and _get_replica_id(document.get("request")) >= 0
    return LoggedRequest(request, offered, is_from_broker)


def _get_member(
    parent: Any, name: str, expected_type: type, *, optional: bool = False
) -> Any:
    """Return a member from a JSON object. Raises ``_NoRequest`` if its type is wrong.

    With ``optional``, a missing member is returned as None.
    """
    value = parent.get(name) if isinstance(parent, dict) else None
    if value is None and optional:
        return None
    if not isinstance(value, expected_type):
        raise _NoRequest(f"the JSON is not a request: it has no {name}")
    return value


def _get_integer(parent: dict[str, Any], name: str, bound: int) -> int:
    """Return an integer member. Raises ``_NoRequest`` if it is missing or out of range.

    The valid range is from ``-bound`` to ``bound - 1``.
    """
    value = parent.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _NoRequest(f"the JSON is not a request: it has no {name}")
    if not -bound <= value < bound:
        raise _NoRequest(f"{name} is out of range: {value}")
    return value


def _to_float(value: object) -> float | None:
    """Convert a JSON number to a float.

    Returns None for other types, and if the number is too large for a float.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _get_string(parent: dict[str, Any], name: str) -> str | None:
    """Return a string member, or None if it is missing or has another type."""
    value = parent.get(name)
    if not isinstance(value, str):
        return None
    # JSON may contain a lone surrogate, which Arrow strings cannot represent.
    return value.encode("utf-8", "replace").decode("utf-8")


def _get_software(document: dict[str, Any], api_key: int) -> list[str | None]:
    """Return the software name and the software version of the client, as a list.

    An element is None if the line does not contain it. Clients send both in
    ApiVersions requests.
    """
    source = _get_member(document, "clientInformation", dict, optional=True) or {}
    names = "softwareName", "softwareVersion"
    if api_key == _API_VERSIONS and _is_answered(document.get("response")):
        # The broker stores the client software only after this request, so
        # ``clientInformation`` is still empty in this line.
        request = _get_member(document, "request", dict, optional=True) or {}
        if request.get("clientSoftwareName"):
            source, names = request, ("clientSoftwareName", "clientSoftwareVersion")
    return [
        None if text in ("unknown", "") else text
        for text in (_get_string(source, name) for name in names)
    ]


def _is_answered(response: Any) -> bool:
    """Whether a broker has answered an ApiVersions request without an error."""
    return isinstance(response, dict) and response.get("errorCode") == 0


def _split_addresses(connection: str | None) -> tuple[str | None, str | None]:
    """Split a connection id into the broker address and the client address.

    Returns (None, None) if the connection id is missing or has another format.
    """
    match = _connection.fullmatch(connection or "")
    return (match[1], match[2]) if match else (None, None)


def _parse_timestamp(prefix: str, timezone: tzinfo) -> int | None:
    """Return the first time in a text as microseconds since 1970, or None."""
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
    """Return {API key: version range} from the ApiVersions response of a broker.

    Returns None if the response contains no valid version ranges.
    """
    try:
        return {
            entry["apiKey"]: VersionRange(entry["minVersion"], entry["maxVersion"])
            for entry in response["apiKeys"]
        }
    except (LookupError, TypeError, ValueError):
        return None


def _get_replica_id(request: Any) -> int:
    """Return the replica id from a Fetch request: a broker id, or -1 for a consumer."""
    if not isinstance(request, dict):
        return -1
    state = request.get("replicaState")
    replica = request.get("replicaId")
    if replica is None and isinstance(state, dict):
        replica = state.get("replicaId")
    return replica if isinstance(replica, int) else -1


def _shorten_line(line: bytes) -> str:
    """Return the beginning of an invalid line as text, for ``BadLine.text``."""
    return line[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
