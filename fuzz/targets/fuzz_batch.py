# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes record sets of magic 0, 1 and 2 as rows and as columns, and encodes them.

An input consists of a byte that specifies how the set is prepared
(``record_bytes.py``), a byte with options, and the bytes of a record set.
"""

import itertools

from fuzz import engines, guided
from fuzz.targets.record_bytes import set_of

MODULES = (
    "records.batches",
    "records.columns",
    "records.conversion",
    "records.compression",
    "explain",
)
REPLACE, COMMITTED, UNCHECKED, START, FEW, WRITE, CONVERT, MAP = (
    1 << bit for bit in range(8)
)
"""Options: the bits of the second byte of an input, from the lowest bit on."""


def limits_of(package, mode):
    """Return limits of 256 KiB, because 64 MiB per input would make fuzzing slow."""
    few = {"records": 3, "decompressed_ratio": 4} if mode & FEW else {}
    return package.Limits(decompressed_bytes=256 * 1024, **few)


def options_of(package, mode):
    """Return the options that both readers support."""
    return {
        "errors": "replace" if mode & REPLACE else "strict",
        "aborted_transactions": (),
        "check_crc": not mode & UNCHECKED,
        "start_offset": 5 if mode & START else None,
        "limits": limits_of(package, mode),
    }


def as_rows(package, data, mode):
    """Decode a record set to objects.

    Returns the headers, the rows, and the details of the error or None.
    """
    options = options_of(package, mode)
    if not mode & COMMITTED:
        options["aborted_transactions"] = None
    heads, rows, error = [], [], None
    try:
        for batch in package.records.decode_batches(data, **options):
            heads.append(batch.header)
            rows += (
                (each, batch.timestamp_type)
                for each in batch.records
                if not batch.is_control
            )
    except package.errors.KwireError as failure:
        error = engines.facts(package, failure, len(data))
    return heads, rows, error


def as_columns(package, data, mode):
    """Decode a record set to columns. Returns the values of each column by name."""
    columns = engines.module(package, "records.columns")
    options = options_of(package, mode)
    table = columns.decode_records(data, batch_columns=True, **options)
    return columns_of(table)


def columns_of(table):
    """Return the values of all columns by column name."""
    names = [name for name in table.names if name not in ("key", "value", "headers")]
    found = {name: getattr(table, name).tolist() for name in names}
    lists = table.headers.offsets.tolist()
    found["key"] = list(table.key)
    found["value"] = list(table.value)
    keys, values = list(table.headers.key), list(table.headers.value)
    found["headers"] = [
        list(zip(keys[start:end], values[start:end], strict=True))
        for start, end in itertools.pairwise(lists)
    ]
    return found


def written_again(package, data, mode):
    """Encode every batch again from its rows, and decode the result.

    Raises ``Finding`` if the records differ.
    """
    options = options_of(package, mode & ~COMMITTED) | {"aborted_transactions": None}
    found = []
    for batch in package.records.decode_batches(data, **options):
        if not batch.records:
            continue
        try:
            written = package.records.encode_batch(
                batch.records,
                magic=batch.magic,
                compression=batch.compression,
                is_control=batch.is_control,
            )
        except package.errors.EncodeError as error:
            found.append(engines.facts(package, error))
            continue
        (again,) = package.records.decode_batches(written)
        engines.equal(
            "records that were written again",
            [engines.neutral(each) for each in again.records],
            [engines.neutral(each) for each in batch.records],
        )
        found.append(written)
    return found


def converted(package, data, to_magic, mode):
    """Convert a record set to the format ``to_magic``.

    Returns the result and the report.
    """
    limits = limits_of(package, mode)
    found, report = package.records.convert_batches(data, to_magic, limits=limits)
    return found, repr(report)


def mapped(package, data, mode):
    """Return the spans of the byte map of a record set, and its error's details."""
    found = package.explain.record_map(data, limits=limits_of(package, mode))
    return found.spans, found.error and engines.facts(package, found.error, len(data))


def TestOneInput(data):
    """Decode one input as rows and columns, encode it again, and compare engines."""
    if len(data) < 2:
        return
    mode, data = data[1], set_of(data[:1] + data[2:])
    size = len(data)
    _, rows, error = engines.agree(as_rows, data, mode)[1]
    table = engines.agree(as_columns, data, mode, size=size)
    # With a start offset, the readers may decode different parts below this offset.
    alike = mode & COMMITTED and not mode & START
    if alike:
        wrong = table[1] if table[0] == "error" else None
        engines.equal("rows and columns fail alike", engines.neutral(wrong), error)
    if table[0] == "value" and alike:
        count = len(table[1][1][1])
        engines.equal("rows and columns are as many", count, len(rows))
    if mode & WRITE:
        engines.agree(written_again, data, mode, size=size)
    if mode & CONVERT:
        for magic in (0, 1, 2):
            made = engines.agree(converted, data, magic, mode, size=size)
            if made[0] == "value":
                # Conversion copies batches that already have the requested format, even
                # if they are damaged.
                engines.agree(as_rows, made[1][0][1], 0)
    if mode & MAP:
        engines.agree(mapped, data, mode)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
