# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire explain``: prints the bytes of messages together with their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from ..._limits import MIB
from ..._text import escape_line
from ..input.pieces import MOST_FAILURES, add_byte_options, find_pieces
from ..main import CANNOT, EXIT_CODES, FINE, PROBLEMS, explain
from ..output.byte_map_rows import make_row, value_text
from ..output.tables import JsonLines, html_option, open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...explain import ByteMap, Span
    from ..input.pieces import BytePiece
    from ..output.tables import Output

_STYLES = {
    "number": "cyan",
    "bool": "cyan",
    "text": "green",
    "bytes": "yellow",
    "uuid": "magenta",
    "timestamp": "blue",
    "checksum": "magenta",
    "structure": "dim",
    "unknown": "yellow italic",
    "compressed": "yellow",
    "cut": "yellow italic",
    "damaged": "bold red",
    "unread": "bold red",
}
_MOST_BYTES = 8 * MIB
"""Maximum input size in bytes. A larger table would have millions of lines, and
browsers cannot display such a page.
"""

_TITLES = ("OFFSET", "BYTES", "FIELD", "TYPE", "VALUE")


@click.command(epilog=EXIT_CODES, short_help="Show which bytes are which field.")
@add_byte_options
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("table", "jsonl")),
    help="A table (the default), or JSON lines.",
)
@html_option
def command(form: str | None, html: str | None, **chosen: Any) -> int:
    r"""Show messages byte by byte: offset, bytes, field, type, value.

    DATA is hex in any spacing, a hex dump, text with \x escapes, or base64; a file or
    stdin may hold these, or the bytes themselves. Request frames, with sizes or
    without, and record sets are detected; name the type of anything else. In a
    terminal lines are cut to its width; --html and -o jsonl are complete.
    """
    if html is not None and form is not None:
        raise click.UsageError(
            "--html and --format exclude each other; give one of them"
        )
    if html is not None:
        # Import the page module here, because only ``--html`` requires its
        # dependencies.
        from ..output.byte_map_page import write_page
    pieces, hint = find_pieces(**chosen)
    data = pieces[0].data
    if len(data) > _MOST_BYTES:
        raise click.ClickException(
            f"the input must be {_MOST_BYTES // MIB} MiB or less to show each of its"
            f" bytes (got {len(data)} bytes); shorten it, or use kwire decode"
        )
    maps = _maps(pieces)
    with open_output(html) as output:
        if html is not None:
            write_page(output, data, maps, _title(maps))
        elif form == "jsonl":
            rows = JsonLines(output)
            for span in (span for byte_map in maps for span in byte_map.spans):
                rows.write(make_row(span, data))
        else:
            table = _Table(output, data, maps)
            for byte_map in maps:
                table.write(byte_map.spans)
    return _report_problem(maps, hint)


def _maps(pieces: Sequence[BytePiece]) -> list[ByteMap]:
    """Create a byte map for each piece.

    After ``MOST_FAILURES`` errors, the remaining pieces are skipped with a message.
    """
    maps = []
    failures = 0
    for piece in pieces:
        maps.append(piece.map())
        failures += maps[-1].error is not None
        if failures == MOST_FAILURES and piece is not pieces[-1]:
            say("too many errors; the rest of the input was not decoded")
            break
    return maps


def _title(maps: Sequence[ByteMap]) -> str:
    """Return the page title: the first message name, and the number of further ones."""
    parts = dict.fromkeys(span.part for byte_map in maps for span in byte_map.spans)
    bodies = [part for part in parts if part != "frame" and "Header v" not in part]
    more = f" and {len(bodies) - 1} more" if len(bodies) > 1 else ""
    return f"{(bodies or list(parts))[0]}{more}"


def _report_problem(maps: Sequence[ByteMap], hint: str) -> int:
    """Print the errors of the byte maps, and return the exit code."""
    code = FINE
    for found in maps:
        for error in found.damage:
            if error is not found.error:
                code = max(code, PROBLEMS)
                say(f"record set: {explain(error)}")
        if found.error is not None:
            code = CANNOT
            say(f"{explain(found.error)}{hint if found is maps[0] else ''}")
    return code


class _Table:
    """Writes a byte map as a text table, in which a struct's fields follow its path.

    In a terminal, lines are truncated to its width. Elsewhere, only long byte sequences
    are truncated.
    """

    def __init__(self, output: Output, data: bytes, maps: Sequence[ByteMap]) -> None:
        self._output = output
        self._data = data
        self._console = output.console() if output.width is not None else None
        width = output.width or 100
        spans = [span for byte_map in maps for span in byte_map.spans]
        self._shown = 4 if width < 100 else 8 if width < 140 else 16
        names = max((len(span.name) for span in spans), default=0)
        types = max((len(_type_text(span)) for span in spans), default=0)
        if output.width is not None:
            names, types = min(names, width * 3 // 10), min(types, width // 5)
        self._widths = (
            max(len(_TITLES[0]), len(f"{len(data):x}")),
            3 * self._shown - 1,
            max(len(_TITLES[2]), names),
            max(len(_TITLES[3]), types),
        )
        self._line(*(Text(title, "bold") for title in _TITLES))

    def write(self, spans: Sequence[Span]) -> None:
        """Write the lines for a byte map."""
        heading = None
        for span in spans:
            if (span.part, span.owner) != heading:
                heading = span.part, span.owner
                self._print(Text(escape_line(span.owner or span.part), "bold"))
            self._line(
                Text(f"{span.position:x}".rjust(self._widths[0]), "dim"),
                self._bytes_text(span),
                Text(escape_line(span.name) or f"({span.kind})"),
                Text(_type_text(span), "dim"),
                Text(value_text(span), _STYLES[span.kind]),
            )

    def _bytes_text(self, span: Span) -> Text:
        """Format a span's bytes in hex. A length prefix is dimmed."""
        cut = span.size > self._shown
        size = self._shown - 1 if cut else span.size
        text = Text(self._data[span.position : span.position + size].hex(" "))
        text.stylize(_STYLES[span.kind])
        text.stylize("dim", 0, 3 * span.prefix)
        return text.append(" …") if cut else text

    def _line(self, *cells: Text) -> None:
        line = Text()
        for cell, width in zip(cells, (*self._widths, 0), strict=True):
            if width and self._console is not None:
                cell.truncate(width, overflow="ellipsis")
            line.append_text(cell)
            if width:
                line.append(" " * (width - cell.cell_len + 2))
        self._print(line)

    def _print(self, line: Text) -> None:
        if self._console is None:
            self._output.write(f"{line.plain.rstrip()}\n")
            return
        line.rstrip()
        line.truncate(self._console.width, overflow="ellipsis")
        self._console.print(line, soft_wrap=True)


def _type_text(span: Span) -> str:
    # Omit whether a value is nullable, because the prefix would occupy a third of the
    # line.
    return span.type.replace("NULLABLE_", "")
