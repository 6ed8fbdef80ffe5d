# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options for connections to brokers: addresses, TLS, SASL and timeouts.

``connect_cluster`` creates a client from an address and these options.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...client.runners.addresses import split_address
from ...client.sasl_mechanisms import MECHANISMS
from ...client.shown_texts import show_path
from ...connection.negotiation import fallback_table
from ...records.compression import NAMES
from .cluster_address import ADDRESS_VARIABLE, CONFIG_VARIABLE

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

    from ...client import KafkaSync
    from ...client.machines.settings import Mechanism

PASSWORD_VARIABLE = "KWIRE_SASL_PASSWORD"

_PASSWORD_OPTION = "--password-file"
"""Option for the password file. The password itself is not an option, because other
processes can read process arguments.
"""

_PATIENCE = 3
"""Multiple of ``--timeout`` after which a cluster without progress is reported as
unreachable. A single broker has ``--timeout`` seconds for its response, so the client
can try several brokers in this time.
"""


class Access(NamedTuple):
    """Connection settings.

    ``new_mechanism`` creates the SASL mechanism for a connection, or is None.
    """

    context: ssl.SSLContext | None
    new_mechanism: Callable[[], Mechanism] | None
    timeout_s: float
    fallback: str | None


class _File(click.Path):
    """Parameter type for file paths.

    The error message never contains PEM text or a password, because the user may have
    passed the file content instead of its path.
    """

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
    """Parameter type for SASL mechanism names.

    The error message does not contain the value, because it could be a password.
    """

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"it must be one of {', '.join(MECHANISMS)}", param, ctx)


