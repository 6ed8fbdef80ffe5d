# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that lie in a SASL exchange, over sockets and with both clients.

Every lie ends the scan quickly with a typed error that describes it. The client sends
no further request to a server that has not authenticated itself. The error contains
neither the password nor control characters from the server.
``tests/connection/test_sasl.py`` tests the rules of the mechanisms.
"""

import base64
import importlib
import time

import pytest

from kwire.messages import SaslHandshakeResponse
from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.harness.loopback_brokers import BearerServer, PlainServer, ScramServer

USERS = {"alice": "wonderland"}
QUICKLY = {"timeout_s": 2.0, "connect_timeout_s": 1.0, "request_timeout_s": 0.7}
LONGEST_S = 8.0
SHA_256_BYTES = 32


class LyingServer:
    """Server-side exchange that passes its tokens through ``lie``.

    ``lie(turn, answer)`` returns the token to send. None rejects the client.
    """

    def __init__(self, honest, lie, is_done):
        self._honest = honest
        self._lie = lie
        self._turn = 0
        # If the value is True, the broker serves requests without an authentication.
        self.is_done = is_done

    def answer(self, data):
        try:
            answer = self._honest.answer(data)
        except (ValueError, KeyError, TypeError, AssertionError):
            answer = b""
        self._turn += 1
        return self._lie(self._turn, answer)


class LyingBroker(LogBroker):
    """Broker that accepts all passwords, and lies in every exchange."""

    claims_success = True

    def __init__(self, honest, lie=None, handshake=None):
        super().__init__({"orders": (20,)}, users=USERS)
        self._make = honest
        self._lie = lie
        self._answer_handshake = handshake

    def _handshake(self, connection, event):
        fields = {"mechanisms": [event.request.mechanism]}
        if self._answer_handshake is not None:
            fields |= self._answer_handshake
        connection.send(event, SaslHandshakeResponse(**fields))
        return LyingServer(self._make(USERS), self._lie, self.claims_success)


def scram(users):
    """Return an honest server for SCRAM-SHA-256."""
    return ScramServer(users, "SHA-256")


def change(number, old, new):
    """Return a lie that replaces ``old`` by ``new`` in one token of the server.

    ``number`` is the number of the token, from 1 on.
    """

    def lie(turn, answer):
        return answer.replace(old, new, 1) if turn == number else answer

    return lie


def say(number, text):
    """Return a lie that sends ``text`` as one token of the server.

    ``number`` is the number of the token, from 1 on.
    """
    return lambda turn, answer: text if turn == number else answer


def move_nonce(turn, answer):
    """Lie: put the server's part of the nonce before the client's part."""
    return answer.replace(b"r=", b"r=server", 1) if turn == 1 else answer


def cut_nonce(turn, answer):
    """Lie: send only the first third of the nonce."""
    nonce, _, rest = answer.partition(b",")
    return nonce[: len(nonce) // 3] + b"," + rest if turn == 1 else answer


def repeat_first():
    """Return a lie that repeats the first message instead of the last message."""
    first = b""

    def lie(turn, answer):
        nonlocal first
        if turn == 1:
            first = answer
        return first

    return lie


def flip_signature(turn, answer):
    """Change one bit of the server signature."""
    if turn == 1:
        return answer
    signature = bytearray(base64.b64decode(answer.removeprefix(b"v=")))
    signature[-1] ^= 1
    return b"v=" + base64.b64encode(bytes(signature))


HUGE = b"A" * (1 << 20)
SIGNATURE = b"v=" + base64.b64encode(bytes(SHA_256_BYTES))

SCRAM = {
    "another nonce": (change(1, b"r=", b"r=xyz"), "nonce"),
    "nonce in front": (move_nonce, "nonce"),
    "half of the nonce": (cut_nonce, "nonce"),
    "no nonce": (say(1, b"s=QUJD,i=4096"), "nonce"),
    "one iteration": (change(1, b"i=4096", b"i=1"), "iterations"),
    "no iterations": (change(1, b"i=4096", b"i=0"), "iterations"),
    "one iteration too few": (change(1, b"i=4096", b"i=4095"), "iterations"),
    "negative iterations": (change(1, b"i=4096", b"i=-4096"), "iterations"),
    "2^31 iterations": (change(1, b"i=4096", b"i=2147483648"), "iterations"),
    "iterations of many digits": (change(1, b"i=4096", b"i=" + b"9" * 9000), "iterat"),
    "iterations in words": (change(1, b"i=4096", b"i=many"), "iterations"),
    "Arabic iterations": (
        change(1, b"4096", "\u0664\u0660\u0669\u0666".encode()),
        "it",
    ),
    "iterations left out": (change(1, b",i=4096", b""), "iterations"),
    "salt left out": (change(1, b"s=", b"z="), "s="),
    "empty salt": (lambda turn, answer: answer.split(b",")[0] + b",s=,i=4096", "s="),
    "salt not in base64": (change(1, b"s=", b"s=!"), "s="),
    "mandatory extension": (lambda turn, answer: b"m=ext," + answer, "extension"),
    "a field twice": (change(1, b"i=4096", b"i=4096,i=9999"), "twice"),
    "error in place of a challenge": (say(1, b"e=other-error"), "other-error"),
    "error with control characters": (say(1, b"e=\x1b[2J\x07"), "rejects"),
    "bytes that are not UTF-8": (say(1, b"\xff\xfe"), "UTF-8"),
    "empty challenge": (say(1, b""), "SCRAM-SHA-256"),
    "NUL bytes": (say(1, bytes(64)), "SCRAM-SHA-256"),
    "1 MiB of letters": (say(1, HUGE), "SCRAM-SHA-256"),
    "success before the challenge": (say(1, SIGNATURE), "SCRAM-SHA-256"),
    "success without a signature": (say(2, b""), "SCRAM-SHA-256"),
    "signature of zeros": (say(2, SIGNATURE), "does not know the password"),
    "one bit of the signature": (flip_signature, "does not know the password"),
    "short signature": (say(2, b"v=QUJD"), "does not know the password"),
    "signature not in base64": (say(2, b"v=!!!"), "base64"),
    "signature of 1 MiB": (say(2, b"v=" + HUGE), "does not know the password"),
    "challenge in place of a signature": (repeat_first(), "v="),
    "error after the proof": (say(2, b"e=invalid-proof"), "invalid-proof"),
    "rejection after the proof": (say(2, None), "Go away"),
}
PLAIN = {
    "PLAIN with a question": (say(1, b"What is your name?"), "PLAIN"),
    "PLAIN with 1 MiB": (say(1, HUGE), "PLAIN"),
    "PLAIN with a SCRAM challenge": (say(1, b"r=a,s=QUJD,i=4096"), "PLAIN"),
}
BEARER = {
    "bearer with an error": say(1, b'{"status":"invalid_token"}'),
    "bearer with no JSON": say(1, b"\x01\x02"),
    "bearer with bytes that are not UTF-8": say(1, b"\xff"),
    "bearer with 1 MiB": say(1, HUGE),
    "bearer with questions for ever": lambda turn, answer: b"{}",
}
SOME = "does not accept SCRAM-SHA-256; it offers"
HANDSHAKES = {
    "unknown error": ({"error_code": 9999, "mechanisms": []}, "9999"),
    "negative error": (
        {"error_code": -1, "mechanisms": []},
        "UNKNOWN_SERVER_ERROR",
    ),
    "no mechanism": (
        {"error_code": 33, "mechanisms": []},
        "UNSUPPORTED_SASL_MECHANISM",
    ),
    "the requested mechanism": ({"error_code": 33}, SOME),
    "names with control characters": (
        {"error_code": 33, "mechanisms": ["\x1b[2J", "\n"] * 50},
        SOME,
    ),
    "10,000 mechanisms": (
        {"error_code": 33, "mechanisms": ["SCRAM-SHA-512"] * 10_000},
        SOME,
    ),
}
RAW = ("another nonce", "one iteration", "one bit of the signature", "empty challenge")
"""Lies that are also sent as raw tokens, after SaslHandshake version 0."""


def fail(kwire, number, broker, mechanism):
    """Scan a lying broker's topic, and return the error text."""
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    runner = RUNNERS[number % 2]
    began = time.monotonic()
    with broker, pytest.raises(module.ClusterError) as caught:
        read(
            kwire,
            runner,
            broker.address,
            "orders",
            connect={**QUICKLY, "sasl": mechanism},
        )
    assert time.monotonic() - began < LONGEST_S
    assert broker.connections < 40, "connections without a pause"
    assert broker.requests == [], "the server has not proved itself"
    text = str(caught.value)
    assert "wonderland" not in text and text.isprintable()
    assert len(text) < 2000
    return text


