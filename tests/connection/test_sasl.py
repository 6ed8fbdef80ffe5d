# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client side of SASL: exchanges of the RFCs, other clients, and hostile servers."""

import base64
import hashlib
import hmac
import importlib
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

with warnings.catch_warnings():
    # Importing kafka-python uses a deprecated API to read package resources.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.net.sasl.scram import ScramClient

USER, PASSWORD = "user", "pencil"

# RFC 7677, section 3.
NONCE_256 = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST_256 = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
CLIENT_FINAL_256 = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL_256 = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

# RFC 5802, section 5: the same with SHA-1, which Kafka does not support.
NONCE_1 = "fyko+d2lbbFgONRv9qkxdawL"
SERVER_FIRST_1 = (
    b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096"
)
CLIENT_FINAL_1 = (
    b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,"
    b"p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
)
SERVER_FINAL_1 = b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="


@pytest.fixture(scope="module")
def sasl(kwire):
    return importlib.import_module(f"{kwire.__name__}.connection.sasl")


@pytest.fixture
def rfc_7677(sasl, monkeypatch):
    """SCRAM exchange with the client nonce of RFC 7677, after its first message."""
    monkeypatch.setattr(sasl, "_new_nonce", lambda: NONCE_256)
    exchange = sasl.Scram(USER, PASSWORD)
    assert exchange.first() == b"n,,n=user,r=" + NONCE_256.encode()
    return exchange


def test_scram_sha_256_is_that_of_rfc_7677(rfc_7677):
    assert rfc_7677.challenge(SERVER_FIRST_256) == CLIENT_FINAL_256
    assert not rfc_7677.is_done
    assert rfc_7677.challenge(SERVER_FINAL_256) is None
    assert rfc_7677.is_done


def test_the_computation_is_that_of_rfc_5802(sasl, monkeypatch):
    """The example uses SHA-1. The supported mechanisms only differ in the digest."""
    monkeypatch.setitem(sasl._DIGESTS, "SCRAM-SHA-1", "sha1")
    monkeypatch.setattr(sasl, "_new_nonce", lambda: NONCE_1)
    exchange = sasl.Scram(USER, PASSWORD, "SCRAM-SHA-1")
    assert exchange.first() == b"n,,n=user,r=" + NONCE_1.encode()
    assert exchange.challenge(SERVER_FIRST_1) == CLIENT_FINAL_1
    assert exchange.challenge(SERVER_FINAL_1) is None


def test_sha_1_is_not_offered(sasl):
    with pytest.raises(ValueError, match="SCRAM-SHA-256, SCRAM-SHA-512"):
        sasl.Scram(USER, PASSWORD, "SCRAM-SHA-1")


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("username", ["kim", "üser ł"])
def test_proof_equals_that_of_kafka_python(sasl, mechanism, username, monkeypatch):
    """kafka-python computes the same bytes from the same nonces."""
    other = ScramClient(username, "pässwörd", mechanism)
    monkeypatch.setattr(sasl, "_new_nonce", other.nonce.decode)
    exchange = sasl.Scram(username, "pässwörd", mechanism)
    assert exchange.first() == other.first_message()
    server_first = b"r=" + other.nonce + b"XYZ,s=c2FsdHNhbHQ=,i=8192"
    other.process_server_first_message(server_first)
    assert exchange.challenge(server_first) == other.final_message()
    proof = b"v=" + base64.b64encode(other.server_signature)
    assert exchange.challenge(proof) is None


def test_separators_in_a_user_name_are_escaped(sasl, monkeypatch):
    """Separators in a user name are escaped (RFC 5802, section 5.1).

    Otherwise, a name could add attributes to the message.
    """
    monkeypatch.setattr(sasl, "_new_nonce", lambda: "abc")
    assert sasl.Scram("a=b,c", "x").first() == b"n,,n=a=3Db=2Cc,r=abc"


def test_every_exchange_has_its_own_nonce(sasl):
    assert len({sasl.Scram(USER, PASSWORD).first() for _ in range(100)}) == 100


def test_server_that_does_not_know_the_password_is_refused(rfc_7677, sasl):
    """A server that relays or guesses cannot sign, so the exchange is not finished."""
    rfc_7677.challenge(SERVER_FIRST_256)
    wrong_signature = b"v=" + base64.b64encode(bytes(32))
    with pytest.raises(sasl.SaslError, match="does not know the password"):
        rfc_7677.challenge(wrong_signature)
    assert not rfc_7677.is_done


