# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionReader``: the position of a scan in one partition, and its state.

Only the methods of ``PartitionReader`` change a reader. ``Fetcher`` and the other
classes of this package call them and send the requests. DESIGN.md contains the table of
states and events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from ..pace import Pace
from .options import LATEST

if TYPE_CHECKING:
    from .options import Lookup, Spec


_REDIRECTS = 3
"""Number of redirects to another broker that are followed without a pause."""
_REDIRECT_S = 1.0
"""Minimum interval in seconds between further redirects. It limits the requests if two
brokers return each other as the leader.
"""


def make_redirect_pace() -> Pace:
    """Return a new ``Pace``, which limits the redirects of one partition."""
    return Pace(_REDIRECTS, _REDIRECT_S)


class ReaderState(Enum):
    """State of a reader.

    A reader in a "due" state waits until its leader is known, a connection is ready,
    memory is available, and the pause after an error is over.
    """

    IDLE = auto()
    """Reading has not started, or it was stopped."""
    LOOKUP_DUE = auto()
    """An offset has to be looked up before the next Fetch."""
    LOOKING_UP = auto()
    """A ListOffsets request is in flight."""
    FETCH_DUE = auto()
    """The position is known, and no request is in flight."""
    CHECKING = auto()
    """An OffsetForLeaderEpoch request is in flight, which detects log truncation."""
    FETCHING = auto()
    """A Fetch request is in flight."""
    PAUSED = auto()
    """No request is sent, because the caller has paused the partition."""
    DONE = auto()
    """The end offset has been reached."""


# Read the members once, because each access to a member of an enum class calls a
# function in Python 3.11.
_IDLE, _LOOKUP_DUE, _LOOKING_UP = tuple(ReaderState)[:3]
_FETCH_DUE, _CHECKING, _FETCHING, _PAUSED, _DONE = tuple(ReaderState)[3:]


