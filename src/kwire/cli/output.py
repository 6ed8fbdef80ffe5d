# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Where data goes, and its forms for lines: a table, JSON lines, CSV.

Rows are dicts of what JSON knows; a table takes cells of text. Everything is written
as it comes. Only a terminal gets bold letters, and lines that are cut to its width;
files and pipes get UTF-8 and every character.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
import time
from contextlib import contextmanager
from json import dumps

import click
from rich.cells import cell_len, set_cell_size

from ..new_files import new_file
from ..plain_text import one_line
from .cells import compact_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol, TextIO

    Row = Mapping[str, object]

    class RowWriter(Protocol):
        """What takes rows."""

        def write(self, row: Row) -> None: ...


FLUSH_SECONDS = 0.1
"""How long a written line waits at most while more are written."""

_WIDEST = 24
"""No column of a table is wider for the sake of one row."""

format_option = click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("table", "jsonl", "csv")),
    default="table",
    help="Table for people (the default), JSON lines, or CSV.",
)


class Output:
    """A stream of text that is seen early: the first line goes out at once.

    ``width`` is that of a terminal in columns, None for anything else.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._flushed = 0.0
        self.width = None
        if stream.isatty():
            self.width = shutil.get_terminal_size().columns
        self._has_colour = (
            self.width is not None
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def write(self, text: str) -> int:
        """Write text, line ends included."""
        written = self._stream.write(text)
        now = time.monotonic()
        if now - self._flushed > FLUSH_SECONDS:
            self._stream.flush()
            self._flushed = now
        return written

    def json(self, value: object) -> str:
        """Write a value as JSON in one line.

        In a terminal it has escapes for all that would steer it; JSON itself has them
        for less than that.
        """
        text = compact_json(value)
        if self.width is None or text.isprintable():
            return text
        return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in text)

    def bold(self, text: str) -> str:
        """Make a line bold where that can be seen."""
        return click.style(text, bold=True) if self._has_colour else text


@contextmanager
def open_output(path: str | None = None) -> Iterator[Output]:
    """Open a new file, or stdout without a path; an existing file is never touched.

    The file appears when the ``with`` block ends well.
    """
    if path is None:
        _prepare(sys.stdout)
        yield Output(sys.stdout)
        sys.stdout.flush()
        return
    with new_file(path) as file:
        text = io.TextIOWrapper(file)
        _prepare(text)
        yield Output(text)
        text.flush()


def _prepare(stream: TextIO) -> None:
    # Names of files may hold bytes that are no text; in JSON \udc.. is right for them.
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
    else:
        stream.reconfigure(  # type: ignore[attr-defined]
            encoding="utf-8", errors="backslashreplace", newline="\n"
        )


class JsonLines:
    """One JSON object for each row."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, row: Row) -> None:
        """Write one row."""
        self._output.write(self._output.json(row) + "\n")


class Csv:
    """CSV with a line of names, LF at the end of lines; lists and objects as JSON."""

    def __init__(self, output: Output, names: Sequence[str]) -> None:
        self._writer = csv.DictWriter(output, names, lineterminator="\n", restval="")
        self._writer.writeheader()

    def write(self, row: Row) -> None:
        """Write one row; None is an empty field."""
        self._writer.writerow(
            {
                name: compact_json(value)
                if isinstance(value, (dict, list, bool))
                else value
                for name, value in row.items()
            }
        )


class Table:
    """Lines for people, under a line of titles and between headings.

    A column is its title and its least width; a negative one is aligned to the right.
    In a terminal no column but the last takes much more than a quarter of a line.
    """

    def __init__(self, output: Output, columns: Sequence[tuple[str, int]]) -> None:
        self._output = output
        self._widths = [width for _, width in columns]
        share = sys.maxsize if output.width is None else output.width // 4
        self._most = [max(abs(width), share) for width in self._widths]
        self._most[-1] = sys.maxsize
        self._heading = ""
        self._write(self._line([title for title, _ in columns]), bold=True)

    def write(self, cells: Sequence[str], heading: str = "") -> None:
        """Write one line, and before it the heading unless it stands already."""
        if heading != self._heading:
            self._heading = heading
            self._write(one_line(heading), bold=True)
        self._write(self._line(cells))

    def _line(self, cells: Sequence[str]) -> str:
        line = "  ".join(map(_padded, map(_cut, cells, self._most), self._widths))
        return line.rstrip(" ")

    def _write(self, line: str, bold: bool = False) -> None:
        width = self._output.width
        if width is not None:
            line = _cut(line, width)
        self._output.write((self._output.bold(line) if bold else line) + "\n")


def _cut(text: str, width: int) -> str:
    # A character is two cells wide at most.
    if 2 * len(text) <= width or cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip(" ") + "…"


def _padded(text: str, width: int) -> str:
    if text.isascii():
        return text.ljust(width) if width >= 0 else text.rjust(-width)
    spaces = " " * (abs(width) - cell_len(text))
    return text + spaces if width >= 0 else spaces + text


def write_table(
    output: Output, titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """Write a table whose rows are all known: (heading, cells).

    Columns fit what is in them, within reason. Titles that begin with a space are
    aligned to the right.
    """
    columns = []
    for index, title in enumerate(titles):
        width = max([cell_len(cells[index]) for _, cells in rows], default=0)
        width = max(min(width, _WIDEST), len(title.lstrip()))
        columns.append((title.lstrip(), -width if title.startswith(" ") else width))
    table = Table(output, columns)
    for heading, cells in rows:
        table.write(cells, heading)
