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
from ...schema import batch_layout as layout


def set_append_time(magic: int, data: bytes, now_ms: int) -> bytes:
    """Return a batch or message whose records have the time of the broker.

    Only the header and its checksum change. Messages of magic 0 have no timestamps.
    """
    if magic == 0:
        return data
    result = bytearray(data)
    if magic == 1:
        result[layout.MESSAGE_ATTRIBUTES_AT] |= layout.LOG_APPEND_TIME
        struct.pack_into(">q", result, layout.MESSAGE_TIMESTAMP_AT, now_ms)
        checksum = zlib.crc32(memoryview(result)[layout.MAGIC_AT :])
        struct.pack_into(">I", result, layout.MESSAGE_CRC_AT, checksum)
    else:
        # The flag is in the second byte of the INT16 field.
        result[layout.ATTRIBUTES_AT + 1] |= layout.LOG_APPEND_TIME
        struct.pack_into(">q", result, layout.MAX_TIMESTAMP_AT, now_ms)
        checksum = engine.crc32c(memoryview(result)[layout.ATTRIBUTES_AT :])
        struct.pack_into(">I", result, layout.CRC_AT, checksum)
    return bytes(result)
