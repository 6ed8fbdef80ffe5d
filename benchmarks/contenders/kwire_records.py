# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire records and columns. ``KWIRE_BACKEND`` selects the engine."""

from __future__ import annotations

from typing import Any

import kwire
from benchmarks.contenders.arrow_lists import values_of
from benchmarks.contenders.kwire import build
from benchmarks.contenders.record_loop import RecordLoop
from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads
from benchmarks.workloads.messages import Workload, neutral, workload
from kwire import messages

BUILDS = "a batch and its tuple of frozen records, tuples of headers"
CHECKS = (
    "CRC, bounds, size of each record, varint width, counts against remaining bytes, "
    "UTF-8 of header keys, all bytes of a batch used"
)

_READ = """
for batch in decode_batches(data):
    for record in batch.records:
        USE
"""
_READ_UNCHECKED = _READ.replace("(data)", "(data, check_crc=False)")


def _options(codec: str, level: int, magic: int = 2) -> dict[str, Any]:
    """Return the options of an encoding function for a codec, a level and a magic."""
    options: dict[str, Any] = {"compression": codec}
    if codec in workloads.LEVELS:
        options["compression_level"] = level
    return options if magic == 2 else options | {"magic": magic}


def _loop(name: str, codec: str, check_crc: bool) -> RecordLoop:
    from kwire.records import decode_batches

    text = _READ if check_crc else _READ_UNCHECKED
    names = {"decode_batches": decode_batches}
    return RecordLoop(text, names, workloads.encoded(name, codec))


def decode_objects(name: str, codec: str, check_crc: bool) -> Statement:
    """Read all fields of all records of a batch."""
    return _loop(name, codec, check_crc).reading()


def keep_objects(name: str) -> Statement:
    """Decode all records of a batch and keep the record objects."""
    return _loop(name, "none", True).keeping()


def encode_rows(name: str, codec: str, level: int) -> Statement:
    """Encode a list of tuples as one batch."""
    from kwire.records import encode_batch

    names = {
        "encode_batch": encode_batch,
        "rows": workloads.rows(name),
        "options": _options(codec, level, workloads.magic(name)),
    }
    return Statement("encode_batch(rows, **options)", names)


def append_rows(name: str) -> Statement:
    """Append one row after the other, like a producer that waits for more records."""
    from kwire.records import BatchBuilder

    size = 2 * len(workloads.section(name))
    options = {} if workloads.magic(name) == 2 else {"magic": 1}

    def build_all(rows: list[Any]) -> bytes:
        builder = BatchBuilder(size, **options)
        append = builder.append
        for key, value, timestamp, headers in rows:
            append(key, value, timestamp, headers)
        return builder.build()

    return Statement(
        "build_all(rows)", {"build_all": build_all, "rows": workloads.rows(name)}
    )


def encode_columns(name: str, codec: str, level: int) -> Statement:
    """Encode columns that already exist, so that their creation is not measured."""
    from kwire.records.columns import decode_records, encode_batch

    names = {
        "encode_batch": encode_batch,
        "columns": decode_records(workloads.encoded(name, "none")),
        "options": _options(codec, level, workloads.magic(name)),
    }
    return Statement("encode_batch(columns, **options)", names)


def decode_columns(name: str, codec: str) -> Statement:
    """Decode a batch into columns, without creating record objects."""
    import pyarrow as pa

    from kwire.records.columns import decode_records

    data = workloads.encoded(name, codec)
    return Statement(
        "decode_records(data)",
        {"decode_records": decode_records, "data": data},
        values=lambda: values_of(pa.record_batch(decode_records(data))),
    )


def decode_arrow(name: str, views: bool = False) -> Statement:
    """Decode a batch into a pyarrow record batch.

    If ``views`` is True, keys and values refer to the input instead of copies.
    """
    from kwire.records.arrow import records_to_arrow

    data = workloads.encoded(name, "none")
    return Statement(
        "records_to_arrow(data, views=True)" if views else "records_to_arrow(data)",
        {"records_to_arrow": records_to_arrow, "data": data},
        values=lambda: values_of(records_to_arrow(data, views=views)),
    )


def _encoded_messages(name: str, count: int) -> tuple[Any, Workload, list[bytes]]:
    """Return the message class, the workload, and ``count`` encoded messages."""
    load = workload(name)
    message = build(load)
    encoded = []
    for values in workloads.messages(name, count):
        others = {
            field: value
            for field, value in values.items()
            if value is not load.values[field]
        }
        encoded.append(kwire.encode(message.replace(**others), version=load.version))
    return getattr(messages, load.message), load, encoded


def messages_to_objects(name: str, count: int) -> Statement:
    """Decode every message into an object of its own."""
    cls, load, found = _encoded_messages(name, count)
    text = f"[decode(cls, data, version={load.version}) for data in found]"
    names = {"decode": kwire.decode, "cls": cls, "found": found}
    statement = Statement(text, names, calls=count)

    def values() -> list[Any]:
        return [neutral(message, load.values) for message in statement.result()]

    return Statement(text, names, calls=count, values=values)


def _plain(value: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Convert a message to a dictionary. ``fields`` contains the field names."""
    plain_fields = {}
    for name, like in fields.items():
        item = getattr(value, name)
        if isinstance(like, list) and like and isinstance(like[0], dict):
            item = [_plain(element, like[0]) for element in item]
        plain_fields[name] = item
    return plain_fields


def messages_to_dicts(name: str, count: int, typed: bool) -> Statement:
    """Decode all messages, convert them to dicts, and pass these to pyarrow.

    If ``typed`` is True, the Arrow type is specified. Otherwise pyarrow infers it from
    the dicts.
    """
    import pyarrow as pa

    cls, load, found = _encoded_messages(name, count)
    fields, version = load.values, load.version
    kind = pa.array([load.values]).type if typed else None

    def convert(found: list[bytes]) -> Any:
        decoded = [kwire.decode(cls, data, version=version) for data in found]
        return pa.array([_plain(message, fields) for message in decoded], kind)

    return Statement(
        "convert(found)",
        {"convert": convert, "found": found},
        calls=count,
        values=lambda: _structs(convert(found), load),
    )


def messages_to_arrow(name: str, count: int, views: bool = False) -> Statement:
    """Decode all messages into one nested Arrow array.

    If ``views`` is True, byte strings refer to the input instead of copies.
    """
    import pyarrow as pa

    from kwire.messages.arrow import messages_to_arrow

    cls, load, found = _encoded_messages(name, count)
    names = {
        "messages_to_arrow": messages_to_arrow,
        "array": pa.array(found, pa.binary()),
        "cls": cls,
    }
    options = ", views=True" if views else ""
    text = f"messages_to_arrow(array, cls, version={load.version}{options})"
    statement = Statement(text, names, calls=count)
    return Statement(
        text, names, calls=count, values=lambda: _structs(statement.result(), load)
    )


def _structs(array: Any, load: Workload) -> list[Any]:
    """Return the structs of an Arrow array in the form of the workload."""
    return [neutral(item, load.values, dict.__getitem__) for item in array.to_pylist()]
