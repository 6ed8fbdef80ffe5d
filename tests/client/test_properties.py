# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka client properties have the same effect as in Kafka's clients."""

import importlib
import ssl
import traceback

import pytest

from kwire.client import connect_sync
from kwire.client.properties import read_config
from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.harness.loopback_brokers import make_certificate, server_context

NAME, PASSWORD = "alice", 'won"der\\land;='
JAAS = 'org.apache.kafka.common.security.{}.{}LoginModule required username="alice" {};'
QUOTED = 'password="won\\"der\\\\land;="'
PLAIN = JAAS.format("plain", "Plain", QUOTED)
SCRAM = JAAS.format("scram", "Scram", QUOTED)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def broker(certificate):
    """Broker that requires TLS, a client certificate and a password."""
    context = server_context(*certificate, client_ca=certificate[0])
    with LogBroker(
        {"orders": (30,)}, users={NAME: PASSWORD}, context=context
    ) as running:
        yield running


@pytest.mark.parametrize(
    "sasl",
    [
        {"sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN},
        {"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": SCRAM},
        {
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": NAME,
            "sasl.password": PASSWORD,
        },
    ],
    ids=["plain", "scram", "librdkafka"],
)
def test_properties_are_all_that_is_needed(kwire, broker, certificate, tmp_path, sasl):
    """The properties of a file replace all other arguments.

    Covers Java's PEM stores and librdkafka's files.
    """
    store = tmp_path / "store.pem"
    store.write_bytes(certificate[1].read_bytes() + certificate[0].read_bytes())
    common = {
        "bootstrap.servers": broker.address,
        "client.id": "batch",
        "client.rack": "r1",
        "security.protocol": "SASL_SSL",
        "request.timeout.ms": 9000,
        "socket.connection.setup.timeout.ms": "5000",
        "isolation.level": "read_committed",
        **sasl,
    }
    java = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate[0]),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    librdkafka = {
        "ssl.ca.location": str(certificate[0]),
        "ssl.certificate.location": str(certificate[0]),
        "ssl.key.location": str(certificate[1]),
    }
    for runner, tls in zip(RUNNERS, (java, librdkafka), strict=True):
        connect = {"config": {**common, **tls}}
        chunks = read(kwire, runner, None, "orders", connect=connect)
        assert sum(len(chunk.records()) for chunk in chunks) == 30


@pytest.mark.parametrize("lines", ["as they are", "joined", "of librdkafka"])
def test_certificates_and_keys_may_be_text(kwire, broker, certificate, lines):
    """As in Java, PEM text may be on one line. The key is not left in a file."""
    chain, key = (path.read_text() for path in certificate)
    if lines == "joined":
        chain, key = " ".join(chain.split("\n")), " ".join(key.split("\n"))
    if lines == "of librdkafka":
        tls = {"ssl.ca.pem": chain, "ssl.certificate.pem": chain, "ssl.key.pem": key}
    else:
        tls = {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": chain,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": chain,
            "ssl.keystore.key": key,
        }
    config = {
        "bootstrap.servers": broker.address,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": PLAIN,
        **tls,
    }
    for runner in RUNNERS:
        chunks = read(kwire, runner, None, "orders", connect={"config": config})
        assert sum(len(chunk.records()) for chunk in chunks) == 30


def test_each_property_has_its_effect(kwire):
    """The client stores the settings that the properties specify."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    config = {
        "bootstrap.servers": "a:1, b:2",
        "client.id": "batch",
        "request.timeout.ms": 9000,
        "socket.connection.setup.timeout.ms": "5000",
        "default.api.timeout.ms": 70_000,
        "enable.metrics.push": "False",
        "group.id": "kwire",
        "metadata.recovery.strategy": "NONE",
        "metadata.recovery.rebootstrap.trigger.ms": 90_000,
        "security.protocol": "SSL",
        "ssl.endpoint.identification.algorithm": "",
    }
    kafka = client.connect_sync(config=config)
    assert kafka.addresses == [("a", 1), ("b", 2)]
    assert kafka.settings.client_id == "batch"
    assert kafka.settings.request_timeout_s == 9
    assert kafka.settings.connect_timeout_s == 5
    assert kafka.settings.timeout_s == 70
    assert kafka.settings.enable_metrics_push is False
    assert client.connect("c:3").settings.enable_metrics_push is True
    assert kafka.settings.metadata_recovery_strategy == "none"
    assert kafka.settings.rebootstrap_trigger_s == 90
    assert not kafka.network.load_context().check_hostname
    assert kafka.network.load_context().verify_mode is ssl.CERT_REQUIRED
    assert client.connect("c:3", config=config).addresses == [("c", 3)]
    del config["ssl.endpoint.identification.algorithm"]
    assert client.connect(config=config).network.load_context().check_hostname


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"group.idd": "g"}, "has no property group.idd; did you mean group.id?"),
        ({"schema.registry.url": "u"}, "schema.registry.url; leave out"),
        ({"sasl.mechanizm": "PLAIN"}, "; did you mean sasl.mechanism"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"},
            "OAUTHBEARER requires a token endpoint and a client id and a client",
        ),
        (
            {"security.protocol": "SSL", "ssl.keystore.key": "KEY"},
            "a certificate and its key go together",
        ),
        ({"security.protocol": "TLS"}, "security.protocol must be one of PLAINTEXT"),
        ({"isolation.level": "dirty"}, "isolation.level must be one of"),
        (
            {"metadata.recovery.strategy": "wonderland"},
            "metadata.recovery.strategy must be one of rebootstrap, none",
        ),
        (
            {"request.timeout.ms": "9 s"},
            "request.timeout.ms must be a number of milliseconds",
        ),
        (
            {"enable.metrics.push": "yes"},
            "enable.metrics.push must be one of",
        ),
        (
            {"request.timeout.ms": 0},
            "request.timeout.ms must be a number of milliseconds",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "a.jks"},
            "ssl.truststore.type must be PEM .*: keytool -list -rfc -keystore STORE",
        ),
        (
            {"security.protocol": "SSL", "ssl.keystore.type": "PKCS12"},
            "ssl.keystore.type must be PEM .* openssl pkcs12 -in store.p12",
        ),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "AWS_MSK_IAM",
                "sasl.jaas.config": 'a.IAMLoginModule required awsRoleArn="w.land";',
            },
            "awsRoleArn of sasl.jaas.config must be set in a profile",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "CRAM"},
            "sasl.mechanism must be one of PLAIN",
        ),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "AWS_MSK_IAM",
                "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.X",
            },
            "handler.class must be IAMClientCallbackHandler",
        ),
        (
            {
                "security.protocol": "SSL",
                "ssl.truststore.type": "PEM",
                "ssl.truststore.password": "wonderland",
            },
            "ssl.truststore.password is not for PEM stores",
        ),
        ({"sasl.password": None}, "sasl.password cannot be None"),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"},
            "PLAIN requires a user name and a password",
        ),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": SCRAM,
            },
            "sasl.jaas.config must be of the class PlainLoginModule",
        ),
        ({}, "HOST:PORT"),
    ],
)
def test_unsupported_properties_are_errors(kwire, config, text):
    """A property is never ignored silently, and no password is shown."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    for connect in (client.connect, client.connect_sync):
        with pytest.raises(ValueError, match=text) as caught:
            connect(config=config)
        assert "land" not in str(caught.value)


