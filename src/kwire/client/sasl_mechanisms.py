# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Registry of SASL mechanisms and their setting names.

A setting has different names in Kafka's client properties, in ``sasl.jaas.config`` and
on the command line. ``security.py``, ``property_names.py``, Spark and the command line
use this registry, so that a new mechanism requires only one new row in ``_ROWS``.

This module imports only modules of the standard library. The mechanism classes are
imported on first use, because most clients connect without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Setting(NamedTuple):
    """Setting that a mechanism requires or accepts.

    * ``name``: parameter of ``SaslMechanism.make``.
    * ``label``: description of the setting in error messages, such as "a password".
    * ``properties``: property names of Kafka's Java client and of librdkafka, all with
      the same meaning.
    * ``jaas``: option of ``sasl.jaas.config``, or "" if there is none.
    * ``option``: command line option, or "" if there is none.
    * ``choices``: the supported values, or empty if any value is possible. Class names
      are written without their package. A setting with choices is checked but not
      passed to ``make``.
    * ``is_secret``: the value identifies or authenticates a user. If a line of a
      property file lacks its separator, the secret becomes a part of the name, so
      errors must not show a name that begins with this property.
    """

    name: str
    label: str
    properties: tuple[str, ...]
    jaas: str = ""
    option: str = ""
    is_required: bool = False
    choices: tuple[str, ...] = ()
    is_secret: bool = False


class SaslMechanism(NamedTuple):
    """Description of a SASL mechanism.

    * ``name``: name of the mechanism in the SaslHandshake request.
    * ``login_module``: class name in ``sasl.jaas.config``, without its package.
    * ``settings``: the settings of the mechanism.
    * ``make``: function that creates the mechanism from ``parameters``, passed as
      strings by name. Raises ``CredentialsError`` if a setting is not usable.
    """

    name: str
    login_module: str
    settings: tuple[Setting, ...]
    make: Callable[..., Any]

    @property
    def required(self) -> tuple[Setting, ...]:
        """Required settings."""
        return tuple(setting for setting in self.settings if setting.is_required)

    @property
    def parameters(self) -> tuple[Setting, ...]:
        """Settings that ``make`` accepts as parameters."""
        return tuple(setting for setting in self.settings if not setting.choices)


def _make_plain(username: str, password: str) -> Any:
    from ..connection.sasl import Plain

    return Plain(username, password)


def _make_scram_256(username: str, password: str) -> Any:
    from ..connection.sasl import Scram

    return Scram(username, password, "SCRAM-SHA-256")


def _make_scram_512(username: str, password: str) -> Any:
    from ..connection.sasl import Scram

    return Scram(username, password, "SCRAM-SHA-512")


def _make_oauth(
    token_url: str,
    client_id: str,
    client_secret: str,
    scope: str | None = None,
    extensions: str = "",
    url_encode: str = "false",
) -> Any:
    from ..connection.sasl import CredentialsError, OAuthBearer
    from .token_endpoint import ClientCredentials

    if url_encode not in ("true", "false"):
        raise CredentialsError(
            "config: sasl.oauthbearer.header.urlencode must be true or false"
        )
    pairs = [pair.partition("=") for pair in extensions.split(",") if pair.strip()]
    return OAuthBearer(
        ClientCredentials(
            token_url, client_id, client_secret, scope, url_encode=url_encode == "true"
        ),
        {name.strip(): value.strip() for name, _, value in pairs},
    )


def _make_gssapi(
    service: str = "kafka", principal: str | None = None, keytab: str | None = None
) -> Any:
    from ..connection.sasl import Gssapi

    return Gssapi(service, principal, keytab)


def _make_aws(profile: str | None = None) -> Any:
    from ..connection.sasl import AwsMskIam

    return AwsMskIam(profile=profile)


_USER_AND_PASSWORD = (
    Setting(
        "username",
        "a user name",
        ("sasl.username",),
        jaas="username",
        option="--username",
        is_required=True,
        is_secret=True,
    ),
    Setting(
        "password",
        "a password",
        ("sasl.password",),
        jaas="password",
        option="--password-file",
        is_required=True,
        is_secret=True,
    ),
)

