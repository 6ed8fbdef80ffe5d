# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which function answers which API.

A broker closes the connection if it receives a request for an API that is not in this
table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .acls import answer_describe_acls
from .classic_groups import (
    answer_heartbeat,
    answer_join_group,
    answer_leave_group,
    answer_sync_group,
)
from .committed_offsets import (
    answer_offset_commit,
    answer_offset_delete,
    answer_offset_fetch,
)
from .configs import (
    answer_alter_configs,
    answer_describe_configs,
    answer_incremental_alter_configs,
    answer_list_config_resources,
)
from .consumer_groups import (
    answer_consumer_group_describe,
    answer_consumer_group_heartbeat,
)
from .coordinators import answer_find_coordinator
from .delete_records import answer_delete_records
from .fetch import answer_fetch
from .group_listings import (
    answer_delete_groups,
    answer_describe_groups,
    answer_list_groups,
)
from .log_dirs import answer_describe_log_dirs
from .metadata import (
    answer_describe_cluster,
    answer_describe_topic_partitions,
    answer_metadata,
)
from .offsets import answer_list_offsets, answer_offset_for_leader_epoch
from .produce import answer_produce
from .telemetry import (
    answer_get_telemetry_subscriptions,
    answer_push_telemetry,
)
from .topics import (
    answer_create_partitions,
    answer_create_topics,
    answer_delete_topics,
)
from .transaction_listings import (
    answer_describe_producers,
    answer_describe_transactions,
    answer_list_transactions,
)
from .transaction_offsets import answer_txn_offset_commit
from .transactions import (
    answer_add_offsets_to_txn,
    answer_add_partitions_to_txn,
    answer_end_txn,
    answer_init_producer_id,
)

if TYPE_CHECKING:
    from .context import Answer, RequestContext

ANSWERS: dict[str, Callable[[RequestContext], Answer]] = {
    "AddOffsetsToTxn": answer_add_offsets_to_txn,
    "AddPartitionsToTxn": answer_add_partitions_to_txn,
    "AlterConfigs": answer_alter_configs,
    "ConsumerGroupDescribe": answer_consumer_group_describe,
    "ConsumerGroupHeartbeat": answer_consumer_group_heartbeat,
    "CreatePartitions": answer_create_partitions,
    "CreateTopics": answer_create_topics,
    "DeleteGroups": answer_delete_groups,
    "DeleteRecords": answer_delete_records,
    "DeleteTopics": answer_delete_topics,
    "DescribeAcls": answer_describe_acls,
    "DescribeCluster": answer_describe_cluster,
    "DescribeConfigs": answer_describe_configs,
    "DescribeGroups": answer_describe_groups,
    "DescribeLogDirs": answer_describe_log_dirs,
    "DescribeProducers": answer_describe_producers,
    "DescribeTopicPartitions": answer_describe_topic_partitions,
    "DescribeTransactions": answer_describe_transactions,
    "EndTxn": answer_end_txn,
    "Fetch": answer_fetch,
    "FindCoordinator": answer_find_coordinator,
    "GetTelemetrySubscriptions": answer_get_telemetry_subscriptions,
    "Heartbeat": answer_heartbeat,
    "IncrementalAlterConfigs": answer_incremental_alter_configs,
    "InitProducerId": answer_init_producer_id,
    "JoinGroup": answer_join_group,
    "LeaveGroup": answer_leave_group,
    "ListConfigResources": answer_list_config_resources,
    "ListGroups": answer_list_groups,
    "ListOffsets": answer_list_offsets,
    "ListTransactions": answer_list_transactions,
    "Metadata": answer_metadata,
    "OffsetCommit": answer_offset_commit,
    "OffsetDelete": answer_offset_delete,
    "OffsetFetch": answer_offset_fetch,
    "OffsetForLeaderEpoch": answer_offset_for_leader_epoch,
    "Produce": answer_produce,
    "PushTelemetry": answer_push_telemetry,
    "SyncGroup": answer_sync_group,
    "TxnOffsetCommit": answer_txn_offset_commit,
}
"""Functions by API name. ApiVersions and SASL are answered by the connection."""

SERVED = ("ApiVersions", "SaslAuthenticate", "SaslHandshake", *sorted(ANSWERS))
"""Names of all APIs that a test cluster serves."""
