# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a group consumer, and its identity in the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of a group consumer. Durations are in seconds.

    * ``joins``: False if the caller chooses the partitions. The consumer then only uses
      the group's committed offsets, and is not a member.
    * ``pattern``: subscribe to the topics that match this regular expression. The
      broker evaluates it, in RE2/J syntax.
    * ``group_instance_id``: makes the consumer a static member with this name.
    * ``server_assignor``: assignor that the coordinator uses. None: its default.
    * ``session_timeout_s``: the consumer loses all partitions if no heartbeat has been
      answered for this time.
    * ``max_poll_interval_s``: the consumer leaves the group if the caller has not
      requested the next chunk for this time.
    * ``leave_timeout_s``: maximum time for closing, including commits in flight.
    """

    group_id: str
    joins: bool = True
    pattern: str | None = None
    group_instance_id: str | None = None
    server_assignor: str | None = None
    session_timeout_s: float = 45.0
    max_poll_interval_s: float = 300.0
    leave_timeout_s: float = 5.0


class GroupMetadata(NamedTuple):
    """Identity of a consumer in its group, for commits and transactions.

    If the consumer is not a member, ``member_id`` is empty and ``member_epoch`` is -1.
    """

    group_id: str
    member_id: str
    member_epoch: int
    group_instance_id: str | None
