# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A wrong address, password, topic or argument raises a one-sentence error."""

import importlib
import re
import socket
import ssl
import time
from datetime import timedelta

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.harness.loopback_brokers import (
    HOST,
    Listener,
    make_certificate,
    server_context,
)

USERS = {"alice": "wonderland"}
QUICKLY_S = 8


@pytest.fixture(scope="module")
def broker():
    """Broker without TLS and SASL."""
    with LogBroker({"orders": (5, 5)}) as running:
        yield running


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def trusting(certificate):
    """Client context that trusts the certificate."""
    return ssl.create_default_context(cafile=certificate[0])


@pytest.fixture(scope="module")
def secure_broker(certificate):
    """Broker with TLS that requires a password."""
    context = server_context(*certificate)
    with LogBroker({"orders": (30,)}, users=USERS, context=context) as running:
        yield running


@pytest.fixture(params=RUNNERS)
def runner(request):
    """Name of the runner: "blocking" or "asyncio"."""
    return request.param


def refusal(kwire, runner, address, *, kind="BrokersUnreachable", **connect):
    """Read ``orders``, and return the text of the expected error.

    The error has the class ``kind`` and is raised quickly. Its text is one line with
    the address.
    """
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    began = time.monotonic()
    with pytest.raises(getattr(cluster, kind)) as caught:
        read(kwire, runner, address, "orders", connect=connect)
    assert time.monotonic() - began < QUICKLY_S
    text = str(caught.value)
    assert isinstance(caught.value, kwire.KwireError)
    assert address in text
    assert "\n" not in text and len(text) < 200
    return text


def test_a_closed_port_is_named(kwire, runner):
    """The error contains the address if no process listens on the port."""
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    text = refusal(kwire, runner, f"{HOST}:{port}")
    assert text == (
        f"{HOST}:{port}: connection refused; check that the broker is running,"
        " and that this is its port"
    )


def test_unknown_host_is_reported_immediately(kwire, runner):
    """The error is raised immediately if the host name cannot be resolved."""
    text = refusal(kwire, runner, "kafka.invalid:9092")
    assert "the host name cannot be resolved" in text or "no address" in text


def test_all_addresses_are_named(kwire, runner):
    """The error contains every address with its reason."""
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    addresses = f"kafka.invalid:9092,{HOST}:{port}"
    with pytest.raises(cluster.BrokersUnreachable) as caught:
        read(kwire, runner, addresses, "orders")
    assert f"{HOST}:{port}: connection refused" in str(caught.value)
    assert "kafka.invalid:9092: " in str(caught.value)


def test_one_address_that_answers_is_enough(kwire, runner, broker):
    """The scan succeeds if one of the addresses leads to a broker."""
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    addresses = f"kafka.invalid:1,{HOST}:{port},{broker.address}"
    chunks = read(kwire, runner, addresses, "orders")
    assert sum(len(chunk.records()) for chunk in chunks) == 10


def test_tls_to_a_plain_port_is_named(kwire, runner, broker, trusting):
    """The broker closes the connection, or sends bytes that are not TLS.

    In both cases, the error mentions TLS.
    """
    text = refusal(kwire, runner, broker.address, ssl=trusting)
    assert "TLS" in text


def test_no_tls_to_a_tls_port_is_named(kwire, runner, secure_broker):
    """The broker sends a TLS alert, or closes the connection.

    In both cases, the error mentions TLS.
    """
    text = refusal(kwire, runner, secure_broker.address)
    assert "TLS" in text


def test_untrusted_certificate_is_reported(kwire, runner, secure_broker):
    """``ssl=True`` trusts the system's certificate authorities."""
    text = refusal(kwire, runner, secure_broker.address, ssl=True)
    assert "its certificate is not trusted" in text
    assert "of the authority" in text


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_records_are_read_over_tls_with_a_password(
    kwire, runner, secure_broker, trusting, mechanism
):
    """All records are read over TLS with SASL."""
    sasl = mechanism_of(kwire, mechanism, "wonderland")
    connect = {"ssl": trusting, "sasl": sasl}
    chunks = read(kwire, runner, secure_broker.address, "orders", connect=connect)
    assert sum(len(chunk.records()) for chunk in chunks) == 30


def mechanism_of(kwire, name, password):
    """Return a SASL mechanism by name, for the user ``alice``."""
    sasl = importlib.import_module(f"{kwire.__name__}.connection.sasl")
    if name == "PLAIN":
        return sasl.Plain("alice", password)
    return sasl.Scram("alice", password, name)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_named(kwire, runner, secure_broker, trusting, mechanism):
    """The scan ends immediately, and no text contains the password."""
    text = refusal(
        kwire,
        runner,
        secure_broker.address,
        kind="AuthenticationFailed",
        ssl=trusting,
        sasl=mechanism_of(kwire, mechanism, "looking-glass"),
    )
    assert "Go away" in text and "looking-glass" not in text


def test_a_broker_without_sasl_is_named(kwire, runner, broker):
    """The broker rejects the handshake, because it has no users."""
    text = refusal(
        kwire,
        runner,
        broker.address,
        kind="AuthenticationFailed",
        sasl=mechanism_of(kwire, "PLAIN", "wonderland"),
    )
    assert "SASL" in text


def test_a_broker_that_requires_sasl_is_named(kwire, runner):
    """The broker negotiates, and closes the connection on the next request."""
    with LogBroker({"orders": (5,)}, users=USERS) as running:
        text = refusal(kwire, runner, running.address)
    assert "require SASL" in text


