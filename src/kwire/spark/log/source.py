# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log``: the segments of log directories as a table.

    spark.read.format("kafka-log").option("subscribe", "orders").load("kafka-logs/")

This file answers the calls of Spark. ``planning.py`` chooses the files and offsets,
``reading.py`` reads them. Streams are in ``stream.py``.
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
    """The data source ``kafka-log``.

    Columns and options are those of Spark's own source ``kafka``, as far as there is
    sense in them without a broker; ``docs/spark/index.md`` lists them all. A schema
    that is given chooses among the columns. Raises ``ValueError`` for wrong options,
    and what the mode makes of damage.
    """

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "kafka-log"

    def schema(self) -> str:
        """Name the columns that the options ask for, and their types."""
        return default_layout(read_options(self.options)).ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        """Make the reader of a batch."""
        options = read_options(self.options)
        warn_of_stream_limits(self.options, "kafka-log")
        takes_filters = options.push_down_filters and _pushes_filters()
        kind = PushdownReader if takes_filters else LogReader
        return kind(options, _layout(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Make the reader of a stream."""
        from ..topics.stream_reader import make_stream_reader
        from .stream import LogStream

        def make_stream() -> LogStream:
            options = read_options(self.options)
            return LogStream(options, _layout(options, schema))

        return make_stream_reader(make_stream)


def _layout(options: LogOptions, schema: StructType) -> Layout:
    return chosen_layout(options, list_columns("kafka-log", schema))


def _pushes_filters() -> bool:
    """Whether Spark asks this process for a reader that takes filters.

    It has a worker of its own for that, and refuses such a reader everywhere else, as
    long as ``spark.sql.python.filterPushdown.enabled`` is off.
    """
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHDOWN_WORKER in sys.modules or (
        main is not None and main.name == _PUSHDOWN_WORKER
    )


class LogReader(SparkEntry, DataSourceReader):
    """Plans on the driver, reads in the tasks."""

    def __init__(self, options: LogOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout
        self._bounds = Bounds()

    def partitions(self) -> Sequence[InputPartition]:
        """Plan: list the files, find the offsets, cut."""
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
        """Read what one task is for, as Arrow batches."""
        value, options, layout = partition.value, self._options, self._layout
        if value is None:
            return iter(())
        if options.view == "problems":
            return read_problems(value, layout, options)
        if options.view == "index":
            return read_indexes(value.segments, layout)
        return read_pieces(value, layout, options)


class PushdownReader(LogReader):
    """A reader that takes filters, where Spark lets it and the user asks for it.

    Spark 4.1 to 4.3 keep one plan of reading for each ``load()`` and hand it to every
    query that is made of it, also to those without the filter. So it takes more than
    Spark's setting: ``pushDownFilters=true`` is the word that there is one query.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take what filters say about files; leave all of them to Spark as well."""
        if self._options.view in ("records", "batches"):
            from .filters import gather_bounds

            self._bounds = gather_bounds(filters, self._options.view)
        return filters
