# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The table ``batches`` of an export: every good batch, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arrow_types import make_arrow_schema
from ...compression import NAMES
from ...schema.batch_layout import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from .headers import USES

if TYPE_CHECKING:
    from ..tables import TableWriter
    from .headers import ScannedHeaders, SourceFile


BATCHES = {
    "topic": "string",
    "partition": "int",
    "base_offset": "bigint",
    "last_offset": "bigint",
    "count": "bigint",
    "use": "string",
    "file_path": "string",
    "position": "bigint",
    "size": "bigint",
    "partition_leader_epoch": "int",
    "compression": "string",
    "magic": "int",
    "timestamp_type": "int",
    # Whatever a damaged clock wrote fits into these, but not into timestamps.
    "base_timestamp": "bigint",
    "max_timestamp": "bigint",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "base_sequence": "int",
    "is_transactional": "boolean",
    "is_control": "boolean",
    "crc": "bigint",
}
"""The columns of the table, with the names of their types."""


def write_batches(
    writer: TableWriter,
    headers: ScannedHeaders,
    place: tuple[str, int],
    source: SourceFile,
) -> None:
    """Write the rows of one file; ``place`` is its topic and partition."""
    import pyarrow
    from pyarrow import compute

    schema = make_arrow_schema(BATCHES)
    uses, codecs = (
        pyarrow.array(USES),
        pyarrow.array([*NAMES, *map(str, range(len(NAMES), CODEC_MASK + 1))]),
    )
    start, scan = 0, source.scan
    for piece in scan.pieces:
        table = headers.read_table(scan, piece).slice(0, scan.batches - start)
        rows, attributes = table.num_rows, table["attributes"]
        bits = {
            mask: compute.bit_wise_and(attributes, mask)
            for mask in (CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL)
        }
        made = {
            "topic": pyarrow.repeat(place[0], rows),
            "partition": pyarrow.repeat(place[1], rows),
            "file_path": pyarrow.repeat(scan.path, rows),
            "use": uses.take(
                pyarrow.array(source.uses[start : start + rows], pyarrow.int8())
            ),
            "compression": codecs.take(bits[CODEC_MASK]),
            "timestamp_type": compute.not_equal(bits[LOG_APPEND_TIME], 0),
            "is_transactional": compute.not_equal(bits[TRANSACTIONAL], 0),
            "is_control": compute.not_equal(bits[CONTROL], 0),
        }
        columns = [
            (made[field.name] if field.name in made else table[field.name]).cast(
                field.type
            )
            for field in schema
        ]
        writer.write(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
        start += rows
