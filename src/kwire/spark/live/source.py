# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live``: the topics of a cluster as a table, without a jar.

    spark.read.format("kafka-live").option("kafka.bootstrap.servers", "broker:9092")

This file answers the calls of Spark. On the driver ``planning.py`` finds the
offsets; in the tasks ``reading.py`` fetches the records. Streams are in ``stream.py``,
writers in ``sink.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ..short_errors import SparkEntry
from ..topics.layout import chosen_live_layout, default_live_layout, list_columns
from ..topics.option_names import LIVE_OPTIONS
from ..topics.option_values import read_flag
from ..topics.stream_reader import make_stream_reader
from .options import read_live_options
from .planning import LiveTopics
from .reading import read_range
from .sink import make_stream_writer, make_writer
from .stream import LiveStream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.datasource import (
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

    from ..topics.layout import Layout
    from .options import LiveOptions


class KafkaLiveSource(SparkEntry, DataSource):
    """The data source and sink ``kafka-live``.

    Columns, options and offsets are those of Spark's own source and sink ``kafka``;
    ``docs/spark/live.md`` and ``docs/spark/write.md`` list them all. A schema that is
    given chooses among the columns to read. Raises ``ValueError`` for wrong options and
    columns, ``ClusterError`` for what goes wrong with the brokers.
    """

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "kafka-live"

    def schema(self) -> str:
        """Name the columns that the options ask for, and their types."""
        # Which offsets are allowed depends on whether this is a stream.
        found = LIVE_OPTIONS.choose(self.options)
        return default_live_layout(read_flag(found, "includeHeaders")).ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        """Make the reader of a batch."""
        return LiveReader(read_live_options(self.options), _layout(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Make the reader of a stream."""

        def make_stream() -> LiveStream:
            return LiveStream(read_live_options(self.options, True), _layout(schema))

        return make_stream_reader(make_stream)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Make the writer of a batch."""
        return make_writer(self.options, schema, overwrite)

    def streamWriter(
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """Make the writer of a stream."""
        return make_stream_writer(self.options, schema, overwrite)


def _layout(schema: StructType) -> Layout:
    return chosen_live_layout(list_columns("kafka-live", schema))


class LiveReader(SparkEntry, DataSourceReader):
    """Plans on the driver, reads in the tasks."""

    def __init__(self, options: LiveOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout

    def partitions(self) -> Sequence[InputPartition]:
        """Plan: find the offsets, and cut them."""
        found = LiveTopics(self._options).find_batch()
        return [InputPartition(each) for each in found] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read what one task is for, as Arrow batches."""
        if partition.value is None:
            return iter(())
        return read_range(partition.value, self._layout, self._options)
