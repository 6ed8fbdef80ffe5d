# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the CLI in this process with its streams connected to a pseudo terminal.

For tests with many commands, because starting a process takes longer than the command.
``test_cli_process.py`` contains the tests that need a process, for example tests with
signals and imports.
"""

import os
import pty
import sys
import threading
from contextlib import ExitStack

from kwire.cli.main import program

COLUMNS = 80


def run_in_terminal(args, monkeypatch):
    """Run a command in a terminal. Return its exit code and its output as text."""
    parent, child = pty.openpty()
    pieces = []
    reader = threading.Thread(target=read_all, args=(parent, pieces))
    with monkeypatch.context() as patch, ExitStack() as streams:
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", str(COLUMNS))
        patch.delenv("NO_COLOR", raising=False)
        streams.callback(os.close, child)
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            stream = streams.enter_context(open(os.dup(child), mode, encoding="utf-8"))
            patch.setattr(sys, name, stream)
        reader.start()
        try:
            program.main(list(args), prog_name="kwire")
            code = 0
        except SystemExit as end:
            code = end.code
    reader.join()
    os.close(parent)
    return code, b"".join(pieces).decode()


def read_all(terminal, pieces):
    """Add the output to ``pieces`` until the other side of the terminal is closed."""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux reports the end in this way.
            return
        if not piece:
            return
        pieces.append(piece)
