# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""FIFOs, sockets and directories among log files are reported, never opened.

Opening a FIFO waits for a writer forever, and a device may be endless. An alarm
interrupts code that opens one, so that a test fails instead of hanging.
"""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from kwire import log
from kwire._files import NotRegularFile, open_regular
from kwire.log import indexes
from kwire.recording import request_log

KINDS = ["FIFO", "socket", "device", "folder", "broken link", "loop"]
WORDS = {
    "FIFO": "is a FIFO, not a regular file",
    "socket": "is a socket, not a regular file",
    "device": "is a character device, not a regular file",
    "folder": "is a directory, not a regular file",
    "broken link": "no such file or directory",
    "loop": "too many levels of symbolic links",
}
NAMED = {
    "cli/input/brokers.py",  # Settings may come from a stream.
    "cli/input/bytes.py",  # @FILE may be a stream.
    "client/security.py",  # Checks whether certificates and keys can be opened.
    "client/property_files.py",  # Settings may come from a stream.
    "_files.py",
}
"""kwire modules that may open a user's files, with the reason."""

PLACES = [
    f"orders-0/{20:020}.log",
    f"orders-0/{0:020}.index",
    f"orders-0/{0:020}.timeindex",
    f"orders-0/{0:020}.txnindex",
    f"orders-0/{10:020}.snapshot",
    f"orders-0/{10:020}-{1:010}.checkpoint",
    "orders-0/leader-epoch-checkpoint",
    "orders-0/partition.metadata",
    "orders-2/00000000000000000000.log",
    "replication-offset-checkpoint",
]


@pytest.fixture(autouse=True)
def _alarm():
    def give_up(*_):
        raise AssertionError("it waits for something that never comes")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put(path, kind):
    """Create a FIFO, a socket, a directory or a link at a path, as ``kind`` says."""
    path.parent.mkdir(exist_ok=True)
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "socket":
        # A socket path must be short, so the socket is bound from its own directory.
        before = os.getcwd()
        os.chdir(path.parent)
        try:
            with socket.socket(socket.AF_UNIX) as unix_socket:
                unix_socket.bind(path.name)
        finally:
            os.chdir(before)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "loop": path.name}.get(kind, "nothing"))


@pytest.mark.parametrize("kind", KINDS)
def test_commands_skip_paths_that_are_not_regular_files(run, orders, tmp_path, kind):
    """The commands print all other records, and list the skipped paths on stderr."""
    paths = [orders / name for name in PLACES]
    for path in paths:
        put(path, kind)
    is_link = kind in ("broken link", "loop")
    listed = run("ls", orders, "-o", "jsonl")
    assert [(row["topic"], row["partition"]) for row in listed.rows] == [
        ("orders", 0),
        ("orders", 1),
    ]
    verified = run("verify", orders)
    assert verified.out == "" and "verified 2 partitions" in verified.err
    dumped = run("dump", orders, "-o", "jsonl")
    assert len(dumped.rows) == 25
    assert len(run("dump", orders, "--from", 5, "-o", "jsonl").rows) == 15
    exported = run("export", orders, "--output", tmp_path / "out", "-o", "csv")
    records = pyarrow.parquet.read_table(tmp_path / "out" / "records")
    assert records.num_rows == 25
    # The target of a broken link may have been a file.
    assert exported.code == (1 if is_link else 0)
    problems = pyarrow.parquet.read_table(tmp_path / "out" / "problems").to_pylist()
    reported_paths = {row["path"] for row in problems}
    for ran in (listed, verified, dumped):
        assert ran.code == (2 if is_link else 0)
        for path in paths[:-1] if is_link else paths:
            assert f"{path}: {WORDS[kind]}" in ran.err
            assert str(path) in reported_paths


@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize("command", ["ls", "verify", "dump", "repair", "audit"])
def test_special_file_as_an_argument_is_rejected(run, tmp_path, kind, command):
    path = tmp_path / f"{0:020}.log"
    put(path, kind)
    options = {
        "repair": ["--output", tmp_path / "x"],
        "audit": ["--target", "4.1", "--output", tmp_path / "x"],
    }
    ran = run(command, path, *options.get(command, ()))
    assert ran.code == 2 and len(ran.err.splitlines()) == 1
    if kind != "folder":
        assert ran.err == f"kwire: {path}: {WORDS[kind]}\n"


