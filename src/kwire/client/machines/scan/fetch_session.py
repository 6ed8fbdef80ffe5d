# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FetchSession``: state that a broker stores between Fetch requests (KIP-227).

    full request          all partitions       ->  session id, all partitions
    incremental request   changed partitions   ->  partitions with changes

With a session, a client that reads a thousand idle partitions sends and receives a few
bytes instead of a thousand entries. ``requests.py`` builds the requests.
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
    """Fields of one partition in a Fetch request.

    ``topic_id`` contains only zeros if the version identifies topics by name.
    """

    topic_id: UUID
    offset: int
    leader_epoch: int
    fetched_epoch: int
    max_bytes: int


class FetchSession:
    """Fetch session with one broker: its id, its epoch and its partitions.

    Before each request, call ``use_version`` and ``begin_request``. Before the next
    request, call ``take_response`` after a successful response, or ``reset`` after a
    failure. The version of the request determines these flags:

    * ``has_sessions``: the broker supports sessions.
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
        # Offset up to which each partition can be read, as the broker last reported it.
        self._limits: dict[PartitionReader, int] = {}

    @property
    def is_incremental(self) -> bool:
        """Whether the current request contains only partitions that have changed."""
        return self.epoch != _FIRST_EPOCH

    def use_version(self, version: int) -> None:
        """Set the version of the next request.

        Another version starts a new session, because from Fetch 13 on, sessions
        identify topics by id instead of name.
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
        """Return the request fields for a partition in the current version."""
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
        """Begin a request for the partitions ``wanted``.

        Returns the partitions to include in the request, and the partitions that the
        broker should remove from the session. The request must also contain ``id`` and
        ``epoch``.
        """
        previous, self._positions = self._positions, wanted
        if not self.is_incremental:
            self._limits.clear()
            return wanted, {}
        included = {
            reader: position
            for reader, position in wanted.items()
            if previous.get(reader) != position
        }
        forgotten = {
            reader: position
            for reader, position in previous.items()
            # If the topic was created again, remove the deleted topic by its id.
            if reader not in wanted or wanted[reader].topic_id != position.topic_id
        }
        for reader in forgotten:
            self._limits.pop(reader, None)
        if forgotten and included:
            # Brokers remove partitions after they have added the included ones. If a
            # partition was removed and is read again, send only its new position.
            included_keys = {
                (reader.name, position.topic_id)
                for reader, position in included.items()
            }
            forgotten = {
                reader: position
                for reader, position in forgotten.items()
                if (reader.name, position.topic_id) not in included_keys
            }
        return included, forgotten

    def take_response(self, session_id: int) -> None:
        """Process the session id of a response without a session error.

        ``session_id`` is 0 if the broker has created no session, because other sessions
        use its whole session cache.
        """
        if session_id == _NO_SESSION:
            self.reset()
            self.id = _NO_SESSION
        else:
            self.id = session_id
            self.epoch = self.epoch + 1 if self.epoch < _LAST_EPOCH else 1

    @property
    def limits(self) -> dict[PartitionReader, int]:
        """Offset up to which each partition can be read, by reader.

        Partitions for which the broker has not reported this offset are omitted.
        """
        return self._limits

    def note_limit(self, reader: PartitionReader, limit: int) -> None:
        """Store the offset up to which a partition can be read.

        In a session, brokers return this offset only if it has changed.
        """
        self._limits[reader] = limit

    def limit(self, reader: PartitionReader) -> int | None:
        """Return the offset up to which a partition can be read.

        Returns None if the broker has not reported it in this session.
        """
        return self._limits.get(reader)

    def reset(self) -> None:
        """Start a new session with the next request, which includes all partitions.

        This request also ends the old session, if there is one.
        """
        self.epoch = _FIRST_EPOCH
        self._positions = {}
        self._limits.clear()

    def check_invariants(self, fetching: Iterable[PartitionReader]) -> None:
        """Raise ``AssertionError`` if the session does not match the request in flight.

        ``fetching`` are the partitions of this request.
        """
        for reader in fetching if self.has_sessions else ():
            position = self._positions.get(reader)
            assert position is not None, f"the session does not have {reader.name}"
            is_same = position.offset == reader.position
            assert is_same, f"{reader.name} at {reader.position} is sent as {position}"