def test_signatures_are_compared_in_constant_time(rfc_7677, sasl, monkeypatch):
    seen = []
    compare = hmac.compare_digest
    monkeypatch.setattr(
        hmac, "compare_digest", lambda *two: seen.append(two) or compare(*two)
    )
    rfc_7677.challenge(SERVER_FIRST_256)
    rfc_7677.challenge(SERVER_FINAL_256)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("server_message", "words"),
    [
        (SERVER_FIRST_256.replace(b"r=rOp", b"r=xOp"), "nonce"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=QUJD,i=4096", "nonce"),
        (b"s=QUJD,i=4096", "nonce"),
        (SERVER_FIRST_256.replace(b"i=4096", b"i=4095"), "(got 4095)"),
        (SERVER_FIRST_256.replace(b"i=4096", b"i=131073"), "(got 131073)"),
        (SERVER_FIRST_256.replace(b"i=4096", b"i=-1"), "iterations"),
        (SERVER_FIRST_256.replace(b"i=4096", b"i=" + b"9" * 9000), "iterations"),
        (SERVER_FIRST_256.replace(b",i=4096", b""), "(got no)"),
        (SERVER_FIRST_256.replace(b"s=W22ZaJ", b"s=!!"), "s= in base64"),
        (SERVER_FIRST_256.replace(b"s=W22ZaJ0SNY7soEsUEjb6gQ==", b"s="), "s="),
        (SERVER_FIRST_256 + b",i=9999", "a name twice"),
        (b"m=must," + SERVER_FIRST_256, "extension"),
        (b"e=unknown-user", "rejects the authentication: unknown-user"),
        (b"\xff\xfe", "UTF-8"),
        (b"", "a name twice"),
    ],
)
def test_invalid_first_server_message_is_rejected(
    rfc_7677, sasl, server_message, words
):
    with pytest.raises(sasl.SaslError, match=words):
        rfc_7677.challenge(server_message)


@pytest.mark.parametrize(
    ("server_message", "words"),
    [
        (b"e=invalid-proof", "rejects the authentication: invalid-proof"),
        (b"v=", "v= in base64"),
        (b"x=1", "v= in base64"),
        (SERVER_FINAL_256[:-9], "base64"),
        (SERVER_FIRST_256, "v= in base64"),
    ],
)
def test_invalid_last_server_message_is_rejected(rfc_7677, sasl, server_message, words):
    rfc_7677.challenge(SERVER_FIRST_256)
    with pytest.raises(sasl.SaslError, match=words):
        rfc_7677.challenge(server_message)
    assert not rfc_7677.is_done


def test_hostile_iteration_count_costs_nothing(rfc_7677, sasl):
    """Two billion iterations would take half an hour."""
    began = time.monotonic()
    with pytest.raises(sasl.SaslError):
        rfc_7677.challenge(SERVER_FIRST_256.replace(b"i=4096", b"i=2147483647"))
    assert time.monotonic() - began < 5


def test_iteration_limit_is_an_argument(sasl, monkeypatch):
    monkeypatch.setattr(sasl, "_new_nonce", lambda: NONCE_256)
    exchange = sasl.Scram(USER, PASSWORD, max_iterations=5000)
    with pytest.raises(sasl.SaslError, match="4096 to 5000"):
        exchange.challenge(SERVER_FIRST_256.replace(b"i=4096", b"i=5001"))


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3), st.booleans())
def test_any_bytes_of_a_server_are_a_typed_error(sasl, chunks, begun):
    """A server is only accepted if it knows the password."""
    exchange = sasl.Scram(USER, PASSWORD)
    nonce = exchange.first().rpartition(b"r=")[2]
    if begun:
        exchange.challenge(b"r=" + nonce + b"x,s=QUJD,i=4096")
    for chunk in chunks:
        with pytest.raises(sasl.SaslError):
            exchange.challenge(chunk)
        assert not exchange.is_done


def test_finished_exchange_takes_nothing_more(rfc_7677, kwire):
    rfc_7677.challenge(SERVER_FIRST_256)
    rfc_7677.challenge(SERVER_FINAL_256)
    with pytest.raises(kwire.LocalProtocolError, match="make a new object"):
        rfc_7677.challenge(SERVER_FINAL_256)


def test_plain_is_that_of_rfc_4616(sasl):
    exchange = sasl.Plain("tim", "tanstaaftanstaaf")
    assert exchange.first() == b"\0tim\0tanstaaftanstaaf"
    assert exchange.challenge(b"") is None
    assert exchange.is_done


def test_plain_answers_no_questions(sasl):
    exchange = sasl.Plain("tim", "x")
    with pytest.raises(sasl.SaslError, match="got 3"):
        exchange.challenge(b"abc")
    assert not exchange.is_done


@pytest.mark.parametrize("bad", ["", "a\0b"])
def test_plain_needs_name_and_password_without_nul(sasl, bad):
    """A name or a password that is empty or contains NUL is rejected.

    The server would read the bytes after a NUL as the password.
    """
    with pytest.raises(ValueError, match="user name"):
        sasl.Plain(bad, "x")
    with pytest.raises(ValueError, match="password"):
        sasl.Plain("x", bad)


def test_scram_needs_name_and_password(sasl):
    with pytest.raises(ValueError, match="SCRAM-SHA-256 requires a user name"):
        sasl.Scram("", "x")
    with pytest.raises(ValueError, match="and a password"):
        sasl.Scram("x", "")


def test_no_secret_is_shown(sasl):
    """``repr`` contains neither names nor passwords, because it may be logged."""
    for exchange in (sasl.Plain("ann", "hush"), sasl.Scram("ann", "hush")):
        assert "hush" not in repr(exchange)
        assert "ann" not in repr(exchange)


def test_errors_are_of_kwires_tree(sasl, kwire):
    assert issubclass(sasl.SaslError, kwire.RemoteProtocolError)


def test_names_of_digests_are_those_of_hashlib(sasl):
    assert all(hasattr(hashlib, name) for name in sasl._DIGESTS.values())
