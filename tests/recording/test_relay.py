# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The relay between real clients and brokers, and between peers that misbehave.

What they protect: clients see no address but the relay's, every frame is recorded as it
was sent, nothing is held back or changed that need not be, and no secret is written.
Loopback only, and every wait ends.
"""

import asyncio
import contextlib
import gc
import re
import resource
import socket
import sys
import threading
import time
import warnings

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer
from loopback_brokers import TIMEOUT_S, Broker, Listener
from one_broker import Broker as RecordBroker

from examples.pipeline import traffic
from examples.pipeline.frames import record_batches
from kwire import framing, messages
from kwire.negotiation import ApiVersionTable
from kwire.net import NetworkError, connect
from kwire.recording import Recorder, buffering, capture_files, read_captures
from kwire.sasl import Plain, Scram

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # Reads its own resources in an old way while it is imported.
    import kafka

ANY = "127.0.0.1:0"
MESSAGES = 300
ODD = (messages.ApiVersionsResponse.api_key, b"\0\x23")
"""The mock answers error 35 with a body of no version."""


def rows(recorder):
    """Read what was recorded."""
    return [
        row for batch in read_captures(recorder.folder) for row in batch.to_pylist()
    ]


def decoded(row):
    """Decode a recorded frame; the mock writes spare bytes, as Kafka lets it."""
    if row["direction"] == "request":
        return framing.decode_request(row["frame"], compat="java")[1]
    cls = messages.by_key(row["api_key"], "response")
    read = framing.decode_response
    return read(cls, row["frame"], row["api_version"], compat="java")[1]


def encoded(row, message):
    """Encode it again, without the size."""
    version, number = row["api_version"], row["correlation_id"]
    if row["direction"] == "request":
        frame = framing.encode_request(message, version, number, row["client_id"])
    else:
        frame = framing.encode_response(message, version, number)
    return frame[4:]


class Run:
    """librdkafka's clients and aiokafka's, through the relay, to a mock cluster."""

    def __init__(self, out):
        """Let them talk, and read what was recorded."""
        with (
            traffic.mock_cluster() as broker,
            Recorder(ANY, broker, out, flush_ms=200) as recorder,
        ):
            self.done = traffic.run_clients(recorder.address, MESSAGES)
            self.seen = asyncio.run(self.run_aiokafka(recorder.address))
            self.listeners = recorder.addresses
            self.messages = recorder.messages
        self.rows = rows(recorder)
        self.counts = recorder.counts

    @staticmethod
    async def run_aiokafka(address):
        producer = AIOKafkaProducer(bootstrap_servers=address, client_id="shop-aio")
        async with producer:
            for number in range(10):
                await producer.send_and_wait("aio", b"%d" % number)
            return {(b.host, b.port) for b in producer.client.cluster.brokers()}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the clients once for the tests here."""
    return Run(tmp_path_factory.mktemp("captures"))


def test_clients_see_no_address_but_the_relays(run):
    seen = {f"{host}:{port}" for host, port in run.seen}
    assert run.done.seen_brokers | seen == run.listeners
    assert len(run.listeners) == len({row["broker_address"] for row in run.rows}) == 3


def test_everything_is_recorded_in_order(run):
    assert (run.done.delivered, run.done.received) == (MESSAGES, MESSAGES)
    assert [row["sequence"] for row in run.rows] == list(range(run.counts.frames))
    assert sum(row["size"] for row in run.rows) == run.counts.size
    numbers = {row["connection"] for row in run.rows}
    assert numbers <= set(range(1, run.counts.connections + 1))
    times = {}
    for row in run.rows:
        of_side = times.setdefault((row["connection"], row["direction"]), [])
        of_side.append(row["timestamp"])
    assert all(of_side == sorted(of_side) for of_side in times.values())
    keys = {(row["api_key"], row["direction"]) for row in run.rows}
    for key in (0, 1, 3, 8, 9, 10, 11, 14, 22, 26):
        assert {(key, "request"), (key, "response")} <= keys
    assert {"shop-zstd", "billing-1", "shop-aio"} <= {r["client_id"] for r in run.rows}


