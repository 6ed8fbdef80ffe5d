# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka's own names of properties, as the arguments of ``connect``.

Those of the Java client and of librdkafka, as far as a scan has to do with them. No
error shows the value of a property that may be a secret.
"""

from __future__ import annotations

import re
import ssl as tls
from typing import TYPE_CHECKING, Any, NamedTuple

from ..sasl import Plain, Scram

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_ISOLATION = ("read_uncommitted", "read_committed")

PROPERTIES = {
    *("bootstrap.servers", "client.id", "client.rack", "isolation.level"),
    *("request.timeout.ms", "socket.connection.setup.timeout.ms"),
    *("security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.jaas.config"),
    *("sasl.username", "sasl.password", "ssl.ca.location"),
    *("ssl.certificate.location", "ssl.key.location", "ssl.key.password"),
    *("ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.certificates"),
    *("ssl.keystore.type", "ssl.keystore.location"),
    "ssl.endpoint.identification.algorithm",
}

_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))')


class ConnectionProperties(NamedTuple):
    """What properties say; None where they say nothing."""

    addresses: str | None
    client_id: str | None
    context: tls.SSLContext | None
    sasl: Any
    connect_timeout_s: float | None
    request_timeout_s: float | None
    rack: str | None
    isolation: str | None


def read_config(config: Mapping[str, Any]) -> ConnectionProperties:
    """Read a client's properties; ``ValueError`` for one that kwire cannot obey.

    A file that does not exist or is no certificate is an ``OSError``.
    """
    unknown = [name for name in config if name not in PROPERTIES]
    if unknown:
        raise ValueError(
            f"config: kwire does not know {', '.join(map(str, unknown[:5]))}; leave"
            " out properties that are not about connections"
        )
    texts = {name: str(value) for name, value in config.items()}
    protocol = texts.get("security.protocol", "PLAINTEXT").upper()
    _check_choice("security.protocol", protocol, _PROTOCOLS)
    isolation = texts.get("isolation.level")
    if isolation is not None:
        _check_choice("isolation.level", isolation, _ISOLATION)
    return ConnectionProperties(
        texts.get("bootstrap.servers"),
        texts.get("client.id"),
        _make_context(texts) if protocol.endswith("SSL") else None,
        _make_mechanism(texts) if protocol.startswith("SASL") else None,
        _read_seconds(texts, "socket.connection.setup.timeout.ms"),
        _read_seconds(texts, "request.timeout.ms"),
        texts.get("client.rack"),
        isolation,
    )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(
            f"config: {name} must be one of {', '.join(choices)} (got {value!r:.60})"
        )


def _read_seconds(texts: Mapping[str, str], name: str) -> float | None:
    text = texts.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text)):
        raise ValueError(
            f"config: {name} must be a number of milliseconds (got {text!r:.60})"
        )
    return int(text) / 1000


def _make_mechanism(texts: Mapping[str, str]) -> Plain | Scram:
    name = texts.get("sasl.mechanism", texts.get("sasl.mechanisms", ""))
    _check_choice("sasl.mechanism", name, _MECHANISMS)
    username, password = texts.get("sasl.username"), texts.get("sasl.password")
    if "sasl.jaas.config" in texts:
        username, password = _read_jaas(texts["sasl.jaas.config"], name)
    if not username or not password:
        raise ValueError(
            f"config: {name} requires a user name and a password; set"
            " sasl.jaas.config, or sasl.username and sasl.password"
        )
    return (
        Plain(username, password)
        if name == "PLAIN"
        else Scram(username, password, name)
    )


def _read_jaas(text: str, mechanism: str) -> tuple[str | None, str | None]:
    """Read 'class required username="name" password="password";'."""
    module = "PlainLoginModule" if mechanism == "PLAIN" else "ScramLoginModule"
    words = text.split(None, 2)
    if len(words) < 3 or not words[0].endswith(f".{module}"):
        raise ValueError(
            f"config: sasl.jaas.config must be of the class {module} for {mechanism}:"
            ' write CLASS required username="NAME" password="PASSWORD";'
        )
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) or plain
        for name, quoted, plain in _OPTION.findall(words[2])
    }
    return options.get("username"), options.get("password")


def _make_context(texts: Mapping[str, str]) -> tls.SSLContext:
    for store in ("ssl.truststore", "ssl.keystore"):
        kind = texts.get(f"{store}.type", "JKS").upper()
        is_used = f"{store}.location" in texts or f"{store}.type" in texts
        if is_used and kind != "PEM":
            raise ValueError(
                f"config: {store}.type must be PEM (got {kind!r:.20}); convert the"
                " store with keytool or openssl"
            )
    context = tls.create_default_context(
        cafile=texts.get("ssl.ca.location", texts.get("ssl.truststore.location")),
        cadata=texts.get("ssl.truststore.certificates"),
    )
    if texts.get("ssl.endpoint.identification.algorithm", "https") in ("", "none"):
        context.check_hostname = False
    chain = texts.get("ssl.certificate.location", texts.get("ssl.keystore.location"))
    if chain is not None:
        # Without a password of its own, OpenSSL would ask on the terminal.
        password = texts.get("ssl.key.password", "")
        context.load_cert_chain(chain, texts.get("ssl.key.location"), password)
    return context
