# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FetchSession``: what one broker remembers of the Fetch requests to it (KIP-227).

    request   all partitions           ->  session id, every partition
    request   those that changed       ->  those that have news
    request   those that changed, ...

A reader of a thousand quiet partitions sends and receives a few bytes in place of a
thousand entries each time. No request is written here; ``requests.py`` does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....connection.negotiation import FETCH_SESSION, FETCHED_EPOCH, NO_TOPIC_IDS
from ....connection.negotiation.facts import first_version
from ....messages import FetchRequest
from ..metadata import NO_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from .partition_reader import PartitionReader

_FIRST_WITH_MAX_BYTES = first_version("FetchRequest", "max_bytes")
_NO_SESSION = 0
_FIRST_EPOCH = 0
_LAST_EPOCH = (1 << 31) - 1


class Position(NamedTuple):
    """What a Fetch request contains for one partition.

    ``topic_id`` is all zero where the version has names alone.
    """

    topic_id: UUID
    offset: int
    leader_epoch: int
    fetched_epoch: int
    max_bytes: int


class FetchSession:
    """The session with one broker: its id and epoch, and the partitions in it.

    ``use_version`` and ``begin_request`` return what the next request has to name;
    ``take_response`` or ``reset`` follows when it is over, before the next one.
    The version of the request decides about these flags:

    * ``has_sessions``: the broker has sessions.
    * ``has_epochs``: the request contains the epoch of the last fetched record.
    * ``has_names``: the request identifies topics by name instead of id.
    * ``has_max_bytes``: the request limits the size of the whole response.
    """

    __slots__ = (
        "_limits",
        "_positions",
        "_version",
        "epoch",
        "has_epochs",
        "has_max_bytes",
        "has_names",
        "has_sessions",
        "id",
    )

    def __init__(self) -> None:
        self.id = _NO_SESSION
        self.epoch = _FIRST_EPOCH
        self.has_sessions = self.has_epochs = self.has_names = False
        self.has_max_bytes = False
        self._version = -1
        self._positions: Mapping[PartitionReader, Position] = {}
        # Up to where a reader may read, as the broker reported it last.
        self._limits: dict[PartitionReader, int] = {}

    @property
    def is_incremental(self) -> bool:
        """Whether the request that was begun last names only what changed."""
        return self.epoch != _FIRST_EPOCH

    def use_version(self, version: int) -> None:
        """Take note of the version of the next request.

        A session ends with its version: from Fetch 13 on, topics have ids instead of
        names in it.
        """
        if version != self._version:
            self.reset()
            self._version = version
            key = FetchRequest.api_key
            self.has_sessions = version in FETCH_SESSION.ranges[key]
            self.has_epochs = version in FETCHED_EPOCH.ranges[key]
            self.has_names = version in NO_TOPIC_IDS.ranges[key]
            self.has_max_bytes = version >= _FIRST_WITH_MAX_BYTES

    def make_position(
        self, reader: PartitionReader, leader_epoch: int, max_bytes: int
    ) -> Position:
        """Return what the version at hand says of a partition."""
        assert reader.position is not None, "a partition is fetched from a position"
        return Position(
            NO_ID if self.has_names else reader.topic_id,
            reader.position,
            leader_epoch,
            reader.epoch if self.has_epochs else -1,
            max_bytes,
        )

    def begin_request(
        self, wanted: Mapping[PartitionReader, Position]
    ) -> tuple[Mapping[PartitionReader, Position], Mapping[PartitionReader, Position]]:
        """Return the partitions to name, and those that the broker is to forget.

        ``id`` and ``epoch`` belong into the request too.
        """
        known, self._positions = self._positions, wanted
        if not self.is_incremental:
            self._limits.clear()
            return wanted, {}
        named = {each: at for each, at in wanted.items() if known.get(each) != at}
        forgotten = {
            each: at
            for each, at in known.items()
            # A topic that was created again is another one.
            if each not in wanted or wanted[each].topic_id != at.topic_id
        }
        for each in forgotten:
            self._limits.pop(each, None)
        if forgotten and named:
            # Of a partition that was given up and is read again, only the new position
            # is sent: brokers forget after they have read what is named.
            places = {(each.name, at.topic_id) for each, at in named.items()}
            forgotten = {
                each: at
                for each, at in forgotten.items()
                if (each.name, at.topic_id) not in places
            }
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

    @property
    def limits(self) -> dict[PartitionReader, int]:
        """What ``limit`` returns, by partition."""
        return self._limits

    def note_limit(self, reader: PartitionReader, limit: int) -> None:
        """Remember up to where a partition can be read: it is sent only if it moves."""
        self._limits[reader] = limit

    def limit(self, reader: PartitionReader) -> int | None:
        """Return what was noted for a partition since it is in the session."""
        return self._limits.get(reader)

    def reset(self) -> None:
        """Start over: the next request names all, and ends the old session if any."""
        self.epoch = _FIRST_EPOCH
        self._positions = {}
        self._limits.clear()

    def check_invariants(self, fetching: Iterable[PartitionReader]) -> None:
        """Raise ``AssertionError`` if the request in flight is not in the session.

        ``fetching`` are its partitions.
        """
        for reader in fetching if self.has_sessions else ():
            position = self._positions.get(reader)
            assert position is not None, f"the session does not have {reader.name}"
            is_same = position.offset == reader.position
            assert is_same, f"{reader.name} at {reader.position} is sent as {position}"
