# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``KafkaBase`` and ``ScanBase``: what the blocking and the asyncio client share."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar
from weakref import WeakSet

from .._text import format_count
from .descriptions import (
    describe_cluster,
    describe_topics,
    warn_unclosed,
)
from .machines import ScanMachine
from .options import make_decoding_options, make_scan_options, read_lookup
from .position import Position
from .progress import ProgressBar, ScanProgress

if TYPE_CHECKING:
    import ssl as tls
    from collections.abc import Callable, Iterable
    from datetime import datetime, timedelta

    from ..errors import KwireError
    from ..records.columns import Unit
    from .chunks import DecodingOptions
    from .consuming import ConsumedTopics, ConsumerBase, Partitions
    from .machines import (
        ClusterMachine,
        ClusterSettings,
        DataLost,
        OffsetsMachine,
        Receipt,
        ScanOptions,
        SizesMachine,
        TopicInfo,
        TopicsMachine,
    )
    from .machines.produce.options import Partitioner
    from .machines.scan.options import Fetched
    from .options import Offsets, Topics
    from .producing import ProducerBase

Isolation: TypeAlias = Literal["read_uncommitted", "read_committed"]

R_co = TypeVar("R_co", covariant=True)


class Query(Protocol[R_co]):
    """A state machine that answers one question."""

    cluster: ClusterMachine
    failure: KwireError | None

    @property
    def wake_at(self) -> float: ...

    def advance(self, now: float) -> None: ...

    def has_result(self) -> bool: ...

    def result(self) -> R_co: ...

    def close(self, now: float) -> None: ...