def test_frames_are_those_that_were_sent(run):
    """Each is encoded again to the same bytes, but for Metadata: there librdkafka and
    its mock write spare bytes in some versions, which Kafka does not read either.
    """
    odd = set()
    for row in run.rows:
        assert row["size"] == len(row["frame"])
        is_response = row["direction"] == "response"
        if is_response and (row["api_key"], row["frame"][4:6]) == ODD:
            continue
        if encoded(row, decoded(row)) != row["frame"]:
            odd.add(row["api_key"])
            again = row | {"frame": encoded(row, decoded(row))}
            assert decoded(again) == decoded(row)
    assert odd <= {messages.MetadataResponse.api_key}


def test_records_that_were_sent_stand_in_the_frames(run):
    """As many records as the clients delivered, by the counts of their batches."""
    count = 0
    for row in run.rows:
        if row["api_key"] == 0 and row["direction"] == "request":
            for topic in decoded(row).topic_data:
                for part in topic.partition_data:
                    count += sum(n for _, n in record_batches(part.records))
    assert count == MESSAGES + 10


def test_only_answers_with_addresses_are_rewritten(run):
    rewritten = {
        (row["direction"], row["api_key"]) for row in run.rows if row["rewritten"]
    }
    assert rewritten == {("response", 3), ("response", 10)}
    assert all(
        row["rewritten"]
        for row in run.rows
        if (row["direction"], row["api_key"]) == ("response", 3)
    )


def test_each_new_listener_is_told_once(run):
    assert len(run.messages) == 2
    for sentence in run.messages:
        assert re.fullmatch(r"listening on 127.0.0.1:\d+ for 127.0.0.1:\d+", sentence)


def test_kafka_python_talks_through_the_relay(tmp_path):
    with RecordBroker(2) as broker, Recorder(ANY, broker.address, tmp_path) as recorder:
        address = broker.address
        producer = kafka.KafkaProducer(
            bootstrap_servers=recorder.address,
            client_id="shop-python",
            enable_idempotence=False,
        )
        for number in range(5):
            producer.send("orders", b"%d" % number).get(TIMEOUT_S)
        producer.close(TIMEOUT_S)
        assert len(broker.produced["orders"]) == 5
    found = rows(recorder)
    assert {row["client_id"] for row in found} == {"shop-python"}
    assert all(encoded(row, decoded(row)) == row["frame"] for row in found)
    told = [decoded(row) for row in found if row["rewritten"]]
    assert told and {f"{b.host}:{b.port}" for m in told for b in m.brokers} == {address}