def mechanisms(kwire):
    """Return the module of the SASL mechanisms on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.mark.parametrize("case", SCRAM)
def test_lie_in_a_scram_exchange_is_a_typed_error(kwire, case):
    """Covers the server's first and last message, and premature success."""
    lie, words = SCRAM[case]
    sasl = mechanisms(kwire)
    new = lambda: sasl.Scram("alice", "wonderland")  # noqa: E731
    broker = LyingBroker(scram, lie)
    assert words in fail(kwire, list(SCRAM).index(case), broker, new)


@pytest.mark.parametrize("case", RAW)
def test_lie_in_raw_tokens_is_a_typed_error(kwire, case):
    """A lie in a raw token, as brokers before 1.0 send it, is a typed error."""
    lie, _ = SCRAM[case]
    broker = LyingBroker(scram, lie)
    broker.claims_success = False
    ranges = {
        key: versions for key, versions in broker.table.ranges().items() if key != 36
    }
    broker.table = broker.table.from_ranges({**ranges, 17: (0, 0)})
    sasl = mechanisms(kwire)
    new = lambda: sasl.Scram("alice", "wonderland")  # noqa: E731
    assert "SCRAM-SHA-256" in fail(kwire, RAW.index(case), broker, new)


@pytest.mark.parametrize("case", PLAIN)
def test_lie_in_a_plain_exchange_is_a_typed_error(kwire, case):
    """PLAIN does not support challenges."""
    lie, words = PLAIN[case]
    sasl = mechanisms(kwire)
    new = lambda: sasl.Plain("alice", "wonderland")  # noqa: E731
    broker = LyingBroker(PlainServer, lie)
    assert words in fail(kwire, list(PLAIN).index(case), broker, new)


