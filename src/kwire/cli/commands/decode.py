# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire decode``: prints the messages in encoded bytes as JSON or Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from rich.highlighter import JSONHighlighter
from rich.text import Text

from ..._text import escape_line
from ...errors import KwireError
from ..input.pieces import MOST_FAILURES, add_byte_options, find_pieces
from ..main import CANNOT, EXIT_CODES, FINE, PROBLEMS, explain
from ..output.message_json import MessageJson, indent_json
from ..output.tables import open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..input.pieces import Reading
    from ..output.tables import Output

_WIDTH = 80


@click.command(epilog=EXIT_CODES, short_help="Decode requests, responses and records.")
@add_byte_options
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("json", "jsonl", "repr")),
    default="json",
    help="Indented JSON (the default), JSON lines, or Python's repr.",
)
def command(form: str, **chosen: Any) -> int:
    r"""Decode requests, responses and records, with their headers.

    DATA is hex in any spacing, a hex dump, text with \x escapes, or base64; a file or
    stdin may hold these, or the bytes themselves. Request frames, with sizes or
    without, and record sets are detected; name the type of anything else.
    """
    pieces, hint = find_pieces(**chosen)
    failures = 0
    writer = MessageJson()
    with open_output() as output:
        for piece in pieces:
            try:
                reading = piece.read()
                texts = _reprs(reading) if form == "repr" else _objects(reading, writer)
                for content in texts:
                    _write(output, form, content)
            except KwireError as error:
                failures += 1
                say(f"{explain(error)}{hint if piece is pieces[0] else ''}")
                if failures == MOST_FAILURES and piece is not pieces[-1]:
                    say("too many errors; the rest of the input was not decoded")
                    break
    for damage in writer.errors:
        say(f"record set: {explain(damage)}")
    if failures:
        return CANNOT
    return PROBLEMS if writer.errors else FINE


def _objects(reading: Reading, writer: MessageJson) -> Iterator[dict[str, Any]]:
    """Yield JSON objects for a decoded piece: one per record batch, or one message."""
    header, header_version, message, version = reading
    if version < 0:
        for batch in message:
            yield writer.batch(batch)
        return
    form: dict[str, Any] = {"message": type(message).__name__, "version": version}
    if header is not None:
        form["header"] = writer.message(header, header_version)
    yield form | {"body": writer.message(message, version)}


def _reprs(reading: Reading) -> Iterator[str]:
    """Yield the ``repr`` of each part of a decoded piece.

    The parts are the header and the body of a message, or the batch headers and records
    of a record set.
    """
    if reading.header is not None:
        yield repr(reading.header)
    if reading.version >= 0:
        yield repr(reading.message)
        return
    for batch in reading.message:
        yield repr(batch.header)
        yield from map(repr, batch.records)


def _write(output: Output, form: str, value: Any) -> None:
    if form == "repr":
        output.write(f"{escape_line(value)}\n")
    elif form == "jsonl":
        output.write(f"{output.json(value)}\n")
    elif output.width is None:
        output.write(f"{indent_json(value, _WIDTH)}\n")
    else:
        lines = indent_json(value, output.width).split("\n")
        text = Text("\n".join(map(escape_line, lines)))
        JSONHighlighter().highlight(text)
        output.console().print(text, soft_wrap=True)
