# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes valid and invalid values, which must have the same result in both engines.

While other targets mostly compare decoders, this target compares encoders. An input
consists of two bytes for the message, one byte for the version, and bytes that select
the value of every field.
"""

import uuid

from fuzz import engines, guided

MODULES = ("messages.codec", "messages", "messages.json_form")
DEPTH = 4
TEXTS = ("", "a", "n\u00e9\u65e5\U0001d11e", "\0", "x" * 127, "\ud800", "y" * 40_000)
BLOBS = (b"", b"\0", b"blob", bytes(200), memoryview(b"view"), bytearray(b"array"))
STRANGE = (None, True, 1.5, "text", b"bytes", (), [], {}, -1, 2**70, object)
TAGS = (
    (),
    ((0, b""),),
    ((9, b"kept"), (200, b"\xff")),
    ((2**32 - 1, b"last"),),
    ((3, b""), (2, b"")),
    ((-1, b""),),
    ((5, None),),
    "no pairs",
)


class Choices:
    """Source of choices, read from the bytes of an input.

    After the end of the input, all bytes are 0.
    """

    def __init__(self, data):
        """Start with the first byte of ``data``."""
        self.data = data
        self.at = 0

    def byte(self):
        """Consume and return one byte, or return 0 after the end of the input."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def number(self):
        """Consume a byte that selects a width, and an integer of up to eight bytes."""
        width = 1 << self.byte() % 4
        digits = bytes(self.byte() for _ in range(width))
        return int.from_bytes(digits, "big", signed=True)


def leaf(package, code, choices):
    """Choose a value for a scalar field of the type ``code``.

    Some values have a type that the field does not accept.
    """
    plan = package.schema.plan
    choice = choices.byte()
    if choice >= 0xF0 or code == plan.STRUCT:  # a struct that this version lacks
        return STRANGE[choice % len(STRANGE)]
    if code == plan.BOOL:
        return bool(choice & 1)
    if code == plan.FLOAT64:
        return (0.0, -0.0, 1.5, float("inf"), float("nan"), 1)[choice % 6]
    if code == plan.UUID:
        return uuid.UUID(int=choice)
    if code == plan.STRING:
        return TEXTS[choice % len(TEXTS)]
    if code in (plan.BYTES, plan.RECORDS):
        return BLOBS[choice % len(BLOBS)]
    low, high = plan.INT_RANGES[code]
    return (0, 1, -1, low, high, low - 1, high + 1, choices.number())[choice % 8]


def field(package, binding, step, choices, depth):
    """Choose a value for a field, which may be unsuitable.

    ``depth`` counts outer structs.
    """
    choice = choices.byte()
    if choice >= 0xF8:
        return STRANGE[choice % len(STRANGE)]
    if choice >= 0xE0:
        return None
    if not step.is_array:
        return one(package, binding, step, choices, depth)
    count = choice % 4
    made = [one(package, binding, step, choices, depth) for _ in range(count)]
    return tuple(made) if choice & 4 else made


def one(package, binding, step, choices, depth):
    """Choose an array element, or the value of a field that is not an array."""
    if step.plan is not None:
        return struct(package, binding, step.plan, choices, depth + 1)
    return leaf(package, step.code, choices)


def struct(package, binding, layout, choices, depth=0):
    """Create a struct with chosen values. Other fields have their default values."""
    values = {}
    for step in layout.steps:
        if depth < DEPTH and choices.byte() & 1:
            values[step.attribute] = field(package, binding, step, choices, depth)
    tags = choices.byte()
    if tags & 1:
        values["unknown_tagged_fields"] = TAGS[(tags >> 1) % len(TAGS)]
    return binding.classes[layout.name](**values)


def encoded(package, name, version, data):
    """Create a message, encode it, and decode the result.

    Returns the bytes, the decoded message, and whether encoding it again results in the
    same bytes. A ``TypeError`` is returned as well.
    """
    cls = getattr(package.messages, name)
    binding = engines.module(package, "_engine.active").engine.binding_of(cls)
    try:
        message = struct(package, binding, binding.plan(version), Choices(data))
        written = package.encode(message, version)
    except TypeError as error:
        return "TypeError", str(error)
    again = package.decode(cls, written, version)
    return written, again, package.encode(again, version) == written


def TestOneInput(data):
    """Encode the message of one input, and compare both engines."""
    if len(data) < 3:
        return
    name = engines.message_at(data[:2])
    version = engines.version_at(engines.packages()[0], name, data[2])
    said = engines.agree(encoded, name, version, data[3:])
    if said[0] == "error" and not said[1][0].startswith("EncodeError"):
        raise engines.Finding(f"what was encoded does not decode: {said[1]}")
    if said[0] == "value" and said[1][-1] == ("bool", False):
        raise engines.Finding(f"encoded again: {said[1]!r:.2000}")


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
