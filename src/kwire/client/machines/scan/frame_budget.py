# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FrameBudget``: memory of response frames, shared by all connections of a client.

The records of a Fetch response are views of its frame, so the whole frame remains in
memory until its last chunk is released. A frame also needs memory while it arrives. The
budget distinguishes:

    expected  response to a Fetch in flight, at most its ``max_bytes``
    large     arriving frame that is larger than expected
    held      frames of records that the caller has not released

A frame may be larger than requested: from any broker if a single record batch is
larger, and from a hostile broker at any time. A large frame is received only if it fits
into the budget, or if no other frame is held or large. In the latter case its size is
not limited, so that the client can read every record batch. Other connections wait, and
their brokers stop sending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....messages.frame_splitter import LEAST_MEMORY

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

_SPARSE = 2
"""A frame is sparse if its records are smaller than the frame size divided by this
number. The records of a sparse frame are copied, so that its other bytes are not held.
"""


class FrameBudget:
    """Budget of ``limit`` bytes for frames. A single large frame may exceed it.

    In addition, each connection may use ``LEAST_MEMORY`` bytes for an arriving frame,
    which are not counted. Responses to requests other than Fetch are usually smaller.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._frames: set[HeldFrame] = set()
        self._expected: dict[Hashable, int] = {}
        self._large: dict[Hashable, int] = {}
        # Links that wait for memory to receive a large frame.
        self._waiting: set[Hashable] = set()

    @property
    def used(self) -> int:
        """Number of bytes that are held, arriving or expected."""
        return self.held + self._arriving()

    @property
    def free(self) -> int:
        """Number of bytes that further requests may use.

        It is 0 while a link waits for a large frame. Otherwise, requests of other links
        could always use the released memory first.
        """
        return 0 if self._waiting else max(self.limit - self.used, 0)

    @property
    def has_waiting(self) -> bool:
        """Whether a link waits until memory is released."""
        return bool(self._waiting)

    def expect(self, link: Hashable, size: int) -> None:
        """Reserve ``size`` bytes for the response to a Fetch."""
        self._expected[link] = size

    def end_expected(self, link: Hashable) -> None:
        """Release the reservation, because no response is expected any longer."""
        self._expected.pop(link, None)

    def can_receive(self, link: Hashable, size: int) -> bool:
        """Return whether a link may receive more bytes of a frame.

        ``size`` is the size that the frame announces, or 0 if it is unknown yet. If the
        result is False, ``has_waiting`` is True until the link can receive the frame.
        """
        if size <= self._expected.get(link, 0) + LEAST_MEMORY:
            self._large.pop(link, None)
            self._waiting.discard(link)
            return True
        if self._large.get(link) == size:
            return True
        self._large.pop(link, None)
        expected = self._expected.get(link, 0)
        is_only = not self.held and not self._large
        if is_only or self.used - expected + size <= self.limit:
            self._large[link] = size
            self._waiting.discard(link)
            return True
        self._waiting.add(link)
        return False

    def forget(self, link: Hashable) -> None:
        """Release all memory that a closed link has used for arriving frames."""
        self._expected.pop(link, None)
        self._large.pop(link, None)
        self._waiting.discard(link)

    def hold(self, frame: HeldFrame) -> None:
        """Add the size of a frame to ``held`` until ``release`` is called."""
        self._frames.add(frame)
        self.held += frame.size

    def release(self, frame: HeldFrame) -> None:
        """Subtract the size of a frame from ``held``."""
        self._frames.remove(frame)
        self.held -= frame.size

    def check_invariants(self, frames: Iterable[HeldFrame | None]) -> None:
        """Raise ``AssertionError`` if the sizes do not add up, or a frame is missing.

        ``frames`` are frames that must be held.
        """
        held = sum(frame.size for frame in self._frames)
        assert self.held == held, f"{self.held} bytes are held, but the sum is {held}"
        for frame in frames:
            assert frame in self._frames, "the frame of a chunk is not held"
        is_large = self._waiting & self._large.keys()
        assert not is_large, f"{is_large} receive a large frame, and wait for memory"

    def _arriving(self) -> int:
        expected, large = self._expected, self._large
        return sum(
            max(expected.get(link, 0), large.get(link, 0))
            for link in expected.keys() | large.keys()
        )


class HeldFrame:
    """Memory of the chunks in one frame, counted until the last chunk is released."""

    __slots__ = ("_budget", "_chunks", "size")

    def __init__(self, budget: FrameBudget, size: int) -> None:
        self._budget = budget
        self._chunks = 0
        self.size = size

    def hold(self, extra: int) -> None:
        """Count a chunk that uses the frame, and ``extra`` bytes for its objects."""
        self.size += extra
        if self._chunks:
            self._budget.held += extra
        else:
            self._budget.hold(self)
        self._chunks += 1

    def release(self) -> None:
        """Record that a chunk no longer uses the frame.

        When this was the last chunk, the memory of the frame returns to the budget.
        """
        self._chunks -= 1
        if not self._chunks:
            self._budget.release(self)


def find_frame(response: Any, budget: FrameBudget) -> HeldFrame | None:
    """Return the frame of the records in a Fetch response, or None if it is sparse.

    A sparse frame would use much more of the budget than its records. A broker can send
    such frames with padding in unknown tagged fields, in errors, or in partitions that
    were not requested.
    """
    sets = [
        part.records
        for topic in response.responses
        for part in topic.partitions
        if part.records
    ]
    if not sets:
        return None
    size = _frame_size(sets[0])
    return None if _SPARSE * sum(map(len, sets)) < size else HeldFrame(budget, size)


def _frame_size(records: Any) -> int:
    """Return the size of the memory that a view of records keeps alive, in bytes."""
    if not isinstance(records, memoryview):
        return len(records)
    with memoryview(records.obj) as frame:
        return frame.nbytes
