# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of clients of a cluster.

Each text names the address, the topic or the partition, and what to do. What is wrong
with bytes is a ``DecodeError`` of ``kwire.errors``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import escape_line
from ..errors import KwireError

if TYPE_CHECKING:
    from .machines.produce.options import Receipt


class ClusterError(KwireError):
    """A cluster cannot do what was requested, or refuses it.

    ``receipts`` are those of the batches of the same call that were written all the
    same: where ``send_many`` or ``send_table`` raised it, otherwise there are none.
    """

    receipts: tuple[Receipt, ...] = ()

    def __str__(self) -> str:
        # Hosts, names of topics and messages may come from a broker.
        return escape_line(self._describe())

    def _describe(self) -> str:
        return super().__str__()


class UsedAfterFork(KwireError, ValueError):
    """A client that has connected is used in a forked child process."""


class BrokersUnreachable(ClusterError):
    """No broker takes a connection, or none answers in time."""


class AuthenticationFailed(ClusterError):
    """A broker refuses the mechanism of SASL, the user name or the password."""


class NotAuthorized(ClusterError):
    """The user of this connection may not do this with the topic."""


class TopicNotFound(ClusterError):
    """No topic of the cluster has this name, or the topic has no such partition."""


class RequestRefused(ClusterError):
    """A broker answered with an error that a retry does not solve: ``error_code``."""

    def __init__(self, text: str, error_code: int) -> None:
        super().__init__(text, error_code)
        self.error_code = error_code

    def _describe(self) -> str:
        return str(self.args[0])


class OutcomeUnknown(ClusterError):
    """A connection was lost after a request that must not be sent twice.

    The broker may have carried the request out.
    """


class FeatureUnsupported(ClusterError):
    """A broker is too old for a feature: ``feature``, ``release``, ``address``.

    ``release`` is the Kafka release of the broker, as text. kwire guesses it from the
    API versions that the broker reports. ``first_release`` is the first release that
    has the feature.
    """

    def __init__(
        self, feature: str, address: str, release: str, first_release: str, advice: str
    ) -> None:
        super().__init__(feature, address, release, first_release, advice)
        self.feature = feature
        self.address = address
        self.release = release
        self.first_release = first_release
        self.advice = advice

    def __str__(self) -> str:
        advice = f", or {self.advice}" if self.advice else ""
        return (
            f"{self.feature}: the broker {self.address} (Kafka {self.release}) does not"
            f" support this; use Kafka {self.first_release} or later{advice}"
        )


class DataLost(ClusterError):
    """Requested records are missing: ``topic``, ``partition``, ``offset``.

    ``offset`` is the next offset to read. Scans, consumers and Spark's formats raise
    this error, also for log files. ``advice`` names the option that skips the records.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        reason: str,
        advice: str = "set on_data_loss to 'earliest' or 'latest' to skip them",
    ) -> None:
        super().__init__(topic, partition, offset, reason, advice)
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.reason = reason
        self.advice = advice

    def _describe(self) -> str:
        return (
            f"reading {self.topic}-{self.partition} at offset {self.offset}:"
            f" {self.reason}; {self.advice}"
        )


class PartitionLost(ClusterError):
    """A partition that was read belongs to another member: ``topic``, ``partition``.

    What was to be committed may have been, if the answer was lost.
    """

    def __init__(
        self, topic: str, partition: int, operation: str = "committing"
    ) -> None:
        super().__init__(topic, partition, operation)
        self.topic = topic
        self.partition = partition
        self.operation = operation

    def _describe(self) -> str:
        name = f"{self.operation} {self.topic}-{self.partition}"
        if self.operation != "committing":
            return f"{name}: this consumer does not own the partition"
        return (
            f"{name}: the group has taken the partition from this consumer; its records"
            " from the last commit on are read again by the member that has it now"
        )


class DeliveryFailed(ClusterError):
    """Records were not acknowledged: ``topic``, ``partition``, ``record_count``.

    ``is_in_doubt`` where they may be in the log all the same: a broker got them and did
    not answer in time. ``error_code`` is that of the broker which rejected them, or 0.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        record_count: int,
        reason: str,
        is_in_doubt: bool,
        error_code: int = 0,
    ) -> None:
        super().__init__(
            topic, partition, record_count, reason, is_in_doubt, error_code
        )
        self.topic = topic
        self.partition = partition
        self.record_count = record_count
        self.reason = reason
        self.is_in_doubt = is_in_doubt
        self.error_code = error_code

    def _describe(self) -> str:
        doubt = "; they may be in the log all the same" if self.is_in_doubt else ""
        return (
            f"writing {self.record_count} records to {self.topic}-{self.partition}:"
            f" {self.reason}{doubt}"
        )


class ProducerFenced(ClusterError):
    """A newer producer has taken the place of this one, which cannot write any more."""


class TransactionFailed(ClusterError):
    """A transaction was not committed: ``transactional_id``, ``reason``.

    ``is_in_doubt`` where its commit was not acknowledged: it is committed or aborted,
    and the next producer of the transactional id waits until that is decided.
    """

    def __init__(
        self, transactional_id: str, reason: str, is_in_doubt: bool = False
    ) -> None:
        super().__init__(transactional_id, reason, is_in_doubt)
        self.transactional_id = transactional_id
        self.reason = reason
        self.is_in_doubt = is_in_doubt

    def _describe(self) -> str:
        doubt = "; it may be committed all the same" if self.is_in_doubt else ""
        return f"transaction of {self.transactional_id!r}: {self.reason}{doubt}"
