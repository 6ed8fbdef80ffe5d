# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kio: dataclasses per message version, a native reader, writers in Python."""

from __future__ import annotations

import importlib
import re
import struct
from dataclasses import fields
from datetime import timedelta
from io import BytesIO
from typing import Any

from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer, readers, writers

from benchmarks.contenders import CLIENT_ID, CORRELATION_ID
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import Values, Workload, integers, neutral

BUILDS = "frozen dataclasses, tuples, ErrorCode members, timedeltas"
CHECKS = "bounds, UTF-8, known error codes"

_MILLISECOND = timedelta(milliseconds=1)


def _module(workload: Workload) -> Any:
    """Import the module that defines a message version."""
    words = re.findall("[A-Z][a-z]+", workload.message)
    name = f"kio.schema.{'_'.join(words[:-1])}.v{workload.version}.{words[-1]}"
    return importlib.import_module(name.lower())


def build(workload: Workload) -> Any:
    """Create kio's message for a workload."""
    module = _module(workload)

    def construct(cls: Any, values: Values) -> Any:
        field_values = {}
        for field in fields(cls):
            kind = field.metadata.get("kafka_type", "")
            if kind.startswith("timedelta"):
                field_values[field.name] = values[f"{field.name}_ms"] * _MILLISECOND
            elif field.name not in values:
                continue
            elif field.name in workload.structs:
                inner = getattr(module, workload.structs[field.name])
                items = values[field.name]
                field_values[field.name] = tuple(
                    construct(inner, item) for item in items
                )
            elif kind == "error_code":
                field_values[field.name] = ErrorCode(values[field.name])
            elif isinstance(values[field.name], list):
                field_values[field.name] = tuple(values[field.name])
            else:
                field_values[field.name] = values[field.name]
        return cls(**field_values)

    return construct(getattr(module, workload.message), workload.values)


def _field(message: Any, name: str) -> Any:
    """Return the value of a field in the form of the workload.

    kio represents durations as ``timedelta`` and error codes as enum members.
    """
    value = getattr(message, name, None)
    if name.endswith("_ms") and not hasattr(message, name):
        return getattr(message, name.removesuffix("_ms")) // _MILLISECOND
    return value.value if isinstance(value, ErrorCode) else value


def values(workload: Workload, decoded: Any) -> Any:
    """Return the values of kio's message in the form of the workload.

    ``decoded`` is a message, or the pair (message, size) that a reader returns.
    """
    message = decoded[0] if isinstance(decoded, tuple) else decoded
    return neutral(message, workload.values, _field)


def encode(workload: Workload, message: Any) -> Statement:
    """Encode a message that already exists, so that its creation is not measured."""
    names = {
        "write": entity_writer(type(message)),
        "BytesIO": BytesIO,
        "message": message,
    }
    return Statement("write(buffer := BytesIO(), message) or buffer.getvalue()", names)


def decode(workload: Workload, data: bytes) -> Statement:
    """Decode the message at the start of ``data`` with kio's reader."""
    read = entity_reader(getattr(_module(workload), workload.message))
    return Statement("read(data, 0)", {"read": read, "data": data})


def frame(workload: Workload) -> Statement:
    """Create a request from its field values. Encode it with size and header."""
    request = getattr(_module(workload), workload.message)
    header = request.__header_schema__
    write_header = entity_writer(header)
    write_request = entity_writer(request)
    pack = struct.Struct(">i").pack

    def build_and_write(fields: Values) -> bytes:
        buffer = BytesIO()
        write_header(
            buffer,
            header(
                request_api_key=request.__api_key__,
                request_api_version=request.__version__,
                correlation_id=CORRELATION_ID,
                client_id=CLIENT_ID,
            ),
        )
        write_request(buffer, request(**fields))
        message = buffer.getvalue()
        return pack(len(message)) + message

    names = {"build_and_write": build_and_write, "fields": workload.values}
    return Statement("build_and_write(fields)", names)


def encode_integers(kind: str, count: int) -> Statement:
    """Encode integers with one function call per value."""
    write = getattr(writers, f"write_{_named(kind)}")

    def write_all(values: list[int]) -> bytes:
        buffer = BytesIO()
        for value in values:
            write(buffer, value)
        return buffer.getvalue()

    names = {"write_all": write_all, "values": integers(kind, count)}
    return Statement("write_all(values)", names)


def decode_integers(kind: str, count: int, data: bytes) -> Statement:
    """Decode integers with one function call per value."""
    read = getattr(readers, f"read_{_named(kind)}")

    def read_all(data: bytes) -> list[int]:
        offset = 0
        values = []
        for _ in range(count):
            value, size = read(data, offset)
            values.append(value)
            offset += size
        return values

    return Statement("read_all(data)", {"read_all": read_all, "data": data})


def _named(kind: str) -> str:
    return "signed_varint" if kind == "varint" else kind
