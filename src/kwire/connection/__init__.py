# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connections without sockets: bytes in, events out, and bytes to send.

``ClientConnection`` and ``ServerConnection`` know the order on a connection: a client
requests versions first, responses come in the order of their requests, some requests
have none. The owner of the socket passes on what it reads and writes what
``data_to_send`` returns, in threads, asyncio or a test alike.
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
