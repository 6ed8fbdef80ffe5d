# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers on the loopback interface, built on ``ServerConnection``.

They negotiate versions, authenticate clients with SASL, encrypt with TLS and list each
other in Metadata responses. Tests add the responses that they need. ``Listener`` runs
an arbitrary script for each connection instead, for errors that a real broker does not
produce on purpose. Every wait has a timeout.
"""

import base64
import hashlib
import hmac
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kwire import error_codes
from kwire.connection import (
    ApiVersionsAnswered,
    RequestReceived,
    SaslToken,
    ServerConnection,
)
from kwire.errors import KwireError
from kwire.messages import (
    DescribeClusterResponse,
    MetadataResponse,
    SaslAuthenticateResponse,
    SaslHandshakeResponse,
)

HOST = "127.0.0.1"
TIMEOUT_S = 15


class Listener:
    """Runs ``script(socket)`` in a thread for each connection, as a context manager."""

    def __init__(self, script, context=None, host=HOST):
        """Start listening immediately, so that the port is known.

        ``context`` is an ``ssl.SSLContext`` for TLS.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.host = host
        self._server = socket.create_server((host, 0), family=family)
        self.port = self._server.getsockname()[1]
        self.connections = 0
        self.failures = []
        self._script = script
        self._context = context
        self._open = [self._server]
        self._threads = []

    @property
    def address(self):
        """Address of the listener as "host:port", or "[host]:port" for IPv6."""
        return (
            f"[{self.host}]:{self.port}"
            if ":" in self.host
            else (f"{self.host}:{self.port}")
        )

    def __enter__(self):
        """Start accepting connections."""
        self._start(self._accept)
        return self

    def __exit__(self, *exception):
        """Close all connections and wait for the threads."""
        for stream in self._open:
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
            stream.close()
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        assert self.failures == []

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        # __exit__ closes the listening socket, which makes accept() raise OSError.
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections += 1
                connection.settimeout(TIMEOUT_S)
                self._open.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection):
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            self._script(connection)
        except (OSError, KwireError):
            # The client has disconnected, or has sent data that no broker understands.
            pass
        except Exception as failure:
            self.failures.append(failure)
        finally:
            # Shut down the connection before closing it, so that the client sees the
            # end of the stream even if another object still refers to the socket.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


