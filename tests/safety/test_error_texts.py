# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Errors show the start of a value, and need no more memory than that."""

import importlib
from functools import partial

import pytest

from tests.harness.sweeps import sweep
from tests.harness.traced import peak_of

COUNT = 200_000

LONG = {
    "tuple": lambda: tuple(range(COUNT)),
    "list": lambda: list(range(COUNT)),
    "set": lambda: set(range(COUNT)),
    "dict": lambda: dict.fromkeys(range(COUNT)),
    "str": lambda: "\x00" * 4 * COUNT,
    "bytes": lambda: bytes(4 * COUNT),
    "nested": lambda: [[(tuple(range(COUNT)),)]],
}

REFUSED = {
    "a field": lambda kwire, value: kwire.encode(
        kwire.messages.MetadataRequest(allow_auto_topic_creation=value), 1
    ),
    "a tag": lambda kwire, value: kwire.encode(
        kwire.messages.ApiVersionsRequest(unknown_tagged_fields=(value,)), 3
    ),
    "magic": lambda kwire, value: kwire.records.encode_batch([], magic=value),
    "a codec": lambda kwire, value: kwire.records.encode_batch([], compression=value),
}


@pytest.mark.parametrize("name", LONG)
def test_long_value_in_an_error_is_shortened(kwire, name):
    """An error about a long value contains only its start.

    Formatting it needs neither a complete text nor a copy, which would be about a
    megabyte.
    """
    value = LONG[name]()

    def refuse(call):
        with pytest.raises((kwire.EncodeError, TypeError)) as caught:
            call(kwire, value)
        return str(caught.value)

    for call in REFUSED.values():
        # The first call imports modules, whose memory must not be measured.
        refuse(call)
        peak, text = peak_of(partial(refuse, call), COUNT)
        assert peak < COUNT
        assert len(text) < 300


@sweep(
    "value",
    [
        (),
        (1,),
        (1, 2),
        [],
        [1, [2, (3,)]],
        {},
        {1: 2, "a": None},
        set(),
        {7},
        "text",
        b"bytes",
        bytearray(b"a"),
        1.5,
        -7,
        None,
        True,
        range(3),
        int,
        (1, "two", b"3", [4.0], {"five": (6,)}),
    ],
)
def test_short_value_in_an_error_is_its_repr(kwire, value):
    """An error about a short value contains its complete repr."""
    errors = importlib.import_module(f"{kwire.__name__}.errors")
    assert errors.quote(value, 80) == repr(value)
    cut = errors.quote(value, 5)
    text = repr(value)
    assert cut == (text if len(text) <= 5 else f"{text[:2]}...")


def test_errors_about_unusual_values_have_a_text(kwire):
    """Errors about unusual values have a text.

    The values are a recursive list, an object whose repr fails, and a message.
    """
    errors = importlib.import_module(f"{kwire.__name__}.errors")
    circle = []
    circle.append(circle)
    assert errors.quote(circle, 10) == "[[[[[[[..."
    assert errors.quote(10**5000) == "<int>"
    request = kwire.messages.FetchRequest()
    assert errors.quote((request,)) == "(FetchRequest(...),)"


@pytest.mark.parametrize("name", ["message", "frame"])
def test_rejected_message_takes_little_memory_after_a_large_one(kwire, name):
    """After a large message, rejecting another message needs little memory.

    The engine allocates no buffer with the size of the previous message.
    """
    request = kwire.messages.MetadataRequest
    framing = importlib.import_module(f"{kwire.__name__}.messages.framing")
    encode_request = framing.encode_request
    encode = {
        "message": lambda message: kwire.encode(message, 4),
        "frame": lambda message: encode_request(message, 4, 0, ""),
    }[name]
    encode(request(topics=[request.MetadataRequestTopic(name="topic")] * COUNT))

    def refuse():
        with pytest.raises(kwire.EncodeError):
            encode(request(allow_auto_topic_creation="yes"))

    # The first rejection still allocates a buffer with the size of the large message.
    refuse()
    assert peak_of(refuse, COUNT)[0] < COUNT
