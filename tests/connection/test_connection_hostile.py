# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any bytes on a connection result in events or a documented error.

Streams between kwire's client and server are recorded, and then split, changed and
mixed. ``safety/test_promises.py`` covers single messages with invalid bytes, while this
module covers the connection.
"""

import itertools
import random
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.hostile import STRIDE, some
from tests.harness.processor_time import growth

OFFERED = {0: (0, 8), 1: (0, 11), 3: (0, 9), 12: (0, 4), 17: (0, 0), 18: (0, 4)}


def table(kwire):
    """Return the version table of the client and the server."""
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(
        OFFERED, supported_features={"bird": "1-3"}
    )


def requests(kwire):
    """Return the requests that a recording contains, as (request, version) pairs."""
    messages = kwire.messages
    topic = messages.MetadataRequest.MetadataRequestTopic(name="topic")
    return [
        (messages.MetadataRequest(topics=[topic]), 9),
        (messages.MetadataRequest(topics=None), 1),
        (messages.ProduceRequest(acks=0, timeout_ms=1, topic_data=[]), 8),
        (messages.HeartbeatRequest(group_id="g", member_id="m"), 4),
        (messages.FetchRequest(), 11),
        (messages.HeartbeatRequest(group_id="g"), 0),
    ]


def response_to(kwire, event):
    """Return a response to a request, with fields of many types."""
    cls = kwire.messages.by_key(type(event.request).api_key, "response")
    if cls is kwire.messages.MetadataResponse:
        broker = cls.MetadataResponseBroker(node_id=1, host="h", port=9092)
        part = cls.MetadataResponsePartition(replica_nodes=[1, 2], isr_nodes=[1])
        topic = cls.MetadataResponseTopic(name="topic", partitions=[part])
        return cls(brokers=[broker], controller_id=1, topics=[topic])
    if cls is kwire.messages.FetchResponse:
        part = cls.PartitionData(partition_index=0, records=b"records")
        return cls(responses=[cls.FetchableTopicResponse(topic="t", partitions=[part])])
    return cls()


class Asking:
    """Client that waits for the response to its ApiVersions request."""

    def __init__(self, kwire, **options):
        """Create the connection."""
        self.connection = kwire.connection.ClientConnection("kw", **options)

    def receive(self, chunk):
        """Pass bytes to the connection, and yield the events."""
        return self.connection.receive_data(chunk)


class Waiting(Asking):
    """Client that has sent all ``requests`` and waits for their responses."""

    def __init__(self, kwire, **options):
        """Create the connection and send the requests."""
        super().__init__(kwire, table=table(kwire), **options)
        for request, version in requests(kwire):
            self.connection.send(request, version)


class Signing(Asking):
    """Client that has sent SaslHandshake 0 and waits for the response."""

    def __init__(self, kwire, **options):
        """Create the connection and send the handshake."""
        super().__init__(kwire, table=table(kwire), **options)
        self.connection.start_sasl("PLAIN")


class Serving:
    """Server that sends an empty response to a request that it does not support.

    It responds to all other requests immediately.
    """

    mode = "empty"

    def __init__(self, kwire, **options):
        """Create the connection."""
        self.kwire = kwire
        self.connection = kwire.connection.ServerConnection(
            table(kwire), on_unsupported=self.mode, **options
        )

    def receive(self, chunk):
        """Pass bytes to the connection, respond, and yield the events."""
        connection = self.connection
        for event in connection.receive_data(chunk):
            is_request = isinstance(event, self.kwire.connection.RequestReceived)
            if is_request and event.expects_response and connection.is_open:
                connection.send(event, response_to(self.kwire, event))
            yield event


class Closing(Serving):
    """Server that closes the connection when it does not support a request."""

    mode = "close"


def record(kwire):
    """Return {side: bytes that it receives from its peer} for the five classes."""
    handshake = (
        "00000000 0023 00000001 0012 0000 0004",
        "00000001 0000 03 0001 0000 000b 00 0012 0000 0004 00 00000000 02"
        " 00 0b 02 0562697264 0001 0003 00 01 08 0000000000000009",
    )
    frames = [bytes.fromhex(frame_hex) for frame_hex in handshake]
    asking = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)

    client, server = Waiting(kwire), Serving(kwire)
    question = kwire.connection.ClientConnection("kw").data_to_send()
    unknown = bytes.fromhex("0000000b 0007 0011 00000009 ffff ff")
    sent = client.connection.data_to_send()
    list(server.receive(sent))
    responses = server.connection.data_to_send()
    agreed = kwire.messages.SaslHandshakeResponse(mechanisms=["PLAIN"])
    tokens = kwire.messages.framing.encode_response(agreed, 0, 0)
    tokens += b"\0\0\0\5token\0\0\0\0\0\0\0\1!"
    serving = question + sent + unknown + sent[:60]
    return {
        Asking: asking,
        Waiting: responses,
        Signing: tokens,
        Serving: serving,
        Closing: serving,
    }


SIDES = (Asking, Waiting, Signing, Serving, Closing)


@pytest.fixture(scope="module")
def streams(kwire):
    """Bytes that each side receives, recorded with the tested engine."""
    return record(kwire)


def split_stream(stream, *positions):
    """Split a stream into chunks at the positions."""
    edges = [0, *sorted(positions), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


def collect_events(side, chunks):
    """Pass chunks to a side. Return its events, and the error if there is one."""
    events = []
    try:
        for chunk in chunks:
            if chunk:
                for event in side.receive(chunk):
                    events.append(event)
    except Exception as error:
        events.append(error)
    return events


def check_end(kwire, side, events):
    """Check the state of a side after all chunks.

    Without an error, the connection is open. An error must be typed, and all later
    calls must report it.
    """
    connection = side.connection
    if not events or not isinstance(events[-1], Exception):
        assert connection.is_open and connection.failure is None
        return
    error = events[-1]
    assert isinstance(error, kwire.KwireError), repr(error)
    assert not isinstance(error, kwire.LocalProtocolError)
    assert connection.failure is error
    assert not connection.is_open
    with pytest.raises(kwire.LocalProtocolError) as caught:
        connection.receive_data(b"\0")
    assert str(error) in str(caught.value)


def comparable(events):
    """Convert events and an error to texts, which do not depend on the engine."""
    return [
        f"{type(event).__name__}: {event}"
        if isinstance(event, Exception)
        else f"{type(event).__name__}{tuple(event)}"
        for event in events
    ]


@pytest.mark.parametrize("side", SIDES)
def test_the_recorded_streams_are_good(kwire, streams, side):
    """The recorded streams cause no error.

    Otherwise, the tests below would only change invalid streams.
    """
    peer = side(kwire)
    events = collect_events(peer, [streams[side]])
    assert not any(isinstance(event, Exception) for event in events)
    names = [type(event).__name__ for event in events]
    expected = {
        Asking: ["Negotiated"],
        Waiting: ["ResponseReceived"] * 5,
        Signing: ["SaslStarted"] + ["SaslToken"] * 3,
        Serving: [
            "ApiVersionsAnswered",
            *["RequestReceived"] * 6,
            "UnsupportedReceived",
            *["RequestReceived"] * 2,
        ],
        Closing: [
            "ApiVersionsAnswered",
            *["RequestReceived"] * 6,
            "UnsupportedReceived",
        ],
    }
    assert names == expected[side]


@pytest.mark.parametrize("side", SIDES)
def test_events_do_not_depend_on_the_chunks(kwire, streams, side):
    """Splitting the stream into chunks changes neither the events nor sent bytes.

    Covers all positions, pairs of positions, and single bytes.
    """
    stream = streams[side]
    whole = side(kwire)
    expected = comparable(collect_events(whole, [stream]))
    sent = whole.connection.data_to_send()
    ways = [[position] for position in range(len(stream) + 1)]
    ways += [range(1, len(stream)), range(0, len(stream), 3)]
    dice = random.Random(1)
    ways += [dice.sample(range(len(stream)), 2 + way % 5) for way in range(60)]
    for positions in ways:
        peer = side(kwire)
        assert (
            comparable(collect_events(peer, split_stream(stream, *positions)))
            == expected
        )
        assert peer.connection.data_to_send() == sent


@pytest.mark.parametrize("side", SIDES)
def test_disconnect_after_any_prefix_is_an_event(kwire, streams, side):
    """If a peer disconnects at any byte, the result is an event without an error."""
    stream = streams[side]
    for size in range(len(stream) + 1):
        peer = side(kwire)
        collect_events(peer, [stream[:size]])
        (event,) = peer.receive(b"")
        assert isinstance(event, kwire.connection.ConnectionClosed)
        assert not peer.connection.is_open
        with pytest.raises(kwire.LocalProtocolError, match="closed the connection"):
            peer.connection.receive_data(b"\0")


def values_for(side, old):
    """Return the values with which a test replaces a byte.

    For a short stream, these are all other values.
    """
    if side in (Asking, Signing):
        return [value for value in range(256) if value != old]
    flipped = {old ^ (1 << bit) for bit in range(8)}
    return sorted((flipped | {0, 1, 0x7F, 0x80, 0xFF, (old + 1) % 256}) - {old})


@pytest.mark.parametrize("side", SIDES)
def test_both_engines_agree_on_any_changed_byte(twins, side):
    """Both engines return the same events and the same error."""
    stream = record(twins.fast)[side]
    assert stream == record(twins.pure)[side]
    ended = 0
    changes = (
        (position, new)
        for position, old in enumerate(stream)
        for new in values_for(side, old)
    )
    for position, new in some(changes):
        changed = stream[:position] + bytes((new,)) + stream[position + 1 :]
        results = []
        for kwire in twins:
            peer = side(kwire)
            events = collect_events(peer, [changed])
            check_end(kwire, peer, events)
            results.append((comparable(events), peer.connection.data_to_send()))
        assert results[0] == results[1], (position, new)
        ended += not peer.connection.is_open
    assert ended > len(stream) // STRIDE


@pytest.mark.parametrize("side", SIDES)
def test_damage_shows_wherever_the_stream_is_cut(kwire, streams, side):
    """If a stream is damaged, the result is the same in all chunk sizes."""
    dice = random.Random(side.__name__)
    for _ in range(150):
        stream = bytearray(streams[side])
        for _ in range(dice.randint(1, 3)):
            position = dice.randrange(len(stream))
            action = dice.randrange(4)
            if action == 0:
                stream[position] = dice.randrange(256)
            elif action == 1:
                del stream[position : position + dice.randint(1, 9)]
            elif action == 2:
                stream[position:position] = dice.randbytes(dice.randint(1, 9))
            else:
                stream[position:] += stream[: dice.randrange(len(stream))]
        data = bytes(stream)
        peer = side(kwire)
        events = collect_events(peer, [data])
        check_end(kwire, peer, events)
        positions = dice.sample(range(len(data) + 1), min(4, len(data)))
        other = side(kwire)
        assert comparable(
            collect_events(other, split_stream(data, *positions))
        ) == comparable(events)
        if peer.connection.is_open:
            sent = peer.connection.data_to_send()
            assert other.connection.data_to_send() == sent


PIECES = st.one_of(
    st.binary(max_size=40),
    st.binary(max_size=40).map(lambda data: len(data).to_bytes(4, "big") + data),
    st.builds(
        lambda start, data: (len(data) + 8).to_bytes(4, "big") + start + data,
        st.tuples(
            st.sampled_from([0, 1, 3, 12, 17, 18, 36, 200]),
            st.integers(0, 12),
            st.integers(0, 9),
        ).map(
            lambda parts: b"".join(
                part.to_bytes(size, "big")
                for part, size in zip(parts, (2, 2, 4), strict=True)
            )
        ),
        st.binary(max_size=30),
    ),
    st.builds(
        lambda number, data: (
            (len(data) + 4).to_bytes(4, "big") + number.to_bytes(4, "big") + data
        ),
        st.integers(0, 6),
        st.binary(max_size=30),
    ),
)


@given(st.sampled_from(SIDES), st.lists(PIECES, max_size=6))
def test_any_bytes_are_events_or_a_typed_error(twins, side, pieces):
    """Both engines have the same result for frames, incomplete frames and noise."""
    results = []
    for kwire in twins:
        peer = side(kwire)
        events = collect_events(peer, pieces)
        check_end(kwire, peer, events)
        results.append((comparable(events), peer.connection.data_to_send()))
        whole = side(kwire)
        assert comparable(collect_events(whole, [b"".join(pieces)])) == results[-1][0]
    assert results[0] == results[1]


def peak_of(work):
    """Run a function. Return the peak of its Python allocations in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


