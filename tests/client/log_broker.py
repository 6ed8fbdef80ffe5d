# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogBroker``: a broker on the loopback interface with simulated topics.

``loopback_brokers.Broker`` provides sockets, TLS and SASL. The simulation provides
topics, offsets and records.
"""

import random
import time

import kwire
from kwire.connection.negotiation import ApiVersionTable
from kwire.messages import (
    ApiVersionsRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from tests.client.machines.brokers import SimulatedCluster
from tests.harness.loopback_brokers import Broker

LONGEST_WAIT_S = 0.01
SASL = {SaslHandshakeRequest.api_key: (1, 1), SaslAuthenticateRequest.api_key: (0, 2)}


class LogBroker(Broker):
    """Broker of a cluster with one broker.

    ``topics`` is {topic name: record counts by partition}.
    """

    def __init__(self, topics, **options):
        """Write the topics in small batches, and start listening."""
        self.cluster_truth = SimulatedCluster(kwire, random.Random(1), 1, ("3.9",))
        for name, counts in topics.items():
            topic = self.cluster_truth.add_topic(name, len(counts))
            for log, count in zip(topic.logs, counts, strict=True):
                for start in range(0, count, 10):
                    log.append(min(10, count - start))
        self.node = self.cluster_truth.brokers[1]
        self.node.learn()
        ranges = dict(self.node.table.ranges())
        assert ApiVersionsRequest.api_key in ranges
        super().__init__(ApiVersionTable.from_ranges({**ranges, **SASL}), **options)

    def log(self, topic, partition=0):
        """Return the ``PartitionLog`` of a partition."""
        return self.cluster_truth.topics[topic].logs[partition]

    def answer(self, event):
        """Return the simulated response, but with the address of this broker."""
        request, version = event.request, event.version
        if type(request).__name__ == "FetchRequest":
            fetch = self.node.begin_fetch(request, version)
            response = self.node.answer_fetch(fetch, version, is_late=False)
            if response is None:
                time.sleep(min(request.max_wait_ms / 1000, LONGEST_WAIT_S))
                response = self.node.answer_fetch(fetch, version, is_late=True)
            return response
        if type(request).__name__ == "ProduceRequest":
            return self.node.finish_produce(
                self.node.begin_produce(request, version), version
            )
        response = self.node.answer(request, version)
        if type(response).__name__ == "FindCoordinatorResponse":
            own_address = {"host": self.host, "port": self.port}
            if version < 4:
                return response.replace(**own_address)
            coordinators = tuple(
                coordinator.replace(**own_address)
                for coordinator in response.coordinators
            )
            return response.replace(coordinators=coordinators)
        if type(response).__name__ == "MetadataResponse":
            (only,) = response.brokers
            return response.replace(
                brokers=[only.replace(host=self.host, port=self.port)]
            )
        return response
