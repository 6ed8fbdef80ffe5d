# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Relay between real clients and brokers: addresses, frames, secrets.

Clients only see the relay's address. Frames are recorded as they were sent, are
not delayed, and are only changed if necessary. No secret is written. All connections
use the loopback interface, and every wait has a timeout.
"""

import asyncio
import contextlib
import re
import socket
import time
import warnings

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import Producer

from examples.pipeline import traffic
from examples.pipeline.frames import record_batches
from kwire import messages
from kwire.client import connect
from kwire.connection.negotiation import ApiVersionTable
from kwire.connection.sasl import Plain, Scram
from kwire.messages import framing
from kwire.recording import ListenError, Recorder
from tests.harness.loopback_brokers import TIMEOUT_S, Broker, Listener
from tests.harness.one_broker import Broker as RecordBroker
from tests.recording.relays import ANY, add_size, echo, read_rows, talk

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # Importing kafka-python uses a deprecated API to read package resources.
    import kafka
MESSAGES = 300
ODD = (messages.ApiVersionsResponse.api_key, b"\0\x23")
"""The mock cluster encodes error 35 with a body of no known version."""


def decode_row(row):
    """Decode a recorded frame, and return the message.

    The mock cluster sends additional bytes, which are ignored.
    """
    if row["direction"] == "request":
        return framing.decode_request(row["frame"], compat="java")[1]
    cls = messages.by_key(row["api_key"], "response")
    read = framing.decode_response
    return read(cls, row["frame"], row["api_version"], compat="java")[1]


def encode_row(row, message):
    """Encode the message of a row again, and return the frame without its size."""
    version, number = row["api_version"], row["correlation_id"]
    if row["direction"] == "request":
        frame = framing.encode_request(message, version, number, row["client_id"])
    else:
        frame = framing.encode_response(message, version, number)
    return frame[4:]


class Run:
    """Traffic of librdkafka and aiokafka with a mock cluster, through the relay."""

    def __init__(self, out):
        """Run the clients, and read the rows that the relay has recorded."""
        with (
            traffic.mock_cluster() as broker,
            Recorder(ANY, broker, out, flush_s=0.2) as recorder,
        ):
            self.done = traffic.run_clients(recorder.address, MESSAGES)
            self.seen = asyncio.run(self.run_aiokafka(recorder.address))
            self.listeners = recorder.addresses
            self.messages = recorder.messages
        self.rows = read_rows(recorder)
        self.counts = recorder.counts

    @staticmethod
    async def run_aiokafka(address):
        producer = AIOKafkaProducer(bootstrap_servers=address, client_id="shop-aio")
        async with producer:
            for number in range(10):
                await producer.send_and_wait("aio", b"%d" % number)
            brokers = producer.client.cluster.brokers()
            # The mock cluster chooses leaders at random, so that a broker may get no
            # records. Connect to each broker.
            for broker in brokers:
                assert await producer.client.ready(broker.nodeId)
            return {(broker.host, broker.port) for broker in brokers}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Recorded traffic of one run, which all tests of this module share."""
    return Run(tmp_path_factory.mktemp("captures"))


def test_clients_see_no_address_but_the_relays(run):
    addresses = {f"{host}:{port}" for host, port in run.seen}
    assert run.done.seen_brokers | addresses == run.listeners
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
    """If a decoded frame is encoded again, the bytes are equal, except for Metadata.

    In some Metadata versions, librdkafka and its mock cluster send additional bytes,
    which Kafka does not read either.
    """
    odd = set()
    for row in run.rows:
        assert row["size"] == len(row["frame"])
        is_response = row["direction"] == "response"
        if is_response and (row["api_key"], row["frame"][4:6]) == ODD:
            continue
        if encode_row(row, decode_row(row)) != row["frame"]:
            odd.add(row["api_key"])
            again = row | {"frame": encode_row(row, decode_row(row))}
            assert decode_row(again) == decode_row(row)
    assert odd <= {messages.MetadataResponse.api_key}


def test_sent_records_are_in_the_recorded_frames(run):
    """The recorded batches contain as many records as the clients have sent."""
    count = 0
    for row in run.rows:
        if row["api_key"] == 0 and row["direction"] == "request":
            for topic in decode_row(row).topic_data:
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


def test_each_new_listener_is_reported_once(run):
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
    rows = read_rows(recorder)
    assert {row["client_id"] for row in rows} == {"shop-python"}
    assert all(encode_row(row, decode_row(row)) == row["frame"] for row in rows)
    rewritten = [decode_row(row) for row in rows if row["rewritten"]]
    assert rewritten and {
        f"{b.host}:{b.port}" for m in rewritten for b in m.brokers
    } == {address}


def test_undecodable_frames_are_forwarded_and_recorded(tmp_path):
    """Frames that the relay cannot decode are forwarded and recorded unchanged.

    Covers empty frames, truncated headers, and unknown APIs.
    """
    odd = b"".join(
        map(add_size, (b"", b"\0", b"\x7f\0\0\1\0\0\0\5\xff\xff...", b"x" * 99))
    )
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        assert talk(recorder.address, odd, len(odd)) == odd
    rows = read_rows(recorder)
    for direction in ("request", "response"):
        frames = [row["frame"] for row in rows if row["direction"] == direction]
        assert b"".join(map(add_size, frames)) == odd
    assert next(r["api_key"] for r in rows if r["frame"][:1] == b"\x7f") == 0x7F00
    assert recorder.messages == []


