# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""No input needs more memory than the memory factor in its plan allows.

``plan.py`` computes the factor. The tests construct the most expensive input for a plan
from the factor and the actual object sizes, and measure its memory. A count of
2^31 and other checks without plans are in ``test_memory.py``.
"""

import sys
from typing import NamedTuple

import pytest

from tests.harness.hostile import unsigned_varint
from tests.harness.message_counts import PAIRS
from tests.harness.traced import peak_of
from tests.harness.values import binding_of, pairs

PROMISED = {"fast": 40, "pure": 48}
"""Promised maximum memory in bytes per input byte, by engine.

Objects of the Python engine have larger headers.
"""
PROMISED_ZERO_COPY = 100
DEAR = 35
"""(message, version) pairs with at least this factor are tested in all modes."""
ENGINES = {"fast": "compiled engine", "pure": "plain Python"}
INPUT_SIZE = 1024
LARGE_INPUT_SIZE = 4 * 1024
SPARE = {"fast": 3 * 1024, "pure": 16 * 1024}
"""Memory in bytes that a call may need in addition, by engine.

The promise is 64 KiB. With small inputs, this allowance would hide a factor that is too
low.
"""
NUMBER = b"\x81nth"
"""Bytes of an int32 that differs from all other numbers in the input.

If elements were equal, the engine could share their objects.
"""


class Bytes(NamedTuple):
    """Encoded bytes, and the memory that their decoded objects need, in bytes."""

    memory: int
    data: bytes


class Dearest:
    """Builds the input of a message that needs the most memory when it is decoded.

    ``price`` is the memory in bytes that is allowed per input byte.
    """

    def __init__(self, package, binding, price, size, zero_copy=False):
        """Measure the decoded objects' sizes."""
        self.plan, self.binding, self.price = package.schema.plan, binding, price
        self.size = size
        size = sys.getsizeof
        self.tuple, self.slot = size(()), size((1,)) - size(())
        self.pair = size((1, 2)) + self.slot
        codes = self.plan.INT_RANGES.items()
        ints = {
            code: (size(max(-low, 2**31)), low and 0x80) for code, (low, high) in codes
        }
        fixed = ints | {
            self.plan.BOOL: (0, 1),
            self.plan.FLOAT64: (size(1.5), 0x3F),
            self.plan.UUID: (size(self.plan._parse_uuid("")) + size(2**127), 0xFF),
        }
        self.fixed = {
            code: Bytes(
                memory, bytes([first or 0xFF]).ljust(self.plan.SIZES[code], b"\0")
            )
            for code, (memory, first) in fixed.items()
        }
        self.fixed[self.plan.INT32] = Bytes(size(2**31), NUMBER)
        self.text = Bytes(size("Ā"), "Ā".encode())
        self.bytes = Bytes(size(b"ab"), b"ab")
        if zero_copy:
            self.bytes = Bytes(size(memoryview(b"")), b"")

    def best(self, *choices):
        """Return the choice whose memory exceeds the price of its bytes by the most."""
        return max(
            choices, key=lambda choice: choice.memory - self.price * len(choice.data)
        )

    def length(self, step, count, is_array=False):
        """Encode a length or a count. -1 means null."""
        if step.compact:
            return unsigned_varint(count + 1)
        is_short = step.code == self.plan.STRING and not is_array
        return count.to_bytes(2 if is_short else 4, "big", signed=True)

    def content(self, step):
        """Return the most expensive encoding of a plain field or an array element."""
        if step.plan is not None:
            return self.struct(step.plan)
        if step.code in self.fixed:
            return self.fixed[step.code]
        sample = self.text if step.code == self.plan.STRING else self.bytes
        return self.best(
            Bytes(0, self.length(step, 0)),
            Bytes(sample.memory, self.length(step, len(sample.data)) + sample.data),
        )

    def value(self, step):
        """Return the most expensive encoding of a field.

        An array has at most one element.
        """
        content = self.content(step)
        if step.is_array:
            memory = self.tuple + self.slot + content.memory
            data = self.length(step, 1, True) + content.data
            return self.best(Bytes(memory, data), Bytes(0, self.length(step, 0, True)))
        if step.plan is None or not step.nullable:
            return content
        null = b"\0" if step.place == self.plan.TAGGED else b"\xff"
        return self.best(Bytes(content.memory, b"\1" + content.data), Bytes(0, null))

    def struct(self, layout, target=None):
        """Return the encoding of a struct.

        Arrays on the path to ``target`` have one element.
        """
        memory = sys.getsizeof(self.binding.classes[layout.name]())
        data, tagged = b"", []
        for step in layout.steps:
            if step.place == self.plan.PRESENT:
                field_bytes = self.towards(step, target)
                memory += field_bytes.memory
                data += field_bytes.data
        for step in layout.tagged:
            field_bytes = self.towards(step, target)
            if leads_to(step, target) or field_bytes.memory > self.price * (
                len(field_bytes.data) + 2
            ):
                memory += field_bytes.memory
                tagged.append((step.tag, field_bytes.data))
        if not layout.flexible:
            return Bytes(memory, data)
        tagged += self.unknown(layout, self.size if layout is target else 1)
        section = b"".join(
            unsigned_varint(tag) + unsigned_varint(len(content)) + content
            for tag, content in tagged
        )
        with_tags = data + unsigned_varint(len(tagged)) + section
        if len(tagged) == 1 and tagged[0][1] == b"":
            return self.best(
                Bytes(memory + self.tuple + self.pair, with_tags),
                Bytes(memory, data + b"\0"),
            )
        return Bytes(memory, with_tags)

    def unknown(self, layout, size):
        """Return as many empty unknown tags as fit into ``size`` bytes.

        Empty tags need the most memory per input byte.
        """
        first = max((step.tag for step in layout.steps), default=-1) + 1
        return [(first + number, b"") for number in range((size + 2) // 3)]

    def towards(self, step, target):
        """Return the encoding of a field, which may be or contain the target."""
        if step is target:
            element = self.content(step)
            count = self.size // len(element.data)
            elements = (
                element.data.replace(
                    NUMBER, (number - 2**31).to_bytes(4, "big", signed=True)
                )
                for number in range(count)
            )
            return Bytes(0, self.length(step, count, True) + b"".join(elements))
        if not leads_to(step, target):
            return self.value(step)
        data = self.struct(step.plan, target).data
        if step.is_array:
            return Bytes(0, self.length(step, 1, True) + data)
        return Bytes(0, b"\1" + data if step.nullable else data)

    def target(self, layout):
        """Return the array or layout with the most memory per input byte, or None."""
        costliest = max(
            self.targets(layout), key=lambda candidate: candidate[0], default=(0, None)
        )
        return costliest[1]

    def targets(self, layout):
        """Yield (memory per input byte, array or layout) for all that can repeat."""
        if layout.flexible:
            yield (self.pair + sys.getsizeof(300)) / 3, layout
        for step in layout.steps:
            if step.place not in (self.plan.PRESENT, self.plan.TAGGED):
                continue
            if step.is_array:
                element = self.content(step)
                yield (self.slot + element.memory) / len(element.data), step
            if step.plan is not None:
                yield from self.targets(step.plan)


def leads_to(step, target):
    """Return whether a field contains the target at any depth."""
    if target is None or step.plan is None:
        return False
    return step.plan is target or any(
        inner is target or leads_to(inner, target) for inner in step.plan.steps
    )


def dearest_input(package, name, version, size, **options):
    """Return (memory factor, most expensive input) of a (message, version) pair."""
    binding = binding_of(package, name)
    layout = binding.plan(version)
    factor = package.schema.plan.memory_factor(
        layout, compiled=package.backend == "fast", **options
    )
    writer = Dearest(package, binding, factor, size, **options)
    return factor, writer.struct(layout, writer.target(layout)).data


def assert_paid(package, name, version, factor, data, **options):
    """Assert that decoding an input needs no more memory than the factor allows.

    Return (whether decoding succeeded, measured memory per input byte).
    """
    cls = getattr(package.messages, name)

    def call():
        try:
            return package.decode(cls, data, version, **options)
        except package.DecodeError as error:
            return error.with_traceback(None)

    # The first call for a version compiles its program, which is kept.
    call()
    paid = factor * len(data) + SPARE[package.backend]
    peak, message = peak_of(call, paid)
    assert peak <= paid, (name, version, peak, len(data))
    return isinstance(message, cls), (peak - SPARE[package.backend]) / max(1, len(data))


def test_no_pair_costs_more_than_its_plan_says(kwire, figure):
    """The most expensive input of every message version respects the memory factor."""
    factors, measured = [], []
    for name, version in pairs(kwire):
        factor, data = dearest_input(kwire, name, version, INPUT_SIZE)
        is_read, cost = assert_paid(kwire, name, version, factor, data)
        assert is_read
        factors.append(factor)
        measured.append(cost)
    figure("P7", "pairs that cost no more than computed", len(factors), least=PAIRS)
    figure(
        "P7",
        f"measured memory for a byte of input, {ENGINES[kwire.backend]}",
        max(measured),
        most=PROMISED[kwire.backend],
        unit=" bytes",
    )
    figure(
        "P7",
        f"computed memory for a byte of input, {ENGINES[kwire.backend]}",
        max(factors),
        most=PROMISED[kwire.backend],
        unit=" bytes",
    )


MODES = {
    "java": ({"compat": "java"}, lambda data: data),
    "trailing": ({}, lambda data: data + b"\0"),
    "cut": ({}, lambda data: data[:-1]),
    "bytearray": ({}, bytearray),
}


@pytest.fixture(scope="module")
def dearest_pairs(kwire):
    """Return one (message, version) pair for each factor of at least ``DEAR``."""
    chosen = {}
    for name, version in pairs(kwire):
        layout = binding_of(kwire, name).plan(version)
        compiled = kwire.backend == "fast"
        factor = kwire.schema.plan.memory_factor(layout, compiled=compiled)
        if factor >= DEAR:
            chosen.setdefault(factor, (name, version))
    assert len(chosen) >= 3
    return chosen.values()


@pytest.mark.parametrize("mode", MODES)
def test_no_decoding_mode_exceeds_the_memory_factor(kwire, dearest_pairs, mode):
    """The memory factor applies to all decoding modes.

    This includes inputs that are rejected at their end, and the lenient mode.
    """
    options, change = MODES[mode]
    for name, version in dearest_pairs:
        factor, data = dearest_input(kwire, name, version, LARGE_INPUT_SIZE)
        data = change(data)
        # The Python engine copies all input except bytes.
        factor += mode == "bytearray"
        read, _ = assert_paid(kwire, name, version, factor, data, **options)
        assert read == (mode in ("java", "bytearray") or not data)


@pytest.mark.gate_on_pure
def test_zero_copy_costs_no_more_than_its_plan_says(kwire, figure):
    """The memory factor for ``zero_copy`` is not exceeded.

    Empty views need the most memory, so messages with arrays of bytes are tested.
    """
    compiled, chosen = kwire.backend == "fast", {}
    for name, version in pairs(kwire):
        layout = binding_of(kwire, name).plan(version)
        factor = kwire.schema.plan.memory_factor(
            layout, compiled=compiled, zero_copy=True
        )
        chosen.setdefault(factor, (name, version))
    dear = [pair for factor, pair in chosen.items() if factor >= DEAR]
    assert len(dear) >= 5
    for name, version in dear:
        factor, data = dearest_input(
            kwire, name, version, LARGE_INPUT_SIZE, zero_copy=True
        )
        assert_paid(kwire, name, version, factor, data, zero_copy=True)
    figure(
        "P7",
        f"computed memory for a byte with zero_copy, {ENGINES[kwire.backend]}",
        max(chosen),
        most=PROMISED_ZERO_COPY,
        unit=" bytes",
    )
