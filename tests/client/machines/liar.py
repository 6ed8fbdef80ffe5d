# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Liar`` changes random fields in a correct broker's responses."""

from __future__ import annotations

NUMBERS = (-(2**63), -5, -1, 0, 1, 7, 2**31, 2**62, 2**63 - 1)


KINDS = ("offset", "records", "error", "leader", "array", "epoch", "throttle")


class Liar:
    """Changes random fields of some types in responses.

    The types, the frequency and some of the new values are drawn once for each liar.
    """

    def __init__(self, kwire, random):
        self.kwire = kwire
        self.random = random
        self.kinds = random.sample(KINDS, random.choice([1, 1, 2, 4]))
        self.often = random.choice([0.02, 0.2, 1.0])
        self.number = random.choice(NUMBERS)
        self.error = random.randint(1, 130)
        self.batch = self._batch()

    def in_place_of(self, answer):
        """Wrap ``answer`` in a function that changes response fields."""

        def lie(request, version, *more):
            response = answer(request, version, *more)
            if response is None:
                return None
            try:
                changed = self.lie(response)
                self.kwire.encode(changed, version)
            except self.kwire.EncodeError:
                # Return the unchanged response if its version does not support a
                # changed field, because the encoder rejects it.
                return response
            return changed

        return lie

    def lie(self, struct):
        """Return the struct with some changed fields, at any nesting depth."""
        changed = {}
        for name in type(struct).__match_args__:
            value = getattr(struct, name)
            if isinstance(value, tuple):
                value = self._array(value)
            elif hasattr(type(value), "__match_args__"):
                value = self.lie(value)
            elif (
                kind := self._kind_of(name)
            ) in self.kinds and self.random.random() < self.often:
                value = self._other(kind)
            changed[name] = value
        return struct.replace(**changed)

    def _kind_of(self, name):
        kinds = {
            "records": "records",
            "error_code": "error",
            "leader_id": "leader",
            "preferred_read_replica": "leader",
            "throttle_time_ms": "throttle",
        }
        if name in kinds:
            return kinds[name]
        if "epoch" in name and "producer" not in name:
            return "epoch"
        return "offset" if "offset" in name or "watermark" in name else ""

    def _array(self, values):
        values = [
            self.lie(element) if hasattr(type(element), "__match_args__") else element
            for element in values
        ]
        is_true = self.random.random() >= self.often / 4
        if "array" in self.kinds and values and not is_true:
            values = self.random.choice([values[1:], values + values[:1], []])
        return values

    def _other(self, kind):
        random = self.random
        return {
            "offset": lambda: self.number,
            "records": lambda: self.batch,
            "error": lambda: random.choice([0, self.error]),
            "leader": lambda: random.randint(-1, 5),
            "epoch": lambda: random.randint(-1, 5),
            "throttle": lambda: random.choice([0, 1, 5000]),
        }[kind]()

    def _batch(self):
        random = self.random
        offset = random.choice([0, 0, 3, 2**40, 2**63 - 2])
        rows = [(b"k", b"lie")] * random.choice([0, 1])
        data = self.kwire.records.encode_batch(
            rows,
            base_offset=offset,
            last_offset=offset + random.choice([0, 1]),
            max_timestamp=None if rows else 5,
        )
        return random.choice([b"", b"\0" * 61, data, data, data[:-1]])
