# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire write`` to librdkafka's mock cluster. ``kwire read`` reads it back."""

import importlib
import io
import json
import os
import random
import re
import signal
import subprocess
import time
from uuid import uuid4

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from tests.cli.test_cli_process import PROGRAM, SOURCE


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
def write(kwire, address, topic):
    """Function that runs ``kwire write`` with stdin. Returns exit code and stderr."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program

    def write(*options, stdin=b""):
        args = ["write", address, topic, *map(str, options)]
        done = CliRunner().invoke(program, args, prog_name="kwire", input=stdin)
        assert done.stdout == ""
        return done.exit_code, done.stderr

    return write


@pytest.fixture
def rows(run, address, topic):
    """Function that reads a topic, and returns its rows without their positions."""

    def rows(name=topic):
        ran = run("read", address, name, "-o", "jsonl")
        assert ran.code == 0, ran.err
        position_columns = ("topic", "partition", "offset", "timestamp_type")
        return [
            {k: v for k, v in row.items() if k not in position_columns}
            for row in ran.rows
        ]

    return rows


DEEP = b"[" * 100_000 + b"]" * 100_000
"""Nested JSON arrays, which are too deep for Python's parser."""


def pairs(rows):
    """Return the sorted (key, value) pairs of all rows. A null key becomes ""."""
    return sorted((row["key"] or "", row["value"]) for row in rows)


def test_lines_of_stdin_are_values(write, rows):
    """Each line of stdin is a value with a null key, even if it is empty.

    The last line may have no line end.
    """
    code, err = write(stdin=b"one\ntwo\r\n\nthree")
    assert (code, err.count("4 records written")) == (0, 1)
    assert pairs(rows()) == [("", ""), ("", "one"), ("", "three"), ("", "two")]
    assert {row["key"] for row in rows()} == {None}


def test_a_separator_divides_keys_and_values(write, rows):
    """Only the first separator in a line divides it. A line may start with it."""
    code, err = write("-K", ":", "-z", "zstd", stdin=b"k1:v1\nk2:a:b\n:empty\n")
    assert (code, err.count("3 records written")) == (0, 1)
    assert pairs(rows()) == [("", "empty"), ("k1", "v1"), ("k2", "a:b")]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "arrow"])
def test_output_of_read_can_be_written(
    handle, run, address, write, rows, tmp_path, form
):
    """Nulls, bytes, headers and timestamps are preserved by all formats."""
    source = f"source-{uuid4().hex[:8]}"
    handle.list_topics(source, timeout=10)
    handle.produce(source, b"text", b"key", 1, timestamp=1234)
    handle.produce(source, b"\xff\x00", None, 1, headers=[("h", b"\xfe"), ("i", None)])
    handle.produce(source, None, b"", 1)
    assert handle.flush(10) == 0
    path = tmp_path / f"records.{form}"
    if form in ("parquet", "arrow"):
        assert run("read", address, source, "--output", path).code == 0
    else:
        path.write_text(run("read", address, source, "-o", form).out)
    code, err = write(path, "--to-partition", "2")
    assert code == 0, err
    assert rows() == rows(source)


def test_a_file_of_lines_is_read_by_its_option(write, rows, tmp_path):
    """The option overrides the format that the suffix of the file name specifies."""
    path = tmp_path / "lines.txt"
    path.write_bytes(b'{"key": "k", "value": "v"}\n')
    assert write(path)[0] == 0
    assert write(path, "--input-format", "jsonl")[0] == 0
    assert pairs(rows()) == [("", '{"key": "k", "value": "v"}'), ("k", "v")]


@pytest.mark.parametrize(
    ("form", "lines", "text"),
    [
        ("jsonl", b'{"value": "a"}\n{"value": 5}\n', "line 2: value must be text"),
        ("jsonl", b'{"id": 1}\n', "line 1: a record has no field 'id'"),
        ("jsonl", b"[1]\n", "line 1: not a JSON object"),
        ("jsonl", b"\xff\n", "line 1: not JSON"),
        ("jsonl", b'{"value_base64": "?"}\n', "value_base64 must be base64"),
        ("jsonl", b'{"value": "a", "timestamp": "x"}\n', "timestamp must be a number"),
        ("jsonl", b'{"value": "a", "headers": [1]}\n', "headers must be a list"),
        ("jsonl", b'{"headers": 5}\n', "headers must be a list of objects"),
        ("jsonl", b'{"headers": true}\n', "headers must be a list of objects"),
        ("jsonl", b'{"headers": {}}\n', "headers must be a list of objects"),
        ("jsonl", b'{"headers": [{}]}\n', "key of a header must be text (got None)"),
        ("jsonl", b'{"headers": [{"key": 1}]}\n', "must be text (got 1)"),
        (
            "jsonl",
            b'{"headers": [{"key": "a", "x": 1}]}\n',
            "a header has no field 'x'",
        ),
        ("jsonl", b'{"headers": [{"key": "\\ud800"}]}\n', "must be Unicode text"),
        ("jsonl", b'{"value": "\\ud800"}\n', "value must be Unicode text"),
        (
            "jsonl",
            b'{"timestamp": 9223372036854775808}\n',
            "must be 9223372036854775807 or less",
        ),
        ("jsonl", b'{"value_json": ' + DEEP + b"}\n", "nested too deeply"),
        ("jsonl", b'{"headers": ' + DEEP + b"}\n", "nested too deeply"),
        ("csv", b"key,headers\na," + DEEP + b"\n", "line 2: headers: the JSON is"),
        ("csv", b"key,headers\na,5\n", "line 2: headers must be a list of objects"),
        ("csv", b"key,headers\na,{\n", "line 2: headers: not JSON"),
        ("csv", b"value,value_encoding\n{,json\n", "line 2: value: not JSON"),
        ("csv", b"key,value\na,b,c\n", "line 2: the line has more cells"),
        ("csv", b"id\n1\n", "a record has no field 'id'"),
        ("text", b"a:b\nc\n", "line 2: the line has no separator ':' between"),
    ],
)
def test_lines_that_are_not_records_are_errors_with_their_number(
    write, form, lines, text
):
    """The error contains the line number, and the exit code is 2."""
    options = ["-K", ":"] if form == "text" else []
    code, err = write("--input-format", form, *options, stdin=lines)
    assert (code, err.count("\n")) == (2, 1)
    assert text in err and "stdin, line" in err


