# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run clients of other projects with a broker based on ``ServerConnection``.

librdkafka, kafka-python and aiokafka produce records, read them back as a consumer
group, and commit. The broker supports the versions of releases from 0.10 to the newest.
This protects negotiation and connections on the server side, and the layouts of all
versions that these clients use. All connections use the loopback interface, and every
wait has a timeout.
"""

import asyncio
import time
import warnings
from types import MappingProxyType
from typing import NamedTuple

import aiokafka
import confluent_kafka
import pytest

from tests.connection.broker import Broker

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # Importing kafka-python uses a deprecated API to read package resources.
    import kafka

# Clients may leave a socket to the garbage collector. The broker closes its own
# sockets.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

TIMEOUT_S = 60
TOPIC, GROUP = "values", "readers"
ROWS = [(b"key-%d" % n, b"value %d " % n * 5) for n in range(40)]
USER, PASSWORD = "alice", "wonder"


class Librdkafka:
    """Producer and consumer of confluent-kafka, which is based on librdkafka."""

    software = "confluent-kafka-python"
    newest = MappingProxyType({"ApiVersions": 3, "Produce": 10, "Fetch": 16})
    dated = MappingProxyType(
        {"api.version.request": False, "broker.version.fallback": "0.9.0"}
    )

    def __init__(self, address, password=None, **options):
        """Store the address and the credentials."""
        self._options = {"bootstrap.servers": address, "log_level": 2, **options}
        if password:
            self._options |= {
                "security.protocol": "sasl_plaintext",
                "sasl.mechanism": "PLAIN",
                "sasl.username": USER,
                "sasl.password": password,
            }

    def produce(self, acks=-1):
        """Send the rows, and wait until they are delivered."""
        failed = []

        def delivered(error, _):
            if error is not None:
                failed.append(error)

        options = {"linger.ms": 5, "acks": acks, **self._options}
        producer = confluent_kafka.Producer(options)
        for key, value in ROWS:
            producer.produce(TOPIC, value, key, on_delivery=delivered)
        assert producer.flush(TIMEOUT_S) == 0
        assert failed == []

    def consume(self):
        """Read as many rows as were sent, and commit the offset after them.

        The consumer is the only member of its group. Return the rows.
        """
        consumer = confluent_kafka.Consumer(
            {
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                **self._options,
            }
        )
        consumer.subscribe([TOPIC])
        rows = []
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while len(rows) < len(ROWS) and time.monotonic() < deadline:
                for message in consumer.consume(len(ROWS) - len(rows), 0.2):
                    assert message.error() is None, message.error()
                    rows.append((message.key(), message.value()))
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        return rows


class KafkaPython:
    """kafka-python producer and consumer."""

    software = "kafka-python"
    newest = MappingProxyType({"ApiVersions": 4, "Produce": 9, "Fetch": 12})
    dated = MappingProxyType({"api_version": (0, 9)})

    def __init__(self, address, password=None, **options):
        """Store the address and the credentials."""
        self._options = {
            "bootstrap_servers": address,
            **python_sasl(password),
            **options,
        }

    def produce(self, acks=-1):
        """Send the rows, and wait until they are delivered."""
        idempotent = {} if acks else {"enable_idempotence": False}
        producer = kafka.KafkaProducer(
            linger_ms=5, acks=acks, **idempotent, **self._options
        )
        try:
            sent = [producer.send(TOPIC, value, key) for key, value in ROWS]
            for delivery in sent:
                delivery.get(TIMEOUT_S)
        finally:
            producer.close(TIMEOUT_S)

    def consume(self):
        """Read as many rows as were sent, and commit the offset after them.

        The consumer is the only member of its group. Return the rows.
        """
        consumer = kafka.KafkaConsumer(
            group_id=GROUP,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
            **self._options,
        )
        # The consumer must know the topic when it joins, otherwise it is assigned no
        # partition.
        assert consumer.partitions_for_topic(TOPIC) == {0}
        consumer.subscribe([TOPIC])
        rows = []
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while time.monotonic() < deadline:
                for records in consumer.poll(5000).values():
                    rows += [(record.key, record.value) for record in records]
                if len(rows) < len(ROWS):
                    continue
                try:
                    consumer.commit()
                    break
                except kafka.errors.RebalanceInProgressError:
                    # The consumer has rejoined the group, and reads from the start
                    # again.
                    rows.clear()
        finally:
            consumer.close()
        return rows


class Aiokafka:
    """aiokafka producer and consumer."""

    software = ""
    newest = MappingProxyType({"ApiVersions": 0, "Produce": 7, "Fetch": 11})

    def __init__(self, address, password=None):
        """Store the address and the credentials."""
        self._options = {"bootstrap_servers": address, **python_sasl(password)}

    def produce(self, acks=-1):
        """Send the rows, and wait until they are delivered."""
        asyncio.run(asyncio.wait_for(self._produce(acks), TIMEOUT_S))

    async def _produce(self, acks):
        producer = aiokafka.AIOKafkaProducer(linger_ms=5, acks=acks, **self._options)
        await producer.start()
        try:
            for key, value in ROWS:
                await producer.send(TOPIC, value, key)
            await producer.flush()
        finally:
            await producer.stop()

    def consume(self):
        """Read as many rows as were sent, and commit the offset after them.

        The consumer is the only member of its group. Return the rows.
        """
        return asyncio.run(asyncio.wait_for(self._consume(), TIMEOUT_S))

    async def _consume(self):
        consumer = aiokafka.AIOKafkaConsumer(
            TOPIC,
            group_id=GROUP,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_max_wait_ms=50,
            **self._options,
        )
        await consumer.start()
        rows = []
        try:
            while len(rows) < len(ROWS):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    rows += [(record.key, record.value) for record in records]
            await consumer.commit()
        finally:
            await consumer.stop()
        return rows


def python_sasl(password):
    """Return the SASL options of both Python clients."""
    if not password:
        return {}
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": USER,
        "sasl_plain_password": password,
    }


CLIENTS = [Librdkafka, KafkaPython, Aiokafka]
RELEASES = ["0.10.0", "0.10.2", "0.11.0", "1.1", "2.3", "2.8", "3.9", "4.1", "4.4"]


class Exchange(NamedTuple):
    """Records that one client has exchanged with a broker.

    * ``client``: class of the client.
    * ``broker``: the broker, which has stopped.
    * ``found``: rows that the client has read back.
    """

    client: type
    broker: Broker
    found: list


@pytest.fixture(scope="module", params=RELEASES)
def release(request):
    """Release whose versions the broker supports."""
    return request.param


@pytest.fixture(scope="module", params=CLIENTS)
def exchange(request, kwire, release):
    """Rows that one client has sent to a broker of one release and read back."""
    client = request.param
    with Broker(kwire, release) as broker:
        peer = client(broker.address)
        peer.produce()
        rows = peer.consume()
    return Exchange(client, broker, rows)


def test_a_group_reads_what_was_produced_and_commits(exchange):
    """The records are complete, and the committed offset is after the last one."""
    assert exchange.found == ROWS
    assert exchange.broker.cluster.committed(GROUP, TOPIC) == len(ROWS)


def test_clients_use_the_newest_version_that_both_sides_know(exchange):
    """Produce and Fetch have the newest version that both sides support.

    This requires that the client has decoded the version table.
    """
    broker = exchange.broker
    for name in ("Produce", "Fetch"):
        request = getattr(broker.kwire.messages, f"{name}Request")
        newest = min(broker.table.range_of(request).max, exchange.client.newest[name])
        versions = {version for requested, version in broker.asked if requested == name}
        assert versions == {newest}
    assert broker.events_of("UnsupportedReceived") == []


def test_clients_retry_api_versions_in_a_supported_version(exchange):
    """If ApiVersions has an unsupported version, it is rejected and sent in another."""
    broker, client = exchange.broker, exchange.client
    newest = broker.table.range_of(broker.kwire.messages.ApiVersionsRequest).max
    answers = [event[:2] for event in broker.events_of("ApiVersionsAnswered")]
    codes = broker.kwire.error_codes
    first = client.newest["ApiVersions"]
    if first <= newest:
        assert set(answers) == {(first, codes.NONE)}
    else:
        assert answers[0] == (first, codes.UNSUPPORTED_VERSION)
        versions = {version for version, code in answers if code == codes.NONE}
        assert versions
        assert max(versions) <= newest
        assert set(answers) - {answers[0]} == {
            (version, codes.NONE) for version in versions
        }


def test_clients_report_their_software(exchange):
    """ApiVersions contains the software name and version from version 3 on."""
    for event in exchange.broker.events_of("ApiVersionsAnswered"):
        tells = event.version >= 3 and not event.error_code
        assert event.software_name == (exchange.client.software if tells else "")
        assert bool(event.software_version) == tells


@pytest.mark.parametrize("client", [Librdkafka, KafkaPython])
def test_client_with_known_versions_sends_no_api_versions(kwire, client):
    """The client is told to assume the versions of Kafka 0.9.

    A 0.9 broker does not support ApiVersions, so that the client must not send it.
    """
    with Broker(kwire, "0.9.0") as broker:
        peer = client(broker.address, **client.dated)
        peer.produce()
        assert peer.consume() == ROWS
    assert broker.events_of("ApiVersionsAnswered") == []
    assert {("Produce", 1), ("Fetch", 1), ("Metadata", 0)} <= set(broker.asked)


@pytest.mark.parametrize("release", RELEASES)
def test_librdkafka_lists_the_topics_of_every_release(kwire, release):
    """If librdkafka requests all topics, it sends additional bytes.

    It does so from Metadata version 9 on.
    """
    with Broker(kwire, release) as broker:
        peer = Librdkafka(broker.address)
        peer.produce()
        options = {"bootstrap.servers": broker.address, "log_level": 2}
        metadata = confluent_kafka.Producer(options).list_topics(timeout=TIMEOUT_S)
    assert list(metadata.topics) == [TOPIC]
    assert not broker.failures


def test_kafka_0_9_closes_the_connection_on_api_versions(kwire):
    """As in 0.9, the connection is closed without a response."""
    with Broker(kwire, "0.9.0") as broker:
        admin = confluent_kafka.Producer(
            {"bootstrap.servers": broker.address, "log_level": 0}
        )
        with pytest.raises(confluent_kafka.KafkaException):
            admin.list_topics(timeout=0.5)
        key = kwire.messages.ApiVersionsRequest.api_key
        refused = {event[:2] for event in broker.events_of("UnsupportedReceived")}
    assert (key, 3) in refused
    assert not broker.asked


@pytest.mark.parametrize("client", CLIENTS)
def test_records_that_want_no_response_arrive(kwire, client):
    """The broker sends no response to such a request, and the records are readable."""
    with Broker(kwire, "3.9") as broker:
        peer = client(broker.address)
        peer.produce(acks=0)
        assert peer.consume() == ROWS
    silent = {
        event.expects_response
        for event in broker.events_of("RequestReceived")
        if isinstance(event.request, kwire.messages.ProduceRequest)
    }
    assert silent == {False}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("release", "shape"), [("0.10.0", "raw"), ("1.1", "request"), ("4.4", "request")]
)
def test_clients_sign_in_before_they_exchange_records(kwire, client, release, shape):
    """PLAIN uses frames without headers if a release has no SaslAuthenticate."""
    with Broker(kwire, release, users={USER: PASSWORD}) as broker:
        peer = client(broker.address, PASSWORD)
        peer.produce()
        assert peer.consume() == ROWS
    handshakes = sum(n for (name, _), n in broker.asked.items() if "Handshake" in name)
    assert broker.tokens == {shape: handshakes}


def test_wrong_password_is_reported_with_the_message_of_the_server(kwire):
    """The client reports the reason from SaslAuthenticate.

    The broker processes no later request.
    """
    messages = []
    with Broker(kwire, "2.8", users={USER: PASSWORD}) as broker:
        client = confluent_kafka.Producer(
            {
                "bootstrap.servers": broker.address,
                "security.protocol": "sasl_plaintext",
                "sasl.mechanism": "PLAIN",
                "sasl.username": USER,
                "sasl.password": "wonderland",
                "log_level": 0,
                "error_cb": lambda error: messages.append(str(error)),
            }
        )
        with pytest.raises(confluent_kafka.KafkaException):
            client.list_topics(timeout=0.3)
        client.poll(0)
    assert any("no such user, or another password" in text for text in messages)
    assert {name for name, _ in broker.asked} == {"SaslHandshake", "SaslAuthenticate"}
