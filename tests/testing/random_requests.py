# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests whose values often have a meaning for the brokers."""

from __future__ import annotations

import kwire
from kwire.schema import plan
from tests.harness.values import Taste, binding_of, build

INTEGERS = (0, 0, 1, 1, 2, 3, -1, -2, 127)
LARGE = {plan.INT16: 32_767, plan.INT32: 2**31 - 1, plan.INT64: 2**63 - 1}


class RandomTaste(Taste):
    """Draws each value at random.

    * ``texts``, ``ids``: functions that return the strings and UUIDs to choose from.
    """

    def __init__(self, source, texts, ids):
        """Draw from a random source."""
        self.source = source
        self.texts = texts
        self.ids = ids

    def field(self, plan, step):
        """Draw a field: null, an array of up to three elements, or a value."""
        if step.nullable and self.source.random() < 0.4:
            return None
        if step.is_array:
            return [
                self.one(plan, step) for _ in range(self.source.choice((0, 1, 1, 3)))
            ]
        return self.one(plan, step)

    def leaf(self, plan, step):
        """Draw a value, which is sometimes a limit of its type."""
        source, code = self.source, step.code
        if code in LARGE and source.random() < 0.1:
            return source.choice((LARGE[code], -LARGE[code] - 1))
        if code in plan.INT_RANGES:
            low, high = plan.INT_RANGES[code]
            return min(max(source.choice(INTEGERS), low), high)
        return {
            plan.BOOL: lambda: source.random() < 0.5,
            plan.FLOAT64: lambda: source.choice((0.0, -1.0, float("nan"))),
            plan.UUID: lambda: source.choice(self.ids()),
            plan.STRING: lambda: source.choice(self.texts()),
            plan.BYTES: lambda: source.choice((b"", b"x", bytes(40))),
            plan.RECORDS: lambda: source.choice((b"", b"x", bytes(61))),
        }[code]()


def draw_request(taste, name, version):
    """Return a random request that can be encoded in a version."""
    layout = binding_of(kwire, name).plan(version)
    return build(kwire, name, taste.message(plan, layout))


def replace_fields(request, name, version, values):
    """Replace the fields of a request that its version contains."""
    layout = binding_of(kwire, name).plan(version)
    present = {
        step.attribute
        for step in layout.steps
        if step.place in (plan.PRESENT, plan.TAGGED)
    }
    return request.replace(
        **{field: value for field, value in values.items() if field in present}
    )
