# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of a group consumer, and its identity in the group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """The group, and how to be a member of it. Times are in seconds.

    * ``joins``: False if partitions are chosen by hand. Then only the committed offsets
      belong to the group.
    * ``pattern``: topic pattern for the broker, in the syntax of RE2/J.
    * ``session_timeout_s``: all partitions are lost if no heartbeat was answered for
      this time.
    * ``max_poll_interval_s``: the consumer leaves the group if the caller does not
      return for this time.
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
    """Identity of a consumer in its group: sent with commits and by transactions.

    A consumer that has not joined has an empty ``member_id`` and ``member_epoch`` -1.
    """

    group_id: str
    member_id: str
    member_epoch: int
    group_instance_id: str | None
