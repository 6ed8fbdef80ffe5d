# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of ``kwire write``: pipes, damaged files, and required memory."""

import importlib
import os
import subprocess
from uuid import uuid4

import pyarrow
import pyarrow.parquet
import pytest
from confluent_kafka import Producer

from tests.cli.test_cli_process import PROGRAM, SOURCE
from tests.harness.guard_pages import check

PAIR = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
MIB = 1 << 20

ARROW = ("--input-format", "arrow")


@pytest.fixture(scope="module")
def handle():
    """Handle of the mock cluster, which runs as long as it exists."""
    return Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})


@pytest.fixture(scope="module")
def address(handle):
    """Address of its broker."""
    broker = handle.list_topics(timeout=10).brokers[1]
    return f"{broker.host}:{broker.port}"


@pytest.fixture
def topic(handle):
    """New topic without records."""
    name = f"topic-{uuid4().hex[:8]}"
    handle.list_topics(name, timeout=10)
    return name


@pytest.fixture
def read_rows(kwire, address, topic):
    """Function that returns (key, value, headers, timestamp) for all records."""
    client = importlib.import_module(f"{kwire.__name__}.client")

    def read_rows():
        with client.connect_sync(address) as kafka:
            return [
                (row.key, row.value, row.headers, row.timestamp)
                for chunk in kafka.scan(topic)
                for row in chunk.records()
            ]

    return read_rows


def write_ipc(create, table, rows=None, **options):
    """Return a table as the bytes of an Arrow stream or file.

    ``create`` opens the writer. ``rows`` is the maximum size of a record batch.
    """
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(**options)
    with create(sink, table.schema, options=options) as writer:
        writer.write_table(table, rows)
    return sink.getvalue().to_pybytes()


TABLE = pyarrow.table(
    {
        "topic": ["source"] * 3,
        "offset": [0, 1, 2],
        "timestamp": pyarrow.array([5, 6, 7], pyarrow.timestamp("ms", "UTC")),
        "key": pyarrow.array([b"a", None, b"\xff"]),
        "value": pyarrow.array([b"1", b"\0", None]),
        "headers": pyarrow.array(
            [[("h", b"v"), ("i", None)], [], []], pyarrow.list_(PAIR)
        ),
    }
)
ROWS = [
    (b"a", b"1", (("h", b"v"), ("i", None)), 5),
    (None, b"\0", (), 6),
    (b"\xff", None, (), 7),
]


def start(address, topic, *options):
    """Start ``kwire write`` with pipes for stdin and stderr, and return the process."""
    return subprocess.Popen(
        [*PROGRAM, "write", address, topic, *options],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("create", [pyarrow.ipc.new_stream, pyarrow.ipc.new_file])
def test_arrow_from_a_pipe_is_written_with_all_columns(
    address, topic, read_rows, create
):
    """Covers a stream and an Arrow file as bytes, in pieces of any size."""
    data = write_ipc(create, TABLE, 2, compression="zstd")
    with start(address, topic, *ARROW, "--to-partition", "1") as process:
        for byte in data[:300]:
            process.stdin.write(bytes((byte,)))
            process.stdin.flush()
        _, err = process.communicate(data[300:], timeout=60)
    assert (process.returncode, err.count(b"3 records written")) == (0, 1), err
    assert read_rows() == ROWS


def test_batches_of_a_pipe_are_written_when_they_arrive(address, topic, read_rows):
    """The command does not wait for the end of the stream."""
    with start(address, topic, *ARROW, "--to-partition", "1") as process:
        try:
            writer = pyarrow.ipc.new_stream(process.stdin, TABLE.schema)
            writer.write_table(TABLE)
            process.stdin.flush()
            while not (rows := read_rows()):
                assert process.poll() is None, process.stderr.read()
            assert rows == ROWS
            writer.write_table(TABLE)
            writer.close()
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err.count(b"6 records written")) == (0, 1), err


def test_an_arrow_stream_in_a_file_is_read(run, address, topic, read_rows, tmp_path):
    """A file may contain an Arrow stream, for example after a redirected pipe."""
    path = tmp_path / "rows.arrow"
    path.write_bytes(write_ipc(pyarrow.ipc.new_stream, TABLE))
    assert run("write", address, topic, path, "--to-partition", "1").code == 0
    assert read_rows() == ROWS


