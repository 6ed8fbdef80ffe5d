# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record sets of magic 0, 1 and 2: as rows, as columns, converted, written again.

An input is a byte that says how the set is made of the rest (``record_bytes.py``), a
byte of options, and the bytes of a set.
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
"""The bits of the second byte."""


def limits_of(package, mode):
    """Choose low limits: 64 MiB for each input would make fuzzing slow."""
    few = {"records": 3, "decompressed_ratio": 4} if mode & FEW else {}
    return package.Limits(decompressed_bytes=256 * 1024, **few)


def options_of(package, mode):
    """Choose what both readers take."""
    return {
        "errors": "replace" if mode & REPLACE else "strict",
        "aborted_transactions": (),
        "check_crc": not mode & UNCHECKED,
        "start_offset": 5 if mode & START else None,
        "limits": limits_of(package, mode),
    }


def as_rows(package, data, mode):
    """Read as objects: heads, rows, and how it ended."""
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
    """Read as columns: what each holds."""
    columns = engines.module(package, "records.columns")
    options = options_of(package, mode)
    table = columns.decode_records(data, batch_columns=True, **options)
    return columns_of(table)


def columns_of(table):
    """Take the values out of columns."""
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
    """Write each batch again, as rows, and read it: the records are the same."""
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
    """Convert to another format."""
    limits = limits_of(package, mode)
    found, report = package.records.convert_batches(data, to_magic, limits=limits)
    return found, repr(report)


def mapped(package, data, mode):
    """Map the bytes: the spans, and what the map says is wrong."""
    found = package.explain.record_map(data, limits=limits_of(package, mode))
    return found.spans, found.error and engines.facts(package, found.error, len(data))


def TestOneInput(data):
    """Judge one input."""
    if len(data) < 2:
        return
    mode, data = data[1], set_of(data[:1] + data[2:])
    size = len(data)
    _, rows, error = engines.agree(as_rows, data, mode)[1]
    table = engines.agree(as_columns, data, mode, size=size)
    # With a start offset the readers may differ in what below it they look into.
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
                # Batches that were in this format are copied, damaged or not.
                engines.agree(as_rows, made[1][0][1], 0)
    if mode & MAP:
        engines.agree(mapped, data, mode)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
