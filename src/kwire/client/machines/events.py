# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Event`` and ``report``: everything that a client logs, with its level and text.

State machines call ``report``. It counts the event, and passes it to one of the loggers
below ``kwire.client``. The fields of an event are the ``args`` of the log record, and
its name is the attribute ``event``, so that a handler needs no text to be parsed.

Levels are those of aiokafka and of franz-go:

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
    from .metrics import Metrics

_ROOT = "kwire.client"

# A program that does not configure logging prints nothing on stderr.
logging.getLogger(_ROOT).addHandler(logging.NullHandler())


class Event(Enum):
    """An event: the logger, the level, the text, and the metric that counts it."""

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
        "the bootstrap addresses are used again, and those of %(broker_count)d brokers"
        " are forgotten: %(reason)s",
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


def report(metrics: Metrics, event: Event, count: int = 1, **fields: object) -> None:
    """Count an event, and log it if its logger is enabled.

    Texts in ``fields`` may come from a peer: each is escaped and truncated to one line.
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