def test_undecodable_response_is_forwarded_and_reported_once(tmp_path):
    request = framing.encode_request(messages.MetadataRequest(), 12, 5, "me")
    answer = add_size(b"\0\0\0\5\0no metadata")

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
    last = read_rows(recorder)[-1]
    assert (last["frame"], last["rewritten"]) == (answer[4:], False)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_no_secret_reaches_the_disk(tmp_path, mechanism):
    table = ApiVersionTable.of_release("4.0")
    with (
        Broker(table, users={"shop": "sesame"}) as broker,
        Recorder(ANY, broker.address, tmp_path) as recorder,
    ):
        sasl = Plain("shop", "sesame")
        if mechanism != "PLAIN":
            sasl = Scram("shop", "sesame", mechanism)

        async def ask():
            async with connect(recorder.address, sasl=sasl) as kafka:
                return await kafka.request(messages.MetadataRequest(topics=()))

        answer = asyncio.run(ask())
        assert f"{answer.brokers[0].host}:{answer.brokers[0].port}" == recorder.address
    rows = read_rows(recorder)
    tokens = [row for row in rows if row["api_key"] == 36]
    assert len(tokens) == (2 if mechanism == "PLAIN" else 4)
    assert all(row["frame"] is None and row["size"] > 10 for row in tokens)
    assert all(row["frame"] is not None for row in rows if row["api_key"] != 36)
    stored = b"".join(row["frame"] for row in rows if row["frame"])
    assert b"sesame" not in stored and b"r=" not in stored


def test_rejecting_upstream_is_reported_and_retried(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as unused_listener:
        address = f"127.0.0.1:{unused_listener.getsockname()[1]}"
    with Recorder(ANY, address, tmp_path) as recorder:
        for _ in range(3):
            assert talk(recorder.address, b"") == b""
        (sentence,) = recorder.messages
        assert sentence.startswith(f"{address}: the broker cannot be reached (conn")
        port = int(address.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)) as upstream:
            upstream.settimeout(TIMEOUT_S)
            frame = add_size(b"\0\x12\0\0\0\0\0\1\xff\xff")
            host, _, port_text = recorder.address.rpartition(":")
            with socket.create_connection((host, int(port_text)), TIMEOUT_S) as client:
                client.sendall(frame)
                connection, _ = upstream.accept()
                with connection:
                    connection.settimeout(TIMEOUT_S)
                    assert connection.recv(100) == frame
        assert len(recorder.messages) == 1
    assert not any(path.name == "0" for path in tmp_path.iterdir())


def test_ports_of_brokers_follow_that_of_the_bootstrap(tmp_path):
    """If the next port is in use, the relay listens on the port after it."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    other_brokers = [("kafka-2.invalid", 9092), ("kafka-3.invalid", 9092)]
    node = messages.MetadataResponse.MetadataResponseBroker

    def script(connection):
        while connection.recv(1 << 16):
            nodes = [node(host=host, port=number) for host, number in other_brokers]
            answer = messages.MetadataResponse(brokers=nodes)
            connection.sendall(framing.encode_response(answer, 12, 5))

    request = framing.encode_request(messages.MetadataRequest(), 12, 5, "me")
    with (
        Listener(script) as peer,
        Recorder(f"127.0.0.1:{port}", peer.address, tmp_path) as recorder,
        socket.socket() as occupying_socket,
    ):
        # If another process already uses this port, the relay must skip it as well.
        with contextlib.suppress(OSError):
            occupying_socket.bind(("127.0.0.1", port + 1))
            occupying_socket.listen()
        answers = []
        for _ in range(2):
            head = talk(recorder.address, request, 50)
            answer = framing.decode_response(messages.MetadataResponse, head[4:], 12)[1]
            answers.append([(b.host, b.port) for b in answer.brokers])
        assert answers[0] == answers[1]
        ports = [number for _, number in answers[0]]
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


def test_used_port_is_an_error_and_leaves_no_directory(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as occupying_socket:
        address = f"127.0.0.1:{occupying_socket.getsockname()[1]}"
        with pytest.raises(ListenError, match=r"listening at .*: address alr"):
            Recorder(address, "127.0.0.1:9", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_relay_keeps_its_own_address_in_responses(tmp_path):
    """The cluster advertises the address of the relay, which must stay unchanged."""
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
    """If a relay connected to itself, one client would use up all connections.

    Covers all host names.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Recorder(f"127.0.0.1:{port}", f"localhost:{port}", tmp_path) as recorder:
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_S) as client:
            client.settimeout(TIMEOUT_S)
            client.sendall(framing.encode_request(messages.ApiVersionsRequest(), 0, 1))
            assert client.recv(1) == b""
        # The relay closes the connection to itself a moment later.
        time.sleep(0.3)
        assert recorder.counts.connections <= 1
    assert [
        m for m in recorder.messages if "the address that the relay listens on" in m
    ]
