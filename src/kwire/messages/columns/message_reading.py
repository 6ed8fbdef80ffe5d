# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes columns with frames and messages, including the header before every message.

A framed request or response starts with its header, without the size, as in captures.
Other framed messages start with their version as INT16, as Kafka stores them in bytes
fields. Rows that are not framed contain only the message. ``read_row`` decodes one row.
Columns are decoded faster, but report the same errors. This module does not import
Spark: input and output are pyarrow arrays.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import repeat
from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa

from ... import messages
from ...errors import DecodeError, InvalidValue, KwireError, UnsupportedVersion
from ...schema import plan, registry
from .. import arrow_messages, codec, framing, json_form
from .array_rows import (
    as_binary,
    cut_prefixes,
    is_valid,
    join_rows,
    make_struct,
    read_int16_prefixes,
    row_bytes,
    text_column,
    view_memory,
)
from .chosen_fields import arrange_fields, narrow_type
from .message_columns import decode_versions
from .message_types import (
    find_message,
    message_facts,
    message_type,
    names_its_version,
    with_error,
    without_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .. import Message
    from .message_types import Api

NO_VERSION = -1
"""Number that stands for the version of a row if no version is specified."""

JSON = pa.struct([("json", pa.string())])

_int16s = Struct(">hh").unpack_from
_CORRELATION_ID = 4


def read_messages(
    data: Any,
    name: str,
    versions: Any = None,
    *,
    framed: bool = True,
    failfast: bool = False,
    schema: pa.StructType | None = None,
) -> pa.StructArray:
    """Decode a column with messages of one class into ``message_type(name)``.

    * ``versions``: a number, an array with a number per row, or None. Framed requests
      and other messages that contain their version must agree with it.
    * ``schema``: result type, as described in ``chosen_fields``.

    A null row becomes a null struct. In an invalid row, ``_error`` contains the reason,
    and all other fields are null. If the schema has no ``_error``, the row is null.
    With ``failfast``, there is no ``_error``, and the first invalid row raises the
    error from ``read_row``. Raises ``ValueError`` if ``schema`` does not match the
    message, and ``TypeError`` if a column has an unsuitable type.
    """
    kind = message_type(name)
    if schema is not None:
        kind = narrow_type(with_error(kind), schema)
    elif not failfast:
        kind = with_error(kind)
    rows = as_binary(data)
    asked = version_numbers(versions, len(rows))
    bodies, found, errors = _bodies(rows, name, asked, framed)
    fields = without_error(kind)
    array, more = decode_versions(bodies, name, found, fields)
    for row, text in more.items():
        # The offset in ``text`` is relative to the body of the message. Decode the row
        # again, because ``read_row`` reports offsets relative to the start of the row.
        errors[row] = _find_error(rows, row, name, int(asked[row]), framed) or text
    if failfast:
        _raise_first(errors, rows, name, asked, framed)
    valid = is_valid(rows)
    columns = _fields(array)
    if kind != fields:
        columns.append(text_column(errors, len(rows)))
    else:
        valid[list(errors)] = False
    result = make_struct(kind, columns, valid)
    return result if schema is None else arrange_fields(result, schema)


def read_json(
    data: Any,
    apis: Any,
    kinds: Any = "request",
    versions: Any = None,
    *,
    framed: bool = True,
    failfast: bool = False,
) -> pa.Array:
    """Decode a column with messages into strings in Kafka's JSON format.

    ``apis`` and ``kinds`` are values that ``find_message`` accepts, or arrays with one
    value per row. If an API is None or null, a framed request is decoded as the API in
    its header. Returns struct<json, _error>, or only the strings with ``failfast``.
    Versions and invalid rows are handled as in ``read_messages``.
    """
    rows = as_binary(data)
    asked = version_numbers(versions, len(rows))
    texts: dict[int, str] = {}
    errors: dict[int, str] = {}
    each = zip(_by_row(apis), _by_row(kinds), asked.tolist(), rows, strict=False)
    for row, (api, kind, version, raw) in enumerate(each):
        if raw.is_valid:
            try:
                name = _message_of_row(api, kind)
                texts[row] = json_text(*read_row(raw.as_py(), name, version, framed))
            except KwireError as error:
                if failfast:
                    raise
                errors[row] = str(error)
    made = text_column(texts, len(rows))
    if failfast:
        return made
    fields = [made, text_column(errors, len(rows))]
    return make_struct(with_error(JSON), fields, is_valid(rows))


def _by_row(given: Any) -> Iterable[Any]:
    return given.to_pylist() if hasattr(given, "to_pylist") else repeat(given)


@cache
def _message_of_row(api: Api | None, kind: str | None) -> str | None:
    """Return the message name of a row; None if the row itself must specify it.

    Raises ``UnsupportedVersion`` if there is no such message, or if it is not
    specified.
    """
    if api is None and kind == "request":
        return None
    try:
        if api is None or kind is None:
            raise ValueError(
                "the message of this row is not known; pass api, or a column with it"
            )
        return find_message(api, kind)
    except ValueError as error:
        raise UnsupportedVersion(str(error)) from None


def json_text(message: Message, version: int) -> str:
    """Format a message as ``kwire.to_json`` does, in one line."""
    form = json_form.to_json(message, version)
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def version_numbers(versions: Any, count: int) -> np.ndarray:
    """Convert versions to an array with one number per row.

    Null, and None for all rows, become ``NO_VERSION``.
    Raises ``TypeError`` if ``versions`` is a column of another type than integers.
    """
    if versions is None or isinstance(versions, int):
        number = NO_VERSION if versions is None else versions
        return np.full(count, number, np.int64)
    try:
        filled = versions.cast(pa.int64()).fill_null(NO_VERSION)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TypeError(
            f"versions must be integers (got a column of {versions.type})"
        ) from None
    numbers: np.ndarray = filled.to_numpy(zero_copy_only=False)
    return numbers


def read_row(
    data: bytes, name: str | None, version: int, framed: bool
) -> tuple[Message, int]:
    """Decode one row, and return the message and its version.

    * ``name``: name of the message. If it is None, the row must be a framed request,
      whose header contains the API.
    * ``version``: ``NO_VERSION`` if the version is not specified.

    Raises the errors of ``kwire.decode`` and ``kwire.messages.framing``. Raises
    ``InvalidValue`` if a frame has another API or version than requested, and
    ``UnsupportedVersion`` if neither the row nor the parameters contain the API or the
    version.
    """
    if name is None:
        if not framed:
            raise UnsupportedVersion(
                "the API of a request without a header is unknown; pass api"
            )
        return framing.decode_request(data)[1], _int16s(data)[1]
    entry = registry.find(name)
    cls = getattr(messages, name)
    if version == NO_VERSION and not (framed and names_its_version(name)):
        raise UnsupportedVersion(
            f"the bytes of this {name} do not contain its version; pass the version"
        )
    if not framed:
        return codec.decode(cls, data, version), version
    if entry.kind == "response":
        return framing.decode_response(cls, data, version)[1], version
    if entry.kind == "request":
        return _read_request(data, entry, version)
    message = framing.decode_prefixed(cls, data)
    found = int.from_bytes(data[:2], "big", signed=True)
    if version not in (NO_VERSION, found):
        _disagree(0, "version", name, found, version)
    return message, min(found, entry.valid_versions.max)


def _read_request(
    data: bytes, entry: registry.Entry, version: int
) -> tuple[Message, int]:
    found = version
    if len(data) >= 4:
        api_key, found = _int16s(data)
        if api_key != entry.api_key:
            raise InvalidValue(
                f"the request has the API key {api_key}, {entry.name} has"
                f" {entry.api_key}",
                0,
                "request_api_key",
                "RequestHeader",
            )
        if version not in (NO_VERSION, found):
            _disagree(2, "request_api_version", "RequestHeader", found, version)
    return framing.decode_request(data)[1], found


def _disagree(offset: int, path: str, name: str, found: int, asked: int) -> NoReturn:
    text = f"the bytes have version {found} (expected {asked})"
    raise InvalidValue(text, offset, path, name)


def _find_error(
    rows: pa.BinaryArray, row: int, name: str, version: int, framed: bool
) -> str | None:
    try:
        read_row(row_bytes(rows, row), name, version, framed)
    except KwireError as error:
        return str(error)
    return None


def _raise_first(
    errors: dict[int, str],
    rows: pa.BinaryArray,
    name: str,
    asked: np.ndarray,
    framed: bool,
) -> None:
    if errors:
        row = min(errors)
        read_row(row_bytes(rows, row), name, int(asked[row]), framed)
        raise DecodeError(errors[row])


def _fields(array: pa.StructArray) -> list[pa.Array]:
    return [array.field(place) for place in range(array.type.num_fields)]


def _bodies(
    rows: pa.BinaryArray, name: str, asked: np.ndarray, framed: bool
) -> tuple[pa.BinaryArray, np.ndarray, dict[int, str]]:
    """Extract the message bodies of all rows.

    Returns the bodies, the versions of the rows, and {row: error message}. A row with
    an unusual prefix is decoded with ``read_row``. If it is valid, its message is
    encoded again.
    """
    valid = is_valid(rows)
    plain, versions, positions = _plain_rows(rows, name, asked, framed)
    if not positions.any() and (plain | ~valid).all():
        return rows, versions, {}
    plain &= valid
    good = np.flatnonzero(plain)
    parts = [(good, cut_prefixes(rows, positions, good))]
    errors = {}
    odd, written = [], []
    for row in np.flatnonzero(valid & ~plain).tolist():
        try:
            message, version = read_row(
                row_bytes(rows, row), name, int(asked[row]), framed
            )
        except KwireError as error:
            errors[row] = str(error)
        else:
            odd.append(row)
            written.append(codec.encode(message, version))
            versions[row] = version
    parts.append((np.array(odd, np.int64), pa.array(written, pa.binary())))
    return join_rows(parts, len(rows), pa.binary()), versions, errors


def _plain_rows(
    rows: pa.BinaryArray, name: str, asked: np.ndarray, framed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decode the data before the bodies, for all rows together.

    Returns three arrays with one element per row:

    1. Whether the row has the usual format. If not, the other elements are undefined.
    2. The version of the message.
    3. The start position of the body in the row.
    """
    entry = registry.find(name)
    known = entry.valid_versions
    if not framed:
        return (asked != NO_VERSION), asked, np.zeros(len(rows), np.int32)
    if entry.kind == "request":
        heads = arrow_messages.request_headers_to_arrow(rows, on_error="null")
        keys, versions, positions = (
            heads.field(column).fill_null(NO_VERSION).to_numpy(zero_copy_only=False)
            for column in ("api_key", "api_version", "body_position")
        )
        plain = keys == entry.api_key
    elif entry.kind == "response":
        versions = asked
        plain, positions = _find_response_bodies(rows, name, versions)
    else:
        versions = read_int16_prefixes(rows, NO_VERSION)
        positions = np.full(len(rows), 2, np.int32)
        plain = versions != NO_VERSION
    plain &= (asked == NO_VERSION) | (asked == versions)
    plain &= (versions >= known.min) & (versions <= known.max)
    return plain, versions.astype(np.int64), positions


def _find_response_bodies(
    rows: pa.BinaryArray, name: str, versions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Locate response bodies after the correlation id and an empty tag section.

    Returns two arrays: whether the header has this format, and the start position of
    the body. The position is undefined if the format is different.
    """
    data, places = view_memory(rows)
    sizes = np.diff(places)
    flexible = np.isin(versions, _versions_with_tags(name))
    positions = np.where(flexible, _CORRELATION_ID + 1, _CORRELATION_ID)
    plain = sizes >= positions
    tagged = np.flatnonzero(plain & flexible)
    plain[tagged] = data[places[tagged] + _CORRELATION_ID] == 0
    return plain, positions.astype(np.int32)


@cache
def _versions_with_tags(name: str) -> list[int]:
    """Return the response versions whose header has a tag section."""
    message = message_facts(name)
    return [
        version
        for version in message.valid_versions
        if plan.response_header_version(message, version)
    ]
