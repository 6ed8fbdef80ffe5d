# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of ``kafka-live``: connection settings and the shared topic options.

``spark/topics/options.py`` parses topic options. Settings of Kafka's clients are passed
to ``kwire.client`` under their own names. ``sink_options.py`` implements the options of
sinks.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import client
from ..._limits import DEFAULT, Limits
from ...client.machines import NotAuthorized, TopicNotFound
from ...client.security import check_stores
from ...client.shown_texts import looks_like_name
from ..topics.option_names import LIVE_OPTIONS, OF_CLIENTS
from ..topics.option_values import make_limits, read_count, read_flag, read_size
from ..topics.options import (
    EARLIEST,
    LATEST,
    TopicOptions,
    read_topic_options,
    warn_of_stream_limits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..topics.option_names import OptionNames

_PREFIX = "kafka."
_CHECK_CRCS = "kafka.check.crcs"
_TIMEOUT = "kafka.default.api.timeout.ms"
_SECURITY = ("kafka.ssl.", "kafka.sasl.")
_FOLLOWED = tuple(name for name in OF_CLIENTS if name.startswith(_SECURITY))


@dataclass(frozen=True)
class Cluster:
    """Bootstrap addresses and connection settings. The repr hides the settings."""

    addresses: str
    properties: dict[str, str] = field(repr=False)
    timeout_ms: int = 60_000
    limits: Limits = DEFAULT

    @contextmanager
    def open(self) -> Iterator[client.KafkaSync]:
        """Open a client for the cluster.

        The bootstrap addresses are added to errors about missing or forbidden topics.
        """
        with self.connect() as kafka:
            try:
                yield kafka
            except (NotAuthorized, TopicNotFound) as error:
                raise type(error)(f"{self.addresses}: {error}") from None

    def connect(self) -> client.KafkaSync:
        """Return a client for the cluster, which connects on first use.

        Raises ``ValueError`` for an invalid property, and ``OSError`` if a file cannot
        be read.
        """
        arguments: dict[str, Any] = {
            "config": self.properties,
            "limits": self.limits,
            "timeout_s": self.timeout_ms / 1000,
        }
        try:
            return client.connect_sync(self.addresses, **arguments)
        except ValueError as error:
            raise _of_options(error, LIVE_OPTIONS.format) from None


@dataclass(frozen=True, kw_only=True)
class LiveOptions(TopicOptions):
    """Validated options of a ``kafka-live`` reader, one field per option."""

    cluster: Cluster
    check_crc: bool = True


def read_live_options(given: Mapping[str, str], is_stream: bool = False) -> LiveOptions:
    """Read a reader's options.

    Raises ``ValueError`` for an invalid option, and ``OSError`` if a file that an
    option names cannot be read.

    By default, a batch starts at the earliest offsets, and a stream at the latest
    offsets. Error messages never contain the value of a password.
    """
    if "provider" in {name.lower() for name in given}:
        # Spark 4 accepts CREATE TABLE for this format, but does not pass the table's
        # options to the reader.
        raise ValueError(
            "kafka-live cannot be a catalog table, because Spark does not pass the"
            " options of such tables; use CREATE TEMPORARY VIEW name USING kafka_live"
            " OPTIONS (...)"
        )
    check_security(given, LIVE_OPTIONS)
    found = LIVE_OPTIONS.choose(given)
    options = LiveOptions(
        **read_topic_options(found, "latest" if is_stream else "earliest"),
        cluster=read_cluster(found, "kafka-live", _TIMEOUT),
        check_crc=read_flag(found, _CHECK_CRCS, True),
    )
    if not (options.subscribe or options.subscribe_pattern or options.assign):
        raise ValueError(
            "kafka-live requires topics: give subscribe, subscribePattern or assign"
        )
    if is_stream:
        if options.ending != ("offsets", "latest"):
            raise ValueError("a stream has no end; leave out ending offsets")
    else:
        warn_of_stream_limits(found, LIVE_OPTIONS.format)
        _check_ends(options)
    options.cluster.connect()
    return options


def read_cluster(found: Mapping[str, str], format: str, timeout: str) -> Cluster:
    """Read the connection settings. ``timeout`` is the name of the timeout option.

    The timeout is in milliseconds and defaults to 60,000. Raises ``ValueError`` if
    ``kafka.bootstrap.servers`` is missing.
    """
    addresses = found.get("kafka.bootstrap.servers", "").strip()
    if not addresses:
        raise ValueError(
            f"{format} requires brokers: give kafka.bootstrap.servers,"
            " HOST:PORT[,HOST:PORT]"
        )
    properties = {
        name.removeprefix(_PREFIX): text
        for name, text in found.items()
        if name in OF_CLIENTS
    }
    return Cluster(
        addresses,
        properties,
        read_count(found, timeout) or 60_000,
        make_limits(read_size(found, "maxBatchBytes")),
    )


def check_security(given: Mapping[str, str], options: OptionNames) -> None:
    """Raise ``ValueError`` for unsupported TLS and SASL settings."""
    texts = {
        name.lower().removeprefix(_PREFIX): str(text)
        for name, text in given.items()
        if name.lower().startswith(_PREFIX)
    }
    try:
        check_stores(texts)
    except ValueError as error:
        raise _of_options(error, options.format) from None
    known = {name.lower() for name in (*options.honoured, *options.ignored)}
    for name in given:
        if name.lower().startswith(_SECURITY) and name.lower() not in known:
            of_security = [each for each in options.honoured if each in _FOLLOWED]
            is_name = looks_like_name(name, of_security)
            shown = name if is_name else "of such a name"
            raise ValueError(
                f"{options.format} has no option {shown}: use {', '.join(of_security)};"
                " leave out what the brokers do not require"
            )


def _of_options(error: ValueError, format: str) -> ValueError:
    text = str(error).removeprefix("config: ")
    return ValueError(f"options {_PREFIX}* of {format}: {text}")


def _check_ends(options: LiveOptions) -> None:
    """Raise ``ValueError`` if a batch starts at latest or ends at earliest."""
    for name, (kind, given), word, number in (
        ("startingOffsets", options.starting, "latest", LATEST),
        ("endingOffsets", options.ending, "earliest", EARLIEST),
    ):
        values = given.values() if isinstance(given, dict) else (given,)
        if kind == "offsets" and (word in values or number in values):
            raise ValueError(f"{name} of a batch cannot be {word} or {number}")