def add_broker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the bootstrap argument and the options of ``read_access`` to a command."""
    argument = click.argument(
        "bootstrap",
        metavar="HOST:PORT...",
        nargs=-1,
        required=True,
        envvar=ADDRESS_VARIABLE,
    )
    return argument(_add_access_options(command))


def add_cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the address argument and the options of ``connect_cluster`` to a command."""
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
    default: str,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Create the option ``--compression`` for commands that write to a cluster."""
    return click.option(
        "--compression",
        "-z",
        type=click.Choice(NAMES),
        default=default,
        show_default=True,
        help="The compression of record batches.",
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
        click.option("--scope", help="The scope of a token, for OAUTHBEARER."),
        click.option(
            "--token-url",
            metavar="URL",
            help=(
                "The token endpoint, for OAUTHBEARER; --username and the password are"
                " the client id and the client secret."
            ),
        ),
        click.option("--username", help="The user name for SASL."),
        click.option(
            "--sasl-mechanism",
            "mechanism",
            type=_MechanismName(list(MECHANISMS), case_sensitive=False),
            help="Authenticate with SASL.",
        ),
        click.option(
            "--tls-key",
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
    tls_key: str | None,
    mechanism: str | None,
    username: str | None,
    password_file: str | None,
    token_url: str | None,
    scope: str | None,
    timeout_s: float,
    fallback: str | None = None,
) -> Access:
    """Validate the connection options, and return the connection settings.

    * ``fallback``: release of brokers before 0.10.0, which do not report their
      versions.
    * ``timeout_s``: maximum time in seconds to wait for one response.

    Raises ``UsageError`` if an option is invalid, conflicts with another one, or
    requires another one. Raises ``ClickException`` if a file cannot be used.
    """
    for name, value in (("--ca", ca), ("--cert", cert), ("--tls-key", tls_key)):
        if value is not None and not tls:
            raise click.UsageError(f"{name} requires --tls")
    if tls_key is not None and cert is None:
        raise click.UsageError("--tls-key requires --cert")
    if not timeout_s > 0:
        raise click.UsageError("--timeout must be more than 0 seconds")
    try:
        needless = fallback is not None and fallback_table(fallback) is None
    except ValueError as error:
        raise click.UsageError(f"--fallback: {error}") from None
    if needless:
        raise click.UsageError(
            f"--fallback must be a release before 0.10.0 (got {fallback}); newer"
            " brokers report their versions, so leave it out"
        )
    new_mechanism = _mechanism_factory(
        mechanism,
        {
            "--username": username,
            "--password-file": password_file,
            "--token-url": token_url,
            "--scope": scope,
        },
    )
    return Access(
        _context(ca, cert, tls_key) if tls else None, new_mechanism, timeout_s, fallback
    )


def connect_cluster(address: str, *, config: str | None, **options: Any) -> KafkaSync:
    """Create a cluster client from an address and the connection options.

    ``config`` is the path to a property file for Kafka's clients. Raises ``UsageError``
    if the options are invalid, and ``ClickException`` if the property file, or a file
    that it names, cannot be used.
    """
    from ... import client

    if config is not None and (options["tls"] or options["mechanism"]):
        raise click.UsageError(
            f"--config ({CONFIG_VARIABLE}) cannot be given with --tls or"
            " --sasl-mechanism; set security.protocol and sasl.mechanism in the file"
        )
    access = read_access(**options)
    try:
        properties = None if config is None else client.read_properties(config)
        return connect_with(address, access, properties)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        import ssl

        if isinstance(error, ssl.SSLError):
            raise click.ClickException(
                f"{config}: it names no PEM certificate with a matching private key"
                f" ({error.reason or error})"
            ) from None
        file = "" if error.filename is None else f": {error.filename}"
        raise click.ClickException(f"{config}: {error.strerror}{file}") from None


def connect_with(
    address: str, access: Access, config: dict[str, str] | None = None
) -> KafkaSync:
    """Create a cluster client from connection settings."""
    from ... import client

    return client.connect_sync(
        address,
        config=config,
        ssl=access.context,
        sasl=access.new_mechanism,
        fallback=access.fallback,
        timeout_s=_PATIENCE * access.timeout_s,
        connect_timeout_s=access.timeout_s,
        request_timeout_s=access.timeout_s,
    )


def _mechanism_factory(
    name: str | None, options: dict[str, str | None]
) -> Callable[[], Mechanism] | None:
    """Return a function that creates the SASL mechanism for one connection.

    ``options`` maps option names to their values. The mechanism registry specifies
    which options a mechanism accepts and which of them it requires. Raises
    ``UsageError`` if a required option is missing, or an option has no effect with this
    mechanism.
    """
    if name is None:
        specified_options = [
            option for option, value in options.items() if value is not None
        ]
        if specified_options:
            raise click.UsageError(f"{specified_options[0]} requires --sasl-mechanism")
        return None
    row = MECHANISMS[name]
    accepted = {
        option_setting.option: option_setting
        for option_setting in row.settings
        if option_setting.option
    }
    values = {}
    for option, value in options.items():
        setting = accepted.get(option)
        if setting is None:
            if value is not None:
                raise click.UsageError(f"{option} has no effect with {name}")
        elif option == _PASSWORD_OPTION and (value or setting.is_required):
            values[setting.name] = _password(value)
        elif value is not None:
            values[setting.name] = value
        elif setting.is_required:
            raise click.UsageError(f"{name} requires {option}")
    try:
        row.make(**values)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return partial(row.make, **values)


def _password(path: str | None) -> str:
    """Read the SASL password from a file, or from the environment without a path.

    Raises ``ClickException`` if the password is missing or not valid.
    """
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
            # Editors terminate the last line. The line ending does not belong to the
            # password.
            password = file.read().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: the password is not valid UTF-8") from None
    if not password:
        raise click.ClickException(
            f"{path}: the file is empty; write the password into it"
        )
    return password


def _context(ca: str | None, cert: str | None, key: str | None) -> ssl.SSLContext:
    # Import ssl here, because it takes long to import and commands without TLS do not
    # use it.
    import ssl

    try:
        context = ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.ClickException(f"{ca}: not a certificate in PEM format") from None
    if cert is not None:
        try:
            # Pass an empty password, because OpenSSL would otherwise prompt for one on
            # the terminal if the key is encrypted.
            context.load_cert_chain(cert, key, password="")
        except ssl.SSLError as error:
            raise click.ClickException(
                f"{cert}: not a certificate in PEM format with its key, unencrypted"
                f" ({error.reason or error})"
            ) from None
    return context


def read_addresses(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Parse addresses. A string may contain several addresses, separated by commas.

    Raises ``UsageError`` if an address is invalid.
    """
    try:
        return [
            split_address(part) for text in texts for part in text.strip(",").split(",")
        ]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
