# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire.net`` signs in with SASL, or says why it cannot."""

import pytest
from loopback_brokers import (
    Broker,
)
from net_calls import catch_failure, make_table, run

USERS = {"ann": "p,ä=ss", "bob": "x"}


# SASL


def mechanism(sasl, name, user="ann", password=USERS["ann"]):
    return (
        sasl.Plain(user, password)
        if name == "PLAIN"
        else sasl.Scram(user, password, name)
    )


@pytest.mark.parametrize("release", ["0.10.1", "0.11.0", "2.8", "4.1"])
@pytest.mark.parametrize("name", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_sasl(net, sasl, messages, name, release):
    """Through SaslAuthenticate, and with raw tokens where a broker has none."""
    with Broker(make_table(release), users=USERS) as broker:
        (answer,) = run(
            net,
            broker,
            messages.MetadataRequest(topics=()),
            sasl=mechanism(sasl, name),
        )
    assert answer.brokers[0].port == broker.port


@pytest.mark.parametrize("name", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("user", ["ann", "absent"])
def test_wrong_password_is_refused(net, sasl, name, user):
    with Broker(make_table(), users=USERS) as broker:
        error = catch_failure(net, broker, sasl=mechanism(sasl, name, user, "wrong"))
    assert isinstance(error, net.AuthenticationFailed)
    assert f"the broker rejects {name}: Go away" in str(error)
    assert "wrong" not in str(error)


def test_wrong_password_with_raw_tokens(net, sasl):
    """All that an old broker does about it is to hang up."""
    with Broker(make_table("0.10.1"), users=USERS) as broker:
        error = catch_failure(net, broker, sasl=sasl.Plain("ann", "wrong"))
    assert "closed the connection; brokers do so when they reject PLAIN" in str(error)


def test_mechanism_that_is_not_offered(net, sasl):
    with Broker(make_table(), users=USERS, mechanisms=("SCRAM-SHA-512",)) as broker:
        error = catch_failure(net, broker, sasl=sasl.Plain("ann", "x"))
    assert isinstance(error, net.AuthenticationFailed)
    assert str(error).endswith(
        "the broker does not accept PLAIN; it offers SCRAM-SHA-512"
    )


def test_sasl_where_none_is_expected(net, sasl):
    with Broker(make_table()) as broker:
        error = catch_failure(net, broker, sasl=sasl.Plain("ann", "x"))
    assert "the broker does not offer SASL on this port" in str(error)


def test_no_sasl_where_it_is_expected(net, messages):
    """A broker hangs up on the first request; the reason is not in the bytes."""
    with Broker(make_table(), users=USERS) as broker:
        error = catch_failure(net, broker, messages.MetadataRequest(topics=()))
    assert "it may require SASL" in str(error)


def test_server_that_cannot_prove_itself_is_refused(net, sasl, monkeypatch):
    """One that takes any password does not know the right one."""
    with Broker(make_table(), users={"ann": "another"}) as broker:
        monkeypatch.setattr(
            "loopback_brokers.ScramServer.answer",
            lambda self, data: (
                b"r=" + data.rpartition(b"r=")[2] + b"s,s=QUJD,i=4096"
                if data.startswith(b"n")
                else b"v=" + b"A" * 43 + b"="
            ),
        )
        error = catch_failure(net, broker, sasl=sasl.Scram("ann", USERS["ann"]))
    assert isinstance(error, net.AuthenticationFailed)
    assert "does not know the password" in str(error)
