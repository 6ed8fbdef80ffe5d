# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts messages between the KIP-87 draft and magic 0 and 1.

Up-conversion replaces a null value with the tombstone bit, and is lossless.
Down-conversion replaces the bit with a null value. This destroys the payload of a
tombstone with a value, and a null value that was not a delete becomes one.
``kwire.records`` converts Kafka's own magics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import EncodeError
from .compaction import check_bit
from .messages import CODEC_MASK, LOG_APPEND_TIME, TOMBSTONE_BIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .messages import Message


class TombstoneReport:
    """Counts of converted messages and of lost information.

    * ``copied``: messages that already had the requested magic.
    * ``converted``: all other messages.
    * ``values``: tombstones that lost their value.
    * ``null_values``: null values that were not deletes and have become deletes.
    * ``timestamps``: messages that lost their timestamp.
    """

    __slots__ = ("converted", "copied", "null_values", "timestamps", "values")

    def __init__(self) -> None:
        self.copied = 0
        self.converted = 0
        self.values = 0
        self.null_values = 0
        self.timestamps = 0

    @property
    def is_lossless(self) -> bool:
        """Whether the conversion was lossless."""
        return not (self.values or self.null_values or self.timestamps)

    def __repr__(self) -> str:
        counts = ((name, getattr(self, name)) for name in self.__slots__)
        text = ", ".join(f"{name}={count}" for name, count in counts if count)
        return f"TombstoneReport({text})"


def down_convert(
    messages: Iterable[Message],
    to_magic: int = 1,
    *,
    tombstone_bit: int = TOMBSTONE_BIT,
) -> tuple[tuple[Message, ...], TombstoneReport]:
    """Convert messages to magic 0 or 1. Returns the messages and a loss report.

    The value of a message with the tombstone bit becomes null. In magic 1, the
    attributes only keep the timestamp type. In magic 0, the attributes are 0, and there
    is no timestamp (-1). Messages with ``to_magic`` or a lower magic are copied.

    Raises ``EncodeError`` if a message is compressed or ``to_magic`` is not 0 or 1.

    Source: KIP-87, for consumers that fetch with a version below 3.
    """
    check_bit(tombstone_bit)
    if to_magic not in (0, 1):
        raise EncodeError(f"expected 0 or 1, got {to_magic!r:.40}", "to_magic")
    report = TombstoneReport()
    converted_messages = []
    for message in _plain(messages):
        if message.magic <= to_magic:
            report.copied += 1
            converted_messages.append(message)
            continue
        report.converted += 1
        value, attributes = message.value, message.attributes & LOG_APPEND_TIME
        if message.magic == 2:
            is_tombstone = bool(message.attributes & tombstone_bit)
            report.values += is_tombstone and value is not None
            report.null_values += not is_tombstone and value is None
            value = None if is_tombstone else value
        timestamp = message.timestamp
        if to_magic == 0:
            report.timestamps += timestamp >= 0
            timestamp, attributes = -1, 0
        converted_messages.append(
            message._replace(
                magic=to_magic, attributes=attributes, timestamp=timestamp, value=value
            )
        )
    return tuple(converted_messages), report


def up_convert(
    messages: Iterable[Message], *, tombstone_bit: int = TOMBSTONE_BIT
) -> tuple[tuple[Message, ...], TombstoneReport]:
    """Convert messages to the draft's magic 2. Returns the messages and a report.

    The report is always lossless. A null value sets the tombstone bit. The document
    implies this conversion for messages from old producers, without specifying it.
    Raises ``EncodeError`` if a message is compressed.
    """
    check_bit(tombstone_bit)
    report = TombstoneReport()
    converted_messages = []
    for message in _plain(messages):
        if message.magic == 2:
            report.copied += 1
        else:
            report.converted += 1
            attributes = message.attributes & LOG_APPEND_TIME
            if message.value is None:
                attributes |= tombstone_bit
            message = message._replace(magic=2, attributes=attributes)
        converted_messages.append(message)
    return tuple(converted_messages), report


def _plain(messages: Iterable[Message]) -> Iterable[Message]:
    for index, message in enumerate(messages):
        if message.attributes & CODEC_MASK:
            raise EncodeError(
                "the message is compressed; decode it first",
                f"messages[{index}].attributes",
            )
        yield message
