# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Cluster``: the cluster as a test sees it. It writes logs and sets rules.

The methods may be called from any thread. They take effect before they return, except
that clients learn about changes by their next request.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._text import format_address
from ..records import Record
from .machine import ClusterMachine, ReceivedRequest
from .options import (
    check_broker,
    check_configs,
    check_new_topic,
    check_partition,
    check_topic,
    make_state,
)
from .rules import ANY, Rule, check_api, check_error
from .server import HOST, ClusterServer
from .state.telemetry import ReceivedMetrics
from .state.topic import Partition

if TYPE_CHECKING:
    from types import TracebackType

    from .._engine.record_types import RecordLike
    from .rules import Answerer
    from .state.partition_log import PartitionLog

_START_TIMEOUT_S = 30


class Cluster:
    """Kafka cluster for tests, on loopback sockets.

    Use it as a context manager. ``with`` runs the brokers in a thread, and
    ``async with`` in the event loop of the caller. ``kwire.testing.cluster`` documents
    the arguments.
    """

    def __init__(
        self,
        *,
        brokers: int,
        topics: Mapping[str, int],
        release: str,
        seed: int | None,
        faults: int | None,
        tls: bool | ssl.SSLContext,
        sasl: Mapping[str, str] | None,
        auto_create_topics: bool,
        client_metrics: Mapping[str, str] | None = None,
        ports: Iterable[int] = (),
        on_request: Callable[[ReceivedRequest], object] | None = None,
        host: str = HOST,
        logs: Mapping[str, Sequence[PartitionLog]] | None = None,
    ) -> None:
        """Create the state, but no socket. See ``kwire.testing.cluster``.

        * ``host``: loopback address on which all brokers listen.
        * ``logs``: additional topics with their partition logs, for example read-only
          logs.
        """
        state = make_state(
            brokers, topics, release, seed, auto_create_topics, client_metrics
        )
        for name, partition_logs in (logs or {}).items():
            check_new_topic(state, name, len(partition_logs))
            state.create_topic(name, len(partition_logs), logs=partition_logs)
        context = None
        self.ca_pem: bytes | None = None
        if isinstance(tls, ssl.SSLContext):
            context = tls
        elif tls:
            from .certificates import make_server_context

            context, self.ca_pem = make_server_context()
        self.release = release
        self._state = state
        self._machine = ClusterMachine(state, sasl, on_request)
        if faults is not None:
            self._machine.rules.start_faults(faults)
        self._server = ClusterServer(
            self._machine,
            host=host,
            ports=dict(enumerate(ports, start=1)),
            tls=context,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Cluster:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="kwire-test-cluster", daemon=True
        )
        self._thread.start()
        try:
            self._run(self._server.start())
        except BaseException:
            self._stop_thread()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._run(self._server.stop())
        finally:
            self._stop_thread()

    async def __aenter__(self) -> Cluster:
        await self._server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._server.stop()

    @property
    def bootstrap_servers(self) -> str:
        """Addresses of all brokers, such as "127.0.0.1:40321,127.0.0.1:40322"."""
        return ",".join(
            format_address(broker.host, broker.port)
            for broker in self._state.brokers.values()
        )

    @property
    def requests(self) -> list[ReceivedRequest]:
        """Received requests, oldest first. Only the last 10,000 are remembered."""
        with self._server.lock:
            return list(self._machine.requests)

    @property
    def client_metrics(self) -> list[ReceivedMetrics]:
        """Metrics that clients have pushed, oldest first (KIP-714).

        The argument ``client_metrics`` of ``testing.cluster`` enables them. Only the
        last 200 pushes are remembered.
        """
        with self._server.lock:
            return list(self._state.received_metrics)

    def write(
        self,
        topic: str,
        records: Iterable[RecordLike],
        *,
        partition: int = 0,
        compression: str = "none",
    ) -> int:
        """Append records to a partition as one batch; return its base offset.

        Records have the forms that ``records.encode_batch`` accepts: (key, value),
        (key, value, timestamp), (key, value, timestamp, headers), or ``Record``.
        Records without a timestamp get the current time. A value alone is also allowed.
        """
        with self._changing():
            log = self._find_partition(topic, partition).log
            now_ms = self._state.clock.unix_ms
            complete = [_complete(record, now_ms) for record in records]
            if not complete:
                return log.end_offset
            return log.append_records(complete, compression=compression)

    def records(self, topic: str) -> dict[int, list[Record]]:
        """Return the records of a topic by partition, without transaction markers.

        Contains the records of aborted and open transactions, too.
        """
        with self._server.lock:
            check_topic(self._state, topic)
            return {
                partition.index: list(partition.log.records())
                for partition in self._state.topics[topic]
            }

    def create_topic(
        self,
        topic: str,
        partitions: int = 1,
        *,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic.

        Raises ``ValueError`` if it exists, or if an argument is invalid.
        """
        with self._changing():
            check_new_topic(self._state, topic, partitions)
            check_configs(self._state, configs or {})
            self._state.create_topic(topic, partitions, configs=configs)

    def move_leader(self, topic: str, partition: int, *, to: int) -> None:
        """Make another broker the leader of a partition, in a new leader epoch."""
        with self._changing():
            check_broker(self._state, to, is_running=True)
            self._state.move_leader(self._find_partition(topic, partition), to)

    def truncate(self, topic: str, partition: int, offset: int) -> None:
        """Lose the batches from an offset on, as an unclean leader election does."""
        with self._changing():
            damaged = self._find_partition(topic, partition)
            damaged.log.truncate(offset)
            damaged.move_leader(damaged.leader)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Delete the records before an offset, as retention does."""
        with self._changing():
            self._find_partition(topic, partition).log.delete_records_before(before)

    def stop(self, broker: int) -> None:
        """Stop a broker. Its connections are lost, and other replicas become leaders.

        Must not be called in the event loop of an ``async with`` block, where
        ``await stop_async(...)`` has the same effect.
        """
        self._run(self.stop_async(broker))

    async def stop_async(self, broker: int) -> None:
        """Stop a broker in the event loop of the caller."""
        with self._changing():
            check_broker(self._state, broker, is_running=True)
            self._state.stop_broker(broker)
        await self._server.stop_broker(broker)

    def start(self, broker: int) -> None:
        """Start a stopped broker on the same port. See ``stop`` for event loops."""
        self._run(self.start_async(broker))

    async def start_async(self, broker: int) -> None:
        """Start a stopped broker in the event loop of the caller."""
        check_broker(self._state, broker, is_running=False)
        await self._server.start_broker(broker)
        with self._changing():
            self._state.start_broker(broker)

    def fail(
        self,
        api: str,
        error: str | int,
        *,
        times: int | None = 1,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
        client_id: str | None = None,
    ) -> Rule:
        """Answer the next requests of an API with an error.

        * ``error``: name such as "NOT_LEADER_OR_FOLLOWER", or its number.
        * ``times``: number of requests. None applies until the rule is removed.
        * ``topic``, ``partition``, ``broker``, ``client_id``: conditions. Other topics
          and partitions of the same request are processed normally.

        Raises ``ValueError`` if the API, the error or the broker is unknown. Topics are
        not checked, because clients can create them later.
        """
        conditions = self._conditions(api, topic, partition, broker, client_id)
        return self._add(times, **conditions, error_code=check_error(error))

    def delay(
        self,
        api: str,
        seconds: float,
        *,
        times: int | None = 1,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
        client_id: str | None = None,
    ) -> Rule:
        """Delay the next requests of an API. See ``fail`` for the other arguments."""
        conditions = self._conditions(api, topic, partition, broker, client_id)
        if not seconds > 0:
            raise ValueError(f"seconds must be more than 0 (got {seconds!r:.40})")
        return self._add(times, **conditions, delay_s=float(seconds))

    def cut(
        self,
        api: str,
        *,
        processed: bool = False,
        times: int | None = 1,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
        client_id: str | None = None,
    ) -> Rule:
        """Lose the connection at the next requests of an API. Arguments as in ``fail``.

        * ``processed``: whether the broker processes the request first, so that only
          its response is lost.
        """
        conditions = self._conditions(api, topic, partition, broker, client_id)
        return self._add(times, **conditions, cuts="after" if processed else "before")

    def answer(
        self,
        api: str,
        function: Answerer,
        *,
        times: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
        client_id: str | None = None,
    ) -> Rule:
        """Answer requests of an API with a function. Arguments as in ``fail``.

        * ``function``: called with the request and its version. It returns a response,
          or None to let the broker answer.
        """
        conditions = self._conditions(api, topic, partition, broker, client_id)
        return self._add(times, **conditions, answer=function)

    def _conditions(
        self,
        api: str,
        topic: str | None,
        partition: int | None,
        broker: int | None,
        client_id: str | None,
    ) -> dict[str, Any]:
        if broker is not None:
            check_broker(self._state, broker)
        return {
            "api": check_api(api),
            "topic": topic,
            "partition": ANY if partition is None else partition,
            "broker": ANY if broker is None else broker,
            "client_id": client_id,
        }

    def _add(self, times: int | None, **values: Any) -> Rule:
        if times is not None and times < 1:
            raise ValueError(f"times must be 1 or more, or None (got {times})")
        with self._server.lock:
            rules = self._machine.rules
            return rules.add(Rule(rules, times=times, **values))

    def _find_partition(self, topic: str, index: int) -> Partition:
        check_topic(self._state, topic)
        return check_partition(self._state, topic, index)

    def _changing(self) -> _Change:
        return _Change(self._server, self._machine)

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the thread of the cluster, and wait for its end."""
        if self._thread is None or self._loop is None:
            coroutine.close()
            raise RuntimeError(
                "this method requires a cluster that runs in a thread (with);"
                " in an event loop (async with), await the method ending in _async"
            )
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        future.result(_START_TIMEOUT_S)

    def _stop_thread(self) -> None:
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._thread = None


class _Change:
    """Holds the lock while a test changes the cluster, and sends responses after it."""

    def __init__(self, server: ClusterServer, machine: ClusterMachine) -> None:
        self._server = server
        self._machine = machine

    def __enter__(self) -> None:
        self._server.lock.acquire()
        self._machine.advance(self._server.now_s())

    def __exit__(self, *exception: object) -> None:
        self._machine.state.note_change()
        self._server.lock.release()
        self._server.flush_soon()


def _complete(record: Any, now_ms: int) -> Record:
    """Return a record with a timestamp. See ``Cluster.write`` for the forms."""
    if isinstance(record, (bytes, bytearray, memoryview)):
        return Record(value=bytes(record), timestamp=now_ms)
    if isinstance(record, Record):
        return record if record.timestamp >= 0 else record.replace(timestamp=now_ms)
    key, value, *rest = record
    timestamp = rest[0] if rest else None
    return Record(
        key=None if key is None else bytes(key),
        value=None if value is None else bytes(value),
        timestamp=now_ms if timestamp is None else timestamp,
        headers=rest[1] if len(rest) > 1 else (),
    )
