# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read`` with librdkafka's mock cluster: records, output and exits."""

import os
import select
import signal
import subprocess
import sys

import pyarrow.ipc
import pyarrow.parquet
import pytest
from confluent_kafka import Producer

from kwire import client
from tests.cli.test_cli_process import PROGRAM, SOURCE

COUNTS = {0: 5, 1: 3, 2: 0, 3: 1}


@pytest.fixture(scope="module")
def producer():
    """Producer whose mock cluster contains the records of ``COUNTS``.

    The cluster runs as long as the producer exists.
    """
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    for partition, count in COUNTS.items():
        for number in range(count):
            handle.produce(
                "orders",
                b"value %d" % number,
                b"key %d" % (number % 2),
                partition=partition,
                headers=[("h", b"x")],
            )
    handle.produce("other", b"\xff\x00", partition=0)
    handle.produce("news", b"old", partition=2)
    assert handle.flush(10) == 0
    return handle


@pytest.fixture(scope="module")
def address(producer):
    """Address of one broker of the mock cluster as "host:port"."""
    broker = producer.list_topics(timeout=10).brokers[1]
    return f"{broker.host}:{broker.port}"


def places(ran):
    """Return the sorted (partition, offset) pairs of all rows."""
    assert ran.code == 0, ran.err
    return sorted((row["partition"], row["offset"]) for row in ran.rows)


ALL = [(p, n) for p, count in COUNTS.items() for n in range(count)]


def test_all_records_come_by_default(run, address):
    """By default, the command reads all records from the start to the end.

    The rows are the same as in ``kwire dump``.
    """
    ran = run("read", address, "orders", "-o", "jsonl")
    assert places(ran) == ALL
    (row,) = (row for row in ran.rows if row["partition"] == 3)
    assert ",".join(row) == (
        "topic,partition,offset,timestamp,timestamp_type,key,value,headers"
    )
    assert (row["topic"], row["key"], row["value"]) == ("orders", "key 0", "value 0")
    assert row["headers"] == [{"key": "h", "value": "x"}]
    assert ran.err == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--from", "2", "-p", "0", "-p", "1"], [(0, 2), (0, 3), (0, 4), (1, 2)]),
        (["--to", "1"], [(0, 0), (1, 0), (3, 0)]),
        (["--from", "1", "--to", "3", "-p", "0"], [(0, 1), (0, 2)]),
        (["--from", "latest"], []),
        (["--from", "end"], []),
        (["--from", "beginning", "--to", "end"], ALL),
        (["--from", "earliest", "--limit", "0"], []),
        (["--from", "-2"], [(0, 3), (0, 4), (1, 1), (1, 2), (3, 0)]),
        (["--key", "key 1"], [(0, 1), (0, 3), (1, 1)]),
        (["--isolation-level", "read_committed"], ALL),
        (["--from", "4", "--on-data-loss", "latest"], [(0, 4)]),
        # The mock cluster responds to lookups by time with the log end offset.
        (["--to", "1h"], ALL),
        (["--to", "2026-01-01T00:00:00Z"], ALL),
    ],
)
def test_options_choose_records(run, address, options, expected):
    """Records are selected by offset, name, time, partition and key."""
    assert places(run("read", address, "orders", "-o", "jsonl", *options)) == expected


def test_max_ends_the_reading(run, address):
    """The command ends after ``--max`` records, even if the topic has more records."""
    ran = run("read", address, "orders", "other", "--follow", "-n", "4", "-f", "%t\\n")
    assert ran.code == 0 and len(ran.out.splitlines()) == 4


def test_format_string_has_the_placeholders_of_kcat(run, address):
    """The placeholders are the same as in kcat."""
    ran = run("read", address, "orders", "-p", "3", "-f", r"%t %p %o %k=%v %h\n")
    assert ran.out == "orders 3 0 key 0=value 0 h=x\n"


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_files_of_columns_have_the_bytes(run, address, tmp_path, form):
    """One file contains all records of both topics, with their exact bytes."""
    path = tmp_path / f"records.{form}"
    ran = run("read", address, "orders", "other", "--output", path)
    assert (ran.code, ran.out) == (0, "")
    if form == "parquet":
        table = pyarrow.parquet.read_table(path)
    else:
        table = pyarrow.ipc.open_file(path).read_all()
    rows = table.to_pylist()
    assert sorted((r["partition"], r["offset"]) for r in rows if r["key"]) == ALL
    (other_row,) = (row for row in rows if row["topic"] == "other")
    assert (other_row["key"], other_row["value"]) == (None, b"\xff\x00")


