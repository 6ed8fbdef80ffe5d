# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads files in the formats of ``kwire write``, and arrays of the Arrow C interface.

The first byte of an input selects the format: a Parquet file, an Arrow file or stream,
JSON lines, CSV, text, or a C array. The other bytes are the file. For a C array, they
select types and numbers. All rows are encoded in the same way as in a producer.
"""

import os
import tempfile
from functools import cache
from itertools import islice
from pathlib import Path

from fuzz import engines, guided
from fuzz.targets import c_arrays

MODULES = (
    "records.tables",
    "records.columns",
    "client.table_batches",
    "cli.input.arrow_messages",
    "cli.input.records",
    "cli.input.tables",
)
KINDS = ("parquet", "arrow", "jsonl", "csv", "text", "c-array")
ROLES = ("key", "value", "headers", "timestamp")
MOST_PIECES = 4
"""Maximum number of pieces to read. A tiny file can contain a billion null rows."""

TYPES = ("string", "large_binary", "binary_view", "string_view", "dictionary")


@cache
def _folder():
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="kwire-fuzz-", dir=place)


def input_path():
    """Return the path of the file to which every input is written."""
    return Path(_folder().name) / "input"


def encode_table(package, table, names):
    """Encode the rows of a table in the same way as ``send_table``.

    ``names`` are the columns of the table. Returns a list of encoded batches.
    """
    import numpy

    engine = engines.module(package, "_engine.active").record_engine
    roles = {role: role if role in names else None for role in ROLES}
    table_batches = engines.module(package, "client.table_batches")
    arrow_input = engines.module(package, "records.tables")
    columns = table_batches.TableColumns(table, **roles, partition=None)
    encoded = []
    for piece in islice(columns.pieces(), MOST_PIECES):
        named = dict(zip(piece.schema.names, piece.columns, strict=True))
        rows = engine.ColumnRows(*arrow_input.split_columns(piece.num_rows, named))
        made = engine.EncodedRows(1 << 30)
        made.extend_columns(rows, numpy.arange(piece.num_rows, dtype="int64"))
        header = package.records.BatchHeader(magic=2, last_offset=-1)
        encoded.append(bytes(made.make_batch(header)))
    return encoded


def read_file(package, kind, path):
    """Read a file of the format ``kind``.

    Returns its encoded batches, and the error that ended reading or None.
    """
    lines = engines.module(package, "cli.input.records")
    tables = engines.module(package, "cli.input.tables")
    click = tables.click
    # The limit is a gigabyte otherwise. Inputs only have a few kilobytes.
    engines.module(package, "cli.input.arrow_messages").MAX_DECOMPRESSED_BYTES = 1 << 24
    encoded = []
    try:
        if kind in ("parquet", "arrow"):
            read = tables.read_parquet if kind == "parquet" else tables.read_arrow
            for piece in islice(read(str(path)), MOST_PIECES):
                encoded += encode_table(package, piece, piece.schema.names)
            return encoded, None
        with open(path, "rb") as file:
            if kind == "text":
                pieces = lines.read_text(file, "name", ":")
            elif kind == "jsonl":
                pieces = lines.read_json_lines(file, "name")
            else:
                pieces = lines.read_csv(file, "name")
            for rows in pieces:
                if rows:
                    encoded.append(package.records.encode_batch(rows))
    except (click.ClickException, package.errors.KwireError, TypeError) as error:
        return encoded, f"{type(error).__name__}: {error}"
    return encoded, None


def make_array(choices):
    """Return a record batch whose export as a C array has incorrect numbers.

    ``choices`` are the bytes that select the types and the numbers.
    """
    import pyarrow

    texts = ["a", "text of more than twelve bytes", None, "b"]
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
    headers = pyarrow.array(
        [[(text or "", b"v")] for text in texts], pyarrow.list_(pair)
    )

    def make_column(choice):
        kind = TYPES[choice % len(TYPES)]
        array = pyarrow.array(texts)
        if kind == "dictionary":
            return array.dictionary_encode()
        return array.cast(getattr(pyarrow, kind)())

    columns = [make_column(choices[0]), make_column(choices[1]), headers]
    columns = list(map(c_arrays.make_roomy, columns))
    array = pyarrow.StructArray.from_arrays(columns, list(ROLES[:3]))
    changes = []
    for start in range(2, min(len(choices), 14) - 2, 3):
        node, field, number = choices[start : start + 3]
        numbers = c_arrays.NUMBERS[field % len(c_arrays.NUMBERS)]
        changes.append(
            (node, field % len(c_arrays.NUMBERS), numbers[number % len(numbers)])
        )
    return c_arrays.DamagedArray(array, changes)


def read_array(package, choices):
    """Import a C array and encode its rows.

    Returns the encoded batches, or the text of the ``TypeError``.
    """
    try:
        return encode_table(package, make_array(choices), ROLES[:3])
    except TypeError as error:
        return str(error)


def TestOneInput(data):
    """Read one input as a file or a C array, and compare both engines."""
    if len(data) < 3:
        return
    kind = KINDS[data[0] % len(KINDS)]
    if kind == "c-array":
        engines.agree(read_array, data[1:])
        return
    path = input_path()
    path.write_bytes(data[1:])
    engines.agree(read_file, kind, path)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
