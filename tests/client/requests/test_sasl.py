# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests over connections with SASL: authenticated, or failed with a reason."""

import pytest

from tests.client.requests.request_calls import catch_failure, make_table, send
from tests.harness.loopback_brokers import Broker

USERS = {"ann": "p,ä=ss", "bob": "x"}


def mechanism(sasl, name, user="ann", password=USERS["ann"]):
    return (
        sasl.Plain(user, password)
        if name == "PLAIN"
        else sasl.Scram(user, password, name)
    )


@pytest.mark.parametrize("release", ["0.10.1", "0.11.0", "2.8", "4.1"])
@pytest.mark.parametrize("name", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_each_mechanism_authenticates_with_every_release(
    client, runner, sasl, messages, name, release
):
    """The tokens are sent in SaslAuthenticate requests.

    For brokers that do not support this request, they are sent as raw tokens.
    """
    with Broker(make_table(release), users=USERS) as broker:
        (answer,) = send(
            client,
            runner,
            broker,
            messages.MetadataRequest(topics=()),
            sasl=mechanism(sasl, name),
        )
    assert answer.brokers[0].port == broker.port


@pytest.mark.parametrize("name", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("user", ["ann", "absent"])
def test_wrong_password_is_refused(client, runner, sasl, name, user):
    with Broker(make_table(), users=USERS) as broker:
        error = catch_failure(
            client, runner, broker, sasl=mechanism(sasl, name, user, "wrong")
        )
    assert isinstance(error, client.AuthenticationFailed)
    assert f"the broker rejects {name}: Go away" in str(error)
    assert "wrong" not in str(error)


def test_close_after_a_raw_token_suggests_a_wrong_password(client, runner, sasl):
    """Old brokers close the connection if they reject a user name or a password."""
    with Broker(make_table("0.10.1"), users=USERS) as broker:
        error = catch_failure(client, runner, broker, sasl=sasl.Plain("ann", "wrong"))
    assert "; brokers do so when they reject the user name or the password" in str(
        error
    )


def test_unavailable_mechanism_lists_the_offered_ones(client, runner, sasl):
    with Broker(make_table(), users=USERS, mechanisms=("SCRAM-SHA-512",)) as broker:
        error = catch_failure(client, runner, broker, sasl=sasl.Plain("ann", "x"))
    assert isinstance(error, client.AuthenticationFailed)
    assert str(error).endswith(
        "the broker does not accept PLAIN; it offers SCRAM-SHA-512"
    )


def test_sasl_on_a_port_without_sasl_is_an_error(client, runner, sasl):
    with Broker(make_table()) as broker:
        error = catch_failure(client, runner, broker, sasl=sasl.Plain("ann", "x"))
    assert "the broker does not offer SASL on this port" in str(error)


def test_close_of_the_first_request_suggests_sasl(client, runner, messages):
    """The broker closes the connection on the first request without a reason."""
    with Broker(make_table(), users=USERS) as broker:
        error = catch_failure(
            client, runner, broker, messages.MetadataRequest(topics=())
        )
    assert "brokers do so when they require SASL: set sasl" in str(error)


def test_server_that_cannot_prove_itself_is_refused(client, runner, sasl, monkeypatch):
    """A server that does not know the password is rejected.

    It cannot prove itself, even if it accepts any password.
    """
    with Broker(make_table(), users={"ann": "another"}) as broker:
        monkeypatch.setattr(
            "tests.harness.loopback_brokers.ScramServer.answer",
            lambda self, data: (
                b"r=" + data.rpartition(b"r=")[2] + b"s,s=QUJD,i=4096"
                if data.startswith(b"n")
                else b"v=" + b"A" * 43 + b"="
            ),
        )
        error = catch_failure(
            client, runner, broker, sasl=sasl.Scram("ann", USERS["ann"])
        )
    assert isinstance(error, client.AuthenticationFailed)
    assert "does not know the password" in str(error)


HOSTILE = "\x1b[2J\x00\r\n\u202e\x9b"


@pytest.mark.parametrize("field", ["mechanisms", "message", "token"])
def test_no_error_has_unescaped_text_of_a_broker(client, runner, sasl, field):
    """Strings from a broker are escaped in all errors of SASL.

    Covers mechanism names, error messages and SCRAM messages.
    """
    mechanisms = (f"NONE{HOSTILE}",) if field == "mechanisms" else ("SCRAM-SHA-256",)
    with Broker(make_table(), users=USERS, mechanisms=mechanisms) as broker:
        handshake = broker._handshake

        class Scripted:
            is_done = False

            def answer(self, data):
                return None if field == "message" else f"e={HOSTILE}no".encode()

        def begin(connection, event):
            handshake(connection, event)
            return Scripted()

        broker._handshake = begin
        broker.refusal = f"Go away{HOSTILE}"
        error = catch_failure(
            client, runner, broker, sasl=mechanism(sasl, "SCRAM-SHA-256")
        )
    assert isinstance(error, client.ClusterError)
    assert str(error).isprintable()
    assert r"\x1b[2J\x00" in str(error)


def test_a_secret_in_the_place_of_tls_is_not_shown(client, runner):
    """Nothing is sent, and the error only contains the type of the value."""
    make = client.connect_sync if runner == "blocking" else client.connect
    with pytest.raises(TypeError, match=r"ssl must be .* \(got str\)") as caught:
        make("127.0.0.1:9", ssl="wonderland")
    assert "wonderland" not in str(caught.value)


@pytest.mark.parametrize("is_offered", [True, False])
def test_sasl_is_suggested_only_if_the_broker_offers_it(
    client, runner, messages, is_offered
):
    """Any other broker may close the connection because it is restarting."""
    ranges = dict(make_table().ranges())
    if not is_offered:
        for request in ("SaslHandshakeRequest", "SaslAuthenticateRequest"):
            del ranges[getattr(messages, request).api_key]
    table = type(make_table()).from_ranges(ranges)
    with Broker(table, users=USERS) as broker:
        error = catch_failure(
            client, runner, broker, messages.MetadataRequest(topics=())
        )
    assert ("SASL" in str(error)) is is_offered
