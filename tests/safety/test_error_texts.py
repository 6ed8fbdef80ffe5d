# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of errors show the beginning of a value, and cost no more than that."""

import importlib
import time

import pytest

COUNT = 5_000_000

LONG = {
    "tuple": lambda: tuple(range(COUNT)),
    "list": lambda: list(range(COUNT)),
    "set": lambda: set(range(COUNT)),
    "dict": lambda: dict.fromkeys(range(COUNT)),
    "str": lambda: "\x00" * 4 * COUNT,
    "bytes": lambda: bytes(4 * COUNT),
    "nested": lambda: [[(tuple(range(COUNT)),)]],
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_value_is_not_written_out(kwire, name):
    """A call that is refused for its value is refused at once."""
    value = LONG[name]()
    m = kwire.messages
    absent = m.MetadataRequest(allow_auto_topic_creation=value)
    tags = m.ApiVersionsRequest(unknown_tagged_fields=(value,))
    for call in (
        lambda: kwire.encode(absent, 1),
        lambda: kwire.encode(tags, 3),
        lambda: kwire.records.encode_batch([], magic=value),
        lambda: kwire.records.encode_batch([], compression=value),
    ):
        start = time.process_time()
        with pytest.raises((kwire.EncodeError, TypeError)) as caught:
            call()
        assert time.process_time() - start < 0.2
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "value",
    [
        *((), (1,), (1, 2), [], [1, [2, (3,)]], {}, {1: 2, "a": None}, set(), {7}),
        *("text", b"bytes", bytearray(b"a"), 1.5, -7, None, True, range(3), int),
        (1, "two", b"3", [4.0], {"five": (6,)}),
    ],
)
def test_a_short_value_is_its_repr(kwire, value):
    """Nothing is lost where there is room."""
    errors = importlib.import_module(f"{kwire.__name__}.errors")
    assert errors.quote(value, 80) == repr(value)
    cut = errors.quote(value, 5)
    text = repr(value)
    assert cut == (text if len(text) <= 5 else f"{text[:2]}...")


def test_odd_values_have_a_text(kwire):
    """What holds itself, what has no text, and a message, which may be large."""
    errors = importlib.import_module(f"{kwire.__name__}.errors")
    circle = []
    circle.append(circle)
    assert errors.quote(circle, 10) == "[[[[[[[..."
    assert errors.quote(10**5000) == "<int>"
    request = kwire.messages.FetchRequest()
    assert errors.quote((request,)) == "(FetchRequest(...),)"
