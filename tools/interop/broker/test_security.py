# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check TLS and all SASL mechanisms with a running broker.

The checks use PLAIN, SCRAM and OAUTHBEARER (with unsigned tokens), configured by
arguments and by Kafka's property names, with the asyncio and the blocking client and
with ``kwire versions``. A rejected client must receive the reason. A following scan
must continue when its SASL session expires (KIP-368).
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kwire import client
from kwire.client import AuthenticationFailed, ClusterError
from kwire.client.sasl_mechanisms import PASSWORD_MECHANISMS
from kwire.connection import sasl
from tests.client.token_server import serve_tokens
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, security, workloads
from tools.interop.broker.broker import Broker
from tools.interop.broker.command import kwire_versions
from tools.interop.broker.security import PASSWORD, USER

pytestmark = pytest.mark.releases("4.x")

TOPIC = "secure"
ROWS = 500
SESSION_MS = 6000
SESSIONS = 3
SECONDS = 60
WRONG = "open sesame"
JAAS = {"PLAIN": "plain.PlainLoginModule"}


class Secure(NamedTuple):
    """Broker with a listener for TLS and SASL. Its topic contains ``values``."""

    kafka: Broker
    address: str
    certificate: Path
    values: list[bytes]

    @property
    def context(self) -> ssl.SSLContext:
        """Context for TLS connections that trusts the certificate of the broker."""
        return ssl.create_default_context(cafile=str(self.certificate))


@pytest.fixture(scope="module")
def secure(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("secure")
    kafka = Broker(brokers.find_release(version), folder)
    (port,) = brokers.free_ports(1)
    certificate = security.make_certificate(folder)
    security.add_listener(kafka, port, certificate, SESSION_MS)
    rows = workloads.numbered_rows(TOPIC, ROWS)
    values = sorted(row.value for row in rows if row.value is not None)
    secured = Secure(kafka, f"{brokers.LOOPBACK}:{port}", certificate, values)
    try:
        kafka.start()
        security.add_user(kafka)
        workloads.create_topic(kafka, TOPIC)
        clients.produce_with_librdkafka(kafka, TOPIC, rows, "lz4", 50)
        for mechanism in security.SCRAM:
            wait_for_user(secured, mechanism)
        yield secured
    finally:
        kafka.stop()


def wait_for_user(secure: Secure, mechanism: str) -> None:
    """Wait until the listener accepts the new user's password.

    The controller stores the new user first, and informs the broker later.
    """
    make = mechanisms(PASSWORD)[mechanism]
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            with client.connect_sync(
                secure.address, ssl=secure.context, sasl=make
            ) as kafka:
                kafka.topics()
                return
        except AuthenticationFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def new_token(seconds: float = 3600) -> str:
    """Create an unsigned token that expires after the specified number of seconds.

    Kafka's default handlers accept such tokens.
    """
    now = time.time()
    claims = {"sub": USER, "iat": now - 1, "exp": now + seconds}
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
    return ".".join(
        [*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""]
    )


def mechanisms(password: str) -> dict[str, Callable[[], Any]]:
    """Return a function per SASL mechanism that creates the mechanism.

    If the password is wrong, the token of OAUTHBEARER has expired.
    """
    token = new_token if password == PASSWORD else (lambda: new_token(-10))
    return {
        "PLAIN": lambda: sasl.Plain(USER, password),
        **{
            name: lambda name=name: sasl.Scram(USER, password, name)  # type: ignore[misc]
            for name in security.SCRAM
        },
        security.OAUTH: lambda: sasl.OAuthBearer(token),
    }


def read(cluster: client.KafkaSync) -> list[bytes | None]:
    """Read the values of the topic with the blocking client, and close the client."""
    with cluster:
        return [row.value for row in cluster.scan(TOPIC).records()]


def read_async(cluster: client.Kafka) -> list[bytes | None]:
    """Read the values of the topic with the asyncio client, and close the client."""

    async def collect() -> list[bytes | None]:
        async with cluster:
            return [row.value async for row in cluster.scan(TOPIC).records()]

    return asyncio.run(collect())


def properties(name: str, address: str, ca: Path) -> dict[str, str]:
    """Return the client properties with which a Java client would connect.

    ``ca`` is the file that contains the trusted certificate.
    """
    module = JAAS.get(name, "scram.ScramLoginModule")
    return {
        "bootstrap.servers": address,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": name,
        "sasl.jaas.config": (
            f"org.apache.kafka.common.security.{module} required"
            f' username="{USER}" password="{PASSWORD}";'
        ),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ca),
    }


def expect_error(
    cluster: client.KafkaSync, kind: type[Exception], words: Iterable[str]
) -> None:
    """Check that reading raises the expected error within half of the timeout.

    The error text must contain all ``words``.
    """
    begun = time.monotonic()
    with pytest.raises(kind) as raised:
        read(cluster)
    assert time.monotonic() - begun < SECONDS / 2
    for word in words:
        assert word in str(raised.value)


