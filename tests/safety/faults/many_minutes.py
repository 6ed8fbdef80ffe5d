# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs ``kwire record`` with a fake clock, so that files are merged frequently."""

from itertools import count

from kwire.cli.main import program
from kwire.recording import buffering

CALLS_A_MINUTE = 6
"""Number of clock readings after which a minute has passed.

A write reads the clock twice, so that a minute has three writes.
"""


def run(arguments):
    """Run ``kwire record`` with a clock that advances by a minute every six calls."""
    calls = count()
    buffering._current_minute = lambda: next(calls) // CALLS_A_MINUTE
    program(arguments, prog_name="kwire")