class Broker(Listener):
    """Broker that serves the APIs of ``table``.

    Connections use the table that is set when they start.

    If ``users`` (name to password) is set, clients must authenticate with SASL.
    ``cluster`` contains the brokers of a Metadata response, initially only this broker.
    """

    def __init__(
        self,
        table,
        node_id=1,
        *,
        rack=None,
        users=None,
        mechanisms=("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        context=None,
        host=HOST,
    ):
        """Start listening.

        A later change of ``self.table`` affects new connections only.
        """
        super().__init__(self._converse, context, host)
        self.table = table
        self.node_id = node_id
        self.rack = rack
        self.cluster = [self]
        self.software = []
        self.requests = []
        self.refusal = "Go away"
        self._users = users
        self._mechanisms = mechanisms
        # Functions that return a new exchange, by mechanism. They add mechanisms that
        # this module does not implement.
        self.exchanges = {}

    def _converse(self, stream):
        connection = ServerConnection(self.table)
        exchange = None
        is_authenticated = self._users is None
        while connection.is_open and not connection.wants_close:
            for event in connection.receive_data(stream.recv(1 << 16)):
                if isinstance(event, SaslToken):
                    answer = exchange.answer(event.data)
                    if answer is None:
                        return
                    connection.send_sasl_token(answer)
                    if exchange.is_done:
                        connection.finish_sasl()
                        is_authenticated = True
                elif isinstance(event, ApiVersionsAnswered):
                    self.software.append(event.software_name)
                elif not isinstance(event, RequestReceived):
                    # The connection was closed, or the client sent an unsupported
                    # request.
                    break
                elif type(event.request).__name__ == "SaslHandshakeRequest":
                    exchange = self._handshake(connection, event)
                elif type(event.request).__name__ == "SaslAuthenticateRequest":
                    answer = exchange.answer(event.request.auth_bytes)
                    refused = error_codes.SASL_AUTHENTICATION_FAILED
                    connection.send(
                        event,
                        SaslAuthenticateResponse(
                            error_code=0 if answer is not None else refused,
                            error_message=None if answer is not None else self.refusal,
                            auth_bytes=answer or b"",
                        ),
                    )
                    is_authenticated = exchange.is_done
                elif not is_authenticated:
                    return
                else:
                    self.requests.append((type(event.request).__name__, event.version))
                    if event.expects_response:
                        connection.send(event, self.answer(event))
            stream.sendall(connection.data_to_send())

    def answer(self, event):
        """Return the response to a request that is not part of SASL."""
        return getattr(self, f"_{type(event.request).__name__}")()

    def _handshake(self, connection, event):
        mechanism = event.request.mechanism
        error = error_codes.NONE
        if self._users is None:
            error = error_codes.ILLEGAL_SASL_STATE
        elif mechanism not in self._mechanisms:
            error = error_codes.UNSUPPORTED_SASL_MECHANISM
        offered = () if self._users is None else self._mechanisms
        connection.send(
            event, SaslHandshakeResponse(error_code=error, mechanisms=offered)
        )
        if error:
            return None
        if mechanism in self.exchanges:
            return self.exchanges[mechanism]()
        if mechanism == "OAUTHBEARER":
            return BearerServer(self._users)
        if mechanism == "PLAIN":
            return PlainServer(self._users)
        return ScramServer(self._users, mechanism.removeprefix("SCRAM-"))

    def _MetadataRequest(self):
        return MetadataResponse(
            brokers=[
                MetadataResponse.MetadataResponseBroker(
                    node_id=broker.node_id,
                    host=broker.host,
                    port=broker.port,
                    rack=broker.rack,
                )
                for broker in self.cluster
            ],
            controller_id=1,
        )

    def _DescribeClusterRequest(self):
        return DescribeClusterResponse(
            endpoint_type=2,
            cluster_id="loopback",
            controller_id=self.cluster[0].node_id,
            brokers=[
                DescribeClusterResponse.DescribeClusterBroker(
                    broker_id=broker.node_id,
                    host=broker.host,
                    port=broker.port,
                    rack=broker.rack,
                )
                for broker in self.cluster
            ],
        )


class PlainServer:
    """Server side of the SASL mechanism PLAIN."""

    def __init__(self, users):
        """Store the passwords by user."""
        self._users = users
        self.is_done = False

    def answer(self, token):
        """Return empty bytes if the password is correct, otherwise None."""
        _, name, password = token.decode().split("\0")
        self.is_done = self._users.get(name) == password
        return b"" if self.is_done else None


class BearerServer:
    """Server side of the SASL mechanism OAUTHBEARER.

    The passwords of the users are the valid tokens.
    """

    REFUSAL = b'{"status":"invalid_token"}'

    def __init__(self, users):
        """Store the valid tokens."""
        self._tokens = users.values()
        self._received = []
        self.is_done = False

    def answer(self, data):
        """Return the reply to a client message.

        The reply is empty if the token is valid, and otherwise a JSON error. The client
        confirms the error with a second message, and None then closes the connection.
        """
        self._received.append(data)
        if len(self._received) == 2:
            assert data == b"\x01"
            return None
        start, auth, *rest = data.decode().split("\x01")
        assert start == "n,," and rest[-2:] == ["", ""]
        self.is_done = auth.removeprefix("auth=Bearer ") in self._tokens
        return b"" if self.is_done else self.REFUSAL


class ScramServer:
    """Server side of the SASL mechanism SCRAM, implemented from RFC 5802 only."""

    ITERATIONS = 4096

    def __init__(self, users, digest):
        """Store the passwords by user. ``digest`` is "SHA-256" or "SHA-512"."""
        self._users = users
        self._digest = digest.replace("-", "").lower()
        self._first_messages = None
        self._name = ""
        self.is_done = False

    def answer(self, data):
        """Return the reply to the first or final message, or None to reject it."""
        if self._first_messages is None:
            bare = data.removeprefix(b"n,,")
            fields = dict(part.split(b"=", 1) for part in bare.split(b","))
            self._name = fields[b"n"].decode()
            self._salt = b"salt of " + self._name.encode()
            salt = base64.b64encode(self._salt).decode()
            nonce = fields[b"r"].decode()
            first = f"r={nonce}server,s={salt},i={self.ITERATIONS}".encode()
            self._first_messages = bare + b"," + first
            return first
        without_proof, _, proof = data.rpartition(b",p=")
        auth_message = self._first_messages + b"," + without_proof
        password = self._users.get(self._name, "").encode()
        salted = hashlib.pbkdf2_hmac(
            self._digest, password, self._salt, self.ITERATIONS
        )
        stored_key = hashlib.new(
            self._digest, self._mac(salted, b"Client Key")
        ).digest()
        signature = self._mac(stored_key, auth_message)
        client_key = bytes(
            a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True)
        )
        if hashlib.new(self._digest, client_key).digest() != stored_key:
            return None
        self.is_done = True
        return b"v=" + base64.b64encode(
            self._mac(self._mac(salted, b"Server Key"), auth_message)
        )

    def _mac(self, key, data):
        return hmac.digest(key, data, self._digest)


def make_certificate(folder, password=None):
    """Write a key and a self-signed certificate as PEM files. Return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kwire")])
    now = datetime.now(UTC)
    hosts = [x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encryption = (
        serialization.NoEncryption()
        if password is None
        else serialization.BestAvailableEncryption(password)
    )
    pem = serialization.Encoding.PEM
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(pem))
    paths[1].write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, encryption)
    )
    return paths


def server_context(certificate, key, client_ca=None):
    """Create a TLS server context from a certificate and its key.

    With ``client_ca``, the server requires a client certificate from this authority.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    return context
