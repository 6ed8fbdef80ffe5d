# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live`` as a sink: implements Spark's writers for batches and streams.

    df.write.format("kafka-live").option("topic", "orders").mode("append").save()

A task only returns after all its rows have been acknowledged, so a commit has nothing
to do. ``writing.py`` writes the rows, and ``sink_options.py`` validates options and
columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource

from ..short_errors import SparkEntry
from ..topics.option_names import SINK_OPTIONS
from .sink_options import find_columns, read_sink_options
from .writing import make_batches, write_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.types import StructType

    from .sink_options import SinkColumns, SinkOptions

_HAS_ARROW_STREAMS = hasattr(datasource, "DataSourceStreamArrowWriter")
"""Whether PySpark can pass a stream to the sink as Arrow batches.

PySpark 4.0 passes the rows of a stream individually.
"""


def make_writer(
    given: Mapping[str, str], schema: StructType, overwrite: bool
) -> LiveWriter:
    """Return the writer for a batch query.

    Raises ``ValueError`` if an option, the schema or the save mode is not supported.
    """
    return LiveWriter(*_read_plan(given, schema, overwrite, "mode"))


def make_stream_writer(
    given: Mapping[str, str], schema: StructType, overwrite: bool
) -> LiveStreamWriter:
    """Return the writer for a stream.

    Raises ``ValueError`` if an option, the schema or the output mode is not supported.
    """
    return LiveStreamWriter(*_read_plan(given, schema, overwrite, "outputMode"))


def _read_plan(
    given: Mapping[str, str], schema: StructType, overwrite: bool, call: str
) -> tuple[SinkColumns, SinkOptions]:
    if overwrite:
        got = "overwrite" if call == "mode" else "complete"
        raise ValueError(
            f'{SINK_OPTIONS.format} appends to topics: use {call}("append") (got {got})'
        )
    options = read_sink_options(given)
    columns = [(each.name, each.dataType.simpleString()) for each in schema.fields]
    return find_columns(columns, options.topic), options


class LiveWriter(SparkEntry, datasource.DataSourceArrowWriter):
    """Writes the rows of a batch query in the tasks."""

    def __init__(self, columns: SinkColumns, options: SinkOptions) -> None:
        self._columns = columns
        self._options = options

    def write(self, iterator: Iterator[Any]) -> datasource.WriterCommitMessage:
        """Write the rows of one task, which are passed as Arrow batches."""
        write_batches(iterator, self._columns, self._options)
        return datasource.WriterCommitMessage()


if TYPE_CHECKING or _HAS_ARROW_STREAMS:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter as StreamWriter
else:
    from pyspark.sql.datasource import DataSourceStreamWriter as StreamWriter


class LiveStreamWriter(SparkEntry, StreamWriter):
    """Writes the rows of every micro-batch in the tasks."""

    def __init__(self, columns: SinkColumns, options: SinkOptions) -> None:
        self._columns = columns
        self._options = options

    def write(self, iterator: Iterator[Any]) -> datasource.WriterCommitMessage:
        """Write the rows of one task: Arrow batches, or rows before PySpark 4.1."""
        batches = iterator
        if not _HAS_ARROW_STREAMS:
            batches = make_batches(iterator, self._columns)
        write_batches(batches, self._columns, self._options)
        return datasource.WriterCommitMessage()

    def commit(self, messages: Any, batchId: int) -> None:
        """Do nothing, because all rows have already been acknowledged."""

    def abort(self, messages: Any, batchId: int) -> None:
        """Do nothing, because acknowledged rows cannot be removed from the topics."""
