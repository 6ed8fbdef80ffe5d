# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Configure a broker's listener for TLS and SASL: its certificate and its user."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from kwire import error_codes
from kwire.client import connect_sync
from kwire.client.sasl_mechanisms import PASSWORD_MECHANISMS
from kwire.messages import AlterUserScramCredentialsRequest
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import Broker, BrokerError

USER, PASSWORD = "ann", "open, sesame"
OAUTH = "OAUTHBEARER"
ITERATIONS = 8192
# Mechanism number in Kafka's protocol and digest name by SCRAM mechanism.
SCRAM = {"SCRAM-SHA-256": (1, "sha256"), "SCRAM-SHA-512": (2, "sha512")}


def make_certificate(folder: Path, host: str = "localhost") -> Path:
    """Create a file with a private key and a self-signed certificate.

    The certificate is valid for ``host`` and for the loopback address.
    """
    path = folder / "certificate.pem"
    key, certificate = folder / "key.pem", folder / "alone.pem"
    brokers.run(
        [
            "openssl",
            "req",
            "-x509",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=kwire",
            "-newkey",
            "rsa:2048",
            "-addext",
            f"subjectAltName=IP:{brokers.LOOPBACK},DNS:{host}",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ]
    )
    path.write_text(key.read_text() + certificate.read_text())
    return path


def add_listener(
    kafka: Broker,
    port: int,
    certificate: Path,
    session_ms: int = 0,
    advertised: str | None = None,
) -> None:
    """Add a listener with TLS and SASL to a broker that has not been started.

    * ``session_ms``: maximum session time before clients must authenticate again
      (KIP-368). 0 disables it.
    * ``advertised``: advertised "host:port". Default: the address of the listener.
    """
    own = f"{brokers.LOOPBACK}:{port}"
    login = "org.apache.kafka.common.security"
    path = kafka.folder / "server.properties"
    text = path.read_text(encoding="utf-8")
    for name, more in (
        ("listeners", f"SECURE://{own}"),
        ("advertised.listeners", f"SECURE://{advertised or own}"),
        ("listener.security.protocol.map", "SECURE:SASL_SSL"),
    ):
        text = re.sub(rf"(?m)^({re.escape(name)}=.*)$", rf"\1,{more}", text)
    settings = {
        "sasl.enabled.mechanisms": ",".join((*PASSWORD_MECHANISMS, OAUTH)),
        "connections.max.reauth.ms": str(session_ms),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate),
        "listener.name.secure.plain.sasl.jaas.config": (
            f'{login}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        ),
    }
    # Kafka's default login and callback handlers only create and accept unsigned
    # tokens, so the listener needs this login module.
    settings["listener.name.secure.oauthbearer.sasl.jaas.config"] = (
        f"{login}.oauthbearer.OAuthBearerLoginModule required"
        ' unsecuredLoginStringClaim_sub="broker";'
    )
    for mechanism in SCRAM:
        name = f"listener.name.secure.{mechanism.lower()}.sasl.jaas.config"
        settings[name] = f"{login}.scram.ScramLoginModule required;"
    lines = (f"{name}={value}\n" for name, value in settings.items())
    path.write_text(text + "".join(lines), encoding="utf-8")


def add_user(kafka: Broker) -> None:
    """Store SCRAM credentials for the user's password in the broker, for each
    mechanism.
    """
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    with connect_sync(f"{brokers.LOOPBACK}:{kafka.port}") as client:
        for number, digest in SCRAM.values():
            salt = os.urandom(16)
            added = upsertion(
                name=USER,
                mechanism=number,
                iterations=ITERATIONS,
                salt=salt,
                salted_password=hashlib.pbkdf2_hmac(
                    digest, PASSWORD.encode(), salt, ITERATIONS
                ),
            )
            # Send a request for each mechanism, because Kafka rejects a request that
            # contains the same user twice.
            answer = client.request(
                AlterUserScramCredentialsRequest(upsertions=[added])
            )
            code = answer.results[0].error_code
            if code:
                raise BrokerError(f"the user was refused: {error_codes.name(code)}")
