# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Guesses the Kafka release of a broker from the versions that it offers.

    guess_release(table)                 # str() of it: "4.1", "between 3.3 and 3.4",
                                         # "at least 3.9, custom", "before 0.8.0"

A guess is for messages and logs. What a broker can do is in its table, never in its
release: managed services offer mixtures, and proxies hide what they cannot forward. The
tables of the releases are in ``schema/releases.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from ...schema import releases
from ...schema.versions import VersionRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    Ends: TypeAlias = tuple[int, int]

    class Advertising(Protocol):
        """The part of ``ApiVersionTable`` that a guess reads."""

        @property
        def advertised(self) -> Mapping[int, Ends]:
            """The ranges as they were received."""


class ReleaseGuess(NamedTuple):
    """Between which releases a broker's table lies; both ends may be the same.

    ``min_release`` and ``max_release`` are None if there is no such limit.
    ``is_custom`` is True if no release has exactly this table, ``has_unstable`` if the
    release with this table must run with unstable versions enabled. ``listener`` is the
    kind of node whose table is the most similar one.
    """

    min_release: str | None
    max_release: str | None
    is_custom: bool = False
    has_unstable: bool = False
    listener: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether one release, and no other, has this table."""
        return self.min_release is not None and self.min_release == self.max_release

    def __str__(self) -> str:
        if self.min_release is None:
            return (
                "unknown" if self.max_release is None else f"before {self.max_release}"
            )
        if self.max_release is None:
            text = f"at least {self.min_release}"
        elif self.is_exact:
            text = self.min_release
        else:
            text = f"between {self.min_release} and {self.max_release}"
        if self.has_unstable:
            text += " with unstable versions"
        return f"{text}, custom" if self.is_custom else text


def guess_release(
    table: Advertising | Mapping[int, Ends | VersionRange],
    listener: str | None = None,
) -> ReleaseGuess:
    """Guess the release of the node that advertises ``table``.

    ``table`` is an ``ApiVersionTable``, or ranges by API key. ``listener`` ("broker",
    "zkBroker", "controller") says what kind of node it is, where that is known.

    Maxima and minima both count. A table that no release has is "custom": it lies
    between two neighbours, or it is "at least" the release that most rows agree with.
    """
    if listener is not None and listener not in releases.LISTENERS:
        known = ", ".join(releases.LISTENERS)
        raise ValueError(f"listener must be one of {known} (got {listener!r})")
    mine = _read_rows(table)
    kinds = [listener] if listener else ["broker", "zkBroker", "controller"]
    lines = [_line(kind) for kind in kinds]
    # What all nodes of a release speak together is no node's answer, but is asked too.
    whole = [] if listener else [_line(None)]
    return (
        _equal(mine, [*lines, *whole])
        or _newer(mine, [*lines, *whole])
        or _between(mine, lines)
        or _nearest(mine, lines)
    )


def _read_rows(
    table: Advertising | Mapping[int, Ends | VersionRange],
) -> dict[int, Ends]:
    rows = {}
    source: Any = table
    for key, ends in getattr(source, "advertised", source).items():
        if isinstance(ends, VersionRange):
            # An intersection of brokers may be empty: then the API is not offered.
            if ends:
                rows[key] = (ends.min, ends.max)
        else:
            low, high = ends
            rows[key] = (low, high)
    return rows


class _Candidate:
    """What one release advertises on one kind of node, ready to be compared."""

    def __init__(self, release: str, listener: str | None, unstable: bool) -> None:
        possible = releases.advertisements(release, listener, unstable=unstable)
        self.release = release
        self.listener = listener
        self.unstable = unstable
        self.choices = {
            key: [(each.min, each.max) for each in choices if each]
            for key, choices in possible.items()
        }
        self.rows = {(key, ends) for key, some in self.choices.items() for ends in some}
        self.tops = {(key, high) for key, (_, high) in self.rows}
        self.needed = {key for key, choices in possible.items() if all(choices)}

    def guess(self, max_release: str | None, is_custom: bool = False) -> ReleaseGuess:
        """Make the guess that starts at this release."""
        return ReleaseGuess(
            self.release, max_release, is_custom, self.unstable, self.listener
        )


class _Gap:
    """What lies between two neighbours: bounds for both ends of every row."""

    def __init__(self, old: _Candidate, new: _Candidate) -> None:
        self.old = old
        self.new = new
        self.needed = old.needed & new.needed
        self.bounds = {}
        for key in old.choices.keys() | new.choices.keys():
            some = old.choices.get(key, []) + new.choices.get(key, [])
            lows, highs = [low for low, _ in some], [high for _, high in some]
            # An API that one of them lacks may have grown version by version.
            both = key in old.choices and key in new.choices
            end = max(lows) if both else max(highs)
            start = min(highs) if both else min(lows)
            self.bounds[key] = (min(lows), end), (start, max(highs))

    def has(self, mine: dict[int, Ends]) -> bool:
        """Whether every row of a table lies within the bounds."""
        if not (self.needed <= mine.keys() <= self.bounds.keys()):
            return False
        for key, (low, high) in mine.items():
            (low_from, low_to), (high_from, high_to) = self.bounds[key]
            if not low_from <= low <= low_to or not high_from <= high <= high_to:
                return False
            if low > high:
                return False
        return True


class _Line:
    """All releases on one kind of node, the oldest first; None: on all together."""

    def __init__(self, listener: str | None) -> None:
        self.stable: list[_Candidate] = []
        self.unstable: list[_Candidate] = []
        for release in releases.NAMES:
            stable = _Candidate(release, listener, unstable=False)
            if stable.rows:
                self.stable.append(stable)
            unstable = _Candidate(release, listener, unstable=True)
            if unstable.rows != stable.rows:
                self.unstable.append(unstable)
        self.gaps = [
            _Gap(old, new)
            for old, new in zip(self.stable, self.stable[1:], strict=False)
            # No cluster lies between a broker with ZooKeeper and one without.
            if (listener in releases.listeners(old.release))
            == (listener in releases.listeners(new.release))
        ]


_lines: dict[str | None, _Line] = {}


def _line(listener: str | None) -> _Line:
    if listener not in _lines:
        _lines[listener] = _Line(listener)
    return _lines[listener]


def _equal(mine: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess | None:
    rows = frozenset(mine.items())
    stable = [line.stable for line in lines]
    unstable = [line.unstable for line in lines]
    for candidates in (*stable, *unstable):
        found = [
            each
            for each in candidates
            if each.needed <= mine.keys() and rows <= each.rows
        ]
        if found:
            return found[0].guess(found[-1].release)
    return None


def _newer(mine: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess | None:
    for line in lines:
        newest = line.stable[-1]
        if newest.release == releases.NAMES[-1] and _goes_beyond(mine, newest):
            return newest.guess(None)
    return None


def _goes_beyond(mine: dict[int, Ends], newest: _Candidate) -> bool:
    """Whether a table has all rows of the newest release, or later ones, or new ones.

    Minima may rise: a later release takes old versions away.
    """
    last_key = max(releases.ranges(newest.release))
    for key, (low, high) in mine.items():
        choices = newest.choices.get(key, [])
        if (low, high) not in choices:
            known_low, known_high = choices[0] if choices else (0, -1)
            is_later = known_low <= low <= high and known_high < high
            if not is_later or (not choices and key <= last_key):
                return False
    return newest.needed <= mine.keys()


def _between(mine: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess | None:
    for line in lines:
        for gap in line.gaps:
            if gap.has(mine):
                return gap.old.guess(gap.new.release, is_custom=True)
    return None


def _nearest(mine: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess:
    rows = frozenset(mine.items())
    tops = frozenset((key, high) for key, (low, high) in rows if low <= high)
    best, most = None, 0
    for line in lines:
        for each in line.stable:
            agreement = len(rows & each.rows) + len(tops & each.tops)
            if agreement > most:
                best, most = each, agreement
    if best is None:
        return ReleaseGuess(None, None, is_custom=True)
    if best.release == releases.NAMES[0] and mine.keys() < best.needed:
        return ReleaseGuess(None, best.release)
    return best.guess(None, is_custom=True)
