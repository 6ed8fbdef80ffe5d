# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kio: records with magic 2, uncompressed, timestamps in whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record, RecordHeader
from kio.records.writers import write_new_batch

from benchmarks.contenders.record_loop import RecordLoop
from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads

BUILDS = "frozen dataclasses, a datetime per record"
CHECKS = "CRC, bounds, size of each record, timestamp against the batch's last"

_READ = """
batch, _ = read_batch(data, 0)
for record in batch.records:
    USE
"""


class _Loop(RecordLoop):
    def values(self) -> list[Any]:
        """Return [offset, timestamp, key, value, headers] for each record.

        Timestamps are in milliseconds.
        """
        read, found = self._function("keep(record)")
        read(self._data)
        return [
            [
                record.offset,
                round(record.timestamp.timestamp() * 1000),
                record.key,
                record.value,
                [[header.key.decode(), header.value] for header in record.headers],
            ]
            for record in found
        ]


def _loop(name: str) -> RecordLoop:
    data = workloads.encoded(name, "none")
    return _Loop(_READ, {"read_batch": read_batch}, data)


def decode_objects(name: str, codec: str, check_crc: bool) -> Statement:
    """Read all fields of all records of a batch."""
    return _loop(name).reading()


def keep_objects(name: str) -> Statement:
    """Decode all records of a batch and keep the record objects."""
    return _loop(name).keeping()


def encode_rows(name: str, codec: str, level: int) -> Statement:
    """Build one record object per row, then a batch, and encode it."""

    def record(offset: int, row: Any) -> Record:
        key, value, timestamp, headers = row
        return Record(
            attributes=0,
            timestamp=timestamp,
            offset=offset,
            key=key,
            value=value,
            headers=headers,
        )

    def build(rows: list[Any]) -> bytes:
        batch = NewRecordBatch(
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            attributes=0,
            records=tuple(record(*numbered) for numbered in enumerate(rows)),
        )
        write_new_batch(buffer := BytesIO(), batch)
        return buffer.getvalue()

    rows = [
        (
            key,
            value,
            datetime.fromtimestamp(timestamp // 1000, UTC),
            tuple(
                RecordHeader(key=name.encode(), value=data) for name, data in headers
            ),
        )
        for key, value, timestamp, headers in workloads.rows(name)
    ]
    return Statement("build(rows)", {"build": build, "rows": rows})
