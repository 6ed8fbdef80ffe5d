# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Network``: how the runners of a client open connections to brokers.

A connection is opened in three steps: map the advertised address to a reachable one,
open a socket with the connector of the user or with the addresses of the host name, and
start TLS. TLS checks the advertised host name, whatever the socket is connected to.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..certificate_files import FileContext

if TYPE_CHECKING:
    import asyncio
    import ssl as tls
    from collections.abc import Callable
    from typing import TypeAlias

    from ..machines import Link

    DnsLookup: TypeAlias = Literal[
        "use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"
    ]
    Address: TypeAlias = tuple[str, int]
    Connector: TypeAlias = Callable[[str, int, float], Any]
    AddressMap: TypeAlias = "Mapping[Address, Address] | Callable[[str, int], Address]"


class ConnectorError(OSError):
    """The connector or the address map failed. The text shows no message of theirs."""


class SocketAddress(NamedTuple):
    """One address of a host name, as ``socket.socket`` and ``connect`` require it."""

    family: int
    address: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """The settings of a client that concern sockets instead of requests.

    * ``context``: the TLS context, or None without TLS. A ``FileContext`` is loaded
      again when its files change.
    * ``connector``: called with host, port and timeout. Returns a connected socket. For
      asyncio, it may also return a transport, or an awaitable of a socket or transport.
    * ``address_map``: the reachable address of each advertised (host, port). Addresses
      that it does not contain are used unchanged.
    * ``connect_timeout_s``: the timeout that is passed to the connector.
    * ``prepare``: called in a thread before each connection of asyncio. It requests
      credentials, which would otherwise block the event loop.
    * ``canonical``: bootstrap addresses that are DNS aliases (KIP-235). TLS and
      Kerberos check the canonical name of the address that was connected.
    """

    context: tls.SSLContext | FileContext | None = None
    connector: Connector | None = None
    address_map: AddressMap | None = None
    connect_timeout_s: float = 10.0
    prepare: Callable[[], None] | None = None
    canonical: frozenset[Address] = frozenset()

    def load_context(self) -> tls.SSLContext | None:
        """Return the TLS context of the next connection."""
        if isinstance(self.context, FileContext):
            return self.context.load()
        return self.context

    def map_address(self, link: Link) -> Address:
        """Return the host and port to connect to. Raises ``ConnectorError``."""
        place = link.host, link.port
        if self.address_map is None:
            return place
        if not callable(self.address_map):
            return self.address_map.get(place, place)
        try:
            mapped = self.address_map(*place)
        except Exception as error:
            raise _hide_message("the address map", error) from None
        if not is_address(mapped):
            raise ConnectorError(
                "the address map must return a host name and a port number"
                f" (got {type(mapped).__name__})"
            )
        return mapped

    def find_addresses(self, link: Link) -> list[SocketAddress]:
        """Resolve the host name of a link. The addresses are to be tried in turn."""
        found = socket.getaddrinfo(*self.map_address(link), type=socket.SOCK_STREAM)
        return [SocketAddress(family, address) for family, _, _, _, address in found]

    def find_server_name(self, link: Link, address: tuple[Any, ...]) -> str:
        """Return the host name that TLS and Kerberos check for one address of a link.

        Like Java, it returns the text of the address if it has no canonical name.
        """
        if (link.host, link.port) not in self.canonical:
            return link.host
        try:
            return socket.getnameinfo(address, socket.NI_NAMEREQD)[0]
        except OSError:
            return str(address[0])

    def share_timeout(self, count: int) -> float:
        """Return how long to wait for each of so many addresses of a host name.

        If the first address used up the whole timeout, the others would never be tried.
        """
        return self.connect_timeout_s / max(count, 1)

    def connect(self, link: Link) -> socket.socket | None:
        """Return the socket that the connector opens; None without a connector.

        Raises ``ConnectorError`` if the connector fails.
        """
        if self.connector is None:
            return None
        host, port = self.map_address(link)
        try:
            opened = self.connector(host, port, self.connect_timeout_s)
        except Exception as error:
            raise _hide_message("the connector", error) from None
        _check_socket(opened)
        return opened  # type: ignore[no-any-return]

    async def open_transport(
        self,
        link: Link,
        protocol: asyncio.BufferedProtocol,
        context: tls.SSLContext | None,
    ) -> None:
        """Connect a protocol to the broker of a link, TLS included.

        Raises ``OSError`` or ``ValueError`` if that fails.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        if self.prepare is not None:
            await loop.run_in_executor(None, self.prepare)
        opened = await self._open(link)
        server_name = link.server_name if context is not None else None
        if not isinstance(opened, socket.socket):
            await self._take_transport(opened, protocol, context, server_name)
            return
        try:
            opened.setblocking(False)
            set_no_delay(opened)
            await loop.create_connection(
                lambda: protocol, sock=opened, ssl=context, server_hostname=server_name
            )
        except (TypeError, ValueError):
            # After any other error, the event loop closes the socket with its
            # transport. A second close of its descriptor would be an error in uvloop.
            opened.close()
            raise

    async def _take_transport(
        self,
        transport: asyncio.Transport,
        protocol: asyncio.BufferedProtocol,
        context: tls.SSLContext | None,
        server_name: str | None,
    ) -> None:
        """Give a connected transport to a protocol, after the handshake of TLS."""
        import asyncio

        try:
            if context is None:
                transport.set_protocol(protocol)
                protocol.connection_made(transport)
                return
            with_tls = await asyncio.get_running_loop().start_tls(
                transport, protocol, context, server_hostname=server_name
            )
            if with_tls is None:
                raise ConnectionResetError
            protocol.connection_made(with_tls)
        except BaseException:
            transport.abort()
            raise

    async def _open(self, link: Link) -> Any:
        """Return a connected socket or transport."""
        if self.connector is None:
            return await self._connect_by_name(link)
        host, port = self.map_address(link)
        try:
            opened = self.connector(host, port, self.connect_timeout_s)
            if hasattr(opened, "__await__"):
                opened = await opened
        except Exception as error:
            raise _hide_message("the connector", error) from None
        if not hasattr(opened, "set_protocol"):
            _check_socket(opened)
        return opened

    async def _connect_by_name(self, link: Link) -> socket.socket:
        """Connect to the first address of the host name that accepts a connection."""
        import asyncio

        loop = asyncio.get_running_loop()
        host, port = self.map_address(link)
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        timeout_s = self.share_timeout(len(found))
        problem: OSError = OSError("the host name has no address")
        for number, (family, _, _, _, address) in enumerate(found, 1):
            try:
                new = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                problem = error
                continue
            try:
                new.setblocking(False)
                async with asyncio.timeout(timeout_s if number < len(found) else None):
                    await loop.sock_connect(new, address)
            except OSError as error:
                new.close()
                problem = error
            except BaseException:
                new.close()
                raise
            else:
                if self.canonical:
                    link.server_name = await loop.run_in_executor(
                        None, self.find_server_name, link, address
                    )
                return new
        raise problem


def check_connector(connector: object, address_map: object) -> None:
    """Raise ``TypeError`` for arguments of ``connect`` that are not usable.

    The error does not show the value, which may contain the password of a proxy.
    """
    if connector is not None and not callable(connector):
        raise TypeError(
            "connector must be a function of host, port and timeout that returns a"
            f" connected socket (got {type(connector).__name__})"
        )
    if address_map is None or callable(address_map):
        return
    what = type(address_map).__name__
    if isinstance(address_map, Mapping):
        if all(map(is_address, chain(*address_map.items()))):
            return
        what += " with other entries"
    raise TypeError(
        "address_map must be {(host, port): (host, port)}, or a function of host and"
        f" port that returns such a tuple (got {what})"
    )


def is_address(value: object) -> bool:
    """Return whether a value is a host name with a port number."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], int)
        and 0 < value[1] < 1 << 16
    )


def set_no_delay(connection: socket.socket) -> None:
    """Send small requests immediately. Sockets of a connector may not be TCP."""
    with suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _check_socket(opened: object) -> None:
    # A connection with TLS of its own would need other errors in the runners.
    has_tls = hasattr(opened, "do_handshake")
    if not isinstance(opened, socket.socket) or has_tls:
        raise ConnectorError(
            "the connector must return a connected socket.socket without TLS"
            f" (got {type(opened).__name__})"
        )


def _hide_message(what: str, error: Exception) -> ConnectorError:
    """Describe the error of a user's function; its message may contain a secret."""
    return ConnectorError(f"{what} raised {type(error).__name__}")
