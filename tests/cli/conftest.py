# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for CLI tests: runners for both engines, and small logs."""

import importlib
import json
from typing import NamedTuple

import pytest
from click.testing import CliRunner

import kwire as installed
from tests.cli.made_logs import rows, write_log


class Ran(NamedTuple):
    """Result of a command.

    * ``code``: exit code.
    * ``out``, ``err``: text on stdout and stderr.
    """

    code: int
    out: str
    err: str

    @property
    def rows(self):
        """Lines of stdout, each parsed as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(kwire, monkeypatch):
    """Return a function that runs the CLI in this process, on the tested engine.

    It returns a ``Ran``. A missing topic is reported after 0.2 s instead of 3 s, so
    that the tests do not wait.
    """
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    scan = f"{kwire.__name__}.client.machines.scan"
    finder = importlib.import_module(f"{scan}.partition_finder")
    monkeypatch.setattr(finder, "MAX_UNKNOWN_TOPIC_S", 0.2)

    def run(*args):
        done = CliRunner().invoke(
            program, [str(arg) for arg in args], prog_name="kwire"
        )
        assert done.exception is None or isinstance(done.exception, SystemExit), (
            done.exception
        )
        return Ran(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def orders(tmp_path):
    """Topic with two partitions: 0 has two segments of 10 records, 1 has 5 records."""
    folder = tmp_path / "logs"
    first = [rows(0, 4), (rows(4, 6), {"compression": "gzip"})]
    write_log(folder / "orders-0", first)
    write_log(folder / "orders-0", [rows(10, 10)], 10)
    write_log(folder / "orders-1", [rows(0, 5)])
    return folder


@pytest.fixture
def damaged(tmp_path):
    """File with four batches of 5 records. The second batch has a damaged byte."""
    folder = tmp_path / "damaged"
    path = write_log(folder / "orders-0", [rows(n, 5) for n in (0, 5, 10, 15)])
    data = bytearray(path.read_bytes())
    second = installed.records.read_batch_header(bytes(data)).size
    data[second + 70] ^= 1
    path.write_bytes(data)
    return path
