# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Almost valid messages from SCRAM servers, and their error messages."""

import importlib

import pytest

HOSTILE = "\x1b[2J\x00\r\n\u202e\x9b"


@pytest.fixture(scope="module")
def sasl(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.fixture
def exchange(sasl, monkeypatch):
    """SCRAM exchange with the client nonce "abc", after the client's first message."""
    monkeypatch.setattr(sasl, "_new_nonce", lambda: "abc")
    exchange = sasl.Scram("user", "pencil", max_iterations=5000)
    exchange.first()
    return exchange


def test_scram_errors_escape_what_the_server_sent(sasl):
    """All values from the server are escaped, even if the client cannot parse them."""
    for message in (
        f"e=no{HOSTILE}",
        f"r={{}}x,s=c2FsdA==,i={HOSTILE}",
        f"r={{}}x,s={HOSTILE},i=4096",
        f"r={{}}{HOSTILE}",
        f"{HOSTILE}=x",
    ):
        exchange = sasl.Scram("ann", "x")
        nonce = exchange.first().decode().rpartition("r=")[2]
        with pytest.raises(sasl.SaslError) as caught:
            exchange.challenge(message.replace("{}", nonce).encode())
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("server_message", "words"),
    [
        # The server nonce is before the client nonce.
        ("r=xyzabc1,s=c2FsdA==,i=4096", "does not continue the client's"),
        # Digits that RFC 5802 does not allow, such as 4096 in Arabic digits.
        ("r=abcxyz,s=c2FsdA==,i=٤٠٩٦", "be 4096 to 5000"),
        ("r=abcxyz,s=c2FsdA==,i=5001", "be 4096 to 5000"),
        ("rr=1,r=abcxyz,s=c2FsdA==,i=4096", "a name twice"),
    ],
)
def test_almost_valid_scram_messages_are_rejected(
    sasl, exchange, server_message, words
):
    with pytest.raises(sasl.SaslError, match=words):
        exchange.challenge(server_message.encode())


def test_iteration_count_at_the_limit_is_accepted(exchange):
    server_first = b"r=abcxyz,s=c2FsdA==,i=5000"
    assert exchange.challenge(server_first).startswith(b"c=biws,r=abcxyz,p=")
