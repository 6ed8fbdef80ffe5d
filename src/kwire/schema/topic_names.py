# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the topics that Kafka creates for internal use.

``messages/internal_topics.py`` contains the layouts of their records.
"""

from __future__ import annotations

COORDINATOR_TOPICS = frozenset(
    ("__consumer_offsets", "__share_group_state", "__transaction_state")
)
"""Topics in which coordinators store their state (``Topic.INTERNAL_TOPICS`` in Kafka).

Their records are only valid in the cluster that wrote them.
"""

COMPACTED_TOPICS = frozenset(("__consumer_offsets", "__transaction_state"))
"""Internal topics that Kafka creates with ``cleanup.policy=compact``."""

CLUSTER_METADATA = "__cluster_metadata"
"""Log of the KRaft quorum. Brokers do not list it as a topic."""
