# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns that ``kwire read`` writes to files are equal to printed rows.

The chunks are created here, because a mock cluster does not have such batches.
``test_cli_read.py`` covers the command with a cluster.
"""

import contextlib
import io
import signal

import click
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

from kwire._engine.pure.checksums import crc32c
from kwire._limits import DEFAULT
from kwire.cli.commands.read import _Reader
from kwire.cli.output.parquet import RecordGroups
from kwire.cli.output.progress import Progress
from kwire.cli.output.record_rows import RowMaker
from kwire.cli.output.records import open_records
from kwire.cli.output.tables import Output, RowFormat
from kwire.client.chunks import COLUMNS, Chunk, DecodingOptions
from kwire.client.machines.scan.options import Fetched
from kwire.records import Record, encode_batch
from tests.harness.sweeps import sweep


@pytest.fixture(autouse=True)
def few_bytes(monkeypatch):
    """Decode small chunks as columns, which the command normally decodes as rows."""
    monkeypatch.setattr("kwire.cli.commands.read._FEW_BYTES", 0)


def make_rows(first, count):
    """Return rows with headers. Keys and values are null, empty, text or bytes."""
    keys = [b"a", None, b"", b"\xff\x00"]
    headers = [(), (("h", b"x"), ("h", None)), (("ü", b""),)]
    return [
        Record(
            offset=first + n,
            timestamp=1_700_000_000_000 + n,
            key=keys[n % 4],
            value=keys[n % 3],
            headers=headers[n % 3],
        )
        for n in range(count)
    ]


def make_chunk(topic, partition, data, start=0, end=None, next_offset=1 << 40):
    """Return a chunk as a scan creates it from a Fetch response.

    Only records from ``start`` up to ``end`` belong to the chunk.
    """
    fetched = Fetched(topic, partition, data, start, end, next_offset, 1 << 40, None)
    options = DecodingOptions(COLUMNS, "ms", False, DEFAULT, True, "strict")
    return Chunk(fetched, options)


def make_chunks():
    """Yield chunks with all features that affect the columns.

    They include old formats, compression, LogAppendTime, and invalid header names.
    """
    old = [row.replace(headers=()) for row in make_rows(0, 6)]
    none = [row.replace(timestamp=-1) for row in old]
    yield make_chunk("orders", 0, encode_batch(make_rows(0, 50), compression="gzip"))
    yield make_chunk("orders", 1, encode_batch(old, magic=1))
    yield make_chunk("orders", 1, encode_batch(none, magic=0))
    data = encode_batch(make_rows(6, 9), log_append_time=1_700_000_000_123)
    yield make_chunk("other", 0, data + encode_batch(make_rows(15, 5)), 8, 12, 12)
    # The header name is not UTF-8.
    broken = encode_batch([Record(offset=0, key=b"a", headers=(("hhhh", b"x"),))])
    position = broken.index(b"hhhh")
    yield make_chunk(
        "other", 1, repair_crc(broken[:position] + b"\xff" + broken[position + 1 :])
    )
    yield make_chunk("empty", 0, b"")
    yield make_chunk("other", 2, encode_batch(make_rows(0, 2)))


def repair_crc(batch):
    """Return a magic 2 batch with its checksum recomputed."""
    return batch[:17] + crc32c(batch[21:]).to_bytes(4, "big") + batch[21:]


class RowsAlone:
    """Writer without the methods for columns, so that the command writes row by row."""

    def __init__(self, groups):
        self.write = groups.write


def write_file(form, headers, chunks, limit=None, key=None, *, by_row):
    """Write chunks to a file by row or by column, and return the table in the file.

    ``limit`` is the maximum number of records, and ``key`` selects records.
    """
    file = io.BytesIO()
    groups = RecordGroups(pyarrow, file, form, headers, False, RowMaker("text", False))
    with Progress(None, wanted=False) as progress:
        reader = _Reader(chunks, key, progress)
        writer = RowsAlone(groups) if by_row else groups
        reader.copy(writer, limit, None, True)
    groups.close()
    return read_file(form, file)


def read_file(form, file):
    """Return the table in a Parquet or Arrow file."""
    source = pyarrow.BufferReader(file.getvalue())
    if form == "parquet":
        return pyarrow.parquet.read_table(source)
    return pyarrow.ipc.open_file(source).read_all()


@sweep("limit", [None, 0, 3, 50, 51, 1000])
@sweep("key", [None, b"a", b"", b"none"])
@sweep("headers", [True, False])
@sweep("form", ["parquet", "arrow"])
def test_columns_are_the_rows(form, headers, key, limit):
    """Files that are written by row and by column have the same table.

    Compares schema, values and order, with all kinds of batches.
    """
    by_row, by_column = (
        write_file(form, headers, make_chunks(), limit, key, by_row=by_row)
        for by_row in (True, False)
    )
    assert by_column.schema.equals(by_row.schema, check_metadata=True)
    assert by_column.to_pylist() == by_row.to_pylist()
    by_column.validate(full=True)


def test_small_chunks_come_as_rows_among_columns(monkeypatch):
    """Small chunks are written as rows, and large chunks as columns.

    The records are in the order of the chunks.
    """
    monkeypatch.setattr("kwire.cli.commands.read._FEW_BYTES", 500)
    chunks = [
        make_chunk("orders", n, encode_batch(make_rows(0, count)))
        for n, count in enumerate([1, 2, 40, 1, 41, 42, 2])
    ]
    assert {len(chunk.data) > 500 for chunk in chunks} == {True, False}
    by_row, by_column = (
        write_file("parquet", True, chunks, by_row=by_row) for by_row in (True, False)
    )
    assert by_column.equals(by_row)


def test_no_object_is_made_for_a_record(monkeypatch):
    """If a chunk can be decoded as columns, no object is created for its records."""

    def refuse(*args, **options):
        raise AssertionError("row by row")

    monkeypatch.setattr(Chunk, "batches", refuse)
    chunks = [make_chunk("orders", 0, encode_batch(make_rows(0, 50)))]
    assert write_file("parquet", True, chunks, by_row=False).num_rows == 50


@pytest.mark.parametrize("limit", [7, 8, None])
def test_damage_counts_once_it_is_reached(limit):
    """A damaged batch is only an error if the command reaches it.

    With ``--max``, the batches after the last record are not decoded.
    """
    good, bad = encode_batch(make_rows(0, 7)), bytearray(encode_batch(make_rows(7, 7)))
    bad[-1] ^= 1
    chunks = [make_chunk("orders", 0, good + bytes(bad))]
    if limit == 7:
        assert write_file("arrow", True, chunks, limit, by_row=False).num_rows == 7
        return
    with pytest.raises(click.ClickException, match=r"reading orders-0 from offset 0"):
        write_file("arrow", True, chunks, limit, by_row=False)


@pytest.mark.parametrize("by_row", [True, False], ids=["rows", "columns"])
def test_groups_are_bounded_and_few(by_row, monkeypatch):
    """The size of row groups is limited, and does not depend on the chunks.

    In an Arrow file, each group is a record batch.
    """
    monkeypatch.setattr("kwire.cli.output.parquet._GROUP_ROWS", 100)
    chunks = [
        make_chunk("ab"[n % 2], 0, encode_batch(make_rows(0, count)))
        for n, count in enumerate([1] * 120 + [350])
    ]
    file = io.BytesIO()
    groups = RecordGroups(
        pyarrow, file, "parquet", True, False, RowMaker("text", False)
    )
    with Progress(None, wanted=False) as progress:
        reader = _Reader(chunks, None, progress)
        reader.copy(RowsAlone(groups) if by_row else groups, None, None, True)
    groups.close()
    read = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(file.getvalue()))
    sizes = [read.metadata.row_group(n).num_rows for n in range(read.num_row_groups)]
    assert sum(sizes) == 470 and max(sizes) <= 100 and len(sizes) <= 6
    assert read.read().column("topic").to_pylist()[:3] == ["a", "b", "a"]


class Interrupted(io.BytesIO):
    """File that receives Ctrl-C during a write. ``left`` counts the writes up to it."""

    left = 0

    def write(self, data):
        """Write the data. Before that, raise SIGINT if this write is the chosen one."""
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)
        return super().write(data)


@pytest.mark.parametrize("write", range(1, 6))
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_ctrl_c_does_not_cut_a_group(form, write, monkeypatch):
    """With ``--follow``, the file is completed, and all groups are written once."""
    file = Interrupted()
    monkeypatch.setattr("kwire.cli.output.parquet._GROUP_ROWS", 10)
    groups = RecordGroups(pyarrow, file, form, True, False, RowMaker("text", False))
    chunks = [make_chunk("orders", 0, encode_batch(make_rows(0, 50)))] * 2
    file.left = write
    before = signal.getsignal(signal.SIGINT)
    with (
        Progress(None, wanted=False) as progress,
        pytest.raises(KeyboardInterrupt),
    ):
        reader = _Reader(chunks, None, progress)
        reader.copy(groups, None, None, True)
    assert signal.getsignal(signal.SIGINT) is before
    file.left = 0
    groups.close()
    assert read_file(form, file).num_rows == 50


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_ctrl_c_does_not_repeat_or_cut_lines(form, monkeypatch):
    """When the command completes the file after Ctrl-C, it writes no text again."""
    monkeypatch.setattr("kwire.cli.output.tables.FLUSH_SECONDS", -1)

    def write(left):
        file = Interrupted()
        output = Output(io.TextIOWrapper(file, "utf-8", newline="\n"), is_kept=True)
        writer = open_records(output, RowFormat(form), RowMaker("text", False), True)
        chunks = [make_chunk("orders", 0, encode_batch(make_rows(0, 50)))] * 4
        file.left = left
        with Progress(None, wanted=False) as progress:
            reader = _Reader(chunks, None, progress)
            with pytest.raises(KeyboardInterrupt) if left else contextlib.nullcontext():
                reader.copy(writer, None, output.flush, True)
        output.flush()
        return file.getvalue()

    complete = write(0)
    for left in range(1, 4):
        part = write(left)
        assert complete.startswith(part) and part.endswith(b"\n")
        assert 50 <= part.count(b"\n") < 200
