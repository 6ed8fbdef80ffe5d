# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets of the fields in record batches and in messages of magic 0 and 1.

A record batch, magic 2::

     0  base offset             INT64
     8  length                  INT32   of what follows the length
    12  partition leader epoch  INT32
    16  magic                   INT8    2
    17  crc                     UINT32  CRC-32C of what follows the crc
    21  attributes              INT16
    23  last offset delta       INT32
    27  base timestamp          INT64   ms; with DELETE_HORIZON that time instead
    35  max timestamp           INT64   ms
    43  producer id             INT64
    51  producer epoch          INT16
    53  base sequence           INT32
    57  record count            INT32
    61  records                 compressed, unless the codec is 0

A message, magic 0 and 1::

     0  offset                  INT64
     8  length                  INT32   of what follows the length
    12  crc                     UINT32  CRC-32 of what follows the crc
    16  magic                   INT8    0 or 1
    17  attributes              INT8
    18  timestamp               INT64   ms; magic 1 only
    18  key                     BYTES   at 26 with magic 1
     .  value                   BYTES   compressed messages, unless the codec is 0

Attributes: bits 0 to 2 are the codec, bit 3 is log append time. Of a record batch, bit
4 is set in transactions, bit 5 in control batches, bit 6 where there is a delete
horizon.

``_engine/fast/batches.pxd`` has the same names for the compiled engine; a test compares
them.
Source: ``DefaultRecordBatch``, ``LegacyRecord``, KIP-98, KIP-534.
"""

BASE_OFFSET_AT = 0
SIZE_AT = 8
LOG_OVERHEAD = 12
"""Bytes of the offset and the length, which the length does not count."""

LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
PRODUCER_EPOCH_AT = 51
BASE_SEQUENCE_AT = 53
COUNT_AT = 57
BATCH_OVERHEAD = 61
"""Bytes of a record batch before its records."""

LEAST_RECORD = 7
"""Bytes that a record of magic 2 has at least."""

MESSAGE_CRC_AT = 12
MESSAGE_ATTRIBUTES_AT = 17
MESSAGE_TIMESTAMP_AT = 18

MESSAGE_OVERHEADS = (14, 22)
"""The length of a message with an empty key and value, by magic."""

KEYS_AT = (18, 26)
"""Where the length of the key of a message is, by magic."""

CODEC_MASK = 0x07
LEAST_MAGICS = (0, 0, 0, 0, 2)
"""The first magic with each codec, by the number of the codec.

Only zstd requires record batches. Source: KIP-110.
"""

KNOWN_CODECS = tuple(
    sum(1 << number for number, least in enumerate(LEAST_MAGICS) if least <= magic)
    for magic in range(3)
)
"""The codecs of a format, by magic: bit n is set if it has the codec of number n."""

LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40
