# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The table ``batches`` of an export: every good batch, and what became of it."""

from __future__ import annotations

from ...compression import NAMES
from ..tables import load_pyarrow
from .headers import USES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tables import TableWriter
    from .headers import Headers, Source


def batches_schema() -> Any:
    """Make the schema of the table."""
    pyarrow = load_pyarrow()
    whole, short = pyarrow.int64(), pyarrow.int32()
    text, flag = pyarrow.string(), pyarrow.bool_()
    return pyarrow.schema(
        [
            *(("topic", text), ("partition", short)),
            *(("base_offset", whole), ("last_offset", whole), ("count", whole)),
            *(("use", text), ("file_path", text)),
            *(("position", whole), ("size", whole)),
            *(("partition_leader_epoch", short), ("compression", text)),
            *(("magic", short), ("timestamp_type", short)),
            # Whatever a damaged clock wrote fits into these, but not into timestamps.
            *(("base_timestamp", whole), ("max_timestamp", whole)),
            *(("producer_id", whole), ("producer_epoch", short)),
            ("base_sequence", short),
            *(("is_transactional", flag), ("is_control", flag), ("crc", whole)),
        ]
    )


def write_batches(
    writer: TableWriter, headers: Headers, place: tuple[str, int], source: Source
) -> None:
    """Write the rows of one file; ``place`` is its topic and partition."""
    pyarrow = load_pyarrow()
    from pyarrow import compute

    schema = batches_schema()
    uses, codecs = (
        pyarrow.array(USES),
        pyarrow.array([*NAMES, *map(str, range(len(NAMES), 8))]),
    )
    start, scan = 0, source.scan
    for piece in scan.pieces:
        table = headers.table(scan, piece).slice(0, scan.batches - start)
        rows, attributes = table.num_rows, table["attributes"]
        bits = {
            mask: compute.bit_wise_and(attributes, mask)
            for mask in (0x07, 0x08, 0x10, 0x20)
        }
        made = {
            "topic": pyarrow.repeat(place[0], rows),
            "partition": pyarrow.repeat(place[1], rows),
            "file_path": pyarrow.repeat(scan.path, rows),
            "use": uses.take(
                pyarrow.array(source.uses[start : start + rows], pyarrow.int8())
            ),
            "compression": codecs.take(bits[0x07]),
            "timestamp_type": compute.shift_right(bits[0x08], 3),
            "is_transactional": compute.not_equal(bits[0x10], 0),
            "is_control": compute.not_equal(bits[0x20], 0),
        }
        columns = [
            (made[field.name] if field.name in made else table[field.name]).cast(
                field.type
            )
            for field in schema
        ]
        writer.write(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
        start += rows