LIES = (
    # Frame just below the limit of 100 MiB, with only a few bytes.
    "063fffff 00000000 0000",
    # Counts and lengths of 2 billion in small frames.
    "0000000a 00000000 0000 7fffffff",
    "00000010 00000000 00 00000000 ffffffff07 0000",
    "00000012 00000000 00000000 0000 0000 7fffffff 0000",
    "0000000f 0001 000b 00000000 7fff 6b77 000000",
    "00000014 0003 0001 00000000 0002 6b77 7fffffff 00000000",
    "00000016 0003 0009 00000000 0002 6b77 00 ffffffff07 000000",
    "00000016 0012 0003 00000000 0002 6b77 00 ffffffff07 000000",
    # Sizes above the limit.
    "7fffffff 00000000",
    "06400001 00000000",
)


@pytest.mark.parametrize("side", SIDES)
def test_an_announced_size_costs_no_memory(kwire, side):
    """The allocated memory depends on the received bytes, not on the announced size."""
    for lie in LIES:
        data = bytes.fromhex(lie)
        collect_events(side(kwire), [data])  # Create cached objects first.
        peer = side(kwire)
        assert (
            peak_of(lambda peer=peer, data=data: collect_events(peer, [data])) < 50_000
        ), lie
        peer = side(kwire)
        chunks = split_stream(data, *range(1, len(data)))
        assert (
            peak_of(lambda peer=peer, chunks=chunks: collect_events(peer, chunks))
            < 50_000
        ), lie


