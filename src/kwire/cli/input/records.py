# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses records to be written from text lines, JSON lines and CSV.

JSON lines and CSV have the fields that ``kwire read`` prints
(``cli/output/record_rows.py``): ``key``, ``value``, their encodings, ``headers`` and
``timestamp``. The other fields that ``kwire read`` prints are ignored.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import click

from ..output.byte_formats import compact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

InputRow: TypeAlias = "tuple[bytes | None, bytes | None, int | None, Any]"

_READ_BYTES = 1 << 20
_ROWS_AT_ONCE = 1000
_BYTES_AT_ONCE = 16 << 20
"""Total number of characters in CSV cells after which the rows that have been read are
returned. The last of these rows may exceed this number.
"""
_ENCODINGS = ("base64", "hex", "json")
_VALUE_NAMES = {"value", *(f"value_{each}" for each in _ENCODINGS)}
_KEY_NAMES = {"key", *(f"key_{each}" for each in _ENCODINGS)}
_PASSED_OVER = {"topic", "partition", "offset", "timestamp_type", "error"}
_RECORD_NAMES = {"headers", "timestamp", *_KEY_NAMES, *_VALUE_NAMES, *_PASSED_OVER}
_LAST_TIMESTAMP = (1 << 63) - 1
_LONGEST_CELL = (1 << 31) - 1
"""Maximum number of characters in a CSV cell. Python's default is 128 KiB."""
_TOO_DEEP = "the JSON is nested too deeply to be read"


def read_text(
    file: BinaryIO, name: str, separator: str | None
) -> Iterator[list[InputRow]]:
    """Parse lines as values, or as keys and values that ``separator`` divides.

    Yields the records on the available lines without waiting for more, so that a pipe
    can be followed.
    """
    mark = None if separator is None else separator.encode()

    def parse(line: bytes) -> InputRow:
        if mark is None:
            return None, line, None, ()
        key, found, value = line.partition(mark)
        if not found:
            raise ValueError(
                f"the line has no separator {separator!r} between key and value"
            )
        return key, value, None, ()

    return _read_lines(file, name, parse)


def read_json_lines(file: BinaryIO, name: str) -> Iterator[list[InputRow]]:
    """Parse JSON lines with one record per line. Yields rows like ``read_text``."""

    def parse(line: bytes) -> InputRow:
        if not line.strip():
            raise ValueError("the line is empty")
        fields = _load_json(line)
        if not isinstance(fields, dict):
            raise ValueError("not a JSON object")
        return _make_row(fields)

    return _read_lines(file, name, parse)


def read_csv(file: BinaryIO, name: str) -> Iterator[list[InputRow]]:
    """Parse CSV whose first line contains the field names."""
    csv.field_size_limit(_LONGEST_CELL)
    with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        lines = csv.DictReader(text)
        rows: list[InputRow] = []
        size = 0
        while True:
            try:
                fields = next(lines, None)
                if fields is None:
                    break
                if None in fields:
                    raise ValueError(
                        "the line has more cells than the header has names"
                    )
                rows.append(_make_row(_from_csv(fields)))
                size += sum(len(text or "") for text in fields.values())
            except (ValueError, csv.Error) as error:
                yield rows
                raise _refuse(name, lines.line_num, error) from None
            if len(rows) == _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
                yield rows
                rows, size = [], 0
        yield rows


def _read_lines(
    file: BinaryIO, name: str, parse: Callable[[bytes], InputRow]
) -> Iterator[list[InputRow]]:
    """Parse lines in the chunks in which they arrive.

    Raises ``ClickException`` if a line is invalid. The records before that line are
    yielded first.
    """
    read = getattr(file, "read1", file.read)
    # Chunks from an incomplete line, whose line ending has not been read yet.
    begun: list[bytes] = []
    number = 0
    while True:
        data = read(_READ_BYTES)
        first, *lines = data.split(b"\n")
        begun.append(first)
        if lines or not data:
            lines.insert(0, b"".join(begun))
            begun = [lines.pop()] if data else []
            if not data and lines == [b""]:
                return
        rows = []
        for line in lines:
            number += 1
            try:
                rows.append(parse(line.removesuffix(b"\r")))
            except ValueError as error:
                yield rows
                raise _refuse(name, number, error) from None
        yield rows
        if not data:
            return


def _refuse(name: str, number: int, error: Exception) -> click.ClickException:
    return click.ClickException(f"{name}, line {number}: {error}")


