# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FrameSplitter`` returns the same frames, however a stream is divided.

The tests include hostile streams: negative and too large sizes, TLS peers, and declared
sizes that must not allocate memory.
"""

import random
import tracemalloc

import pytest

FRAMES = [b"first", b"", b"\0\0\0\1", bytes(300)]
STREAM = b"".join(len(frame).to_bytes(4, "big") + frame for frame in FRAMES)


@pytest.fixture
def splitter(kwire):
    """Return a splitter with the default limit."""
    return kwire.messages.framing.FrameSplitter()


def test_frames_in_one_chunk_are_returned_in_order(splitter):
    """All frames in one chunk are returned in order. No bytes remain pending."""
    assert list(splitter.feed(STREAM)) == FRAMES
    assert splitter.pending == 0


def test_split_position_of_chunks_does_not_matter(kwire):
    """A stream that is split at any byte has the same frames.

    The bytes of an incomplete frame remain pending.
    """
    for position in range(len(STREAM) + 1):
        splitter = kwire.messages.framing.FrameSplitter()
        first = list(splitter.feed(STREAM[:position]))
        consumed = sum(len(frame) + 4 for frame in first)
        assert splitter.pending == position - consumed
        assert first + list(splitter.feed(STREAM[position:])) == FRAMES
        assert splitter.pending == 0


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_small_chunks_are_joined_to_frames(splitter, size):
    """Chunks of any size are joined to frames."""
    received = []
    for position in range(0, len(STREAM), size):
        received += splitter.feed(memoryview(STREAM)[position : position + size])
    assert received == FRAMES


def test_random_chunks_are_joined_to_frames(kwire):
    """Random chunks are joined to frames. Some chunks are empty."""
    dice = random.Random(5)
    frames = [dice.randbytes(dice.choice((0, 1, 3, 4, 50, 2000))) for _ in range(300)]
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    splitter = kwire.messages.framing.FrameSplitter()
    received = []
    position = 0
    while position < len(stream):
        size = dice.choice((0, 1, 2, 5, 100, 3000))
        received += splitter.feed(bytearray(stream[position : position + size]))
        position += size
    assert received == frames
    assert all(type(frame) is bytes for frame in received)


def test_unconsumed_frames_are_returned_with_the_next_chunk(splitter):
    """Frames that the caller has not consumed are returned by the next call."""
    assert next(splitter.feed(STREAM)) == FRAMES[0]
    splitter.feed(b"")
    assert list(splitter.feed(STREAM[:3])) == FRAMES[1:]
    assert list(splitter.feed(STREAM[3:])) == FRAMES


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_only_an_incomplete_frame_is_copied(kwire, kind):
    """Only a frame that spans two chunks is copied.

    All other frames are slices of the chunk. Copying them would double the time.
    """
    sizes = []

    class Counted(kwire.messages.framing.FrameSplitter):
        def buffer_updated(self, count):
            sizes.append(count)
            return super().buffer_updated(count)

    frames = [bytes(60)] * 100
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    splitter = Counted()
    received = list(splitter.feed(stream[:30])) + list(splitter.feed(kind(stream[30:])))
    assert received == frames
    assert sum(sizes) == 64 - 30


@pytest.mark.parametrize("size", [-1, -(2**31)])
def test_negative_sizes_are_refused_at_their_place_in_the_stream(kwire, splitter, size):
    """A negative size raises an error with its offset in the stream.

    The frames before it are returned first.
    """
    frames = splitter.feed(STREAM + size.to_bytes(4, "big", signed=True) + b"more")
    assert [next(frames) for _ in FRAMES] == FRAMES
    with pytest.raises(kwire.InvalidLength) as caught:
        next(frames)
    assert (caught.value.offset, caught.value.path) == (len(STREAM), "size")
    assert str(size) in str(caught.value)


def test_frame_splitter_repeats_its_error(kwire, splitter):
    """After an error, every call raises the same error.

    The stream cannot be split any further.
    """
    with pytest.raises(kwire.InvalidLength) as first:
        list(splitter.feed(b"\xff\xff\xff\xff"))
    for chunk in (STREAM, b"", STREAM):
        with pytest.raises(kwire.InvalidLength) as repeated:
            list(splitter.feed(chunk))
        assert str(repeated.value) == str(first.value)


def test_frame_limit_is_exact(kwire):
    """A frame of the maximum size is accepted, and one byte more is rejected."""
    splitter = kwire.messages.framing.FrameSplitter(kwire.Limits(frame_bytes=5))
    assert list(splitter.feed(b"\0\0\0\5fives")) == [b"fives"]
    with pytest.raises(kwire.LimitExceeded) as caught:
        list(splitter.feed(b"\0\0\0\6"))
    assert caught.value.offset == 9
    assert "6" in caught.value.reason and "5" in caught.value.reason
    assert "TLS" not in caught.value.reason


def test_default_frame_limit_is_100_mib(kwire, splitter):
    """The default limit is 100 MiB, like that of a Kafka broker."""
    assert list(splitter.feed((100 * 2**20).to_bytes(4, "big"))) == []
    with pytest.raises(kwire.LimitExceeded):
        list(
            kwire.messages.framing.FrameSplitter().feed(
                (100 * 2**20 + 1).to_bytes(4, "big")
            )
        )


def test_size_is_unlimited_without_a_limit(kwire):
    """If the limit is None, any size is accepted, but no memory is allocated for it."""
    splitter = kwire.messages.framing.FrameSplitter(kwire.Limits(frame_bytes=None))
    assert list(splitter.feed(b"\x7f\xff\xff\xff")) == []


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        (bytes.fromhex("15 03 03 00 02 02 28"), "TLS alert"),
        (bytes.fromhex("16 03 01 02 00 01"), "TLS handshake"),
    ],
)
def test_tls_is_recognised(kwire, splitter, chunk, words):
    """If the bytes look like TLS, the error says so.

    A TLS header would be a frame size of 340 MiB.
    """
    with pytest.raises(kwire.LimitExceeded, match=words):
        list(splitter.feed(chunk))


def test_memory_does_not_follow_the_announced_size(splitter):
    """A declared size of 100 MiB allocates no memory before the bytes arrive."""
    tracemalloc.start()
    try:
        list(splitter.feed((100 * 2**20).to_bytes(4, "big") + b"start"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024


def test_time_is_linear_in_the_number_of_chunks(splitter):
    """The time to join a large frame is linear in the number of its chunks.

    The chunks are joined once, when the frame is complete.
    """
    size, chunk = 2**20, bytes(64)
    list(splitter.feed(size.to_bytes(4, "big")))
    tracemalloc.start()
    try:
        for _ in range(size // len(chunk) - 1):
            assert not list(splitter.feed(chunk))
        assert splitter.pending == size + 4 - len(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [len(frame) for frame in splitter.feed(chunk)] == [size]
    assert peak < 3 * size


@pytest.mark.parametrize(
    "chunk", [b"HTTP/1.1 400 Bad Request\r\n", b"GET / HTTP/1.1\r\n", b"POST /topics "]
)
def test_http_is_recognized(kwire, chunk):
    """If the bytes are HTTP, the error says so.

    HTTP is the most common wrong protocol after TLS, from servers and clients.
    """
    splitter = kwire.messages.framing.FrameSplitter()
    with pytest.raises(kwire.LimitExceeded, match="the bytes are HTTP, not the Kafka"):
        list(splitter.feed(chunk))


def _receive(splitter, stream, read_size):
    """Receive a stream in the splitter's own buffer. Return the frames.

    At most ``read_size`` bytes are received at a time.
    """
    frames = []
    position = 0
    while position < len(stream):
        room = splitter.get_buffer()
        count = min(len(room), read_size, len(stream) - position)
        room[:count] = stream[position : position + count]
        frames += splitter.buffer_updated(count)
        position += count
    return frames


@pytest.mark.parametrize("read_size", [1, 3, 4096, 65536, 1 << 20])
def test_buffer_interface_returns_the_same_frames(kwire, read_size):
    """The buffer interface returns the same frames as ``feed``, for all read sizes."""
    sizes = [0, 1, 70_000, 3, 65_531, 65_532, 65_533, 200_000, 0, 5]
    bodies = [bytes([index]) * size for index, size in enumerate(sizes)]
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    fed = kwire.messages.framing.FrameSplitter().split(stream)
    received = _receive(kwire.messages.framing.FrameSplitter(), stream, read_size)
    assert [bytes(frame) for frame in received] == fed == bodies


def test_large_frame_is_not_copied(kwire):
    """A large frame is returned without a copy. Later data does not overwrite it."""
    splitter = kwire.messages.framing.FrameSplitter()
    body = bytes(range(256)) * 1024
    stream = len(body).to_bytes(4, "big") + body
    (first,) = _receive(splitter, stream, 65536)
    next_buffer = splitter.get_buffer()
    next_buffer[:4] = b"\0\0\0\0"
    assert isinstance(first, memoryview) and first.readonly
    assert first == body
    assert len(next_buffer) <= len(stream)
    assert splitter.buffer_updated(4) == [b""]
    assert first == body


def test_receive_buffer_grows_with_the_received_bytes(kwire):
    """The receive buffer has at most twice the size of the received bytes.

    A frame that declares 90 MiB does not allocate them.
    """
    splitter = kwire.messages.framing.FrameSplitter()
    stream = (90 << 20).to_bytes(4, "big") + bytes(1 << 20)
    position = 0
    while position < len(stream):
        room = splitter.get_buffer()
        assert 0 < position + len(room) <= max(65536, 2 * position)
        count = min(len(room), 60_000, len(stream) - position)
        room[:count] = stream[position : position + count]
        assert splitter.buffer_updated(count) == []
        position += count


def test_buffer_updated_rejects_more_bytes_than_the_buffer(kwire):
    """``buffer_updated`` raises an error if the count exceeds the buffer."""
    splitter = kwire.messages.framing.FrameSplitter()
    with pytest.raises(ValueError, match="length of the buffer"):
        splitter.buffer_updated(1)
    room = splitter.get_buffer()
    with pytest.raises(ValueError, match="length of the buffer"):
        splitter.buffer_updated(len(room) + 1)
    with pytest.raises(ValueError, match="length of the buffer"):
        splitter.buffer_updated(-1)