_CLIENT_CREDENTIALS = (
    Setting(
        "token_url",
        "a token endpoint",
        ("sasl.oauthbearer.token.endpoint.url",),
        option="--token-url",
        is_required=True,
    ),
    Setting(
        "client_id",
        "a client id",
        ("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id"),
        jaas="clientId",
        option="--username",
        is_required=True,
    ),
    Setting(
        "client_secret",
        "a client secret",
        (
            "sasl.oauthbearer.client.credentials.client.secret",
            "sasl.oauthbearer.client.secret",
        ),
        jaas="clientSecret",
        option="--password-file",
        is_required=True,
        is_secret=True,
    ),
    Setting(
        "scope",
        "a scope",
        ("sasl.oauthbearer.scope",),
        jaas="scope",
        option="--scope",
    ),
    Setting(
        "extensions",
        "extensions",
        ("sasl.oauthbearer.extensions",),
        jaas="extension_*",
    ),
    Setting("url_encode", "an encoding", ("sasl.oauthbearer.header.urlencode",)),
    Setting(
        "",
        "a class",
        ("sasl.login.callback.handler.class",),
        choices=("OAuthBearerLoginCallbackHandler",),
    ),
    Setting(
        "",
        "a class",
        ("sasl.oauthbearer.jwt.retriever.class",),
        choices=("ClientCredentialsJwtRetriever", "DefaultJwtRetriever"),
    ),
    Setting("", "a method", ("sasl.oauthbearer.method",), choices=("oidc",)),
    Setting(
        "",
        "a grant type",
        ("sasl.oauthbearer.grant.type",),
        choices=("client_credentials",),
    ),
)

_KERBEROS = (
    Setting(
        "service",
        "a service name",
        ("sasl.kerberos.service.name",),
        jaas="serviceName",
    ),
    Setting(
        "principal",
        "a principal",
        ("sasl.kerberos.principal",),
        jaas="principal",
        option="--username",
    ),
    Setting("keytab", "a keytab", ("sasl.kerberos.keytab",), jaas="keyTab"),
)

_AWS = (
    Setting("profile", "a profile", (), jaas="awsProfileName"),
    # The only choice is an advice for the error message: a role must be configured in a
    # profile, which botocore reads.
    Setting("", "a role", (), jaas="awsRoleArn", choices=("set in a profile",)),
    Setting(
        "",
        "a class",
        ("sasl.client.callback.handler.class",),
        choices=("IAMClientCallbackHandler",),
    ),
)

_ROWS = (
    SaslMechanism("PLAIN", "PlainLoginModule", _USER_AND_PASSWORD, _make_plain),
    SaslMechanism(
        "SCRAM-SHA-256", "ScramLoginModule", _USER_AND_PASSWORD, _make_scram_256
    ),
    SaslMechanism(
        "SCRAM-SHA-512", "ScramLoginModule", _USER_AND_PASSWORD, _make_scram_512
    ),
    SaslMechanism(
        "OAUTHBEARER", "OAuthBearerLoginModule", _CLIENT_CREDENTIALS, _make_oauth
    ),
    SaslMechanism("GSSAPI", "Krb5LoginModule", _KERBEROS, _make_gssapi),
    SaslMechanism("AWS_MSK_IAM", "IAMLoginModule", _AWS, _make_aws),
)

MECHANISMS = {row.name: row for row in _ROWS}
"""Mechanisms that can be configured by properties or command line options, by name."""

PASSWORD_MECHANISMS = tuple(
    row.name for row in _ROWS if row.settings is _USER_AND_PASSWORD
)
"""Names of the mechanisms that use a user name and a password."""

SETTING_PROPERTIES = tuple(
    dict.fromkeys(
        name for row in _ROWS for setting in row.settings for name in setting.properties
    )
)
"""Property names of all settings."""

SECRET_PROPERTIES = tuple(
    dict.fromkeys(
        name
        for row in _ROWS
        for setting in row.settings
        if setting.is_secret
        for name in setting.properties
    )
)
"""Property names of the settings whose values identify or authenticate a user."""
