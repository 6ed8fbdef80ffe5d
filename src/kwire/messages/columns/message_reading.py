# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes columns of frames and messages, by the header before each message.

A row is *framed* where a header comes before the message (requests and responses, as
captures have them, without the size) or its version as INT16 (other messages, as Kafka
stores them in bytes fields); otherwise it is the message alone. ``read_row`` reads one
row; columns are read faster, with the same errors. Nothing here imports Spark: arrays
of pyarrow in and out.
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
"""The version of a row for which none was given."""

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
    """Decode a column of messages of one class into ``message_type(name)``.

    ``versions`` is a number, an array with one for each row, or None; requests and
    messages after their version have it in them, and must then agree with it. A
    null row is a null struct. A bad row is null in every field, and ``_error`` says
    why; with ``failfast`` there is no such field, and the first bad row raises what
    ``read_row`` raises.

    ``schema`` is the type of the result, as ``chosen_fields`` describes it. A bad row
    is null if the schema has no field ``_error``.
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
        # Their offsets count from the body, the ones of ``read_row`` from the row.
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
    """Decode a column of messages into the text of Kafka's JSON form.

    ``apis`` and ``kinds`` are as ``find_message`` takes them, or arrays with one for
    each row; an API that is None or null is the one that a framed request says itself.
    Returns struct<json, _error>, or just the texts with ``failfast``; bad rows and
    versions are as in ``read_messages``.
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
    """Find the message of a row; None if the row itself has to say it."""
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
    """Write a message as ``kwire.to_json`` does, on one line."""
    form = json_form.to_json(message, version)
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def version_numbers(versions: Any, count: int) -> np.ndarray:
    """Make one number a row of what was given as versions; null is ``NO_VERSION``."""
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
    """Decode one row; return the message and the version that it has.

    Raises what ``kwire.decode`` and ``kwire.messages.framing`` raise, and
    ``InvalidValue`` for a frame of another API or version than was asked for.
    """
    if name is None:
        if not framed:
            raise UnsupportedVersion("without its header a request names no API")
        return framing.decode_request(data)[1], _int16s(data)[1]
    entry = registry.find(name)
    cls = getattr(messages, name)
    if version == NO_VERSION and not (framed and names_its_version(name)):
        raise UnsupportedVersion(
            f"no version is given for this {name}, and its bytes do not say it"
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
    """Cut the bodies out of rows; return them, their versions, and errors by row.

    Rows that are not as plain as nearly all are go through ``read_row``, and those
    that are good have their body written anew.
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
    """Read what comes before the bodies, all rows at once.

    Returns for each row whether it is as it mostly is, its version, and where its body
    begins; the latter two mean something only where the first is true.
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
    """Find the bodies of responses: after the correlation id and an empty section."""
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
    """List the versions of a response whose header has a tag section."""
    message = message_facts(name)
    return [
        version
        for version in message.valid_versions
        if plan.response_header_version(message, version)
    ]
