# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses option values: words, flags, counts, sizes, durations and JSON.

Each ``read_`` function expects a mapping of all specified options and the name of one
option, and raises ``ValueError`` with this name if the value is not valid.
``option_names.py`` and ``options.py`` declare the options of every format.
"""

from __future__ import annotations

import json
import re

from ..._limits import DEFAULT, Limits
from ...client.shown_texts import is_pem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_SIZE = re.compile(r"(\d+)\s*([kmg]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")
_MILLISECONDS: dict[str, float] = {
    **{"": 1, "us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000},
    **{"h": 3_600_000, "d": 86_400_000},
}
"""Milliseconds in each of Spark's time units. Numbers without unit are milliseconds."""


def show_value(name: str, value: object) -> str:
    """Return " (got ...)" for an error message, or "" if the value may be a secret.

    Values of settings that begin with ``kafka.`` are hidden, because a secret may have
    been assigned to the wrong setting. PEM data is hidden everywhere, because it may be
    a private key.
    """
    is_hidden = name.lower().startswith("kafka.") or is_pem(str(value))
    return "" if is_hidden else f" (got {value!r:.80})"


def read_json(found: Mapping[str, str], name: str, kind: type, example: str) -> Any:
    """Parse JSON whose outermost value has the type ``kind``.

    The option must be specified. ``example`` is shown in the error message.
    """
    try:
        value = json.loads(found[name])
    except ValueError:
        value = None
    if not isinstance(value, kind):
        raise ValueError(
            f"{name} must be JSON such as {example}{show_value(name, found[name])}"
        )
    return value


def is_number(value: object) -> bool:
    """Return whether a JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def make_limits(max_batch_bytes: int | None) -> Limits:
    """Return the decoding limits for the option ``maxBatchBytes``.

    The total limit is increased if necessary, so that it allows at least one batch.
    """
    if max_batch_bytes is None:
        return DEFAULT
    assert DEFAULT.total_decompressed_bytes is not None
    return Limits(
        frame_bytes=max_batch_bytes,
        decompressed_bytes=max_batch_bytes,
        total_decompressed_bytes=max(DEFAULT.total_decompressed_bytes, max_batch_bytes),
    )


def read_word(values: Mapping[str, str], name: str, words: Sequence[str]) -> str:
    """Read one of several words without regard to case. Default: the first word."""
    text = values.get(name, words[0])
    for word in words:
        if word.lower() == text.lower():
            return word
    raise ValueError(
        f"{name} must be one of {', '.join(words)}{show_value(name, text)}"
    )


def check_at_most_one(values: Mapping[str, str], names: Sequence[str]) -> None:
    """Raise ``ValueError`` if several mutually exclusive options are set."""
    specified = [name for name in names if name in values]
    if len(specified) > 1:
        raise ValueError(
            f"{' and '.join(specified)} cannot be given together; choose one"
        )


def read_flag(values: Mapping[str, str], name: str, default: bool = False) -> bool:
    """Read an option that is "true" or "false", without regard to case."""
    text = values.get(name, str(default)).lower()
    if text not in ("true", "false"):
        raise ValueError(
            f"{name} must be true or false{show_value(name, values[name])}"
        )
    return text == "true"


def read_number(values: Mapping[str, str], name: str, what: str) -> int:
    """Read a non-negative integer. The option must be specified.

    ``what`` is the unit or range of the number, which error messages contain.
    """
    text = values[name]
    if not text.isdecimal():
        raise ValueError(f"{name} must be a number, {what}{show_value(name, text)}")
    return int(text)


def read_count(values: Mapping[str, str], name: str) -> int | None:
    """Read an integer of 1 or more, or None if the option is not specified."""
    if name not in values:
        return None
    number = read_number(values, name, "1 or more")
    if number < 1:
        raise ValueError(f"{name} must be 1 or more (got {number})")
    return number


def read_size(
    values: Mapping[str, str], name: str, default: int | None = None
) -> int | None:
    """Read a size of 1 byte or more, with an optional unit k, m or g (powers of 1024).

    Returns the size in bytes, or ``default`` if the option is not specified.
    """
    if name not in values:
        return default
    match = _SIZE.fullmatch(values[name].strip())
    if match is None:
        raise ValueError(
            f"{name} must be a number of bytes such as 134217728 or"
            f" 128m{show_value(name, values[name])}"
        )
    size = int(match[1]) * _FACTORS[match[2].lower()]
    if size < 1:
        raise ValueError(f"{name} must be 1 or more (got {size})")
    return size


def read_duration(values: Mapping[str, str], name: str, default: str) -> float:
    """Read a duration in Spark's notation and return it in milliseconds."""
    text = values.get(name, default)
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or match[2] not in _MILLISECONDS:
        raise ValueError(
            f"{name} must be a duration such as 90s, 15m, 1h or 500, which is in"
            f" ms{show_value(name, text)}"
        )
    return int(match[1]) * _MILLISECONDS[match[2]]
