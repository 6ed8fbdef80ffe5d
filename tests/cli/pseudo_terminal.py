# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program in this process, with its streams on a pseudo terminal.

For tests of many commands, as a process for each takes longer than the command. What
needs a process, such as signals and imports, is in ``test_cli_process.py``.
"""

import os
import pty
import sys
import threading
from contextlib import ExitStack

from kwire.cli.main import program

COLUMNS = 80


def run_in_terminal(args, monkeypatch):
    """Run a command; return its exit code and all that the terminal was sent."""
    parent, child = pty.openpty()
    sent = []
    reader = threading.Thread(target=read_all, args=(parent, sent))
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
    return code, b"".join(sent).decode()


def read_all(terminal, sent):
    """Read what a terminal is sent until its other side is closed."""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # which is how Linux reports the end
            return
        if not piece:
            return
        sent.append(piece)
