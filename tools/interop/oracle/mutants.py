# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate mutants of the test vectors: messages with one unusual encoding.

A mutated position is a length, a count, a null marker, a string, a boolean, a tag or a
complete tag section. Additional mutants are truncated, extended or changed at random
positions. This module only generates mutants. ``leniency.py`` compares the decoders.
"""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from tools.interop.oracle import oracle

HUGE = (2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1)
FORMATS = (
    None,
    "?",
    "b",
    "h",
    "H",
    "i",
    "I",
    "q",
    "d",
)  # indexed by the type code of kwire.schema.plan
BAD_TEXT = (
    "ff",
    "80",
    "c080",
    "c328",
    "e69d",
    "e08080",
    "f09fa6",
    "f0808080",
    "f4908080",
    "f8888080",
    "efbbbf00",
    # Encoded surrogates (U+D800 to U+DFFF), which are not valid in UTF-8: a complete
    # one, a truncated one, one before ASCII text, and a pair.
    "eda080",
    "eda0",
    "edb041",
    "eda0bdedb8ba",
)
RARE = ("marker", "tagged marker")
"""Position types that occur in few messages. They are mutated more often."""


class Mutant(NamedTuple):
    message: str
    version: int
    data: bytes
    kind: str


def varint(value: int, least: int = 1) -> bytes:
    """Encode an unsigned varint, padded to at least ``least`` bytes."""
    written = bytearray()
    while value > 0x7F or len(written) < least - 1:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*written, value))


class Forger:
    """Encoder that writes an unusual encoding at position number ``target``.

    ``places`` collects the type of every position. If ``target`` is -1, the output is
    identical to kwire's encoding.
    """

    def __init__(self, defaults: Any, dice: random.Random, target: int = -1) -> None:
        self.defaults = defaults
        self.dice = dice
        self.target = target
        self.places: list[str] = []

    def strange(self, kind: str) -> bool:
        self.places.append(kind)
        return len(self.places) - 1 == self.target

    def varint(self, kind: str, value: int) -> bytes:
        if not self.strange(kind):
            return varint(value)
        match self.dice.randrange(4):
            case 0:
                return varint(value, self.dice.randint(2, 6))
            case 1:
                fifth = self.dice.choice((0x10, 0x20, 0x40, 0x70, 0x80))
                return varint(value, 5)[:4] + bytes([value >> 28 | fifth])
            case 2:
                return varint(self.dice.choice((0, 1, 32768, 32769, *HUGE)))
            case _:
                return varint(max(0, value + self.dice.choice((-2, -1, 1, 2))))

    def length(self, what: str, value: int, compact: bool, size: int) -> bytes:
        if compact:
            return self.varint(f"compact {what}", value + 1)
        limit = 1 << 8 * size
        if self.strange(f"classic {what}"):
            near = (value - 1, value + 1, -1, -2, -(2**15), 2**15 - 1)
            value = self.dice.choice((*near, *HUGE, -300, 0))
        return (value % limit).to_bytes(size, "big")

    def struct(self, value: Any, layout: Any) -> bytes:
        from kwire.schema import plan

        written = [
            self.field(getattr(value, step.attribute), step)
            for step in layout.steps
            if step.place == plan.PRESENT
        ]
        tags = self.tags(value, layout) if layout.flexible else b""
        return b"".join(written) + tags

    def field(self, value: Any, step: Any, tagged: bool = False) -> bytes:
        if step.is_array:
            count = -1 if value is None else len(value)
            head = self.length("count", count, step.compact, 4)
            return head + b"".join(self.element(each, step) for each in value or ())
        if not step.plan or not step.nullable:
            return self.element(value, step)
        head = self.marker(value is None, tagged)
        return head if value is None else head + self.struct(value, step.plan)

    def marker(self, null: bool, tagged: bool) -> bytes:
        if tagged:
            return self.varint("tagged marker", 0 if null else 1)
        if self.strange("marker"):
            return bytes([self.dice.choice((0, 1, 2, 5, 127, 128, 254, 255))])
        return b"\xff" if null else b"\1"

    def element(self, value: Any, step: Any) -> bytes:
        from kwire.schema import plan

        if step.plan:
            return self.struct(value, step.plan)
        if step.code == plan.BOOL and self.strange("bool"):
            return bytes([self.dice.randrange(2, 256)])
        if step.code <= plan.FLOAT64:
            return struct.pack(f">{FORMATS[step.code]}", value)
        if step.code == plan.UUID:
            return bytes(value.bytes)
        size = 2 if step.code == plan.STRING else 4
        if value is None:
            return self.length("length", -1, step.compact, size)
        raw = bytes(value.encode() if step.code == plan.STRING else value)
        if step.code == plan.STRING and self.strange("text"):
            raw = self.text(raw)
        return self.length("length", len(raw), step.compact, size) + raw

    def text(self, raw: bytes) -> bytes:
        bad = bytes.fromhex(self.dice.choice(BAD_TEXT))
        if self.dice.random() < 0.3:
            bad = bytes(self.dice.choices(b"a\x80\xa0\xbf\xe2\xed\xf0\xf4", k=6))
        if self.dice.random() < 0.02:
            bad += b"a" * self.dice.choice((32768, 32767 - len(raw) - len(bad)))
        at = self.dice.randint(0, len(raw))
        return raw[:at] + bad + raw[self.dice.randint(at, len(raw)) :]

    def tags(self, value: Any, layout: Any) -> bytes:
        strange = self.strange("tag section")
        explicit = strange and self.dice.random() < 0.3
        section = list(value.unknown_tagged_fields)
        for step in layout.tagged:
            field = getattr(value, step.attribute)
            if explicit or field != self.defaults[layout.name][step.slot]:
                section.append((step.tag, self.field(field, step, tagged=True)))
        section.sort()
        if strange and not explicit:
            self.shuffle(section, layout)
        written = [self.varint("tag count", len(section))]
        for tag, content in section:
            size = self.varint("tag size", len(content))
            written += self.varint("tag", tag), size, content
        return b"".join(written)

    def shuffle(self, section: list[tuple[int, bytes]], layout: Any) -> None:
        match self.dice.randrange(4):
            case 0:
                section.reverse()
            case 1 if section:
                section.append(self.dice.choice(section))
            case 2 if section:
                tag = self.dice.choice(section)[0]
                section.append((tag, self.dice.randbytes(self.dice.randrange(5))))
            case _:
                tag = self.dice.choice((*layout.invalid_tags, 0, 90, 10000, *HUGE))
                section.append((tag, self.dice.randbytes(self.dice.randrange(5))))


def mutants(seed: str, rounds: int) -> Iterator[Mutant]:
    """Yield ``rounds`` mutants of every type for each (message, version) pair.

    The same seed always creates the same mutants.
    """
    import kwire
    from kwire import messages
    from kwire._engine.active import engine

    vectors = [json.loads(line) for line in oracle.vector_lines(oracle.VECTORS) if line]
    for pair, rows in groupby(vectors, lambda row: (row["message"], row["version"])):
        name, version = pair
        dice = random.Random(f"{seed}/{name}/{version}")
        cls = getattr(messages, name)
        binding = engine.binding_of(cls)
        layout = binding.plan(version)
        good = [base64.b64decode(row["bytes"]) for row in rows]
        values = [kwire.decode(cls, data, version) for data in good]
        places: dict[str, list[tuple[Any, int]]] = {}
        for value, data in zip(values, good, strict=True):
            forger = Forger(binding.defaults, dice)
            if forger.struct(value, layout) != data:
                raise oracle.OracleError(
                    f"a vector of {name} v{version} is forged badly"
                )
            for target, kind in enumerate(forger.places):
                places.setdefault(kind, []).append((value, target))
        for kind, candidates in places.items():
            for _ in range(rounds * (20 if kind in RARE else 1)):
                value, target = dice.choice(candidates)
                data = Forger(binding.defaults, dice, target).struct(value, layout)
                yield Mutant(name, version, data, kind)
        for _ in range(rounds):
            data = dice.choice(good)
            tail = dice.choice((b"\0", b"\xff", dice.randbytes(5)))
            yield Mutant(name, version, data + tail, "trailing bytes")
            if data:
                position = dice.randrange(len(data))
                yield Mutant(name, version, data[:position], "truncation")
                near = (data[position] + dice.choice((-1, 1))) % 256
                new = dice.choice((0, 1, 0x7F, 0x80, 0xFF, near, dice.randrange(256)))
                changed = data[:position] + bytes([new]) + data[position + 1 :]
                yield Mutant(name, version, changed, "changed byte")