def test_invalid_options_are_rejected(write, run, address, tmp_path):
    """The errors contain a solution."""
    path = tmp_path / "empty.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1]}), path)
    code, err = write(path)
    assert code == 2 and "a column named value is required (got id)" in err
    code, err = write(tmp_path / "empty.parquet", "-K", ":")
    assert code == 2 and "--key-separator requires --input-format text" in err
    assert "requires a file" in write("--input-format", "parquet")[1]
    path.write_bytes(b"no parquet")
    code, err = write(path)
    assert code == 2 and "empty.parquet: " in err
    code, err = write("--to-partition", "9", stdin=b"a\n")
    assert code == 2 and "no partition 9" in err
    assert run("write", "127.0.0.1:1", "orders").code == 0
    refused = run("write", "127.0.0.1:1", "orders", __file__)
    assert refused.code == 2 and "127.0.0.1:1" in refused.err


def test_a_pipe_is_followed(address, topic, rows):
    """A line is written when it arrives, not when the pipe ends."""
    with subprocess.Popen(
        [*PROGRAM, "write", address, topic],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            process.stdin.write(b"first\n")
            process.stdin.flush()
            give_up_at = time.monotonic() + 60
            while not rows() and time.monotonic() < give_up_at:
                pass
            assert pairs(rows()) == [("", "first")]
            _, err = process.communicate(b"second\n", timeout=30)
        finally:
            process.kill()
    assert (process.returncode, err.count(b"2 records written")) == (0, 1)
    assert pairs(rows()) == [("", "first"), ("", "second")]


def test_a_bad_line_does_not_take_those_before_it_along(write, rows):
    """The lines before an invalid line are written and counted.

    The error recommends an option that skips all lines up to the invalid one.
    """
    lines = [b'{"value": "%d"}' % n for n in range(6)]
    bad = [*lines[:4], b"{", *lines[4:]]
    code, err = write(
        "--input-format", "jsonl", "--to-partition", "0", stdin=b"\n".join(bad)
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "stdin, line 5: not JSON" in err
    assert "the first 4 records were written; continue with --skip 4" in err
    skip = re.search(r"--skip (\d+)", err)[1]
    input_bytes = b"\n".join(lines)
    code, err = write(
        "--input-format",
        "jsonl",
        "--to-partition",
        "0",
        "--skip",
        skip,
        stdin=input_bytes,
    )
    assert (code, err.count("2 records written")) == (0, 1)
    assert [row["value"] for row in rows()] == list("012345")


@pytest.mark.parametrize("form", ["text", "jsonl", "csv", "parquet", "arrow"])
def test_records_at_the_start_can_be_skipped(write, rows, tmp_path, form):
    """Records at the start of each format can be skipped.

    If the file has fewer records, nothing is written.
    """
    values = [f"{n}" for n in range(3000)]
    path = tmp_path / f"rows.{form}"
    table = pyarrow.table({"value": values})
    if form == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=700)
    elif form == "arrow":
        with pyarrow.ipc.new_file(path, table.schema) as file:
            file.write_table(table, 700)
    elif form == "jsonl":
        path.write_text("".join(f'{{"value": "{value}"}}\n' for value in values))
    else:
        head = ["value"] if form == "csv" else []
        path.write_text("\n".join([*head, *values]))
    for skip in (2997, 1000, 5000):
        code, err = write(path, "--to-partition", "1", "--skip", skip)
        assert (code, err.count(f"{max(3000 - skip, 0)} records")) == (0, 1)
    expected = [*values[2997:], *values[1000:]]
    assert [row["value"] for row in rows()] == expected


def test_file_with_later_damage_reports_how_to_continue(write, rows, tmp_path):
    """The error contains the number of written rows, and the option to continue.

    Otherwise, the next run would write these rows a second time.
    """
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"value": [f"{n}" for n in range(90_000)]})
    pyarrow.parquet.write_table(table, path, row_group_size=40_000, compression="none")
    data = bytearray(path.read_bytes())
    group = pyarrow.parquet.read_metadata(path).row_group(2).column(0)
    begin = group.dictionary_page_offset or group.data_page_offset
    data[begin : begin + 40] = b"\xff" * 40
    path.write_bytes(data)
    code, err = write(path, "--to-partition", "0")
    assert (code, err.count("\n")) == (2, 1)
    done = len(rows())
    assert done and "rows.parquet: " in err and f"; the first {done} records" in err
    assert f"continue with --skip {done}" in err


