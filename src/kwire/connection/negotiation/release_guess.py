# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Guesses a broker's Kafka release from its advertised versions.

    guess_release(table)                 # as str: "4.1", "between 3.3 and 3.4",
                                         # "at least 3.9, custom", "before 0.8.0"

A guess is intended for messages and logs. Use the table, not the release, to check
whether a broker supports something, because managed services combine versions from
different releases, and proxies hide versions that they cannot forward.
``schema/releases.py`` contains the tables of the releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from ...schema import releases
from ...schema.versions import VersionRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    Ends: TypeAlias = tuple[int, int]

    class Advertising(Protocol):
        """Attributes of ``ApiVersionTable`` that are required for a guess."""

        @property
        def advertised(self) -> Mapping[int, Ends]:
            """(Minimum, maximum) version by API key, as the broker has sent them."""


class ReleaseGuess(NamedTuple):
    """Range of releases that match a broker's table.

    * ``min_release``: oldest release of the range, or None if there is no lower bound.
    * ``max_release``: newest release of the range, or None if there is no upper bound.
    * ``is_custom``: True if no release has the table, and the table does not seem to
      belong to a release that is newer or older than all known releases.
    * ``has_unstable``: True if the table only matches a release with unstable versions
      enabled.
    * ``listener``: type of node whose table is the most similar.
    """

    min_release: str | None
    max_release: str | None
    is_custom: bool = False
    has_unstable: bool = False
    listener: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether exactly one release has this table."""
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

    ``table`` is an ``ApiVersionTable``, or a mapping from API keys to ranges.
    ``listener`` is the type of node ("broker", "zkBroker", "controller"), if it is
    known.

    Minimum and maximum versions are both compared. If the table extends the table of
    the newest release, the guess is "at least" that release. If it contains only some
    of the APIs of the oldest release, the guess is "before" that release.

    In all other cases in which no release has the table, the guess is "custom". It is
    then a range between two adjacent releases, or "at least" the release that has the
    most rows in common with the table, or unknown if no release has any.
    Raises ``ValueError`` if the listener is unknown.
    """
    if listener is not None and listener not in releases.LISTENERS:
        names = ", ".join(releases.LISTENERS)
        raise ValueError(f"listener must be one of {names} (got {listener!r})")
    table_rows = _read_rows(table)
    listeners = [listener] if listener else ["broker", "zkBroker", "controller"]
    lines = [_load_line(kind) for kind in listeners]
    # No single node advertises the union of all listeners, but users can pass it.
    union_line = [] if listener else [_load_line(None)]
    return (
        _find_equal(table_rows, [*lines, *union_line])
        or _find_newer(table_rows, [*lines, *union_line])
        or _find_between(table_rows, lines)
        or _find_nearest(table_rows, lines)
    )


def _read_rows(
    table: Advertising | Mapping[int, Ends | VersionRange],
) -> dict[int, Ends]:
    rows = {}
    source: Any = table
    for key, ends in getattr(source, "advertised", source).items():
        if isinstance(ends, VersionRange):
            # The intersection of several brokers can be empty, which means that the API
            # is not supported.
            if ends:
                rows[key] = (ends.min, ends.max)
        else:
            low, high = ends
            rows[key] = (low, high)
    return rows


class _Candidate:
    """Versions that a release advertises on one listener, prepared for comparisons."""

    def __init__(self, release: str, listener: str | None, unstable: bool) -> None:
        possible = releases.advertisements(release, listener, unstable=unstable)
        self.release = release
        self.listener = listener
        self.unstable = unstable
        self.choices = {
            key: [(versions.min, versions.max) for versions in choices if versions]
            for key, choices in possible.items()
        }
        self.rows = {
            (key, ends) for key, pairs in self.choices.items() for ends in pairs
        }
        self.tops = {(key, high) for key, (_, high) in self.rows}
        self.needed = {key for key, choices in possible.items() if all(choices)}

    def guess(self, max_release: str | None, is_custom: bool = False) -> ReleaseGuess:
        """Create a guess with this release as its minimum."""
        return ReleaseGuess(
            self.release, max_release, is_custom, self.unstable, self.listener
        )


