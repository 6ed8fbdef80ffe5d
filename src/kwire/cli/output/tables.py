# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes rows to stdout or a file, as a table, JSON lines or CSV.

Rows are dicts with JSON values. Tables require text cells. Rows are written without
waiting for later rows. Only a terminal receives bold text and lines that are truncated
to its width. Files and pipes receive complete UTF-8 text. ``terminal.py`` escapes
characters for terminals.
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
        """Writes rows in one output format."""

        def write(self, row: Row) -> None: ...


FLUSH_SECONDS = 0.1
"""Maximum time in seconds that a written line stays in the buffer while further lines
are written.
"""

_WIDEST = 24
"""Maximum width in characters of a column in a terminal if all rows of the table are
known before the first row is written.
"""

_WIDEST_IN_PIPES = 64
"""Maximum column width outside terminals. Longer cells are not truncated there, they
only shift the following columns.
"""

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Beginning of a cell that a spreadsheet would execute as a formula, or that was
already escaped in this way. Some spreadsheets also accept these signs in their
full-width forms.
"""

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
    """Create the option ``--output``. The default is stdout unless it is required."""
    return click.option(
        "--output",
        "output_path",
        required=required,
        metavar="PATH",
        help="Write the output to this file or directory.",
    )


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the format options to a command. It receives a ``RowFormat`` as ``form``."""

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
    """Output format of rows.

    * ``name``: "table", "jsonl" or "csv".
    * ``csv_safe``: parameter ``safe`` of ``Csv``. None lets ``Csv`` choose.
    """

    name: str
    csv_safe: bool | None = None

    @property
    def is_table(self) -> bool:
        """Whether the format is a table. Commands create table writers themselves."""
        return self.name == "table"

    def open_rows(self, output: Output, names: Sequence[str]) -> RowWriter:
        """Create the writer for JSON lines or CSV. ``names`` are the CSV columns."""
        if self.name == "jsonl":
            return JsonLines(output)
        return Csv(output, names, self.csv_safe)