def test_unsent_records_are_not_in_doubt(run, write, address, tmp_path):
    """An unknown topic or partition means that no record was written."""
    path = tmp_path / "lines"
    path.write_bytes(b"a\nb\n")
    code, err = write("--to-partition", "9", path)
    assert (code, err.count("; no record was written\n")) == (2, 1)
    ran = run("write", "127.0.0.1:1", "orders", path)
    assert (ran.code, ran.err.count("; no record was written\n")) == (2, 1)


def test_interrupted_write_reports_how_to_continue(address, topic, rows):
    """Ctrl-C has its own exit code."""
    with subprocess.Popen(
        [*PROGRAM, "write", address, topic],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            process.stdin.write(b"first\nsecond\n")
            process.stdin.flush()
            give_up_at = time.monotonic() + 60
            while len(rows()) < 2 and time.monotonic() < give_up_at:
                pass
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    # A reader may receive the records before the command receives the acknowledgement.
    assert b"interrupted; the first " in err
    assert b"; continue with --skip 2" in err or b"; --skip 0 continues" in err


def test_a_long_line_is_read_in_linear_time(kwire):
    """A long line is joined once, and not once for each of its pieces."""
    module = importlib.import_module(f"{kwire.__name__}.cli.input.records")

    class Pieces(io.BytesIO):
        def read1(self, _):
            return super().read1(1 << 10)

    line = bytes(10 << 20)
    begun = time.process_time()
    (row,) = [row for rows in module.read_text(Pieces(line), "x", None) for row in rows]
    assert row == (None, line, None, ())
    # Copying the line for each of its 10,000 pieces would take half a minute.
    assert time.process_time() - begun < 5


def test_long_rows_of_csv_are_held_in_limited_pieces(kwire):
    """A piece has at most 16 MiB, even if these are fewer than 1,000 rows."""
    module = importlib.import_module(f"{kwire.__name__}.cli.input.records")
    lines = b"\n".join([b"value,key", *[b"x" * (1 << 20)] * 40])
    pieces = module.read_csv(io.BytesIO(lines), "name")
    assert [len(piece) for piece in pieces] == [16, 16, 8]


def make_json(source, depth=0):
    """Return any JSON value. Its objects may have the names of record fields."""
    names = ["key", "value", "headers", "timestamp", "key_json", "value_hex"]
    names += ["value_base64", "topic", "offset", "x", ""]
    texts = ["", "text", "00ff", "AA==", "\ud800", "\0", "{", "9" * 5000]
    numbers = [0, -1, 2**31, 2**63, -(2**64), 1.5, 1e308]
    kind = source.randrange(8 if depth < 3 else 5)
    if kind < 2:
        return source.choice(texts)
    if kind < 5:
        return source.choice([*numbers, None, True, False])
    parts = [make_json(source, depth + 1) for _ in range(source.randrange(4))]
    if kind == 5:
        return parts
    return {source.choice(names): part for part in parts}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_any_field_is_a_row_or_an_error_of_its_line(kwire, form):
    """The result is a row that can be encoded, or an error with the line number."""
    module = importlib.import_module(f"{kwire.__name__}.cli.input.records")
    source = random.Random(form)
    names = sorted(module._RECORD_NAMES | {"key_encoding", "value_encoding"})
    counts = {True: 0, False: 0}
    for _ in range(3000):
        fields = {
            name: make_json(source)
            for name in source.sample(names, source.choice((1, 2)))
        }
        if form == "jsonl":
            data, number, read = json.dumps(fields).encode(), 1, module.read_json_lines
        else:
            cells = [
                source.choice([json.dumps(value), str(value), "json", "hex"])
                for value in fields.values()
            ]
            quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
            text = ",".join(fields) + "\n" + ",".join(quoted) + "\n"
            data = text.encode("utf-8", "replace")
            number, read = 2, module.read_csv
        try:
            rows = [row for rows in read(io.BytesIO(data), "name") for row in rows]
        except module.click.ClickException as error:
            assert error.message.startswith(f"name, line {number}: "), data
            counts[False] += 1
        else:
            batch = kwire.records.encode_batch(rows, compression="none")
            assert batch
            counts[True] += 1
    assert min(counts.values()) > 300, counts