def test_a_truncated_arrow_file_says_how_to_continue(run, address, topic, tmp_path):
    """The error says how to continue.

    The file may be truncated between two record batches.
    """
    path = tmp_path / "rows.arrow"
    data = write_ipc(pyarrow.ipc.new_file, TABLE, 1)
    path.write_bytes(data[: data.index(b"ARROW1", 8) - 200])
    ran = run("write", address, topic, path, "--to-partition", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "rows.arrow: " in ran.err
    assert "; the first 3 records were written; continue with --skip 3" in ran.err


def test_an_arrow_stream_without_its_end_is_an_error(address, topic, read_rows):
    """The records are written, but the writer may have had more records."""
    data = write_ipc(pyarrow.ipc.new_stream, TABLE)
    assert data.endswith(b"\xff\xff\xff\xff\0\0\0\0")
    with start(address, topic, *ARROW, "--to-partition", "1") as process:
        _, err = process.communicate(data[:-8], timeout=60)
    assert process.returncode == 2
    assert b"stdin: the Arrow stream has no end marker" in err
    assert b"the first 3 records were written; continue with --skip 3" in err
    assert read_rows() == ROWS


def test_a_topic_is_copied_through_a_pipe(handle, address, topic, read_rows):
    """``kwire read`` and ``kwire write`` copy all fields of the records."""
    source = f"source-{uuid4().hex[:8]}"
    handle.list_topics(source, timeout=10)
    for key, value, headers, timestamp in ROWS:
        handle.produce(
            source, value, key, 1, headers=list(headers), timestamp=timestamp
        )
    assert handle.flush(10) == 0
    read = [*PROGRAM, "read", address, source, "-o", "arrow"]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    with (
        subprocess.Popen(read, env=environment, stdout=subprocess.PIPE) as reader,
        subprocess.Popen(
            [
                *PROGRAM,
                "write",
                address,
                topic,
                "--input-format",
                "arrow",
                "--to-partition",
                "1",
            ],
            env=environment,
            stdin=reader.stdout,
            stderr=subprocess.PIPE,
        ) as writer,
    ):
        reader.stdout.close()
        _, err = writer.communicate(timeout=60)
        assert reader.wait(60) == 0
    assert (writer.returncode, err.count(b"3 records written")) == (0, 1), err
    assert read_rows() == ROWS


def test_a_damaged_arrow_file_says_how_to_continue(run, address, topic, tmp_path):
    """The exit code is 2, and the record batches before the damage are written."""
    path = tmp_path / "rows.arrow"
    views = pyarrow.array(["x" * 20] * 3, pyarrow.string_view())
    data = bytearray(
        write_ipc(pyarrow.ipc.new_file, pyarrow.table({"value": views}), 1)
    )
    # Make the last of the three views point outside its buffer.
    last = data.rindex(b"\x14\0\0\0xxxx")
    data[last + 12 : last + 16] = (1 << 20).to_bytes(4, "little")
    path.write_bytes(data)
    ran = run("write", address, topic, path, "--to-partition", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "rows.arrow: value: the Arrow data of the column is invalid" in ran.err
    assert "; the first 2 records were written; continue with --skip 2" in ran.err


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_column_names_that_are_not_utf_8_are_one_sentence(
    run, address, topic, tmp_path, form
):
    """The file is rejected with the exit code of a file that cannot be read."""
    path = tmp_path / f"rows.{form}"
    table = pyarrow.table({"value": ["a"], "renamed": [1]})
    if form == "arrow":
        data = write_ipc(pyarrow.ipc.new_file, table)
    else:
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(table, sink, store_schema=False)
        data = sink.getvalue().to_pybytes()
    path.write_bytes(data.replace(b"renamed", b"\xff\xfeename"))
    ran = run("write", address, topic, path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"rows.{form}: " in ran.err and "UTF-8" in ran.err
    assert ran.err.endswith("; no record was written\n")


def peak_of(kwire, path, count):
    """Read a file with ``count`` rows and convert it in a child process.

    The pieces have a limited size. Return the peak of the memory that pyarrow
    allocates.
    """
    tables = importlib.import_module(f"{kwire.__name__}.cli.input.tables")
    batches = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    read = tables.read_parquet if path.suffix == ".parquet" else tables.read_arrow

    def work(note):
        rows = 0
        # A new memory pool starts at zero. It must exist until the child exits.
        pool = work.pool = pyarrow.proxy_memory_pool(pyarrow.default_memory_pool())
        pyarrow.set_memory_pool(pool)
        for piece in read(str(path)):
            names = {"key": None, "headers": None, "timestamp": None, "value": "value"}
            names |= {"headers": "headers"} if "headers" in piece.schema.names else {}
            columns = batches.TableColumns(piece, **names, partition=None)
            rows += sum(table.num_rows for table in columns.pieces())
        note(rows)
        assert rows == count
        peak = pool.max_memory()
        note(f"{peak} bytes")
        assert MIB < peak < 100 * MIB

    check(work)


LONG = b"x" * 9_000


def shared_tables():
    """Yield (name, table) pairs for the column types whose rows can share a value.

    Each table has 65,536 rows with the same long value, which is stored only once.
    """
    count = 1 << 16
    indices = pyarrow.array([0] * count, pyarrow.int8())
    value = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([LONG]))
    view = pyarrow.array([LONG], pyarrow.binary_view()).buffers()[1].to_pybytes()
    views = pyarrow.Array.from_buffers(
        pyarrow.binary_view(),
        count,
        [None, pyarrow.py_buffer(view * count), pyarrow.py_buffer(LONG)],
    )
    yield "dictionary", pyarrow.table({"value": value})
    yield "views", pyarrow.table({"value": views})
    keys = pyarrow.array(["h"] * count)
    pairs = pyarrow.StructArray.from_arrays([keys, value], ["key", "value"])
    offsets = pyarrow.array(range(count + 1), pyarrow.int32())
    headers = pyarrow.ListArray.from_arrays(offsets, pairs)
    yield "headers", pyarrow.table({"value": keys, "headers": headers})


def test_rows_that_share_a_value_are_held_in_limited_pieces(kwire, tmp_path):
    """The 590 MB of the rows are never in memory together, for all shared types."""
    for name, table in shared_tables():
        path = tmp_path / f"{name}.records.arrow"
        path.write_bytes(write_ipc(pyarrow.ipc.new_stream, table))
        peak_of(kwire, path, table.num_rows)
        if name != "views":
            path = tmp_path / f"{name}.parquet"
            pyarrow.parquet.write_table(table, path, compression="zstd")
            if name == "dictionary":
                assert path.stat().st_size < 2000
            peak_of(kwire, path, table.num_rows)


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl"])
def test_rows_of_a_megabyte_are_written(run, address, topic, read_rows, tmp_path, form):
    """The limit of bytes determines how many are in memory together."""
    path = tmp_path / f"rows.{form}"
    values = [os.urandom(MIB // 2 - 100).hex().encode() for _ in range(40)]
    table = pyarrow.table({"value": values})
    if form == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif form == "arrow":
        path.write_bytes(write_ipc(pyarrow.ipc.new_file, table))
    elif form == "csv":
        path.write_bytes(b"\n".join([b"value", *values]))
    else:
        path.write_bytes(b"".join(b'{"value": "%s"}\n' % value for value in values))
    ran = run("write", address, topic, path, "--to-partition", "1")
    assert ran.code == 0, ran.err
    # The mock cluster may have deleted old segments, so that only the last rows are
    # compared.
    written = [value for _, value, _, _ in read_rows()]
    assert written and written == values[-len(written) :]
    assert "40 records written" in ran.err


def test_a_message_that_declares_too_many_bytes_is_rejected(
    run, address, topic, tmp_path
):
    """The error is raised before its 1.5 GiB are allocated."""
    path = tmp_path / "rows.arrow"
    data = write_ipc(pyarrow.ipc.new_file, pyarrow.table({"value": [bytes(MIB)] * 5}))
    compressed = write_ipc(
        pyarrow.ipc.new_file,
        pyarrow.table({"value": [bytes(MIB)] * 5}),
        compression="zstd",
    )
    assert len(compressed) < len(data) // 100
    # The size precedes the compressed data in the body.
    start = compressed.rindex((5 * MIB).to_bytes(8, "little") + b"\x28\xb5\x2f\xfd")
    larger = (3 << 29).to_bytes(8, "little")
    path.write_bytes(compressed[:start] + larger + compressed[start + 8 :])
    ran = run("write", address, topic, path)
    assert ran.code == 2 and "bytes when it is decompressed" in ran.err
    path.write_bytes(compressed)
    assert run("write", address, topic, path, "--to-partition", "0").code == 0


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_delta_encoding_of_parquet_is_read(kwire, tmp_path, encoding):
    """In pyarrow, these encodings cannot be decoded to dictionary arrays."""
    tables = importlib.import_module(f"{kwire.__name__}.cli.input.tables")
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"value": [f"value {n}" for n in range(1000)]})
    pyarrow.parquet.write_table(
        table, path, use_dictionary=False, column_encoding={"value": encoding}
    )
    assert pyarrow.Table.from_batches(tables.read_parquet(str(path))).equals(table)