class Output:
    """Text stream that shows its output early: the first line is flushed immediately.

    * ``width``: terminal width in columns, or None if the stream is not a terminal.
    * ``is_kept``: True if the output is stored in a file.
    """

    def __init__(self, stream: TextIO, *, is_kept: bool = False) -> None:
        self._stream = stream
        self._flushed = 0.0
        self.is_kept = is_kept
        self.width = None
        if stream.isatty():
            # Import shutil only for terminals, because it loads compression modules.
            import shutil

            self.width = shutil.get_terminal_size().columns
        self._has_colour = (
            self.width is not None
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def write(self, text: str) -> int:
        """Write text. It must contain its own line ends."""
        written = self._stream.write(text)
        self._flush_soon()
        return written

    def write_bold(self, text: str) -> None:
        """Write text, in bold if the stream is a terminal with colours."""
        if self._has_colour:
            write_bold(self._stream, text)
        else:
            self._stream.write(text)
        self._flush_soon()

    def write_bytes(self, data: bytes) -> None:
        """Write raw bytes to a pipe or file. Do not mix them with text."""
        self._stream.buffer.write(data)
        self._flush_soon()

    def write_json_lines(self, lines: bytes) -> None:
        """Write JSON lines. In a terminal, unprintable characters are JSON escapes."""
        if self.width is None:
            self.write_bytes(lines)
            return
        for line in lines.decode().split("\n")[:-1]:
            self.write(_escape_json(line) + "\n")

    def flush(self) -> None:
        """Flush the buffer. Call this method before waiting."""
        self._stream.flush()

    def _flush_soon(self) -> None:
        """Flush the stream if ``FLUSH_SECONDS`` have elapsed since the last flush."""
        now = time.monotonic()
        if now - self._flushed > FLUSH_SECONDS:
            self._stream.flush()
            self._flushed = now

    def json(self, value: object) -> str:
        """Format a value as JSON on one line.

        For a terminal, all unprintable characters are escaped. JSON itself requires
        fewer escapes.
        """
        text = compact_json(value)
        return text if self.width is None else _escape_json(text)

    def console(self) -> EscapingConsole:
        """Create a rich console that writes to the same terminal."""
        from .console import EscapingConsole

        return EscapingConsole(self._stream)


def _escape_json(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in text)


@contextmanager
def open_output(path: str | None = None) -> Iterator[Output]:
    """Open a new file, or stdout if ``path`` is None. Existing files are not changed.

    The file becomes visible when the ``with`` block succeeds.
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
    """Whether stdout is a regular file, as opposed to a pipe or a terminal."""
    return _is_file(sys.stdout)


def stdout_is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


class BinaryStdout(io.RawIOBase):
    """Binary stdout that discards all output after ``is_ended`` is set."""

    is_ended = False

    def writable(self) -> bool:
        """Return True, because pyarrow requires a writable stream."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes, unless the output has ended."""
        if not self.is_ended:
            sys.stdout.buffer.write(data)
        return len(data)

    def flush(self) -> None:
        """Flush stdout, unless the output has ended."""
        if not self.is_ended:
            sys.stdout.buffer.flush()


def _is_file(stream: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except io.UnsupportedOperation:
        return False


def _prepare(stream: TextIO) -> None:
    # File names may contain bytes that are not valid UTF-8, which Python decodes as
    # surrogates. "backslashreplace" writes them as \udc.., which is also the correct
    # JSON escape.
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]
    else:
        stream.reconfigure(  # type: ignore[attr-defined]
            encoding="utf-8", errors="backslashreplace", newline="\n"
        )


def clear_unknown(row: Row) -> dict[str, object]:
    """Return a row in which None replaces -1. kwire uses -1 for unknown values."""
    return {
        name: None if value == -1 and isinstance(value, int) else value
        for name, value in row.items()
    }


class JsonLines:
    """Writes one JSON object per row."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, row: Row) -> None:
        """Write one row as a line with a JSON object."""
        self._output.write(self._output.json(row) + "\n")


class Csv:
    """Writes CSV with a header line. Lines end with LF.

    Lists, objects and booleans are written as JSON. With ``safe``, text that a
    spreadsheet would execute as a formula gets the prefix ``'``. Numbers do not. If
    ``safe`` is None, terminals and files are safe, and pipes are exact.
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
        """Write one row. None becomes an empty field."""
        self._write([self._field(row.get(name)) for name in self._names])

    def _write(self, fields: Sequence[str]) -> None:
        # Many readers treat a single CR as a line ending, so quote it. Not all CSV
        # writers do this.
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
        # In a terminal, a row is always one line, so line ends in a field are escaped.
        return escape_line(value) if self._in_terminal else value


class Table:
    """Writes a table with a title line and headings.

    A column consists of its title and its minimum width. A negative width aligns the
    column to the right. Every row is one line, regardless of its content. A column
    grows with its cells, so that the rows after a long cell are aligned again. In a
    terminal, columns before the last one are limited to a quarter of the line, and
    longer cells are truncated.
    """

    def __init__(self, output: Output, columns: Sequence[tuple[str, int]]) -> None:
        self._output = output
        self._widths = [width for _, width in columns]
        widest = _WIDEST_IN_PIPES if output.width is None else output.width // 4
        self._widest = [max(abs(width), widest) for width in self._widths]
        self._heading = ""
        self._write(self._line([title for title, _ in columns]), bold=True)

    def write(self, cells: Sequence[str], heading: str = "") -> None:
        """Write one row as a line. A new heading is written before the row."""
        self._write_heading(heading)
        self._write(self._line([escape_line(cell) for cell in cells]))

    def write_words(
        self, cells: Sequence[str], words: Sequence[str], needed: int, heading: str
    ) -> None:
        """Write a line whose last cell consists of words and may span several columns.

        In a terminal, words that do not fit continue on further lines, which begin at
        the second column. The first ``needed`` words are always shown completely.
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
    """Write a table if all rows are known. A row is (heading, cells).

    Column widths fit their content, with a limit in terminals. Titles that begin with a
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
