# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Translates Kafka's client properties into the arguments of ``connect``.

It knows those properties of the Java client and of librdkafka that concern a scan. No
error shows the value of a property that may be a secret.
"""

from __future__ import annotations

import os
import re
import ssl as tls
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from ..consumer_properties import FOLLOWED, OF_CONSUMERS, PASSED_OVER
from ..formatting import suggest_names
from ..sasl import Plain, Scram

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_ISOLATION = ("read_uncommitted", "read_committed")

_FILES = (
    *("ssl.ca.location", "ssl.truststore.location", "ssl.keystore.location"),
    *("ssl.certificate.location", "ssl.key.location"),
)
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))')


class ConnectionProperties(NamedTuple):
    """The arguments that properties set; None for the others."""

    addresses: str | None
    client_id: str | None
    context: tls.SSLContext | None
    sasl: Any
    connect_timeout_s: float | None
    request_timeout_s: float | None
    timeout_s: float | None
    rack: str | None
    isolation: str | None


def read_config(config: Mapping[str, Any], sasl: Any = None) -> ConnectionProperties:
    """Read a client's properties; ``ValueError`` for one that kwire does not support.

    ``sasl`` is the mechanism where it is not to be read of the properties. Those of a
    consumer that are not about its connections are passed over. A file that does not
    exist or is no certificate is an ``OSError``.
    """
    known = {*FOLLOWED, *PASSED_OVER, *OF_CONSUMERS}
    unknown = [str(name) for name in config if name not in known]
    if unknown:
        hint = suggest_names(unknown[0], FOLLOWED)
        raise ValueError(
            f"config: kwire has no property {', '.join(unknown[:5])}"
            f"{hint or '; leave out properties that are not about connections'}"
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
        (sasl or _make_mechanism(texts)) if protocol.startswith("SASL") else None,
        _read_seconds(texts, "socket.connection.setup.timeout.ms"),
        _read_seconds(texts, "request.timeout.ms"),
        _read_seconds(texts, "default.api.timeout.ms"),
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
    if name == "OAUTHBEARER":
        raise ValueError(
            "config: OAUTHBEARER requires a function that returns tokens; pass"
            " sasl=kwire.sasl.OAuthBearer(function) as well"
        )
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
    for name in _FILES:
        if name in texts:
            _check_file(name, texts[name])
    authorities = texts.get("ssl.ca.pem", texts.get("ssl.truststore.certificates"))
    context = tls.create_default_context(
        cafile=texts.get("ssl.ca.location", texts.get("ssl.truststore.location")),
        cadata=None if authorities is None else _lines_of_pem(authorities),
    )
    if texts.get("ssl.endpoint.identification.algorithm", "https") in ("", "none"):
        context.check_hostname = False
    chain = texts.get("ssl.certificate.location", texts.get("ssl.keystore.location"))
    # Without a password of its own, OpenSSL would ask on the terminal.
    password = texts.get("ssl.key.password", "")
    if chain is not None:
        context.load_cert_chain(chain, texts.get("ssl.key.location"), password)
        return context
    chain = texts.get(
        "ssl.certificate.pem", texts.get("ssl.keystore.certificate.chain")
    )
    key = texts.get("ssl.key.pem", texts.get("ssl.keystore.key"))
    if chain is not None and key is not None:
        _load_texts(context, chain, key, password)
    elif chain is not None or key is not None:
        raise ValueError(
            "config: a certificate and its key go together; set both of"
            " ssl.keystore.certificate.chain and ssl.keystore.key"
        )
    return context


def _check_file(name: str, path: str) -> None:
    """Raise an ``OSError`` with the name of the property whose file is missing."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise type(error)(error.errno, f"{name}: {error.strerror}", path) from None


def _load_texts(context: tls.SSLContext, chain: str, key: str, password: str) -> None:
    """Load a certificate and its key that are no files; OpenSSL reads only these."""
    with TemporaryDirectory(prefix="kwire-") as folder:
        path = os.path.join(folder, "client.pem")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii", errors="replace") as file:
            file.write(f"{_lines_of_pem(key)}\n{_lines_of_pem(chain)}\n")
        context.load_cert_chain(path, None, password)


def _lines_of_pem(text: str) -> str:
    """Put the lines of PEM back that a property file has on one line, as Kafka does."""
    return _PEM.sub(_pem_block, text)


def _pem_block(match: re.Match[str]) -> str:
    label, body = match.groups()
    if "\n" in body.strip():
        return match[0]
    lines = "\n".join(body.split())
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"
