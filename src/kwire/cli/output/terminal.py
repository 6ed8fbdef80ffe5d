# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prints to stdout and stderr, with control characters escaped.

    anything -> sys.stdout, sys.stderr (TerminalText) ------ escape ---+-> terminal
    rows ----> Output (tables.py), bold lines -------------- escape ---+
    rich ----> EscapingConsole (console.py), colours, bar -- escape ---+

Names of topics, groups, clients and files are chosen by others, and a terminal obeys
what is written to it. So ``guard_terminals`` puts a stream that escapes in front of
each terminal: what click, ``warnings``, ``logging`` or a traceback writes is escaped as
well. Colours are added after that, here and in ``console.py`` alone. Pipes and files
get every character; the forms of rows are in ``tables.py``.
"""

from __future__ import annotations

import io
import sys
from typing import TextIO

import click

from ..._text import escape_controls, escape_line


class TerminalText(io.TextIOWrapper):
    """The text stream of a terminal, which escapes all controls but LF and tab.

    ``styled`` is the same terminal for what is escaped already and gets colours.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        stream.flush()
        buffer, encoding = stream.buffer, stream.encoding
        line_buffering = stream.line_buffering
        # What the encoding lacks is escaped too; neither text buffer keeps any output.
        super().__init__(
            buffer, encoding, "backslashreplace", None, line_buffering, True
        )
        self.styled = io.TextIOWrapper(
            buffer, encoding, "backslashreplace", None, line_buffering, True
        )

    def write(self, text: str) -> int:
        """Write text with its control characters escaped."""
        super().write(escape_controls(text))
        return len(text)


def guard_terminals() -> None:
    """Put the escaping stream in place of stdout and stderr where they are terminals.

    For the whole process: a traceback comes when the program has returned.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.isatty():
            setattr(sys, name, TerminalText(stream))


def buffer_output() -> None:
    """Put a buffer in front of stdout if it is a pipe or a file and has none.

    With PYTHONUNBUFFERED, which images of Python often set, each line would be a system
    call. Nothing waits longer for the buffer: commands flush it before they wait.
    """
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return
    if isinstance(stream.buffer, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(stream.buffer), stream.encoding, stream.errors
        )


def write_bold(stream: TextIO, text: str) -> None:
    """Write text in bold to a terminal, escaped like any other."""
    find_styled(stream).write(click.style(escape_controls(text), bold=True))


def find_styled(stream: TextIO) -> TextIO:
    """Return the stream for text that is escaped already and gets colours."""
    return stream.styled if isinstance(stream, TerminalText) else stream


def stderr_is_terminal() -> bool:
    """Whether stderr is a terminal. It is None if it was closed, as by ``2>&-``."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(message: str) -> None:
    """Write a line for people to stderr; data goes to stdout."""
    print(f"kwire: {escape_line(message)}", file=sys.stderr)


def say_usage(path: str, message: str) -> None:
    """Write what is wrong with the arguments of a command, and where its help is."""
    print(escape_line(f"{path}: {message} (see {path} --help)"), file=sys.stderr)
