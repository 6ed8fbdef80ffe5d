# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks and converts the arguments of ``connect``, ``scan`` and other methods.

Each ``read_`` and ``make_`` function raises ``ValueError`` or ``TypeError`` with the
name of the invalid argument. Errors do not show values that may contain a password.
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._limits import Limits
from ..connection.negotiation import VersionPolicy
from ..messages.api_registry import ApiRegistry
from ..records.options import check_errors
from .chunks import COLUMNS, DecodingOptions
from .machines import EARLIEST, LATEST, ClusterSettings, Lookup, ScanOptions
from .properties import DNS_LOOKUPS, RECOVERY_STRATEGIES, is_fallback, read_config
from .runners.addresses import split_address
from .runners.network import Network, check_connector
from .security import is_mechanism

if TYPE_CHECKING:
    import ssl as tls

    from ..records.columns import Unit
    from .machines.scan.options import Spec
    from .runners.network import AddressMap, Connector

When: TypeAlias = "str | int | datetime | timedelta"
Topics: TypeAlias = (
    "str | Iterable[str] | re.Pattern[str] | Mapping[str, Iterable[int]]"
)
Offsets: TypeAlias = "When | Mapping[Any, When]"


def read_addresses(text: str) -> list[tuple[str, int]]:
    """Parse "host:port[,host:port]" and return the list of (host, port).

    Raises ``TypeError`` if ``text`` is not a string, and ``ValueError`` if it contains
    no address or an invalid one. The error shows the position of the invalid address
    instead of its text.
    """
    if isinstance(text, Mapping):
        raise TypeError(
            "addresses must be HOST:PORT[,HOST:PORT] (got properties); pass them as"
            " config="
        )
    if not isinstance(text, str):
        raise TypeError(
            "addresses must be one str, HOST:PORT[,HOST:PORT] (got"
            f' {type(text).__name__}); join several: ",".join(addresses)'
        )
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError("addresses must be HOST:PORT[,HOST:PORT] (got none)")
    addresses = []
    for number, part in enumerate(parts, 1):
        try:
            addresses.append(split_address(part))
        except ValueError as error:
            which = f", number {number} of {len(parts)}" if len(parts) > 1 else ""
            raise ValueError(f"addresses{which}: {error}") from None
    return addresses


def make_settings(sasl: Any, **settings: Any) -> ClusterSettings:
    """Check a cluster's settings, and return them as ``ClusterSettings``.

    ``sasl`` is a mechanism, a function that returns a new mechanism, or None. The
    default is used if ``policy`` or ``registry`` is None.

    Raises ``TypeError`` if a setting has the wrong type. The error shows the type but
    not the value. Raises ``ValueError`` if ``fallback`` is not a supported release, or
    for an unknown ``metadata_recovery_strategy``.
    """
    for name in ("policy", "registry"):
        if settings.get(name) is None:
            settings.pop(name, None)
    kinds: tuple[type, ...]
    for name, value in settings.items():
        if name.endswith("_s"):
            kinds, what = (int, float), "a number of seconds"
        elif name == "metadata_recovery_strategy":
            if value not in RECOVERY_STRATEGIES:
                raise ValueError(f"{name} must be {' or '.join(RECOVERY_STRATEGIES)}")
            continue
        elif name in ("client_id", "fallback"):
            kinds, what = (str, type(None)), "a str or None"
        elif name == "enable_metrics_push":
            kinds, what = (bool,), "True or False"
        elif name == "limits":
            kinds, what = (Limits,), "kwire.Limits"
        elif name == "policy":
            kinds, what = (VersionPolicy,), "a VersionPolicy"
        elif name == "registry":
            kinds, what = (ApiRegistry,), "an ApiRegistry"
        else:
            continue
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {what} (got {type(value).__name__})")
    if sasl is not None:
        make: Callable[[], Any] = sasl
        if is_mechanism(sasl):
            make = partial(copy.copy, sasl)
        settings["new_mechanism"] = make
    fallback = settings.get("fallback")
    if fallback is not None and not is_fallback(fallback):
        raise ValueError(
            "fallback must be a release from 0.8.0 to 0.9.0; newer brokers report their"
            " versions, so leave it out"
        )
    return ClusterSettings(**settings)


