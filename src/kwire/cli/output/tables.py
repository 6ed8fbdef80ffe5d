# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes rows to stdout or a file, as a table, JSON lines or CSV.

Rows are dicts of what JSON knows; a table takes cells of text. Everything is written
as it comes. Only a terminal gets bold letters, and lines that are cut to its width;
files and pipes get UTF-8 and every character. What a terminal may be sent is decided
in ``terminal.py``.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import time
from contextlib import contextmanager
from functools import wraps
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TextIO

import click

from ..._files import create_file
from ..._text import escape_line
from .byte_formats import compact_json
from .terminal import write_bold
from .text_columns import cut_text, fold, measure, pad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .console import EscapingConsole

    Row = Mapping[str, object]

    class RowWriter(Protocol):
        """A writer of rows."""

        def write(self, row: Row) -> None: ...


FLUSH_SECONDS = 0.1
"""How long a written line waits at most while more are written."""

_WIDEST = 24
"""No column of a table in a terminal is wider for the sake of one row."""

_WIDEST_IN_PIPES = 64
"""How far a column of a table grows elsewhere; every character is written there."""

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that spreadsheets run, or that was defused in this way before; some
take the wide forms of these signs for them."""

_IN_QUOTES = re.compile('[,"\r\n]')

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")

csv_option = click.option(
    "--csv-safe/--csv-exact",
    default=None,
    help=(
        "Whether to put a ' before CSV text that a spreadsheet would run (= + - @)."
        " Default: safe in terminals and files, exact in pipes."
    ),
)


html_option = click.option(
    "--html", metavar="PATH", help="Write an HTML page to this file, not to stdout."
)


def output_option(
    *, required: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the option ``--output``. The default is stdout unless it is required."""
    return click.option(
        "--output",
        "output_path",
        required=required,
        metavar="PATH",
        help="Write the output to this file or directory.",
    )


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the form of its rows: a ``RowFormat``, as ``form``."""

    @click.option(
        "--format",
        "-o",
        "form",
        type=click.Choice(("table", "jsonl", "csv")),
        default="table",
        help="A table (the default), JSON lines, or CSV.",
    )
    @csv_option
    @wraps(command)
    def run(form: str, csv_safe: bool | None, **options: Any) -> Any:
        return command(form=RowFormat(form, csv_safe), **options)

    return run


class RowFormat(NamedTuple):
    """The form of rows: "table", "jsonl" or "csv", and what ``csv_option`` says."""

    name: str
    csv_safe: bool | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is the table for people, whose writer each command makes."""
        return self.name == "table"

    def open_rows(self, output: Output, names: Sequence[str]) -> RowWriter:
        """Make the writer of JSON lines or CSV; ``names`` are the columns of CSV."""
        if self.name == "jsonl":
            return JsonLines(output)
        return Csv(output, names, self.csv_safe)


