# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire ls``, ``verify`` and ``repair``: their results for files."""

import csv
import io
import os
import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet
import pytest

from kwire import jobs, log
from tests.cli.made_logs import DATA, START, rows, write_log


def test_ls_sums_up_partitions(run, orders):
    ran = run("ls", orders, "-o", "jsonl")
    assert ran.code == 0
    first, second = ran.rows
    size = sum(path.stat().st_size for path in (orders / "orders-0").iterdir())
    assert first == {
        "topic": "orders",
        "partition": 0,
        "state": "",
        "path": str(orders / "orders-0"),
        "segments": 2,
        "size": size,
        "start_offset": 0,
        "end_offset": 20,
        "first_timestamp": START,
        "last_timestamp": START + 19_000,
        "magics": [2],
        "codecs": ["gzip", "none"],
    }
    assert (second["partition"], second["end_offset"]) == (1, 5)
    assert "1 topic, 2 partitions, 3 segments" in ran.err


def test_ls_lists_segments(run, orders):
    segments = run("ls", "-l", orders, "-o", "jsonl", "-p", 0).rows
    assert [(row["start_offset"], row["end_offset"]) for row in segments] == [
        (0, 10),
        (10, 20),
    ]
    assert [row["is_newest"] for row in segments] == [False, True]
    assert segments[1]["path"].endswith(f"orders-0/{10:020}.log")


def test_ls_fits_into_80_columns(run, orders):
    lines = run("ls", orders).out.splitlines() + run("ls", "-l", orders).out.split("\n")
    names = [line for line in lines if str(orders) not in line]
    assert max(map(len, names)) <= 80
    assert "        0         2  " in lines[2] and "0..20" in lines[2]


def test_ls_takes_the_replicas_of_brokers_apart(run, orders, tmp_path):
    shutil.copytree(orders, tmp_path / "other")
    lines = run("ls", tmp_path).out.splitlines()
    headings = [line for line in lines if line.startswith("orders")]
    assert headings == [f"orders  ({tmp_path / name})" for name in ("logs", "other")]


def test_ls_csv_reads_back(run, orders):
    segments = list(csv.DictReader(io.StringIO(run("ls", "-o", "csv", orders).out)))
    assert [row["end_offset"] for row in segments] == ["20", "5"]
    assert segments[0]["codecs"] == '["gzip","none"]'


def test_ls_shows_empty_segments_as_such(run, tmp_path):
    write_log(tmp_path / "idle-0", [])
    row = run("ls", tmp_path, "-o", "jsonl").rows[0]
    assert (row["size"], row["start_offset"], row["magics"]) == (0, None, [])
    assert run("ls", tmp_path).out.splitlines()[-1].split() == [
        "0",
        "1",
        "0",
        "B",
        "-",
        "-",
        "-",
    ]


def test_ls_skips_unused_directories_by_default(run, orders):
    deleted_name = f"orders-1.{'0' * 32}-delete"
    (orders / "orders-1").rename(orders / deleted_name)
    assert len(run("ls", orders, "-o", "jsonl").rows) == 1
    directories = run("ls", orders, "-o", "jsonl", "--include", "delete").rows
    assert [row["state"] for row in directories] == ["", "delete"]


