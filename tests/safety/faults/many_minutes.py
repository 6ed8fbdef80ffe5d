# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ``kwire record`` with a fake clock, so that files are merged frequently."""

from itertools import count

from kwire.cli.main import program
from kwire.recording import buffering

CALLS_A_MINUTE = 6
"""A write reads the time twice: for the current minute and for finished minutes."""


def run(arguments):
    """Run the command with a clock that advances a minute every six calls."""
    calls = count()
    buffering._current_minute = lambda: next(calls) // CALLS_A_MINUTE
    program(arguments, prog_name="kwire")