class _Gap:
    """Tables between two adjacent releases: limits for both bounds of every row."""

    def __init__(self, old: _Candidate, new: _Candidate) -> None:
        self.old = old
        self.new = new
        self.needed = old.needed & new.needed
        self.bounds = {}
        for key in old.choices.keys() | new.choices.keys():
            pairs = old.choices.get(key, []) + new.choices.get(key, [])
            lows, highs = [low for low, _ in pairs], [high for _, high in pairs]
            # If only one of the releases has the API, its versions may have been added
            # one at a time.
            is_in_both = key in old.choices and key in new.choices
            max_low = max(lows) if is_in_both else max(highs)
            min_high = min(highs) if is_in_both else min(lows)
            self.bounds[key] = (min(lows), max_low), (min_high, max(highs))

    def has(self, table_rows: dict[int, Ends]) -> bool:
        """Return whether every row of a table is within the limits."""
        if not (self.needed <= table_rows.keys() <= self.bounds.keys()):
            return False
        for key, (low, high) in table_rows.items():
            (low_from, low_to), (high_from, high_to) = self.bounds[key]
            if not low_from <= low <= low_to or not high_from <= high <= high_to:
                return False
            if low > high:
                return False
        return True


class _Line:
    """All releases with a listener, oldest first. None combines all listeners."""

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
            # If only one release has the listener, one table describes ZooKeeper
            # brokers and the other table describes KRaft. No real table is between
            # these two.
            if (listener in releases.listeners(old.release))
            == (listener in releases.listeners(new.release))
        ]


_lines: dict[str | None, _Line] = {}


def _load_line(listener: str | None) -> _Line:
    if listener not in _lines:
        _lines[listener] = _Line(listener)
    return _lines[listener]


def _find_equal(table_rows: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess | None:
    rows = frozenset(table_rows.items())
    stable = [line.stable for line in lines]
    unstable = [line.unstable for line in lines]
    for candidates in (*stable, *unstable):
        matches = [
            candidate
            for candidate in candidates
            if candidate.needed <= table_rows.keys() and rows <= candidate.rows
        ]
        if matches:
            return matches[0].guess(matches[-1].release)
    return None


def _find_newer(table_rows: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess | None:
    for line in lines:
        newest = line.stable[-1]
        if newest.release == releases.NAMES[-1] and _goes_beyond(table_rows, newest):
            return newest.guess(None)
    return None


def _goes_beyond(table_rows: dict[int, Ends], newest: _Candidate) -> bool:
    """Return whether a table is newer than the newest release.

    All rows of the newest release must exist. Rows may have later versions, and new
    APIs may exist. Minimum versions may be higher, because a later release removes old
    versions.
    """
    last_key = max(releases.ranges(newest.release))
    for key, (low, high) in table_rows.items():
        choices = newest.choices.get(key, [])
        if (low, high) not in choices:
            known_low, known_high = choices[0] if choices else (0, -1)
            is_later = known_low <= low <= high and known_high < high
            if not is_later or (not choices and key <= last_key):
                return False
    return newest.needed <= table_rows.keys()


def _find_between(
    table_rows: dict[int, Ends], lines: list[_Line]
) -> ReleaseGuess | None:
    for line in lines:
        for gap in line.gaps:
            if gap.has(table_rows):
                return gap.old.guess(gap.new.release, is_custom=True)
    return None


def _find_nearest(table_rows: dict[int, Ends], lines: list[_Line]) -> ReleaseGuess:
    rows = frozenset(table_rows.items())
    tops = frozenset((key, high) for key, (low, high) in rows if low <= high)
    best_candidate, best_agreement = None, 0
    for line in lines:
        for candidate in line.stable:
            agreement = len(rows & candidate.rows) + len(tops & candidate.tops)
            if agreement > best_agreement:
                best_candidate, best_agreement = candidate, agreement
    if best_candidate is None:
        return ReleaseGuess(None, None, is_custom=True)
    if (
        best_candidate.release == releases.NAMES[0]
        and table_rows.keys() < best_candidate.needed
    ):
        return ReleaseGuess(None, best_candidate.release)
    return best_candidate.guess(None, is_custom=True)
