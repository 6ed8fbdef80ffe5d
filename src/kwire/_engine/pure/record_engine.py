# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Functions for records that each engine provides. Twin: ``fast/record_engine.py``.

Differs from its twin in: nothing.
"""

from __future__ import annotations

from .arrays import Array as Array
from .arrays import grow_memory as grow_memory
from .arrays import new_memory as new_memory
from .batches import bind_batch_header as bind_batch_header
from .batches import check_range as check_range
from .batches import measure_run as measure_run
from .batches import read_batch_header as read_batch_header
from .batches import read_last_header as read_last_header
from .checksums import crc32 as crc32
from .checksums import crc32c as crc32c
from .column_encoder import encode_columns as encode_columns
from .column_rows import ColumnRows as ColumnRows
from .encoded_rows import EncodedRows as EncodedRows
from .header_columns import decode_request_headers as decode_request_headers
from .legacy_records import find_payload as find_payload
from .legacy_records import read_inner_messages as read_inner_messages
from .legacy_records import read_message_run as read_message_run
from .message_columns import decode_messages as decode_messages
from .partitioning import CRC32 as CRC32
from .partitioning import MURMUR2 as MURMUR2
from .partitioning import hash_column as hash_column
from .partitioning import murmur2 as murmur2
from .partitioning import split_rows as split_rows
from .record_columns import decode_columns as decode_columns
from .record_decoder import bind_record as bind_record
from .record_decoder import read_records as read_records
from .record_encoder import encode_batch as encode_batch
from .record_encoder import encode_messages as encode_messages
from .record_sets import ReadOptions as ReadOptions
from .record_sets import decode_records as decode_records
from .record_sets import read_batch as read_batch
from .rows import RecordList as RecordList
from .rows import bind_rows as bind_rows
from .structs import make_struct as make_struct