@pytest.mark.parametrize("case", BEARER)
def test_lie_in_a_bearer_exchange_is_a_typed_error(kwire, case):
    """In OAUTHBEARER, a challenge is always an error message."""
    sasl = mechanisms(kwire)
    new = lambda: sasl.OAuthBearer(lambda: "wonderland")  # noqa: E731
    broker = LyingBroker(BearerServer, BEARER[case])
    text = fail(kwire, list(BEARER).index(case), broker, new)
    assert "Go away" in text or "OAUTHBEARER" in text


@pytest.mark.parametrize("case", HANDSHAKES)
def test_lie_in_the_handshake_is_a_typed_error(kwire, case):
    """Covers unknown error codes and useless mechanism lists."""
    fields, words = HANDSHAKES[case]
    sasl = mechanisms(kwire)
    new = lambda: sasl.Scram("alice", "wonderland")  # noqa: E731
    broker = LyingBroker(scram, say(9, b""), fields)
    assert words in fail(kwire, list(HANDSHAKES).index(case), broker, new)


def test_honest_server_is_accepted_by_the_same_code(kwire):
    """An honest server is accepted.

    Otherwise, all tests above could fail for another reason than the lie.
    """
    sasl = mechanisms(kwire)
    for honest, new in (
        (scram, lambda: sasl.Scram("alice", "wonderland")),
        (PlainServer, lambda: sasl.Plain("alice", "wonderland")),
        (BearerServer, lambda: sasl.OAuthBearer(lambda: "wonderland")),
    ):
        with LyingBroker(honest, lambda turn, answer: answer) as broker:
            chunks = read(
                kwire,
                RUNNERS[0],
                broker.address,
                "orders",
                connect={**QUICKLY, "sasl": new},
            )
            assert sum(len(chunk.records()) for chunk in chunks) == 20
