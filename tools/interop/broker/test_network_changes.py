# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check a TLS listener with mapped addresses, OAuth tokens and renewed certificates.

The client requests its tokens from an endpoint on the loopback interface (KIP-768). It
connects to the broker through an address map and a connector. The broker's certificate
and the client's trust file are replaced while the client is running.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwire import client, error_codes
from kwire.client import BrokersUnreachable
from kwire.messages import IncrementalAlterConfigsRequest
from tests.client.token_server import serve_tokens
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, security, workloads
from tools.interop.broker.broker import Broker
from tools.interop.broker.test_security import new_token

pytestmark = pytest.mark.releases("4.x")

TOPIC = "orders"
ROWS = 200
HOST = "kafka.example"
"""Advertised host name. It cannot be resolved by any name server."""

PORT = 9093
SECONDS = 60
BROKER_RESOURCE = 4


class Listener(NamedTuple):
    """TLS listener whose advertised address is unreachable.

    * ``port``: port on which the broker actually listens.
    * ``folder``: directory that contains the certificates.
    """

    kafka: Broker
    port: int
    folder: Path

    @property
    def address_map(self) -> dict[tuple[str, int], tuple[str, int]]:
        """Actual address of the listener by its advertised address, for the client."""
        return {(HOST, PORT): (brokers.LOOPBACK, self.port)}

    @property
    def trusted(self) -> Path:
        """File with the certificate that clients trust."""
        return self.folder / "trusted.pem"

    def trust(self, certificate: Path) -> None:
        """Replace the trust file atomically, as a certificate manager does."""
        copy = self.folder / "trusted.pem.new"
        shutil.copy(certificate, copy)
        os.replace(copy, self.trusted)

    def config(self, url: str) -> dict[str, str]:
        """Return the client properties that connect to the listener with a token.

        ``url`` is the address of the token endpoint.
        """
        return {
            "bootstrap.servers": f"{HOST}:{PORT}",
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.trusted),
            "sasl.mechanism": security.OAUTH,
            "sasl.oauthbearer.token.endpoint.url": url,
            "sasl.oauthbearer.client.credentials.client.id": security.USER,
            "sasl.oauthbearer.client.credentials.client.secret": security.PASSWORD,
        }


@pytest.fixture(scope="module")
def listener(
    version: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Listener]:
    folder = tmp_path_factory.mktemp("network")
    kafka = Broker(brokers.find_release(version), folder)
    (port,) = brokers.free_ports(1)
    certificate = security.make_certificate(folder, HOST)
    security.add_listener(kafka, port, certificate, advertised=f"{HOST}:{PORT}")
    relay = Listener(kafka, port, folder)
    relay.trust(certificate)
    try:
        kafka.start()
        workloads.create_topic(kafka, TOPIC)
        rows = workloads.numbered_rows(TOPIC, ROWS)
        clients.produce_with_librdkafka(kafka, TOPIC, rows, "none", 50)
        yield relay
    finally:
        kafka.stop()


def answer_token() -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the JSON body of a successful token response."""
    token = {"access_token": new_token(), "expires_in": 3600, "token_type": "Bearer"}
    return 200, token


def count(kafka: client.KafkaSync) -> int:
    """Scan the topic once. Returns the number of records."""
    return sum(len(chunk.records()) for chunk in kafka.scan(TOPIC))


def test_tokens_of_an_endpoint_are_accepted_through_an_address_map(
    listener: Listener,
) -> None:
    with serve_tokens([answer_token()]) as endpoint:
        config = listener.config(endpoint.url)
        with client.connect_sync(
            config=config, address_map=listener.address_map
        ) as kafka:
            assert count(kafka) == ROWS

        async def read() -> int:
            async with client.connect(
                config=config, address_map=listener.address_map
            ) as kafka:
                chunks = [chunk async for chunk in kafka.scan(TOPIC)]
            return sum(len(chunk.records()) for chunk in chunks)

        assert asyncio.run(read()) == ROWS
        assert endpoint.requests
    unmapped = client.connect_sync(config=config, timeout_s=5)
    with unmapped, pytest.raises(BrokersUnreachable, match=HOST):
        unmapped.topics()


def test_connector_opens_all_connections(listener: Listener) -> None:
    """The connector receives the mapped address.

    TLS still verifies the advertised name.
    """
    opened: list[tuple[str, int]] = []

    def connect(host: str, port: int, timeout_s: float) -> socket.socket:
        opened.append((host, port))
        return socket.create_connection((host, port), timeout_s)

    with (
        serve_tokens([answer_token()]) as endpoint,
        client.connect_sync(
            config=listener.config(endpoint.url),
            address_map=listener.address_map,
            connector=connect,
        ) as kafka,
    ):
        assert count(kafka) == ROWS
    assert set(opened) == {(brokers.LOOPBACK, listener.port)}


def test_renewed_certificates_are_used_by_a_running_client(listener: Listener) -> None:
    """A running scan continues on its connection.

    New connections trust the new certificate.
    """
    renewed = listener.folder / "renewed"
    renewed.mkdir()
    certificate = security.make_certificate(renewed, HOST)
    before = presented(listener)
    with (
        serve_tokens([answer_token()]) as endpoint,
        client.connect_sync(
            config=listener.config(endpoint.url),
            address_map=listener.address_map,
            connect_timeout_s=5,
            timeout_s=10,
        ) as kafka,
    ):
        scan = kafka.scan(TOPIC, follow=True)
        read = 0
        while read < ROWS:
            read += len(next(scan).records())
        install(listener, certificate)
        deadline = time.monotonic() + SECONDS
        while presented(listener) == before:
            assert time.monotonic() < deadline, "the broker keeps its certificate"
            time.sleep(0.2)
        with pytest.raises(BrokersUnreachable, match="certificate"):
            kafka.topics()
        listener.trust(certificate)
        assert TOPIC in kafka.topics()
        assert count(kafka) == ROWS
        rows = workloads.numbered_rows(TOPIC, 10, ROWS)
        clients.produce_with_librdkafka(listener.kafka, TOPIC, rows, "none", 10)
        while read < ROWS + 10:
            read += len(next(scan).records())


def presented(listener: Listener) -> str:
    """Return the certificate that the broker presents to new connections, as PEM."""
    return ssl.get_server_certificate((brokers.LOOPBACK, listener.port))


def install(listener: Listener, certificate: Path) -> None:
    """Make a running broker use another certificate file."""
    make = IncrementalAlterConfigsRequest
    entry = make.AlterableConfig(
        name="listener.name.secure.ssl.keystore.location",
        config_operation=0,
        value=str(certificate),
    )
    resource = make.AlterConfigsResource(
        resource_type=BROKER_RESOURCE, resource_name="1", configs=[entry]
    )
    with client.connect_sync(listener.kafka.address) as kafka:
        answer = kafka.request(make(resources=[resource]), to=1)
    (response,) = answer.responses
    name = error_codes.name(response.error_code)
    assert not response.error_code, f"{name}: {response.error_message}"
