# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the topics that Kafka creates for itself.

The layouts of their records are in ``messages/internal_topics.py``.
"""

from __future__ import annotations

COORDINATOR_TOPICS = frozenset(
    ("__consumer_offsets", "__share_group_state", "__transaction_state")
)
"""Topics in which coordinators store their state (``Topic.INTERNAL_TOPICS`` of Kafka).

Their records are only valid in the cluster that wrote them.
"""

COMPACTED_TOPICS = frozenset(("__consumer_offsets", "__transaction_state"))
"""Topics that Kafka creates with ``cleanup.policy=compact``."""

CLUSTER_METADATA = "__cluster_metadata"
"""The log of the KRaft quorum. Brokers do not list it as a topic."""
