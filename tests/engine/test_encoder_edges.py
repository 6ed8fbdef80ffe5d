# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The end of the write buffer, and values of types that only look right."""

import importlib
import tracemalloc
import uuid

import pytest


def test_small_tags_survive_the_end_of_the_first_buffer(twins):
    """A tag's size is written after its content: growing there must not lose it."""

    def encoded(kwire, length):
        cls = kwire.messages.CreateTopicsResponse
        topic = cls.CreatableTopicResult(
            name="n" * length, topic_config_error_code=0x1234
        )
        # A small one first, so that the next begins in the small buffer.
        kwire.encode(cls(), version=5)
        return kwire.encode(cls(topics=[topic]), version=5)

    for length in range(980, 1030):
        assert encoded(twins.fast, length) == encoded(twins.pure, length)


def test_a_bad_element_leaves_nothing_behind(kwire):
    """A failing array lets its buffer go, however large it has grown."""
    from_wire = kwire.messages.wire
    bad = [1] * 5000 + ["x"]
    tracemalloc.start()
    try:
        for round_ in range(60):
            with pytest.raises(kwire.EncodeError, match=r"\[5000\]"):
                from_wire.encode_array(bad)
            if round_ == 9:
                before = tracemalloc.get_traced_memory()[0]
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()


class _Odd:
    """Answers a shift with text."""

    def __rshift__(self, bits):
        return "text"

    def to_bytes(self, *args):
        return "text"


class _Liar:
    """Raises when it is asked what it is."""

    @property
    def __class__(self):
        raise KeyError("no class")


def _uuid_of(number):
    made = uuid.UUID(int=0)
    object.__setattr__(made, "int", number)
    return made


@pytest.mark.parametrize("value", [_uuid_of(_Odd()), _uuid_of(-1), _uuid_of(2**128)])
def test_a_broken_uuid_is_the_callers_mistake(kwire, value):
    """What only looks like a uuid is an EncodeError with the path of the field."""
    topic = kwire.messages.FetchRequest.FetchTopic(topic_id=value)
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(kwire.messages.FetchRequest(topics=[topic]), version=13)
    assert caught.value.path == "topics[0].topic_id"
    assert caught.value.expected.startswith("expected a uuid.UUID")


def test_an_object_that_hides_its_class_is_no_uuid(kwire):
    """Whatever the object raises when it is asked."""
    with pytest.raises(kwire.EncodeError, match=r"expected a uuid\.UUID"):
        kwire.messages.wire.encode_uuid(_Liar())


def test_keywords_are_strings(kwire):
    """A keyword of another type is a TypeError and nothing worse."""
    cls = kwire.messages.MetadataRequest
    with pytest.raises(TypeError):
        cls.__new__(cls, **{1: 2})


@pytest.mark.parametrize("more", [0, 1])
def test_a_count_has_a_largest_value_in_plain_python(twins, more):
    """No array has so many elements; its count is refused all the same."""
    primitives = importlib.import_module(
        f"{twins.pure.__name__}._engine.pure.primitives"
    )
    writer = primitives.Writer()
    if more:
        with pytest.raises(primitives.ValueFault):
            primitives.write_count(writer, primitives.LARGEST + 1, True)
    else:
        primitives.write_count(writer, primitives.LARGEST, True)
        assert bytes(writer.out) == b"\xff\xff\xff\xff\x07"
