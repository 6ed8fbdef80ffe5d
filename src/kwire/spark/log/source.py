# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log``: segment files of data directories as a table.

    spark.read.format("kafka-log").option("subscribe", "orders").load("kafka-logs/")

This module implements Spark's data source interface. ``planning.py`` selects files and
offsets, and ``reading.py`` reads them. ``stream.py`` implements streams.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ..short_errors import SparkEntry
from ..topics.layout import Layout, chosen_layout, default_layout, list_columns
from ..topics.options import warn_of_stream_limits
from .options import read_options
from .planning import Bounds, call_again, find_partitions, pack, plan_pieces
from .reading import read_indexes, read_pieces, read_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql.datasource import DataSourceStreamReader, Filter
    from pyspark.sql.types import StructType

    from .options import LogOptions

_PUSHDOWN_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"


class KafkaLogSource(SparkEntry, DataSource):
    """Spark data source ``kafka-log``.

    It has the columns and options of Spark's own source ``kafka``, except for options
    that require a broker. ``docs/spark/index.md`` lists all of them. A user-specified
    schema selects columns. Raises ``ValueError`` for invalid options. The option
    ``mode`` determines the treatment of damaged data.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that users pass to ``spark.read.format``."""
        return "kafka-log"

    def schema(self) -> str:
        """Return the schema that the options request."""
        return default_layout(read_options(self.options)).ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        """Validate the options, and return the reader for a batch query."""
        options = read_options(self.options)
        warn_of_stream_limits(self.options, "kafka-log")
        takes_filters = options.push_down_filters and _pushes_filters()
        kind = PushdownReader if takes_filters else LogReader
        return kind(options, _layout(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader for a stream. Its methods raise errors about options."""
        from ..topics.stream_reader import make_stream_reader
        from .stream import LogStream

        def make_stream() -> LogStream:
            options = read_options(self.options)
            return LogStream(options, _layout(options, schema))

        return make_stream_reader(make_stream)


def _layout(options: LogOptions, schema: StructType) -> Layout:
    return chosen_layout(options, list_columns("kafka-log", schema))


def _pushes_filters() -> bool:
    """Return whether Spark accepts a reader with filter support in this process.

    Spark starts a separate worker for filter push-down. In all other processes, it
    rejects such a reader while ``spark.sql.python.filterPushdown.enabled`` is off.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHDOWN_WORKER in sys.modules or (
        main is not None and main.name == _PUSHDOWN_WORKER
    )


class LogReader(SparkEntry, DataSourceReader):
    """Selects files and offsets on the driver, and reads the records in the tasks."""

    def __init__(self, options: LogOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout
        self._bounds = Bounds()

    def partitions(self) -> Sequence[InputPartition]:
        """Plan the input partitions: list files, resolve offsets, and create splits."""
        return call_again(self._plan)

    def _plan(self) -> Sequence[InputPartition]:
        options = self._options
        found = find_partitions(options)
        if options.view in ("problems", "index"):
            taken = [InputPartition(each) for each in found if self._bounds.takes(each)]
            return taken or [InputPartition(None)]
        pieces = plan_pieces(found, options, self._bounds)
        packed = [InputPartition(each) for each in pack(pieces, options)]
        return packed or [InputPartition(())]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read the input partition of one task as Arrow batches."""
        value, options, layout = partition.value, self._options, self._layout
        if value is None:
            return iter(())
        if options.view == "problems":
            return read_problems(value, layout, options)
        if options.view == "index":
            return read_indexes(value.segments, layout)
        return read_pieces(value, layout, options)


class PushdownReader(LogReader):
    """Reader that uses filters, if Spark supports it and the user has enabled it.

    Spark 4.1 to 4.3 create one read plan for each ``load()``, and use it for all
    queries that are derived from it, even for queries without the filter. Spark's own
    setting is therefore not sufficient. With ``pushDownFilters=true``, the user
    confirms that there is only one query.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Derive bounds from the filters, and return all filters to Spark."""
        if self._options.view in ("records", "batches"):
            from .filters import gather_bounds

            self._bounds = gather_bounds(filters, self._options.view)
        return filters
