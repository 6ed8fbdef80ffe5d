# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``VersionRange``: a contiguous range of versions and its string format.

The string formats are ``3``, ``0-12``, ``9+`` and ``none``. ``plan.py`` interprets the
ranges of fields and messages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HIGHEST = 32767
"""Maximum int16, which is the upper bound of an open-ended range such as ``9+``."""


class VersionRange:
    """Immutable range of versions with inclusive bounds. An empty range is falsy.

    Versions are int16 values from 0 to 32767. All empty ranges are equal. If ``min`` is
    greater than ``max``, the range is empty. Otherwise, raises ``ValueError`` if a
    bound is outside these limits.
    Source: ``org.apache.kafka.message.Versions``.
    """

    __slots__ = ("max", "min")
    __match_args__ = ("min", "max")

    min: int
    max: int

    def __init__(self, min: int, max: int) -> None:
        if min > max:
            min, max = 0, -1
        elif min < 0 or max > HIGHEST:
            raise ValueError(f"versions must be 0 to {HIGHEST} (got {min}-{max})")
        object.__setattr__(self, "min", min)
        object.__setattr__(self, "max", max)

    @classmethod
    def from_text(cls, text: str) -> VersionRange:
        """Parse ``N``, ``A-B``, ``A+`` or ``none``.

        Raises ``ValueError`` if the text has a different format, if a version is above
        32767, or if the range ends before it starts.
        """
        text = text.strip()
        if text == "none":
            return NONE
        if text.endswith("+"):
            return cls(_parse_version(text[:-1]), HIGHEST)
        low, dash, high = text.partition("-")
        first = _parse_version(low)
        last = _parse_version(high) if dash else first
        if last < first:
            raise ValueError(f"the range {text} ends before it starts")
        return cls(first, last)

    @property
    def is_open(self) -> bool:
        """Whether the range is open-ended, such as ``9+``."""
        return self.max == HIGHEST

    def describe(self) -> str:
        """Describe the range in words: ``versions 0 to 13``, ``only version 4``."""
        if not self:
            return "no versions"
        if self.is_open:
            return f"versions from {self.min} on"
        if self.min == self.max:
            return f"only version {self.min}"
        return f"versions {self.min} to {self.max}"

    def contains(self, other: VersionRange) -> bool:
        """Return whether this range includes every version of ``other``."""
        return not other or (self.min <= other.min and other.max <= self.max)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.min <= version <= self.max

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.min, self.max + 1))

    def __len__(self) -> int:
        return self.max - self.min + 1

    def __bool__(self) -> bool:
        return self.min <= self.max

    def __and__(self, other: VersionRange) -> VersionRange:
        if not isinstance(other, VersionRange):
            return NotImplemented
        return VersionRange(max(self.min, other.min), min(self.max, other.max))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VersionRange):
            return NotImplemented
        return self.min == other.min and self.max == other.max

    def __hash__(self) -> int:
        return hash((self.min, self.max))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a VersionRange cannot be changed")

    def __reduce__(self) -> tuple[type[VersionRange], tuple[int, int]]:
        return VersionRange, (self.min, self.max)

    def __repr__(self) -> str:
        return f"VersionRange({self.min}, {self.max})"

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.is_open:
            return f"{self.min}+"
        if self.min == self.max:
            return str(self.min)
        return f"{self.min}-{self.max}"


def _parse_version(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{text!r:.40} is not a version number")
    # Compare the digit count first, because Python raises an error when it converts a
    # number with thousands of digits.
    if len(text.lstrip("0")) > len(str(HIGHEST)) or int(text) > HIGHEST:
        raise ValueError(f"version {text:.40} is above {HIGHEST}")
    return int(text)


NONE = VersionRange(0, -1)
"""Empty range."""