def test_offsets_and_audit_skip_paths_that_are_not_regular_files(run, orders, tmp_path):
    """Covers paths next to group partitions, and among request logs."""
    data = Path(__file__).parents[1] / "data"
    folder = tmp_path / "logs" / "__consumer_offsets-0"
    folder.mkdir()
    put(folder / f"{0:020}.log", "FIFO")
    for segment in (data / "4.3.1" / "data" / "__consumer_offsets-0").glob("*.log"):
        (folder.parent / "__consumer_offsets-1").mkdir(exist_ok=True)
        target = folder.parent / "__consumer_offsets-1" / segment.name
        target.write_bytes(segment.read_bytes())
    ran = run("offsets", folder.parent, "--output", tmp_path / "offsets")
    assert ran.code == 0 and "1 problem" in ran.err
    requests = tmp_path / "requests"
    requests.mkdir()
    for kind in KINDS:
        put(requests / f"{kind}.log", kind)
        put(requests / f"{kind}.parquet", kind)
    (requests / "kafka-request.log").write_bytes(
        (data / "request-logs" / "kafka-3.9.2.log").read_bytes()
    )
    ran = run("audit", requests, "--target", "3.9", "--output", tmp_path / "audit")
    assert ran.code == 0 and "none break" in ran.err


@pytest.mark.parametrize("is_late", [False, True])
def test_no_file_is_opened_that_became_something_else(
    orders, tmp_path, monkeypatch, is_late
):
    """A FIFO replaces the segment after the check or before it.

    In both cases, the segment counts as missing, and the FIFO is not opened.
    """
    path = orders / "orders-0" / f"{10:020}.log"
    partition = log.LogDirectory(orders)["orders", 0]
    path.unlink()
    put(path, "FIFO")
    if is_late:
        monkeypatch.setattr("os.stat", lambda *_, **__: os.lstat(__file__))
    with pytest.raises(NotRegularFile, match="is a FIFO"):
        open_regular(path)
    with pytest.raises(FileNotFoundError):
        partition.segments[1].open()
    with pytest.raises(FileNotFoundError):
        indexes.read_small_file(path)
    assert not request_log.is_request_log(path)


def test_a_refused_file_leaves_no_handle_open(tmp_path, monkeypatch):
    put(tmp_path / "fifo", "FIFO")
    monkeypatch.setattr("os.stat", lambda *_, **__: os.lstat(__file__))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with pytest.raises(NotRegularFile):
            open_regular(tmp_path / "fifo")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_vanishes_costs_no_other(run, orders, monkeypatch):
    """A broker deletes the oldest segments while a log is read."""
    begin = log.Segment.__init__

    def forget(segment, path, **options):
        begin(segment, path, **options)
        if segment.base_offset == 0 and segment.partition == 0:
            Path(path).unlink()

    monkeypatch.setattr(log.Segment, "__init__", forget)
    assert list(log.LogDirectory(orders)["orders", 0].problems()) == []
    monkeypatch.undo()
    partition = log.LogDirectory(orders)["orders", 0]
    partition.segments[0].path.unlink()
    with pytest.raises(FileNotFoundError):
        list(partition.problems())


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_that_may_not_be_read_is_done_without(
    run, orders, monkeypatch, suffix
):
    """If an index cannot be read, records are found by the batch headers."""
    path = orders / "orders-0" / f"{0:020}{suffix}"
    path.write_bytes(b"")

    def refuse(name, *args, **options):
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return open_regular(name, *args, **options)

    module = sys.modules["kwire.log.indexes"]
    monkeypatch.setattr(module, "open_regular", refuse)
    segment = log.LogDirectory(orders)["orders", 0].segments[0]
    assert segment.seek(7) is not None
    assert segment.offset_for_timestamp(0) == 0


def test_streams_that_are_named_are_read(tmp_path):
    """The user has requested @/dev/stdin and process substitutions explicitly."""
    frame = "0000000a00120000000000070000"
    for shell in (
        f"printf {frame} | {sys.executable} -m kwire explain @/dev/stdin",
        f"{sys.executable} -m kwire explain @<(printf {frame})",
    ):
        done = subprocess.run(
            ["bash", "-c", shell], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "ApiVersions" in done.stdout


def test_only_listed_modules_use_the_builtin_open():
    """Other modules use ``open_regular``, which rejects special files.

    The listed modules only open files that a user names, or kwire's own files.
    """
    source = Path(log.__file__).parents[1]
    opening = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"(?<![\w.])(?<!def )open\(\w", path.read_text("utf-8"))
    }
    assert opening - NAMED == set()
