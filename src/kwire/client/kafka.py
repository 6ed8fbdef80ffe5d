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
    """A client of a cluster: its addresses and settings, and what was made of it."""

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
        """Read topics from ``start`` to ``end``, or with ``follow`` for ever.

        ``topics`` is a name, several, a compiled pattern that names match as a whole,
        or {topic: [partitions]}. ``start`` and ``end`` are "earliest", "latest", an
        offset, a ``datetime``, a ``timedelta`` (so long ago), or a dict of these by
        (topic, partition), or by partition of a single topic. "latest" is where the
        partitions end when the scan begins; under "read_committed" that is before the
        first open transaction. ``columns`` are for Arrow, ``timestamp_unit`` for
        columns and Arrow. With ``views``, keys and values in columns and Arrow stay in
        the response that they came in, as ``columns.decode_records`` has it: a chunk or
        table then holds that response. ``memory_bytes`` bounds the responses that
        arrive or hold chunks you have not released, over all connections of the scan.
        One larger response at a time is possible, so that every batch can be read.
        ``batch_rows`` is the maximum number of records of a chunk, and so of an Arrow
        batch: larger chunks are split, with a position after each part. It requires
        numpy. Without it, a chunk has the records of one response.
        ``on_data_loss`` is what to do where records are gone that were to be read.
        ``isolation_level`` is "read_uncommitted" unless ``config`` says otherwise.
        With ``rack``, brokers may send the scan to a replica nearby (KIP-392).
        ``check_crc=False`` trusts the checksums of record batches.
        ``errors`` applies to header names that are not UTF-8: "replace" puts U+FFFD
        in place of the invalid bytes, as Kafka's own consumer does, so that a single
        producer cannot make a topic unreadable. "strict" raises ``DecodeError``.
        ``progress`` is a function that is called with a ``ScanProgress`` after each
        chunk, or True for a bar on stderr, which requires rich.
        Nothing is sent before the scan is iterated over. ``ClusterError`` and
        ``DecodeError`` come from the iteration. A scan is read once: a second use
        raises ``ValueError``.
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
        """Make a producer: a context manager that writes records to topics.

        ``compression`` is that of ``records.encode_batch``. ``acks`` is "all", 1 for
        the leader alone, or 0 for no acknowledgement: what is sent then counts as
        written, and receipts have offset -1. ``idempotent`` writes each record once
        whatever is sent again, and keeps the order; it is True if ``acks`` is "all".
        ``linger_s`` is how long records of ``send`` wait for others, in seconds.
        ``max_batch_bytes`` bounds a batch before compression, ``max_request_bytes`` a
        request, ``memory_bytes`` what is not acknowledged yet. Records that are not
        acknowledged within ``delivery_timeout_s`` have failed. ``partitioner`` is a
        function of ``kwire.records.partitioners``, or of key, all partitions and
        available partitions; without one, keys go where Java clients send them, and
        records without a key to partitions that are not busy. ``on_receipt`` is called
        with the receipt of each batch of ``send``.
        With a ``transactional_id`` all records are written in transactions; the
        coordinator aborts one that takes longer than ``transaction_timeout_s``.
        Nothing is sent before the first record is given.
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
        """Make a consumer: a member of a group, which the broker gives partitions.

        ``topics`` is a name, several, or a compiled pattern, which the broker matches
        with RE2/J. A partition is read from the offset that the group committed, or
        from ``start``, which is as in ``scan``, where there is none.
        With ``partitions`` the consumer reads these and does not join: "all", numbers
        of a single topic, or {topic: [numbers]}. Any broker has that; joining requires
        Kafka 4.0 (KIP-848).
        A member with a ``group_instance_id`` keeps its partitions while it restarts
        within the session. ``server_assignor`` is "uniform", "range" or an assignor of
        the broker. ``session_timeout_s`` is how long partitions count as owned without
        a response to a heartbeat; the broker has a limit of its own. A consumer that is
        not polled for ``max_poll_interval_s`` leaves the group, and joins again with
        the next call.
        ``on_assigned`` and ``on_lost`` are functions that are called with the list of
        (topic, partition) pairs that were assigned or lost. ``poll`` and the iteration
        call them, in the thread of the caller, before they return a chunk of a
        partition that was assigned. They may call ``seek``, ``pause``, ``resume``,
        ``position`` and ``assignment``. Exceptions are raised by ``poll``.
        The other arguments are as in ``scan``. Nothing is sent before the first chunk
        is requested, and nothing is committed but by ``commit``.
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
        """Return the present metrics of this client: plain numbers by name.

        They are the sums over all its scans, consumers, producers and other requests,
        also of those that are closed. The reference describes each name. All threads
        may call this method.
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
    """A client of a cluster for asyncio; ``client.connect`` makes it."""

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
    """A client of a cluster with blocking calls; ``client.connect_sync`` makes it."""

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
