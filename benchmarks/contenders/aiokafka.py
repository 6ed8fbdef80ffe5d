# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""aiokafka: one schema object per message version, compiled varints for records.

It is only included in rows for message versions that it defines.
"""

from __future__ import annotations

import struct
from typing import Any

from aiokafka.protocol.commit import OffsetCommitRequest_v3
from aiokafka.protocol.fetch import FetchResponse_v11
from aiokafka.protocol.group import HeartbeatRequest_v1
from aiokafka.protocol.metadata import MetadataResponse_v5
from aiokafka.protocol.produce import ProduceRequest_v8
from aiokafka.protocol.types import UnsignedVarInt32
from aiokafka.record.util import decode_varint, encode_varint

from benchmarks.contenders import CLIENT_ID, CORRELATION_ID
from benchmarks.contenders.varint_loops import read_stream, read_varints, write_varints
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import Values, Workload, integers

BUILDS = "one object for the message, tuples and lists within"
CHECKS = "bounds, UTF-8"

_CLASSES = {
    ("MetadataResponse", 5): MetadataResponse_v5,
    ("FetchResponse", 11): FetchResponse_v11,
    ("ProduceRequest", 8): ProduceRequest_v8,
    ("OffsetCommitRequest", 3): OffsetCommitRequest_v3,
    ("HeartbeatRequest", 1): HeartbeatRequest_v1,
}


def _class(workload: Workload) -> Any:
    return _CLASSES[workload.message, workload.version]


def _row(values: Any) -> Any:
    """Return the fields of a message as tuples, as nested schemas require."""
    if isinstance(values, dict):
        return tuple(_row(value) for value in values.values())
    return [_row(value) for value in values] if isinstance(values, list) else values


def build(workload: Workload) -> Any:
    """Create aiokafka's message for a workload."""
    return _class(workload)(*_row(workload.values))


def _named(row: Any, like: Any) -> Any:
    """Convert tuples of fields to dictionaries. ``like`` contains the names."""
    if isinstance(like, dict):
        pairs = zip(like, row, strict=True)
        return {name: _named(value, like[name]) for name, value in pairs}
    if isinstance(like, list):
        return [_named(item, like[0]) for item in row] if like else [*row]
    return row


def values(workload: Workload, message: Any) -> Any:
    """Return the values of aiokafka's message in the form of the workload."""
    row = [getattr(message, name) for name in message.SCHEMA.names]
    return _named(row, workload.values)


def encode(workload: Workload, message: Any) -> Statement:
    """Encode a message that already exists, so that its creation is not measured."""
    return Statement("message.encode()", {"message": message})


def decode(workload: Workload, data: bytes) -> Statement:
    """Decode the message at the start of ``data`` with aiokafka's class."""
    names = {"decode": _class(workload).decode, "data": data}
    return Statement("decode(data)", names)


def frame(workload: Workload) -> Statement:
    """Create a request from its field values. Encode it with size and header."""
    cls = _class(workload)
    pack = struct.Struct(">i").pack

    def build_and_encode(fields: Values) -> bytes:
        request = cls(**fields)
        header = request.build_request_header(CORRELATION_ID, CLIENT_ID)
        message = header.encode() + request.encode()
        return pack(len(message)) + message

    # aiokafka renames some fields, but keeps the protocol's field order.
    fields = dict(zip(cls.SCHEMA.names, workload.values.values(), strict=True))
    names = {"build_and_encode": build_and_encode, "fields": fields}
    return Statement("build_and_encode(fields)", names)


def encode_integers(kind: str, count: int) -> Statement:
    """Encode integers with one function call for each value."""

    def join_all(values: list[int]) -> bytes:
        return b"".join(map(UnsignedVarInt32.encode, values))

    names = {
        "encode_all": write_varints(encode_varint) if kind == "varint" else join_all,
        "values": integers(kind, count),
    }
    return Statement("encode_all(values)", names)


def decode_integers(kind: str, count: int, data: bytes) -> Statement:
    """Decode integers with one function call for each value."""
    decode_all = (
        read_varints(decode_varint, count)
        if kind == "varint"
        else read_stream(UnsignedVarInt32.decode, count)
    )
    names = {"decode_all": decode_all, "data": bytearray(data)}
    return Statement("decode_all(data)", names)
