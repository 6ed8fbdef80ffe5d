# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire write`` to librdkafka's mock cluster, read back by ``kwire read``."""

import importlib
import os
import subprocess
from uuid import uuid4

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from test_cli_process import PROGRAM, SOURCE


@pytest.fixture(scope="module")
def handle():
    """The mock cluster, which ends with its handle."""
    return Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})


@pytest.fixture(scope="module")
def address(handle):
    """Where its broker listens."""
    broker = handle.list_topics(timeout=10).brokers[1]
    return f"{broker.host}:{broker.port}"


@pytest.fixture
def topic(handle):
    """A topic that nothing was written to."""
    name = f"topic-{uuid4().hex[:8]}"
    handle.list_topics(name, timeout=10)
    return name


@pytest.fixture
def write(kwire, address, topic):
    """Run ``kwire write`` with stdin; gives exit code and stderr."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program

    def write(*options, stdin=b""):
        args = ["write", address, topic, *map(str, options)]
        done = CliRunner().invoke(program, args, prog_name="kwire", input=stdin)
        assert done.stdout == ""
        return done.exit_code, done.stderr

    return write


@pytest.fixture
def rows(run, address, topic):
    """Read the topic as JSON lines, without what depends on time and place."""

    def rows(name=topic):
        ran = run("read", address, name, "-o", "jsonl")
        assert ran.code == 0, ran.err
        place = ("topic", "partition", "offset", "timestamp_type")
        return [{k: v for k, v in row.items() if k not in place} for row in ran.rows]

    return rows


def pairs(rows):
    """Give key and value of each row, sorted."""
    return sorted((row["key"] or "", row["value"]) for row in rows)


def test_lines_of_stdin_are_values(write, rows):
    """With a separator, keys and values; the last line may have no end."""
    code, err = write(stdin=b"one\ntwo\r\n\nthree")
    assert (code, err.count("4 records written")) == (0, 1)
    assert pairs(rows()) == [("", ""), ("", "one"), ("", "three"), ("", "two")]
    assert {row["key"] for row in rows()} == {None}


def test_a_separator_divides_keys_and_values(write, rows):
    """At its first place in the line."""
    code, err = write("-K", ":", "-z", "zstd", stdin=b"k1:v1\nk2:a:b\n:empty\n")
    assert (code, err.count("3 records written")) == (0, 1)
    assert pairs(rows()) == [("", "empty"), ("k1", "v1"), ("k2", "a:b")]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "arrow"])
def test_what_read_writes_can_be_written(
    handle, run, address, write, rows, tmp_path, form
):
    """Nulls, bytes, headers and timestamps come through each format."""
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
    code, err = write(path, "-p", "2")
    assert code == 0, err
    assert rows() == rows(source)


def test_a_file_of_lines_is_read_by_its_option(write, rows, tmp_path):
    """And without one by its name, where that has a form."""
    path = tmp_path / "lines.txt"
    path.write_bytes(b'{"key": "k", "value": "v"}\n')
    assert write(path)[0] == 0
    assert write(path, "--format", "jsonl")[0] == 0
    assert pairs(rows()) == [("", '{"key": "k", "value": "v"}'), ("k", "v")]


@pytest.mark.parametrize(
    ("form", "lines", "text"),
    [
        ("jsonl", b'{"value": "a"}\n{"value": 5}\n', "line 2: value must be text"),
        ("jsonl", b'{"id": 1}\n', "line 1: the field 'id' is none of a record"),
        ("jsonl", b"[1]\n", "line 1: not a JSON object"),
        ("jsonl", b"\xff\n", "line 1: not JSON"),
        ("jsonl", b'{"value_base64": "?"}\n', "value_base64 must be base64"),
        ("jsonl", b'{"value": "a", "timestamp": "x"}\n', "timestamp must be a number"),
        ("jsonl", b'{"value": "a", "headers": [1]}\n', "headers must be a list"),
        ("csv", b"key,value\na,b,c\n", "line 2: there are more cells than names"),
        ("csv", b"id\n1\n", "the field 'id' is none of a record"),
        ("text", b"a:b\nc\n", "line 2: there is no ':' between key and value"),
    ],
)
def test_lines_that_are_no_records_are_named(write, form, lines, text):
    """With their number, and the command ends with 2."""
    options = ["-K", ":"] if form == "text" else []
    code, err = write("--format", form, *options, stdin=lines)
    assert (code, err.count("\n")) == (2, 1)
    assert text in err and "stdin, line" in err


def test_options_that_cannot_be(write, run, address, tmp_path):
    """Each with what to do."""
    path = tmp_path / "empty.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1]}), path)
    code, err = write(path)
    assert code == 2 and "there is no column value (it has id)" in err
    code, err = write(tmp_path / "empty.parquet", "-K", ":")
    assert code == 2 and "--key-separator requires --format text" in err
    assert "requires a file" in write("--format", "parquet")[1]
    path.write_bytes(b"no parquet")
    code, err = write(path)
    assert code == 2 and "empty.parquet: " in err
    code, err = write("-p", "9", stdin=b"a\n")
    assert code == 2 and "no partition 9" in err
    assert run("write", "127.0.0.1:1", "orders").code == 0
    refused = run("write", "127.0.0.1:1", "orders", __file__)
    assert refused.code == 2 and "127.0.0.1:1" in refused.err


def test_a_pipe_is_followed(address, topic, rows):
    """A line is written when it comes, not when the pipe ends."""
    with subprocess.Popen(
        [*PROGRAM, "write", address, topic],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            process.stdin.write(b"first\n")
            process.stdin.flush()
            for _ in range(100):
                if rows():
                    break
            assert pairs(rows()) == [("", "first")]
            _, err = process.communicate(b"second\n", timeout=30)
        finally:
            process.kill()
    assert (process.returncode, err.count(b"2 records written")) == (0, 1)
    assert pairs(rows()) == [("", "first"), ("", "second")]