def start(address, *args, stdout=subprocess.PIPE):
    """Start ``kwire read`` as a process, and return the process."""
    return subprocess.Popen(
        [*PROGRAM, "read", address, *args],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columns_in_a_pipe_are_those_of_a_file(address, tmp_path, form):
    """A pipe gets Arrow's stream format, and a redirected file the file format."""
    path = tmp_path / f"records.{form}"
    args = "orders", "-p", "0", "-o", form
    for options in (["--output", str(path)], []):
        with start(address, *args, *options) as process:
            data, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
    redirected = tmp_path / "redirected"
    with redirected.open("wb") as file, start(address, *args, stdout=file) as process:
        assert process.wait(60) == 0
    if form == "parquet":
        read = pyarrow.parquet.read_table
        piped = read(pyarrow.BufferReader(data))
    else:
        piped = pyarrow.ipc.open_stream(data).read_all()

        def read(path):
            return pyarrow.ipc.open_file(path).read_all()

    assert piped.equals(read(path)) and piped.equals(read(redirected))
    assert piped.num_rows == COUNTS[0]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columns_are_not_printed_to_a_terminal(address, form):
    parent, child = os.openpty()
    with start(address, "orders", "-o", form, stdout=child) as process:
        os.close(child)
        _, err = process.communicate(timeout=60)
    os.close(parent)
    assert process.returncode == 2
    assert f"{form} cannot be printed to a terminal; add --output PATH" in err.decode()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_failed_columns_are_empty_or_incomplete(address, form):
    """If the command fails before its first output, stdout is empty.

    Otherwise, the output has no valid end, so that readers reject it.
    """
    with start(address, "orders", "-p", "9", "-o", form) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"") and err.count(b"\n") == 1
    # Partition 1 ends at offset 3, so that offset 4 is a data loss. Partition 0 has a
    # record at offset 4.
    args = "orders", "--from", "4", "-p", "0", "-p", "1", "-o", form
    with start(address, *args) as process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert not out.endswith((b"PAR1", b"\xff\xff\xff\xff\0\0\0\0"))


def test_arrow_that_follows_is_flushed_by_chunk_and_ends_with_ctrl_c(address):
    args = "orders", "-p", "0", "-p", "1", "--follow", "-o", "arrow"
    with start(address, *args) as process:
        try:
            stream = pyarrow.ipc.open_stream(process.stdout)
            row_count = 0
            while row_count < COUNTS[0] + COUNTS[1]:
                row_count += stream.read_next_batch().num_rows
            process.send_signal(signal.SIGINT)
            with pytest.raises(StopIteration):
                stream.read_next_batch()
            assert process.stdout.read() == b""
            assert (process.wait(60), process.stderr.read()) == (130, b"")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["nothing"], "topic 'nothing' does not exist"),
        (["orders", "-p", "9"], "no partition 9"),
        (["orders", "--follow", "--to", "5"], "--follow and --to exclude"),
        (["orders", "--to", "-5"], "--to': it must be an offset of 0 or more"),
        (["orders", "--from", "soon"], "'soon' is not a position"),
        (["orders", "--from", "999999999w"], "is not a position"),
        (["orders", "--from", "1e5"], "is not a position"),
        (
            ["orders", "--output", "x.csv", "-f", "%k", "-o", "csv"],
            "exclude each other",
        ),
        (
            ["orders", "--from", "99", "-p", "0"],
            "orders-0 at offset 99: the log ends at offset 5; add --on-data-loss",
        ),
    ],
)
def test_read_errors_are_one_sentence(run, address, args, reason):
    """The error is one line on stderr, and the exit code is 2."""
    ran = run("read", address, *args)
    assert ran.code == 2 and reason in ran.err
    assert ran.err.count("\n") == 1 and "Traceback" not in ran.err


def test_a_file_of_a_reading_that_failed_does_not_appear(run, address, tmp_path):
    """If reading fails, no output file appears.

    An incomplete file would look like a complete file.
    """
    path = tmp_path / "records.jsonl"
    assert run("read", address, "orders", "-p", "9", "--output", path).code == 2
    assert not list(tmp_path.iterdir())


def follow(address, *options, topic="orders", **streams):
    """Start ``kwire read --follow`` as a process, and return the process."""
    return subprocess.Popen(
        [*PROGRAM, "read", address, topic, "--follow", *options],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stderr=subprocess.PIPE,
        **streams,
    )


def test_follow_prints_immediately_and_ends_with_ctrl_c(producer, address):
    """Records are printed immediately. Ctrl-C does not cause a traceback."""
    options = "-f", r"%v\n", "-p", "2", "--from", "latest"
    pipe = subprocess.PIPE
    with follow(address, *options, topic="news", stdout=pipe) as process:
        try:
            lines = []
            for number in range(60):
                # The command only reads records that are written after its start.
                producer.produce("news", b"news %d" % number, partition=2)
                producer.flush(10)
                if select.select([process.stdout], [], [], 0.5)[0]:
                    lines.append(process.stdout.readline())
                    break
            assert lines and lines[0].startswith(b"news ")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == b""


