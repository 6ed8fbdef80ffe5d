# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses broker addresses, and explains failed connection attempts to the user.

``AsyncRunner`` and ``BlockingRunner`` share these functions. They open no connections.
"""

from __future__ import annotations

import os
import re

from ..._text import quote_text
from .network import ConnectorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl as tls

_HOST = re.compile(r"[\w.:%-]+")
"""Characters of a host name or an IP address.

"%" separates the address and the interface in an IPv6 address such as "fe80::1%eth0".
"""


def split_address(text: str) -> tuple[str, int]:
    """Parse "host:port" or "[host]:port". IPv6 addresses require the brackets.

    Returns the host without brackets, and the port. Raises ``ValueError`` if ``text``
    is not an address. The error message does not contain ``text``, because it may
    contain a password.
    """
    if "@" in text:
        raise ValueError(
            "an address cannot contain a user name or a password; write HOST:PORT, and"
            " use the settings of SASL"
        )
    host, colon, digits = text.rpartition(":")
    in_brackets = host.startswith("[") and host.endswith("]")
    if in_brackets:
        host = host[1:-1]
    is_host = _HOST.fullmatch(host) and (":" in host) == in_brackets
    if not colon or not is_host:
        raise ValueError("an address must be HOST:PORT, or [HOST]:PORT for IPv6")
    port = int(digits) if digits.isascii() and digits.isdigit() else 0
    if not 0 < port < 1 << 16:
        raise ValueError("an address must be HOST:PORT with a port of 1 to 65535")
    return host, port


def connection_problem(error: Exception, context: tls.SSLContext | None) -> str:
    """Describe a failed connection attempt in one line, with advice for the user.

    ``error`` is the exception of the attempt. ``context`` is the TLS context of the
    connection, or None if the connection does not use TLS.
    """
    # Import these modules only after a failure, because ssl is slow to import and
    # clients without TLS do not require it.
    import socket
    import ssl as tls

    if isinstance(error, ConnectorError):
        return str(error)
    if not isinstance(error, OSError):
        return "not an address: the host name or the port is not valid"
    if isinstance(error, tls.SSLCertVerificationError):
        reason = quote_text(error.verify_message)
        return (
            f"its certificate is not trusted: {reason}; give the certificate of the"
            " authority that signed it"
        )
    # If the broker closes a socket that still has unread bytes, the kernel resets the
    # connection and the TLS alert of the broker can be lost. The closed connection is
    # then the only sign that the handshake failed.
    is_closed = isinstance(error, (ConnectionError, tls.SSLEOFError))
    if isinstance(error, tls.SSLError) and not is_closed:
        if error.reason == "WRONG_VERSION_NUMBER":
            return "it does not speak TLS on this port"
        return f"the TLS handshake failed: {format_reason(error.reason or str(error))}"
    if isinstance(error, socket.gaierror):
        reason = format_reason(error.strerror or str(error))
        return f"the host name cannot be resolved: {reason}"
    if isinstance(error, ConnectionRefusedError):
        return (
            "connection refused; check that the broker is running, and that this is"
            " its port"
        )
    if is_closed and context is not None:
        return (
            "it closed the connection during the TLS handshake; it may not speak TLS"
            " on this port, or require a certificate of the client"
        )
    if error.errno is None:
        # The host name resolves to several addresses, which failed for different
        # reasons.
        return (
            "no address of the host accepts a connection; check that the broker is"
            " running"
        )
    return format_reason(os.strerror(error.errno))


def format_reason(text: str) -> str:
    """Format an error text of OpenSSL or of the operating system in lower case."""
    return text.lower().replace("_", " ")
