# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kafka-python: classes generated from Kafka's JSON, Python source per version."""

from __future__ import annotations

import importlib
from typing import Any

from kafka.protocol.schemas.fields.codecs.encode_buffer import EncodeBuffer
from kafka.protocol.schemas.fields.codecs.types import UnsignedVarInt32
from kafka.record.util import decode_varint, encode_varint

from benchmarks.contenders import CLIENT_ID, CORRELATION_ID
from benchmarks.contenders.varint_loops import read_stream, read_varints, write_varints
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import (
    UNKNOWN_OPERATIONS,
    Values,
    Workload,
    integers,
    neutral,
)

BUILDS = "slotted objects, lists; authorized operations as a set or None"
CHECKS = "bounds (fixed-width fields), UTF-8"

_OPERATIONS = ("topic_authorized_operations", "cluster_authorized_operations")


def _class(workload: Workload) -> Any:
    for module in ("metadata", "consumer", "producer"):
        package = importlib.import_module(f"kafka.protocol.{module}")
        if message_class := getattr(package, workload.message, None):
            return message_class
    raise LookupError(f"kafka-python has no {workload.message}")


def build(workload: Workload) -> Any:
    """Create kafka-python's message for a workload."""

    def construct(cls: Any, values: Values) -> Any:
        fields = {}
        for name, value in values.items():
            if name in workload.structs:
                struct = getattr(cls, workload.structs[name])
                fields[name] = [construct(struct, item) for item in value]
            elif name in _OPERATIONS and value == UNKNOWN_OPERATIONS:
                fields["authorized_operations"] = None
            else:
                fields[name] = value
        return cls(version=workload.version, **fields)

    return construct(_class(workload), workload.values)


def _field(message: Any, name: str) -> Any:
    """Return the value of a field in the form of the workload.

    kafka-python represents unknown authorized operations as None.
    """
    if name in _OPERATIONS:
        operations = message.authorized_operations
        return UNKNOWN_OPERATIONS if operations is None else operations
    return getattr(message, name)


def values(workload: Workload, message: Any) -> Any:
    """Return the values of kafka-python's message in the form of the workload."""
    return neutral(message, workload.values, _field)


def encode(workload: Workload, message: Any) -> Statement:
    """Encode a message that already exists, so that its creation is not measured."""
    return Statement("message.encode()", {"message": message})


def decode(workload: Workload, data: bytes) -> Statement:
    """Decode the message at the start of ``data`` with kafka-python's class."""
    names = {"decode": _class(workload).decode, "data": data}
    return Statement(f"decode(data, version={workload.version})", names)


def frame(workload: Workload) -> Statement:
    """Create a request from its field values. Encode it with size and header."""
    cls, version = _class(workload), workload.version

    def build_and_encode(fields: Values) -> bytes:
        request = cls(version=version, **fields)
        request.with_header(correlation_id=CORRELATION_ID, client_id=CLIENT_ID)
        return request.encode(header=True, framed=True)

    names = {"build_and_encode": build_and_encode, "fields": workload.values}
    return Statement("build_and_encode(fields)", names)


def encode_integers(kind: str, count: int) -> Statement:
    """Encode integers with one function call per value."""

    def write_all_into(values: list[int]) -> bytes:
        out = EncodeBuffer(5 * count)
        encode_into = UnsignedVarInt32.encode_into
        for value in values:
            encode_into(out, value)
        return out.result()

    names = {
        "encode_all": write_varints(encode_varint)
        if kind == "varint"
        else write_all_into,
        "values": integers(kind, count),
    }
    return Statement("encode_all(values)", names)


def decode_integers(kind: str, count: int, data: bytes) -> Statement:
    """Decode integers with one function call per value."""
    decode_all = (
        read_varints(decode_varint, count)
        if kind == "varint"
        else read_stream(UnsignedVarInt32.decode, count)
    )
    return Statement("decode_all(data)", {"decode_all": decode_all, "data": data})
