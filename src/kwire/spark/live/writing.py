# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes Arrow batches to topics, as a task of the sink ``kafka-live``.

    batch -> columns by index -> rows sorted by topic -> producer

Every task uses one producer, which is idempotent by default. This module does not
import Spark.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ...errors import EncodeError
from ...messages.arrow_arrays import admit_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .sink_options import SinkColumns, SinkOptions

ROWS_AT_ONCE = 1000
"""Maximum number of rows that are collected into one Arrow batch if Spark passes the
rows individually.
"""


def write_batches(
    batches: Iterable[Any], columns: SinkColumns, options: SinkOptions
) -> None:
    """Write the rows of Arrow batches, and return when all are acknowledged.

    Raises ``EncodeError`` if a row is not a valid record, and ``ClusterError`` if the
    brokers fail. Earlier rows may already have been written in both cases.
    """
    with (
        options.cluster.open() as kafka,
        kafka.producer(**options.producer) as producer,
    ):
        for batch in batches:
            for topic, rows in _split_by_topic(batch, columns, options.topic):
                names = {name: name for name in rows.schema.names if name != "value"}
                producer.send_table(topic, rows, **names, wait=False)


def make_batches(rows: Iterable[Any], columns: SinkColumns) -> Iterator[Any]:
    """Convert rows to Arrow batches in which only the columns to write are set.

    The columns have the same indexes as in the rows. All other columns are null.
    """
    import pyarrow

    binary = pyarrow.binary()
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", binary)])
    kinds = {
        "key": binary,
        "value": binary,
        "headers": pyarrow.list_(pair),
        "partition": pyarrow.int32(),
        "topic": pyarrow.string(),
    }
    by_place = {
        place: kinds[name]
        for name, place in columns._asdict().items()
        if place is not None
    }
    iterator = iter(rows)
    while chosen := list(islice(iterator, ROWS_AT_ONCE)):
        arrays = [
            pyarrow.array(values, by_place[place])
            if place in by_place
            else pyarrow.nulls(len(values))
            for place, values in enumerate(zip(*chosen, strict=True))
        ]
        yield pyarrow.RecordBatch.from_arrays(
            arrays, list(map(str, range(len(arrays))))
        )


def _split_by_topic(
    batch: Any, columns: SinkColumns, topic: str | None
) -> Iterator[tuple[str, Any]]:
    """Yield (topic, rows) pairs for the rows of a batch.

    ``rows`` is a record batch with the columns of a record, without the topic. Rows of
    the same topic stay in order.
    """
    import numpy
    import pyarrow

    if not batch.num_rows:
        return
    places = columns._asdict()
    places.pop("topic")
    found = {
        name: batch.column(place) for name, place in places.items() if place is not None
    }
    for name, column in found.items():
        admit_array(column, name)
    if "headers" in found:
        _check_headers(found["headers"])
    rows = pyarrow.RecordBatch.from_arrays(list(found.values()), list(found))
    if topic is not None:
        yield topic, rows
        return
    assert columns.topic is not None
    topics = batch.column(columns.topic)
    admit_array(topics, "topic")
    if topics.null_count:
        raise EncodeError(
            "writing rows to topics: a row has no topic (its column topic is null);"
            " fill the column, or give the option topic",
            "topic",
        )
    if not pyarrow.types.is_dictionary(topics.type):
        topics = topics.dictionary_encode()
    codes = topics.indices.to_numpy(zero_copy_only=False)
    names = topics.dictionary.to_pylist()
    if (codes == codes[0]).all():
        yield names[codes[0]], rows
        return
    order = numpy.argsort(codes, kind="stable")
    rows, codes = rows.take(order), codes[order]
    starts = [0, *(numpy.flatnonzero(numpy.diff(codes)) + 1).tolist()]
    for start, end in zip(starts, [*starts[1:], len(codes)], strict=True):
        yield names[codes[start]], rows.slice(start, end - start)


def _check_headers(headers: Any) -> None:
    """Raise ``EncodeError`` if a header is null or has a null key."""
    import pyarrow.compute

    # After flattening, a null pair has a null key, so this also detects null pairs.
    keys, _ = pyarrow.compute.list_flatten(headers).flatten()
    if keys.null_count:
        raise EncodeError(
            "writing rows to topics: a header has no key (it is null); fill it, or"
            " leave the header out",
            "headers",
        )
