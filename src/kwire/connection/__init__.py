# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One connection without a socket: bytes in, events and bytes to send out.

``ClientConnection`` and ``ServerConnection`` know the order of requests and responses.
``negotiation`` chooses versions, and ``sasl`` authenticates. The owner of the socket
passes the bytes on, in threads, with asyncio, or in a test. Sockets, clocks, retries
and record batches do not belong here.
May import: ``errors``, ``_limits``, ``_text``, ``schema``, ``messages``.
"""

from .client import ClientConnection as ClientConnection
from .events import ApiVersionsAnswered as ApiVersionsAnswered
from .events import ConnectionClosed as ConnectionClosed
from .events import Event as Event
from .events import Negotiated as Negotiated
from .events import RequestReceived as RequestReceived
from .events import RequestUnsupported as RequestUnsupported
from .events import ResponseReceived as ResponseReceived
from .events import SaslFailed as SaslFailed
from .events import SaslStarted as SaslStarted
from .events import SaslToken as SaslToken
from .events import Unanswered as Unanswered
from .events import UnsupportedReceived as UnsupportedReceived
from .server import ServerConnection as ServerConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import negotiation as negotiation
    from . import sasl as sasl
else:
    # Type checkers know the names above, and report all others.
    def __getattr__(name: str) -> object:
        """Import a public module on first use."""
        if name not in ("negotiation", "sasl"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Not by importlib, which is slow to import itself.
        return __import__(f"{__name__}.{name}", fromlist=[name])
