# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka client that reads, writes and manages the topics of live brokers.

* ``machines`` routes requests to brokers, without sockets, threads or clocks.
* ``runners`` runs the machines over sockets, with asyncio or with a selector.
* ``adapters`` installs kwire's decoder in other Kafka clients.
* The other modules check the arguments of users, and return the results to them.

Public names are imported when they are first used. Code for file formats, web pages and
commands belongs to other packages. May import: ``errors``, ``_limits``, ``_text``,
``schema``, ``_engine``, ``messages``, ``records``, ``connection``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from .._limits import DEFAULT, Limits
from .._text.name_advice import describe_missing, explain_arguments

if TYPE_CHECKING:
    import ssl as tls
    from collections.abc import Mapping

    from ..connection.negotiation import VersionPolicy
    from ..messages.api_registry import ApiRegistry
    from .admin_results import ConfigEntry as ConfigEntry
    from .admin_results import GroupDescription as GroupDescription
    from .admin_results import GroupListing as GroupListing
    from .admin_results import GroupMember as GroupMember
    from .chunks import Chunk as Chunk
    from .chunks import ConsumerRecord as ConsumerRecord
    from .consumer import Consumer as Consumer
    from .consumer import ConsumerSync as ConsumerSync
    from .errors import AuthenticationFailed as AuthenticationFailed
    from .errors import BrokersUnreachable as BrokersUnreachable
    from .errors import ClusterError as ClusterError
    from .errors import DataLost as DataLost
    from .errors import DeliveryFailed as DeliveryFailed
    from .errors import FeatureUnsupported as FeatureUnsupported
    from .errors import NotAuthorized as NotAuthorized
    from .errors import OutcomeUnknown as OutcomeUnknown
    from .errors import PartitionLost as PartitionLost
    from .errors import ProducerFenced as ProducerFenced
    from .errors import RequestRefused as RequestRefused
    from .errors import TopicNotFound as TopicNotFound
    from .errors import TransactionFailed as TransactionFailed
    from .errors import UsedAfterFork as UsedAfterFork
    from .kafka import Kafka as Kafka
    from .kafka import KafkaSync as KafkaSync
    from .machines.broker_versions import BrokerVersions as BrokerVersions
    from .machines.group.options import GroupMetadata as GroupMetadata
    from .machines.metadata import Broker as Broker
    from .machines.metadata import PartitionInfo as PartitionInfo
    from .machines.metadata import TopicInfo as TopicInfo
    from .machines.produce.options import Receipt as Receipt
    from .position import Position as Position
    from .producer import Producer as Producer
    from .producer import ProducerSync as ProducerSync
    from .progress import ScanProgress as ScanProgress
    from .property_files import read_properties as read_properties
    from .runners.network import AddressMap, Connector, DnsLookup
    from .scan import Scan as Scan
    from .scan import ScanSync as ScanSync
    from .transaction import Transaction as Transaction
    from .transaction import TransactionSync as TransactionSync
else:
    # Type checkers must not see ``__getattr__``. Otherwise, they would accept any name.
    _HOMES = {
        "ConfigEntry": ".admin_results",
        "GroupDescription": ".admin_results",
        "GroupListing": ".admin_results",
        "GroupMember": ".admin_results",
        "AuthenticationFailed": ".errors",
        "BrokersUnreachable": ".errors",
        "ClusterError": ".errors",
        "DataLost": ".errors",
        "DeliveryFailed": ".errors",
        "FeatureUnsupported": ".errors",
        "NotAuthorized": ".errors",
        "OutcomeUnknown": ".errors",
        "PartitionLost": ".errors",
        "ProducerFenced": ".errors",
        "RequestRefused": ".errors",
        "TopicNotFound": ".errors",
        "TransactionFailed": ".errors",
        "UsedAfterFork": ".errors",
        "BrokerVersions": ".machines.broker_versions",
        "GroupMetadata": ".machines.group.options",
        "Broker": ".machines.metadata",
        "PartitionInfo": ".machines.metadata",
        "TopicInfo": ".machines.metadata",
        "Receipt": ".machines.produce.options",
        "Kafka": ".kafka",
        "Scan": ".scan",
        "Chunk": ".chunks",
        "ConsumerRecord": ".chunks",
        "Consumer": ".consumer",
        "Position": ".position",
        "Producer": ".producer",
        "ScanProgress": ".progress",
        "read_properties": ".property_files",
        "KafkaSync": ".kafka",
        "ScanSync": ".scan",
        "ConsumerSync": ".consumer",
        "ProducerSync": ".producer",
        "Transaction": ".transaction",
        "TransactionSync": ".transaction",
    }

    _MODULES = ("adapters", "machines")

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name not in _HOMES:
            raise AttributeError(describe_missing("kwire.client", name, __all__))
        value = getattr(import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES, *_MODULES})


