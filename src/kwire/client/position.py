# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Position``: the next offset per partition, which can be stored as JSON."""

from __future__ import annotations

import json

from .descriptions import describe_names

_MAX_OFFSET = 2**63 - 1


class Position(dict[tuple[str, int], int]):
    """Dict with the next offset to read of each (topic, partition).

    Scans and consumers return it. To continue reading later, store it as JSON and pass
    it as ``start`` to another scan. The JSON format is that of Spark's options
    ``startingOffsets`` and ``endingOffsets``: ``{"orders": {"0": 42}}``.
    """

    def to_json(self) -> str:
        """Return the position as JSON text, sorted by topic and partition.

        Raises ``TypeError`` or ``ValueError`` if a caller has added a key that is not a
        pair, or a value that JSON cannot represent. Other types are not checked, so
        ``from_json`` may reject the text.
        """
        topics: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in sorted(self.items()):
            topics.setdefault(topic, {})[str(partition)] = offset
        return json.dumps(topics)

    @classmethod
    def from_json(cls, text: str | bytes) -> Position:
        """Parse JSON text that ``to_json`` or Spark has written.

        Raises ``ValueError`` if the text has another format, or contains -1 ("latest")
        or -2 ("earliest"). Spark writes these values, but they are not positions.
        """
        try:
            topics = json.loads(text)
        except (ValueError, RecursionError) as error:
            problem = str(error) or "it is nested too deeply"
            raise ValueError(f"reading a position: not JSON ({problem})") from None
        position = cls()
        if not isinstance(topics, dict):
            raise _make_format_error(topics)
        for topic, offsets in topics.items():
            if not isinstance(offsets, dict):
                raise _make_format_error(topics)
            for partition, offset in offsets.items():
                is_number = partition.isascii() and partition.isdigit()
                is_offset = type(offset) is int and 0 <= offset <= _MAX_OFFSET
                if not (is_number and len(partition) <= 10 and is_offset):
                    raise _make_format_error({topic: {partition: offset}})
                position[topic, int(partition)] = offset
        return position

    def describe(self) -> str:
        """Format up to three offsets for a ``repr``: "orders-0:42, orders-1:17"."""
        return describe_names(
            f"{topic}-{partition}:{offset}"
            for (topic, partition), offset in sorted(self.items())
        )


def _make_format_error(value: object) -> ValueError:
    text = repr(value)
    return ValueError(
        'reading a position: it must be JSON such as {"orders": {"0": 42}}, with'
        f" offsets of 0 or more (got {text if len(text) <= 60 else text[:57] + '...'})"
    )
