# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FetchSession``: what one broker remembers of the Fetch requests to it (KIP-227).

    request   all partitions           ->  session id, every partition
    request   those that changed       ->  those that have news
    request   those that changed, ...

A reader of a thousand quiet partitions sends and receives a few bytes in place of a
thousand entries each time. No request is written here; ``scan_requests.py`` does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

from ..messages import FetchRequest
from ..negotiation import NO_TOPIC_IDS
from .metadata import NO_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .partition_reader import PartitionReader

PartitionKey: TypeAlias = tuple[str, UUID, int]
"""Topic, topic id (all zero where the version has names alone) and partition."""

_NO_SESSION = 0
_FIRST_EPOCH = 0
_LAST_EPOCH = (1 << 31) - 1


class Position(NamedTuple):
    """What a Fetch request contains for one partition."""

    offset: int
    leader_epoch: int
    fetched_epoch: int
    max_bytes: int


class FetchSession:
    """The session with one broker: its id and epoch, and the partitions in it.

    ``begin_request`` returns what the next request has to name; ``take_response`` or
    ``reset`` follows when it is over, before the next ``begin_request``.
    """

    __slots__ = ("_limits", "_positions", "_version", "epoch", "id")

    def __init__(self) -> None:
        self.id = _NO_SESSION
        self.epoch = _FIRST_EPOCH
        self._version = -1
        self._positions: dict[PartitionKey, Position] = {}
        # Up to where a reader may read, as the broker reported it last.
        self._limits: dict[PartitionKey, int] = {}

    @property
    def is_incremental(self) -> bool:
        """Whether the request that was begun last names only what changed."""
        return self.epoch != _FIRST_EPOCH

    def begin_request(
        self, readers: Mapping[PartitionReader, Position], version: int
    ) -> tuple[dict[PartitionKey, Position], list[PartitionKey]]:
        """Return the partitions to name, and those that the broker is to forget.

        ``id`` and ``epoch`` belong into the request too. A session ends with its
        version: from Fetch 13 on, topics have ids instead of names in it.
        """
        if version != self._version:
            self.reset()
            self._version = version
        known = self._positions
        wanted = {self._key(reader): at for reader, at in readers.items()}
        if not self.is_incremental:
            self._limits.clear()
            named, forgotten = wanted, []
        else:
            named = {key: at for key, at in wanted.items() if known.get(key) != at}
            forgotten = [key for key in known if key not in wanted]
            for key in forgotten:
                self._limits.pop(key, None)
        self._positions = wanted
        return named, forgotten

    def take_response(self, session_id: int) -> None:
        """Note that the request was answered without an error of the session.

        The broker gives no session, id 0, while others take all that it has room for.
        """
        if session_id == _NO_SESSION:
            self.reset()
            self.id = _NO_SESSION
        else:
            self.id = session_id
            self.epoch = self.epoch + 1 if self.epoch < _LAST_EPOCH else 1

    def note_limit(self, reader: PartitionReader, limit: int) -> None:
        """Remember up to where a partition can be read: it is sent only if it moves."""
        self._limits[self._key(reader)] = limit

    def limit(self, reader: PartitionReader) -> int | None:
        """Return what was noted for a partition since it is in the session."""
        return self._limits.get(self._key(reader))

    def reset(self) -> None:
        """Start over: the next request names all, and ends the old session if any."""
        self.epoch = _FIRST_EPOCH
        self._positions = {}
        self._limits.clear()

    def _key(self, reader: PartitionReader) -> PartitionKey:
        has_names = self._version in NO_TOPIC_IDS.ranges[FetchRequest.api_key]
        topic_id = NO_ID if has_names else reader.topic_id
        return reader.topic, topic_id, reader.partition
