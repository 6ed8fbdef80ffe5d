# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the job commands: wrong input never looks like a good result."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kwire.cli.main import program

DATA = Path(__file__).resolve().parents[1] / "data" / "4.3.1" / "data"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs a command in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(program, [str(argument) for argument in arguments])

    return run


def test_audit_without_requests_is_an_error(run, tmp_path):
    """If no file is a request log, the exit code is 1.

    Nothing is known about the clients in this case.
    """
    (tmp_path / "server.log").write_text("[2026-11-21] INFO started (kafka.Server)\n")
    done = run("audit", "server.log", "--target", "4.1", "--output", "out")
    assert done.exit_code == 1
    assert "nothing to judge; 1 problem in the input" in done.stderr


def test_export_without_an_intact_batch_is_an_error(run, tmp_path):
    """Without an intact batch, the exit code is 1.

    The number of lost records is unknown in this case.
    """
    folder = tmp_path / "disk" / "orders-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(bytes(range(1, 256)) * 20)
    done = run("export", "disk", "--output", "out")
    assert done.exit_code == 1
    assert "1 path could not be read at all" in done.stderr


def test_offsets_reports_an_unknown_group(run):
    done = run("offsets", DATA, "--output", "out", "-g", "absent")
    assert done.exit_code == 0
    assert "no group 'absent' in __consumer_offsets" in done.stderr


def test_export_counts_the_topics_that_it_does_not_list(run):
    done = run("export", DATA, "--output", "out", "-t", "typo")
    assert done.exit_code == 2
    assert "matches topics= and partitions=" in done.stderr and " more" in done.stderr


@pytest.mark.parametrize(
    ("listen", "upstream", "text"),
    [
        (":9192", "127.0.0.1:9092", "write 127.0.0.1:9192 for clients of this"),
        (
            "127.0.0.1:9192",
            "127.0.0.1:9192",
            "is the address that the relay listens on",
        ),
    ],
)
def test_record_names_the_invalid_address(run, listen, upstream, text):
    done = run("record", "--listen", listen, "--upstream", upstream, "--output", "out")
    assert done.exit_code == 2
    assert text in " ".join(done.stderr.split())
