# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire write``: writes records from a file or stdin to a live topic.

This module defines the options. ``cli/input/records.py`` parses lines.
``cli/input/tables.py`` reads Parquet and Arrow, which are sent as tables.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from ...client.machines import BrokersUnreachable, ClusterError, TopicNotFound
from ...errors import KwireError
from ..input.brokers import add_cluster_options, compression_option, connect_cluster
from ..input.cluster_address import ClusterCommand
from ..input.records import read_csv, read_json_lines, read_text
from ..input.tables import read_arrow, read_parquet
from ..main import EXIT_CODES, FINE, explain
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...client import ProducerSync

_FORMS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}


@click.command(
    cls=ClusterCommand, epilog=EXIT_CODES, short_help="Write records to a live topic."
)
@add_cluster_options
@click.argument("topic")
@click.argument(
    "path",
    metavar="[FILE]",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    required=False,
)
@click.option(
    "--input-format",
    "form",
    type=click.Choice(("text", "jsonl", "csv", "parquet", "arrow")),
    help=(
        "text: each line is a value; jsonl, csv, parquet, arrow: the fields that kwire"
        " read prints. The default is by the name of the file, or text. All formats but"
        " parquet can be read from stdin."
    ),
)
@click.option(
    "--key-separator",
    "-K",
    "separator",
    metavar="TEXT",
    help="With text: the separator between key and value, such as ':'.",
)
@click.option(
    "--to-partition",
    "partition",
    type=click.IntRange(0),
    metavar="N",
    help="Write to this partition; the default is by the key.",
)
@compression_option("none")
@click.option(
    "--idempotent/--no-idempotent",
    default=True,
    show_default=True,
    help="Let the broker detect duplicates after a retry. Brokers before 0.11 cannot.",
)
@click.option(
    "--skip",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Skip the first N records of the input, for example those already written.",
)
def command(
    address: str,
    topic: str,
    path: str | None,
    form: str | None,
    separator: str | None,
    partition: int | None,
    compression: str,
    idempotent: bool,
    skip: int,
    **access: Any,
) -> int:
    """Write records to a topic, each once, and wait until they are acknowledged.

    Without a file, stdin is read, and lines and Arrow record batches are written as
    they arrive. A record without a timestamp gets the present time. The topic must
    exist. If the command ends early, it prints how many records of the input were
    written, and the --skip option to continue with.
    """
    if form is None:
        ending = os.path.splitext(path or "")[1].lower()
        form = _FORMS.get(ending, "text")
    if separator is not None and form != "text":
        raise click.UsageError(
            f"--key-separator requires --input-format text (got {form})"
        )
    if separator == "":
        raise click.UsageError("--key-separator must not be empty")
    if path is None and form == "parquet":
        raise click.UsageError(
            "--input-format parquet requires a file; on stdin, use --input-format arrow"
        )
    done = skip
    sending = 0
    with ExitStack() as stack:
        kafka = stack.enter_context(connect_cluster(address, **access))
        producer = stack.enter_context(
            kafka.producer(compression=compression, idempotent=idempotent)
        )
        send: Callable[..., None] = _send_rows
        if path is not None and form == "parquet":
            pieces, send = read_parquet(path), _send_table
        elif form == "arrow":
            pieces, send = read_arrow(path), _send_table
        else:
            pieces = _read_lines(path, form, separator)
        try:
            for piece in _skip_records(pieces, skip):
                sending = len(piece)
                if sending:
                    send(producer, topic, piece, partition)
                done += sending
                sending = 0
        except KeyboardInterrupt:
            say(f"interrupted; {_describe_progress(done, sending)}")
            raise
        except (click.ClickException, KwireError, OSError, TypeError) as error:
            text = str(error)
            if isinstance(error, (TopicNotFound, BrokersUnreachable)):
                sending = 0
            if isinstance(error, OSError) and error.filename is not None:
                text = explain(error)
            elif isinstance(error, (OSError, TypeError)):
                text = f"{path or 'stdin'}: {_first_line(error)}"
            elif not isinstance(error, (click.ClickException, ClusterError)):
                text = f"writing {topic}: {error}"
            raise click.ClickException(
                f"{text}; {_describe_progress(done, sending)}"
            ) from error
    say(f"{done - skip} records written to {topic}")
    return FINE


def _describe_progress(done: int, sending: int) -> str:
    """Describe which input records have been written, and how to continue."""
    if not sending:
        if not done:
            return "no record was written"
        return f"the first {done} records were written; continue with --skip {done}"
    return (
        f"the first {done} records were written, and possibly some of the next"
        f" {sending}; --skip {done} continues, and may write duplicates"
    )


def _skip_records(pieces: Iterator[Any], count: int) -> Iterator[Any]:
    """Yield the pieces of the input without its first ``count`` records."""
    for piece in pieces:
        skipped = min(count, len(piece))
        count -= skipped
        yield piece[skipped:] if skipped else piece


def _read_lines(
    path: str | None, form: str, separator: str | None
) -> Iterator[list[Any]]:
    """Read records from a file or stdin, in the specified line format.

    The records of all lines that have arrived are yielded together, so that a pipe can
    be followed without delay.
    """
    name = path or "stdin"
    with click.open_file(path or "-", "rb") as opened:
        file = cast("BinaryIO", opened)
        if form == "text":
            yield from read_text(file, name, separator)
        elif form == "jsonl":
            yield from read_json_lines(file, name)
        else:
            yield from read_csv(file, name)


def _send_rows(
    producer: ProducerSync, topic: str, rows: list[Any], partition: int | None
) -> None:
    producer.send_many(topic, rows, partition=partition)


def _send_table(
    producer: ProducerSync, topic: str, rows: Any, partition: int | None
) -> None:
    columns: Any = {name: name for name in rows.schema.names}
    producer.send_table(topic, rows, partition=partition, **columns)


def _first_line(error: Exception) -> str:
    """Return the first line of an error message, without the details on other lines."""
    return str(error).partition("\n")[0]
