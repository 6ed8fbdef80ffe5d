# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire and kio, an independent implementation, write the same bytes.

Every message and version in kio 0.6.5 is filled with reproducible random values. Both
libraries must write the same bytes, and must read each other's bytes. kio has one class
per version, with fields in schema order, which is sufficient to convert the values.
"""

import datetime
import io
import random
import uuid
from dataclasses import fields, is_dataclass
from functools import cache
from pkgutil import resolve_name
from types import EllipsisType, NoneType
from typing import get_args

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer

from tests.harness.sweeps import sweep
from tests.harness.values import binding_of, build

pytestmark = pytest.mark.gate_on_pure

COVERED = 625
"""Number of kio's classes: 302 requests, 302 responses, 17 data messages, 4 headers."""
ROUNDS = 4

EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)
MILLISECOND = datetime.timedelta(milliseconds=1)
CODES = sorted(code.value for code in ErrorCode)
TEXTS = ("", "t", "näme", "日本語", "𝄞" * 40, "x" * 130)


@cache
def entities():
    """Return all message classes of kio by (name, version)."""
    entities_by_pair = {}
    for versions in schema_name_map.values():
        for version, places in versions.items():
            for module_name in places.values():
                entity = resolve_name(module_name)
                entities_by_pair[entity.__name__, version] = entity
    return entities_by_pair


NAMES = sorted(
    {
        module_name.rpartition(":")[2]
        for versions in schema_name_map.values()
        for places in versions.values()
        for module_name in places.values()
    }
)


def is_nullable(field):
    """Return whether kio accepts None for a field itself, not for its elements."""
    return NoneType in get_args(field.type)


def inner_type(annotation):
    """Return the dataclass ``X`` of ``X``, ``X | None`` or ``tuple[X, ...]``."""
    if is_dataclass(annotation):
        return annotation
    for argument in get_args(annotation):
        if argument not in (NoneType, EllipsisType, ...):
            return inner_type(argument)
    return None


class Bridge:
    """Creates a message twice: as a plain value for kwire and as a kio entity."""

    def __init__(self, plan, seed):
        """Initialize the random generator. ``plan`` defines the ranges by type."""
        self.plan = plan
        self.dice = random.Random(seed)

    def struct(self, entity, layout):
        """Create a struct. Return (plain value for kwire, entity of kio)."""
        plan = self.plan
        steps = [s for s in layout.steps if s.place in (plan.PRESENT, plan.TAGGED)]
        plain, values = {}, {}
        for field, step in zip(fields(entity), steps, strict=True):
            ours, theirs = self.field(field, step)
            plain[step.attribute] = ours
            values[field.name] = theirs
        return plain, entity(**values)

    def field(self, field, step):
        """Create the value of a field, which may be an array.

        Return (plain value, value of kio).
        """
        kind = field.metadata.get("kafka_type")
        if step.nullable and self.dice.random() < 0.3:
            return None, None
        if not step.is_array:
            return self.one(field, kind, step)
        count = self.dice.choice((0, 1, 2, 3))
        pairs = [self.one(field, kind, step) for _ in range(count)]
        return [ours for ours, _ in pairs], tuple(theirs for _, theirs in pairs)

    def one(self, field, kind, step):
        """Create a single value or an array element.

        Return (plain value, value of kio).
        """
        plan, dice = self.plan, self.dice
        if step.plan is not None:
            return self.struct(inner_type(field.type), step.plan)
        if kind == "error_code":
            code = dice.choice(CODES)
            return code, ErrorCode(code)
        if kind == "datetime_i64":
            number = dice.choice((0, 1000, 1_700_000_000_000))
            if is_nullable(field) and dice.random() < 0.3:
                return -1, None
            return number, EPOCH + number * MILLISECOND
        if kind in ("timedelta_i32", "timedelta_i64"):
            number = dice.choice((-1, 0, 1, 2**31 - 1, -(2**31)))
            return number, number * MILLISECOND
        if step.code == plan.UUID:
            uuid_value = uuid.UUID(int=dice.choice((0, 1, dice.getrandbits(128))))
            return uuid_value, uuid_value if uuid_value.int else None
        if step.code == plan.STRING:
            return (dice.choice(TEXTS),) * 2
        if step.code in (plan.BYTES, plan.RECORDS):
            return (dice.randbytes(dice.choice((0, 1, 5, 200))),) * 2
        if step.code == plan.BOOL:
            return (dice.random() < 0.5,) * 2
        if step.code == plan.FLOAT64:
            return (dice.choice((0.0, -1.5, 1e300)),) * 2
        low, high = plan.INT_RANGES[step.code]
        return (dice.choice((low, high, 0, 1, dice.randint(low, high))),) * 2


@sweep("name", NAMES)
def test_kio_reads_and_writes_the_same(kwire, name):
    """The bytes of kwire and kio are equal, and each of them decodes the other's.

    All versions of the message that kio supports are tested.
    """
    cls = getattr(kwire.messages, name)
    for version in cls.valid_versions:
        entity = entities().get((name, version))
        if entity is None:
            continue
        layout = binding_of(kwire, name).plan(version)
        for number in range(ROUNDS):
            bridge = Bridge(kwire.schema.plan, f"{name} {version} {number}")
            plain, theirs = bridge.struct(entity, layout)
            ours = build(kwire, name, plain)
            encoded = kwire.encode(ours, version)
            buffer = io.BytesIO()
            entity_writer(entity)(buffer, theirs)
            assert encoded == buffer.getvalue()
            assert kwire.decode(cls, buffer.getvalue(), version) == ours
            assert entity_reader(entity)(encoded, 0) == (theirs, len(encoded))


def test_all_messages_of_kio_are_compared(kwire):
    """Every message and version of kio exists in kwire, so that none is skipped."""
    assert len(entities()) == COVERED
    for name, version in entities():
        assert version in getattr(kwire.messages, name).valid_versions