class ScanBase:
    """A scan: what to read from which cluster."""

    _machine: ScanMachine | None = None
    _is_closing = False
    # True when the iteration has ended, after the last chunk or by an error.
    _is_consumed = False
    # True when an Arrow stream has taken a chunk, which later uses would not see.
    _is_streamed = False
    _bar: ProgressBar | None = None

    def __init__(
        self,
        kafka: KafkaBase[Any, Any, Any],
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        self._kafka = kafka
        self._options = options
        self._decoding = decoding
        self._on_progress = None if isinstance(progress, bool) else progress
        if progress is True:
            self._bar = ProgressBar()
            self._on_progress = self._bar.show
        self._done_offsets = 0
        self._received_bytes = 0

    @property
    def losses(self) -> list[DataLost]:
        """Records that were lost, if ``on_data_loss`` let the scan continue."""
        return [] if self._machine is None else self._machine.losses

    def position(self) -> Position:
        """Return the next offset of each (topic, partition), a ``start`` for later.

        The offsets are those after the last chunk that was returned. Before the first
        chunk, they are the offsets that were passed as ``start``. ``Position.to_json``
        and ``Position.from_json`` store them as text.
        """
        start = self._options.start
        items = start.items() if isinstance(start, Mapping) else ()
        position = Position(
            {partition: spec for partition, spec in items if isinstance(spec, int)}
        )
        if self._machine is not None:
            position.update(self._machine.position())
        return position

    def _check_unread(self) -> None:
        """Reject a second use, which would look like a scan without records."""
        if self._is_consumed or self._is_streamed:
            raise ValueError(
                "the scan has already been consumed; make another with kafka.scan()"
            )
        if self._is_closing:
            raise ValueError("the scan is closed; make another with kafka.scan()")

    def _report_progress(self, fetched: Fetched) -> None:
        """Count one more chunk, and call the function that shows the progress."""
        if self._on_progress is None:
            return
        assert self._machine is not None
        end_offset = fetched.next_offset
        if fetched.end_offset is not None:
            end_offset = min(end_offset, fetched.end_offset)
        self._done_offsets += end_offset - fetched.start_offset
        self._received_bytes += len(fetched.data)
        remaining = self._machine.remaining_offsets()
        total = None if remaining is None else self._done_offsets + remaining
        self._on_progress(ScanProgress(self._done_offsets, total, self._received_bytes))

    def _describe_state(self) -> str:
        if self._is_closing:
            return "closed"
        if self._is_consumed:
            return "consumed"
        if self._machine is None:
            return "not started"
        return f"at {self.position().describe() or 'no offset yet'}"

    def __repr__(self) -> str:
        topics = describe_topics(self._options.topics, self._options.pattern)
        cluster = describe_cluster(self._kafka.addresses)
        state = self._describe_state()
        return f"<{type(self).__name__} of {topics} on {cluster}, {state}>"

    def _repr_html_(self) -> str:
        from .html_tables import make_html_table

        rows = [
            (topic, partition, offset)
            for (topic, partition), offset in sorted(self.position().items())
        ]
        columns = ("topic", "partition", "next offset")
        return make_html_table(repr(self), columns, rows)

    def __del__(self) -> None:
        if self._machine is not None and not (self._is_consumed or self._is_closing):
            warn_unclosed(self)

    def _has_result(self) -> bool:
        """Whether the iteration can go on: there is a chunk, or the scan is over."""
        assert self._machine is not None
        return self._is_closing or self._machine.has_result()

    def _begin(self, now: float) -> ScanMachine:
        self._kafka.has_connected = True
        self._machine = ScanMachine(
            self._kafka.addresses,
            self._kafka.settings,
            self._options,
            now=now,
            random=Random(),
        )
        return self._machine


S = TypeVar("S", bound=ScanBase)


P = TypeVar("P", bound="ProducerBase")


C = TypeVar("C", bound="ConsumerBase")


class KafkaBase(Generic[S, P, C]):
    """A client of a cluster: its addresses and settings, and what was made of it."""

    _scan_class: type[S]

    def __init__(
        self,
        addresses: list[tuple[str, int]],
        settings: ClusterSettings,
        context: tls.SSLContext | None,
        rack: str | None = None,
        isolation: Isolation | None = None,
    ) -> None:
        self.addresses = addresses
        self.settings = settings
        self.context = context
        # True from the first connection until ``close``.
        self.has_connected = False
        self._rack = rack
        self._isolation: Isolation = isolation or "read_uncommitted"
        self._scans: WeakSet[S] = WeakSet()
        self._producers: WeakSet[P] = WeakSet()
        self._consumers: WeakSet[C] = WeakSet()

    def scan(
        self,
        topics: Topics,
        *,
        start: Offsets = "earliest",
        end: Offsets = "latest",
        follow: bool = False,
        columns: Iterable[str] | None = None,
        isolation: Isolation | None = None,
        memory_bytes: int = 64 << 20,
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
        ``on_data_loss`` is what to do where records are gone that were to be read.
        ``isolation`` is "read_uncommitted" unless ``config`` says otherwise.
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
            isolation=isolation or self._isolation,
            memory_bytes=memory_bytes,
            on_data_loss=on_data_loss,
            rack=rack or self._rack,
        )
        limits = self.settings.limits
        decoding = make_decoding_options(
            columns, timestamp_unit, views, limits, check_crc, errors
        )
        scan = self._scan_class(self, options, decoding, progress)
        self._scans.add(scan)
        return scan

    def producer(
        self,
        *,
        compression: str = "none",
        compression_level: int | None = None,
        acks: Literal["all", 0, 1] = "all",
        idempotent: bool | None = None,
        linger_ms: float = 5,
        batch_bytes: int = 128 << 10,
        request_bytes: int = 1 << 20,
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
        ``linger_ms`` is how long appended records wait for others. ``batch_bytes``
        bounds a batch before compression, ``request_bytes`` a request, ``memory_bytes``
        what is not acknowledged yet. Records that are not acknowledged within
        ``delivery_timeout_s`` have failed. ``partitioner`` is a function of
        ``kwire.records.partitioners``, or of key, all partitions and available
        partitions; without one, keys go where Java clients send them, and records
        without a key to partitions that are not busy. ``on_receipt`` is called with the
        receipt of each batch of appended records.
        With a ``transactional_id`` all records are written in transactions; the
        coordinator aborts one that takes longer than ``transaction_timeout_s``.
        Nothing is sent before the first record is given.
        """
        from .producing import make_producer_options

        options = make_producer_options(
            compression=compression,
            compression_level=compression_level,
            acks=acks,
            idempotent=idempotent,
            linger_ms=linger_ms,
            batch_bytes=batch_bytes,
            request_bytes=request_bytes,
            memory_bytes=memory_bytes,
            delivery_timeout_s=delivery_timeout_s,
            partitioner=partitioner,
            transactional_id=transactional_id,
            transaction_timeout_s=transaction_timeout_s,
        )
        producer = self._load_producer()(self, options, on_receipt)
        self._producers.add(producer)
        return producer

    def consumer(
        self,
        topics: ConsumedTopics,
        *,
        group: str,
        start: Offsets = "earliest",
        partitions: Partitions = None,
        instance_id: str | None = None,
        server_assignor: str | None = None,
        rack: str | None = None,
        session_timeout_s: float = 45.0,
        max_poll_interval_s: float = 300.0,
        columns: Iterable[str] | None = None,
        isolation: Isolation | None = None,
        memory_bytes: int = 64 << 20,
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
        A member with an ``instance_id`` keeps its partitions while it restarts within
        the session. ``server_assignor`` is "uniform", "range" or one of the broker's
        own. ``session_timeout_s`` is how long partitions count as owned without an
        answer to a heartbeat; the broker has a limit of its own. Who does not come for
        a chunk for ``max_poll_interval_s`` leaves the group, and joins again then.
        The other arguments are as in ``scan``. Nothing is sent before the first chunk
        is requested, and nothing is committed but by ``commit``.
        """
        from .consuming import make_consumer_options

        options = make_consumer_options(
            topics,
            group=group,
            partitions=partitions,
            start=start,
            isolation=isolation or self._isolation,
            memory_bytes=memory_bytes,
            on_data_loss=on_data_loss,
            rack=rack or self._rack,
            instance_id=instance_id,
            server_assignor=server_assignor,
            session_timeout_s=session_timeout_s,
            max_poll_interval_s=max_poll_interval_s,
        )
        limits = self.settings.limits
        decoding = make_decoding_options(
            columns, timestamp_unit, views, limits, check_crc, errors
        )
        consumer = self._load_consumer()(self, options, decoding)
        self._consumers.add(consumer)
        return consumer

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {describe_cluster(self.addresses)}>"

    def __del__(self) -> None:
        if self.has_connected:
            warn_unclosed(self)

    def _load_producer(self) -> type[P]:
        """Import the class of producers, which a scan does not need."""
        raise NotImplementedError

    def _load_consumer(self) -> type[C]:
        """Import the class of consumers, which a scan does not need."""
        raise NotImplementedError

    def _find_topics(self, now: float) -> TopicsMachine:
        from .machines import TopicsMachine

        return TopicsMachine(self.addresses, self.settings, now=now, random=Random())

    def _find_sizes(self, topics: Iterable[str] | None, now: float) -> SizesMachine:
        from .machines import SizesMachine

        names = {topics} if isinstance(topics, str) else topics
        names = None if names is None else set(names)
        return SizesMachine(
            self.addresses, self.settings, names, now=now, random=Random()
        )

    def _find_offsets(
        self,
        topics: Topics,
        at: str | datetime | timedelta,
        isolation: Isolation,
        now: float,
    ) -> OffsetsMachine:
        from .machines import OffsetsMachine

        options = make_scan_options(
            topics,
            start="earliest",
            end="latest",
            follow=False,
            isolation=isolation,
            memory_bytes=1,
            on_data_loss="raise",
            rack=None,
        )
        lookup = read_lookup(at)
        return OffsetsMachine(
            self.addresses, self.settings, options, lookup, now=now, random=Random()
        )


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


def offsets_by_partition(
    topics: Topics, offsets: dict[tuple[str, int], int]
) -> dict[Any, int]:
    """Return offsets by partition where the topics are a single name."""
    if isinstance(topics, str):
        return {partition: offset for (_, partition), offset in offsets.items()}
    return offsets