def make_arguments(
    addresses: str | None,
    config: Mapping[str, Any] | None,
    *,
    ssl: tls.SSLContext | bool | None,
    sasl: Any,
    connector: Connector | None,
    address_map: AddressMap | None,
    dns_lookup: str,
    **settings: Any,
) -> tuple[list[tuple[str, int]], ClusterSettings, Network, str | None, Any]:
    """Combine the arguments of ``connect`` with the properties in ``config``.

    ``settings`` are the fields of ``ClusterSettings``. Properties override them.

    Returns the bootstrap addresses, the settings, the network, the rack and the
    isolation level. Rack and isolation level are None if ``config`` does not set them.
    Raises ``ValueError`` or ``TypeError`` if an argument or property is invalid, or if
    ``ssl``, ``sasl`` and ``config`` contradict each other. Raises ``OSError`` if a
    certificate or key file cannot be loaded.
    """
    check_connector(connector, address_map)
    if dns_lookup not in DNS_LOOKUPS:
        raise ValueError(f"dns_lookup must be one of {', '.join(DNS_LOOKUPS)}")
    known = read_config({} if config is None else config, ssl, sasl)
    for name in (
        "client_id",
        "fallback",
        "connect_timeout_s",
        "request_timeout_s",
        "timeout_s",
        "enable_metrics_push",
        "metadata_recovery_strategy",
        "rebootstrap_trigger_s",
    ):
        value = getattr(known, name)
        if value is not None:
            settings[name] = value
    bootstrap = read_addresses(addresses or known.addresses or "")
    is_alias = (known.dns_lookup or dns_lookup) != DNS_LOOKUPS[0]
    return (
        bootstrap,
        make_settings(known.sasl, **settings),
        Network(
            known.context,
            connector,
            address_map,
            settings["connect_timeout_s"],
            getattr(known.sasl, "prepare", None),
            frozenset(bootstrap) if is_alias else frozenset(),
        ),
        known.rack,
        known.isolation_level,
    )


def make_scan_options(
    topics: Topics,
    *,
    start: Offsets,
    end: Offsets,
    follow: bool,
    isolation_level: Literal["read_uncommitted", "read_committed"],
    memory_bytes: int,
    on_data_loss: Literal["raise", "earliest", "latest"],
    rack: str | None,
) -> ScanOptions:
    """Check the arguments of ``scan`` that select the records to read.

    Raises ``ValueError`` or ``TypeError`` with the name of the argument if a value is
    invalid.
    """
    if isolation_level not in ("read_uncommitted", "read_committed"):
        raise ValueError(
            'isolation_level must be "read_uncommitted" or "read_committed"'
            f" (got {isolation_level!r})"
        )
    if on_data_loss not in ("raise", "earliest", "latest"):
        raise ValueError(
            'on_data_loss must be "raise", "earliest" or "latest"'
            f" (got {on_data_loss!r})"
        )
    if memory_bytes <= 0:
        raise ValueError(f"memory_bytes must be 1 or more (got {memory_bytes})")
    if follow and end != "latest":
        raise ValueError(f"end cannot be given with follow=True (got {end!r:.60})")
    names: tuple[str, ...] = ()
    pattern = partitions = None
    if isinstance(topics, re.Pattern):
        pattern = topics
    else:
        names, partitions = _read_topics(topics)
        if not names:
            raise ValueError("topics must name at least one topic (got none)")
    return ScanOptions(
        topics=names,
        pattern=pattern,
        partitions=partitions,
        start=read_offsets("start", start, names),
        end=read_offsets("end", end, names),
        follow=follow,
        read_committed=isolation_level == "read_committed",
        memory_bytes=memory_bytes,
        on_data_loss=on_data_loss,
        rack=rack or "",
    )


def make_decoding_options(
    names: Iterable[str] | None,
    timestamp_unit: Unit,
    views: bool,
    limits: Limits,
    check_crc: bool,
    errors: Literal["strict", "replace"],
    batch_rows: int | None,
) -> DecodingOptions:
    """Check the arguments of ``scan`` that control decoding.

    Raises ``ValueError`` or ``TypeError`` with the name of the argument if a value is
    invalid.
    """
    chosen = COLUMNS if names is None else tuple(names)
    # A string is iterable too, so it would be accepted as a list of its letters.
    is_list = not isinstance(names, str)
    if not is_list or not chosen or not set(chosen) <= set(COLUMNS):
        raise ValueError(
            f"columns must be a list of names from {', '.join(COLUMNS)}"
            f" (got {names!r:.60})"
        )
    if timestamp_unit not in ("s", "ms", "us", "ns"):
        raise ValueError(
            f'timestamp_unit must be "s", "ms", "us" or "ns" (got {timestamp_unit!r})'
        )
    check_errors(errors)
    if batch_rows is not None:
        if not isinstance(batch_rows, int) or isinstance(batch_rows, bool):
            kind = type(batch_rows).__name__
            raise TypeError(f"batch_rows must be an int or None (got {kind})")
        if batch_rows < 1:
            raise ValueError(f"batch_rows must be 1 or more (got {batch_rows})")
    return DecodingOptions(
        chosen, timestamp_unit, views, limits, check_crc, errors, batch_rows
    )


