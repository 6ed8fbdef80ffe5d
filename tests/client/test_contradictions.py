# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Contradictions between ``ssl=``, ``sasl=`` and ``config=`` are rejected.

If a setting were ignored, a password could be sent without TLS.
"""

import importlib
import itertools
import ssl

import pytest

from tests.harness.loopback_brokers import make_certificate

PROTOCOLS = (None, "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "sasl_ssl")
SSL = {"none": None, "off": False, "on": True, "context": ssl.create_default_context()}
ARGUMENTS = ("none", "PLAIN", "SCRAM-SHA-256", "OAUTHBEARER", "function")
CREDENTIALS = {
    "none": {},
    "mechanism": {"sasl.mechanism": "PLAIN"},
    "PLAIN": {
        "sasl.mechanism": "PLAIN",
        "sasl.username": "alice",
        "sasl.password": "wonderland",
    },
    "OAUTHBEARER": {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": "org.x.OAuthBearerLoginModule required;",
    },
    "client credentials": {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": (
            'org.x.OAuthBearerLoginModule required clientId="alice"'
            ' clientSecret="wonderland";'
        ),
        "sasl.oauthbearer.token.endpoint.url": "https://wonderland.example/",
    },
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture
def mechanisms(kwire):
    """Values of the argument ``sasl`` by name."""
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    return {
        "none": None,
        "PLAIN": sasl.Plain("alice", "wonderland"),
        "SCRAM-SHA-256": sasl.Scram("alice", "wonderland"),
        "OAUTHBEARER": sasl.OAuthBearer(lambda: "token"),
        "function": lambda: sasl.Plain("alice", "wonderland"),
    }


def contradiction(protocol, tls, argument, credentials, has_ca):
    """Return the texts that the error must contain, or None if the settings agree.

    Serves as the specification, and therefore does not use the client's code.
    """
    protocol = protocol and protocol.upper()
    if protocol is None:
        return ("security.protocol",) if has_ca or credentials != "none" else None
    has_tls, has_sasl = protocol.endswith("SSL"), protocol.startswith("SASL")
    if has_tls and tls == "off":
        return "ssl=False", "security.protocol"
    if not has_tls and tls in ("on", "context"):
        return "ssl=", "security.protocol"
    if has_tls and has_ca and tls in ("on", "context"):
        return "ssl=", "ssl.ca.location"
    if not has_sasl:
        return None if argument == "none" else ("sasl=", "security.protocol")
    if argument == "none":
        complete = "PLAIN", "client credentials"
        return None if credentials in complete else ("sasl",)
    if credentials == "PLAIN":
        return "sasl=", "sasl.username"
    if credentials == "client credentials":
        return "sasl=", "sasl.jaas.config"
    mechanism = {"mechanism": "PLAIN", "OAUTHBEARER": "OAUTHBEARER"}.get(credentials)
    if mechanism is not None and argument not in (mechanism, "function"):
        return "sasl=", "sasl.mechanism"
    return None


def test_every_combination_agrees_or_names_both_settings(
    client, mechanisms, certificate
):
    """Combines protocol, ``ssl``, ``sasl``, credentials and CAs in 1200 ways."""
    outcomes = {"agree": 0, "contradict": 0}
    for protocol, tls, argument, credentials, has_ca in itertools.product(
        PROTOCOLS, SSL, ARGUMENTS, CREDENTIALS, (False, True)
    ):
        config = dict(CREDENTIALS[credentials])
        if protocol is not None:
            config["security.protocol"] = protocol
        if has_ca:
            config["ssl.ca.location"] = str(certificate[0])
        named = contradiction(protocol, tls, argument, credentials, has_ca)
        case = f"{config} ssl={tls} sasl={argument}"
        try:
            kafka = client.connect_sync(
                "broker:9092", ssl=SSL[tls], sasl=mechanisms[argument], config=config
            )
        except ValueError as error:
            assert named is not None, case
            assert all(name in str(error) for name in named), case
            assert "land" not in str(error), case
            outcomes["contradict"] += 1
            continue
        assert named is None, case
        outcomes["agree"] += 1
        wants_tls, wants_sasl = tls in ("on", "context"), argument != "none"
        if protocol is not None:
            wants_tls = protocol.upper().endswith("SSL")
            wants_sasl = protocol.upper().startswith("SASL")
        assert (kafka.network.load_context() is not None) is wants_tls, case
        if tls == "context" and wants_tls:
            assert kafka.network.load_context() is SSL["context"], case
        assert (kafka.settings.new_mechanism is not None) is wants_sasl, case
    assert outcomes["agree"] >= 60 and outcomes["contradict"] >= 600


def test_a_function_that_makes_another_mechanism_is_rejected(client, kwire):
    """The error is raised when the function creates a mechanism for a connection."""
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    config = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
    kafka = client.connect_sync(
        "b:1", config=config, sasl=lambda: sasl.Plain("alice", "wonderland")
    )
    with pytest.raises(ValueError, match=r"sasl.mechanism names .* sasl=") as caught:
        kafka.settings.new_mechanism()
    assert isinstance(caught.value, kwire.KwireError)
    kafka = client.connect_sync(
        "b:1", config=config, sasl=lambda: sasl.Scram("a", "b", "SCRAM-SHA-512")
    )
    assert kafka.settings.new_mechanism().mechanism == "SCRAM-SHA-512"


JAAS = 'org.x.PlainLoginModule required username="alice" password="wonderland";'


@pytest.mark.parametrize(
    ("first", "second", "value", "other"),
    [
        ("sasl.mechanism", "sasl.mechanisms", "PLAIN", "SCRAM-SHA-256"),
        ("sasl.jaas.config", "sasl.username", JAAS, "alice"),
        ("sasl.jaas.config", "sasl.password", JAAS, "wonderland"),
        ("ssl.ca.location", "ssl.truststore.location", "{0}", "{1}"),
        ("ssl.ca.location", "ssl.truststore.certificates", "{0}", "PEM"),
        ("ssl.truststore.location", "ssl.truststore.certificates", "{0}", "PEM"),
        ("ssl.ca.pem", "ssl.truststore.certificates", "PEM", "wonderland"),
        ("ssl.certificate.location", "ssl.keystore.location", "{0}", "{1}"),
        ("ssl.certificate.location", "ssl.certificate.pem", "{0}", "PEM"),
        ("ssl.key.location", "ssl.key.pem", "{1}", "PEM"),
        ("ssl.keystore.location", "ssl.keystore.key", "{0}", "PEM"),
        ("ssl.keystore.location", "ssl.keystore.certificate.chain", "{0}", "PEM"),
        ("ssl.certificate.pem", "ssl.keystore.certificate.chain", "PEM", "wonderland"),
    ],
)
def test_properties_for_one_thing_must_agree(
    client, certificate, first, second, value, other
):
    """Java and librdkafka name the same setting differently.

    If both properties are set, their values must agree. A file may be given as text.
    """
    config = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.type": "PEM",
    }
    if not first.startswith("sasl.jaas"):
        config.update({"sasl.username": "alice", "sasl.password": "wonderland"})
    paths = [str(path) for path in certificate]
    for name, text in ((first, value), (second, other)):
        config[name] = text.format(*paths)
    with pytest.raises(ValueError, match="contradict each other") as caught:
        client.connect_sync("broker:9092", config=config)
    assert first in str(caught.value) and second in str(caught.value)
    assert "land" not in str(caught.value) and "tls" not in str(caught.value)


def test_arguments_that_override_on_purpose_still_do(client):
    """The address argument overrides the property without an error.

    Several clusters can therefore share a property file.
    """
    config = {"bootstrap.servers": "a:1", "security.protocol": "PLAINTEXT"}
    assert client.connect_sync("b:2", config=config).addresses == [("b", 2)]
    assert client.connect_sync(config=config, ssl=False).network.load_context() is None