NAMES = ("PLAIN", *security.SCRAM, security.OAUTH)


@pytest.mark.parametrize("name", NAMES)
def test_topics_are_read_through_tls_and_sasl(secure: Secure, name: str) -> None:
    make = mechanisms(PASSWORD)[name]
    address, context = secure.address, secure.context
    results = [
        read(client.connect_sync(address, ssl=context, sasl=make)),
        read_async(client.connect(address, ssl=context, sasl=make)),
    ]
    if name != security.OAUTH:
        config = properties(name, address, secure.certificate)
        results.append(read(client.connect_sync(config=config)))
    for values in results:
        assert sorted(filter(None, values)) == secure.values


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_password_or_token_is_rejected(secure: Secure, name: str) -> None:
    make = mechanisms(WRONG)[name]
    rejected = client.connect_sync(secure.address, ssl=secure.context, sasl=make)
    expect_error(rejected, AuthenticationFailed, [secure.address])


def test_tls_and_sasl_that_are_missing_are_named(secure: Secure) -> None:
    address, plain = secure.address, sasl.Plain(USER, PASSWORD)
    without_tls = client.connect_sync(address, sasl=plain, connect_timeout_s=5)
    expect_error(without_tls, ClusterError, [address, "TLS"])
    untrusted = client.connect_sync(address, ssl=True, sasl=plain)
    expect_error(untrusted, ClusterError, [address, "certificate"])
    without_sasl = client.connect_sync(address, ssl=secure.context, connect_timeout_s=5)
    expect_error(without_sasl, ClusterError, [address])


def test_a_scan_outlives_its_sasl_sessions(secure: Secure) -> None:
    """A scan continues when its SASL session expires. It requests a new token."""
    kafka, topic = secure.kafka, "sessions"
    workloads.create_topic(kafka, topic)
    tokens: list[str] = []

    def token() -> str:
        tokens.append(new_token(SESSION_MS / 1000))
        return tokens[-1]

    offsets: list[int] = []
    with client.connect_sync(
        secure.address, ssl=secure.context, sasl=lambda: sasl.OAuthBearer(token)
    ) as cluster:
        scan = cluster.scan(topic, follow=True)

        def follow() -> None:
            offsets.extend(row.offset for row in scan.records())

        reader = threading.Thread(target=follow)
        reader.start()
        number = 0
        until = time.monotonic() + SESSIONS * SESSION_MS / 1000
        while time.monotonic() < until:
            rows = workloads.numbered_rows(topic, 10, number)
            clients.produce_with_librdkafka(kafka, topic, rows, "none", 10)
            number += 10
            time.sleep(0.2)
        deadline = time.monotonic() + SECONDS
        while len(offsets) < number and reader.is_alive():
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        scan.close()
        reader.join(SECONDS)
    assert offsets == list(range(number))
    assert len(tokens) >= SESSIONS
    print(f"  {len(tokens)} sessions of one scan, each record once")


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
def test_versions_are_read_through_tls_and_sasl(
    secure: Secure, mechanism: str, tmp_path: Path
) -> None:
    password, wrong = tmp_path / "password", tmp_path / "wrong"
    password.write_text(f"{PASSWORD}\n", encoding="utf-8")
    wrong.write_text(f"{WRONG}\n", encoding="utf-8")
    options = ["--tls", "--ca", str(secure.certificate), "--username", USER]
    options += ["--sasl-mechanism", mechanism, "--password-file"]
    plain = kwire_versions(secure.kafka.address, "-o", "jsonl")
    output = kwire_versions(secure.address, *options, str(password), "-o", "jsonl")
    row = json.loads(output.splitlines()[0])
    assert row["address"] == secure.address
    assert row["apis"] == json.loads(plain.splitlines()[0])["apis"]
    error = kwire_versions(secure.address, *options, str(wrong), code=2)
    assert secure.address in error
    assert mechanism in error


def test_versions_are_read_with_tokens_of_an_endpoint(
    secure: Secure, tmp_path: Path
) -> None:
    """``kwire versions`` accepts a token endpoint and client credentials (KIP-768)."""
    password = tmp_path / "secret"
    password.write_text(PASSWORD, encoding="utf-8")
    token = {"access_token": new_token(), "expires_in": 3600, "token_type": "Bearer"}
    with serve_tokens([(200, token)]) as endpoint:
        options = ["--tls", "--ca", str(secure.certificate), "--username", USER]
        options += ["--sasl-mechanism", security.OAUTH, "--token-url", endpoint.url]
        options += ["--password-file", str(password), "-o", "jsonl"]
        output = kwire_versions(secure.address, *options)
    assert json.loads(output.splitlines()[0])["address"] == secure.address
    assert endpoint.requests


def test_plaintext_at_a_tls_port_is_named(secure: Secure) -> None:
    assert "TLS" in kwire_versions(secure.address, code=2)
