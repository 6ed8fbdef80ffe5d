# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers to FindCoordinator.

``SimulatedCluster.coordinators`` contains the actual coordinators. Each broker returns
the coordinator in its own metadata, which may be stale.
"""

from __future__ import annotations

GROUP, TRANSACTION = 0, 1


class CoordinatorAnswers:
    """Mixin of a simulated broker: FindCoordinator requests."""

    refused_keys = frozenset()
    """Keys that the user is not authorized to use."""

    def coordinates(self, kind, key):
        """Return whether this broker is the coordinator of a key.

        While coordinators move, the call may move this coordinator first.
        """
        self._cluster.move_coordinator(self.node, kind, key)
        return self._cluster.coordinator(kind, key) == self.node

    def _FindCoordinatorRequest(self, request, version):
        make = self._cluster.messages.FindCoordinatorResponse
        if version < 4:
            return make(**self._coordinator(request.key_type, request.key))
        return make(
            coordinators=[
                make.Coordinator(key=key, **self._coordinator(request.key_type, key))
                for key in request.coordinator_keys
            ]
        )

    def _coordinator(self, kind, key):
        """Return one coordinator's fields in the response: error, id and address."""
        codes = self._cluster.codes
        code, node = 0, self.coordinators.get((kind, key))
        if key in self.refused_keys:
            code = codes.GROUP_AUTHORIZATION_FAILED
            if kind == TRANSACTION:
                code = codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        elif node is None:
            # The first lookup creates the internal topic, whose coordinator is not
            # available yet.
            self.coordinators[kind, key] = self._cluster.coordinator(kind, key)
            code = codes.COORDINATOR_NOT_AVAILABLE
        if code:
            return {"error_code": code, "node_id": -1, "host": "", "port": -1}
        return {"node_id": node, "host": "sim", "port": 9000 + node}
