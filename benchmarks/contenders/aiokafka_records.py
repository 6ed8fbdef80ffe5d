# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""aiokafka: compiled record classes for magic 1 and 2."""

from __future__ import annotations

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords

from benchmarks.contenders.peer_records import PeerRecords

BUILDS = "a compiled record with its fields as properties, a list of headers"
CHECKS = "CRC, bounds, size of each record"

_PEER = PeerRecords(MemoryRecords, DefaultRecordBatchBuilder, LegacyRecordBatchBuilder)
decode_objects = _PEER.decode_objects
keep_objects = _PEER.keep_objects
encode_rows = _PEER.encode_rows
decode_arrow = _PEER.decode_arrow
