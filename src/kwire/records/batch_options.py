# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of writing a batch, such as magic and producer id, and their checks.

The public functions take options as keywords; the engine takes a ``BatchHeader``.
"""

from __future__ import annotations

from collections import namedtuple

from .. import errors
from ..errors import EncodeError
from ..schema.batch_layout import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from . import compression as codecs
from .classes import BatchHeader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._engine.record_types import Compress

_INT16 = 2**15 - 1
_INT32 = 2**31 - 1
_INT64 = 2**63 - 1

BatchOptions = namedtuple(
    "BatchOptions",
    "magic compression compression_level is_transactional is_control base_offset"
    " last_offset producer_id producer_epoch base_sequence partition_leader_epoch"
    " log_append_time delete_horizon max_timestamp",
    defaults=(2, "none", None, False, False, 0, None, -1, -1, -1, -1, None, None, None),
)
"""The arguments of ``records.encode_batch``; ``base_offset`` is known by then."""

_RULES = (
    ("base_offset", 0, 0, 0, _INT64, 0),
    ("last_offset", None, 2, None, None, 0),
    ("producer_id", -1, 2, -1, _INT64, 0),
    ("producer_epoch", -1, 2, -1, _INT16, 0),
    ("base_sequence", -1, 2, -1, _INT32, 0),
    ("partition_leader_epoch", -1, 0, -1, _INT32, 0),
    ("log_append_time", None, 1, -1, _INT64, LOG_APPEND_TIME),
    ("delete_horizon", None, 2, -1, _INT64, DELETE_HORIZON),
    ("max_timestamp", None, 0, -1, _INT64, 0),
)
"""The numbers among the options, in their order: the default, the least magic, the
least and largest value, and the attribute that is set with it."""


def make_compressor(options: BatchOptions) -> Compress | None:
    """Make what the engine calls to compress the records; None for no compression."""
    codec = codecs.codec_of(options.compression)
    if not codec:
        return None
    magic, level = options.magic, options.compression_level
    return lambda payload: codecs.compress(codec, payload, magic, level)


def make_header(options: BatchOptions, count: int) -> BatchHeader:
    """Check the options, and make a batch header of them; rows are checked later.

    Raises ``EncodeError`` with the name of the option in its path.
    Source: ``MemoryRecordsBuilder``'s and ``ProduceRequest.validateRecords``' rules.
    """
    (
        magic,
        compression,
        _,
        is_transactional,
        is_control,
        base_offset,
        last_offset,
        producer_id,
        producer_epoch,
        base_sequence,
        partition_leader_epoch,
        log_append_time,
        delete_horizon,
        max_timestamp,
    ) = options
    if magic not in (0, 1, 2):
        raise EncodeError(f"must be 0, 1 or 2 (got {errors.quote(magic)})", "magic")
    attributes = codec = codecs.codec_of(compression)
    if is_transactional:
        check_least_magic("is_transactional", magic, 2)
        attributes |= TRANSACTIONAL
    if is_control:
        check_least_magic("is_control", magic, 2)
        attributes |= CONTROL
    for number, (name, default, least_magic, low, high, bit) in zip(
        options[-len(_RULES) :], _RULES, strict=True
    ):
        if number is default:
            continue
        check_least_magic(name, magic, least_magic)
        if low is None or high is None:
            low, high = base_offset - 1, base_offset + _INT32
        if type(number) is not int or not low <= number <= high:
            raise EncodeError(
                f"must be an int from {low} to {high} (got {errors.quote(number)})",
                name,
            )
        attributes |= bit
    codecs.check_magic(codec, magic)
    if producer_id >= 0 and producer_epoch < 0:
        raise EncodeError(
            f"is required with a producer_id (got {producer_epoch})", "producer_epoch"
        )
    # Control batches are the coordinator's: they have an epoch and no sequence.
    if producer_id >= 0 and base_sequence < 0 and not is_control:
        raise EncodeError(
            f"is required with a producer_id (got {base_sequence})", "base_sequence"
        )
    if is_transactional and producer_id < 0:
        raise EncodeError(
            f"is required in a transactional batch (got {producer_id})", "producer_id"
        )
    if count and max_timestamp is not None:
        raise EncodeError(
            "cannot be given: it is computed from the records", "max_timestamp"
        )
    if log_append_time is not None:
        max_timestamp = log_append_time
    if not count and last_offset is None:
        raise EncodeError(
            "must not be empty; pass last_offset for a batch that compaction emptied",
            "records",
        )
    return BatchHeader(
        magic=magic,
        attributes=attributes,
        base_offset=base_offset,
        last_offset=base_offset - 1 if last_offset is None else last_offset,
        base_timestamp=-1 if delete_horizon is None else delete_horizon,
        max_timestamp=-1 if max_timestamp is None else max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        partition_leader_epoch=partition_leader_epoch,
    )


def check_least_magic(name: str, magic: int, least: int) -> None:
    """Refuse an option that was introduced after the format."""
    if magic < least:
        formats = "magic 2" if least == 2 else "magic 1 or 2"
        raise EncodeError(f"requires {formats} (got magic={magic})", name)
