# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Field positions in record batches and in messages of magic 0 and 1.

Record batch, magic 2::

     0  base offset             INT64
     8  length                  INT32   bytes after the length field
    12  partition leader epoch  INT32
    16  magic                   INT8    2
    17  crc                     UINT32  CRC-32C of all bytes after the crc field
    21  attributes              INT16
    23  last offset delta       INT32
    27  base timestamp          INT64   ms; the delete horizon if DELETE_HORIZON is set
    35  max timestamp           INT64   ms
    43  producer id             INT64
    51  producer epoch          INT16
    53  base sequence           INT32
    57  record count            INT32
    61  records                 compressed, unless the codec is 0

Message, magic 0 and 1::

     0  offset                  INT64
     8  length                  INT32   bytes after the length field
    12  crc                     UINT32  CRC-32 of all bytes after the crc field
    16  magic                   INT8    0 or 1
    17  attributes              INT8
    18  timestamp               INT64   ms; magic 1 only
    18  key                     BYTES   at 26 with magic 1
     .  value                   BYTES   compressed messages, unless the codec is 0

Attributes: bits 0 to 2 contain the codec, and bit 3 means LogAppendTime. In a record
batch, the attributes also use bit 4 (transactional), bit 5 (control batch) and bit 6
(the batch has a delete horizon).

``_engine/fast/batches.pxd`` defines the same names for the compiled engine, and a test
compares both files.
Source: ``DefaultRecordBatch``, ``LegacyRecord``, KIP-98, KIP-534.
"""

BASE_OFFSET_AT = 0
SIZE_AT = 8
LOG_OVERHEAD = 12
"""Combined size of the offset and length fields in bytes.

The value of the length field does not include these two fields.
"""

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
"""Size of the batch header in bytes: everything before the records."""

LEAST_RECORD = 7
"""Minimum size of a magic 2 record in bytes."""

MESSAGE_CRC_AT = 12
MESSAGE_ATTRIBUTES_AT = 17
MESSAGE_TIMESTAMP_AT = 18

MESSAGE_OVERHEADS = (14, 22)
"""Value of the length field of a message whose key and value are empty, indexed by
magic.
"""

KEYS_AT = (18, 26)
"""Byte position of the key length in a message, indexed by magic."""

CODEC_MASK = 0x07
LEAST_MAGICS = (0, 0, 0, 0, 2)
"""Minimum magic that supports a codec, indexed by codec number.

Only zstd requires record batches. Source: KIP-110.
"""

KNOWN_CODECS = tuple(
    sum(1 << number for number, least in enumerate(LEAST_MAGICS) if least <= magic)
    for magic in range(3)
)
"""Supported codecs as a bit mask, indexed by magic. Bit n represents codec number n."""

LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40
