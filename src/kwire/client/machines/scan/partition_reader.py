# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionReader``: the position of a scan in one partition, and its state.

Only the methods of this file change the state and the fields of a reader. Which event
leads from which state to which is in ``TRANSITIONS``, and in a table of DESIGN.md.
Other files decide when an event happens, and send the requests.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from ..pace import Pace
from .options import LATEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .options import Lookup, Spec


_REDIRECTS = 3
_REDIRECT_S = 1.0
"""Redirects of a partition to another broker that need no pause, and the interval
between further ones. Brokers that name each other in a circle are paused for this long.
"""


def make_redirect_pace() -> Pace:
    """Return the pace of redirects for one partition."""
    return Pace(_REDIRECTS, _REDIRECT_S)


class ReaderState(Enum):
    """The state of a partition of a scan.

    "Due" states wait for the next request: until a leader is known, a connection is
    ready, memory is available, and the pause after an error is over.
    """

    IDLE = auto()
    """Not read: reading has not started, or it has been stopped."""
    LOOKUP_DUE = auto()
    """At least one offset has to be looked up before the next Fetch."""
    LOOKING_UP = auto()
    """A ListOffsets request is in flight."""
    FETCH_DUE = auto()
    """The position is known, and no request is in flight."""
    CHECKING = auto()
    """An OffsetForLeaderEpoch request is in flight, which detects log truncation."""
    FETCHING = auto()
    """A Fetch request is in flight."""
    PAUSED = auto()
    """The caller has paused the partition, so that no request is sent for it."""
    DONE = auto()
    """The end offset has been reached."""


_S = ReaderState
_DUE = frozenset({_S.LOOKUP_DUE, _S.FETCH_DUE})
_ACTIVE = _S.LOOKUP_DUE, _S.LOOKING_UP, _S.FETCH_DUE, _S.CHECKING, _S.FETCHING
_RESET = dict.fromkeys(_ACTIVE, _DUE) | {_S.PAUSED: frozenset({_S.PAUSED})}

TRANSITIONS: Mapping[str, Mapping[ReaderState, frozenset[ReaderState]]] = {
    "start": {_S.IDLE: _DUE},
    "begin_lookup": {_S.LOOKUP_DUE: frozenset({_S.LOOKING_UP})},
    "begin_check": {_S.FETCH_DUE: frozenset({_S.CHECKING})},
    "begin_fetch": {_S.FETCH_DUE: frozenset({_S.FETCHING})},
    "end_request": {
        _S.LOOKING_UP: frozenset({_S.LOOKUP_DUE}),
        **dict.fromkeys((_S.CHECKING, _S.FETCHING), frozenset({_S.FETCH_DUE})),
    },
    "look_up": dict.fromkeys(_DUE, frozenset({_S.LOOKUP_DUE})),
    "set_offset": {_S.LOOKUP_DUE: _DUE | {_S.DONE}},
    "advance": {_S.FETCH_DUE: frozenset({_S.FETCH_DUE, _S.DONE})},
    "finish": {_S.FETCH_DUE: frozenset({_S.DONE})},
    "rewind": _RESET,
    "lose": {**_RESET, _S.DONE: _DUE},
    "pause": dict.fromkeys(_ACTIVE, frozenset({_S.PAUSED})),
    "resume": {_S.PAUSED: _DUE},
    "stop": dict.fromkeys(_S, frozenset({_S.IDLE})),
}
"""The possible next states by event, which is the name of a method, and by state. An
event must not happen in a state that is not listed.
"""


