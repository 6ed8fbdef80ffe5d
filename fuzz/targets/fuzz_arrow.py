# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes messages, request headers and records to Arrow columns.

An input consists of a byte with the kind and its options, three bytes for a message and
its version, and rows. Each row follows a byte with its size (255: a null row, 254: all
remaining bytes).
"""

from fuzz import engines, guided

MODULES = (
    "records.arrow",
    "records.columns",
    "messages.codec",
    "messages",
    "schema.registry",
)
ON_ERROR = ("raise", "null")


def binary_array(rows, slice_first):
    """Create an Arrow array of rows.

    If ``slice_first`` is True, the array is a slice without the first of its rows.
    """
    import pyarrow

    made = pyarrow.array([b"left out", *rows] if slice_first else rows, "binary")
    return made[1:] if slice_first else made


def values_of(made):
    """Validate an Arrow array. Returns its type and its values."""
    made.validate(full=True)
    return made.type, made.to_pylist()


def messages(package, rows, name, version, on_error, slice_first):
    """Decode messages to columns. Returns their type and their values."""
    cls = getattr(package.messages, name)
    array = binary_array(rows, slice_first)
    kind, values = values_of(
        package.messages.arrow.messages_to_arrow(array, cls, version, on_error=on_error)
    )
    return str(kind), values


def request_headers(package, rows, on_error, slice_first):
    """Decode request headers to columns. Returns their type and their values."""
    array = binary_array(rows, slice_first)
    made = package.messages.arrow.request_headers_to_arrow(array, on_error=on_error)
    kind, values = values_of(made)
    return str(kind), values


def one_by_one(package, rows, name, version):
    """Decode every row as a message.

    Returns the offset of the error or None for each row.
    """
    cls = getattr(package.messages, name)
    said = []
    for row in rows:
        try:
            if row is not None:
                package.decode(cls, row, version)
            said.append(None)
        except package.errors.DecodeError as error:
            said.append(str(error.offset))
    return said


def records(package, data, unit):
    """Decode records to an Arrow record batch. Returns its schema and its columns."""
    limits = package.Limits(decompressed_bytes=256 * 1024)
    made = package.records.arrow.records_to_arrow(
        data, timestamp_unit=unit, limits=limits
    )
    made.validate(full=True)
    # Compare timestamps as integers, because Python's datetime cannot represent all of
    # them.
    numbers = [
        column.cast("int64") if name == "timestamp" else column
        for name, column in zip(made.schema.names, made.columns, strict=True)
    ]
    return str(made.schema), [column.to_pylist() for column in numbers]


def TestOneInput(data):
    """Decode one input to Arrow columns, and compare both engines."""
    if len(data) < 4:
        return
    kind, head, rest = data[0], data[1:4], data[4:]
    if kind % 4 == 3:
        unit = ("s", "ms", "us", "ns")[head[2] % 4]
        engines.agree(records, rest, unit, size=len(rest))
        return
    rows = []
    while rest and len(rows) < 8:
        size = rest[0]
        end = {255: 1, 254: len(rest)}.get(size, 1 + size)
        rows.append(None if size == 255 else rest[1:end])
        rest = rest[end:]
    on_error, slice_first = ON_ERROR[kind >> 2 & 1], bool(kind & 8)
    if kind % 4 == 2:
        engines.agree(request_headers, rows, on_error, slice_first)
        return
    name = engines.message_at(head[:2])
    version = engines.version_at(engines.packages()[0], name, head[2])
    said = engines.agree(messages, rows, name, version, on_error, slice_first)
    wrong = engines.agree(one_by_one, rows, name, version)[1]
    fails = any(each != ("NoneType", None) for each in wrong)
    if on_error == "raise":
        engines.equal("columns fail where rows do", said[0] == "error", fails)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
