# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Common tasks for the record classes in aiokafka and kafka-python.

Both libraries are used in the same way as by their own consumers and producers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.contenders.arrow_lists import lists_to_arrow
from benchmarks.contenders.record_loop import RecordLoop
from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads

_READ = """
records = MemoryRecords(data)
while records.has_next():
    batch = records.next_batch()
    if not batch.validate_crc():
        raise ValueError("CRC")
    for record in batch:
        USE
"""
_READ_UNCHECKED = """
records = MemoryRecords(data)
while records.has_next():
    for record in records.next_batch():
        USE
"""


@dataclass(frozen=True)
class PeerRecords:
    """Record classes of a library.

    * ``memory_records``: reads batches.
    * ``batch_builder``: builds batches of magic 2.
    * ``legacy_builder``: builds messages of magic 0 and 1.
    """

    memory_records: Any
    batch_builder: Any
    legacy_builder: Any

    def _names(self) -> dict[str, Any]:
        return {"MemoryRecords": self.memory_records}

    def _loop(self, name: str, codec: str, check_crc: bool) -> RecordLoop:
        text = _READ if check_crc else _READ_UNCHECKED
        return RecordLoop(text, self._names(), workloads.encoded(name, codec))

    def decode_objects(self, name: str, codec: str, check_crc: bool) -> Statement:
        """Read all fields of all records of a batch."""
        return self._loop(name, codec, check_crc).reading()

    def keep_objects(self, name: str) -> Statement:
        """Decode all records of a batch and keep the record objects."""
        return self._loop(name, "none", True).keeping()

    def encode_rows(self, name: str, codec: str, level: int) -> Statement:
        """Append one row after the other, and build the batch.

        The library chooses the compression level.
        """
        number = workloads.CODECS.index(codec)
        size = 2 * len(workloads.section(name))

        def build_all(rows: list[Any]) -> bytearray:
            builder = self.batch_builder(2, number, 0, -1, -1, -1, size)
            append = builder.append
            for offset, (key, value, timestamp, headers) in enumerate(rows):
                append(offset, timestamp, key, value, headers)
            return builder.build()

        def build_legacy(rows: list[Any]) -> bytearray:
            builder = self.legacy_builder(1, number, size)
            append = builder.append
            for offset, (key, value, timestamp, _) in enumerate(rows):
                append(offset, timestamp, key, value)
            return builder.build()

        build = build_all if workloads.magic(name) == 2 else build_legacy
        return Statement("build(rows)", {"build": build, "rows": workloads.rows(name)})

    def decode_arrow(self, name: str) -> Statement:
        """Read all records of a batch into lists, and convert the lists to Arrow."""
        return lists_to_arrow(_READ, self._names(), name)