class PartitionReader:
    """One partition of a scan: its position, its state, and its next request.

    Read the fields; change them by the methods alone. Each method is an event of
    ``TRANSITIONS``, or changes nothing but details of the next request.
    """

    __slots__ = (
        "checked_epoch",
        "end",
        "epoch",
        "error_count",
        "fetch_bytes",
        "found",
        "is_bounded",
        "is_start_given",
        "lookups",
        "partition",
        "position",
        "redirects",
        "replica",
        "replica_until",
        "request",
        "retry_at",
        "sent_epoch",
        "state",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, partition: int, topic_id: Any) -> None:
        self.topic = topic
        self.partition = partition
        self.topic_id = topic_id
        self.state = _S.IDLE
        # The request in flight. A response to any other request is stale, because the
        # reader was reset after that request had been sent.
        self.request: object = None
        self.position: int | None = None
        # Offset at which reading ends; None if it is not known yet, or if the reader is
        # not bounded, which means that it follows the log.
        self.end: int | None = None
        self.is_bounded = False
        # Pending offset lookups by name ("start", "end", "latest"). No Fetch is sent
        # while there are pending lookups.
        self.lookups: dict[str, Lookup] = {}
        # Names of the lookups that have succeeded at least once. Repeating one of them
        # does not count as progress, so that a scan which only repeats lookups times
        # out.
        self.found: set[str] = set()
        # Leader epochs for detecting log truncation (KIP-320); -1 means unknown:
        #   epoch          epoch of the last record that was read
        #   sent_epoch     current leader epoch in the request in flight
        #   checked_epoch  current leader epoch when a response last showed that the
        #                  log has not been truncated
        self.epoch = -1
        self.sent_epoch = -1
        self.checked_epoch = -1
        # Whether the position must exist in the log: it was passed by the caller, or it
        # follows records that were read. Otherwise it was looked up.
        self.is_start_given = False
        # Number of errors in a row, and the earliest time of the next request.
        self.error_count = 0
        self.retry_at = 0.0
        # Counted separately, because a response without records resets ``error_count``.
        self.redirects = make_redirect_pace()
        # Size of the next Fetch if a record batch is larger than the usual size.
        self.fetch_bytes = 0
        # Node id of the preferred read replica (KIP-392), and when to stop using it.
        self.replica = -1
        self.replica_until = 0.0

    @property
    def name(self) -> str:
        """Topic and partition as Kafka writes them: "orders-3"."""
        return f"{self.topic}-{self.partition}"

    @property
    def place(self) -> tuple[str, int]:
        """Topic and partition, the key of dicts of readers."""
        return self.topic, self.partition

    # Start, stop and pause.

    def start(self, start: Spec, end: Spec | None = None, epoch: int = -1) -> None:
        """Begin to read at ``start``, and up to ``end`` unless it is None.

        ``epoch`` is the leader epoch of the record before ``start``; -1 if unknown.
        """
        self._set_start(start, epoch)
        if end is not None:
            # The log end offset bounds the scan, because nothing waits for an end that
            # the log has not reached yet.
            self.is_bounded = True
            self.lookups["latest"] = LATEST
            if isinstance(end, int):
                self.end = end
            elif end != LATEST:
                self.lookups["end"] = end
        self._enter("start", self._due_state())

    def stop(self) -> None:
        """Read no more. A response in flight is ignored."""
        self.request = None
        self._enter("stop", _S.IDLE)

    def pause(self) -> None:
        """Send no request until ``resume``. A response in flight is ignored."""
        self.request = None
        self._enter("pause", _S.PAUSED)

    def resume(self) -> None:
        """Continue at the current position."""
        self._enter("resume", self._due_state())

    # Requests.

    def begin_lookup(self, request: object) -> None:
        """Note that a ListOffsets request was sent."""
        self.request = request
        self._enter("begin_lookup", _S.LOOKING_UP)

    def begin_check(self, request: object) -> None:
        """Note that an OffsetForLeaderEpoch request was sent."""
        self.request = request
        self._enter("begin_check", _S.CHECKING)

    def begin_fetch(self, request: object) -> None:
        """Note that a Fetch request was sent."""
        self.request = request
        self._enter("begin_fetch", _S.FETCHING)

    def end_request(self, request: object) -> bool:
        """Note that a request was answered or lost.

        Returns False if the response is stale, which must then be ignored.
        """
        if self.request is not request:
            return False
        self.request = None
        is_lookup = self.state is _S.LOOKING_UP
        self._enter("end_request", _S.LOOKUP_DUE if is_lookup else _S.FETCH_DUE)
        return True

    # Results.

    def look_up(self, kind: str, lookup: Lookup) -> None:
        """Look up an offset before the next Fetch, or another one than before."""
        self.lookups[kind] = lookup
        self._enter("look_up", _S.LOOKUP_DUE)

    def set_offset(self, kind: str, offset: int) -> bool:
        """Use the result of a lookup; return whether its kind succeeded first now."""
        is_first = kind not in self.found
        if is_first:
            self.found.add(kind)
            self.error_count = 0
        del self.lookups[kind]
        if kind == "start":
            self.position = offset
        else:
            self.end = offset if self.end is None else min(self.end, offset)
        self._enter("set_offset", self._due_state())
        return is_first

    def advance(self, position: int, epoch: int) -> None:
        """Continue at ``position``, after records whose last leader epoch is given."""
        assert self.position is not None and position > self.position
        self.position = position
        self.epoch = epoch
        self.fetch_bytes = 0
        self.is_start_given = True
        self._enter("advance", self._due_state())

    def finish(self) -> None:
        """End before the end offset, because the log has no more records up to it."""
        self._enter("finish", _S.DONE)

    def rewind(self, start: Spec) -> None:
        """Continue at another position. A response in flight is ignored."""
        self._reset("rewind", start, -1)

    def lose(self, start: Spec, topic_id: Any = None, epoch: int = -1) -> None:
        """Continue at ``start``, because records before it were lost.

        ``topic_id`` is the id of the new topic, if the topic was created again.
        ``epoch`` is the leader epoch of the record before ``start``; -1 if unknown.
        """
        if topic_id is not None:
            self.topic_id = topic_id
            self.end = None
        if self.is_bounded:
            self.lookups["latest"] = LATEST
        self._reset("lose", start, epoch)

    # Details of the next request.

    def set_topic_id(self, topic_id: Any) -> None:
        """Note the id of a topic whose brokers had no topic ids before (KIP-516)."""
        self.topic_id = topic_id

    def set_sent_epoch(self, epoch: int) -> None:
        """Note the leader epoch that the next request is for."""
        self.sent_epoch = epoch

    def set_epoch(self, epoch: int) -> None:
        """Note the last leader epoch that the reader and the log have in common."""
        self.epoch = epoch

    def confirm(self) -> None:
        """Note a response without an error: the log has not been truncated."""
        self.error_count = 0
        self.checked_epoch = self.sent_epoch

    def retry(self, at: float) -> None:
        """Count an error; send the next request at a time, or later."""
        self.error_count += 1
        self.retry_at = max(at, self.redirects.next_at)

    def wait_until(self, at: float) -> None:
        """Send the next request not before a time, without an error."""
        self.retry_at = max(self.retry_at, at)

    def redirect(self, now: float) -> bool:
        """Count a redirect; return whether the next request needs no pause."""
        self.redirects.note(now)
        return self.redirects.next_at <= now

    def enlarge(self, size: int) -> None:
        """Request at least ``size`` bytes until records have been read."""
        self.fetch_bytes = size

    def prefer_replica(self, replica: int, until: float) -> None:
        """Read from the replica that the leader prefers, until a time (KIP-392)."""
        self.replica = replica
        self.replica_until = until

    def forget_replica(self) -> None:
        """Read from the leader."""
        self.replica = -1

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the fields contradict the state."""
        state, name = self.state, f"{self.name} is {self.state.name}"
        in_flight = state in (_S.LOOKING_UP, _S.CHECKING, _S.FETCHING)
        assert in_flight == (self.request is not None), f"{name}: {self.request}"
        if state in (_S.LOOKUP_DUE, _S.LOOKING_UP):
            assert self.lookups, f"{name} without a lookup"
        if state in (_S.FETCH_DUE, _S.CHECKING, _S.FETCHING, _S.DONE):
            assert not self.lookups, f"{name} with {self.lookups}"
            assert self.position is not None, f"{name} without a position"
        is_open = self.end is None or self.position is None or self.position < self.end
        assert is_open or state is not _S.FETCH_DUE, f"{name} at its end"

    def _due_state(self) -> ReaderState:
        if self.lookups:
            return _S.LOOKUP_DUE
        assert self.position is not None
        is_done = self.end is not None and self.position >= self.end
        return _S.DONE if is_done else _S.FETCH_DUE

    def _reset(self, event: str, start: Spec, epoch: int) -> None:
        self.request = None
        self.checked_epoch = -1
        self._set_start(start, epoch)
        is_paused = self.state is _S.PAUSED
        self._enter(event, _S.PAUSED if is_paused else self._due_state())

    def _set_start(self, start: Spec, epoch: int) -> None:
        self.epoch = epoch
        self.is_start_given = isinstance(start, int)
        if isinstance(start, int):
            self.position = start
            self.lookups.pop("start", None)
        else:
            self.position = None
            self.lookups["start"] = start

    def _enter(self, event: str, state: ReaderState) -> None:
        is_possible = state in TRANSITIONS[event].get(self.state, ())
        assert is_possible, f"{event} leads from {self.state.name} to {state.name}"
        self.state = state