@pytest.mark.parametrize("runner", RUNNERS)
def test_bearer_token_is_accepted_or_rejected(kwire, runner):
    """The function is called for every exchange. Its errors end the scan."""
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    tokens = []

    def new_token():
        tokens.append("abc.DEF-1=")
        return tokens[-1]

    def fail():
        raise OSError("the authority is down")

    users, kinds = {NAME: "abc.DEF-1="}, ("OAUTHBEARER",)
    with LogBroker({"orders": (30,)}, users=users, mechanisms=kinds) as broker:

        def read_with(function):
            connect = {"sasl": sasl.OAuthBearer(function)}
            return read(kwire, runner, broker.address, "orders", connect=connect)

        assert sum(len(chunk.records()) for chunk in read_with(new_token)) == 30
        assert tokens
        with pytest.raises(cluster.AuthenticationFailed, match="Go away"):
            read_with(lambda: "other")
        with pytest.raises(
            cluster.AuthenticationFailed, match="OAUTHBEARER raised OSError"
        ) as caught:
            read_with(fail)
        assert "is down" not in "".join(traceback.format_exception(caught.value))
        with pytest.raises(cluster.AuthenticationFailed, match="must return a token"):
            read_with(lambda: "to\x01ken")


def test_a_token_is_written_as_the_rfc_says(kwire):
    """The bytes of the first message are those of RFC 7628, with extensions.

    If the token is rejected, the client sends one byte, and the exchange is finished.
    """
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    bearer = sasl.OAuthBearer(lambda: "abc", {"logicalCluster": "lkc-1"})
    opening = b"n,,\x01auth=Bearer abc\x01logicalCluster=lkc-1\x01\x01"
    assert bearer.first() == opening
    assert bearer.challenge(b"") is None and bearer.is_done
    assert bearer.first() == opening and not bearer.is_done
    assert bearer.challenge(b'{"status":"invalid_token"}') == b"\x01"
    with pytest.raises(sasl.SaslError, match="rejected the token"):
        bearer.challenge(b"")
    assert "abc" not in repr(bearer)
    with pytest.raises(TypeError, match="function"):
        sasl.OAuthBearer("abc")
    invalid = {"auth": "x"}, {"a": "x\x01y=z"}, {"a=b": "c"}, {"é": "c"}, {"a": "ü"}
    for extensions in (*invalid, {"": "c"}, {"a": "b\0"}):
        with pytest.raises(ValueError, match="extensions"):
            sasl.OAuthBearer(lambda: "abc", extensions)


@pytest.mark.parametrize(
    ("text", "fallback"),
    [("0.9.0", "0.9.0"), ("0.8.2.2", "0.8.2.2"), ("0.10.0", None), ("2.8.1", None)],
)
def test_the_release_to_assume_is_read_like_librdkafkas(text, fallback):
    """``broker.version.fallback`` is read as librdkafka reads it.

    Newer releases have no effect, because their brokers report their versions.
    """
    config = read_config({"broker.version.fallback": text})
    assert config.fallback == fallback


@pytest.mark.parametrize("text", ["0.7.2", "new", "0.9", "", "2.8.1; rm"])
def test_fallback_that_is_not_a_release_is_rejected(text):
    """An unknown release is an error in the property and in the argument."""
    with pytest.raises(
        ValueError, match=r"broker\.version\.fallback must be a release"
    ):
        read_config({"broker.version.fallback": text})
    with pytest.raises(ValueError, match="fallback must be a release from"):
        connect_sync("broker:9092", fallback=text)
