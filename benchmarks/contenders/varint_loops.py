# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over varints, with one codec function call per value."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any


def write_varints(encode_varint: Callable[..., Any]) -> Callable[[list[int]], bytes]:
    """Return a function that encodes a list of integers.

    ``encode_varint`` writes a value through the ``append`` method of a bytearray.
    """

    def write_all(values: list[int]) -> bytes:
        out = bytearray()
        write = out.append
        for value in values:
            encode_varint(value, write)
        return bytes(out)

    return write_all


def read_varints(decode_varint: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function that decodes ``count`` integers.

    ``decode_varint`` accepts an offset, and returns the value and the next offset.
    """

    def decode_all(data: bytes) -> list[int]:
        offset = 0
        values = []
        for _ in range(count):
            value, offset = decode_varint(data, offset)
            values.append(value)
        return values

    return decode_all


def read_stream(decode: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function that decodes ``count`` integers.

    ``decode`` reads one value from a binary stream.
    """

    def read_all(data: bytes) -> list[int]:
        source = BytesIO(data)
        return [decode(source) for _ in range(count)]

    return read_all
