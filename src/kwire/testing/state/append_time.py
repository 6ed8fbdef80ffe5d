# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Append times in batches of topics with the timestamp type LogAppendTime.

Source: ``DefaultRecordBatch.setMaxTimestamp`` and
``AbstractLegacyRecordBatch.setTimestampAndUpdateCrc``.
"""

from __future__ import annotations

import struct
import zlib

from ..._engine.active import record_engine as engine

_LOG_APPEND_TIME = 0x08
"""Attribute bit of the timestamp type, in all formats with timestamps."""

_LEGACY_CRC_AT, _LEGACY_MAGIC_AT = 12, 16
_LEGACY_ATTRIBUTES_AT, _LEGACY_TIME_AT = 17, 18
_CRC_AT, _ATTRIBUTES_AT, _MAX_TIME_AT = 17, 21, 35


def set_append_time(magic: int, data: bytes, now_ms: int) -> bytes:
    """Return a batch or message whose records have the time of the broker.

    Only the header and its checksum change. Messages of magic 0 have no timestamps.
    """
    if magic == 0:
        return data
    result = bytearray(data)
    if magic == 1:
        result[_LEGACY_ATTRIBUTES_AT] |= _LOG_APPEND_TIME
        struct.pack_into(">q", result, _LEGACY_TIME_AT, now_ms)
        checksum = zlib.crc32(memoryview(result)[_LEGACY_MAGIC_AT:])
        struct.pack_into(">I", result, _LEGACY_CRC_AT, checksum)
    else:
        result[_ATTRIBUTES_AT + 1] |= _LOG_APPEND_TIME
        struct.pack_into(">q", result, _MAX_TIME_AT, now_ms)
        checksum = engine.crc32c(memoryview(result)[_ATTRIBUTES_AT:])
        struct.pack_into(">I", result, _CRC_AT, checksum)
    return bytes(result)
