# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of arbitrary size that cause the maximum work per byte, by family.

A family is a function that creates the decoding call for an engine and a size in bytes.
The tests count the work in these calls, and ``linear.py`` measures their time.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]


def unsigned_varint(value: int) -> bytes:
    """Encode an unsigned varint."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def decoding(kwire: Any, name: str, data: bytes, version: int) -> Call:
    """Return a function that decodes a message without limits."""
    cls = getattr(kwire.messages, name)
    return lambda: kwire.decode(cls, data, version, limits=unlimited(kwire))


def unlimited(kwire: Any) -> Any:
    """Return limits that permit frames and decompressed data of any size."""
    return kwire.Limits(frame_bytes=None, decompressed_bytes=None)


def tags(first: int, count: int) -> bytes:
    """Encode an ApiVersions request with ``count`` empty unknown tags.

    The first tag has the number ``first``.
    """
    section = b"".join(unsigned_varint(first + i) + b"\0" for i in range(count))
    return b"\1\1" + unsigned_varint(count) + section


def varints(kwire: Any, size: int) -> Call:
    """Return the decoding of tag numbers whose varints have five bytes."""
    return decoding(kwire, "ApiVersionsRequest", tags(2**28, size // 6), 3)


def unknown_tags(kwire: Any, size: int) -> Call:
    """Return the decoding of tag numbers whose varints have two bytes, if possible."""
    return decoding(kwire, "ApiVersionsRequest", tags(1000, size // 4), 3)


def empty_elements(kwire: Any, size: int) -> Call:
    """Return the decoding of an array of structs that have two bytes each."""
    count = size // 2
    data = count.to_bytes(4, "big") + bytes(2 * count)
    return decoding(kwire, "MetadataRequest", data, 1)


def many_topics(kwire: Any, size: int) -> bytes:
    """Encode a Metadata response with nested arrays, which have a few bytes each."""
    cls = kwire.messages.MetadataResponse
    partition = cls.MetadataResponsePartition(isr_nodes=[1, 2], replica_nodes=[3])
    topic = cls.MetadataResponseTopic(name="", partitions=[partition] * 2)
    one = len(kwire.encode(cls(topics=[topic]), 9))
    empty = len(kwire.encode(cls(), 9))
    data: bytes = kwire.encode(cls(topics=[topic] * (size // (one - empty) + 1)), 9)
    return data


def nested_arrays(kwire: Any, size: int) -> Call:
    """Return the decoding of nested arrays."""
    return decoding(kwire, "MetadataResponse", many_topics(kwire, size), 9)


def bad_at_the_end(kwire: Any, size: int) -> Call:
    """Return the decoding of a message whose last byte is missing.

    The decoder finds this error only at the end.
    """
    read = decoding(kwire, "MetadataResponse", many_topics(kwire, size)[:-1], 9)

    def refused() -> None:
        try:
            read()
        except kwire.DecodeError:
            return
        raise AssertionError("it was accepted")

    return refused


def record_headers(kwire: Any, size: int) -> Call:
    """Return the decoding of one record with the maximum number of headers."""
    rows = [(None, None, 0, [("", b"")] * (size // 2))]
    data = kwire.records.encode_batch(rows)
    return lambda: list(kwire.records.decode_batches(data, limits=unlimited(kwire)))


def small_records(kwire: Any, size: int) -> Call:
    """Return the decoding of records with a few bytes as columns."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    data = kwire.records.encode_batch([(None, b"", 0)] * (size // 8 + 1))
    return lambda: columns.decode_records(data, limits=unlimited(kwire))


def splitter(piece: int) -> Callable[[Any, int], Call]:
    """Return a family: one large frame that arrives in pieces of ``piece`` bytes."""

    def family(kwire: Any, size: int) -> Call:
        stream = size.to_bytes(4, "big") + bytes(size)

        def split() -> None:
            frame_splitter = kwire.messages.framing.FrameSplitter(unlimited(kwire))
            frames = 0
            for at in range(0, len(stream), piece):
                frames += len(list(frame_splitter.feed(stream[at : at + piece])))
            assert frames == 1

        return split

    return family


def connection(kwire: Any, size: int) -> Call:
    """Return the decoding of a response that arrives in pieces of 100 bytes."""
    module = importlib.import_module(f"{kwire.__name__}.connection")
    negotiation = importlib.import_module(f"{kwire.__name__}.connection.negotiation")
    table = negotiation.ApiVersionTable.from_ranges({3: (0, 9)})
    body = many_topics(kwire, size)
    frame = (len(body) + 5).to_bytes(4, "big") + bytes(5) + body
    pieces = [frame[at : at + 100] for at in range(0, len(frame), 100)]
    request = kwire.messages.MetadataRequest(topics=None)

    def receive() -> None:
        client = module.ClientConnection(table=table, limits=unlimited(kwire))
        client.send(request, 9)
        client.data_to_send()
        events = [event for each in pieces for event in client.receive_data(each)]
        assert len(events) == 1

    return receive


FAMILIES: dict[str, Callable[[Any, int], Call]] = {
    "varints": varints,
    "unknown tags": unknown_tags,
    "empty elements": empty_elements,
    "nested arrays": nested_arrays,
    "bad at the end": bad_at_the_end,
    "record headers": record_headers,
    "small records": small_records,
    "splitter, byte by byte": splitter(1),
    "splitter, in pieces": splitter(1000),
    "connection, in pieces": connection,
}