__all__ = [
    "AuthenticationFailed",
    "Broker",
    "BrokerVersions",
    "BrokersUnreachable",
    "Chunk",
    "ClusterError",
    "ConfigEntry",
    "Consumer",
    "ConsumerRecord",
    "ConsumerSync",
    "DataLost",
    "DeliveryFailed",
    "FeatureUnsupported",
    "GroupDescription",
    "GroupListing",
    "GroupMember",
    "GroupMetadata",
    "Kafka",
    "KafkaSync",
    "NotAuthorized",
    "OutcomeUnknown",
    "PartitionInfo",
    "PartitionLost",
    "Position",
    "Producer",
    "ProducerFenced",
    "ProducerSync",
    "Receipt",
    "RequestRefused",
    "Scan",
    "ScanProgress",
    "ScanSync",
    "TopicInfo",
    "TopicNotFound",
    "Transaction",
    "TransactionFailed",
    "TransactionSync",
    "UsedAfterFork",
    "connect",
    "connect_sync",
    "read_properties",
]


@explain_arguments("connect")
def connect(
    addresses: str | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    ssl: tls.SSLContext | bool | None = None,
    sasl: Any = None,
    connector: Connector | None = None,
    address_map: AddressMap | None = None,
    dns_lookup: DnsLookup = "use_all_dns_ips",
    client_id: str | None = "kwire",
    fallback: str | None = None,
    policy: VersionPolicy | None = None,
    registry: ApiRegistry | None = None,
    limits: Limits = DEFAULT,
    timeout_s: float = 60.0,
    connect_timeout_s: float = 10.0,
    request_timeout_s: float = 30.0,
    metadata_recovery_strategy: Literal["rebootstrap", "none"] = "rebootstrap",
    rebootstrap_trigger_s: float = 300.0,
    enable_metrics_push: bool = True,
) -> Kafka:
    """Return an asyncio client for a cluster. It connects on first use.

    The client is an asynchronous context manager, which closes it:

        async with client.connect("broker:9092") as kafka:
            async for chunk in kafka.scan("orders"):
                print(chunk.to_arrow())

    * ``addresses``: bootstrap brokers as "host:port[,host:port]". At least one of these
      brokers must be reachable.
    * ``config``: Kafka client properties ("security.protocol", ...), for example from
      ``read_properties``. ``addresses`` overrides ``bootstrap.servers``. All other
      properties override the corresponding arguments, except ``ssl`` and ``sasl``.
    * ``ssl``: an ``ssl.SSLContext``, or True to trust the certificate authorities of
      the system. Default: no TLS, unless ``config`` requires it.
    * ``sasl``: a mechanism of ``kwire.connection.sasl``, or a function that returns a
      new mechanism for every connection.
    * ``connector``: a function (host, port, timeout in seconds) that opens a connection
      to a broker, for example through a SOCKS proxy or a bastion host. It returns a
      connected ``socket.socket``. For this client, it may also return a transport, or
      an awaitable of a socket or transport. TLS is started afterwards, and checks the
      host name of the broker.
    * ``address_map``: replaces addresses that brokers advertise by reachable addresses.
      A dict ``{(host, port): (host, port)}``, or a function (host, port) that returns
      (host, port). TLS checks the advertised host name.
    * ``dns_lookup``: set it to "resolve_canonical_bootstrap_servers_only" if a
      bootstrap address is a DNS alias. TLS and Kerberos then check the canonical host
      name instead of the alias.
    * ``client_id``: client name in the logs, metrics and quotas of brokers, or None.
    * ``fallback``: release to assume for brokers before Kafka 0.10, such as "0.9.0",
      because they cannot report their versions. Other brokers are not affected.
    * ``policy``: a ``VersionPolicy`` with the API versions that the client may use.
      Default: all versions that kwire supports, except unstable ones.
    * ``registry``: an ``ApiRegistry`` with the classes of APIs that Kafka does not
      have, for ``request``.
    * ``limits``: maximum sizes of responses and records, as a ``kwire.Limits``.
    * ``timeout_s``: raise ``BrokersUnreachable`` if a request and its retries do not
      succeed within this number of seconds, or if a bounded scan makes no progress for
      so long. Time that the caller spends between chunks does not count.
    * ``connect_timeout_s``: number of seconds within which a new connection must be
      ready, including TLS and authentication.
    * ``request_timeout_s``: disconnect from a broker that does not answer a request
      within this number of seconds, and try others.
    * ``metadata_recovery_strategy``: "rebootstrap" connects to the bootstrap addresses
      again if a broker demands it, or if no broker has returned metadata for
      ``rebootstrap_trigger_s`` seconds (KIP-899, KIP-1102). "none" disables this.
    * ``enable_metrics_push``: whether scans, consumers and producers push their metrics
      to brokers that subscribe to them (KIP-714). The last push delays their ``close``
      by at most one second.

    ``config`` and the arguments may complete each other: ``ssl`` can be combined with
    ``security.protocol`` if no ``ssl.*`` property is set, and ``sasl`` can be combined
    with ``sasl.mechanism`` if ``config`` contains no password.

    Raises ``ValueError`` or ``TypeError`` if an argument or property is invalid.
    Raises ``OSError`` if a certificate or key file cannot be loaded.
    Raises ``ValueError`` with the names of both settings if two settings contradict
    each other, or if ``ssl.*`` or ``sasl.*`` properties are set without
    ``security.protocol``. Errors never show the values of settings.
    """
    from .kafka import Kafka
    from .options import make_arguments

    arguments = make_arguments(
        addresses,
        config,
        ssl=ssl,
        sasl=sasl,
        connector=connector,
        address_map=address_map,
        dns_lookup=dns_lookup,
        client_id=client_id,
        fallback=fallback,
        policy=policy,
        registry=registry,
        limits=limits,
        timeout_s=timeout_s,
        connect_timeout_s=connect_timeout_s,
        request_timeout_s=request_timeout_s,
        metadata_recovery_strategy=metadata_recovery_strategy,
        rebootstrap_trigger_s=rebootstrap_trigger_s,
        enable_metrics_push=enable_metrics_push,
    )
    return Kafka(*arguments)


