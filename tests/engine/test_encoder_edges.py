# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the write buffer's end, and values that imitate a supported type."""

import importlib
import tracemalloc
import uuid

import pytest


def test_small_tags_survive_the_end_of_the_first_buffer(twins):
    """A tagged field is encoded correctly if the buffer grows while it is written.

    The compiled engine writes the content of a tagged field first, and its size
    afterwards. The name lengths move the tagged field across the end of the first
    buffer.
    """

    def encoded(kwire, length):
        cls = kwire.messages.CreateTopicsResponse
        topic = cls.CreatableTopicResult(
            name="n" * length, topic_config_error_code=0x1234
        )
        # Encode a small message first, so that the next one starts in the small buffer.
        kwire.encode(cls(), version=5)
        return kwire.encode(cls(topics=[topic]), version=5)

    for length in range(980, 1030):
        assert encoded(twins.fast, length) == encoded(twins.pure, length)


def test_invalid_element_leaks_no_memory(kwire):
    """If an array element is invalid, the write buffer is freed.

    The element is at index 5000, so that the buffer has already grown.
    """
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
    """Object whose ``>>`` operator and ``to_bytes`` method return a string."""

    def __rshift__(self, bits):
        return "text"

    def to_bytes(self, *args):
        return "text"


class _Liar:
    """Object whose ``__class__`` attribute raises KeyError."""

    @property
    def __class__(self):
        raise KeyError("no class")


def _uuid_of(number):
    uuid_value = uuid.UUID(int=0)
    object.__setattr__(uuid_value, "int", number)
    return uuid_value


@pytest.mark.parametrize("value", [_uuid_of(_Odd()), _uuid_of(-1), _uuid_of(2**128)])
def test_broken_uuid_raises_encode_error(kwire, value):
    """An object that imitates a UUID raises EncodeError with the path of its field."""
    topic = kwire.messages.FetchRequest.FetchTopic(topic_id=value)
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.encode(kwire.messages.FetchRequest(topics=[topic]), version=13)
    assert caught.value.path == "topics[0].topic_id"
    assert caught.value.expected.startswith("expected a uuid.UUID")


def test_object_with_a_false_class_is_not_a_uuid(kwire):
    """If ``__class__`` of a value raises an exception, encoding raises EncodeError."""
    with pytest.raises(kwire.EncodeError, match=r"expected a uuid\.UUID"):
        kwire.messages.wire.encode_uuid(_Liar())


def test_keyword_of_another_type_raises_type_error(kwire):
    """A constructor keyword that is not a str raises TypeError and does not crash."""
    cls = kwire.messages.MetadataRequest
    with pytest.raises(TypeError):
        cls.__new__(cls, **{1: 2})


@pytest.mark.parametrize("excess", [0, 1])
def test_python_engine_rejects_a_count_above_the_maximum(twins, excess):
    """``write_count`` accepts the maximum array count and rejects the maximum plus one.

    The function is called directly, because no array in memory can be that long.
    """
    primitives = importlib.import_module(
        f"{twins.pure.__name__}._engine.pure.primitives"
    )
    writer = primitives.Writer()
    if excess:
        with pytest.raises(primitives.ValueFault):
            primitives.write_count(writer, primitives.LARGEST + 1, True)
    else:
        primitives.write_count(writer, primitives.LARGEST, True)
        assert bytes(writer.out) == b"\xff\xff\xff\xff\x07"
