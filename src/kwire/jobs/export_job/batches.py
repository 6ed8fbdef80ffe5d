# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the export table ``batches``: all valid batches and how they were used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...messages.arrow_types import make_arrow_schema
from ...records.compression import NAMES
from ...schema.batch_layout import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from .partition_batches import USES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..tables import TableWriter
    from .partition_batches import PartitionBatches
    from .problems import PartitionKey

BATCHES = {
    "topic": "string",
    "partition": "int",
    "base_offset": "bigint",
    "last_offset": "bigint",
    "record_count": "bigint",
    "use": "string",
    "file_path": "string",
    "position": "bigint",
    "size": "bigint",
    "partition_leader_epoch": "int",
    "compression": "string",
    "magic": "int",
    "timestamp_type": "int",
    # Timestamps are plain integers because a broker with an incorrect clock can write
    # values that a timestamp column cannot represent.
    "base_timestamp": "bigint",
    "max_timestamp": "bigint",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "base_sequence": "int",
    "is_transactional": "boolean",
    "is_control": "boolean",
    "crc": "bigint",
}
"""Column types in the table ``batches``, by column name."""


_MAX_ARROW_ROWS = 16_384
"""Maximum number of rows that are converted to Arrow arrays in one step. This limits
the memory for the Arrow arrays.
"""


def write_batches(
    writer: TableWriter,
    key: PartitionKey,
    batches: PartitionBatches,
    uses: NDArray[Any],
) -> None:
    """Append all batches of a partition to the table ``batches``.

    * ``writer``: open Parquet file of the table.
    * ``key``: (topic, partition).
    * ``batches``: valid batches from all replicas.
    * ``uses``: for every row, an index into ``USES`` that becomes the column ``use``.
    """
    import pyarrow

    schema = make_arrow_schema(BATCHES)
    use_names = pyarrow.array(USES)
    codec_names = pyarrow.array([*NAMES, *map(str, range(len(NAMES), CODEC_MASK + 1))])
    paths = pyarrow.array([file.path for file in batches.files], "string")
    for start in range(0, len(batches), _MAX_ARROW_ROWS):
        rows = slice(start, start + _MAX_ARROW_ROWS)
        headers = batches.headers[rows]
        attributes = headers["attributes"]
        columns = {
            "topic": pyarrow.repeat(key[0], len(headers)),
            "partition": pyarrow.repeat(key[1], len(headers)),
            "use": use_names.take(pyarrow.array(uses[rows])),
            "file_path": paths.take(pyarrow.array(batches.file[rows])),
            "compression": codec_names.take(pyarrow.array(attributes & CODEC_MASK)),
            "timestamp_type": attributes & LOG_APPEND_TIME != 0,
            "is_transactional": attributes & TRANSACTIONAL != 0,
            "is_control": attributes & CONTROL != 0,
        }
        columns |= {
            name: headers[name] for name in headers.dtype.names if name not in columns
        }
        arrays = [
            pyarrow.array(columns[field.name]).cast(field.type) for field in schema
        ]
        writer.write(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
