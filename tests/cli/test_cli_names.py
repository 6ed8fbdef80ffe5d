# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Directories with names that are not UTF-8 are printed as ``\xNN`` everywhere.

Disks allow any bytes in a name, but JSON, Arrow tables and pages do not. Such a name
must not affect the data of other directories.
"""

import csv
import gzip
import io
import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet
import pytest

from kwire import jobs, log
from kwire._text import format_name
from tests.cli.made_logs import DATA, rows, write_log

BAD = r"b\xffd"
ODD = r"b\x5cxffd"
"""Directory name that contains an escape sequence."""


@pytest.fixture
def disk(tmp_path):
    """Directory with three topics of 5 records each.

    The names are plain text, bytes that are not UTF-8, and the escape of these bytes.
    """
    root = Path(os.fsdecode(os.fsencode(tmp_path / "disk") + b"\xfe"))
    write_log(root / "good-0", [rows(0, 5)])
    try:
        write_log(root / os.fsdecode(b"b\xffd-0"), [rows(0, 5)])
    except OSError:
        pytest.skip("this file system has no such names")
    write_log(root / r"b\xffd-0", [rows(0, 5)])
    return root


TOPICS = {"good", BAD, ODD}


def test_two_names_never_share_a_text():
    raw = [
        b"a",
        b"\xff",
        rb"\xff",
        rb"\x5cxff",
        b"\\\xff",
        b"\\x\xff",
        "ü".encode(),
        b"\\",
    ]
    texts = [format_name(os.fsdecode(name)) for name in raw]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert json.loads(json.dumps(text)).encode()
    assert format_name("orders-0") == "orders-0" and format_name("\ud800") == r"\ud800"


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
@pytest.mark.parametrize("options", [[], ["-l"]])
def test_ls_escapes_names_that_are_not_utf8(run, disk, form, options):
    ran = run("ls", disk, "-o", form, *options)
    assert ran.code == 0
    if form == "table":
        assert BAD in ran.out and "good" in ran.out and r"disk\xfe" in ran.out
        return
    listed = ran.rows if form == "jsonl" else list(csv.DictReader(io.StringIO(ran.out)))
    assert {row["topic"] for row in listed} == TOPICS
    assert all(r"disk\xfe" in row["path"] for row in listed)


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_verify_escapes_names_that_are_not_utf8(run, disk, form):
    for path in disk.rglob("*.log"):
        data = bytearray(path.read_bytes())
        data[70] ^= 1
        path.write_bytes(data)
    ran = run("verify", disk, "-o", form)
    assert ran.code == 1
    for name in (f"good-0{os.sep}", f"{BAD}-0{os.sep}", f"{ODD}-0{os.sep}"):
        # JSON escapes a backslash by a second one.
        shown_name = name.replace("\\", "\\\\") if form == "jsonl" else name
        assert ran.out.count(shown_name) == 1
    if form == "jsonl":
        assert {row["topic"] for row in ran.rows} == TOPICS


LINES = [
    (form, options)
    for form in ("jsonl", "csv", "table")
    for options in ([], ["--batches"])
]


@pytest.mark.parametrize(("form", "options"), [*LINES, ("parquet", [])])
def test_dump_escapes_names_that_are_not_utf8(run, disk, tmp_path, form, options):
    target = tmp_path / f"out.{form}"
    if form == "parquet":
        assert run("dump", disk, "--output", target).code == 0
        printed = pyarrow.parquet.read_table(target).to_pylist()
    else:
        ran = run("dump", disk, "-o", form, *options)
        assert ran.code == 0
        if form == "table":
            assert BAD in ran.out and "good" in ran.out
            return
        lines = csv.DictReader(io.StringIO(ran.out))
        printed = ran.rows if form == "jsonl" else list(lines)
    assert {row["topic"] for row in printed} == TOPICS
    assert len(printed) == (3 if options else 15)


def test_topics_are_chosen_as_they_are_shown(run, disk):
    ran = run("dump", disk, "-t", BAD, "-o", "jsonl")
    assert len(ran.rows) == 5 and {row["topic"] for row in ran.rows} == {BAD}
    ran = run("dump", disk, "-t", "typo")
    assert ran.code == 2 and BAD in ran.err


def test_export_separates_topics_whose_names_look_equal(run, disk, tmp_path):
    """Directories are different partitions even if their names look equal."""
    for path in disk.rglob("*.log"):
        with path.open("ab") as file:
            file.write(b"garbage")
        index = path.with_suffix(".snapshot")
        index.with_stem(f"{9:020}").write_bytes(b"")
    ran = run("export", disk, "--output", tmp_path / "out", "-o", "jsonl")
    assert {row["topic"] for row in ran.rows} == TOPICS
    assert {row["records"] for row in ran.rows} == {5}
    tables = {}
    for name in ("records", "batches", "problems", "coverage", "lost"):
        tables[name] = pyarrow.parquet.read_table(tmp_path / "out" / name).to_pylist()
        assert {row["topic"] for row in tables[name]} == TOPICS, name
    assert len(tables["records"]) == 15
    paths = {row["file_path"] for row in tables["records"]}
    assert len(paths) == 3 and all(r"disk\xfe" in path for path in paths)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert BAD in page and "udcff" not in page
    for form in ("csv", "table"):
        ran = run("export", disk, "--output", tmp_path / form, "-o", form)
        assert BAD in ran.out


def test_offsets_reads_directories_with_any_name(run, disk, tmp_path):
    groups = DATA / "4.3.1" / "data" / "__consumer_offsets-0"
    shutil.copytree(groups, disk / groups.name)
    ran = run("offsets", disk, "--output", tmp_path / "out", "-o", "jsonl")
    assert ran.code == 0
    history = pyarrow.parquet.read_table(tmp_path / "out" / "history").to_pylist()
    assert r"disk\xfe" in history[0]["path"]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert r"disk\xfe" in page and "udcfe" not in page


def test_audit_reads_directories_with_any_name(run, tmp_path):
    """Request logs and captures are read from directories with any name."""
    data = Path(__file__).parents[1] / "data" / "request-logs" / "kafka-3.9.2.log"
    folder = Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"\xff"))
    folder.mkdir()
    (folder / "a.log.gz").write_bytes(gzip.compress(data.read_bytes())[:-300])
    (folder / os.fsdecode(b"b\xff.log")).write_bytes(data.read_bytes())
    (folder / os.fsdecode(b"c\xff.parquet")).write_bytes(b"PAR1")
    ran = run("audit", folder, "--target", "3.9", "--output", tmp_path / "out")
    assert ran.code == 1, ran.err
    problems = pyarrow.parquet.read_table(tmp_path / "out" / "problems").to_pylist()
    assert {Path(row["path"]).parent.name for row in problems} == {r"in\xff"}


def test_errors_escape_names_that_are_not_utf8(run, disk):
    missing = disk / os.fsdecode(b"no\xff.log")
    ran = run("ls", missing)
    assert ran.code == 2 and ran.err.count("\n") == 1
    assert r"disk\xfe" in ran.err and r"no\xff.log" in ran.err
    ran = run("repair", disk / "good-0" / f"{0:020}.log", "--output", missing)
    assert ran.code == 0 and r"no" in ran.err
    with pytest.raises(KeyError, match="no topic"):
        log.LogDirectory(disk)["nope"]
    (checkpoint := disk / "replication-offset-checkpoint").write_bytes(b"\xff")
    (error,) = log.LogDirectory(disk).unreadable
    assert error.path.endswith(rf"disk\xfe{os.sep}{checkpoint.name}")


def test_jobs_take_paths_of_any_name(disk, tmp_path):
    result = jobs.export([disk], tmp_path / "out", topics=[BAD])
    assert result.counts["records"] == 5