@pytest.mark.parametrize("command", ["ls", "dump", "verify"])
def test_missing_path_is_a_one_line_error(run, tmp_path, command):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "nothing", tmp_path / "empty"):
        ran = run(command, path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert str(path) in ran.err


def test_verify_prints_nothing_for_undamaged_logs(run, orders):
    ran = run("verify", "--deep", orders)
    assert (ran.code, ran.out) == (0, "")
    assert "2 partitions" in ran.err and "no problems" in ran.err


def test_verify_reports_damaged_batches(run, damaged):
    ran = run("verify", damaged.parent, "-o", "jsonl")
    (problem,) = ran.rows
    assert ran.code == 1
    assert problem["path"] == str(damaged) and problem["reason"] == "crc"
    assert (problem["last_good_offset"], problem["next_good_offset"]) == (4, 10)
    assert "1 problem" in ran.err


def test_unknown_values_are_null(run, tmp_path):
    """Unknown offsets are null in JSON and empty in CSV, instead of -1."""
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(b"garbage" * 30)
    (problem,) = run("verify", tmp_path, "-o", "jsonl").rows
    assert (problem["last_good_offset"], problem["next_good_offset"]) == (None, None)
    assert ",,," in run("verify", tmp_path, "-o", "csv").out.replace("garbage", "")
    (row,) = run("ls", tmp_path, "-o", "jsonl").rows
    assert -1 not in row.values() and row["start_offset"] is None
    (tmp_path / "recovery-point-offset-checkpoint").write_text("nonsense\n")
    (first, _) = run("verify", tmp_path, "-o", "jsonl").rows
    assert (first["reason"], first["partition"]) == ("checkpoint", None)


@pytest.mark.parametrize("form", ["table", "csv"])
def test_verify_prints_a_line_for_each_problem(run, damaged, form):
    lines = run("verify", damaged.parent, "-o", form).out.splitlines()
    assert len(lines) == 1 + (form == "csv")
    assert str(damaged) in lines[-1] and "crc" in lines[-1]


def test_verify_finds_missing_segments(run, tmp_path):
    write_log(tmp_path / "orders-0", [rows(0, 5)])
    write_log(tmp_path / "orders-0", [rows(9, 5)], 9)
    ran = run("verify", tmp_path, "-o", "jsonl")
    assert (ran.code, [row["reason"] for row in ran.rows]) == (1, ["gap"])


def test_verify_names_a_damaged_checkpoint(run, orders):
    (orders / "recovery-point-offset-checkpoint").write_text("nonsense\n")
    ran = run("verify", orders, "-o", "jsonl")
    assert (ran.code, [row["reason"] for row in ran.rows]) == (1, ["checkpoint"])
    listed = run("ls", orders)
    assert listed.code == 0 and "skipped" in listed.err


def test_repair_copies_the_intact_batches(run, damaged, tmp_path):
    target = tmp_path / f"{0:020}.log"
    before = damaged.read_bytes()
    ran = run("repair", damaged, "--output", target, "-o", "jsonl")
    assert ran.code == 1
    (problem,) = ran.rows
    start, end = problem["position"], problem["position"] + problem["length"]
    assert target.read_bytes() == before[:start] + before[end:]
    assert damaged.read_bytes() == before
    assert "3 batches" in ran.err and str(target) in ran.err
    assert run("dump", target, "-o", "jsonl").code == 0


def test_repair_ends_with_0_only_if_the_copy_is_complete(run, damaged, tmp_path):
    """The exit code is 1 if the copy lacks a damaged region or an incomplete end.

    A script must not use such a copy.
    """
    assert run("repair", damaged, "--output", tmp_path / "good.log").code == 1
    ran = run("repair", tmp_path / "good.log", "--output", tmp_path / "again.log")
    assert ran.code == 0
    torn = tmp_path / "torn.log"
    torn.write_bytes((tmp_path / "good.log").read_bytes()[:-1])
    ran = run("repair", torn, "--output", tmp_path / "untorn.log")
    assert ran.code == 1 and "2 batches" in ran.err


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 20, bytes(4096)])
def test_repair_of_nothing_good_writes_nothing(run, tmp_path, content):
    """An empty file would look like a repaired file."""
    bad, target = tmp_path / f"{0:020}.log", tmp_path / "copies" / "copy.log"
    bad.write_bytes(content)
    target.parent.mkdir()
    ran = run("repair", bad, "--output", target)
    assert ran.code == 1 and "was not written" in ran.err
    assert list(target.parent.iterdir()) == []