@dataclass(eq=False, repr=False, slots=True)
class PartitionReader:
    """Partition of a scan, with its position, its state and its next request.

    Other classes may read the fields, but must only change them by calling methods.
    """

    topic: str
    partition: int
    topic_id: Any
    state: ReaderState = _IDLE
    # The request in flight. A response to any other request is stale, because the
    # reader was reset after that request had been sent.
    request: object = None
    position: int | None = None
    # Offset at which reading ends. None before the offset lookup of a bounded reader,
    # and always None for an unbounded reader, which follows the log.
    end: int | None = None
    is_bounded: bool = False
    # Whether the position must exist in the log, because the caller has specified it or
    # it follows records that were read. Otherwise it was looked up.
    is_start_given: bool = False
    # Pending lookups by name ("start", "end", "latest"), and names of the lookups that
    # have succeeded once. Repeating a lookup is not progress, so that a scan which only
    # repeats lookups times out.
    lookups: dict[str, Lookup] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)
    # Leader epochs for detecting log truncation (KIP-320); -1 means unknown:
    #   epoch          epoch of the last record that was read
    #   sent_epoch     current leader epoch in the request in flight
    #   checked_epoch  current leader epoch when a response last showed that the log has
    #                  not been truncated
    epoch: int = -1
    sent_epoch: int = -1
    checked_epoch: int = -1
    # Number of errors in a row.
    error_count: int = 0
    # Earliest time of the next request.
    retry_at: float = 0.0
    # Redirects are not counted in ``error_count``, because a response without records
    # resets that number.
    redirects: Pace = field(default_factory=make_redirect_pace)
    # Size of the next Fetch if a record batch is larger than the usual size.
    fetch_bytes: int = 0
    # Node id of the preferred read replica (KIP-392), or -1 for the leader.
    replica: int = -1
    # Time until which the client reads from the preferred read replica.
    replica_until: float = 0.0

    @property
    def name(self) -> str:
        """Topic and partition as Kafka writes them: "orders-3"."""
        return f"{self.topic}-{self.partition}"

    @property
    def place(self) -> tuple[str, int]:
        """Topic and partition, which is the key of a reader in dicts."""
        return self.topic, self.partition

    # Events, which change the state as the table in DESIGN.md defines.

    def start(self, start: Spec, end: Spec | None = None, epoch: int = -1) -> None:
        """Begin to read at ``start``, and stop before ``end`` unless it is None.

        ``epoch`` is the leader epoch of the record before ``start``, or -1 if it is
        unknown.
        """
        assert self.state is _IDLE
        self._set_start(start, epoch)
        if end is not None:
            # Also look up the log end offset, because a bounded scan does not wait for
            # records that have not been written yet.
            self.is_bounded = True
            self.lookups["latest"] = LATEST
            if isinstance(end, int):
                self.end = end
            elif end != LATEST:
                self.lookups["end"] = end
        self.state = self._due_state()

    def begin_lookup(self, request: object) -> None:
        """Record that a ListOffsets request was sent."""
        assert self.state is _LOOKUP_DUE
        self.request = request
        self.state = _LOOKING_UP

    def begin_check(self, request: object, epoch: int) -> None:
        """Record that an OffsetForLeaderEpoch request was sent to the leader."""
        assert self.state is _FETCH_DUE
        self.request = request
        self.sent_epoch = epoch
        self.state = _CHECKING

    def begin_fetch(self, request: object, epoch: int) -> None:
        """Record that a Fetch request was sent to the leader."""
        assert self.state is _FETCH_DUE
        self.request = request
        self.sent_epoch = epoch
        self.state = _FETCHING

    def end_request(self, request: object) -> bool:
        """Record that a request was answered, or that its connection was lost.

        Returns False if the response is stale, so that the caller must ignore it.
        """
        if self.request is not request:
            return False
        self.request = None
        self.state = _LOOKUP_DUE if self.state is _LOOKING_UP else _FETCH_DUE
        return True

    def look_up(self, kind: str, lookup: Lookup) -> None:
        """Look up an offset before the next Fetch. Replaces a lookup of this kind."""
        assert self.state in (_LOOKUP_DUE, _FETCH_DUE)
        self.lookups[kind] = lookup
        self.state = _LOOKUP_DUE

    def set_offset(self, kind: str, offset: int) -> bool:
        """Set the result of a lookup; return whether this kind had no result before."""
        assert self.state is _LOOKUP_DUE
        is_first = kind not in self.found
        if is_first:
            self.found.add(kind)
            self.error_count = 0
        del self.lookups[kind]
        if kind == "start":
            self.position = offset
        else:
            self.end = offset if self.end is None else min(self.end, offset)
        self.state = self._due_state()
        return is_first

    def advance(self, position: int, epoch: int) -> None:
        """Move the position after records whose last leader epoch is ``epoch``."""
        assert self.state is _FETCH_DUE
        assert self.position is not None and self.position < position
        self.error_count = 0
        self.checked_epoch = self.sent_epoch
        self.position = position
        self.epoch = epoch
        self.fetch_bytes = 0
        self.is_start_given = True
        if self.end is not None and position >= self.end:
            self.state = _DONE

    def finish(self) -> None:
        """Stop before the end offset, because the log has no more records up to it."""
        assert self.state is _FETCH_DUE
        self.state = _DONE

    def rewind(self, start: Spec) -> None:
        """Continue at another position, and ignore a response in flight."""
        assert self.state not in (_IDLE, _DONE)
        self._reset(start, -1)

    def lose(self, start: Spec, topic_id: Any = None, epoch: int = -1) -> None:
        """Continue at ``start``, because records were lost.

        * ``topic_id``: id of the new topic, if the topic was created again.
        * ``epoch``: leader epoch of the record before ``start``, or -1 if it is
          unknown.
        """
        assert self.state is not _IDLE
        if topic_id is not None:
            self.topic_id = topic_id
            self.end = None
        if self.is_bounded:
            self.lookups["latest"] = LATEST
        self._reset(start, epoch)

    def pause(self) -> None:
        """Send no request until ``resume``, and ignore a response in flight."""
        assert self.state not in (_IDLE, _PAUSED, _DONE)
        self.request = None
        self.state = _PAUSED

    def resume(self) -> None:
        """Send requests again, from the current position on."""
        assert self.state is _PAUSED
        self.state = self._due_state()

    def stop(self) -> None:
        """Stop reading, and ignore a response in flight."""
        self.request = None
        self.state = _IDLE

    # Details of the next request, which do not change the state.

    def set_topic_id(self, topic_id: Any) -> None:
        """Set the topic id, after brokers without topic ids were upgraded (KIP-516)."""
        self.topic_id = topic_id

    def set_epoch(self, epoch: int) -> None:
        """Set the last leader epoch that the reader and the log have in common."""
        self.epoch = epoch

    def confirm(self) -> None:
        """Record that a response has shown that the log has not been truncated."""
        self.error_count = 0
        self.checked_epoch = self.sent_epoch

    def retry(self, at: float) -> None:
        """Count an error; send the next request at a time, or later."""
        self.error_count += 1
        self.retry_at = max(at, self.redirects.next_at)

    def wait_until(self, at: float) -> None:
        """Send the next request at a time, or later."""
        self.retry_at = max(self.retry_at, at)

    def redirect(self, now: float) -> bool:
        """Count a redirect; return whether the next request needs no pause."""
        self.redirects.note(now)
        return self.redirects.next_at <= now

    def enlarge(self, fetch_bytes: int) -> None:
        """Request at least ``fetch_bytes`` until records have been read."""
        self.confirm()
        self.fetch_bytes = fetch_bytes

    def set_replica(self, replica: int, until: float = 0.0) -> None:
        """Read from the preferred replica with this node id until a time (KIP-392).

        A node id of -1 means the leader.
        """
        self.replica = replica
        self.replica_until = until

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the fields contradict the state."""
        text = f"{self.name} is {self.state.name} at {self.position} of {self.end}"
        is_waiting = self.state in (_LOOKING_UP, _CHECKING, _FETCHING)
        assert is_waiting == (self.request is not None), f"{text}: {self.request}"
        if self.state not in (_IDLE, _PAUSED):
            has_lookups = self.state in (_LOOKUP_DUE, _LOOKING_UP)
            assert has_lookups == bool(self.lookups), f"{text}: {self.lookups}"
            assert has_lookups or self.position is not None, text
        if self.state in (_FETCH_DUE, _CHECKING, _FETCHING):
            assert self._due_state() is _FETCH_DUE, text

    def _due_state(self) -> ReaderState:
        if self.lookups:
            return _LOOKUP_DUE
        assert self.position is not None
        is_done = self.end is not None and self.position >= self.end
        return _DONE if is_done else _FETCH_DUE

    def _reset(self, start: Spec, epoch: int) -> None:
        self.request = None
        self.checked_epoch = -1
        self._set_start(start, epoch)
        if self.state is not _PAUSED:
            self.state = self._due_state()

    def _set_start(self, start: Spec, epoch: int) -> None:
        self.epoch = epoch
        self.is_start_given = isinstance(start, int)
        if isinstance(start, int):
            self.position = start
            self.lookups.pop("start", None)
        else:
            self.position = None
            self.lookups["start"] = start
