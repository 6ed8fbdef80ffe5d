# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes a binary array of request headers into columns.

Each row is a frame without its size. The header version is looked up by API key and
version in a table that is created from the plans. The body is not read. If a row is
invalid, ``judge``, a function of the caller that reads whole frames, reads it again and
raises the error.

Twin: ``fast/header_columns.pyx``. Differs from its twin in: headers are decoded to
objects. In ``fast``, no objects are created and the GIL is released.

Only in Python: ``read_header``.
"""

from __future__ import annotations

from ..._limits import DEFAULT, Limits
from ...errors import (
    INPUT_CHANGED,
    DecodeError,
    KwireError,
    UnsupportedVersion,
    decode_failure,
)
from ...schema import plan, registry
from .arrays import Array
from .decoder import decode_prefix
from .message_columns import (
    check_sizes,
    iterate_rows,
    make_column_failure,
    make_fixed_column,
    make_text_column,
    make_validity,
)
from .program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

LARGEST_OFFSET = 2**31 - 1

_UNKNOWN = 255
_NOTHING = (None,) * 5
_NOTHING_AT_ALL: tuple[tuple[Any, ...], ...] = ((),) * 5

_table: list[tuple[bytes, int]] = []


def decode_request_headers(
    cls: type,
    judge: Callable[[bytes], object],
    validity: Buffer | None,
    offsets: Buffer | None,
    data: Buffer | None,
    start: int,
    count: int,
    is_large: bool,
    keep_errors: bool,
    limits: Limits | None = DEFAULT,
) -> Array:
    """Decode the headers of ``count`` request frames into a struct ``Array``.

    The input is an Arrow binary array, as for ``decode_messages``.

    * ``cls``: class of the headers.
    * ``judge``: function that reads a whole frame and raises the error of an invalid
      row.
    * ``keep_errors``: do not raise for invalid rows. Instead, append a string column
      ``_error``, and set all other fields of an invalid row to null.

    Fields: api_key, api_version, correlation_id, client_id, and body_position, the
    position of the body in the row (bytes). A null row becomes a null struct.

    Raises the exception from ``judge`` for the first invalid row, with the row number
    inserted before its path. Raises ``LimitExceeded`` if a column would exceed Arrow's
    32-bit offsets.
    """
    check_sizes(
        start,
        count,
        is_large,
        None if validity is None else memoryview(validity).nbytes,
        0 if offsets is None else memoryview(offsets).nbytes,
    )
    headers: list[tuple[Any, ...] | None] = []
    null_rows: list[int] = []
    texts: list[str | None] | None = [None] * count if keep_errors else None
    with memoryview(b"" if data is None else data) as view:
        rows = iterate_rows(validity, offsets, view, start, count, is_large, False)
        for number, row in enumerate(rows):
            header = None if row is None else read_header(cls, row, limits)
            headers.append(header)
            if row is None:
                null_rows.append(number)
            elif header is None:
                error = judge_row(judge, row)
                if texts is None:
                    raise make_error_of_row(error, number)
                texts[number] = str(error)
    missing = None in headers
    columns = list(zip(*[header or _NOTHING for header in headers], strict=True))
    keys, versions, ids, names, positions = map(list, columns or _NOTHING_AT_ALL)
    try:
        if not missing and any(place > LARGEST_OFFSET for place in positions):
            raise OverflowError
        fields = [
            make_fixed_column("api_key", plan.INT16, keys, missing),
            make_fixed_column("api_version", plan.INT16, versions, missing),
            make_fixed_column("correlation_id", plan.INT32, ids, missing),
            make_text_column("client_id", "u", names, True),
            make_fixed_column("body_position", plan.INT32, positions, missing),
        ]
        if texts is not None:
            fields.append(make_text_column("_error", "u", texts, True))
    except OverflowError:
        raise make_column_failure(find_program(cls, 0).layout) from None
    root = None
    if null_rows:
        is_null = [False] * count
        for number in null_rows:
            is_null[number] = True
        root = make_validity(is_null)
    return Array("+s", "", count, len(null_rows), (root,), tuple(fields))


def read_header(
    cls: type, frame: bytes, limits: Limits | None
) -> tuple[Any, ...] | None:
    """Read one header.

    Returns its API key, its version, its correlation id, its client id, and the
    position of the body. Returns None if the header is invalid, or if the request is
    unknown.
    """
    table, width = load_header_versions()
    api_key = int.from_bytes(frame[:2], "big", signed=True)
    version = int.from_bytes(frame[2:4], "big", signed=True)
    if api_key < 0 or not 0 <= version < width or api_key * width >= len(table):
        return None
    header_version = table[api_key * width + version]
    if header_version == _UNKNOWN:
        return None
    try:
        header, end = decode_prefix(cls, frame, header_version, limits=limits)
    except DecodeError:
        return None
    return api_key, version, header.correlation_id, header.client_id, end


def load_header_versions() -> tuple[bytes, int]:
    """Return the table of header versions and its width.

    The table contains one line for each API key. All lines have the same number of
    versions. The value is 255 if there is no such request.
    """
    if not _table:
        keys = registry.keys("request")
        entries: list[Any] = [registry.find_by_key(key, "request") for key in keys]
        width = max([entry.valid_versions.max for entry in entries]) + 1
        table = bytearray([_UNKNOWN]) * (width * (max(keys) + 1))
        for entry in entries:
            for version in entry.valid_versions:
                place = entry.api_key * width + version
                table[place] = plan.request_header_version(entry, version)
        _table.append((bytes(table), width))
    return _table[0]


def judge_row(
    judge: Callable[[bytes], object], frame: bytes
) -> DecodeError | UnsupportedVersion:
    """Read an invalid row with ``judge``. Returns the exception that it raises.

    If ``judge`` does not raise, the row has been modified since the first read, and the
    exception reports that.
    """
    try:
        judge(frame)
    except (DecodeError, UnsupportedVersion) as error:
        return error.with_traceback(None)
    return decode_failure(INPUT_CHANGED, 0, 0, "")


def make_error_of_row(error: DecodeError | UnsupportedVersion, row: int) -> KwireError:
    """Return the exception of a frame with the row number added to its path."""
    if isinstance(error, UnsupportedVersion):
        return UnsupportedVersion(f"[{row}]: {error.reason}")
    made: KwireError = type(error)(
        error.reason,
        error.offset,
        f"[{row}]{'.' if error.path else ''}{error.path}",
        error.message_name,
        error.version,
    )
    return made
