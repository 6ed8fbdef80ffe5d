# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the checks that kill brokers: tasks, crashes, waiting, and a writer.

A check starts tasks that read or write continuously in separate threads. Then it kills
brokers according to its plan, stops the tasks, and compares their results with the
records that librdkafka reads back (``clients.read_back``).
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import confluent_kafka

from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import HasAddress
from tools.interop.broker.cluster import Cluster

SECONDS = 120
PAUSES_S = 0, 0.5, 4
"""Seconds until a killed broker is restarted.

The cluster has detected the crash after 4 s, but not after 0 s or 0.5 s.
"""
ROWS_PER_SECOND = 500


class Checked(Protocol):
    """Activity in the background, which may fail at any time."""

    def check(self) -> None:
        """Raise an error if the activity has failed."""


class Task(threading.Thread):
    """Thread that runs ``work``. ``check`` raises an error if the thread has failed."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.is_ending = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run ``work``. Store its exception, which ``check`` reports later."""
        try:
            self.work()
        except BaseException as failure:
            self._failure = failure

    def work(self) -> None:
        """Do the work of the thread until ``is_ending`` is True.

        Subclasses implement this.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Raise ``BrokerError`` if the thread has failed or ended unexpectedly."""
        if self._failure is not None:
            raise BrokerError(f"{self.name}: {self._failure!r}") from self._failure
        if not self.is_alive() and not self.is_ending:
            raise BrokerError(f"{self.name}: ended by itself")

    def end(self) -> None:
        """Set ``is_ending`` and wait for the thread.

        Raises ``BrokerError`` if the thread has failed or does not end in time.
        """
        self.is_ending = True
        self.join(SECONDS)
        if self.is_alive():
            raise BrokerError(f"{self.name}: did not end")
        self.check()


class Writer(Task):
    """Task that writes numbered values with librdkafka.

    ``acknowledged`` contains (partition, offset, value) for each acknowledged record.
    The offset is None if the leader recognized the batch as a duplicate.
    """

    def __init__(self, kafka: HasAddress, topic: str, partitions: int) -> None:
        super().__init__("writer")
        self.acknowledged: list[tuple[int, int | None, bytes]] = []
        self._topic = topic
        self._partitions = partitions
        self._errors: list[Any] = []
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": kafka.address,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 2 * SECONDS * 1000,
                "log_level": 0,
            }
        )

    def work(self) -> None:
        """Write ``ROWS_PER_SECOND`` records per second until the task ends.

        Raises ``BrokerError`` if a record is not acknowledged in the end.
        """
        number, begun = 0, time.monotonic()
        while not self.is_ending:
            while number < (time.monotonic() - begun) * ROWS_PER_SECOND:
                partition = number % self._partitions
                value = b"%d" % number + b"." * (number % 200)
                key = b"%d" % partition
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    partition=partition,
                    on_delivery=self._note,
                )
                number += 1
            self._producer.poll(0.005)
        left = self._producer.flush(SECONDS)
        if left or self._errors:
            raise BrokerError(f"{left} not acknowledged, {self._errors[:1]}")

    def _note(self, error: Any, message: Any) -> None:
        if error is not None:
            self._errors.append(error)
            return
        row = message.partition(), message.offset(), message.value()
        self.acknowledged.append(row)


def wait_for(what: str, is_so: Callable[[], bool], tasks: Iterable[Checked]) -> float:
    """Wait until ``is_so`` returns True. Returns the elapsed seconds.

    ``what`` names the condition in errors. Raises ``BrokerError`` if a task fails or
    the condition is not true within ``SECONDS``.
    """
    tasks = list(tasks)
    begun = time.monotonic()
    while not is_so():
        for task in tasks:
            task.check()
        if time.monotonic() > begun + SECONDS:
            raise BrokerError(f"{what}: not within {SECONDS} s")
        time.sleep(0.05)
    return time.monotonic() - begun


def find_leader(kafka: Cluster, topic: str, source: random.Random) -> Broker:
    """Return a broker that leads a randomly selected partition of a topic."""
    leader = source.choice(list(kafka.leaders(topic).values()))
    # During an election, the leader of a partition is -1. Select node 1 in this case.
    return kafka.nodes[max(leader, 1)]


def crash(kafka: Cluster, chosen: Sequence[Broker], source: random.Random) -> None:
    """Kill brokers with SIGKILL and restart them after a random pause.

    Returns when all replicas of the cluster are in sync again.
    """
    for each in chosen:
        each.kill()
    time.sleep(source.choice(PAUSES_S))
    for each in chosen:
        each.launch()
    for each in chosen:
        each.wait()
    kafka.wait_in_sync()


def expect_same(name: str, got: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Raise ``BrokerError`` if two lists of records differ.

    It names the first difference.
    """
    for index, (a, b) in enumerate(zip(got, wanted, strict=False)):
        if a != b:
            raise BrokerError(f"{name}: record {index} is {a!r:.200}, not {b!r:.200}")
    if len(got) != len(wanted):
        raise BrokerError(f"{name}: {len(got)} records, not {len(wanted)}")


def expect_ordered(values: Iterable[bytes]) -> None:
    """Raise ``BrokerError`` unless the numbers of each key ascend.

    Each value consists of a key, a space and a number.
    """
    last: dict[bytes, int] = {}
    for value in values:
        key, _, number = value.partition(b" ")
        if int(number) < last.get(key, -1):
            raise BrokerError(f"records of the key {key!r} are out of order")
        last[key] = int(number)
