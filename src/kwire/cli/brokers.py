# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the brokers of a cluster and keeps a connection to each.

This file has the addresses, the options of a connection and the credentials. The
commands choose the requests.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .. import net, sasl
from ..compression import NAMES
from ..errors import KwireError
from ..messages import DescribeClusterRequest, MetadataRequest
from ..negotiation import CONTROLLERS, fallback_table
from ..shown_texts import show_path
from .cluster_command import ADDRESS_VARIABLE, CONFIG_VARIABLE
from .main import explain
from .terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AsyncExitStack

    from ..client import KafkaSync

PASSWORD_VARIABLE = "KWIRE_SASL_PASSWORD"

_AT_ONCE = 64
"""Brokers that are connected to at the same time: a process may have so many."""

_PATIENCE = 3
"""How often a cluster may keep silent as long as a broker before it is given up."""

_CONTROLLERS = 2
"""What DescribeCluster calls the nodes that a controller may tell of."""

_LAST_CLASSIC = MetadataRequest.flexible_versions.min - 1
"""Of Metadata: it has all there is to know of brokers, in the plainest encoding."""


class Node(NamedTuple):
    """A broker as its cluster describes it, and the connection to it or its error.

    ``node_id`` is -1 and ``rack`` None where the cluster does not report them.
    """

    host: str
    port: int
    node_id: int = -1
    rack: str | None = None
    broker: net.Broker | None = None
    error: str = ""

    @property
    def address(self) -> str:
        """Its host and port."""
        return net.address_text(self.host, self.port)


class Access(NamedTuple):
    """How to connect, as the options of the command line say."""

    context: ssl.SSLContext | None
    credentials: tuple[str, str, str] | None
    timeout_s: float
    fallback: str | None

    async def connect(self, host: str, port: int) -> net.Broker:
        """Connect to one broker."""
        return await net.connect(
            host,
            port,
            ssl=self.context,
            sasl=None if self.credentials is None else _mechanism(*self.credentials),
            timeout_s=self.timeout_s,
            fallback=self.fallback,
        )


def _mechanism(name: str, username: str, password: str) -> net.Mechanism:
    if name == sasl.Plain.mechanism:
        return sasl.Plain(username, password)
    return sasl.Scram(username, password, name)


class _File(click.Path):
    """The path of a file. Its error never shows PEM text or a password."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            is_password = param is not None and param.name == "password_file"
            shown = None if is_password else show_path(value)
            what = "it" if shown is None else repr(shown)
            self.fail(f"{what} is not the path of a file that can be read", param, ctx)


class _MechanismName(click.Choice[str]):
    """The name of a mechanism. Its error does not show what was passed instead."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"it must be one of {', '.join(sasl.MECHANISMS)}", param, ctx)


def add_broker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the arguments and options that ``read_access`` takes."""
    argument = click.argument(
        "bootstrap",
        metavar="HOST:PORT...",
        nargs=-1,
        required=True,
        envvar=ADDRESS_VARIABLE,
    )
    return argument(_add_access_options(command))


def add_cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command the argument and options that ``connect_cluster`` takes."""
    argument = click.argument("address", metavar="HOST:PORT[,HOST:PORT]")
    option = click.option(
        "--config",
        type=_File(exists=True, dir_okay=False),
        envvar=CONFIG_VARIABLE,
        help=(
            "A property file of Kafka's clients, with TLS and SASL settings; else"
            f" {CONFIG_VARIABLE} in the environment."
        ),
    )
    return argument(_add_access_options(option(command)))


