# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests of ``kwire restore``: the command and a log."""

import importlib
import random

import pytest
from click.testing import CliRunner

from tests.client.restored_logs import make_rows, write_log


@pytest.fixture
def run_restore(kwire):
    """Return a function that runs ``kwire restore``.

    It returns the exit code and stderr.
    """
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program

    def run(broker, *args):
        args = ["restore", broker.address, *map(str, args)]
        done = CliRunner().invoke(program, args, prog_name="kwire")
        assert done.exception is None or isinstance(done.exception, SystemExit), (
            done.exception
        )
        assert done.stdout == ""
        return done.exit_code, done.stderr

    return run


@pytest.fixture
def rows_by_partition(tmp_path):
    """Write the logs of a topic with two partitions below ``tmp_path``.

    Return the rows of each partition.
    """
    source = random.Random(1)
    partitions = [make_rows(source, 30), make_rows(source, 40)]
    for number, rows in enumerate(partitions):
        write_log(tmp_path / "logs" / f"orders-{number}", rows, source)
    return partitions
