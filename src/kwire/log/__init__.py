# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads broker data directories: segments, indexes, checkpoints and snapshots.

Files are opened read-only and loaded in parts of a few MiB. Damaged data is reported as
a ``Problem`` and never hides a valid batch. Invalid bytes result in problems or in a
``DecodeError`` with the file name. This package does not connect to brokers.
May import: ``errors``, ``_limits``, ``_files``, ``_text``, ``schema``, ``_engine``,
``messages``, ``records``.
"""

from __future__ import annotations

from .._files import NotRegularFile
from .checkpoints import (
    PartitionMetadata,
    read_leader_epochs,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
)
from .copying import CopyReport, copy_good
from .directory import LogDirectory
from .indexes import OffsetIndex, TimeIndex, TransactionIndex
from .partitions import Partition
from .problems import Problem
from .segments import Segment, find_transactions
from .snapshots import ProducerSnapshot
from .transactions import AbortedTransaction, Transactions
from .verify import verify

__all__ = [
    "AbortedTransaction",
    "CopyReport",
    "LogDirectory",
    "NotRegularFile",
    "OffsetIndex",
    "Partition",
    "PartitionMetadata",
    "Problem",
    "ProducerSnapshot",
    "Segment",
    "TimeIndex",
    "TransactionIndex",
    "Transactions",
    "copy_good",
    "find_transactions",
    "read_leader_epochs",
    "read_meta_properties",
    "read_offset_checkpoint",
    "read_partition_metadata",
    "verify",
]
