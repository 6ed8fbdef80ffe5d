# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire write``: writes records from a file or from stdin to a live topic.

This file has the options; ``record_input.py`` reads lines. Parquet and Arrow files go
to the producer as tables.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from ...arrow_types import load_pyarrow
from ...cluster import ClusterError
from ...errors import KwireError
from ..brokers import add_cluster_options, connect_cluster
from ..main import EXIT_CODES, FINE
from ..record_input import read_csv, read_json_lines, read_text
from ..terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...client import ProducerSync, Receipt

_FORMS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
_COLUMNS = ("key", "value", "headers", "timestamp")
_ROWS_AT_ONCE = 1 << 16


@click.command(epilog=EXIT_CODES, short_help="Write records to a live topic.")
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
    "--format",
    "form",
    type=click.Choice(("text", "jsonl", "csv", "parquet", "arrow")),
    help=(
        "text: each line is a value; jsonl, csv, parquet, arrow: the fields that kwire"
        " read prints. The default is by the name of the file, or text."
    ),
)
@click.option(
    "--key-separator",
    "-K",
    "separator",
    metavar="TEXT",
    help="With text: what is between key and value, such as ':'.",
)
@click.option(
    "--partition",
    "-p",
    type=click.IntRange(0),
    metavar="N",
    help="Write to this partition; the default is by the key.",
)
@click.option(
    "--compression",
    "-z",
    type=click.Choice(("none", "gzip", "snappy", "lz4", "zstd")),
    default="none",
    show_default=True,
    help="The compression of record batches.",
)
def command(
    address: str,
    topic: str,
    path: str | None,
    form: str | None,
    separator: str | None,
    partition: int | None,
    compression: str,
    **access: Any,
) -> int:
    """Write records to a topic, each once, and wait until they are acknowledged.

    Without a file, lines are read from stdin and written as they come. A record without
    a timestamp gets the present time. The topic has to exist.
    """
    if form is None:
        ending = os.path.splitext(path or "")[1].lower()
        form = _FORMS.get(ending, "text")
    if separator is not None and form != "text":
        raise click.UsageError(f"--key-separator requires --format text (got {form})")
    if separator == "":
        raise click.UsageError("--key-separator must not be empty")
    if path is None and form in ("parquet", "arrow"):
        raise click.UsageError(f"--format {form} requires a file; stdin has lines")
    written = 0
    with ExitStack() as stack:
        kafka = stack.enter_context(connect_cluster(address, **access))
        producer = stack.enter_context(kafka.producer(compression=compression))
        if form in ("parquet", "arrow"):
            assert path is not None
            sent = _send_tables(producer, topic, path, form, partition)
        else:
            sent = _send_lines(producer, topic, path, form, separator, partition)
        try:
            for receipts in sent:
                written += sum(each.record_count for each in receipts)
        except KwireError as error:
            if not isinstance(error, ClusterError):
                error = ClusterError(f"writing {topic}: {error}")
            raise click.ClickException(
                f"{error}; {written} records before it are written"
            ) from error
    say(f"{written} records written to {topic}")
    return FINE


def _send_lines(
    producer: ProducerSync,
    topic: str,
    path: str | None,
    form: str,
    separator: str | None,
    partition: int | None,
) -> Iterator[list[Receipt]]:
    """Write lines in the pieces in which they come."""
    name = path or "stdin"
    with click.open_file(path or "-", "rb") as opened:
        file = cast("BinaryIO", opened)
        if form == "text":
            pieces = read_text(file, name, separator)
        elif form == "jsonl":
            pieces = read_json_lines(file, name)
        else:
            pieces = read_csv(file, name)
        for rows in pieces:
            yield producer.send_many(topic, rows, partition=partition)


def _send_tables(
    producer: ProducerSync, topic: str, path: str, form: str, partition: int | None
) -> Iterator[list[Receipt]]:
    """Write the columns of a file that are those of a record."""
    pyarrow = load_pyarrow(form)
    try:
        if form == "parquet":
            file = pyarrow.parquet.ParquetFile(path)
            names, batches = file.schema_arrow.names, file.iter_batches(_ROWS_AT_ONCE)
        else:
            reader = pyarrow.ipc.open_file(path)
            names = reader.schema.names
            batches = map(reader.get_batch, range(reader.num_record_batches))
        columns: Any = {name: name for name in _COLUMNS if name in names}
        if "value" not in columns:
            raise click.ClickException(
                f"{path}: there is no column value (it has {', '.join(names)})"
            )
        for batch in batches:
            yield producer.send_table(topic, batch, partition=partition, **columns)
    except (pyarrow.ArrowException, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise click.ClickException(f"{path}: {reason}") from None
