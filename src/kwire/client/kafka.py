# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Kafka`` and ``KafkaSync``: the client of a cluster, with asyncio or blocking calls.

The client makes scans, producers and consumers, and requests metadata.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    overload,
)
from weakref import WeakSet

from .._text import format_count
from .._text.name_advice import advise_on_attributes, explain_arguments
from .admin import Admin
from .descriptions import describe_cluster, warn_unclosed
from .options import make_decoding_options, make_scan_options, read_lookup
from .runners.operations import Asynchronous, Blocking, operation
from .scan import Scan, ScanBase, ScanSync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime, timedelta

    from ..records.columns import Unit
    from .consumer import (
        Callback,
        ConsumedTopics,
        Consumer,
        ConsumerBase,
        ConsumerSync,
        Partitions,
    )
    from .machines import ClusterSettings, Receipt, TopicInfo
    from .machines.produce.options import Partitioner
    from .options import Offsets, Topics
    from .producer import Producer, ProducerBase, ProducerSync
    from .progress import ScanProgress
    from .runners.network import Network

IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S", bound=ScanBase)
P = TypeVar("P", bound="ProducerBase[Any]")
C = TypeVar("C", bound="ConsumerBase")


class KafkaBase(Admin, Generic[S, P, C]):
    """A client of a cluster: its addresses, its settings, and the objects it created.

    ``close`` closes the scans, consumers and producers that the client has created.
    """

    _scan_class: type[S]

    # Also for an object whose construction failed.
    has_connected = False

    @explain_arguments("Kafka")
    def __init__(
        self,
        addresses: list[tuple[str, int]],
        settings: ClusterSettings,
        network: Network,
        rack: str | None = None,
        isolation_level: IsolationLevel | None = None,
    ) -> None:
        self.addresses = addresses
        self.settings = settings
        self.network = network
        self._rack = rack
        self._isolation_level: IsolationLevel = isolation_level or "read_uncommitted"
        self._scans: WeakSet[S] = WeakSet()
        self._producers: WeakSet[P] = WeakSet()
        self._consumers: WeakSet[C] = WeakSet()

    @explain_arguments("scan")
    def scan(
        self,
        topics: Topics,
        *,
        start: Offsets = "earliest",
        end: Offsets = "latest",
        follow: bool = False,
        columns: Iterable[str] | None = None,
        isolation_level: IsolationLevel | None = None,
        memory_bytes: int = 64 << 20,
        batch_rows: int | None = None,
        timestamp_unit: Unit = "ms",
        views: bool = False,
        on_data_loss: Literal["raise", "earliest", "latest"] = "raise",
        rack: str | None = None,
        check_crc: bool = True,
        errors: Literal["strict", "replace"] = "replace",
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> S:
        """Read topics from ``start`` to ``end``, or continuously with ``follow``.

        * ``topics``: a name, several names, a compiled pattern that must match the
          complete name, or {topic: [partitions]}.
        * ``start`` and ``end``: "earliest", "latest", an offset, a ``datetime``, a
          ``timedelta`` (so long ago), or a dict of these values. The keys of the dict
          are (topic, partition) pairs, or partitions if there is a single topic.
          "latest" is the end of each partition when the scan begins. With
          "read_committed", it is the position before the first open transaction.
        * ``follow``: wait for new records, instead of stopping at ``end``.
        * ``columns``: the columns of Arrow batches.
        * ``isolation_level``: "read_uncommitted" or "read_committed". Default: the
          value in ``config``, or "read_uncommitted".
        * ``memory_bytes``: maximum size of the responses that are arriving, or that
          contain chunks you have not released, over all connections of the scan. A
          single response may be larger, so that every batch can be read.
        * ``batch_rows``: maximum number of records of a chunk, and therefore of an
          Arrow batch. Larger chunks are split, and there is a position after each part.
          Requires numpy. Default: a chunk contains the records of one response.
        * ``timestamp_unit``: unit of timestamps in columns and Arrow batches.
        * ``views``: do not copy keys and values of columns and Arrow batches out of the
          response, see ``columns.decode_records``. A chunk or table then keeps the
          response in memory.
        * ``on_data_loss``: "raise" raises ``DataLost`` if requested records no longer
          exist. "earliest" and "latest" skip them, and continue at the start or at the
          end of the log.
        * ``rack``: the rack of this client, so that brokers may redirect the scan to a
          replica nearby (KIP-392).
        * ``check_crc``: False skips the verification of record batch checksums.
        * ``errors``: how to decode header names that are not UTF-8. "replace" replaces
          the invalid bytes by U+FFFD, as Kafka's own consumer does, so that a single
          producer cannot make a topic unreadable. "strict" raises ``DecodeError``.
        * ``progress``: a function that is called with a ``ScanProgress`` after each
          chunk, or True for a progress bar on stderr, which requires rich.

        Nothing is sent before the iteration over the scan begins. The iteration raises
        ``ClusterError`` and ``DecodeError``. A scan can be read only once: a second
        iteration raises ``ValueError``.
        """
        options = make_scan_options(
            topics,
            start=start,
            end=end,
            follow=follow,
            isolation_level=isolation_level or self._isolation_level,
            memory_bytes=memory_bytes,
            on_data_loss=on_data_loss,
            rack=rack or self._rack,
        )
        limits = self.settings.limits
        decoding = make_decoding_options(
            columns, timestamp_unit, views, limits, check_crc, errors, batch_rows
        )
        scan = self._scan_class(self, options, decoding, progress)
        self._scans.add(scan)
        return scan

    @explain_arguments("producer")
    def producer(
        self,
        *,
        compression: str = "none",
        compression_level: int | None = None,
        acks: Literal["all", 0, 1] = "all",
        idempotent: bool | None = None,
        linger_s: float = 0.005,
        max_batch_bytes: int = 128 << 10,
        max_request_bytes: int = 1 << 20,
        memory_bytes: int = 32 << 20,
        delivery_timeout_s: float = 120.0,
        partitioner: Partitioner | Callable[[Any], int] | None = None,
        on_receipt: Callable[[Receipt], None] | None = None,
        transactional_id: str | None = None,
        transaction_timeout_s: float = 60.0,
    ) -> P:
        """Return a producer: a context manager that writes records to topics.

        * ``compression`` and ``compression_level``: as in ``records.encode_batch``.
        * ``acks``: "all" to wait for all in-sync replicas, 1 for the leader only, or 0
          for no acknowledgement. With 0, records count as written when they have been
          sent, and receipts have the offset -1.
        * ``idempotent``: write each record once, even if a request is repeated, and
          keep the order of records. Default: True if ``acks`` is "all".
        * ``linger_s``: time that a record of ``send`` waits for further records of its
          batch, in seconds.
        * ``max_batch_bytes``: maximum size of a batch before compression.
        * ``max_request_bytes``: maximum size of a request.
        * ``memory_bytes``: maximum size of the records that are not acknowledged.
        * ``delivery_timeout_s``: records that are not acknowledged within this number
          of seconds have failed.
        * ``partitioner``: a function of ``kwire.records.partitioners``, or a function
          of the key, all partitions and the available partitions. By default, a key has
          the same partition as in Java clients, and records without a key are sent to
          partitions that are not busy.
        * ``on_receipt``: a function that is called with the receipt of each batch of
          ``send``.
        * ``transactional_id``: if set, all records are written in transactions.
        * ``transaction_timeout_s``: the coordinator aborts a transaction that takes
          longer than this number of seconds.

        Nothing is sent before the first record is passed. Raises ``ValueError`` if a
        parameter is invalid.
        """
        from .producer import make_producer_options

        options = make_producer_options(
            compression=compression,
            compression_level=compression_level,
            acks=acks,
            idempotent=idempotent,
            linger_s=linger_s,
            max_batch_bytes=max_batch_bytes,
            max_request_bytes=max_request_bytes,
            memory_bytes=memory_bytes,
            delivery_timeout_s=delivery_timeout_s,
            partitioner=partitioner,
            transactional_id=transactional_id,
            transaction_timeout_s=transaction_timeout_s,
        )
        producer = self._load_producer()(self, options, on_receipt)
        self._producers.add(producer)
        return producer

    @explain_arguments("consumer")
    def consumer(
        self,
        topics: ConsumedTopics,
        *,
        group_id: str,
        start: Offsets = "earliest",
        partitions: Partitions = None,
        group_instance_id: str | None = None,
        server_assignor: str | None = None,
        rack: str | None = None,
        session_timeout_s: float = 45.0,
        max_poll_interval_s: float = 300.0,
        on_assigned: Callback = None,
        on_lost: Callback = None,
        columns: Iterable[str] | None = None,
        isolation_level: IsolationLevel | None = None,
        memory_bytes: int = 64 << 20,
        batch_rows: int | None = None,
        timestamp_unit: Unit = "ms",
        views: bool = False,
        on_data_loss: Literal["raise", "earliest", "latest"] = "raise",
        check_crc: bool = True,
        errors: Literal["strict", "replace"] = "replace",
    ) -> C:
        """Return a consumer: a group member to which the broker assigns partitions.

        * ``topics``: a name, several names, or a compiled pattern, which the broker
          matches with RE2/J.
        * ``start``: where to begin in a partition for which the group has not committed
          an offset, as in ``scan``. Otherwise, the consumer begins at the committed
          offset.
        * ``partitions``: read these partitions without joining the group: "all", the
          partition numbers of a single topic, or {topic: [numbers]}. All brokers
          support this. Joining a group requires Kafka 4.0 (KIP-848).
        * ``group_instance_id``: name of a static member, which keeps its partitions
          when it restarts within the session timeout.
        * ``server_assignor``: "uniform", "range" or another assignor of the broker.
        * ``session_timeout_s``: the partitions are lost if no heartbeat has been
          answered for this number of seconds. The broker has a limit of its own.
        * ``max_poll_interval_s``: a consumer that is not polled for this number of
          seconds leaves the group, and joins again with the next call.
        * ``on_assigned`` and ``on_lost``: functions that are called with the list of
          (topic, partition) pairs that were assigned or lost. ``poll`` and the
          iteration call them in the thread of the caller, before they return a chunk of
          a newly assigned partition. The functions may call ``seek``, ``pause``,
          ``resume``, ``position`` and ``assignment``. ``poll`` raises their exceptions.

        The other parameters are as in ``scan``. Nothing is sent before the first chunk
        is requested. Only ``commit`` commits offsets.
        """
        from .consumer import Callbacks, make_consumer_options

        options = make_consumer_options(
            topics,
            group_id=group_id,
            partitions=partitions,
            start=start,
            isolation_level=isolation_level or self._isolation_level,
            memory_bytes=memory_bytes,
            on_data_loss=on_data_loss,
            rack=rack or self._rack,
            group_instance_id=group_instance_id,
            server_assignor=server_assignor,
            session_timeout_s=session_timeout_s,
            max_poll_interval_s=max_poll_interval_s,
        )
        limits = self.settings.limits
        decoding = make_decoding_options(
            columns, timestamp_unit, views, limits, check_crc, errors, batch_rows
        )
        callbacks = Callbacks(on_assigned, on_lost).check()
        consumer = self._load_consumer()(self, options, decoding, callbacks)
        self._consumers.add(consumer)
        return consumer

    def metrics(self) -> dict[str, float]:
        """Return the current metrics of this client, as numbers by name.

        Each number is the sum over all scans, consumers, producers and other requests
        of this client, including closed ones. The reference describes each name. This
        method is thread-safe.
        """
        return self.settings.metrics.snapshot()

    @operation
    async def close(self, *, flush: bool = True) -> None:
        """Close all scans, consumers and producers of this client.

        Consumers leave their groups. Producers send the records that they hold and wait
        for the acknowledgements, for up to ``delivery_timeout_s``; ``flush=False``
        drops these records. Everything is closed even if something fails. Raises
        ``ClusterError`` if records were not acknowledged.
        """
        await self._close(flush)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {describe_cluster(self.addresses)}>"

    def __del__(self) -> None:
        if self.has_connected and not self.is_forked:
            warn_unclosed(self)

    @operation
    async def topics(self) -> TopicsByName:
        """Return the metadata of each topic that the user may see."""
        from .machines import TopicsMachine

        return TopicsByName(await self._run_query(TopicsMachine))

    @operation
    async def sizes(
        self, topics: Iterable[str] | None = None
    ) -> dict[tuple[str, int], int]:
        """Return the size of partitions on the disks of their leaders, in bytes.

        ``topics`` are names; None selects all topics. The result has no partition whose
        leader does not report its size: this requires the permission Describe on the
        cluster, and Kafka 1.0 or newer. Source: DescribeLogDirs (KIP-113).
        """
        from .machines import SizesMachine

        names = {topics} if isinstance(topics, str) else topics
        names = None if names is None else set(names)
        return await self._run_query(partial(SizesMachine, topics=names))

    @operation
    async def offsets(
        self,
        topics: Topics,
        *,
        at: str | datetime | timedelta = "latest",
        isolation_level: IsolationLevel = "read_uncommitted",
    ) -> dict[int, int] | dict[tuple[str, int], int]:
        """Find one offset of each partition of a topic: {partition: offset}.

        ``at`` is "earliest", "latest", a ``datetime``, or a ``timedelta`` (so long
        ago). A time means the offset of the first record at that time or later, or the
        log end offset if there is no such record. ``topics`` may be as in ``scan``. If
        it is not a single name, the keys are (topic, partition), which ``scan`` accepts
        as ``start``. "latest" under "read_committed" is before the first open
        transaction.
        """
        from .machines import OffsetsMachine

        options = make_scan_options(
            topics,
            start="earliest",
            end="latest",
            follow=False,
            isolation_level=isolation_level,
            memory_bytes=1,
            on_data_loss="raise",
            rack=None,
        )
        make = partial(OffsetsMachine, options=options, lookup=read_lookup(at))
        offsets = await self._run_query(make)
        if isinstance(topics, str):
            return {partition: offset for (_, partition), offset in offsets.items()}
        return offsets

    async def _leave(self, has_failed: bool) -> None:
        # An exception drops unsent records, as in the block of a producer.
        await self._close(flush=not has_failed)

    async def _close(self, flush: bool) -> None:
        self.has_connected = False
        # The stack closes in reverse order, and continues after an error.
        async with AsyncExitStack() as stack:
            for producer in list(self._producers):
                stack.push_async_callback(producer._close, flush)
            for consumer in list(self._consumers):
                stack.push_async_callback(consumer._close)
            for scan in list(self._scans):
                stack.push_async_callback(scan._close)
        self._scans.clear()
        self._consumers.clear()
        self._producers.clear()

    def _load_producer(self) -> type[P]:
        """Import the class of producers, which a scan does not need."""
        raise NotImplementedError

    def _load_consumer(self) -> type[C]:
        """Import the class of consumers, which a scan does not need."""
        raise NotImplementedError


@advise_on_attributes("Kafka")
class Kafka(KafkaBase[Scan, "Producer", "Consumer"], Asynchronous):
    """A client of a cluster for asyncio, created by ``client.connect``."""

    _scan_class = Scan

    if TYPE_CHECKING:
        # The decorator has the type of one signature. A str is iterable too, but means
        # a single topic.
        @overload
        async def offsets(  # type: ignore[overload-overlap]
            self,
            topics: str,
            *,
            at: str | datetime | timedelta = "latest",
            isolation_level: IsolationLevel = "read_uncommitted",
        ) -> dict[int, int]: ...

        @overload
        async def offsets(
            self,
            topics: Topics,
            *,
            at: str | datetime | timedelta = "latest",
            isolation_level: IsolationLevel = "read_uncommitted",
        ) -> dict[tuple[str, int], int]: ...

        async def offsets(self, topics: Any, **_: Any) -> Any: ...

    def _load_producer(self) -> type[Producer]:
        from .producer import Producer

        return Producer

    def _load_consumer(self) -> type[Consumer]:
        from .consumer import Consumer

        return Consumer


@advise_on_attributes("Kafka")
class KafkaSync(KafkaBase[ScanSync, "ProducerSync", "ConsumerSync"], Blocking):
    """A client of a cluster with blocking calls, created by ``client.connect_sync``."""

    _scan_class = ScanSync

    if TYPE_CHECKING:
        # The decorator has the type of one signature. A str is iterable too, but means
        # a single topic.
        @overload
        def offsets(  # type: ignore[overload-overlap]
            self,
            topics: str,
            *,
            at: str | datetime | timedelta = "latest",
            isolation_level: IsolationLevel = "read_uncommitted",
        ) -> dict[int, int]: ...

        @overload
        def offsets(
            self,
            topics: Topics,
            *,
            at: str | datetime | timedelta = "latest",
            isolation_level: IsolationLevel = "read_uncommitted",
        ) -> dict[tuple[str, int], int]: ...

        def offsets(self, topics: Any, **_: Any) -> Any: ...

    def _load_producer(self) -> type[ProducerSync]:
        from .producer import ProducerSync

        return ProducerSync

    def _load_consumer(self) -> type[ConsumerSync]:
        from .consumer import ConsumerSync

        return ConsumerSync


class TopicsByName(dict[str, "TopicInfo"]):
    """Topics by name. Notebooks show them as a table."""

    def _repr_html_(self) -> str:
        from .html_tables import make_html_table

        rows = [
            (
                topic.name,
                len(topic.partitions),
                max(
                    map(len, (p.replicas for p in topic.partitions.values())), default=0
                ),
                "internal" if topic.is_internal else "",
            )
            for topic in self.values()
        ]
        columns = ("topic", "partitions", "replicas", "")
        return make_html_table(format_count(len(self), "topic"), columns, rows)