def talk(address, data, size=0):
    """Send bytes; return the first ``size`` that come back, or all until the end."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
        client.sendall(data)
        got = b""
        while not size or len(got) < size:
            try:
                chunk = client.recv(1 << 16)
            except ConnectionError:
                break
            if not chunk:
                break
            got += chunk
        return got


def echo(connection):
    while chunk := connection.recv(1 << 16):
        connection.sendall(chunk)


def framed(data):
    return len(data).to_bytes(4, "big") + data


def test_what_is_no_message_passes_and_is_recorded(tmp_path):
    """Empty frames, headers cut short, and unknown APIs."""
    odd = b"".join(
        map(framed, (b"", b"\0", b"\x7f\0\0\1\0\0\0\5\xff\xff...", b"x" * 99))
    )
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        assert talk(recorder.address, odd, len(odd)) == odd
    found = rows(recorder)
    for direction in ("request", "response"):
        frames = [row["frame"] for row in found if row["direction"] == direction]
        assert b"".join(map(framed, frames)) == odd
    assert next(r["api_key"] for r in found if r["frame"][:1] == b"\x7f") == 0x7F00
    assert recorder.messages == []


def test_an_answer_that_kwire_cannot_read_passes_and_is_told_once(tmp_path):
    request = framing.encode_request(messages.MetadataRequest(), 12, 5, "me")
    answer = framed(b"\0\0\0\5\0no metadata")

    def script(connection):
        while connection.recv(1 << 16):
            connection.sendall(answer)

    with Listener(script) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        for _ in range(2):
            assert talk(recorder.address, request, len(answer)) == answer
    (sentence,) = recorder.messages
    expected = (
        f"{peer.address}: Metadata v12 cannot be decoded and is passed on unchanged, so"
    )
    assert sentence.startswith(expected)
    last = rows(recorder)[-1]
    assert (last["frame"], last["rewritten"]) == (answer[4:], False)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_no_secret_reaches_the_disk(tmp_path, mechanism):
    table = ApiVersionTable.of_release("4.0")
    with (
        Broker(table, users={"shop": "sesame"}) as broker,
        Recorder(ANY, broker.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        sasl = Plain("shop", "sesame")
        if mechanism != "PLAIN":
            sasl = Scram("shop", "sesame", mechanism)

        async def ask():
            async with await connect(host, int(port), sasl=sasl) as client:
                return await client.ask(messages.MetadataRequest(topics=()))

        answer = asyncio.run(ask())
        assert f"{answer.brokers[0].host}:{answer.brokers[0].port}" == recorder.address
    found = rows(recorder)
    tokens = [row for row in found if row["api_key"] == 36]
    assert len(tokens) == (2 if mechanism == "PLAIN" else 4)
    assert all(row["frame"] is None and row["size"] > 10 for row in tokens)
    assert all(row["frame"] is not None for row in found if row["api_key"] != 36)
    stored = b"".join(row["frame"] for row in found if row["frame"])
    assert b"sesame" not in stored and b"r=" not in stored


def test_an_upstream_that_refuses_is_told_and_tried_again(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    with Recorder(ANY, address, tmp_path) as recorder:
        for _ in range(3):
            assert talk(recorder.address, b"") == b""
        (sentence,) = recorder.messages
        assert sentence.startswith(f"{address}: the broker cannot be reached (conn")
        port = int(address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)) as back:
            back.settimeout(TIMEOUT_S)
            frame = framed(b"\0\x12\0\0\0\0\0\1\xff\xff")
            host, _, here = recorder.address.rpartition(":")
            with socket.create_connection((host, int(here)), TIMEOUT_S) as client:
                client.sendall(frame)
                connection, _ = back.accept()
                with connection:
                    connection.settimeout(TIMEOUT_S)
                    assert connection.recv(100) == frame
        assert len(recorder.messages) == 1
    assert not any(path.name == "0" for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3", "127.0.0.1: it speaks TLS, which cannot"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "127.0.0.1: it speaks HTTP, not Kafka's"),
        (b"\x12\0\0\0x", "127.0.0.1: a frame of 301989888 bytes is over the limit"),
        (b"\xff\xff\xff\xfe", "127.0.0.1: a frame cannot have -2 bytes"),
    ],
    ids=["TLS", "HTTP", "huge", "negative"],
)
def test_what_is_no_frame_ends_the_connection_and_is_told(tmp_path, data, sentence):
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        assert talk(recorder.address, data) == b""
        assert talk(recorder.address, framed(b"ok"), 6) == framed(b"ok")
    assert [text[: len(sentence)] for text in recorder.messages] == [sentence]
    assert ("--max-frame" in recorder.messages[0]) == ("limit" in sentence)


def test_a_peer_that_closes_its_half_still_hears_the_rest(tmp_path):
    def answer_at_the_end(connection):
        got = b""
        while chunk := connection.recv(1 << 16):
            got += chunk
        connection.sendall(framed(got))

    with (
        Listener(answer_at_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.sendall(framed(b"first") + framed(b"second"))
            client.shutdown(socket.SHUT_WR)
            got = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert got == framed(framed(b"first") + framed(b"second"))


def test_a_slow_reader_slows_the_sender_and_loses_nothing(tmp_path):
    """What waits in the relay stays bounded; all of it arrives in the end."""
    frame, count = framed(bytes(1 << 20)), 40
    read = bytearray()

    def slowly(connection):
        time.sleep(0.5)
        while chunk := connection.recv(1 << 20):
            read.extend(chunk)

    with Listener(slowly) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.settimeout(0.2)
            sent = 0
            with pytest.raises(TimeoutError):
                while sent < count:
                    client.sendall(frame)
                    sent += 1
            assert recorder.counts.frames < count - 10
            client.settimeout(TIMEOUT_S)
            deadline = time.monotonic() + TIMEOUT_S
            while recorder.counts.frames < sent and time.monotonic() < deadline:
                time.sleep(0.01)
        while len(read) < sent * len(frame) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(read) >= sent * len(frame)


def test_a_client_that_vanishes_leaves_the_others_alone(tmp_path):
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        for _ in range(5):
            client = socket.create_connection((host, int(port)), TIMEOUT_S)
            client.sendall(framed(bytes(10)) + b"\0\0\0\x63half of a frame")
            # A reset, not an end in good order.
            client.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0" + bytes(4)
            )
            client.close()
        assert talk(recorder.address, framed(b"ok"), 6) == framed(b"ok")
    assert recorder.messages == []


def wait_until(holds):
    """Wait for what happens in the relay's thread."""
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_ended(client):
    """Whether the relay has closed a connection; an open one gives nothing."""
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_connections_are_limited(tmp_path):
    """Those above are refused, and reported once; when one ends, another comes in."""

    def script(connection):
        echo(connection)
        connection.close()

    with (
        Listener(script) as peer,
        Recorder(ANY, peer.address, tmp_path, max_connections=3) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")

        def come():
            place = host, int(port)
            return stack.enter_context(socket.create_connection(place, TIMEOUT_S))

        first, *others = [come() for _ in range(3)]
        wait_until(lambda: recorder.counts.connections == 3)
        for _ in range(3):
            assert talk(recorder.address, framed(b"more")) == b""
        assert not any(map(is_ended, (first, *others)))
        first.close()
        wait_until(lambda: talk(recorder.address, framed(b"ok"), 6) == framed(b"ok"))
    (sentence,) = recorder.messages
    assert sentence.startswith("3 connections are open and further ones are closed")


def test_what_many_clients_half_send_is_limited_together(tmp_path):
    """Each may announce a large frame; the sum of what they have sent is bounded."""
    megabyte = 1 << 20
    with (
        Listener(echo) as peer,
        Recorder(ANY, peer.address, tmp_path, max_held=8 * megabyte) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")
        clients = []
        for number in range(24):
            client = socket.create_connection((host, int(port)), TIMEOUT_S)
            clients.append(stack.enter_context(client))
            client.sendall((100 * megabyte).to_bytes(4, "big") + bytes(megabyte))
            least = min(number, 6) * megabyte
            wait_until(lambda least=least: recorder._relay._held_by_all > least)
            assert recorder._relay._held_by_all <= 8 * megabyte
        wait_until(lambda: sum(map(is_ended, clients)) >= 16)
        # A client that sends whole frames goes on; what it holds is little.
        for size in (1, 100_000):
            data = framed(bytes(size))
            assert talk(recorder.address, data, len(data)) == data
    (sentence,) = recorder.messages
    assert "more than 8,388,608 bytes" in sentence and "--max-held" in sentence
    assert recorder._relay._held_by_all == 0


def test_what_slow_readers_leave_unread_is_limited_together(tmp_path):
    """Answers wait in the relay for clients that do not read them."""
    answer = framed(bytes(4 << 20))

    def script(connection):
        while connection.recv(1 << 16):
            connection.sendall(answer)

    with (
        Listener(script) as peer,
        Recorder(ANY, peer.address, tmp_path, max_held=10 << 20) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")
        for _ in range(12):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            stack.enter_context(client).sendall(framed(b"\0\x03\0\x0c\0\0\0\1"))
            assert recorder._relay._held_by_all <= 10 << 20
        wait_until(lambda: len(recorder.messages) == 1)
        assert recorder._relay._held_by_all <= 10 << 20
    assert "--max-held" in recorder.messages[0]


def test_ports_of_brokers_follow_that_of_the_bootstrap(tmp_path):
    """The one above is taken here, so the next free one is."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    others = [("kafka-2.invalid", 9092), ("kafka-3.invalid", 9092)]
    node = messages.MetadataResponse.MetadataResponseBroker

    def script(connection):
        while connection.recv(1 << 16):
            nodes = [node(host=host, port=number) for host, number in others]
            answer = messages.MetadataResponse(brokers=nodes)
            connection.sendall(framing.encode_response(answer, 12, 5))

    request = framing.encode_request(messages.MetadataRequest(), 12, 5, "me")
    with (
        Listener(script) as peer,
        Recorder(f"127.0.0.1:{port}", peer.address, tmp_path) as recorder,
        socket.socket() as taken,
    ):
        # Another process may have it, which serves as well.
        with contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", port + 1))
            taken.listen()
        told = []
        for _ in range(2):
            head = talk(recorder.address, request, 50)
            answer = framing.decode_response(messages.MetadataResponse, head[4:], 12)[1]
            told.append([(b.host, b.port) for b in answer.brokers])
        assert told[0] == told[1]
        ports = [number for _, number in told[0]]
        assert (
            ports == sorted(set(ports)) and port + 1 < ports[0] < ports[1] < port + 50
        )
        assert {f"127.0.0.1:{p}" for p in (port, *ports)} == recorder.addresses


def test_the_wildcard_shows_each_client_the_address_it_came_by(tmp_path):
    with (
        RecordBroker(2) as broker,
        Recorder("0.0.0.0:0", broker.address, tmp_path) as recorder,
    ):
        port = recorder.address.rpartition(":")[2]
        producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}"})
        nodes = producer.list_topics(timeout=TIMEOUT_S).brokers.values()
        assert [(node.host, node.port) for node in nodes] == [("127.0.0.1", int(port))]


def test_a_port_that_is_taken_is_an_error_and_leaves_no_folder(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(NetworkError, match="cannot listen there: address alr"):
            Recorder(address, "127.0.0.1:9", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_relay_told_to_relay_to_itself_does_not_go_round(tmp_path):
    """A cluster that advertises the relay already is left as it is."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    node = messages.MetadataResponse.MetadataResponseBroker(host="127.0.0.1", port=port)
    frame = framing.encode_response(messages.MetadataResponse(brokers=[node]), 12, 5)

    def script(connection):
        while connection.recv(1 << 16):
            connection.sendall(frame)

    request = framing.encode_request(messages.MetadataRequest(), 12, 5, "me")
    with (
        Listener(script) as peer,
        Recorder(f"127.0.0.1:{port}", peer.address, tmp_path) as recorder,
    ):
        assert talk(recorder.address, request, len(frame)) == frame
        assert recorder.addresses == {f"127.0.0.1:{port}"}


def test_a_relay_does_not_call_itself(tmp_path):
    """By whatever name it is called: one client would use up all connections."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Recorder(f"127.0.0.1:{port}", f"localhost:{port}", tmp_path) as recorder:
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as client:
            client.settimeout(TIMEOUT_S)
            client.sendall(framing.encode_request(messages.ApiVersionsRequest(), 0, 1))
            assert client.recv(1) == b""
        # What it accepted of itself is gone after a moment.
        time.sleep(0.3)
        assert recorder.counts.connections <= 1
    assert [
        m for m in recorder.messages if "the address that the relay listens on" in m
    ]


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_frames_of_all_sizes_pass_on_both_loops(tmp_path, monkeypatch, kind):
    """In order, both ways, with the end of one half after the last frame."""
    if kind == "uvloop":
        uvloop = pytest.importorskip("uvloop")
        monkeypatch.setattr(asyncio, "new_event_loop", uvloop.new_event_loop)
    sizes = [0, 1, 65_532, 5 << 20, 65_533, *[7] * 2000, 1 << 20, 3]
    sent = b"".join(framed(bytes((n % 251,)) * size) for n, size in enumerate(sizes))

    def answer_at_the_end(connection):
        for chunk in iter(lambda: connection.recv(1 << 20), b""):
            connection.sendall(chunk)
        connection.sendall(framed(b"the end"))

    with (
        Listener(answer_at_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            got = bytearray()
            reader = threading.Thread(
                target=lambda: got.extend(
                    b"".join(iter(lambda: client.recv(1 << 20), b""))
                )
            )
            reader.start()
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            reader.join(TIMEOUT_S)
            assert recorder._loop.__class__.__module__.startswith(kind)
    assert got == sent + framed(b"the end")
    found = rows(recorder)
    for direction in ("request", "response"):
        frames = [framed(r["frame"]) for r in found if r["direction"] == direction]
        assert b"".join(frames).startswith(sent)
    assert recorder.messages == []


def test_a_large_frame_stays_in_the_memory_that_it_arrived_in(tmp_path):
    """The socket writes into it; it is recorded and passed on without a copy."""
    taken = []
    add = buffering.CaptureBuffer.add

    def look(self, *row):
        taken.append(row[-2])
        add(self, *row)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffering.CaptureBuffer, "add", look)
        with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
            data = framed(bytes(1 << 20))
            assert talk(recorder.address, data, len(data)) == data
    assert [type(frame) for frame in taken] == [memoryview, memoryview]
    # With its size, and nothing else.
    assert [memoryview(frame.obj).nbytes for frame in taken] == [len(data)] * 2


def test_nothing_is_read_until_the_disk_has_kept_up(tmp_path, monkeypatch):
    """What waits for it is bounded; all goes on once it has caught up."""
    write = capture_files.CaptureWriter.write
    may_write = threading.Event()

    def wait_and_write(self, rows):
        assert may_write.wait(TIMEOUT_S)
        return write(self, rows)

    monkeypatch.setattr(buffering, "FLUSH_BYTES", 1 << 20)
    monkeypatch.setattr(capture_files.CaptureWriter, "write", wait_and_write)
    frame, count = framed(bytes(100_000)), 100
    read = []

    def swallow(connection):
        for chunk in iter(lambda: connection.recv(1 << 20), b""):
            read.append(len(chunk))

    with Listener(swallow) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            sender = threading.Thread(target=client.sendall, args=(frame * count,))
            sender.start()
            wait_until(lambda: recorder.counts.size >= 1 << 20)
            before = -1
            while before != recorder.counts.size:
                before = recorder.counts.size
                time.sleep(0.2)
            # What is being written, and as much again.
            assert before <= 3 << 20
            may_write.set()
            wait_until(lambda: sum(read) == len(frame) * count)
            sender.join(TIMEOUT_S)
    assert recorder.counts.frames == count


def test_a_client_may_send_and_end_before_its_broker_is_connected(
    tmp_path, monkeypatch
):
    """It is passed on once there is a connection."""
    connect = asyncio.base_events.BaseEventLoop.create_connection

    async def connect_late(self, *place, **options):
        await asyncio.sleep(0.3)
        return await connect(self, *place, **options)

    monkeypatch.setattr(
        asyncio.base_events.BaseEventLoop, "create_connection", connect_late
    )
    sent = framed(bytes(200_000)) + framed(b"second")
    with (
        Listener(echo_to_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            got = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert got == sent


def echo_to_the_end(connection):
    got = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    connection.sendall(got)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_an_ended_connection_is_free_at_once(tmp_path):
    """Without the collector of cycles, which counts objects and not their bytes."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    megabyte = 1 << 20
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        gc.collect()
        gc.disable()
        try:
            before = resident()
            for number in range(1, 9):
                with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
                    announced = 100 * megabyte
                    client.sendall(announced.to_bytes(4, "big"))
                    for _ in range(20):
                        client.sendall(bytes(megabyte))
                    wait_until(lambda: recorder._relay._held_by_all >= 20 * megabyte)
                wait_until(lambda: not recorder._relay._open)
                assert recorder.counts.connections == number
            grown = resident() - before
        finally:
            gc.enable()
    assert grown < 60 * megabyte