def read_when(name: str, when: When) -> Spec:
    """Convert a ``start`` or ``end`` of one partition to an offset or a lookup.

    * ``name``: name of the argument, for errors.
    * ``when``: an offset, "earliest", "latest", a ``datetime``, or a ``timedelta``
      before the current time.

    Raises ``ValueError`` for any other value.
    """
    if when == "earliest":
        return EARLIEST
    if when == "latest":
        return LATEST
    if isinstance(when, datetime):
        return Lookup(_to_timestamp_ms(when))
    if isinstance(when, timedelta):
        ago_ms = when // timedelta(milliseconds=1)
        return Lookup(max(time.time_ns() // 1_000_000 - ago_ms, 0))
    if isinstance(when, int) and not isinstance(when, bool) and when >= 0:
        return int(when)
    raise ValueError(
        f'{name} must be "earliest", "latest", an offset, a datetime or a timedelta'
        f" (got {when!r:.60})"
    )


def read_lookup(at: str | datetime | timedelta) -> Lookup:
    """Convert the argument ``at`` of an offset query to a lookup.

    Raises ``ValueError`` for all values that ``read_when`` rejects, and for offsets.
    """
    if isinstance(at, (datetime, timedelta)) or at in ("earliest", "latest"):
        lookup = read_when("at", at)
        assert isinstance(lookup, Lookup)
        return lookup
    raise ValueError(
        f'at must be "earliest", "latest", a datetime or a timedelta (got {at!r:.60})'
    )


def _read_topics(
    topics: str | Iterable[str] | Mapping[str, Iterable[int]],
) -> tuple[tuple[str, ...], dict[str, frozenset[int]] | None]:
    """Return the topic names, and the partitions per topic if they are specified.

    The partitions are None unless ``topics`` is a mapping. Raises ``TypeError`` if
    ``topics`` has another form or a topic has no partitions.
    """
    refusal = TypeError(
        "topics must be a name, names, a compiled pattern, or"
        f" {{name: [partitions]}} (got {topics!r:.60})"
    )
    try:
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        partitions = (
            {name: frozenset(topics[name]) for name in names}
            if isinstance(topics, Mapping)
            else None
        )
    except TypeError:
        raise refusal from None
    if not all(isinstance(name, str) and name for name in names):
        raise refusal
    for numbers in (partitions or {}).values():
        if not numbers or not all(isinstance(number, int) for number in numbers):
            raise refusal
    return names, partitions


def _to_timestamp_ms(when: datetime) -> int:
    """Convert a time to milliseconds since 1970, rounded up.

    Times before 1970 return 0. ``datetime.timestamp`` is not used, because its float
    can lose the last millisecond.
    """
    since = when.astimezone(UTC) - datetime.fromtimestamp(0, UTC)
    return max(-(-since // timedelta(milliseconds=1)), 0)


def read_offsets(
    name: str, when: Offsets, topics: tuple[str, ...]
) -> Spec | dict[tuple[str, int], Spec]:
    """Convert the argument ``start`` or ``end`` to one value or a value per partition.

    * ``name``: name of the argument, for errors.
    * ``when``: one value for all partitions, or a mapping from (topic, partition) to
      values. If there is only one topic, keys can also be partition numbers.
    * ``topics``: names of the topics.

    Raises ``ValueError`` for any other key or value.
    """
    if not isinstance(when, Mapping):
        return read_when(name, when)
    specs: dict[tuple[str, int], Spec] = {}
    for key, value in when.items():
        match key:
            case (str(topic), int(partition)):
                pass
            case int(partition) if len(topics) == 1:
                topic = topics[0]
            case _:
                raise ValueError(
                    f"{name} must have keys (topic, partition), or partitions of a"
                    f" single topic (got {key!r:.60})"
                )
        specs[topic, partition] = read_when(name, value)
    return specs
