# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Arbitrary bytes from a client close its connection, and have no other effect."""

import gc
import itertools
import os
import random
import socket

import pytest

from fuzz import seeds
from kwire import decode, messages, testing
from kwire.connection.sasl import Scram
from kwire.messages import framing
from kwire.schema import error_codes
from kwire.testing.machine import ClusterMachine
from kwire.testing.options import make_state
from kwire.testing.rules import check_api
from kwire.testing.sasl_server import start_exchange
from kwire.testing.state.timers import Timer
from tests.harness import golden
from tests.harness.hostile import share
from tests.testing.log_requests import fetch, make_batch, produce
from tests.testing.machine_client import MachineClient, make_machine
from tests.testing.test_host import TIMEOUT_S, request_metadata, split_addresses

FIXED = [
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff" + b"x" * 100,
    b"\0\0\0\1x",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    bytes.fromhex("16030100a5010000a10303") + b"x" * 160,
    b"\0\0\0\x0a\x7f\xff\0\0\0\0\0\7\xff\xff",
]


def served_frames():
    """Yield requests of all served APIs as frames, from the golden vectors."""
    for (name, version), vectors in golden.by_pair().items():
        if name.removesuffix("Request") not in testing.SERVED:
            continue
        cls = getattr(messages, name)
        for vector in vectors:
            message = decode(cls, vector.data, version)
            yield framing.encode_request(message, version, 7, "golden")


def send(machine, data, sizes=(1 << 20,)):
    """Send bytes on a new connection in pieces, and close it."""
    connection = machine.connect(1)
    position = 0
    for size in itertools.cycle(sizes):
        if position >= len(data) or connection.is_closed:
            break
        connection.receive(data[position : position + size])
        connection.data_to_send()
        position += size
    machine.advance(machine.state.clock.now_s + 1)
    connection.data_to_send()
    connection.abort()
    machine.take_ready()


def check_works(machine):
    """Check that another client still has the usual service."""
    response = MachineClient(machine).request(messages.MetadataRequest(topics=None))
    assert {broker.node_id for broker in response.brokers} == {1, 2, 3}
    assert machine.next_due_s >= machine.state.clock.now_s


@pytest.fixture
def machine():
    return make_machine(brokers=3, topics={"topic": 2, "orders": 1})


def test_golden_requests_of_all_served_apis_are_answered(machine):
    count = 0
    for frame in served_frames():
        send(machine, frame)
        count += 1
    assert count > 1000
    check_works(machine)


def test_changed_requests_have_no_other_effect(machine):
    dice = random.Random(30)
    frames = list(served_frames())
    for _ in range(share(20)):
        frame = bytearray(dice.choice(frames))
        for _ in range(dice.randrange(1, 4)):
            # The size and the API key remain, so that more requests are decoded.
            frame[dice.randrange(6, len(frame))] = dice.choice(
                (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, dice.randrange(256))
            )
        send(machine, bytes(frame))
    check_works(machine)


def test_truncated_and_joined_requests_have_no_other_effect(machine):
    dice = random.Random(31)
    frames = list(served_frames())
    for _ in range(share(5)):
        pieces = [dice.choice(frames) for _ in range(dice.randrange(1, 4))]
        data = b"".join(pieces)
        send(machine, data[: dice.randrange(len(data))], (dice.randrange(1, 50),))
    check_works(machine)


def test_seeds_of_the_fuzzer_have_no_other_effect(machine):
    count = 0
    for data in seeds.fuzz_connection():
        send(machine, data[3:])
        send(machine, data)
        count += 1
    for data in FIXED:
        send(machine, data)
    assert count > 100
    check_works(machine)


def test_random_bytes_on_sockets_close_only_their_connection():
    dice = random.Random(32)
    with testing.cluster(topics={"orders": 1}) as kafka:
        (address,) = split_addresses(kafka)
        for data in [
            *FIXED,
            *(dice.randbytes(dice.randrange(1, 500)) for _ in "x" * 50),
        ]:
            with socket.create_connection(address, TIMEOUT_S) as peer:
                try:
                    peer.sendall(data)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(1 << 16):
                        pass
                except ConnectionError:
                    pass
        assert request_metadata(address)
        assert kafka.records("orders") == {0: []}


def test_unfinished_frames_reserve_no_memory_for_their_size(machine):
    connections = [machine.connect(1) for _ in range(100)]
    for connection in connections:
        connection.receive(b"\x06\x3f\xff\xff" + os.urandom(10))
        assert len(connection.data_to_send()) == 0
    check_works(machine)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"])
def test_malformed_sasl_tokens_are_rejected(mechanism):
    tokens = (b"", b"n", b"n,", b"n,,", b"n,,n=bob", b"y,,n=alice,r=1", b"\xff\0\xff\0")
    for token in tokens:
        exchange = start_exchange(mechanism, {"alice": "secret"})
        replies = exchange.respond(token), exchange.respond(token)
        assert replies[-1] is exchange.user is None, token


@pytest.mark.parametrize("nonce", [None, b"other"])
def test_scram_message_must_repeat_the_nonce_of_the_exchange(nonce):
    scram = Scram("alice", "secret", "SCRAM-SHA-256")
    exchange = start_exchange("SCRAM-SHA-256", {"alice": "secret"})
    response = scram.challenge(exchange.respond(scram.first()))
    # The proof of the client stays valid, so that only the nonces differ.
    exchange._nonce = nonce or exchange._nonce
    is_valid = exchange.respond(response) is not None
    assert is_valid is (exchange.user == "alice") is (nonce is None)


def test_authenticated_client_cannot_authenticate_again():
    machine = ClusterMachine(make_state(1, {}, "4.4", 1, True), {"alice": "secret"})
    connection = machine.connect(1)

    def request_code(message):
        connection.receive(framing.encode_request(message, 1, 7, "test"))
        # The error code follows the size and the correlation id.
        return int.from_bytes(connection.data_to_send()[8:10], "big")

    handshake = messages.SaslHandshakeRequest(mechanism="PLAIN")
    token = messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")
    assert [request_code(handshake), request_code(token)] == [0, 0]
    code = error_codes.ILLEGAL_SASL_STATE
    assert [request_code(handshake), request_code(token)] == [code, code]
    assert not connection.is_closed


def test_answered_fetches_with_a_long_wait_leave_no_timers(machine):
    client, producer = MachineClient(machine), MachineClient(machine)
    partition = machine.state.find_partition("orders", 0)
    machine.state.move_leader(partition, 1)
    for offset in range(3000):
        assert fetch(client, offset, max_wait_ms=2**31 - 1) is None
        produce(producer, make_batch(b"v"))
        assert client.take_response() is not None
    gc.collect()
    timers = [item for item in gc.get_objects() if isinstance(item, Timer)]
    assert len(timers) <= 1000


def test_all_served_apis_exist():
    assert [check_api(name) for name in testing.SERVED] == list(testing.SERVED)
