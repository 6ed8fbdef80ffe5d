# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Servers with invalid TLS, over sockets and with both clients.

Certificates that must be rejected, servers with another protocol or an old TLS version,
and incomplete handshakes. Every scan ends with a typed error, and the client sends no
request before the server is authenticated.
"""

import importlib
import ipaddress
import socket
import ssl
import struct
import threading
import time
import warnings
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read
from tests.harness.loopback_brokers import HOST, Listener, server_context

QUICKLY = {"timeout_s": 2.0, "connect_timeout_s": 1.0, "request_timeout_s": 0.7}
LONGEST_S = 8.0
DAY = timedelta(days=1)
PEM = serialization.Encoding.PEM


class Authority:
    """Certificate authority that signs any certificate for a test."""

    def __init__(self, directory, name="authority"):
        self.directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder(self._name, self._name, self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 30 * DAY)
            .not_valid_after(now + 30 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.path = directory / f"{name}.pem"
        self.path.write_bytes(certificate.public_bytes(PEM))

    def sign(self, name, *, begin=-DAY, end=DAY, hosts=None, usage="SERVER_AUTH"):
        """Sign a certificate for hosts, and return its server context."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder(self._name, subject, key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begin)
            .not_valid_after(now + end)
            .add_extension(
                x509.ExtendedKeyUsage([getattr(ExtendedKeyUsageOID, usage)]),
                critical=False,
            )
        )
        hosts = [x509.IPAddress(ipaddress.ip_address(HOST))] if hosts is None else hosts
        if hosts:
            names = x509.SubjectAlternativeName(hosts)
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        paths = [self.directory / f"{name}.{part}" for part in ("crt", "key")]
        paths[0].write_bytes(certificate.public_bytes(PEM))
        paths[1].write_bytes(
            key.private_bytes(
                PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return server_context(*paths)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Authority that the clients trust."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def other_authority(tmp_path_factory):
    """Authority that the clients do not trust."""
    return Authority(tmp_path_factory.mktemp("other"), "other")


@pytest.fixture
def trusting(authority):
    """Client context that trusts the authority."""
    return ssl.create_default_context(cafile=authority.path)


def fail(kwire, number, listener, context):
    """Run a scan that must fail quickly, and return the text of its error.

    ``number`` selects the runner, so that the cases use both runners.
    """
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    runner = RUNNERS[number % 2]
    began = time.monotonic()
    with listener, pytest.raises(module.ClusterError) as caught:
        read(
            kwire,
            runner,
            listener.address,
            "orders",
            connect={**QUICKLY, "ssl": context},
        )
    assert time.monotonic() - began < LONGEST_S
    assert listener.connections < 40, "connections without a pause"
    assert str(caught.value).isprintable()
    return str(caught.value)


OTHER_IP = [x509.IPAddress(ipaddress.ip_address("192.0.2.1"))]
CERTIFICATES = {
    "expired": ({"begin": -3 * DAY, "end": -DAY}, "expired"),
    "not valid yet": ({"begin": DAY, "end": 3 * DAY}, "not yet valid"),
    "another address": ({"hosts": OTHER_IP}, "IP address mismatch"),
    "another name": ({"hosts": [x509.DNSName("other.example")]}, "IP address mismatch"),
    "address as a DNS name": ({"hosts": [x509.DNSName(HOST)]}, "IP address mismatch"),
    "wildcard for an address": ({"hosts": [x509.DNSName("*")]}, "IP address mismatch"),
    "name in the subject alone": ({"hosts": []}, "IP address mismatch"),
    "certificate of a client": ({"usage": "CLIENT_AUTH"}, "certificate purpose"),
}


@pytest.mark.parametrize("case", CERTIFICATES)
def test_certificate_that_does_not_fit_is_rejected(kwire, authority, trusting, case):
    """The trusted authority has signed the certificate, but it is not valid here."""
    options, words = CERTIFICATES[case]
    number = list(CERTIFICATES).index(case)
    broker = LogBroker({"orders": (5,)}, context=authority.sign(str(number), **options))
    text = fail(kwire, number, broker, trusting)
    assert words in text
    assert broker.requests == []


@pytest.mark.parametrize("number", [0, 1])
def test_certificate_of_an_unknown_authority_is_rejected(
    kwire, other_authority, trusting, number
):
    """The chain ends at an authority that the client does not trust."""
    broker = LogBroker({"orders": (5,)}, context=other_authority.sign("server"))
    assert "its certificate is not trusted" in fail(kwire, number, broker, trusting)
    assert broker.requests == []


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_server_with_only_old_tls_is_rejected(kwire, authority, trusting, version):
    """TLS 1.0 and 1.1 are not negotiated (RFC 8996)."""
    context = authority.sign("old")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    broker = LogBroker({"orders": (5,)}, context=context)
    fail(kwire, version.value, broker, trusting)
    assert broker.requests == []


def test_server_that_requires_a_client_certificate_is_a_typed_error(
    kwire, authority, trusting
):
    """The client has no certificate."""
    context = authority.sign("mutual")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.path)
    broker = LogBroker({"orders": (5,)}, context=context)
    fail(kwire, 0, broker, trusting)
    assert broker.requests == []


def send(data):
    """Return a script that reads the client's hello, and then sends ``data``."""

    def script(stream):
        stream.recv(1 << 16)
        stream.sendall(data)
        # If the socket were closed with unread bytes, the connection would be reset and
        # the sent bytes discarded.
        stream.shutdown(socket.SHUT_WR)
        while stream.recv(1 << 16):
            pass

    return script


def keep_silent(stream):
    """Read all bytes without a response, until the client disconnects."""
    while stream.recv(1 << 16):
        pass


def hang_up(stream):
    """Return immediately, so that the connection is closed before a byte is read."""


def trickle(stream):
    """Send an endless TLS record, one byte at a time."""
    stream.recv(1 << 16)
    stream.sendall(b"\x16\x03\x03\x40\x00")
    while True:
        stream.sendall(b"\x02")
        time.sleep(0.05)


ALERT = b"\x15\x03\x03\x00\x02\x02"
METADATA = struct.pack(">ii", 8, 0) + bytes(4)
SCRIPTS = {
    "HTTP server": send(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "plain Kafka response": send(METADATA),
    "zeros": send(bytes(1000)),
    "letters": send(b"A" * 100_000),
    "handshake failure alert": send(ALERT + b"\x28"),
    "close_notify alert": send(b"\x15\x03\x03\x00\x02\x01\x00"),
    "unknown alert": send(ALERT + b"\xfe"),
    "record of 16 MiB": send(b"\x16\x03\x03\xff\xff" + bytes(1 << 17)),
    "empty records": send(b"\x16\x03\x03\x00\x00" * 1000),
    "half of a server hello": send(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03ab"),
    "server hello of another version": send(
        b"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x02\x00" + bytes(36)
    ),
    "application data before the handshake": send(b"\x17\x03\x03\x00\x05hello"),
    "echo of the client": lambda stream: stream.sendall(stream.recv(1 << 16)),
    "silence": keep_silent,
    "end before the handshake": hang_up,
    "byte by byte": trickle,
}


@pytest.mark.parametrize("case", SCRIPTS)
def test_server_without_a_handshake_is_a_typed_error(kwire, trusting, case):
    """Covers other protocols, damaged records, alerts, silence, and early ends."""
    number = list(SCRIPTS).index(case)
    fail(kwire, number, Listener(SCRIPTS[case]), trusting)


class Cut:
    """Relay to a TLS broker that forwards only the broker's first ``count`` bytes."""

    def __init__(self, broker, count):
        self._broker = broker
        self._count = count

    def __call__(self, stream):
        with socket.create_connection((HOST, self._broker.port)) as server:
            threading.Thread(
                target=self._pass_on, args=(stream, server), daemon=True
            ).start()
            left = self._count
            while left > 0 and (data := server.recv(1 << 16)):
                stream.sendall(data[:left])
                left -= len(data)

    def _pass_on(self, stream, server):
        with suppress(OSError):
            while data := stream.recv(1 << 16):
                server.sendall(data)


@pytest.mark.parametrize("count", [1, 5, 60, 200, 700])
def test_handshake_that_is_truncated_is_a_typed_error(
    kwire, authority, trusting, count
):
    """The bytes end within a record, within a message, or after the certificate."""
    with LogBroker({"orders": (5,)}, context=authority.sign("cut")) as broker:
        fail(kwire, count, Listener(Cut(broker, count)), trusting)
        assert broker.requests == []


def test_certificate_that_fits_is_accepted_by_the_same_code(kwire, authority, trusting):
    """A valid certificate is accepted.

    Otherwise, the tests above could fail for another reason than the certificate.
    """
    for runner in RUNNERS:
        context = authority.sign("good")
        with LogBroker({"orders": (5,)}, context=context) as broker:
            chunks = read(
                kwire,
                runner,
                broker.address,
                "orders",
                connect={**QUICKLY, "ssl": trusting},
            )
            assert sum(len(chunk.records()) for chunk in chunks) == 5