def _make_row(fields: Mapping[str, Any]) -> InputRow:
    """Convert JSON fields to a row. Raises ``ValueError`` if a field is not valid."""
    unknown = [each for each in fields if each not in _RECORD_NAMES]
    if unknown:
        raise ValueError(
            f"a record has no field {unknown[0]!r:.60}; use --input-format text to"
            " write each line unchanged as a value"
        )
    timestamp = fields.get("timestamp")
    if timestamp is not None and type(timestamp) is not int:
        raise ValueError(
            f"timestamp must be a number of ms (got {_shorten(timestamp)})"
        )
    if timestamp is not None and timestamp > _LAST_TIMESTAMP:
        raise ValueError(
            f"timestamp must be {_LAST_TIMESTAMP} or less (got {_shorten(timestamp)})"
        )
    headers = fields.get("headers")
    if headers is None:
        headers = []
    elif not isinstance(headers, list):
        raise ValueError(
            "headers must be a list of objects with key and value"
            f" (got {_shorten(headers)})"
        )
    return (
        _read_part(fields, "key"),
        _read_part(fields, "value"),
        None if timestamp is None or timestamp < 0 else timestamp,
        tuple(map(_read_header, headers)),
    )


def _read_header(fields: Any) -> tuple[str, bytes | None]:
    if not isinstance(fields, dict):
        raise ValueError(
            "headers must be a list of objects with key and value; it has"
            f" {_shorten(fields)}"
        )
    key = fields.get("key")
    if not isinstance(key, str):
        raise ValueError(f"the key of a header must be text (got {_shorten(key)})")
    _encode_text("the key of a header", key)
    unknown = [each for each in fields if each != "key" and each not in _VALUE_NAMES]
    if unknown:
        raise ValueError(
            f"a header has no field {unknown[0]!r:.60}; its fields are key and value"
        )
    return key, _read_part(fields, "value")


def _read_part(fields: Mapping[str, Any], part: str) -> bytes | None:
    """Decode the key or the value (``part``) of a JSON record.

    The field name specifies the encoding, for example ``key_base64``. Returns None if
    there is no such field. Raises ``ValueError`` if its content is invalid.
    """
    content = fields.get(part)
    if content is not None:
        if not isinstance(content, str):
            raise ValueError(f"{part} must be text or null (got {_shorten(content)})")
        return _encode_text(part, content)
    for encoding in _ENCODINGS:
        content = fields.get(f"{part}_{encoding}")
        if content is None:
            continue
        if encoding == "json":
            try:
                return _encode_text(f"{part}_json", compact_json(content))
            except RecursionError:
                raise ValueError(f"{part}_json: {_TOO_DEEP}") from None
        try:
            if encoding == "hex":
                return bytes.fromhex(content)
            return base64.b64decode(content, validate=True)
        except (TypeError, ValueError):
            raise ValueError(
                f"{part}_{encoding} must be {encoding} (got {_shorten(content)})"
            ) from None
    return None


def _load_json(text: str | bytes, part: str = "") -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{part}not JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{part}{_TOO_DEEP}") from None


def _encode_text(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} must be Unicode text (got half of a surrogate pair)"
        ) from None


def _shorten(value: object) -> str:
    """Shorten a value's representation for an error message."""
    try:
        return f"{value!r:.60}"
    except (RecursionError, ValueError):
        # ``repr`` fails for deeply nested values, and for integers with thousands of
        # digits.
        return type(value).__name__


def _from_csv(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the cells of a CSV row to the fields of a JSON record.

    For example, ``key`` with ``key_encoding`` "hex" becomes ``key_hex``. Raises
    ``ValueError`` if an encoding is unknown, or if a cell is not valid JSON.
    """
    fields = {name: text for name, text in cells.items() if text is not None}
    for part in ("key", "value"):
        encoding = fields.pop(f"{part}_encoding", "text")
        content = fields.pop(part, None)
        if encoding == "json" and content is not None:
            fields[f"{part}_json"] = _load_json(content, f"{part}: ")
        elif encoding in ("base64", "hex"):
            fields[f"{part}_{encoding}"] = content
        elif encoding == "text":
            fields[part] = content
        elif encoding:
            raise ValueError(f"{part}_encoding must be text, base64, hex or json")
    for name in ("timestamp", "headers"):
        if name in fields:
            fields[name] = (
                _load_json(fields[name], f"{name}: ") if fields[name] else None
            )
    return fields
