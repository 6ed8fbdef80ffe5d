# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Network``: how the runners of a client open connections to brokers.

A connection is opened in three steps:

1. Map the advertised address to a reachable address.
2. Open a socket with the user's connector, or try the addresses of the host name.
3. Start TLS. It checks the advertised host name, even if the socket is connected to a
   different address.
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
    """The connector or the address map failed.

    The error text does not include the message of the user's function, which may
    contain a secret.
    """


class SocketAddress(NamedTuple):
    """One address of a host name, as arguments of ``socket.socket`` and ``connect``."""

    family: int
    address: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """Connection settings of a client, and methods that open connections with them.

    * ``context``: the TLS context, or None for connections without TLS. A
      ``FileContext`` is loaded again when its files change.
    * ``connector``: function (host, port, timeout in seconds) that returns a connected
      socket. With asyncio, it may also return a transport, or an awaitable of a socket
      or transport.
    * ``address_map``: mapping from advertised to reachable (host, port), or a function
      (host, port). Addresses without an entry in the mapping are used unchanged.
    * ``connect_timeout_s``: timeout for the connector. Without a connector, it is
      divided among the addresses of a host name.
    * ``prepare``: called in a thread before ``open_transport`` opens a connection. It
      requests credentials, which would otherwise block the event loop.
    * ``canonical``: bootstrap addresses that are DNS aliases (KIP-235). TLS and
      Kerberos check the canonical name of the connected address instead of the alias.
    """

    context: tls.SSLContext | FileContext | None = None
    connector: Connector | None = None
    address_map: AddressMap | None = None
    connect_timeout_s: float = 10.0
    prepare: Callable[[], None] | None = None
    canonical: frozenset[Address] = frozenset()

    def load_context(self) -> tls.SSLContext | None:
        """Return the TLS context for the next connection, or None without TLS."""
        if isinstance(self.context, FileContext):
            return self.context.load()
        return self.context

    def map_address(self, link: Link) -> Address:
        """Return the host and port to connect to.

        Raises ``ConnectorError`` if the function ``address_map`` raises an error or
        returns an invalid address.
        """
        address = link.host, link.port
        if self.address_map is None:
            return address
        if not callable(self.address_map):
            return self.address_map.get(address, address)
        try:
            mapped = self.address_map(*address)
        except Exception as error:
            raise _hide_message("the address map", error) from None
        if not is_address(mapped):
            raise ConnectorError(
                "the address map must return a host name and a port number"
                f" (got {type(mapped).__name__})"
            )
        return mapped

    def find_addresses(self, link: Link) -> list[SocketAddress]:
        """Resolve the host name of a link.

        Returns the addresses in the order in which the caller should try them. Raises
        ``OSError`` if the host name cannot be resolved.
        """
        results = socket.getaddrinfo(*self.map_address(link), type=socket.SOCK_STREAM)
        return [SocketAddress(family, address) for family, _, _, _, address in results]

    def find_server_name(self, link: Link, address: tuple[Any, ...]) -> str:
        """Return the host name that TLS and Kerberos check for a connection.

        ``address`` is the connected address of the link. If the link is in
        ``canonical``, the result is the canonical name of the address, or the address
        itself if it has no name, as in Java. Otherwise it is the link's host.
        """
        if (link.host, link.port) not in self.canonical:
            return link.host
        try:
            return socket.getnameinfo(address, socket.NI_NAMEREQD)[0]
        except OSError:
            return str(address[0])

    def share_timeout(self, count: int) -> float:
        """Return the timeout in seconds per address if a host has ``count`` addresses.

        The connection timeout is divided equally. Otherwise, an unreachable first
        address would use the whole timeout, and other addresses would never be tried.
        """
        return self.connect_timeout_s / max(count, 1)

    def connect(self, link: Link) -> socket.socket | None:
        """Open a socket with the connector. Return None if there is no connector.

        Raises ``ConnectorError`` if the connector or the address map fails.
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
        """Connect a protocol to a link's broker, including the TLS handshake.

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
            # The event loop has rejected the arguments and did not take the socket.
            # After any other error, it closes the socket together with its transport,
            # and a second close of the descriptor would be an error in uvloop.
            opened.close()
            raise

    async def _take_transport(
        self,
        transport: asyncio.Transport,
        protocol: asyncio.BufferedProtocol,
        context: tls.SSLContext | None,
        server_name: str | None,
    ) -> None:
        """Attach a connected transport to a protocol, after the TLS handshake if any.

        Aborts the transport and raises the error if the handshake fails.
        """
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
        """Return a connected socket, or a transport of an asynchronous connector."""
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
        """Try the addresses of the host name in order; return the first open socket.

        Raises the ``OSError`` of the last address if all addresses fail.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        host, port = self.map_address(link)
        results = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        timeout_s = self.share_timeout(len(results))
        problem: OSError = OSError("the host name has no address")
        for number, (family, _, _, _, address) in enumerate(results, 1):
            try:
                new = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                problem = error
                continue
            try:
                new.setblocking(False)
                async with asyncio.timeout(
                    timeout_s if number < len(results) else None
                ):
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
    """Check the arguments ``connector`` and ``address_map`` of ``connect``.

    Raises ``TypeError`` if an argument is invalid. The error text shows the type but
    not the value, which may contain a proxy password.
    """
    if connector is not None and not callable(connector):
        raise TypeError(
            "connector must be a function of host, port and timeout that returns a"
            f" connected socket (got {type(connector).__name__})"
        )
    if address_map is None or callable(address_map):
        return
    description = type(address_map).__name__
    if isinstance(address_map, Mapping):
        if all(map(is_address, chain(*address_map.items()))):
            return
        description += " with other entries"
    raise TypeError(
        "address_map must be {(host, port): (host, port)}, or a function of host and"
        f" port that returns such a tuple (got {description})"
    )


def is_address(value: object) -> bool:
    """Return whether a value is a tuple (host name, port number from 1 to 65535)."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], int)
        and 0 < value[1] < 1 << 16
    )


def set_no_delay(connection: socket.socket) -> None:
    """Disable Nagle's algorithm, so that small requests are sent immediately.

    Sockets without TCP, for example Unix sockets of a connector, are left unchanged.
    """
    with suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _check_socket(opened: object) -> None:
    # A socket that uses TLS already is rejected, because its reads and writes raise
    # errors that the runners do not handle.
    has_tls = hasattr(opened, "do_handshake")
    if not isinstance(opened, socket.socket) or has_tls:
        raise ConnectorError(
            "the connector must return a connected socket.socket without TLS"
            f" (got {type(opened).__name__})"
        )


def _hide_message(function: str, error: Exception) -> ConnectorError:
    """Return an error that names only the class of an error of the user's function.

    The message of the original error is omitted, because it may contain a secret.
    """
    return ConnectorError(f"{function} raised {type(error).__name__}")
