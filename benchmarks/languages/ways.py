# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What each way of each library makes: copies, shared bytes, or nothing yet."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.languages.cases import Case


class Way(NamedTuple):
    """A way as the report names it, and what it makes of the bytes."""

    name: str
    strings: str
    byte_strings: str
    records: str
    defers: tuple[str, ...] = ()
    """Operations of which not all values exist when the call returns."""

    def eager(self, case: Case) -> bool:
        """Whether all values of a case exist when the call returns."""
        return case.operation not in self.defers


_SHARED = "shared, by reference counts"
_CRC = "CRC is checked"
_SHARED_RECORDS = f"keys and values {_SHARED}; {_CRC}"
_SHARED_UTF8 = "shared, by reference counts; UTF-8 is checked"

WAYS = {
    "objects": Way(
        "kwire",
        "copies, UTF-8 is checked; equal arrays of integers are shared in a message",
        "copies",
        f"objects with copies of keys and values; {_CRC}",
    ),
    "zero_copy": Way("kwire, zero_copy", "copies", "views of the input", "-"),
    "columns": Way(
        "kwire columns",
        "-",
        "-",
        f"columns with copies of keys and values; {_CRC}",
    ),
    "column_views": Way(
        "kwire columns, views",
        "-",
        "-",
        f"columns, keys and values are views of the input; {_CRC}",
    ),
    "arrow_views": Way(
        "kwire to Arrow, views", "copies in columns", "views of the input", "-"
    ),
    "arrow": Way(
        "kwire to Arrow",
        "copies in columns",
        "copies in columns",
        "-",
    ),
    "kafka-protocol": Way(
        "kafka-protocol",
        _SHARED_UTF8,
        _SHARED,
        _SHARED_RECORDS,
    ),
    "kacrab-protocol": Way(
        "kacrab-protocol",
        _SHARED_UTF8,
        _SHARED,
        _SHARED_RECORDS,
    ),
    "kafka-wire": Way("kafka-wire", _SHARED_UTF8, _SHARED, "-"),
    "krabka-protocol": Way(
        "krabka-protocol",
        "copies, UTF-8 is checked",
        "decoded as record batches, so it has no case with opaque bytes",
        f"one copy of the batch, which keys and values share; {_CRC}",
    ),
    "krabka-protocol-borrowed": Way(
        "krabka-protocol, borrowed",
        "point into the input, UTF-8 is checked",
        "decoded as record batches, so it has no case with opaque bytes",
        f"made when they are read, keys and values point into the input; {_CRC}",
        ("records",),
    ),
    "kafka-clients": Way(
        "kafka-clients",
        "copies, UTF-8 is decoded",
        "views of the input",
        f"made when they are read, keys and values are views of the input; {_CRC}",
        ("records",),
    ),
    "kafka-clients-list": Way(
        "kafka-clients, kept in a list",
        "-",
        "-",
        f"all are made, keys and values are views of the input; {_CRC}",
    ),
    "kmsg": Way(
        "kmsg, kgo",
        "copies",
        "point into the input",
        f"all are made, keys and values point into the input; {_CRC}",
    ),
    "kmsg-unsafe": Way(
        "kmsg, unsafe strings", "point into the input", "point into the input", "-"
    ),
}
