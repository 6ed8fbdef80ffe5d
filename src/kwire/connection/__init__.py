# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A Kafka connection without a socket: bytes in, events and outgoing bytes out.

``ClientConnection`` and ``ServerConnection`` implement the order between requests and
responses. ``negotiation`` selects versions, and ``sasl`` authenticates. The socket
owner transfers the bytes, for example in threads, with asyncio, or in a test. Sockets,
clocks, retries and record batches do not belong in this package. May import:
``errors``, ``_limits``, ``_text``, ``schema``, ``messages``.
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
    # Type checkers already know the names from the imports above. Without a
    # ``__getattr__``, they report an error for every unknown attribute.
    def __getattr__(name: str) -> object:
        """Import a public module when it is first accessed."""
        if name not in ("negotiation", "sasl"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # ``__import__`` is used because importing ``importlib`` is slow.
        return __import__(f"{__name__}.{name}", fromlist=[name])