def test_closing_server_stores_no_later_requests(kwire):
    """A client may continue to send while an earlier request is pending."""
    server = kwire.connection.ServerConnection(table(kwire))
    metadata = kwire.messages.MetadataRequest()
    encode = kwire.messages.framing.encode_request
    list(server.receive_data(encode(metadata, 8, 1, "kw")))
    list(server.receive_data(bytes.fromhex("0000000a 0007 0011 00000009 ffff")))
    assert not server.wants_close and server.is_open
    more = encode(metadata, 8, 2, "kw") * 1000

    def send_more():
        for _ in range(20):
            assert list(server.receive_data(more)) == []

    assert peak_of(send_more) < len(more)


def test_unknown_api_keys_are_not_stored(kwire):
    """The table must not grow, because all server connections share it."""
    served = table(kwire)

    def ask_for(keys):
        for key in keys:
            server = kwire.connection.ServerConnection(served)
            start = key.to_bytes(2, "big") + b"\0\0\0\0\0\1\xff\xff"
            list(server.receive_data(b"\0\0\0\x0a" + start))

    ask_for(range(100, 200))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    ask_for(range(1000, 4000))
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20_000


def make_reading(kwire, chunk, frames):
    """Return a function that decodes many small responses in chunks."""
    request = kwire.messages.HeartbeatRequest()
    response = kwire.messages.HeartbeatResponse()
    encode = kwire.messages.framing.encode_response
    stream = b"".join(encode(response, 0, number) for number in range(frames))
    chunks = split_stream(stream, *range(chunk, len(stream), chunk))

    def read():
        client = kwire.connection.ClientConnection(table=table(kwire))
        for _ in range(frames):
            client.send(request, 0)
        client.data_to_send()
        assert sum(len(list(client.receive_data(chunk))) for chunk in chunks) == frames

    return read


@pytest.mark.parametrize("chunk", [7, 5000, 10**9])
def test_time_grows_with_the_bytes_alone(kwire, chunk):
    """Eight times as many frames take eight times as long, not 64 times."""
    assert growth(partial(make_reading, kwire, chunk), 1000, 8000, most=24) < 24


def test_a_large_frame_in_small_chunks_takes_linear_time(kwire):
    """Ten times the bytes in ten times as many chunks take about ten times as long."""

    def make_reading(size):
        data = size.to_bytes(4, "big") + bytes(size - 1)

        def read():
            client = kwire.connection.ClientConnection(table=table(kwire))
            for position in range(0, len(data), 100):
                list(client.receive_data(data[position : position + 100]))

        return read

    assert growth(make_reading, 100_000, 1_000_000, most=40) < 40
