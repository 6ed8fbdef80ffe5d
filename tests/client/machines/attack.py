# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated cluster with changed responses, and a scan that reads from it."""

from __future__ import annotations

import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

TIMEOUT_S = 20.0


class Attack:
    """Cluster with three brokers and one topic, whose responses a test changes."""

    def __init__(self, kwire, release="4.1", partitions=2):
        self.kwire = kwire
        self.make = kwire.messages
        self.codes = kwire.error_codes
        self.random = random_module.Random(5)
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, self.random, 3, (release,))
        self.world = World(self.cluster, self.random)
        self.world.delay = lambda: 0.001
        self.topic = self.cluster.add_topic("a", partitions)
        for log in self.topic.logs:
            log.append(5)
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.taken = []

    def lead(self, node):
        """Make one broker the leader of all partitions. All brokers learn it."""
        self.topic.leaders[:] = [node] * len(self.topic.leaders)
        for broker in self.cluster.brokers.values():
            broker.learn()

    def answer(self, name, change):
        """Pass responses to ``name`` requests through ``change(node, response)``.

        ``change`` may return another message or bytes. If it returns None, a Fetch has
        no response.
        """
        for broker in self.cluster.brokers.values():
            if name == "Fetch":
                broker.answer_fetch = self._changed(broker, broker.answer_fetch, change)
            else:
                attribute = f"_{name}Request"
                changed = self._changed(broker, getattr(broker, attribute), change)
                setattr(broker, attribute, changed)

    def _changed(self, broker, answer, change):
        def changed(request, version, is_late=None):
            if is_late is None:
                return change(broker.node, answer(request, version))
            # The third argument, ``is_late``, makes a Fetch return without waiting for
            # data.
            return change(broker.node, answer(request, version, True))

        return changed

    def scan(self, **options):
        """Read the topic. Return the failure, or None if there is none.

        A bounded scan must end within 3 times its timeout. A scan with ``follow`` is
        stopped after 60 seconds.
        """
        seconds = 60.0 if options.get("follow") else 3 * TIMEOUT_S
        machine = self.machine = self.module.ScanMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            self.module.ClusterSettings(timeout_s=TIMEOUT_S, request_timeout_s=5.0),
            self.module.ScanOptions(topics=("a",), **options),
            now=START_S,
            random=self.random,
        )
        until = START_S + seconds
        is_over = False
        while self.world.run(machine, machine.has_result, until):
            fetched = machine.take()
            if fetched is None:
                is_over = True
                break
            assert fetched.next_offset > fetched.start_offset
            self.taken.append(fetched)
            machine.release(fetched)
        assert is_over or options.get("follow"), "the scan came to no end"
        self.world.traffic.check()
        failure = machine.failure
        assert failure is None or isinstance(failure, self.kwire.KwireError)
        machine.close(self.world.now)
        return failure


def each_partition(response, change):
    """Return a Fetch response in which ``change`` was applied to all partitions."""
    return response.replace(
        responses=[
            topic.replace(partitions=[change(part) for part in topic.partitions])
            for topic in response.responses
        ]
    )


def refuse_all(response, code, **fields):
    """Return a Fetch response with an error code and no records for all partitions."""
    return each_partition(
        response,
        lambda part: part.replace(
            error_code=code, records=b"", high_watermark=-1, **fields
        ),
    )
