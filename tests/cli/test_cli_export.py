# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire export``: output, exit codes, and errors."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.main import program

DATA = Path(__file__).parents[1] / "data" / "4.3.1" / "data"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs ``kwire export`` beside copies of two partitions.

    Kafka wrote the partitions.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("segments-0", "codec-zstd-0"):
        shutil.copytree(DATA / name, tmp_path / "logs" / name)

    def run(*arguments):
        return CliRunner().invoke(program, ["export", *arguments])

    return run


def damage():
    """Truncate a middle segment in one partition."""
    os.truncate("logs/segments-0/00000000000000000150.log", 200)


def test_whole_files_are_exported_with_code_0(run):
    done = run("logs", "--output", "rescued")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["PARTITION", "OFFSETS", "RECORDS"]
    assert lines[-1].split() == ["0", "75..300", "225", "0", "1", "yes", "100", "%"]
    assert max(map(len, lines)) <= 80
    assert done.stderr.splitlines() == [
        "kwire: 321 records of 2 partitions recovered, 0 offsets lost in 0 ranges,"
        " 0 problems",
        f"kwire: report: {os.path.join('rescued', 'report.html')}",
    ]
    tables = {"records", "batches", "problems", "coverage", "lost"}
    assert {path.name for path in Path("rescued").iterdir()} == tables | {"report.html"}


def test_lost_offsets_result_in_exit_code_1(run):
    damage()
    done = run("logs", "--output", "rescued", "-o", "jsonl")
    assert done.exit_code == 1, done.output
    rows = {row["topic"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["codec-zstd"]["lost_offsets"] == 0
    assert rows["segments"]["lost_ranges"] == 1
    assert rows["segments"]["recovered_percent"] < 100
    csv = run("logs", "--output", "again", "-o", "csv").stdout.splitlines()
    assert csv[0].startswith("topic,partition,start_offset,end_offset,records")
    assert len(csv) == 3


def test_topics_and_partitions_can_be_chosen(run):
    damage()
    done = run("logs", "--topic", "codec-zstd", "--output", "rescued")
    assert done.exit_code == 0
    assert "1 partition recovered" in done.stderr


def test_impossible_export_is_a_one_line_error(run):
    """The exit code is 2.

    Covers a path without logs, an unknown topic, and an existing directory.
    """
    Path("full").mkdir()
    Path("full/file").touch()
    Path("empty").mkdir()
    for arguments, error_text in (
        (["empty", "--output", "new"], "no partition in empty"),
        (["nowhere", "--output", "new"], "nowhere"),
        (["logs", "-t", "none", "--output", "new"], "codec-zstd-0, segments-0"),
        (["logs", "--output", "full"], "exists already"),
        (["logs"], "--output"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2, done.output
        assert error_text in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not Path("new").exists()
