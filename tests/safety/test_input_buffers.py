# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Input may be any contiguous buffer, is never modified, and is always released.

A decoder that keeps an export of a ``bytearray`` remains unnoticed until the caller
resizes it. A decoder that writes to its input changes bytes that other code still
reads.
"""

import array
import mmap
import sys
import weakref

import numpy
import pytest

from tests.harness.golden import by_pair

GOOD = by_pair()["ProduceRequest", 9][1].data
BAD = GOOD[:-1]


class Data(bytes):
    """Subclass of bytes, which is not exactly of the type ``bytes``."""


def map_bytes(data):
    """Copy bytes to an anonymous memory map."""
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    return memory


KINDS = {
    "bytes": bytes,
    "subclass": Data,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "view of a slice": lambda data: memoryview(b"xx" + data + b"y")[2:-1],
    "view of ints": lambda data: memoryview(array.array("B", data)),
    "array": lambda data: array.array("B", data),
    "signed array": lambda data: numpy.frombuffer(data, dtype="i1").copy(),
    "matrix": lambda data: numpy.frombuffer(data, dtype="u1").reshape(1, -1),
    "mmap": map_bytes,
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_contiguous_bytes_like_is_accepted(kwire, kind):
    """Every kind of contiguous buffer is decoded to the same message."""
    cls = kwire.messages.ProduceRequest
    expected = kwire.decode(cls, GOOD, 9)
    assert kwire.decode(cls, KINDS[kind](GOOD), 9) == expected
    assert kwire.decode(cls, KINDS[kind](GOOD), 9, compat="java") == expected
    assert kwire.decode(cls, KINDS[kind](GOOD), 9, zero_copy=True) == expected
    with pytest.raises(kwire.Truncated) as caught:
        kwire.decode(cls, KINDS[kind](BAD), 9)
    assert caught.value.offset == len(BAD)


def test_buffer_size_counts_in_bytes(kwire):
    """If the items of a buffer have several bytes, all bytes are decoded."""
    cls = kwire.messages.HeartbeatResponse
    data = array.array("h", [0])
    assert kwire.decode(cls, data, 0) == cls()
    with pytest.raises(kwire.TrailingBytes) as caught:
        kwire.decode(cls, array.array("i", [0]), 0)
    assert caught.value.offset == 2


@pytest.mark.parametrize("empty", [b"", bytearray(), memoryview(b""), array.array("d")])
@pytest.mark.parametrize("zero_copy", [False, True])
def test_empty_input_is_truncated_unless_a_message_has_no_fields(
    kwire, empty, zero_copy
):
    """Empty input raises Truncated, unless the message has no fields."""
    request = kwire.messages.ApiVersionsRequest
    assert kwire.decode(request, empty, 0, zero_copy=zero_copy) == request()
    with pytest.raises(kwire.Truncated) as caught:
        kwire.decode(kwire.messages.HeartbeatRequest, empty, 0, zero_copy=zero_copy)
    assert caught.value.offset == 0


@pytest.mark.parametrize("wrong", ["text", None, 5, [1, 2], object()])
def test_other_objects_are_rejected(kwire, wrong):
    """Objects without a buffer raise ``TypeError``."""
    with pytest.raises(TypeError, match="bytes-like"):
        kwire.decode(kwire.messages.HeartbeatRequest, wrong, 0)


@pytest.mark.parametrize("zero_copy", [False, True])
def test_input_with_gaps_is_refused(kwire, zero_copy):
    """A buffer with gaps between its bytes is rejected."""
    for gaps in (memoryview(GOOD)[::2], numpy.frombuffer(GOOD, "u1")[::-1]):
        with pytest.raises(TypeError, match="contiguous"):
            kwire.decode(kwire.messages.ProduceRequest, gaps, 9, zero_copy=zero_copy)


def outcomes(kwire):
    """Yield (input, call) for all entry points, with every kind of outcome."""
    cls, principal = kwire.messages.ProduceRequest, kwire.messages.DefaultPrincipalData
    framing = kwire.messages.framing
    small = kwire.Limits(frame_bytes=3)
    frame = framing.encode_request(kwire.messages.HeartbeatRequest(), 4)[4:]
    answer = framing.encode_response(kwire.messages.HeartbeatResponse(), 4)[4:]
    response = kwire.messages.HeartbeatResponse
    prefixed = framing.encode_prefixed(principal(), 0)
    return [
        (GOOD, lambda data: kwire.decode(cls, data, 9)),
        (GOOD, lambda data: kwire.decode(cls, data, 9, compat="java")),
        (BAD, lambda data: kwire.decode(cls, data, 9)),
        (BAD, lambda data: kwire.decode(cls, data, 9, zero_copy=True)),
        (BAD, lambda data: kwire.decode(cls, data, 9, compat="java")),
        (GOOD + b"x", lambda data: kwire.decode(cls, data, 9)),
        (GOOD, lambda data: kwire.decode(cls, data, 99)),
        (GOOD, lambda data: kwire.decode(cls, data, 9, limits=small)),
        (GOOD, lambda data: kwire.decode(cls, data, 9, limits=small, zero_copy=True)),
        (b"", lambda data: kwire.decode(cls, data, 9)),
        (frame, framing.decode_request),
        (frame[:-1], framing.decode_request),
        (frame[:3], framing.decode_request),
        (frame + b"x", framing.decode_request),
        (b"\0\x63" + frame[2:], framing.decode_request),
        (answer, lambda data: framing.decode_response(response, data, 4)),
        (answer[:-1], lambda data: framing.decode_response(response, data, 4)),
        (answer + b"x", lambda data: framing.decode_response(response, data, 4)),
        (prefixed, lambda data: framing.decode_prefixed(principal, data)),
        (prefixed[:-1], lambda data: framing.decode_prefixed(principal, data)),
        (prefixed[:1], lambda data: framing.decode_prefixed(principal, data)),
        (frame, lambda data: list(framing.FrameSplitter().feed(data))),
        (b"\xff" * 9, lambda data: list(framing.FrameSplitter().feed(data))),
    ]


def test_input_is_released_and_unchanged_after_any_outcome(kwire):
    """After a call, the input is unchanged, and a bytearray can be resized.

    This applies to successful and failed calls.
    """
    outcome_names = set()
    for data, call in outcomes(kwire):
        buffer = bytearray(data)
        try:
            # Keep the result or error, to check that it does not refer to the input.
            result = call(buffer)
        except kwire.KwireError as error:
            result = error
        outcome_names.add(type(result).__name__)
        assert buffer == data
        buffer.append(0)
        assert len(buffer) == len(data) + 1
    assert {
        "ProduceRequest",
        "Truncated",
        "TrailingBytes",
        "LimitExceeded",
    } <= outcome_names
    assert {"UnsupportedVersion", "tuple", "list", "InvalidLength"} <= outcome_names


def test_zero_copy_points_into_the_input(kwire):
    """Views of a ``zero_copy`` message share the memory of the input.

    A bytearray cannot be resized while they exist.
    """
    cls = kwire.messages.ProduceRequest
    topic = cls.TopicProduceData
    partition = cls.PartitionProduceData(records=b"0123456789")
    request = cls(topic_data=[topic(name="t", partition_data=[partition])])
    data = bytearray(kwire.encode(request, 9))
    read = kwire.decode(cls, data, 9, zero_copy=True)
    view = read.topic_data[0].partition_data[0].records
    assert type(view) is memoryview
    assert view == b"0123456789"
    position = data.index(b"0123456789")
    data[position] = ord("x")
    assert view == b"x123456789"
    with pytest.raises(BufferError):
        data.append(0)
    del read, view
    data.append(0)


def test_zero_copy_keeps_the_input_alive(kwire):
    """A ``zero_copy`` message keeps its input alive."""
    cls = kwire.messages.ProduceRequest
    buffer = numpy.frombuffer(GOOD, dtype="u1").copy()
    watched = weakref.ref(buffer)
    read = kwire.decode(cls, buffer, 9, zero_copy=True)
    del buffer
    assert read == kwire.decode(cls, GOOD, 9)
    del read
    assert watched() is None


def test_read_only_memory_is_accepted(kwire):
    """Read-only memory is decoded. No function requests a writable buffer."""
    view = memoryview(bytearray(GOOD)).toreadonly()
    cls = kwire.messages.ProduceRequest
    assert kwire.decode(cls, view, 9) == kwire.decode(cls, GOOD, 9)


def test_values_are_released_after_encoding(kwire):
    """After encoding, a bytearray in a bytes field can be resized.

    This applies to successful and failed calls.
    """
    cls = kwire.messages.ProduceRequest
    for compression in ("good", "bad"):
        records = bytearray(b"records")
        partition = cls.PartitionProduceData(records=records)
        name = "t" if compression == "good" else None
        topics = [
            cls.TopicProduceData(name="a", partition_data=[partition]),
            cls.TopicProduceData(name=name),
        ]
        try:
            assert b"records" in kwire.encode(cls(topic_data=topics), 9)
        except kwire.EncodeError as error:
            assert error.path == "topic_data[1].name"
        records.append(0)
        assert records == b"records\0"


def test_input_gains_no_references(kwire):
    """Input objects have the same reference counts before and after a call."""
    cls = kwire.messages.ProduceRequest
    for data in (bytes(bytearray(GOOD)), bytes(bytearray(BAD))):
        before = sys.getrefcount(data)
        for options in ({}, {"compat": "java"}, {"zero_copy": True}):
            try:
                kwire.decode(cls, data, 9, **options)
            except kwire.Truncated as error:
                assert error.offset == len(BAD)
        assert sys.getrefcount(data) == before
