# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""decode(encode(x)) == x for all (message, version) pairs.

The values come from the pair's plan: nine systematic ones (``values.py``) and random
ones from hypothesis. Both engines must write the same bytes. Values that a version does
not support are rejected with their path, or dropped if the schema allows it.
"""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kwire as installed
from tests.harness import message_counts
from tests.harness.sweeps import sweep
from tests.harness.values import (
    TAGS,
    TASTES,
    Middle,
    binding_of,
    build,
    is_needed,
    neutral,
    pairs,
    systematic,
)

PAIRS = tuple(pairs(installed))
NAMES = installed.messages.ALL


def versions(package, name):
    """Return (message class, range of its versions)."""
    cls = getattr(package.messages, name)
    return cls, cls.valid_versions


def test_systematic_values_come_back(kwire, figure):
    """The systematic values of all pairs are decoded to equal messages.

    They are defaults, extremes, nulls, empty values and unknown tags.
    """
    came_back = Counter()
    for name, version in PAIRS:
        for title, plain in systematic(kwire, name, version):
            message = build(kwire, name, plain)
            data = kwire.encode(message, version)
            decoded = kwire.decode(type(message), data, version)
            assert decoded == message, (name, version, title)
            assert neutral(decoded) == neutral(message), (name, version, title)
            assert kwire.encode(decoded, version) == data, (name, version, title)
            came_back[name, version] += 1
    assert set(came_back.values()) == {1 + len(TASTES)}
    figure(
        "P1", "pairs of message and version", len(came_back), least=message_counts.PAIRS
    )
    figure("P1", "values of each", min(came_back.values()), least=8)


def test_twins_write_the_same_bytes(twins, figure):
    """Both engines encode every value to the same bytes."""
    count, differing = 0, []
    for name, version in PAIRS:
        for title, plain in systematic(twins.fast, name, version):
            fast, pure = (
                package.encode(build(package, name, plain), version)
                for package in twins
            )
            count += 1
            if fast != pure:
                differing.append((name, version, title))
    assert not differing, differing[:5]
    figure("P3", "values that the engines write differently", len(differing), most=0)
    figure("P3", "values written by both engines", count, least=8 * len(PAIRS))


def leaves(plan, code):
    """Return the hypothesis strategy for the values of a plain type."""
    if code in plan.INT_RANGES:
        return st.integers(*plan.INT_RANGES[code])
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    return {
        plan.BOOL: st.booleans(),
        plan.FLOAT64: st.floats(),
        plan.UUID: st.uuids(allow_nil=True),
        plan.STRING: text,
        plan.BYTES: st.binary(max_size=40),
        plan.RECORDS: st.binary(max_size=40),
    }[code]


def structs(plan, layout):
    """Return the strategy for a struct, including optional fields and unknown tags."""
    fields, needed = {}, {}
    for step in layout.steps:
        if step.place not in (plan.PRESENT, plan.TAGGED):
            continue
        element = structs(plan, step.plan) if step.plan else leaves(plan, step.code)
        value = st.lists(element, max_size=3) if step.is_array else element
        chosen = needed if is_needed(plan, step) else fields
        chosen[step.attribute] = st.none() | value if step.nullable else value
    if layout.flexible:
        fields[TAGS] = unknown_tags(max((s.tag for s in layout.steps), default=-1) + 1)
    return st.fixed_dictionaries(needed, optional=fields)


def unknown_tags(above):
    """Return the strategy for ascending unknown tags that are ``above`` or higher."""
    tags = st.integers(above, 2**32 - 1) | st.integers(above, above + 3)
    pairs_ = st.dictionaries(tags, st.binary(max_size=9), max_size=3)
    return pairs_.map(lambda bytes_by_tag: tuple(sorted(bytes_by_tag.items())))


@cache
def values_of(name, version):
    """Return the strategy for the messages of a (message, version) pair."""
    return structs(installed.schema.plan, binding_of(installed, name).plan(version))


@st.composite
def draw_message(draw):
    """Draw a (message, version) pair and a plain value for it."""
    name, version = draw(st.sampled_from(PAIRS))
    return name, version, draw(values_of(name, version))


@settings(max_examples=500)
@given(drawn=draw_message())
def test_random_values_round_trip(twins, drawn):
    """A random message has the same bytes on both engines, and is decoded again."""
    name, version, plain = drawn
    encodings = []
    for package in twins:
        message = build(package, name, plain)
        data = package.encode(message, version)
        decoded = package.decode(type(message), data, version)
        assert neutral(decoded) == neutral(message)
        encodings.append(data)
    assert encodings[0] == encodings[1]


@settings(max_examples=150)
@given(drawn=draw_message())
def test_zero_copy_decodes_equal_values(kwire, drawn):
    """With ``zero_copy``, decoded messages are equal, but bytes are memoryviews."""
    name, version, plain = drawn
    message = build(kwire, name, plain)
    data = kwire.encode(message, version)
    decoded = kwire.decode(type(message), data, version, zero_copy=True)
    assert decoded == message
    assert kwire.encode(decoded, version) == data


def non_default(package, field, default):
    """Return a plain value of the field that differs from ``default``."""
    if field.struct is not None and not field.is_array:
        if default is None:
            return {}
        inner = next(f for f in field.struct.fields if f.struct is None)
        value = package.schema.plan.resolve_default(inner)
        return {inner.attribute: non_default(package, inner, value)}
    if field.is_array:
        return [] if default is None else [sample(package, field)]
    return not default if field.type == "bool" else sample(package, field)


def sample(package, field):
    """Return a plain value that is not the default of any schema."""
    if field.struct is not None:
        return {}
    return Middle().leaves(package.schema.plan)[package.schema.plan.CODES[field.type]]


def change_absent_fields(package, layout, plain):
    """Yield (path, state, message with a value) for the fields that a version lacks.

    In an array of structs, the second element has the value.
    """
    plan = package.schema.plan
    for step in layout.steps:
        field = layout.struct.fields[step.slot]
        if step.place in (plan.ABSENT, plan.IGNORED):
            value = non_default(package, field, plan.resolve_default(field))
            yield step.attribute, step.place, {**plain, step.attribute: value}
        elif step.plan is not None:
            inner = Middle().message(plan, step.plan)
            for path, state, changed in change_absent_fields(package, step.plan, inner):
                changed_value, index = (
                    ([inner, changed], "[1]") if step.is_array else (changed, "")
                )
                inner_path = f"{step.attribute}{index}.{path}"
                yield inner_path, state, {**plain, step.attribute: changed_value}


@sweep("name", NAMES)
def test_absent_fields_are_rejected_or_dropped(kwire, name):
    """A value of a field that the version lacks is rejected with its path.

    If the field is ignorable, the value is dropped.
    """
    cls, all_versions = versions(kwire, name)
    for version in all_versions:
        layout = binding_of(kwire, name).plan(version)
        base = Middle().message(kwire.schema.plan, layout)
        for path, state, plain in change_absent_fields(kwire, layout, base):
            message = build(kwire, name, plain)
            if state == kwire.schema.plan.ABSENT:
                with pytest.raises(kwire.EncodeError) as caught:
                    kwire.encode(message, version)
                assert caught.value.path == path
                assert (caught.value.message_name, caught.value.version) == (
                    name,
                    version,
                )
            else:
                decoded = kwire.decode(cls, kwire.encode(message, version), version)
                assert neutral(decoded) != neutral(message)


def test_absent_fields_of_both_kinds_are_covered(kwire):
    """The previous test covers ignorable and other fields, nested and at the top."""
    plan = kwire.schema.plan
    counts = {}
    for name, version in PAIRS:
        for path, state, _ in change_absent_fields(
            kwire, binding_of(kwire, name).plan(version), {}
        ):
            key = state == plan.IGNORED, "." in path
            counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 4
    assert min(counts.values()) > 100


@sweep("name", NAMES)
def test_unknown_tags_need_a_flexible_version(kwire, name):
    """Unknown tags are kept in flexible versions, and rejected in other versions."""
    cls, all_versions = versions(kwire, name)
    message = cls(**{TAGS: ((5000, b"kept"),)})
    for version in all_versions:
        if version in cls.flexible_versions:
            data = kwire.encode(message, version)
            assert data.endswith(b"\x88\x27\x04kept")
            assert kwire.decode(cls, data, version) == message
        else:
            with pytest.raises(kwire.EncodeError) as caught:
                kwire.encode(message, version)
            assert caught.value.path == TAGS


def test_null_that_is_no_default_is_written(kwire):
    """A null struct that is not the default is written with size 1 and content 0."""
    cls = kwire.messages.ConsumerGroupMemberMetadataValue
    message = cls(classic_member_metadata=None)
    data = kwire.encode(message, 0)
    assert data.endswith(b"\x01\x00\x01\x00")
    assert kwire.decode(cls, data, 0) == message
