# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Calls leave the reference counts of the caller's objects unchanged.

The compiled engine counts references by hand. A missing decrement is a leak, and a
missing increment causes a crash later. The tests create new objects, so that their
exact counts are known. ``test_memory.py`` tests that no entry point increases the
process memory.
"""

import copy
import gc
import pickle
import sys
import uuid

import pytest

ROUNDS = 25


def count_references(values):
    return [sys.getrefcount(value) for value in values]


def are_unchanged(values, before):
    if count_references(values) != before:
        # The garbage collector can free these objects, so they are not leaked.
        gc.collect()
    return count_references(values) == before


def repeat(call, error=()):
    for _ in range(ROUNDS):
        try:
            call()
        except error:
            continue


def wrong_values():
    """Return new values by name. Every value is invalid for at least one field type.

    The values are created by the call, so that only the returned dict refers to them.
    """
    return {
        "int": 2**70,
        "text": "wr\u00f6ng" * 2,
        "long text": "x" * 40_000,
        "lone surrogate": "\ud800" * 2,
        "bytes": bytes(bytearray(b"wrong")),
        "strided": memoryview(bytearray(b"wrong"))[::2],
        "float": float("1.5"),
        "object": object(),
        "list": [1, "x"],
        "tuple": (object(),),
        "tags out of order": ((9, b"x"), (8, b"y")),
        "tag too large": ((2**40, b"x"),),
    }


@pytest.fixture
def owned(kwire):
    """Return a message, and a list of the message and all objects in it."""
    cls = kwire.messages.FetchRequest
    leaves = {
        "topic_id": uuid.UUID(int=2**77 + 5),
        "offset": 2**45 + 1,
        "rack": "r\u00e4ck" * 2,
        "cluster": "cluster id",
        "content": bytes(bytearray(b"kept")),
    }
    partition = cls.FetchPartition(fetch_offset=leaves["offset"])
    topic = cls.FetchTopic(topic_id=leaves["topic_id"], partitions=[partition])
    tags = ((200, leaves["content"]),)
    message = cls(
        topics=[topic],
        rack_id=leaves["rack"],
        cluster_id=leaves["cluster"],
        unknown_tagged_fields=tags,
    )
    inner = [leaves["topic_id"].int, partition, topic, tags, message.topics, message]
    return message, [*leaves.values(), *inner]


def test_use_of_a_message_gains_no_references(kwire, owned):
    """Encoding, copying, comparing and formatting a message keeps no references."""
    message, parts = owned
    framing = kwire.messages.framing
    twin = kwire.decode(type(message), kwire.encode(message, 13), 13)
    uses = {
        "encode": lambda: kwire.encode(message, 13),
        "encode_request": lambda: framing.encode_request(message, 13, 7, "me"),
        "refused header": lambda: framing.encode_request(message, 13, "7", "me"),
        "lacking field": lambda: kwire.encode(message, 0),
        "replace": lambda: message.replace(rack_id=parts[3], session_id=2**30),
        "refused replace": lambda: message.replace(rack_id=parts[3], nothing=1),
        "construct": lambda: type(message)(rack_id=parts[2], topics=parts[-2]),
        "refused construct": lambda: type(message)(rack_id=parts[2], nothing=1),
        "new": lambda: type(message).__new__(type(message), topics=parts[-2]),
        "compare": lambda: (message == twin, message != twin, message == 3),
        "refused compare": lambda: message < twin,
        "hash": lambda: hash(message),
        "repr": lambda: repr(message),
        "copy": lambda: copy.copy(message),
        "pickle": lambda: pickle.loads(pickle.dumps(message)),
        "json": lambda: kwire.to_json(message, 13),
        "fields": lambda: (message.topics[0].topic_id, message.unknown_tagged_fields),
        "refused assignment": lambda: setattr(message, "topics", parts[-2]),
    }
    for title, use in uses.items():
        errors = ()
        if title.startswith(("refused", "lacking")):
            errors = (kwire.EncodeError, TypeError, AttributeError)
            with pytest.raises(errors):
                use()
        repeat(use, errors)
        before = count_references(parts)
        repeat(use, errors)
        assert are_unchanged(parts, before), title


def test_refused_values_gain_no_references(kwire, owned):
    """If a field has an invalid value, the failed call keeps no reference to it."""
    message, parts = owned
    for name in (*type(message).__match_args__, "unknown_tagged_fields"):
        for title, value in wrong_values().items():
            watched = [value, *parts]

            def use(name=name, value=value):
                kwire.encode(message.replace(**{name: value}), 13)

            before = count_references(watched)
            repeat(use, (kwire.EncodeError, TypeError))
            assert are_unchanged(watched, before), (name, title)


def test_refused_elements_gain_no_references(kwire):
    """If a nested struct has an invalid value, a failed call keeps no reference to it.

    The writer only borrows its references to the elements of arrays.
    """
    cls = kwire.messages.FetchRequest
    for title, value in wrong_values().items():
        before = count_references([value])
        for field in cls.FetchPartition.__match_args__:
            partitions = [cls.FetchPartition(), cls.FetchPartition(**{field: value})]
            topics = [cls.FetchTopic(partitions=partitions)]
            message = cls(topics=topics)
            repeat(lambda message=message: kwire.encode(message, 13), kwire.EncodeError)
        del partitions, topics, message
        assert are_unchanged([value], before), title


PRIMITIVES = {
    "unsigned_varint": 2**31,
    "varint": -70_000,
    "varlong": -(2**60),
    "string": "\u00e9t\u00e9",
    "compact_nullable_string": "compact",
    "bytes": b"some bytes",
    "compact_nullable_bytes": bytearray(b"some bytes"),
    "uuid": uuid.UUID(int=2**77 + 5),
    "array": [300, 2**31 - 1],
    "compact_array": [300, 2**31 - 1],
    "tagged_fields": {300: b"three", 2: b"two"},
}


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitives_gain_no_references(kwire, name):
    """The functions of ``kwire.messages.wire`` keep no reference to their arguments.

    The arguments are valid values, invalid values, truncated bytes, and an offset
    beyond the end of the bytes.
    """
    encode = getattr(kwire.messages.wire, f"encode_{name}")
    decode = getattr(kwire.messages.wire, f"decode_{name}")
    value = PRIMITIVES[name]
    data = encode(value)
    inputs = [bytes(bytearray(data)), bytearray(data), bytearray(data[:-1])]
    if name.endswith("array"):
        # The array outgrows the small buffer before the writer reaches the invalid
        # element.
        value = [*([2**29] * 2000), object()]
    values = [value, *wrong_values().values()]
    watched = [*inputs, *values, getattr(value, "int", value)]
    before = count_references(watched)
    for sample in values:
        repeat(lambda sample=sample: encode(sample), kwire.EncodeError)
    for sample in inputs:
        repeat(lambda sample=sample: decode(sample), kwire.DecodeError)
        repeat(lambda sample=sample: decode(sample, offset=999), ValueError)
        repeat(lambda sample=sample: decode(sample, offset=1), kwire.DecodeError)
    del sample
    assert are_unchanged(watched, before)
    for data in inputs[1:]:
        data.append(0)  # Raises BufferError if the buffer is still exported.
