# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Kafka`` and ``KafkaSync``: clients of a cluster, for asyncio and blocking calls.

A client creates scans, producers and consumers, and requests topics, sizes and offsets.
It inherits the operations that manage a cluster from ``Admin``.
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
    """Common base of ``Kafka`` and ``KafkaSync``.

    It keeps weak references to the scans, consumers and producers that it has created,
    so that ``close`` can close them.
    """

    _scan_class: type[S]

    # A class attribute, because Python also calls ``__del__`` if the constructor fails.
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

        Returns a scan. Iterate over it to get the records in chunks.

        * ``topics``: a name, several names, a compiled pattern that must match the
          complete name, or {topic: [partitions]}.
        * ``start``, ``end``: "earliest", "latest", an offset, a ``datetime``, a
          ``timedelta`` before the current time, or a dict of these values. The keys of
          the dict are (topic, partition) pairs, or partitions if there is a single
          topic. For partitions that are not in the dict, ``start`` is "earliest" and
          ``end`` is "latest". "latest" is the end of every partition when the scan
          begins. With "read_committed", it is the last stable offset, which is before
          the first open transaction. A ``datetime`` without a time zone is local time.
        * ``follow``: wait for new records, and for new topics that match the pattern,
          instead of stopping at ``end``.
        * ``columns``: names of the columns of Arrow batches. Default: all columns.
        * ``isolation_level``: "read_uncommitted" or "read_committed". The latter omits
          the records of open and aborted transactions. Default: the value in
          ``config``, or "read_uncommitted".
        * ``memory_bytes``: maximum total size of the responses that are arriving on all
          connections of the scan, or whose chunks have not been released. A request for
          the next chunk releases the previous one. A single response may be larger, so
          that every batch can be read.
        * ``batch_rows``: maximum number of records in a chunk, and therefore in an
          Arrow batch. Larger chunks are split, and there is a position after every
          part. Requires numpy. Default: a chunk contains all records that a response
          has for the partition.
        * ``timestamp_unit``: unit of timestamps in columns and Arrow batches: "s",
          "ms", "us" or "ns".
        * ``views``: if True, keys and values in columns and Arrow batches are views of
          the response instead of copies, see ``columns.decode_records``. A chunk or
          table then keeps the response in memory.
        * ``on_data_loss``: what to do if requested records no longer exist, for example
          because retention has deleted them. "raise" raises ``DataLost``. "earliest"
          and "latest" add a ``DataLost`` to ``losses`` of the scan, and continue at the
          log start offset or the log end offset. If the log was truncated after the
          scan had read it, for example by an unclean leader election, reading resumes
          at the truncation offset with both values, so that the scan reads
          the records that replace the lost ones (KIP-320).
        * ``rack``: rack of this client, so that brokers can redirect the scan to a
          replica nearby (KIP-392). Default: ``client.rack`` in ``config``.
        * ``check_crc``: False skips the verification of record batch checksums.
        * ``errors``: how to decode header names that are not UTF-8. "replace" replaces
          the invalid bytes by U+FFFD, as Kafka's own consumer does, so that a single
          producer cannot make a topic unreadable. "strict" raises ``DecodeError``.
        * ``progress``: a function that is called with a ``ScanProgress`` after every
          chunk, or True for a progress bar on stderr, which requires rich.

        Nothing is sent before the iteration begins. A scan can be read only once.

        Raises ``ValueError`` or ``TypeError`` if an argument is invalid, and
        ``ImportError`` if ``progress`` is True and rich is not installed. The iteration
        raises ``ClusterError``, ``DecodeError``, and ``ValueError`` if the scan has
        already been read, or if another task or thread is reading it.
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
        """Return a producer, which writes records to topics.

        The producer is a context manager. At the end of its block, it waits until all
        records are acknowledged.

        * ``compression``, ``compression_level``: codec of record batches and its level,
          as in ``records.encode_batch``.
        * ``acks``: "all" to wait for all in-sync replicas, 1 to wait for the leader
          only, or 0 for no acknowledgement. With 0, records count as written when they
          have been sent, and receipts contain the offset -1.
        * ``idempotent``: write each record once, even if a request is repeated, and
          keep the order of records. Default: True if ``acks`` is "all".
        * ``linger_s``: maximum time in seconds that a record from ``send`` waits for
          further records in its batch.
        * ``max_batch_bytes``: maximum size of a batch before compression.
        * ``max_request_bytes``: maximum size of a request. A larger batch is sent in a
          request of its own.
        * ``memory_bytes``: maximum total size of unacknowledged records. If it is
          reached, the methods that send records wait.
        * ``delivery_timeout_s``: number of seconds after which an unacknowledged record
          has failed.
        * ``partitioner``: a function of ``kwire.records.partitioners``, or a function
          of the key, all partitions and the available partitions that returns a
          partition. By default, a key has the same partition as in Java clients, and
          records without a key are sent to partitions that are not busy.
        * ``on_receipt``: function that is called with the receipt for every batch from
          ``send``, and from ``send_table`` with ``wait=False``.
        * ``transactional_id``: id of a transactional producer, which must be the same
          each time the program runs. If it is set, all records must be written in
          transactions.
        * ``transaction_timeout_s``: number of seconds after which the coordinator
          aborts an open transaction.

        Nothing is sent before the first record is passed, or before the block begins if
        ``transactional_id`` is set.

        Raises ``ValueError`` or ``TypeError`` if an argument is invalid.
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
        """Return a consumer, which reads topics as a member of a group.

        The group coordinator assigns partitions to the members. This requires Kafka 4.0
        (KIP-848). Iterate over the consumer to get chunks, and call ``commit`` to
        commit offsets. They are not committed automatically.

        * ``topics``: a name, several names, or a compiled pattern, which the broker
          matches with RE2/J.
        * ``group_id``: name of the group.
        * ``start``: where to begin in partitions for which the group has not committed
          an offset, as in ``scan``. In all other partitions, the consumer begins at the
          committed offset.
        * ``partitions``: read these partitions without joining the group: "all", the
          partition numbers of a single topic, or {topic: [numbers]}. Committed offsets
          are used as well. Brokers before Kafka 4.0 support this too.
        * ``group_instance_id``: name of a static member, which gets the same partitions
          again if it restarts within the session timeout.
        * ``server_assignor``: "uniform", "range" or another assignor of the broker.
        * ``session_timeout_s``: give up all partitions if no heartbeat has been
          answered for this number of seconds. The broker also has a session timeout.
        * ``max_poll_interval_s``: leave the group if the caller does not request a
          chunk for this number of seconds. The next request joins the group again. This
          value and ``session_timeout_s`` must be less than 1,000,000.
        * ``on_assigned``, ``on_lost``: functions that are called with a list of (topic,
          partition) pairs that were assigned or lost. ``poll`` and the iteration call
          them in the caller's thread, before they return a chunk of a newly assigned
          partition. The functions may call ``seek``, ``pause``, ``resume``, ``paused``,
          ``position`` and ``assignment``. Their exceptions are raised by ``poll``.

        The other parameters are described in ``scan``. Nothing is sent before the first
        chunk is requested.

        Raises ``ValueError`` or ``TypeError`` if an argument is invalid.
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
        """Return the current metrics of this client as numbers by name.

        Every number is the sum over all scans, consumers, producers and other requests
        of this client, including closed ones. The reference documentation describes
        each name. This method may be called from any thread.
        """
        return self.settings.metrics.snapshot()

    @operation
    async def close(self, *, flush: bool = True) -> None:
        """Close all scans, consumers and producers of this client.

        Consumers leave their groups. Producers send their remaining records, and wait
        for the acknowledgements for up to ``delivery_timeout_s``. With ``flush=False``,
        these records are dropped instead. If closing one object fails, the others are
        closed nevertheless.

        Raises ``ClusterError`` if records are not acknowledged.
        """
        await self._close(flush)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {describe_cluster(self.addresses)}>"

    def __del__(self) -> None:
        if self.has_connected and not self.is_forked:
            warn_unclosed(self)

    @operation
    async def topics(self) -> TopicsByName:
        """Return all topics that the user is permitted to describe, by name.

        Every value contains the partitions of the topic with their leaders and
        replicas.

        Raises ``BrokersUnreachable`` or ``AuthenticationFailed`` if no broker returns
        metadata.
        """
        from .machines import TopicsMachine

        return TopicsByName(await self._run_query(TopicsMachine))

    @operation
    async def sizes(
        self, topics: Iterable[str] | None = None
    ) -> dict[tuple[str, int], int]:
        """Return the size in bytes of every partition on the disk of its leader.

        ``topics`` is a topic name or several topic names. Default: all topics.

        The keys of the result are (topic, partition) pairs. A partition is omitted if
        its topic does not exist, or if its leader does not report the size within
        ``timeout_s``. Leaders report it if the user has the permission Describe on the
        cluster, and if they run Kafka 1.0 or newer.

        Raises ``BrokersUnreachable`` or ``AuthenticationFailed`` if no broker returns
        metadata.
        Source: DescribeLogDirs (KIP-113).
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
        """Return one offset per partition of the topics.

        * ``topics``: a name, several names, a compiled pattern, or
          {topic: [partitions]}, as in ``scan``.
        * ``at``: "earliest", "latest", a ``datetime``, or a ``timedelta`` before the
          current time. For a time, the result is the offset of the first record with
          this or a later timestamp, or the log end offset if there is no such record.
        * ``isolation_level``: with "read_committed", "latest" is the last stable
          offset, which is before the first open transaction. Unlike in ``scan``, the
          default does not depend on ``config``.

        If ``topics`` is a single name, the result is {partition: offset}. Otherwise it
        is {(topic, partition): offset}. ``scan`` accepts both as ``start``.

        Raises ``ClusterError`` if the offsets cannot be found, and ``ValueError`` or
        ``TypeError`` if an argument is invalid.
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
        # After an exception, drop unsent records, as at the end of a producer's block.
        await self._close(flush=not has_failed)

    async def _close(self, flush: bool) -> None:
        self.has_connected = False
        # The stack runs its callbacks in reverse order, and continues after an error.
        # So scans are closed first, then consumers, then producers.
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
        """Import and return the producer class, which scans do not require."""
        raise NotImplementedError

    def _load_consumer(self) -> type[C]:
        """Import and return the consumer class, which scans do not require."""
        raise NotImplementedError


@advise_on_attributes("Kafka")
class Kafka(KafkaBase[Scan, "Producer", "Consumer"], Asynchronous):
    """Asynchronous Kafka client. ``client.connect`` returns it.

    It connects on first use. It is an asynchronous context manager, which closes the
    client and the scans, consumers and producers that it has created. If an exception
    ends the block, unsent records of producers are dropped.
    """

    _scan_class = Scan

    if TYPE_CHECKING:
        # Type checkers infer only one signature from ``operation``, so declare both
        # here. They overlap, because a str is also an iterable of strings. It always
        # means a single topic.
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
    """Kafka client with blocking calls. ``client.connect_sync`` returns it.

    It connects on first use. It is a context manager, which closes the client and the
    scans, consumers and producers that it has created. If an exception ends the block,
    unsent records of producers are dropped.
    """

    _scan_class = ScanSync

    if TYPE_CHECKING:
        # Type checkers infer only one signature from ``operation``, so declare both
        # here. They overlap, because a str is also an iterable of strings. It always
        # means a single topic.
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
    """Dict of topics by name, which notebooks show as a table."""

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
