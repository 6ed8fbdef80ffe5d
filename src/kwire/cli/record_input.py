# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads records to be written: lines of text, JSON lines and CSV.

JSON lines and CSV have the fields that ``kwire read`` prints (``record_rows.py``):
``key``, ``value``, their encodings, ``headers`` and ``timestamp``. Other fields that it
prints are passed over.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import click

from .byte_formats import compact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

InputRow: TypeAlias = "tuple[bytes | None, bytes | None, int | None, Any]"

_READ_BYTES = 1 << 20
_ROWS_AT_ONCE = 1000
_ENCODINGS = ("base64", "hex", "json")
_PASSED_OVER = {"topic", "partition", "offset", "timestamp_type", "error"}


def read_text(
    file: BinaryIO, name: str, separator: str | None
) -> Iterator[list[InputRow]]:
    """Read lines as values, or as keys and values with ``separator`` between them.

    Returns what there is without waiting for more, so that a pipe is followed.
    """
    mark = None if separator is None else separator.encode()

    def parse(line: bytes) -> InputRow:
        if mark is None:
            return None, line, None, ()
        key, found, value = line.partition(mark)
        if not found:
            raise ValueError(f"there is no {separator!r} between key and value")
        return key, value, None, ()

    return _read_lines(file, name, parse)


def read_json_lines(file: BinaryIO, name: str) -> Iterator[list[InputRow]]:
    """Read JSON lines, as ``read_text`` reads text."""

    def parse(line: bytes) -> InputRow:
        if not line.strip():
            raise ValueError("the line is empty")
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise ValueError(f"not JSON: {error}") from None
        if not isinstance(fields, dict):
            raise ValueError("not a JSON object")
        return _make_row(fields)

    return _read_lines(file, name, parse)


def read_csv(file: BinaryIO, name: str) -> Iterator[list[InputRow]]:
    """Read CSV with a line of names."""
    with io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        lines = csv.DictReader(text)

        def rows() -> Iterator[InputRow]:
            while True:
                try:
                    fields = next(lines, None)
                    if fields is None:
                        return
                    if None in fields:
                        raise ValueError("there are more cells than names")
                    yield _make_row(_from_csv(fields))
                except (ValueError, csv.Error) as error:
                    raise _refuse(name, lines.line_num, error) from None

        iterator = rows()
        while found := list(islice(iterator, _ROWS_AT_ONCE)):
            yield found


def _read_lines(
    file: BinaryIO, name: str, parse: Callable[[bytes], InputRow]
) -> Iterator[list[InputRow]]:
    read = getattr(file, "read1", file.read)
    rest, number = b"", 0
    while True:
        data = read(_READ_BYTES)
        *lines, rest = (rest + data).split(b"\n")
        if not data and rest:
            lines, rest = [rest], b""
        rows = []
        for line in lines:
            number += 1
            try:
                rows.append(parse(line.removesuffix(b"\r")))
            except ValueError as error:
                raise _refuse(name, number, error) from None
        if rows:
            yield rows
        if not data:
            return


def _refuse(name: str, number: int, error: Exception) -> click.ClickException:
    return click.ClickException(f"{name}, line {number}: {error}")


def _make_row(fields: Mapping[str, Any]) -> InputRow:
    known = {
        *("headers", "timestamp"),
        *_PASSED_OVER,
        *(
            f"{part}{ending}"
            for part in ("key", "value")
            for ending in ("", *(f"_{each}" for each in _ENCODINGS))
        ),
    }
    unknown = [each for each in fields if each not in known]
    if unknown:
        raise ValueError(
            f"the field {unknown[0]!r:.60} is none of a record; --format text writes"
            " lines as they are"
        )
    timestamp = fields.get("timestamp")
    if timestamp is not None and type(timestamp) is not int:
        raise ValueError(f"timestamp must be a number of ms (got {timestamp!r:.60})")
    headers = fields.get("headers") or ()
    if not all(isinstance(each, dict) for each in headers):
        raise ValueError("headers must be a list of objects with key and value")
    return (
        _read_part(fields, "key"),
        _read_part(fields, "value"),
        None if timestamp is None or timestamp < 0 else timestamp,
        tuple((str(each.get("key")), _read_part(each, "value")) for each in headers),
    )


def _read_part(fields: Mapping[str, Any], part: str) -> bytes | None:
    found = fields.get(part)
    if found is not None:
        if not isinstance(found, str):
            raise ValueError(f"{part} must be text or null (got {found!r:.60})")
        return found.encode()
    for encoding in _ENCODINGS:
        found = fields.get(f"{part}_{encoding}")
        if found is None:
            continue
        if encoding == "json":
            return compact_json(found).encode()
        try:
            if encoding == "hex":
                return bytes.fromhex(found)
            return base64.b64decode(found, validate=True)
        except (TypeError, ValueError):
            raise ValueError(
                f"{part}_{encoding} must be {encoding} (got {found!r:.60})"
            ) from None
    return None


def _from_csv(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Give the cells of a line the form of JSON lines."""
    fields = {name: text for name, text in cells.items() if text is not None}
    for part in ("key", "value"):
        encoding = fields.pop(f"{part}_encoding", "text")
        content = fields.pop(part, None)
        if encoding == "json" and content is not None:
            fields[f"{part}_json"] = json.loads(content)
        elif encoding in ("base64", "hex"):
            fields[f"{part}_{encoding}"] = content
        elif encoding == "text":
            fields[part] = content
        elif encoding:
            raise ValueError(f"{part}_encoding must be text, base64, hex or json")
    for name in ("timestamp", "headers"):
        if name in fields:
            fields[name] = json.loads(fields[name]) if fields[name] else None
    return fields
