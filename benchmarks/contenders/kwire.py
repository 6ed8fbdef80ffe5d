# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire through its public API. ``KWIRE_BACKEND`` selects the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

import kwire
from benchmarks.contenders import CLIENT_ID, CORRELATION_ID
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import Values, Workload, integers, neutral, workload
from kwire import messages
from kwire.messages import framing, wire

BUILDS = "frozen structs, tuples; every field of the message at every version"
CHECKS = (
    "bounds, counts against remaining bytes, UTF-8, varint width, null where not "
    "allowed, tag order, all bytes used"
)


def build(workload: Workload) -> Any:
    """Create kwire's message for a workload."""
    root = getattr(messages, workload.message)

    def construct(cls: Any, values: Values) -> Any:
        fields = dict(values)
        for name in values.keys() & workload.structs.keys():
            struct = getattr(root, workload.structs[name])
            fields[name] = [construct(struct, item) for item in values[name]]
        return cls(**fields)

    return construct(root, workload.values)


def values(workload: Workload, message: Any) -> Any:
    """Return the values of kwire's message in the form of the workload."""
    return neutral(message, workload.values)


def _field_of_views(message: Any, name: str) -> Any:
    value = getattr(message, name)
    if name == "records" and not isinstance(value, memoryview):
        raise TypeError(f"records are {type(value).__name__}, not a memoryview")
    return value


def values_zero_copy(workload: Workload, message: Any) -> Any:
    """Return the values of kwire's message in the form of the workload.

    Raises ``TypeError`` if ``records`` fields are not views.
    """
    return neutral(message, workload.values, _field_of_views)


def encode(workload: Workload, message: Any) -> Statement:
    """Encode a message that already exists, so that its creation is not measured."""
    names = {"encode": kwire.encode, "message": message}
    return Statement(f"encode(message, version={workload.version})", names)


def decode(workload: Workload, data: bytes, options: str = "") -> Statement:
    """Decode a message, which must consume all bytes of ``data``.

    ``options`` is the source text of further arguments of ``kwire.decode``.
    """
    cls = getattr(messages, workload.message)
    names = {"decode": kwire.decode, "cls": cls, "data": data}
    return Statement(f"decode(cls, data, version={workload.version}{options})", names)


def decode_zero_copy(workload: Workload, data: bytes) -> Statement:
    """Decode a message whose ``records`` fields are views of ``data``."""
    return decode(workload, data, ", zero_copy=True")


def frame(workload: Workload) -> Statement:
    """Create a request from its field values. Encode it with size and header."""
    request = getattr(messages, workload.message)
    names = {"encode_request": framing.encode_request, "request": request}
    names |= {f"scalar_{name}": value for name, value in workload.values.items()}
    fields = ", ".join(f"{name}=scalar_{name}" for name in workload.values)
    return Statement(
        f"encode_request(request({fields}), {workload.version}, "
        f"correlation_id={CORRELATION_ID}, client_id={CLIENT_ID!r})",
        names,
    )


def encode_integers(kind: str, count: int) -> Statement:
    """Encode an integer array with one function call."""
    dtype = np.uint32 if kind == "unsigned_varint" else np.int32
    names = {
        "encode": getattr(wire, f"encode_{kind}s"),
        "array": np.array(integers(kind, count), dtype),
    }
    return Statement("encode(array)", names)


def decode_integers(kind: str, count: int, data: bytes) -> Statement:
    """Decode ``count`` integers with one function call."""
    names = {"decode": getattr(wire, f"decode_{kind}s"), "data": data}
    return Statement(f"decode(data, {count})[0]", names)


def _reads(part: Any) -> Statement:
    fields = tuple(_partition().values)
    return Statement(
        "; ".join(f"part.{name}" for name in fields * 5),
        {"partition": part},
        setup="part = partition",
        calls=5 * len(fields),
    )


def _partition() -> Workload:
    topics = workload("metadata_v9").values["topics"]
    return Workload("MetadataResponse", 9, topics[0]["partitions"][0], {})


def read_struct() -> Statement:
    """Read the fields of a decoded struct."""
    metadata = workload("metadata_v9")
    message = decode(metadata, encode(metadata, build(metadata)).result()).result()
    return _reads(message.topics[0].partitions[0])


def read_slots() -> Statement:
    """Read the same fields from an instance of a plain class with ``__slots__``."""
    fields = _partition().values
    part = type("Slots", (), {"__slots__": tuple(fields)})()
    for name, value in fields.items():
        setattr(part, name, value)
    return _reads(part)
