# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads producer snapshots, which contain the producer state on a broker at an offset.

The file ``<offset>.snapshot`` stores the state before that offset. KRaft checkpoints
are also called snapshots, but they are segments and are not supported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import messages
from .._engine.active import record_engine as engine
from .._limits import DEFAULT
from .._text import format_name
from ..errors import DecodeError, InvalidValue, UnsupportedVersion
from ..messages.framing import decode_prefixed
from .indexes import parse_base_offset, read_small_file
from .problems import in_file
from .storage import locate

if TYPE_CHECKING:
    from .._limits import Limits
    from .storage import Named

_ENTRIES_AT = 6
"""Byte position of the entries. The checksum covers all bytes from this position on."""


class ProducerSnapshot:
    """Producer snapshot (``.snapshot`` file).

    * ``message``: the decoded file.
    * ``entries``: one ``messages.ProducerSnapshot.ProducerEntry`` per producer. Its
      ``current_txn_first_offset`` is -1 if the producer had no open transaction.
    * ``offset``: offset in the file name, or -1 if the name contains no offset.

    Format: INT16 version, UINT32 CRC-32C of the remaining bytes, entries. Raises
    ``DecodeError`` with the file in its path if the content is invalid.
    Source: ``ProducerStateManager``.
    """

    __slots__ = ("message", "offset", "path")

    message: messages.ProducerSnapshot

    def __init__(self, path: Named, *, limits: Limits = DEFAULT) -> None:
        self.path = locate(path)
        offset = parse_base_offset(self.path.name)
        self.offset = -1 if offset is None else offset
        data = read_small_file(path, limits)
        try:
            self.message = decode_prefixed(
                messages.ProducerSnapshot, data, limits=limits
            )
        except DecodeError as error:
            raise in_file(error, format_name(path)) from None
        except UnsupportedVersion as error:
            raise InvalidValue(str(error), 0, format_name(path)) from None
        checksum = engine.crc32c(memoryview(data)[_ENTRIES_AT:])
        if checksum != self.message.crc:
            raise InvalidValue(
                f"the computed checksum is {checksum:#010x}, but the file has another",
                2,
                f"{format_name(path)}: crc",
                "ProducerSnapshot",
                1,
            )

    @property
    def entries(self) -> tuple[Any, ...]:
        """State of every producer, with its last batch and its open transaction."""
        return tuple(self.message.producer_entries)
