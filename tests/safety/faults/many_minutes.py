# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ``kwire record`` with files that are merged after every third."""

from itertools import count

from kwire.cli.main import program
from kwire.recording import buffering

CALLS_A_MINUTE = 6
"""What is written asks for the time twice: for its own, and for what is over."""


def run(arguments):
    """Run the command."""
    asked = count()
    buffering._current_minute = lambda: next(asked) // CALLS_A_MINUTE
    program(arguments, prog_name="kwire")
