# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads producer snapshots: what a broker knew of producers at an offset.

The file ``<offset>.snapshot`` holds the state up to that offset. The checkpoints of
KRaft, which are called snapshots too, are segments and not read here.
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
"""Bytes of the version and of the checksum, which does not cover itself."""


class ProducerSnapshot:
    """A ``.snapshot`` file: ``message`` is its content, ``offset`` that of its name.

    ``entries`` has one ``messages.ProducerSnapshot.ProducerEntry`` for each producer;
    ``current_txn_first_offset`` is -1 where no transaction was open. ``offset`` is -1
    for a file of another name.
    Shape: INT16 version, UINT32 crc (CRC-32C of what follows), entries. Source:
    ``ProducerStateManager``. Raises ``DecodeError`` with the file in its path.
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
        found = engine.crc32c(memoryview(data)[_ENTRIES_AT:])
        if found != self.message.crc:
            raise InvalidValue(
                f"the bytes have the checksum {found:#010x}, not the one stored",
                2,
                f"{format_name(path)}: crc",
                "ProducerSnapshot",
                1,
            )

    @property
    def entries(self) -> tuple[Any, ...]:
        """The producers, each with its last batch and its open transaction."""
        return tuple(self.message.producer_entries)
