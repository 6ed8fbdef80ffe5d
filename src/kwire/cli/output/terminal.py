# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prints to stdout and stderr, with control characters escaped.

    anything -> sys.stdout, sys.stderr (TerminalText) ------ escape ---+-> terminal
    rows ----> Output (tables.py), bold lines -------------- escape ---+
    rich ----> EscapingConsole (console.py), colours, bar -- escape ---+

Topic, group, client and file names are untrusted input, and a terminal interprets
control characters. Therefore ``guard_terminals`` replaces every terminal stream with an
escaping stream, which also escapes what click, ``warnings``, ``logging`` and tracebacks
print. Colours are added after escaping, only here and in ``console.py``. Pipes and
files receive all characters unchanged. ``tables.py`` implements the row formats.
"""

from __future__ import annotations

import io
import sys
from typing import TextIO

import click

from ..._text import escape_controls, escape_line


class TerminalText(io.TextIOWrapper):
    """Terminal text stream that escapes all control characters except LF and tab.

    ``styled`` writes to the same terminal without escaping. Use it for text that has
    been escaped before colours are added.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        stream.flush()
        buffer, encoding = stream.buffer, stream.encoding
        line_buffering = stream.line_buffering
        # "backslashreplace" escapes characters that the encoding does not support. Both
        # streams write through, so that their outputs stay in order.
        super().__init__(
            buffer, encoding, "backslashreplace", None, line_buffering, True
        )
        self.styled = io.TextIOWrapper(
            buffer, encoding, "backslashreplace", None, line_buffering, True
        )

    def write(self, text: str) -> int:
        """Write text with control characters escaped. Returns the ``text`` length."""
        super().write(escape_controls(text))
        return len(text)


def guard_terminals() -> None:
    """Replace stdout and stderr with escaping streams if they are terminals.

    The streams stay replaced until the process exits, because a traceback is written
    after the program has returned.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.isatty():
            setattr(sys, name, TerminalText(stream))


def buffer_output() -> None:
    """Add a buffer to stdout if it is an unbuffered pipe or file.

    Python images often set PYTHONUNBUFFERED, which would cause one system call per
    line. The buffer does not delay output, because commands flush it before they wait.
    """
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return
    if isinstance(stream.buffer, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(stream.buffer), stream.encoding, stream.errors
        )


def write_bold(stream: TextIO, text: str) -> None:
    """Write text in bold to a terminal, with its control characters escaped."""
    find_styled(stream).write(click.style(escape_controls(text), bold=True))


def find_styled(stream: TextIO) -> TextIO:
    """Return the stream for text that has been escaped and may contain colours."""
    return stream.styled if isinstance(stream, TerminalText) else stream


def stderr_is_terminal() -> bool:
    """Whether stderr is a terminal. Returns False if it was closed (``2>&-``)."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(message: str) -> None:
    """Write a message for the user to stderr. Data is written to stdout."""
    print(f"kwire: {escape_line(message)}", file=sys.stderr)


def say_usage(path: str, message: str) -> None:
    """Write a usage error to stderr, and how to show the command's help."""
    print(escape_line(f"{path}: {message} (see {path} --help)"), file=sys.stderr)
