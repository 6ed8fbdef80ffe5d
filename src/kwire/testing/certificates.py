# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Certificate of a test cluster. It is valid for the loopback addresses and two days.

Requires the package cryptography.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

_VALID_DAYS = 2


def make_server_context() -> tuple[ssl.SSLContext, bytes]:
    """Return a TLS context for brokers, and the certificate in PEM format.

    The certificate is its own authority. Raises ``ImportError``, which names the
    package, if cryptography is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError as error:
        raise ImportError(
            "tls=True requires the package cryptography: pip install cryptography, or"
            " pass an ssl.SSLContext"
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kwire test cluster")])
    now = datetime.now(UTC)
    hosts = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("::1")),
    ]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_pem = certificate.public_bytes(serialization.Encoding.PEM)
    key_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # The module ssl only reads certificates from files.
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "broker.pem")
        path.write_bytes(key_pem + certificate_pem)
        context.load_cert_chain(path)
    return context, certificate_pem
