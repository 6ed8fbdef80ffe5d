# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts Kafka's client properties to the arguments of ``connect``.

This module supports the properties that affect a scan, both from the Java client and
from librdkafka. ``security.py`` reads the properties of TLS and SASL. Errors contain
the names of properties but never their values, which may be secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..connection.negotiation import fallback_table
from ..errors import UnsupportedVersion
from .property_names import (
    IGNORED_OF_CONNECTIONS,
    IGNORED_OF_CONSUMERS,
    OF_CONNECTIONS,
    OF_CONSUMERS,
    REPLACED,
)
from .security import check_choice, check_stores, read_security
from .shown_texts import describe_unknown

if TYPE_CHECKING:
    import ssl as tls

    from .certificate_files import FileContext

_NEWER_RELEASE = re.compile(r"(?:0\.1\d|[1-9]\d?\.\d{1,2})(?:\.\d{1,2}){0,2}")
_FOLLOWED = (*OF_CONNECTIONS, *OF_CONSUMERS)
_ACCEPTED = (
    *_FOLLOWED,
    *IGNORED_OF_CONSUMERS,
    *IGNORED_OF_CONNECTIONS,
    *REPLACED,
)
DNS_LOOKUPS = ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
"""Values of ``client.dns.lookup`` (KIP-235), beginning with the default."""

RECOVERY_STRATEGIES = ("rebootstrap", "none")
"""Values of ``metadata.recovery.strategy`` (KIP-899), beginning with the default."""

_ISOLATION = ("read_uncommitted", "read_committed")


class ConnectionProperties(NamedTuple):
    """Arguments of ``connect`` from properties.

    An argument without a property is None. Durations are in seconds.
    """

    addresses: str | None
    client_id: str | None
    context: tls.SSLContext | FileContext | None
    sasl: Any
    connect_timeout_s: float | None
    request_timeout_s: float | None
    timeout_s: float | None
    rack: str | None
    isolation_level: str | None
    fallback: str | None
    dns_lookup: str | None
    metadata_recovery_strategy: str | None
    rebootstrap_trigger_s: float | None
    enable_metrics_push: bool | None


def read_config(
    config: Mapping[str, Any],
    ssl: tls.SSLContext | bool | None = None,
    sasl: Any = None,
) -> ConnectionProperties:
    """Check a client's properties, and combine them with ``ssl`` and ``sasl``.

    * ``config``: properties by name. Consumer properties that do not affect the
      connections are ignored.
    * ``ssl``, ``sasl``: the arguments of ``connect``.

    Raises ``TypeError`` if ``config`` is not a mapping. Raises ``ValueError`` if a
    property is unknown, invalid or not supported, or contradicts another setting.
    Raises ``OSError`` if a file does not exist or is not a certificate.
    """
    if not isinstance(config, Mapping):
        raise TypeError(
            "config must be a mapping of properties, for example that of"
            f" read_properties(path) (got {type(config).__name__})"
        )
    for name, value in config.items():
        if value is None and name in _FOLLOWED:
            raise ValueError(f"config: {name} cannot be None; leave it out")
    texts = {name: str(value) for name, value in config.items()}
    check_stores(texts)
    unknown = [name for name in config if name not in _ACCEPTED]
    if unknown:
        advice = "leave out properties that are not about connections"
        described = describe_unknown(unknown, _ACCEPTED, advice)
        raise ValueError(f"config: kwire has no property {described}")
    context, mechanism = read_security(texts, ssl, sasl)
    isolation_level = texts.get("isolation.level")
    if isolation_level is not None:
        check_choice("isolation.level", isolation_level, _ISOLATION)
    dns_lookup = texts.get("client.dns.lookup")
    if dns_lookup is not None:
        check_choice("client.dns.lookup", dns_lookup, DNS_LOOKUPS)
    strategy = texts.get("metadata.recovery.strategy")
    if strategy is not None:
        # The value is not case-sensitive in Kafka's Java client.
        strategy = strategy.lower()
        check_choice("metadata.recovery.strategy", strategy, RECOVERY_STRATEGIES)
    return ConnectionProperties(
        texts.get("bootstrap.servers"),
        texts.get("client.id"),
        context,
        mechanism,
        _read_seconds(texts, "socket.connection.setup.timeout.ms"),
        _read_seconds(texts, "request.timeout.ms"),
        _read_seconds(texts, "default.api.timeout.ms"),
        texts.get("client.rack"),
        isolation_level,
        _read_fallback(texts.get("broker.version.fallback")),
        dns_lookup,
        strategy,
        _read_seconds(texts, "metadata.recovery.rebootstrap.trigger.ms"),
        _read_flag(texts, "enable.metrics.push"),
    )


def is_fallback(release: str) -> bool:
    """Return whether kwire knows the API versions of brokers of a release."""
    try:
        return fallback_table(release) is not None
    except (ValueError, UnsupportedVersion):
        return False


def _read_fallback(release: str | None) -> str | None:
    """Return the release to assume for brokers that cannot report their API versions.

    Returns None for a newer release, which librdkafka accepts too. It has no effect,
    because kwire requests the versions from all brokers first. Raises ``ValueError``
    for any other text.
    """
    if release is None or is_fallback(release):
        return release
    if _NEWER_RELEASE.fullmatch(release):
        return None
    raise ValueError("config: broker.version.fallback must be a release such as 0.9.0")


def _read_flag(texts: Mapping[str, str], name: str) -> bool | None:
    text = texts.get(name)
    if text is None:
        return None
    check_choice(name, text.lower(), ("true", "false"))
    return text.lower() == "true"


def _read_seconds(texts: Mapping[str, str], name: str) -> float | None:
    text = texts.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text)):
        raise ValueError(f"config: {name} must be a number of milliseconds")
    return int(text) / 1000