def test_ctrl_c_completes_the_file_that_follows(address, tmp_path):
    """The records that were read before Ctrl-C remain usable."""
    path = tmp_path / "records.jsonl"
    with follow(address, "-p", "0", "--output", str(path)) as process:
        try:
            # The final name does not exist yet. Find the temporary file by its size.
            for _ in range(200):
                if sum(file.stat().st_size for file in tmp_path.iterdir()) > 300:
                    break
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, err) == (130, b"")
    assert len(path.read_text().splitlines()) == COUNTS[0]


def test_closed_pipe_ends_the_command(address):
    """The command ends without an error, as with ``head``."""
    reader = f"{sys.executable} -c 'import sys; sys.stdin.readline()'"
    command = " ".join(map(str, PROGRAM)) + f" read {address} orders --follow"
    shell = f"timeout 30 {command} --limit 5 | {reader}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
    )
    assert done.returncode in (0, 141) and done.stderr == b""


@pytest.mark.parametrize("form", [["-o", "csv"], ["-o", "table"], ["-o", "jsonl"]])
def test_a_failure_before_the_first_record_prints_no_titles(run, address, form):
    """A pipe must not receive a header line that looks like data."""
    for args in (["127.0.0.1:1", "orders"], [address, "nothing"]):
        ran = run("read", *args, *form)
        assert (ran.code, ran.out) == (2, "") and ran.err.count("\n") == 1
    ran = run("read", address, "orders", "--limit", "0", *form)
    assert ran.code == 0 and bool(ran.out) == (form[1] != "jsonl")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="requires /dev/full")
@pytest.mark.parametrize(
    "form",
    [["-o", "csv"], ["-o", "jsonl"], ["-f", "%v"], [], ["-o", "arrow"]],
)
def test_a_full_disk_under_stdout_is_named(address, form):
    """The error occurs once. There is no second error when Python flushes at exit."""
    usual = {key: os.environ[key] for key in os.environ if key != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [*PROGRAM, "read", address, "orders", *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={**usual, "PYTHONPATH": str(SOURCE)},
        )
    assert (ran.returncode, ran.stderr) == (
        2,
        "kwire: stdout: no space left on device\n",
    )


@pytest.fixture(scope="module")
def exact(producer):
    """Records with all kinds of keys, values and headers in the topic "exact".

    A record is (timestamp in ms, key, value, headers).
    """
    contents = [b"", b"a", None, b"\xff\x00", '"ü"\n'.encode(), b"x" * 5000]
    headers = [[], [("h", b"x")], [("h", b"\xff"), ("h", b""), ("ü", None)]]
    rows = []
    for number in range(36):
        record = contents[number % 6], contents[number // 6], headers[number % 3]
        key, value, pairs = record
        stamp = 1_700_000_000_000 + number
        producer.produce(
            "exact", value, key, partition=0, headers=pairs, timestamp=stamp
        )
        rows.append((stamp, key, value, pairs))
    assert producer.flush(10) == 0
    return rows


@pytest.mark.parametrize("through", ["pipe", "file"])
def test_arrow_copies_a_topic_with_keys_headers_and_timestamps(
    address, producer, exact, through, tmp_path
):
    copy = f"copy-by-{through}"
    producer.produce(copy, b"the topic has to exist", partition=0)
    assert producer.flush(10) == 0
    writing = [*PROGRAM, "write", address, copy, "--to-partition", "0"]
    writing += ["--input-format", "arrow"]
    streams = {
        "stderr": subprocess.PIPE,
        "env": os.environ | {"PYTHONPATH": str(SOURCE)},
    }
    path = tmp_path / "exact.arrow"
    if through == "pipe":
        with start(address, "exact", "-o", "arrow") as reading:
            with subprocess.Popen(writing, stdin=reading.stdout, **streams) as writer:
                reading.stdout.close()
                _, err = writer.communicate(timeout=120)
            assert reading.wait(60) == 0
    else:
        with start(address, "exact", "--output", str(path)) as reading:
            assert reading.wait(60) == 0
        with subprocess.Popen([*writing, str(path)], **streams) as writer:
            _, err = writer.communicate(timeout=120)
    assert (writer.returncode, err) == (
        0,
        b"kwire: 36 records written to %b\n" % copy.encode(),
    )
    with client.connect_sync(address) as kafka:
        rows = [row for chunk in kafka.scan(copy) for row in chunk.records()][1:]
    copied_rows = [
        (row.timestamp, row.key, row.value, list(row.headers)) for row in rows
    ]
    assert copied_rows == exact
