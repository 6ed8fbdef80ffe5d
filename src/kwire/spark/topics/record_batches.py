# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds Arrow batches of at most a few MiB from decoded records.

The records may originate from files or from brokers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...records.arrow_batches import null_empty_lists
from .layout import arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...records.columns import Records
    from .layout import Layout

_BATCH = 4 << 20
"""Maximum size of an Arrow batch in bytes, unless a single row is larger."""

_RENAMED = {"timestampType": "timestamp_type"}


def make_assembler(
    layout: Layout, constants: dict[str, Any]
) -> Callable[[Records], Iterator[Any]]:
    """Return a function that assembles the columns of a layout.

    ``constants`` are columns with the same value for all records, such as the topic.
    The column of corrupt regions is always null.
    """
    import pyarrow as pa

    schema = arrow_schema(layout)
    fixed: dict[str, Any] = {}

    def column(name: str, batch: Any) -> Any:
        kind = schema.field(name).type
        if name == layout.corrupt:
            return pa.nulls(batch.num_rows, kind)
        if name == "headers":
            return null_empty_lists(batch.column(name))
        if name not in constants:
            return batch.column(_RENAMED.get(name, name))
        # Reuse one array for all batches: shorter batches use a slice of it.
        if name not in fixed or len(fixed[name]) < batch.num_rows:
            value = pa.scalar(constants[name], kind)
            fixed[name] = pa.repeat(value, batch.num_rows)
        return fixed[name][: batch.num_rows]

    def assemble(records: Records) -> Iterator[Any]:
        if not len(records):
            return
        batch = pa.record_batch(records)
        arrays = [column(name, batch) for name in schema.names]
        whole = pa.RecordBatch.from_arrays(arrays, schema=schema)
        rows = max(1, whole.num_rows * _BATCH // max(whole.nbytes, 1))
        if rows >= whole.num_rows:
            yield whole
            return
        for start in range(0, whole.num_rows, rows):
            yield whole.slice(start, rows)

    return assemble
