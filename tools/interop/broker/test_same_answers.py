# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the answers of ``kwire.testing`` with the answers of real brokers.

Both receive the same random requests in all versions of the release. Each script has
its own topics and transactional id.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kwire.testing.machine import ClusterMachine
from kwire.testing.options import make_state
from kwire.testing.state.timers import NEVER
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import Broker
from tools.interop.broker.clients import SECONDS
from tools.interop.cluster.admin_script import make_admin_script
from tools.interop.cluster.differential import Peer, compare
from tools.interop.cluster.log_script import make_log_script
from tools.interop.cluster.transaction_script import make_transaction_script

SCRIPTS = {
    "administration": make_admin_script,
    "logs": make_log_script,
    "transactions": make_transaction_script,
}


@contextmanager
def connect_broker(kafka: Broker) -> Iterator[Peer]:
    """Connect to a real broker."""
    with socket.create_connection((brokers.LOOPBACK, kafka.port), SECONDS) as stream:

        def exchange(data: bytes) -> bytes:
            if data:
                stream.sendall(data)
            return stream.recv(1 << 16)

        yield Peer(exchange)


def connect_cluster(release: str) -> Peer:
    """Connect to a test cluster without a socket. Its clock jumps to the next event."""
    state = make_state(1, {}, release, 1, auto_create_topics=False)
    state.common_configs.update(brokers.SETTINGS)
    machine = ClusterMachine(state)
    connection = machine.connect(1)

    def exchange(data: bytes) -> bytes:
        if data:
            connection.receive(data)
        answer = connection.data_to_send()
        while not answer and not connection.is_closed and machine.next_due_s != NEVER:
            machine.advance(machine.next_due_s)
            answer = connection.data_to_send()
        return answer

    return Peer(exchange)


@pytest.mark.parametrize("script", sorted(SCRIPTS))
@pytest.mark.plan(20, 1, at_night=500)
@pytest.mark.releases("4.x", "3.9", at_night=("2.8", "2.3", "1.1", "0.11"))
def test_test_cluster_and_broker_send_the_same_responses(
    kafka: Broker, plan: tuple[int, int], script: str
) -> None:
    times, first_seed = plan
    release = ".".join(kafka.release.split(".")[:2])
    for seed in range(first_seed, first_seed + times):
        with connect_broker(kafka) as real:
            tested = connect_cluster(release)
            differences = compare(script, seed, real, tested, SCRIPTS[script])
        assert not differences, differences[0]
    print(f"{times} scripts {script!r}: the same responses as Kafka {kafka.release}")
