# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options for printing records, and the writers for lines, Parquet and Arrow.

All commands that print records use this module. The formats are implemented in
``record_rows.py``, ``record_lines.py``, ``record_pattern.py`` and ``parquet.py``.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from .byte_formats import BYTE_FORMATS
from .parquet import open_arrow_output
from .record_lines import RecordJsonLines
from .record_pattern import RecordFormat, RecordWriter
from .record_rows import RecordCsv, RecordTable, RowByRow, RowMaker
from .tables import (
    Output,
    RowFormat,
    csv_option,
    open_output,
    output_option,
    stdout_is_terminal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .record_runs import RecordRun

    class Writer(Protocol):
        """Writes the records of a run in one output format."""

        def write(self, run: RecordRun) -> None: ...


_SUFFIXES = {
    ".txt": "table",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}

_BINARY = ("parquet", "arrow")
"""Binary formats, which are not printed to terminals."""


def add_output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add output options to a command. It receives a ``RecordOutput`` as ``output``."""

    @click.option(
        "--headers/--no-headers", default=True, help="Print the headers of records."
    )
    @click.option(
        "--format-bytes",
        type=click.Choice(BYTE_FORMATS),
        default="text",
        help="Keys and values as text (or base64 if they are not), base64, or hex.",
    )
    @click.option("--raw", is_flag=True, help="Do not decode Kafka's internal topics.")
    @click.option(
        "--format",
        "-o",
        "form",
        type=click.Choice(tuple(_SUFFIXES.values())),
        help="Default: by the suffix of --output, else a table.",
    )
    @csv_option
    @click.option(
        "--record-format",
        "-f",
        "own",
        type=RecordFormat(),
        metavar="FORMAT",
        help=r"As kcat: %t topic, %p partition, %o offset, %T time, %k key, %v or %s"
        r" value, %h headers, %K %S %R lengths; \n \t \xNN.",
    )
    @output_option()
    @wraps(command)
    def run(
        headers: bool,
        format_bytes: str,
        raw: bool,
        form: str | None,
        csv_safe: bool | None,
        own: list[Any] | None,
        output_path: str | None,
        **options: Any,
    ) -> Any:
        if own is not None and form is not None:
            raise click.UsageError(
                "--record-format and --format exclude each other; give one of them"
            )
        if form is None:
            form = (
                "table"
                if output_path is None or own is not None
                else _find_form(output_path)
            )
        if form in _BINARY and output_path is None and stdout_is_terminal():
            raise click.UsageError(
                f"{form} cannot be printed to a terminal; add --output PATH, or a pipe"
            )
        record_output = RecordOutput(
            RowFormat(form, csv_safe), own, output_path, headers, format_bytes, raw
        )
        return command(output=record_output, **options)

    return run


class RecordOutput(NamedTuple):
    """Output options: the file, the format and its columns."""

    form: RowFormat
    own: list[Any] | None
    path: str | None
    headers: bool
    byte_format: str
    raw: bool

    @property
    def is_binary(self) -> bool:
        """Whether the format is Parquet or Arrow."""
        return self.form.name in _BINARY

    def _row_maker(self) -> RowMaker:
        return RowMaker(self.byte_format, self.raw)

    @contextmanager
    def open(self, decoded: bool) -> Iterator[tuple[Writer, Output | None]]:
        """Open the output. Yields its writer and its text stream.

        Binary formats have no text stream (None). ``decoded`` specifies whether keys
        and values may be decoded messages.
        """
        if self.is_binary:
            decoded = decoded and not self.raw
            with open_arrow_output(
                self.path, self.form.name, self.headers, decoded, self._row_maker()
            ) as file:
                yield file, None
            return
        with open_output(self.path) as output:
            writer = _LateWriter(lambda: self._writer(output))
            yield writer, output
            writer.begin()

    def _writer(self, output: Output) -> Writer:
        if self.own is not None:
            return RecordWriter(output, self.own, self._row_maker())
        return open_records(output, self.form, self._row_maker(), self.headers)


def open_records(
    output: Output, form: RowFormat, maker: RowMaker, headers: bool
) -> RowByRow | RecordJsonLines:
    """Create the record writer for the specified format."""
    if form.name == "jsonl":
        return RecordJsonLines(output, maker, headers)
    byte_format = maker.byte_format
    if form.is_table:
        return RowByRow(maker, RecordTable(output, byte_format, headers))
    return RowByRow(maker, RecordCsv(output, byte_format, headers, form.csv_safe))


class _LateWriter:
    """Delays creating a writer, which writes titles, until the first record.

    A command that fails before its first record only writes its error.
    """

    def __init__(self, make: Callable[[], Writer]) -> None:
        self._make = make
        self._writer: Writer | None = None

    def begin(self) -> Writer:
        """Return the writer, and create it on the first call."""
        if self._writer is None:
            self._writer = self._make()
        return self._writer

    def write(self, run: RecordRun) -> None:
        """Create the writer if necessary, and write the records of a run."""
        (self._writer or self.begin()).write(run)


def _find_form(output: str) -> str:
    """Return the format for the suffix of an output file.

    Raises ``UsageError`` if the suffix is missing or unknown.
    """
    suffix = os.path.splitext(output)[1]
    form = _SUFFIXES.get(suffix.lower())
    if form is None:
        what = f"unknown suffix {suffix}" if suffix else "the name has no suffix"
        raise click.UsageError(
            f"--output {output}: {what}; end the name in {', '.join(_SUFFIXES)}, or"
            " name the format with --format"
        )
    return form
