# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks scans through TLS and each mechanism of SASL against a real broker.

    python -m tools.interop.broker.secure_scans  # 4.x
    python -m tools.interop.broker.secure_scans --version 3.9

PLAIN, SCRAM and OAUTHBEARER (with unsigned tokens), by arguments and by
Kafka's own property names, asyncio and blocking; who may not come in hears why. A scan
that follows outlives its SASL sessions (KIP-368).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import functools
import json
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kwire import client, sasl
from kwire.cluster import AuthenticationRefused, ClusterError
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, security, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.security import PASSWORD, USER

TOPIC = "secure"
ROWS = 500
SESSION_MS = 6000
SESSIONS = 3
SECONDS = 60
JAAS = {"PLAIN": "plain.PlainLoginModule"}


def new_token(seconds: float = 3600) -> str:
    """Make an unsigned token, which Kafka's default handlers accept."""
    now = time.time()
    claims = {"sub": USER, "iat": now - 1, "exp": now + seconds}
    parts = [json.dumps(each).encode() for each in ({"alg": "none"}, claims)]
    return ".".join(
        [*(base64.urlsafe_b64encode(each).decode().rstrip("=") for each in parts), ""]
    )


def mechanisms(password: str) -> dict[str, Callable[[], Any]]:
    """Return what makes each mechanism with a password, or with a token."""
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
    """Read the topic with blocking calls."""
    with cluster:
        return [row.value for row in cluster.scan(TOPIC).messages()]


def read_async(cluster: client.Kafka) -> list[bytes | None]:
    """Read the topic over asyncio."""

    async def collect() -> list[bytes | None]:
        async with cluster:
            return [row.value async for row in cluster.scan(TOPIC).messages()]

    return asyncio.run(collect())


def properties(name: str, address: str, ca: Path) -> dict[str, str]:
    """Return the properties of a client of Kafka's own."""
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


def check_mechanisms(address: str, ca: Path, wanted: list[bytes]) -> None:
    """Read the topic with each mechanism, and be refused with each."""
    context = ssl.create_default_context(cafile=str(ca))
    for name, make in mechanisms(PASSWORD).items():
        blocking = functools.partial(
            client.connect_sync, address, ssl=context, sasl=make
        )
        found = [
            read_once_known(blocking),
            read_async(client.connect(address, ssl=context, sasl=make)),
        ]
        if name != security.OAUTH:
            config = properties(name, address, ca)
            found.append(read(client.connect_sync(config=config)))
        if any(sorted(filter(None, each)) != wanted for each in found):
            raise BrokerError(f"{name}: other records than were written")
    for name, make in mechanisms("open sesame").items():
        refused = client.connect_sync(address, ssl=context, sasl=make)
        expect_error(name, refused, AuthenticationRefused, [address])
    plain = sasl.Plain(USER, PASSWORD)
    without_tls = client.connect_sync(address, sasl=plain, connect_timeout_s=5)
    expect_error("no TLS", without_tls, ClusterError, [address, "TLS"])
    untrusted = client.connect_sync(address, ssl=True, sasl=plain)
    expect_error("no CA", untrusted, ClusterError, [address, "certificate"])
    without_sasl = client.connect_sync(address, ssl=context, connect_timeout_s=5)
    expect_error("no SASL", without_sasl, ClusterError, [address])


def read_once_known(connect: Callable[[], client.KafkaSync]) -> list[bytes | None]:
    """Read again while a user is refused: the broker gets to know a new one later."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return read(connect())
        except AuthenticationRefused:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def expect_error(
    what: str, cluster: client.KafkaSync, kind: type[Exception], words: Iterable[str]
) -> None:
    """Fail unless reading ends with an error of this kind, soon, with these words."""
    begun = time.monotonic()
    try:
        read(cluster)
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        if missing or time.monotonic() - begun > SECONDS / 2:
            raise BrokerError(f"{what}: {error}; lacks {missing}") from error
        print(f"  {what}: {error}")
        return
    raise BrokerError(f"{what}: no error")


def check_sessions(kafka: Broker, address: str, ca: Path) -> None:
    """Follow the topic for some sessions, with a new token for each."""
    tokens: list[str] = []

    def token() -> str:
        tokens.append(new_token(SESSION_MS / 1000))
        return tokens[-1]

    context = ssl.create_default_context(cafile=str(ca))
    found: list[int] = []
    with client.connect_sync(
        address, ssl=context, sasl=lambda: sasl.OAuthBearer(token)
    ) as cluster:
        scan = cluster.scan(TOPIC, follow=True)

        def follow() -> None:
            found.extend(row.offset for row in scan.messages())

        reader = threading.Thread(target=follow)
        reader.start()
        number = ROWS
        until = time.monotonic() + SESSIONS * SESSION_MS / 1000
        while time.monotonic() < until:
            rows = workloads.numbered_rows(TOPIC, 10, number)
            clients.produce_with_librdkafka(kafka, TOPIC, rows, "none", 10)
            number += 10
            time.sleep(0.2)
        deadline = time.monotonic() + SECONDS
        while len(found) < number and reader.is_alive():
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        scan.close()
        reader.join(SECONDS)
    if found != list(range(number)):
        raise BrokerError(f"a scan of some sessions has {len(found)} of {number}")
    if len(tokens) < SESSIONS:
        raise BrokerError(f"{len(tokens)} tokens for {SESSIONS} sessions")
    print(f"  {len(tokens)} sessions of one scan, each record once")


def check(version: str) -> None:
    """Check against one broker."""
    begun = time.monotonic()
    release = brokers.find_release(version)
    with tempfile.TemporaryDirectory(prefix="kwire-broker-") as name:
        folder = Path(name)
        kafka = Broker(release, folder)
        port = brokers.free_ports(1)[0]
        certificate = security.make_certificate(folder)
        security.add_listener(kafka, port, certificate, SESSION_MS)
        address = f"{brokers.LOOPBACK}:{port}"
        try:
            kafka.start()
            security.add_user(kafka)
            workloads.create_topic(kafka, TOPIC)
            rows = workloads.numbered_rows(TOPIC, ROWS)
            clients.produce_with_librdkafka(kafka, TOPIC, rows, "lz4", 50)
            wanted = sorted(row.value for row in rows if row.value is not None)
            check_mechanisms(address, certificate, wanted)
            check_sessions(kafka, address, certificate)
        finally:
            kafka.stop()
    print(
        f"Kafka {release}: scans through TLS with {', '.join(mechanisms(PASSWORD))};"
        f" {time.monotonic() - begun:.0f} s"
    )


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="append", help="such as 4.x; may repeat")
    try:
        for version in parser.parse_args().version or ["4.x"]:
            check(version)
    except BrokerError as error:
        sys.exit(f"secure_scans: {error}")


if __name__ == "__main__":
    main()