@explain_arguments("connect")
def connect_sync(
    addresses: str | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    ssl: tls.SSLContext | bool | None = None,
    sasl: Any = None,
    connector: Connector | None = None,
    address_map: AddressMap | None = None,
    dns_lookup: DnsLookup = "use_all_dns_ips",
    client_id: str | None = "kwire",
    fallback: str | None = None,
    policy: VersionPolicy | None = None,
    registry: ApiRegistry | None = None,
    limits: Limits = DEFAULT,
    timeout_s: float = 60.0,
    connect_timeout_s: float = 10.0,
    request_timeout_s: float = 30.0,
    metadata_recovery_strategy: Literal["rebootstrap", "none"] = "rebootstrap",
    rebootstrap_trigger_s: float = 300.0,
    enable_metrics_push: bool = True,
) -> KafkaSync:
    """Return a client with blocking calls for a cluster. It connects on first use.

    The client is a context manager, which closes it:

        with client.connect_sync("broker:9092") as kafka:
            for chunk in kafka.scan("orders"):
                print(chunk.to_arrow())

    The most important parameters are:

    * ``addresses``: bootstrap brokers as "host:port[,host:port]".
    * ``config``: Kafka client properties, for example from ``read_properties``.
    * ``ssl``: an ``ssl.SSLContext``, or True to trust the certificate authorities of
      the system.
    * ``sasl``: a mechanism of ``kwire.connection.sasl``, or a function that returns a
      new mechanism for every connection.
    * ``timeout_s``: raise ``BrokersUnreachable`` if a request and its retries do not
      succeed within this number of seconds, or if a bounded scan makes no progress for
      so long.

    ``connect`` describes these and all other parameters, which have the same meaning
    here. The only difference is that ``connector`` must return a connected
    ``socket.socket``, instead of a transport or an awaitable.

    The client uses no event loop. It works only during its calls, in the caller's
    thread, except that each consumer has a thread which sends heartbeats. To read in
    several threads, create a scan or consumer per thread.

    Raises ``ValueError`` or ``TypeError`` if an argument or property is invalid, or if
    two settings contradict each other. Raises ``OSError`` if a certificate or key file
    cannot be loaded. Errors never show the values of settings.
    """
    from .kafka import KafkaSync
    from .options import make_arguments

    arguments = make_arguments(
        addresses,
        config,
        ssl=ssl,
        sasl=sasl,
        connector=connector,
        address_map=address_map,
        dns_lookup=dns_lookup,
        client_id=client_id,
        fallback=fallback,
        policy=policy,
        registry=registry,
        limits=limits,
        timeout_s=timeout_s,
        connect_timeout_s=connect_timeout_s,
        request_timeout_s=request_timeout_s,
        metadata_recovery_strategy=metadata_recovery_strategy,
        rebootstrap_trigger_s=rebootstrap_trigger_s,
        enable_metrics_push=enable_metrics_push,
    )
    return KafkaSync(*arguments)
