# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-live``: topics of a cluster as a table, without a jar file.

    spark.read.format("kafka-live").option("kafka.bootstrap.servers", "broker:9092")

This module implements Spark's data source interface. On the driver, ``planning.py``
resolves the offsets. In the tasks, ``reading.py`` fetches the records. ``stream.py``
implements streams, and ``sink.py`` implements writers.
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
    """Spark data source and sink ``kafka-live``.

    Columns, options and offsets correspond to Spark's own source and sink ``kafka``.
    ``docs/spark/live.md`` and ``docs/spark/write.md`` list all of them. A
    user-specified schema selects columns to read. Raises ``ValueError`` for invalid
    options and columns, and ``ClusterError`` if the brokers fail.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that users pass to ``spark.read.format``."""
        return "kafka-live"

    def schema(self) -> str:
        """Return the schema that the options request."""
        # Do not validate all options yet: whether an offset option is allowed depends
        # on whether the query is a stream.
        found = LIVE_OPTIONS.choose(self.options)
        return default_live_layout(read_flag(found, "includeHeaders")).ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        """Validate the options, and return the reader for a batch query."""
        return LiveReader(read_live_options(self.options), _layout(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader for a stream. Its methods raise errors about options."""

        def make_stream() -> LiveStream:
            return LiveStream(read_live_options(self.options, True), _layout(schema))

        return make_stream_reader(make_stream)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Validate the options, and return the writer for a batch query."""
        return make_writer(self.options, schema, overwrite)

    def streamWriter(
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """Validate the options, and return the writer for a stream."""
        return make_stream_writer(self.options, schema, overwrite)


def _layout(schema: StructType) -> Layout:
    return chosen_live_layout(list_columns("kafka-live", schema))


class LiveReader(SparkEntry, DataSourceReader):
    """Resolves the offsets on the driver, and fetches the records in the tasks."""

    def __init__(self, options: LiveOptions, layout: Layout) -> None:
        self._options = options
        self._layout = layout

    def partitions(self) -> Sequence[InputPartition]:
        """Plan the input partitions: resolve offsets and split them."""
        found = LiveTopics(self._options).find_batch()
        return [InputPartition(each) for each in found] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read the input partition of one task as Arrow batches."""
        if partition.value is None:
            return iter(())
        return read_range(partition.value, self._layout, self._options)
