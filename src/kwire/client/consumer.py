# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Consumer`` and ``ConsumerSync``: read topics as a member of a consumer group.

The blocking consumer starts a thread, which sends heartbeats while the caller processes
a chunk. The thread and the caller run the same state machine, so the thread runs it
only between two calls.
"""

from __future__ import annotations

import inspect
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from .._text import escape_line
from .._text.name_advice import advise_on_attributes, explain_arguments
from .chunk_reader import AsynchronousReader, BlockingReader, ChunkReader
from .chunks import Chunk
from .descriptions import describe_topics
from .machines import ConsumerMachine, GroupMetadata, GroupOptions
from .machines.metrics import CONSUMER_SNAPSHOT
from .options import make_scan_options, read_offsets
from .runners.operations import operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .chunks import DecodingOptions
    from .machines import ScanOptions
    from .options import Offsets
    from .runners.aio import AsyncRunner
    from .runners.protocols import ClusterAccess, Runner

_HEARTBEAT_PAUSE_S = 0.25
"""Interval in seconds at which the heartbeat thread runs the machine. Heartbeats are
late by at most this time, which is short compared to the default heartbeat interval of
brokers (5 seconds).
"""

ConsumedTopics: TypeAlias = "str | Iterable[str] | re.Pattern[str]"
Partitions: TypeAlias = (
    "Literal['all'] | Iterable[int] | Mapping[str, Iterable[int]] | None"
)

Callback: TypeAlias = "Callable[[list[tuple[str, int]]], object] | None"
"""Function that accepts a list of (topic, partition) pairs, or None."""

_JAVA_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}
"""Flags of Python patterns, and the letters that stand for them in RE2/J patterns."""


def make_consumer_options(
    topics: ConsumedTopics,
    *,
    group_id: str,
    partitions: Partitions,
    start: Offsets,
    isolation_level: Literal["read_uncommitted", "read_committed"],
    memory_bytes: int,
    on_data_loss: Literal["raise", "earliest", "latest"],
    rack: str | None,
    group_instance_id: str | None,
    server_assignor: str | None,
    session_timeout_s: float,
    max_poll_interval_s: float,
) -> tuple[ScanOptions, GroupOptions]:
    """Check the arguments of ``Kafka.consumer``, and return them as options.

    Raises ``ValueError`` or ``TypeError`` with the name of the argument if a value is
    invalid.
    """
    if not isinstance(group_id, str) or not group_id:
        raise ValueError(f"group_id must be a name (got {group_id!r:.40})")
    for name, value in (
        ("session_timeout_s", session_timeout_s),
        ("max_poll_interval_s", max_poll_interval_s),
    ):
        if not 0 < value < 1e6:
            raise ValueError(
                f"{name} must be more than 0 and less than 1000000 (got {value!r:.40})"
            )
    if isinstance(topics, Mapping):
        raise TypeError(
            "topics must be a name, names, or a compiled pattern; choose partitions"
            f" with partitions= (got {topics!r:.60})"
        )
    chosen: Any = topics
    if partitions is not None:
        if group_instance_id is not None or server_assignor is not None:
            raise ValueError(
                "group_instance_id and server_assignor cannot be given with partitions,"
                " because a consumer with partitions= does not join the group"
            )
        chosen = _combine_topics(topics, partitions)
    scan = make_scan_options(
        chosen,
        start=start,
        end="latest",
        follow=True,
        isolation_level=isolation_level,
        memory_bytes=memory_bytes,
        on_data_loss=on_data_loss,
        rack=rack,
    )
    pattern = None
    if partitions is None and scan.pattern is not None:
        pattern = _convert_pattern(scan.pattern)
    return scan, GroupOptions(
        group_id,
        joins=partitions is None,
        pattern=pattern,
        group_instance_id=group_instance_id,
        server_assignor=server_assignor,
        session_timeout_s=session_timeout_s,
        max_poll_interval_s=max_poll_interval_s,
    )


def _combine_topics(topics: ConsumedTopics, partitions: Any) -> Any:
    """Combine the arguments ``topics`` and ``partitions``.

    Returns a value for the parameter ``topics`` of a scan: the topics themselves if
    ``partitions`` is "all", otherwise {topic: partitions}. Raises ``ValueError`` if the
    arguments do not match.
    """
    if partitions == "all":
        return topics
    if isinstance(partitions, Mapping):
        names = {topics} if isinstance(topics, str) else set(topics)  # type: ignore[arg-type]
        if names != set(partitions):
            raise ValueError(
                f"partitions must have a key for each topic (got {partitions!r:.60})"
            )
        return partitions
    if not isinstance(topics, str) or isinstance(partitions, str):
        raise ValueError(
            'partitions must be "all", {topic: [numbers]}, or a list of numbers for a'
            f" single topic (got {partitions!r:.60})"
        )
    return {topics: partitions}


def _convert_pattern(pattern: re.Pattern[str]) -> str:
    """Convert a compiled pattern to the syntax of RE2/J, which brokers use.

    Flags become a prefix, such as "(?is)". Raises ``ValueError`` for ``re.VERBOSE``,
    because RE2/J does not support it.
    """
    if pattern.flags & re.VERBOSE:
        raise ValueError(
            "topics cannot be a pattern with re.VERBOSE, which brokers do not support;"
            " write it without spaces and comments"
        )
    flags = "".join(f for flag, f in _JAVA_FLAGS.items() if pattern.flags & flag)
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern


class Callbacks(NamedTuple):
    """Functions of the user that are called when the assignment changes.

    * ``on_assigned``: called with the partitions that were assigned to the consumer.
    * ``on_lost``: called with the partitions that the consumer has given up or lost.
    """

    on_assigned: Callback
    on_lost: Callback

    def check(self) -> Callbacks:
        """Return these callbacks.

        Raises ``TypeError`` if a callback cannot be called, or is a coroutine function,
        because ``poll`` calls it without awaiting the result.
        """
        for name, function in self._asdict().items():
            is_async = inspect.iscoroutinefunction(function)
            if function is not None and (is_async or not callable(function)):
                raise TypeError(
                    f"{name} must be a function that is not async"
                    f" (got {function!r:.60})"
                )
        return self


class ConsumerBase(ChunkReader[ConsumerMachine]):
    """Common base of ``Consumer`` and ``ConsumerSync``."""

    _metric_names = CONSUMER_SNAPSHOT

    # Protects the machine. Only ``ConsumerSync`` replaces this by a lock, because its
    # heartbeat thread runs the machine too.
    _lock: AbstractContextManager[Any] = nullcontext()

    @explain_arguments("Consumer")
    def __init__(
        self,
        kafka: ClusterAccess,
        options: tuple[ScanOptions, GroupOptions],
        decoding: DecodingOptions,
        callbacks: Callbacks,
    ) -> None:
        super().__init__(kafka, decoding)
        self._options = options
        self._callbacks = callbacks

    def assignment(self) -> set[tuple[str, int]]:
        """Return the (topic, partition) pairs that this consumer currently reads.

        The set is empty until the consumer has joined the group.
        """
        return set() if self._machine is None else self._machine.assignment()

    @property
    def group_metadata(self) -> GroupMetadata:
        """Group id and identity of this consumer, for ``send_offsets``.

        If the consumer has left the group or was removed from it since it returned the
        last chunk, this is still its previous identity. The coordinator then rejects
        the offsets of that chunk, because other members may own its partition. Before
        the consumer joins the group, only the group id is set.
        """
        if self._machine is not None:
            return self._machine.metadata
        return GroupMetadata(self._options[1].group_id, "", -1, None)

    def seek(
        self,
        start: Offsets,
        partitions: Iterable[tuple[str, int]] | None = None,
    ) -> None:
        """Continue reading at another position. Committed offsets do not change.

        * ``start``: "earliest", "latest", an offset, a ``datetime``, a ``timedelta``
          before the current time, or a dict of these values by partition, such as
          ``{("orders", 0): 42}``.
        * ``partitions``: (topic, partition) pairs, if ``start`` is a single value.
          Default: all partitions of ``assignment``.

        Chunks that were fetched but not returned are dropped, so that the next chunk of
        a partition begins at its new position. If the log does not contain the offset,
        this is a data loss, which ``on_data_loss`` handles as in a scan.

        Raises ``PartitionLost`` if the consumer does not own one of the partitions. In
        this case, no position changes.
        Raises ``ValueError`` if an argument is invalid, before the first chunk was
        requested, and after ``close``.
        """
        scan, _ = self._options
        spec = read_offsets("start", start, scan.topics)
        with self._use_machine() as machine:
            if not isinstance(spec, dict):
                spec = dict.fromkeys(_choose_owned(machine, partitions), spec)
            elif partitions is not None:
                raise ValueError(
                    "partitions cannot be passed with a start for each partition"
                )
            machine.seek(spec)

    def pause(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Stop reading partitions until ``resume`` is called. They stay assigned.

        ``partitions`` contains (topic, partition) pairs. Default: all partitions of
        ``assignment``. The pause also ends if the consumer loses the partition, even if
        it is assigned again later.

        Raises ``PartitionLost`` and pauses nothing if the consumer does not own one of
        the partitions.
        Raises ``ValueError`` if an argument is invalid, before the first chunk was
        requested, and after ``close``.
        """
        with self._use_machine() as machine:
            machine.pause(_choose_owned(machine, partitions))

    def resume(self, partitions: Iterable[tuple[str, int]] | None = None) -> None:
        """Continue reading paused partitions.

        ``partitions`` contains (topic, partition) pairs. Default: all partitions of
        ``assignment``. Partitions that are not paused are ignored.

        Raises ``PartitionLost`` and resumes nothing if the consumer does not own one of
        the partitions.
        Raises ``ValueError`` if an argument is invalid, before the first chunk was
        requested, and after ``close``.
        """
        with self._use_machine() as machine:
            machine.resume(_choose_owned(machine, partitions))

    def paused(self) -> set[tuple[str, int]]:
        """Return the (topic, partition) pairs that are currently paused."""
        return set() if self._machine is None else self._machine.paused()

    @operation
    @explain_arguments("poll")
    async def poll(self, timeout_s: float | None = None) -> Chunk | None:
        """Wait for the next chunk, and return it.

        Returns None if no chunk arrives within ``timeout_s`` seconds, or if the
        consumer is closed. Without ``timeout_s``, the call waits indefinitely.

        A call shows that the caller has processed all earlier chunks. From now on, the
        group may assign their partitions to other members. If a call is cancelled, no
        chunk is lost.

        Raises ``ClusterError`` if the consumer cannot continue, and the exceptions of
        ``on_assigned`` and ``on_lost``. Raises ``ValueError`` if another task or thread
        is waiting for a chunk.
        """
        return await self._read(timeout_s)

    @operation
    async def commit(self, chunk: Chunk | None = None) -> dict[tuple[str, int], int]:
        """Commit the offset after a chunk, or after all chunks returned so far.

        Returns the committed offsets by (topic, partition). They are the offsets at
        which the group continues. Without ``chunk``, partitions whose offset is already
        committed are omitted.

        Raises ``PartitionLost`` if this consumer no longer owns the partition of
        ``chunk``. Without ``chunk``, lost partitions are skipped, and the exception is
        raised only if a partition is lost during the call.
        Raises another ``ClusterError`` if the coordinator rejects the commit, or does
        not answer within ``timeout_s`` of the client.
        Raises ``ValueError`` after ``close``. With blocking calls, also raises
        ``ValueError`` if another thread is using the consumer.
        """
        self.check_process()
        with self._use_to_commit():
            machine, runner = self._machine, self._runner
            if machine is None or runner is None or self._is_closing:
                return self._commit_nothing()
            fetched = None if chunk is None else chunk.fetched
            pending = machine.commit(runner.now(), fetched)
            await runner.wait(lambda: pending.is_over or self._is_closed)
            return pending.result()

    @operation
    async def close(self) -> None:
        """Leave the group, and close the connections. Offsets are not committed.

        Commits in flight are completed first. The method waits for them, and for the
        coordinator, for about five seconds at most.

        Another task, another thread or a signal handler may call this method. If the
        consumer is waiting for a chunk, the wait and the iteration end.
        """
        await self._close()

    async def _read(self, timeout_s: float | None = None) -> Chunk | None:
        with self._use():
            if self._is_closing:
                return None
            machine, runner = self._connect()
            self._release(machine)
            machine.begin_wait(runner.now())
            try:
                await self._wait(machine, runner, timeout_s)
            finally:
                machine.end_wait(runner.now())
            chunk = self._take_chunk(machine)
        if chunk is None and machine.failure is not None and not self._is_closing:
            await self._close()
            raise machine.failure
        return chunk

    async def _wait(
        self, machine: ConsumerMachine, runner: Runner, timeout_s: float | None
    ) -> None:
        """Wait for a chunk, and call the callbacks if the assignment changes."""
        if not any(self._callbacks):
            await runner.wait(self._has_result, timeout_s)
            return

        def has_news() -> bool:
            return self._has_result() or machine.has_changes()

        deadline = None if timeout_s is None else runner.now() + timeout_s
        await runner.wait(has_news, timeout_s)
        while machine.has_changes() and not self._is_closing:
            self._report_changes(machine)
            remaining_s = (
                None if deadline is None else max(deadline - runner.now(), 0.0)
            )
            await runner.wait(has_news, remaining_s)

    def _report_changes(self, machine: ConsumerMachine) -> None:
        lost, assigned = machine.take_changes()
        on_assigned, on_lost = self._callbacks
        try:
            if lost and on_lost is not None:
                on_lost(lost)
        finally:
            if assigned and on_assigned is not None:
                on_assigned(assigned)

    @contextmanager
    def _use_machine(self) -> Iterator[ConsumerMachine]:
        """Return the machine for a change between two calls, or within a callback.

        Raises ``ValueError`` if the consumer is closed, or has not started yet.
        """
        self.check_process()
        self._check_usable()
        if self._machine is None:
            raise ValueError(
                "the consumer has no partitions until the first chunk is requested; use"
                " start= of kafka.consumer, or call this in on_assigned"
            )
        with self._lock:
            yield self._machine

    async def _end(self) -> None:
        machine, runner = self._machine, self._runner
        if self._is_closed or machine is None or runner is None:
            self._is_closed = True
            return
        try:
            machine.begin_close(runner.now())
            await runner.wait(machine.is_closable)
        finally:
            self._is_closed = True
            self._close_machine(machine, runner)
            await runner.end()

    def _use_to_commit(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _check_usable(self) -> None:
        if self._is_closing:
            raise ValueError(
                "the consumer is closed; make another with kafka.consumer()"
            )

    def _make_machine(self, now: float) -> ConsumerMachine:
        scan, group = self._options
        return ConsumerMachine(
            self._kafka.addresses,
            self._kafka.settings,
            scan,
            group,
            now=now,
            random=Random(),
        )

    def _find_offsets(
        self, chunks: Any
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        """Return the group metadata and the next offsets after chunks.

        ``chunks`` is one chunk or several chunks of this consumer. The offsets are
        returned as {(topic, partition): offset}.

        Raises ``PartitionLost`` if the consumer no longer owns the partition of a
        chunk, and ``ValueError`` if ``chunks`` contains other objects than chunks.
        """
        chunks = [chunks] if isinstance(chunks, Chunk) else list(chunks)
        for chunk in chunks:
            if not isinstance(chunk, Chunk):
                raise ValueError(
                    f"offsets must be chunks if group is a consumer (got {chunk!r:.60})"
                )
        if self._machine is None or self._is_closing:
            self._commit_nothing()
            return self.group_metadata, {}
        return self._machine.offsets_to_send(chunk.fetched for chunk in chunks)

    def _commit_nothing(self) -> dict[tuple[str, int], int]:
        """Return the result of a commit before the first chunk was requested.

        Raises ``ValueError`` if the consumer is closed, because the offsets of its
        chunks can no longer be committed.
        """
        if self._is_closing:
            raise ValueError("the consumer is closed: commit before leaving its block")
        return {}

    def _describe(self, cluster: str) -> str:
        scan, group = self._options
        topics = describe_topics(scan.topics, scan.pattern)
        if self._is_closing:
            state = "closed"
        elif self._machine is None:
            state = "not started"
        else:
            state = f"at {self.position().describe() or 'no offset yet'}"
        return f"{topics} on {cluster}, group {escape_line(group.group_id)}, {state}"


def _choose_owned(
    machine: ConsumerMachine, partitions: Iterable[tuple[str, int]] | None
) -> Iterable[tuple[str, int]]:
    """Return the argument ``partitions``, or the assignment if it is None.

    Raises ``ValueError`` if it does not consist of (topic, partition) pairs.
    """
    if partitions is None:
        return machine.assignment()
    pairs = list(partitions)
    for pair in pairs:
        match pair:
            case (str(), int()):
                pass
            case _:
                raise ValueError(
                    f"partitions must be (topic, partition) pairs (got {pair!r:.60})"
                )
    return pairs


@advise_on_attributes("Consumer")
class Consumer(ConsumerBase, AsynchronousReader[ConsumerMachine]):
    """Asynchronous consumer group member. ``Kafka.consumer`` returns it.

    ``async for`` iterates over its chunks. The consumer joins the group when the first
    chunk is requested, and leaves it at the end of ``async with``. While the caller
    processes a chunk, heartbeats are sent as long as the event loop is not blocked.
    Only ``commit`` commits offsets.
    """

    _runner: AsyncRunner | None

    @contextmanager
    def _use_machine(self) -> Iterator[ConsumerMachine]:
        with super()._use_machine() as machine:
            yield machine
        # Run the machine immediately, because another task may be waiting for a chunk.
        # After a seek or resume, the machine can fetch one.
        if self._runner is not None:
            self._runner.step()

    def _use_to_commit(self) -> AbstractContextManager[None]:
        # A task may commit while another task waits for a chunk.
        return nullcontext()


@advise_on_attributes("Consumer")
class ConsumerSync(ConsumerBase, BlockingReader[ConsumerMachine]):
    """Consumer group member with blocking calls. ``KafkaSync.consumer`` returns it.

    Iterate over it to get its chunks. The consumer joins the group when the first chunk
    is requested, and leaves it at the end of ``with``. While the caller processes a
    chunk, a separate thread sends heartbeats. Only ``commit`` commits offsets.
    """

    def __init__(
        self,
        kafka: ClusterAccess,
        options: tuple[ScanOptions, GroupOptions],
        decoding: DecodingOptions,
        callbacks: Callbacks,
    ) -> None:
        super().__init__(kafka, options, decoding, callbacks)
        # Held by the thread that runs the machine, which is the caller or the heartbeat
        # thread. It is reentrant, because callbacks are called within ``poll`` and
        # acquire it again.
        self._lock: threading.RLock = threading.RLock()
        self._over = threading.Event()

    def __del__(self) -> None:
        self._over.set()
        super().__del__()

    def _use_to_commit(self) -> AbstractContextManager[None]:
        return self._use()

    @contextmanager
    def _use(self) -> Iterator[None]:
        with super()._use(), self._lock:
            yield

    def _connect(self) -> tuple[ConsumerMachine, Runner]:
        is_new = self._machine is None
        connected = super()._connect()
        if is_new:
            threading.Thread(
                target=_send_heartbeats,
                args=(weakref.ref(self), self._over),
                name=f"kwire consumer of {self._options[1].group_id}",
                daemon=True,
            ).start()
        return connected

    async def _end(self) -> None:
        self._over.set()
        with self._lock:
            await super()._end()

    def _find_offsets(
        self, chunks: Any
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        with self._lock:
            return super()._find_offsets(chunks)

    def _run_between_calls(self) -> None:
        """Send heartbeats that are due, and process responses.

        Does nothing if a call of the user runs the machine at the moment.
        """
        if self._lock.acquire(blocking=False):
            try:
                if self._runner is not None and not self._is_closed:
                    self._runner.poll()
            finally:
                self._lock.release()


def _send_heartbeats(
    consumer: weakref.ref[ConsumerSync], over: threading.Event
) -> None:
    """Run the machine of a consumer between its calls, until the consumer is closed.

    The thread refers to the consumer weakly, so that an unused consumer can be deleted.
    """
    while not over.wait(_HEARTBEAT_PAUSE_S):
        open_consumer = consumer()
        if open_consumer is None:
            return
        open_consumer._run_between_calls()
        # Drop the reference, so that the consumer can be deleted during the pause.
        del open_consumer