def test_a_missing_mechanism_is_named(kwire, runner):
    """The error lists the mechanisms that the broker supports."""
    with LogBroker({}, users=USERS, mechanisms=("SCRAM-SHA-512",)) as running:
        text = refusal(
            kwire,
            runner,
            running.address,
            kind="AuthenticationFailed",
            sasl=mechanism_of(kwire, "PLAIN", "wonderland"),
        )
    assert "does not accept PLAIN; it offers SCRAM-SHA-512" in text


def test_a_broker_that_hangs_up_is_named(kwire, runner):
    """A broker may disconnect because it requires SASL or TLS.

    The peer may also be no Kafka broker.
    """
    with Listener(lambda stream: stream.recv(1)) as listener:
        refusal(kwire, runner, listener.address)


def test_silent_broker_is_an_error_after_connect_timeout_s(kwire, runner):
    """The client stops waiting after ``connect_timeout_s``."""
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as listener:
        text = refusal(kwire, runner, listener.address, connect_timeout_s=0.3)
    assert "within 0.3 s" in text


def test_an_unknown_topic_is_named(kwire, runner, broker, monkeypatch):
    """The error is raised after a delay, because the topic may be new."""
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    scan = f"{kwire.__name__}.client.machines.scan"
    finder = importlib.import_module(f"{scan}.partition_finder")
    monkeypatch.setattr(finder, "MAX_UNKNOWN_TOPIC_S", 0.2)
    with pytest.raises(cluster.TopicNotFound, match="topic 'nope' does not exist"):
        read(kwire, runner, broker.address, ["orders", "nope"])
    with pytest.raises(cluster.TopicNotFound, match=r"no topic matches .*'nope.*'"):
        read(kwire, runner, broker.address, re.compile("nope.*"))


def test_an_unknown_partition_is_named(kwire, runner, broker):
    """The partition occurs in the topics, in ``start`` or in ``end``."""
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    for topics, options in [
        ({"orders": [1, 2]}, {}),
        ("orders", {"start": {2: 0}}),
        ("orders", {"end": {("orders", 2): 5}}),
    ]:
        with pytest.raises(
            cluster.TopicNotFound, match="topic 'orders' has no partition 2; it has 2"
        ):
            read(kwire, runner, broker.address, topics, **options)


@pytest.mark.parametrize(
    ("topics", "options", "text"),
    [
        ([], {}, "at least one topic"),
        ("", {}, "topics must be"),
        (b"orders", {}, "topics must be"),
        (None, {}, "topics must be"),
        (7, {}, "topics must be"),
        ([7], {}, "topics must be"),
        ({"orders": 0}, {}, "topics must be"),
        ({"orders": ["0"]}, {}, "topics must be"),
        ({"orders": []}, {}, "topics must be"),
        ("orders", {"start": "oldest"}, "start must be"),
        ("orders", {"start": -1}, "start must be"),
        ("orders", {"start": True}, "start must be"),
        ("orders", {"end": 1.5}, "end must be"),
        ("orders", {"end": None}, "end must be"),
        ("orders", {"start": {"0": 1}}, "start must have keys"),
        ("orders", {"start": {("orders", "0"): 1}}, "start must have keys"),
        (["a", "b"], {"start": {0: 1}}, "start must have keys"),
        ("orders", {"follow": True, "end": 7}, "end cannot be given with follow"),
        ("orders", {"columns": ["offset", "size"]}, "columns must be a list"),
        ("orders", {"columns": "offset"}, "columns must be a list"),
        ("orders", {"columns": []}, "columns must be a list"),
        ("orders", {"timestamp_unit": "m"}, "timestamp_unit must be"),
        ("orders", {"isolation_level": "serializable"}, "isolation_level must be"),
        ("orders", {"on_data_loss": "ignore"}, "on_data_loss must be"),
        ("orders", {"memory_bytes": 0}, "memory_bytes must be"),
    ],
)
def test_a_bad_argument_is_named_before_anything_is_sent(kwire, topics, options, text):
    """Both clients raise ``ValueError`` or ``TypeError``."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    for connect in (client.connect, client.connect_sync):
        with pytest.raises((ValueError, TypeError), match=text):
            connect("kafka.invalid:9092").scan(topics, **options)


@pytest.mark.parametrize("address", ["", "kafka", "kafka:0", "kafka:x", ",", "::1:9"])
def test_a_bad_address_is_named(kwire, address):
    """An address needs a host and a port between 1 and 65535."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(ValueError, match=r"HOST:PORT|the port must be a number"):
        client.connect(address)


def test_a_bad_mechanism_is_named(kwire):
    """A tuple of a name and a password is not a mechanism, which ``sasl`` must be."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(TypeError, match="sasl must be a mechanism") as caught:
        client.connect_sync("kafka:9092", sasl=("alice", "wonderland"))
    assert "wonderland" not in str(caught.value)


def test_lost_records_are_reported(kwire, runner, broker):
    """An offset outside of the log, before its start or after its end, is a loss."""
    cluster = importlib.import_module(f"{kwire.__name__}.client.machines")
    with pytest.raises(cluster.DataLost, match="reading orders-0 at offset 99"):
        read(kwire, runner, broker.address, {"orders": [0]}, start=99)
    options = {"start": 99, "on_data_loss": "earliest"}
    chunks = read(kwire, runner, broker.address, {"orders": [0]}, **options)
    assert sum(len(chunk.records()) for chunk in chunks) == 5


def test_a_duration_may_be_in_the_future(kwire, runner, broker):
    """The scan ends immediately, because no record is that late."""
    ago = timedelta(days=-1)
    assert not read(kwire, runner, broker.address, "orders", start=ago)
