# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Event`` and ``report``: all log events of a client, with their levels and texts.

State machines call ``report``. It counts the event, and passes it to one of the loggers
below ``kwire.client``. The event's fields are the ``args`` of the log record, and the
event's name is its attribute ``event``, so that handlers do not have to parse the text.

The levels are used in the same way as in aiokafka and franz-go:

* WARNING: an operator may have to act, or the client has lost something.
* INFO: the client reacts to a change of the cluster or of a group.
* DEBUG: connections, metadata and retries, which are frequent in normal operation.
"""

from __future__ import annotations

import logging
from enum import Enum
from logging import DEBUG, INFO, WARNING
from typing import TYPE_CHECKING

from ..._text import quote_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .metrics import Metrics

_ROOT = "kwire.client"

_MAX_SHOWN = 3
"""Maximum number of partitions in a log line, because a consumer may own thousands of
partitions.
"""

# Without this handler, programs that do not configure logging would print warnings on
# stderr.
logging.getLogger(_ROOT).addHandler(logging.NullHandler())


class Event(Enum):
    """Event that a client logs.

    Every value contains the logger below ``kwire.client``, the level, the text, and the
    name of the metric that counts the event, or None.
    """

    CONNECTION_OPENED = (
        "connection",
        DEBUG,
        "connection to %(address)s opened",
        "connection_creation_total",
    )
    CONNECTION_CLOSED = (
        "connection",
        DEBUG,
        "connection to %(address)s closed: %(reason)s",
        None,
    )
    CONNECTION_FAILED = (
        "connection",
        WARNING,
        "connection to %(address)s failed: %(reason)s",
        "connection_failure_total",
    )
    THROTTLED = (
        "connection",
        INFO,
        "broker %(address)s throttles this client: no request for %(pause_s).3f s",
        None,
    )
    METADATA_REFRESHED = (
        "metadata",
        DEBUG,
        "metadata refreshed by %(address)s: %(broker_count)d brokers,"
        " %(topic_count)d topics",
        "metadata_refresh_total",
    )
    LEADER_MOVED = (
        "metadata",
        INFO,
        "leader moved: %(changes)s",
        "leader_change_total",
    )
    REBOOTSTRAPPED = (
        "metadata",
        WARNING,
        "rebootstrapping: the client uses the bootstrap addresses again and discards"
        " %(broker_count)d broker addresses: %(reason)s",
        None,
    )
    RETRY = (
        "retry",
        DEBUG,
        "%(operation)s: retry in %(pause_s).3f s: %(reason)s",
        "retry_total",
    )
    DATA_LOST = (
        "fetch",
        WARNING,
        "reading %(partition)s at offset %(offset)d: %(reason)s; reading continues"
        " at %(start)s",
        "data_loss_total",
    )
    COORDINATOR_FOUND = (
        "group",
        DEBUG,
        "broker %(node_id)d coordinates the %(key)s",
        None,
    )
    MEMBER_JOINED = (
        "group",
        INFO,
        "member %(member_id)s joined group %(group)s in epoch %(epoch)d",
        "join_total",
    )
    MEMBER_LEFT = (
        "group",
        INFO,
        "member %(member_id)s left group %(group)s",
        None,
    )
    MEMBER_FENCED = (
        "group",
        WARNING,
        "member %(member_id)s of group %(group)s was fenced, and joins again:"
        " %(reason)s",
        "fence_total",
    )
    CALLER_LATE = (
        "group",
        WARNING,
        "leaving group %(group)s, because the program has not requested a chunk for"
        " %(pause_s).1f s; process less at a time, or increase max_poll_interval_s",
        None,
    )
    PARTITIONS_ASSIGNED = (
        "group",
        INFO,
        "partitions assigned in group %(group)s: %(partitions)s",
        None,
    )
    PARTITIONS_REVOKED = (
        "group",
        INFO,
        "partitions revoked in group %(group)s: %(partitions)s",
        None,
    )
    PARTITIONS_LOST = (
        "group",
        WARNING,
        "partitions lost in group %(group)s: %(partitions)s",
        "partition_loss_total",
    )
    OFFSETS_COMMITTED = (
        "group",
        DEBUG,
        "offsets of %(partition_count)d partitions committed for group %(group)s",
        None,
    )
    COMMIT_FAILED = (
        "group",
        WARNING,
        "offset of %(partition)s was not committed for group %(group)s: %(reason)s",
        "commit_error_total",
    )
    BATCH_RESENT = (
        "produce",
        INFO,
        "batch of %(record_count)d records for %(partition)s sent again,"
        " attempt %(attempt)d: %(reason)s",
        "record_retry_total",
    )
    TRANSACTION_COMMITTED = (
        "produce",
        DEBUG,
        "transaction of %(transactional_id)s committed",
        "transaction_commit_total",
    )
    TRANSACTION_ABORTED = (
        "produce",
        INFO,
        "transaction of %(transactional_id)s aborted: %(reason)s",
        "transaction_abort_total",
    )
    PRODUCER_FENCED = (
        "produce",
        WARNING,
        "producer fenced: %(reason)s",
        None,
    )
    TELEMETRY_SUBSCRIBED = (
        "telemetry",
        INFO,
        "broker %(address)s subscribes to metrics of client instance %(instance_id)s,"
        " every %(interval_s).1f s",
        None,
    )
    TELEMETRY_REJECTED = (
        "telemetry",
        INFO,
        "metrics for broker %(address)s rejected: %(reason)s",
        "telemetry_rejection_total",
    )

    def __init__(self, logger: str, level: int, text: str, metric: str | None) -> None:
        self.logger = logging.getLogger(f"{_ROOT}.{logger}")
        self.level = level
        self.text = text
        self.metric = metric


def list_partitions(partitions: Iterable[tuple[str, int]]) -> str:
    """Format the names of the first few partitions for an event."""
    names = [f"{quote_text(topic)}-{partition}" for topic, partition in partitions]
    return list_first(names)


def list_first(texts: Sequence[str]) -> str:
    """Join the first few texts for an event, and append the number of omitted texts."""
    shown = ", ".join(texts[:_MAX_SHOWN])
    hidden_count = len(texts) - _MAX_SHOWN
    return f"{shown} and {hidden_count} more" if hidden_count > 0 else shown


def report(metrics: Metrics, event: Event, count: int = 1, **fields: object) -> None:
    """Count an event, and log it if its logger is enabled.

    Fields may contain text of a peer. Therefore, each text is escaped and truncated to
    one line.
    """
    if event.metric is not None:
        metrics.add(event.metric, count)
    if event.logger.isEnabledFor(event.level):
        shown = {
            name: value if isinstance(value, int | float) else quote_text(str(value))
            for name, value in fields.items()
        }
        extra = {"event": event.name.lower()}
        event.logger.log(event.level, event.text, shown, extra=extra)
