# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The registry of SASL mechanisms: their settings, and where users write them.

A setting has names in the properties of Kafka's clients, in ``sasl.jaas.config`` and
on the command line. ``security.py``, ``property_names.py``, Spark and the command line
read these rows, so that a new mechanism is one row.

This module imports nothing but standard types. The classes of the mechanisms load on
use, because most clients connect without SASL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Setting(NamedTuple):
    """A value that a mechanism requires or accepts.

    * ``name``: the parameter of ``SaslMechanism.make``.
    * ``label``: how errors call it.
    * ``properties``: names of Kafka's Java client and of librdkafka, all with the same
      meaning.
    * ``jaas``: the option of ``sasl.jaas.config``, or "" if there is none.
    * ``option``: the option of the command line, or "" if there is none.
    """

    name: str
    label: str
    properties: tuple[str, ...]
    jaas: str = ""
    option: str = ""
    is_required: bool = False


class SaslMechanism(NamedTuple):
    """A mechanism: its name for SaslHandshake, its settings, and its factory.

    ``login_module`` is the class of ``sasl.jaas.config``, without its package. ``make``
    takes the settings by name as strings and returns the mechanism. It raises
    ``CredentialsError`` for settings that are not usable.
    """

    name: str
    login_module: str
    settings: tuple[Setting, ...]
    make: Callable[..., Any]

    @property
    def required(self) -> tuple[Setting, ...]:
        """The settings without which the mechanism cannot be used."""
        return tuple(each for each in self.settings if each.is_required)


def _make_plain(username: str, password: str) -> Any:
    from ..connection.sasl import Plain

    return Plain(username, password)


def _make_scram_256(username: str, password: str) -> Any:
    from ..connection.sasl import Scram

    return Scram(username, password, "SCRAM-SHA-256")


def _make_scram_512(username: str, password: str) -> Any:
    from ..connection.sasl import Scram

    return Scram(username, password, "SCRAM-SHA-512")


_USER_AND_PASSWORD = (
    Setting(
        "username",
        "a user name",
        ("sasl.username",),
        jaas="username",
        option="--username",
        is_required=True,
    ),
    Setting(
        "password",
        "a password",
        ("sasl.password",),
        jaas="password",
        option="--password-file",
        is_required=True,
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
)

MECHANISMS = {row.name: row for row in _ROWS}
"""All mechanisms that can be configured by strings, by name."""

PASSWORD_MECHANISMS = tuple(
    row.name for row in _ROWS if row.settings is _USER_AND_PASSWORD
)
"""The names of the mechanisms with a user name and a password."""

SETTING_PROPERTIES = tuple(
    dict.fromkeys(
        name for row in _ROWS for setting in row.settings for name in setting.properties
    )
)
"""The property names of all settings."""
