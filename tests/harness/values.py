# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generates message values from an encoding plan, and compares them across engines.

A *plain* value does not depend on an engine: a dict from attribute to plain value for a
struct, a list for an array, and the value itself otherwise. ``build`` converts a plain
value to a message for one engine. ``neutral`` converts a message to a value for
comparison with the other engine. The plan determines the valid values.
"""

import struct
import uuid

TAGS = "unknown_tagged_fields"
WIDEST = uuid.UUID(int=2**128 - 1)
LONG_TEXT = "né日𝄞" * 40


def binding_of(package, name):
    """Return the binding of a message class in the engine of ``package``."""
    cls = getattr(package.messages, name)
    return package._engine.active.engine.binding_of(cls)


def pairs(package):
    """Yield all (message, version) pairs, ordered by name and version."""
    for name in package.messages.ALL:
        for version in getattr(package.messages, name).valid_versions:
            yield name, version


def build(package, name, plain):
    """Convert a plain struct to a message for the engine of ``package``."""
    binding = binding_of(package, name)
    return _build_struct(binding, binding.message.struct, plain)


def _build_struct(binding, model, plain):
    fields = {field.attribute: field for field in model.fields}
    values = {}
    for attribute, value in plain.items():
        field = fields.get(attribute)
        if field is None or field.struct is None or value is None:
            values[attribute] = value
        elif field.is_array:
            values[attribute] = [
                _build_struct(binding, field.struct, element) for element in value
            ]
        else:
            values[attribute] = _build_struct(binding, field.struct, value)
    return binding.classes[model.name](**values)


def neutral(value):
    """Convert a value so that it equals the corresponding value from the other engine.

    Types are significant: ``True`` differs from 1, and bytes differ from a memoryview.
    A NaN equals itself.
    """
    names = getattr(type(value), "__match_args__", None)
    if names is not None:
        fields = (neutral(getattr(value, name)) for name in names)
        return type(value).__qualname__, *fields, neutral(value.unknown_tagged_fields)
    if type(value) is tuple:
        return tuple(map(neutral, value))
    if type(value) is float:
        return "float", struct.pack(">d", value)
    if type(value) is memoryview:
        return "memoryview", value.tobytes()
    return type(value).__name__, value


class Taste:
    """Strategy that creates plain values for an encoding plan.

    The base class uses the minimum integers, a long string and one element per array.
    Subclasses override the leaf values, the array length or the unknown tags.
    """

    elements = 1
    tags = ()

    def message(self, plan, layout):
        """Return a plain struct with all fields of the version, recursively."""
        plain = {}
        for step in layout.steps:
            if step.place in (plan.PRESENT, plan.TAGGED):
                plain[step.attribute] = self.field(plan, step)
        if layout.flexible and self.tags:
            above = max((step.tag for step in layout.steps), default=-1) + 1
            plain[TAGS] = tuple((above + tag, data) for tag, data in self.tags)
        return plain

    def field(self, plan, step):
        """Return the plain value of a field."""
        if step.is_array:
            return [self.one(plan, step) for _ in range(self.elements)]
        return self.one(plan, step)

    def one(self, plan, step):
        """Return the plain value of a field, or of one element of an array field."""
        if step.plan is not None:
            return self.message(plan, step.plan)
        return self.leaf(plan, step)

    def leaf(self, plan, step):
        """Return the plain value of a field that is not a struct."""
        return self.leaves(plan)[step.code]

    def leaves(self, plan):
        """Return {type code: plain value}."""
        low = {code: low for code, (low, high) in plan.INT_RANGES.items()}
        return low | {
            plan.BOOL: True,
            plan.FLOAT64: -0.0,
            plan.UUID: WIDEST,
            plan.STRING: LONG_TEXT,
            plan.BYTES: bytes(range(256)),
            plan.RECORDS: b"\xff" * 61,
        }


class Lowest(Taste):
    """Minimum integers, long strings with characters of 1 to 4 bytes, two elements."""

    elements = 2


class Highest(Taste):
    """Maximum integers, an infinite float, three elements."""

    elements = 3

    def leaves(self, plan):
        """Return {type code: plain value}."""
        high = {code: high for code, (low, high) in plan.INT_RANGES.items()}
        return (
            super().leaves(plan)
            | high
            | {plan.FLOAT64: float("inf"), plan.STRING: "\0", plan.BYTES: b"\0"}
        )


class Middle(Taste):
    """Small values that differ from the default values."""

    def leaves(self, plan):
        """Return {type code: plain value}."""
        return dict.fromkeys(plan.INT_RANGES, 77) | {
            plan.BOOL: True,
            plan.FLOAT64: 1.5,
            plan.UUID: uuid.UUID(int=7),
            plan.STRING: "text",
            plan.BYTES: b"data",
            plan.RECORDS: b"records",
        }


class Empty(Middle):
    """Empty arrays, strings and bytes, and False."""

    elements = 0

    def leaves(self, plan):
        """Return {type code: plain value}."""
        return super().leaves(plan) | {
            plan.BOOL: False,
            plan.STRING: "",
            plan.BYTES: b"",
            plan.RECORDS: b"",
        }


class Nulls(Middle):
    """Null for nullable fields except arrays of structs, whose elements have nulls."""

    def field(self, plan, step):
        """Return the plain value of a field."""
        if step.nullable and not (step.is_array and step.plan):
            return None
        return super().field(plan, step)


class NullArrays(Middle):
    """Null in all nullable fields, including struct arrays."""

    def field(self, plan, step):
        """Return the plain value of a field."""
        return None if step.nullable else super().field(plan, step)


class UnknownTags(Middle):
    """Unknown tagged fields in all structs of flexible versions."""

    tags = ((0, b""), (3, b"kept"), (200, bytes(130)), (2**32 - 200, b"\xff"))


def is_needed(plan, step):
    """Return whether a field has no valid default.

    This is true for record sets that are not nullable.
    """
    return (
        step.code == plan.RECORDS and step.place == plan.PRESENT and not step.nullable
    )


class DefaultElements(Taste):
    """Two elements per array, which contain the default values."""

    elements = 2

    def message(self, plan, layout):
        """Fill arrays and structs only. The other fields keep their defaults."""
        return {
            step.attribute: self.field(plan, step)
            for step in layout.steps
            if step.place in (plan.PRESENT, plan.TAGGED)
            and (step.plan is not None or is_needed(plan, step))
        }


TASTES = {
    "lowest": Lowest(),
    "highest": Highest(),
    "middle": Middle(),
    "empty": Empty(),
    "nulls": Nulls(),
    "null arrays": NullArrays(),
    "unknown tags": UnknownTags(),
    "default elements": DefaultElements(),
}


def systematic(package, name, version):
    """Yield the default value and one plain value per strategy, nine in total."""
    layout = binding_of(package, name).plan(version)
    yield "defaults", {}
    for title, taste in TASTES.items():
        yield title, taste.message(package.schema.plan, layout)