def compression_option(
    default: str, text: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the option ``--compression`` of a command that writes to a cluster."""
    return click.option(
        *("--compression", "-z"),
        type=click.Choice(NAMES),
        default=default,
        show_default=True,
        help=text,
    )


def _add_access_options(command: Callable[..., Any]) -> Callable[..., Any]:
    file = _File(exists=True, dir_okay=False)
    for add in (
        click.option(
            "--fallback",
            metavar="VERSION",
            help=(
                "The release of brokers before 0.10.0, which do not report their"
                " versions, such as 0.9.0."
            ),
        ),
        click.option(
            "--timeout",
            "timeout_s",
            type=click.FloatRange(min=0, min_open=True),
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="How long to wait for one response.",
        ),
        click.option(
            "--password-file",
            type=file,
            help=f"The password, in a file; else it is {PASSWORD_VARIABLE} in the"
            " environment.",
        ),
        click.option("--username", help="The user name for SASL."),
        click.option(
            "--sasl-mechanism",
            "mechanism",
            type=_MechanismName(sasl.MECHANISMS, case_sensitive=False),
            help="Authenticate with SASL.",
        ),
        click.option(
            "--key",
            type=file,
            help="The key of --cert, if it is in another file, in PEM.",
        ),
        click.option("--cert", type=file, help="The client's certificate, in PEM."),
        click.option(
            "--ca", type=file, help="Trust this certificate authority only, in PEM."
        ),
        click.option("--tls", is_flag=True, help="Connect with TLS."),
    ):
        command = add(command)
    return command


def read_access(
    tls: bool,
    ca: str | None,
    cert: str | None,
    key: str | None,
    mechanism: str | None,
    username: str | None,
    password_file: str | None,
    timeout_s: float,
    fallback: str | None = None,
) -> Access:
    """Combine the options; ``UsageError`` if they exclude each other."""
    for name, value in (("--ca", ca), ("--cert", cert), ("--key", key)):
        if value is not None and not tls:
            raise click.UsageError(f"{name} requires --tls")
    if key is not None and cert is None:
        raise click.UsageError("--key requires --cert")
    if not timeout_s > 0:
        raise click.UsageError("--timeout must be above 0 seconds")
    try:
        needless = fallback is not None and fallback_table(fallback) is None
    except ValueError as error:
        raise click.UsageError(f"--fallback: {error}") from None
    if needless:
        raise click.UsageError(
            f"--fallback must be a release before 0.10.0 (got {fallback}); newer"
            " brokers report their versions, so leave it out"
        )
    credentials = None
    if mechanism is not None:
        if username is None:
            raise click.UsageError(f"{mechanism} requires --username")
        credentials = mechanism, username, _password(password_file)
        try:
            _mechanism(*credentials)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    elif username is not None or password_file is not None:
        raise click.UsageError(
            "--username and --password-file require --sasl-mechanism"
        )
    return Access(
        _context(ca, cert, key) if tls else None, credentials, timeout_s, fallback
    )


def connect_cluster(address: str, *, config: str | None, **options: Any) -> KafkaSync:
    """Make the client of a cluster from an address and the options."""
    from .. import client

    if config is not None and (options["tls"] or options["mechanism"]):
        raise click.UsageError(
            f"--config ({CONFIG_VARIABLE}) cannot be given with --tls or"
            " --sasl-mechanism; set security.protocol and sasl.mechanism in the file"
        )
    access = read_access(**options)
    proof = access.credentials
    try:
        return client.connect_sync(
            address,
            config=None if config is None else client.read_properties(config),
            ssl=access.context,
            sasl=None if proof is None else lambda: _mechanism(*proof),
            fallback=access.fallback,
            timeout_s=_PATIENCE * access.timeout_s,
            connect_timeout_s=access.timeout_s,
            request_timeout_s=access.timeout_s,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except ssl.SSLError as error:
        raise click.ClickException(
            f"{config}: it names no certificate in PEM form with a key that fits"
            f" ({error.reason or error})"
        ) from None
    except OSError as error:
        file = "" if error.filename is None else f": {error.filename}"
        raise click.ClickException(f"{config}: {error.strerror}{file}") from None


def _password(path: str | None) -> str:
    if path is None:
        password = os.environ.get(PASSWORD_VARIABLE)
        if not password:
            raise click.UsageError(
                "SASL requires a password; give --password-file, or set"
                f" {PASSWORD_VARIABLE}"
            )
        return password
    try:
        with open(path, encoding="utf-8", newline="") as file:
            # Editors end the last line; that is no part of the password.
            password = file.read().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: the password is not valid UTF-8") from None
    if not password:
        raise click.ClickException(
            f"{path}: the file is empty; write the password into it"
        )
    return password


def _context(ca: str | None, cert: str | None, key: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.ClickException(f"{ca}: not a certificate in PEM format") from None
    if cert is not None:
        try:
            # Without a password OpenSSL would ask the terminal for one.
            context.load_cert_chain(cert, key, password="")
        except ssl.SSLError as error:
            raise click.ClickException(
                f"{cert}: not a certificate in PEM format with its key, unencrypted"
                f" ({error.reason or error})"
            ) from None
    return context


def read_addresses(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Read addresses; those of one text may be separated by commas, as in Kafka."""
    try:
        return [
            net.split_address(part)
            for text in texts
            for part in text.strip(",").split(",")
        ]
    except ValueError as error:
        raise click.UsageError(str(error)) from None


async def reach_all(
    bootstrap: Sequence[tuple[str, int]], access: Access, stack: AsyncExitStack
) -> list[Node]:
    """Get the list of brokers from the first that answers, and connect to each.

    The connections close with ``stack``. The nodes are sorted by id; one that cannot
    be reached has an error instead. Raises the last error if no broker answers.
    """
    nodes = await _find(bootstrap, access)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def reach(node: Node) -> Node:
        try:
            async with turns:
                broker = await access.connect(node.host, node.port)
        except KwireError as error:
            return node._replace(error=explain(error))
        return node._replace(broker=await stack.enter_async_context(broker))

    return list(await asyncio.gather(*map(reach, sorted(nodes, key=_by_id))))


async def _find(bootstrap: Sequence[tuple[str, int]], access: Access) -> list[Node]:
    for number, (host, port) in enumerate(bootstrap, 1):
        try:
            async with await access.connect(host, port) as broker:
                return await _nodes(broker)
        except KwireError as error:
            if number == len(bootstrap):
                raise
            say(explain(error))
    raise AssertionError("at least one address is required (got none)")


async def _nodes(broker: net.Broker) -> list[Node]:
    nodes = []
    if usable := broker.table.usable(MetadataRequest):
        # No topics: an empty list, which only the oldest version takes for all.
        version = max((v for v in usable if v <= _LAST_CLASSIC), default=usable[0])
        answer = await broker.ask(MetadataRequest(topics=()), version)
        nodes = [Node(b.host, b.port, b.node_id, b.rack) for b in answer.brokers]
    elif broker.table.usable(DescribeClusterRequest, CONTROLLERS):
        request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
        answer = await broker.ask(request, constraints=(CONTROLLERS,))
        nodes = [Node(b.host, b.port, b.broker_id, b.rack) for b in answer.brokers]
    if not nodes:
        raise net.NetworkError(
            broker.address,
            "its metadata lists no brokers; it may still be starting, try again",
        )
    return nodes


def _by_id(node: Node) -> tuple[int, str, int]:
    return node.node_id, node.host, node.port
