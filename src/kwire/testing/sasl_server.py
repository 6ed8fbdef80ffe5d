# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Server side of the SASL mechanisms PLAIN, SCRAM and OAUTHBEARER.

Sources: RFC 4616, RFC 5802 and RFC 7628, and the classes in
``org.apache.kafka.common.security``.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Protocol

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

_ITERATIONS = 4096
_BEARER_ERROR = b'{"status":"invalid_token"}'


class SaslExchange(Protocol):
    """Server side of one authentication."""

    @property
    def user(self) -> str | None:
        """Name of the authenticated user, or None if the exchange is not complete."""

    def respond(self, token: bytes) -> bytes | None:
        """Return the response to a token of the client, or None to reject it."""


def start_exchange(mechanism: str, users: Mapping[str, str]) -> SaslExchange:
    """Start an exchange. ``users`` contains passwords, or tokens for OAUTHBEARER."""
    if mechanism == "PLAIN":
        return _Plain(users)
    if mechanism == "OAUTHBEARER":
        return _Bearer(users)
    return _Scram(users, mechanism.removeprefix("SCRAM-"))


class _Plain:
    """PLAIN: authorization id, user and password, separated by zero bytes."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self.user: str | None = None

    def respond(self, token: bytes) -> bytes | None:
        try:
            authorization_id, user, password = token.decode("utf-8").split("\0")
        except ValueError:
            return None
        is_same = authorization_id in ("", user)
        if not is_same or self._users.get(user) != password:
            return None
        self.user = user
        return b""


class _Bearer:
    """OAUTHBEARER: the token of a user. An error is sent before the rejection."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = {token: user for user, token in users.items()}
        self._is_refused = False
        self.user: str | None = None

    def respond(self, token: bytes) -> bytes | None:
        if self._is_refused:
            return None
        try:
            header, *fields = token.decode("utf-8").split("\x01")
        except ValueError:
            return None
        values = dict(field.partition("=")[::2] for field in fields)
        bearer = values.get("auth", "").removeprefix("Bearer ")
        self.user = self._users.get(bearer) if header.startswith("n,") else None
        self._is_refused = self.user is None
        return _BEARER_ERROR if self._is_refused else b""


class _Scram:
    """SCRAM with SHA-256 or SHA-512: two messages of the client."""

    def __init__(self, users: Mapping[str, str], digest: str) -> None:
        self._users = users
        self._digest = digest.replace("-", "").lower()
        self._first_messages = b""
        self._nonce = b""
        self._name = ""
        self._salt = b""
        self.user: str | None = None

    def respond(self, token: bytes) -> bytes | None:
        try:
            return self._finish(token) if self._first_messages else self._start(token)
        except (ValueError, KeyError):
            return None

    def _start(self, token: bytes) -> bytes | None:
        binding, _, bare = token.split(b",", 2)
        fields = _parse_fields(bare)
        name = fields[b"n"].decode("utf-8")
        self._name = name.replace("=2C", ",").replace("=3D", "=")
        if binding != b"n" or self._name not in self._users:
            return None
        self._salt = hashlib.sha256(b"salt of " + fields[b"n"]).digest()[:16]
        salt = base64.b64encode(self._salt)
        self._nonce = fields[b"r"] + b"kwire"
        first = b"r=%s,s=%s,i=%d" % (self._nonce, salt, _ITERATIONS)
        self._first_messages = bare + b"," + first
        return first

    def _finish(self, token: bytes) -> bytes | None:
        without_proof, _, proof = token.rpartition(b",p=")
        if _parse_fields(without_proof)[b"r"] != self._nonce:
            return None
        password = self._users[self._name].encode("utf-8")
        salted = hashlib.pbkdf2_hmac(self._digest, password, self._salt, _ITERATIONS)
        auth_message = self._first_messages + b"," + without_proof
        stored_key = self._hash(self._mac(salted, b"Client Key"))
        signature = self._mac(stored_key, auth_message)
        proof_bytes = base64.b64decode(proof, validate=True)
        if len(proof_bytes) != len(signature):
            return None
        client_key = bytes(a ^ b for a, b in zip(proof_bytes, signature, strict=True))
        if not hmac.compare_digest(self._hash(client_key), stored_key):
            return None
        self.user = self._name
        server_key = self._mac(salted, b"Server Key")
        return b"v=" + base64.b64encode(self._mac(server_key, auth_message))

    def _hash(self, data: bytes) -> bytes:
        return hashlib.new(self._digest, data).digest()

    def _mac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self._digest)


def _parse_fields(message: bytes) -> dict[bytes, bytes]:
    """Return the attributes of a SCRAM message. Raises ``ValueError``."""
    return dict(field.split(b"=", 1) for field in message.split(b","))