def test_repair_never_writes_over_a_file(run, damaged, tmp_path):
    before = damaged.read_bytes()
    ran = run("repair", damaged, "--output", damaged)
    assert ran.code == 2 and "exists already" in ran.err
    assert damaged.read_bytes() == before


def test_repair_leaves_no_half_copy(run, damaged, tmp_path, monkeypatch):
    """If a copy fails, for example on a full disk, it is deleted."""

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    target = tmp_path / "copies" / "copy.log"
    target.parent.mkdir()
    ran = run("repair", damaged, "--output", target)
    assert (ran.code, list(target.parent.iterdir())) == (2, [])
    assert ran.err == f"kwire: {target}: no space left on device\n"


def test_repair_rejects_a_directory_and_a_missing_file(run, damaged, tmp_path):
    ran = run("repair", damaged.parent, "--output", tmp_path / "x")
    assert ran.code == 2 and "give one of its .log files" in ran.err
    assert run("repair", tmp_path / "no.log", "--output", tmp_path / "x").code == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("release", ["2.8.2", "3.9.2", "4.3.1"])
def test_files_of_real_brokers_are_good(run, release):
    ran = run("verify", "--deep", DATA / release / "data")
    assert (ran.code, ran.out) == (0, "")


def can_all_enter(folder):
    """Return whether all users may enter a directory and all its parents."""
    return all(
        directory.is_dir() and directory.stat().st_mode & 0o001
        for directory in (folder, *folder.parents)
    )


@pytest.fixture
def nobodys():
    """New directory and its owner, who is not root.

    File permissions have no effect on root.
    """
    user = os.geteuid()
    somebody = user or 65534
    # The directory for temporary files may only be accessible to root.
    places = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    open_ones = [
        candidate for candidate in places if user or can_all_enter(candidate.resolve())
    ]
    if not open_ones:
        pytest.skip("no folder for temporary files that another user may enter")
    folder = Path(tempfile.mkdtemp(dir=open_ones[0]))
    os.chown(folder, somebody, -1)
    yield folder, somebody
    os.seteuid(user)
    for path in folder.rglob("*"):
        path.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_inaccessible_paths_are_reported(run, orders, nobodys, command):
    """An inaccessible directory or file is reported, and does not stop the command."""
    folder, somebody = nobodys
    logs = shutil.copytree(orders, folder / "logs")
    shutil.copytree(logs / "orders-0", logs / "orders-2")
    assert run(command, logs).code == 0  # Import all modules first.
    closed, secret = logs / "orders-1", logs / "orders-2" / f"{10:020}.log"
    closed.chmod(0)
    secret.chmod(0)
    os.seteuid(somebody)
    ran = run(command, logs)
    assert ran.code == 2
    for path in (closed, secret):
        assert ran.err.count(f"{path}: permission denied\n") == 1
    assert "no problems\n" not in ran.err
    if command == "ls":
        assert "0..20" in ran.out
    assert run(command, closed).err == f"kwire: {closed}: permission denied\n"


def test_inaccessible_directory_is_skipped_by_every_reader(orders, nobodys):
    """A directory without access may contain partitions, so that jobs report it."""
    folder, somebody = nobodys
    logs = shutil.copytree(orders, folder / "logs")
    closed = logs / "orders-1"
    (logs / "lost+found").mkdir()
    (folder / "out").mkdir()
    os.chown(folder / "out", somebody, -1)
    jobs.export([logs], folder / "out" / "before")  # Import all modules first.
    for path in closed, logs / "lost+found":
        path.chmod(0)
    os.seteuid(somebody)
    skipped = log.LogDirectory(logs).skipped
    assert [(type(error), error.filename) for error in skipped] == [
        (PermissionError, str(closed))
    ]
    result = jobs.export([logs], folder / "out" / "after")
    problems = pyarrow.parquet.read_table(result.tables["problems"]).to_pylist()
    assert [(row["path"], row["reason"]) for row in problems] == [
        (str(closed), "unreadable")
    ]
