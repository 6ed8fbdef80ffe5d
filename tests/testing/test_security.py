# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""TLS and SASL of test clusters, with the clients of kwire and librdkafka."""

import asyncio
import ssl

import pytest

from kwire import client, testing
from kwire.connection.sasl import OAuthBearer, Plain, Scram

confluent_kafka = pytest.importorskip("confluent_kafka")

USERS = {"alice": "secret, with = and ü", "bob": "token-of-bob"}
TIMEOUT_S = 30


def trust(kafka):
    """Return a TLS context that trusts only the authority of a cluster."""
    return ssl.create_default_context(cadata=kafka.ca_pem.decode())


def rdkafka_settings(kafka, mechanism="", user="alice", password=USERS["alice"]):
    """Return the settings of librdkafka for a cluster."""
    protocol = ("SASL_" if mechanism else "") + ("SSL" if kafka.ca_pem else "PLAINTEXT")
    settings = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "security.protocol": protocol,
        "log_level": 0,
    }
    if kafka.ca_pem:
        settings["ssl.ca.pem"] = kafka.ca_pem.decode()
    if mechanism:
        settings["sasl.mechanism"] = mechanism
        if mechanism == "OAUTHBEARER":
            settings["oauth_cb"] = lambda _: (password, 2**40)
        else:
            settings |= {"sasl.username": user, "sasl.password": password}
    return settings


def produce(settings):
    """Write a record to "orders" with librdkafka."""
    producer = confluent_kafka.Producer(settings)
    producer.produce("orders", b"one")
    assert producer.flush(TIMEOUT_S) == 0


def read_values(kafka, **options):
    """Read the values of "orders" with kwire."""
    options = {"timeout_s": TIMEOUT_S} | options
    with client.connect_sync(kafka.bootstrap_servers, **options) as reader:
        return [row.value for row in reader.scan("orders").records()]


@pytest.fixture
def cluster(request):
    with testing.cluster(topics={"orders": 1}, **request.param) as kafka:
        yield kafka


@pytest.mark.parametrize("cluster", [{"tls": True, "brokers": 2}], indirect=True)
def test_clients_that_trust_the_authority_connect_with_tls(cluster):
    produce(rdkafka_settings(cluster))
    assert read_values(cluster, ssl=trust(cluster)) == [b"one"]


@pytest.mark.parametrize("cluster", [{"tls": True}], indirect=True)
def test_other_clients_do_not_trust_the_cluster(cluster):
    with pytest.raises(client.ClusterError):
        read_values(cluster, ssl=True, timeout_s=2)
    with pytest.raises(client.ClusterError):
        read_values(cluster, timeout_s=2)
    assert read_values(cluster, ssl=trust(cluster)) == []


def test_context_of_the_test_is_used_unchanged():
    from kwire.testing.certificates import make_server_context

    context, authority = make_server_context()
    with testing.cluster(topics={"orders": 1}, tls=context) as kafka:
        assert kafka.ca_pem is None
        trusted = ssl.create_default_context(cadata=authority.decode())
        assert read_values(kafka, ssl=trusted) == []


def test_tls_works_in_the_event_loop_of_the_caller():
    async def main():
        async with testing.cluster(topics={"orders": 1}, tls=True) as kafka:
            context = trust(kafka)
            async with (
                client.connect(kafka.bootstrap_servers, ssl=context) as reader,
                reader.scan("orders") as scan,
            ):
                return [row async for row in scan.records()]

    assert asyncio.run(asyncio.wait_for(main(), TIMEOUT_S)) == []


MECHANISMS = {
    "PLAIN": lambda: Plain("alice", USERS["alice"]),
    "SCRAM-SHA-256": lambda: Scram("alice", USERS["alice"], "SCRAM-SHA-256"),
    "SCRAM-SHA-512": lambda: Scram("alice", USERS["alice"], "SCRAM-SHA-512"),
    "OAUTHBEARER": lambda: OAuthBearer(lambda: USERS["bob"]),
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    "cluster",
    [
        {"sasl": USERS},
        {"sasl": USERS, "tls": True},
        {"sasl": USERS, "release": "0.11.0"},
    ],
    indirect=True,
    ids=["plaintext", "tls", "old"],
)
def test_users_authenticate_with_each_mechanism(cluster, mechanism):
    options = {"sasl": MECHANISMS[mechanism]}
    if cluster.ca_pem:
        options["ssl"] = trust(cluster)
    cluster.write("orders", [b"one"])
    assert read_values(cluster, **options) == [b"one"]
    # librdkafka requires SaslAuthenticate requests for OAUTHBEARER.
    if (cluster.release, mechanism) == ("0.11.0", "OAUTHBEARER"):
        return
    password = USERS["bob" if mechanism == "OAUTHBEARER" else "alice"]
    produce(rdkafka_settings(cluster, mechanism, password=password))
    assert len(cluster.records("orders")[0]) == 2


WRONG = {
    "PLAIN": lambda: Plain("alice", "wrong"),
    "SCRAM-SHA-256": lambda: Scram("alice", "wrong", "SCRAM-SHA-256"),
    "SCRAM-SHA-512": lambda: Scram("nobody", "secret", "SCRAM-SHA-512"),
    "OAUTHBEARER": lambda: OAuthBearer(lambda: "wrong"),
}


@pytest.mark.parametrize("mechanism", WRONG)
@pytest.mark.parametrize("cluster", [{"sasl": USERS}], indirect=True)
def test_wrong_credentials_are_rejected(cluster, mechanism):
    with pytest.raises(client.AuthenticationFailed):
        read_values(cluster, sasl=WRONG[mechanism], timeout_s=5)
    apis = {item.api for item in cluster.requests}
    assert apis <= {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}


@pytest.mark.parametrize("cluster", [{"sasl": USERS}], indirect=True)
def test_clients_without_credentials_receive_no_data(cluster):
    with pytest.raises(client.ClusterError):
        read_values(cluster, timeout_s=2)
    assert "Fetch" not in {item.api for item in cluster.requests}
