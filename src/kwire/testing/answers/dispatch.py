# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which function answers which API.

A broker closes the connection if it receives a request for an API that is not in this
table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .fetch import answer_fetch
from .metadata import (
    answer_describe_cluster,
    answer_describe_topic_partitions,
    answer_metadata,
)
from .offsets import answer_list_offsets, answer_offset_for_leader_epoch
from .produce import answer_produce

if TYPE_CHECKING:
    from .context import Answer, RequestContext

ANSWERS: dict[str, Callable[[RequestContext], Answer]] = {
    "DescribeCluster": answer_describe_cluster,
    "DescribeTopicPartitions": answer_describe_topic_partitions,
    "Fetch": answer_fetch,
    "ListOffsets": answer_list_offsets,
    "Metadata": answer_metadata,
    "OffsetForLeaderEpoch": answer_offset_for_leader_epoch,
    "Produce": answer_produce,
}
"""Functions by API name. ApiVersions and SASL are answered by the connection."""

SERVED = ("ApiVersions", "SaslAuthenticate", "SaslHandshake", *sorted(ANSWERS))
"""Names of all APIs that a test cluster serves."""