class Output:
    """A stream of text that is seen early: the first line goes out at once.

    ``width`` is that of a terminal in columns, None for anything else. ``is_kept`` says
    that the stream is a file.
    """

    def __init__(self, stream: TextIO, *, is_kept: bool = False) -> None:
        self._stream = stream
        self._flushed = 0.0
        self.is_kept = is_kept
        self.width = None
        if stream.isatty():
            # Only a terminal needs this module, which loads compression formats.
            import shutil

            self.width = shutil.get_terminal_size().columns
        self._has_colour = (
            self.width is not None
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def write(self, text: str) -> int:
        """Write text, line ends included."""
        written = self._stream.write(text)
        self._flush_soon()
        return written

    def write_bold(self, text: str) -> None:
        """Write text, in bold on a terminal."""
        if self._has_colour:
            write_bold(self._stream, text)
        else:
            self._stream.write(text)
        self._flush_soon()

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are; for pipes and files, and not mixed with text."""
        self._stream.buffer.write(data)
        self._flush_soon()

    def write_json_lines(self, lines: bytes) -> None:
        """Write lines of JSON, escaped for a terminal as ``json`` does it."""
        if self.width is None:
            self.write_bytes(lines)
            return
        for line in lines.decode().split("\n")[:-1]:
            self.write(_escape_json(line) + "\n")

    def flush(self) -> None:
        """Write out what is buffered, before a wait."""
        self._stream.flush()

    def _flush_soon(self) -> None:
        now = time.monotonic()
        if now - self._flushed > FLUSH_SECONDS:
            self._stream.flush()
            self._flushed = now

    def json(self, value: object) -> str:
        """Write a value as JSON in one line.

        In a terminal it has escapes for all that would steer it; JSON itself has them
        for less than that.
        """
        text = compact_json(value)
        return text if self.width is None else _escape_json(text)

    def console(self) -> EscapingConsole:
        """Make the console that draws in this terminal."""
        from .console import EscapingConsole

        return EscapingConsole(self._stream)


def _escape_json(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in text)


@contextmanager
def open_output(path: str | None = None) -> Iterator[Output]:
    """Open a new file, or stdout without a path; an existing file is never touched.

    The file appears when the ``with`` block ends well.
    """
    if path is None:
        _prepare(sys.stdout)
        yield Output(sys.stdout, is_kept=_is_file(sys.stdout))
        sys.stdout.flush()
        return
    with create_file(path) as file:
        text = io.TextIOWrapper(file)
        _prepare(text)
        yield Output(text, is_kept=True)
        text.flush()


def stdout_is_file() -> bool:
    """Whether stdout is a regular file, not a pipe or a terminal."""
    return _is_file(sys.stdout)


def stdout_is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


class BinaryStdout(io.RawIOBase):
    """stdout for bytes, which receives nothing more after ``is_ended`` is set."""

    is_ended = False

    def writable(self) -> bool:
        """Whether it can be written: yes."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes."""
        if not self.is_ended:
            sys.stdout.buffer.write(data)
        return len(data)

    def flush(self) -> None:
        """Write out what is buffered."""
        if not self.is_ended:
            sys.stdout.buffer.flush()


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except io.UnsupportedOperation:
        return False


def _prepare(stream: TextIO) -> None:
    # Names of files may hold bytes that are no text; in JSON \udc.. is right for them.
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
    else:
        stream.reconfigure(  # type: ignore[attr-defined]
            encoding="utf-8", errors="backslashreplace", newline="\n"
        )


def clear_unknown(row: Row) -> dict[str, object]:
    """Return a row with None in place of -1, which means "unknown" in kwire."""
    return {
        name: None if value == -1 and isinstance(value, int) else value
        for name, value in row.items()
    }


class JsonLines:
    """One JSON object for each row."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, row: Row) -> None:
        """Write one row."""
        self._output.write(self._output.json(row) + "\n")


class Csv:
    """CSV with a line of names, LF at the end of lines; lists and objects as JSON.

    ``safe`` is for spreadsheets: text that they would take for a formula gets a ``'``
    in front, numbers do not. None is yes for terminals and files, no for pipes.
    """

    def __init__(
        self, output: Output, names: Sequence[str], safe: bool | None = None
    ) -> None:
        self._in_terminal = output.width is not None
        self._safe = self._in_terminal or output.is_kept if safe is None else safe
        self._output = output
        self._names = names
        self._write(names)

    def write(self, row: Row) -> None:
        """Write one row; None is an empty field."""
        self._write([self._field(row.get(name)) for name in self._names])

    def _write(self, fields: Sequence[str]) -> None:
        # A lone CR ends a row for many readers; not all writers put it into quotes.
        quoted = [
            '"' + field.replace('"', '""') + '"' if _IN_QUOTES.search(field) else field
            for field in fields
        ]
        self._output.write(",".join(quoted) + "\n")

    def _field(self, value: object) -> str:
        if isinstance(value, (dict, list, bool)):
            return self._output.json(value)
        if not isinstance(value, str):
            return "" if value is None else str(value)
        if self._safe and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
            value = f"'{value}"
        # A row is one line of a terminal, whatever is in it.
        return escape_line(value) if self._in_terminal else value


class Table:
    """A table for terminals, with a line of titles and with headings.

    A column is its title and its least width; a negative one is aligned to the right.
    Whatever is in a cell, a row is one line. A column grows with what is in it, so that
    the rows after a long cell are aligned again. In a terminal no column but the last
    takes much more than a quarter of a line, and what is longer is cut.
    """

    def __init__(self, output: Output, columns: Sequence[tuple[str, int]]) -> None:
        self._output = output
        self._widths = [width for _, width in columns]
        widest = _WIDEST_IN_PIPES if output.width is None else output.width // 4
        self._widest = [max(abs(width), widest) for width in self._widths]
        self._heading = ""
        self._write(self._line([title for title, _ in columns]), bold=True)

    def write(self, cells: Sequence[str], heading: str = "") -> None:
        """Write one line, after its heading if that is a new one."""
        self._write_heading(heading)
        self._write(self._line([escape_line(cell) for cell in cells]))

    def write_words(
        self, cells: Sequence[str], words: Sequence[str], needed: int, heading: str
    ) -> None:
        """Write a line whose last cell is text, which may extend over several columns.

        In a terminal they go on below the second column if they do not fit; the
        ``needed`` first ones are shown whatever it takes.
        """
        self._write_heading(heading)
        words = [escape_line(word) for word in words]
        begin = self._line([*cells, "|"]).removesuffix("|")
        width = self._output.width
        if width is None:
            self._write(begin + " ".join(words))
            return
        indent = abs(self._widths[0]) + 2
        rooms = max(width - measure(begin), 1), max(width - indent, 1)
        first, *others = fold(words, needed, *rooms)
        self._write(begin + first)
        for line in others:
            self._write(" " * indent + line)

    def _write_heading(self, heading: str) -> None:
        if heading != self._heading:
            self._heading = heading
            self._write(escape_line(heading), bold=True)

    def _line(self, cells: Sequence[str]) -> str:
        *columns, last = cells
        line = "".join(
            f"{self._cell(index, cell)}  " for index, cell in enumerate(columns)
        )
        return (line + pad(last, self._widths[-1])).rstrip(" ")

    def _cell(self, index: int, text: str) -> str:
        width, widest = self._widths[index], self._widest[index]
        size = len(text) if text.isascii() else measure(text)
        if size > abs(width):
            if self._output.width is not None:
                text = cut_text(text, widest)
            width = min(size, widest) * (1 if width >= 0 else -1)
            self._widths[index] = width
        return pad(text, width)

    def _write(self, line: str, bold: bool = False) -> None:
        width = self._output.width
        if width is not None:
            line = cut_text(line, width)
        if bold:
            self._output.write_bold(line)
            line = ""
        self._output.write(f"{line}\n")


def write_table(
    output: Output, titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """Write a table whose rows are all known: (heading, cells).

    Columns fit what is in them; in a terminal within reason. Titles that begin with a
    space are aligned to the right.
    """
    rows = [(heading, [escape_line(cell) for cell in cells]) for heading, cells in rows]
    columns = []
    for index, title in enumerate(titles):
        width = max([measure(cells[index]) for _, cells in rows], default=0)
        if output.width is not None:
            width = min(width, _WIDEST)
        width = max(width, len(title.lstrip()))
        columns.append((title.lstrip(), -width if title.startswith(" ") else width))
    table = Table(output, columns)
    for heading, cells in rows:
        table.write(cells, heading)
