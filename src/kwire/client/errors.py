# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of clients of a cluster.

Every error message contains the address, the topic or the partition, and suggests a
solution. Malformed data raises ``DecodeError`` of ``kwire.errors`` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import escape_line
from ..errors import KwireError

if TYPE_CHECKING:
    from .machines.produce.options import Receipt


class ClusterError(KwireError):
    """A cluster cannot execute an operation, or rejects it.

    If ``send_many`` or ``send_table`` raises the error, ``receipts`` contains the
    receipts of the batches of the same call that were written nevertheless. Otherwise
    it is empty.
    """

    receipts: tuple[Receipt, ...] = ()

    def __str__(self) -> str:
        # Host names, topic names and messages may come from a broker, so they are
        # escaped.
        return escape_line(self._describe())

    def _describe(self) -> str:
        return super().__str__()


class UsedAfterFork(KwireError, ValueError):
    """A client that has connected is used in a forked child process."""


class BrokersUnreachable(ClusterError):
    """No broker accepts a connection, or no broker answers in time."""


class AuthenticationFailed(ClusterError):
    """A broker rejects the SASL mechanism or the credentials.

    This error is also raised if the client cannot use the credentials, or if the broker
    cannot prove its identity.
    """


class NotAuthorized(ClusterError):
    """The user of this connection lacks a permission for the operation."""


class TopicNotFound(ClusterError):
    """The cluster has no topic with this name, or the topic lacks the partition."""


class RequestRefused(ClusterError):
    """A broker returned an error, ``error_code``, that a retry does not solve."""

    def __init__(self, text: str, error_code: int) -> None:
        super().__init__(text, error_code)
        self.error_code = error_code

    def _describe(self) -> str:
        return str(self.args[0])


class OutcomeUnknown(ClusterError):
    """A connection was lost after a request that must not be sent twice.

    The broker may have executed the request.
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
    """A consumer does not own a partition, for example because the group revoked it.

    ``topic`` and ``partition`` identify the partition. If the response to a commit was
    lost, the offset may have been committed.
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
            f"{name}: the group revoked the partition from this consumer; its new owner"
            " reads the records after the last committed offset again"
        )


class DeliveryFailed(ClusterError):
    """Records were not acknowledged: ``topic``, ``partition``, ``record_count``.

    ``is_in_doubt`` is True if the log may contain the records nevertheless, because
    they were sent to a broker that did not answer in time. ``error_code`` is the error
    code with which the broker rejected the records, or 0.
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
        doubt = "; the log may contain them nevertheless" if self.is_in_doubt else ""
        return (
            f"writing {self.record_count} records to {self.topic}-{self.partition}:"
            f" {self.reason}{doubt}"
        )


class ProducerFenced(ClusterError):
    """A newer producer has fenced this producer, which can no longer write."""


class TransactionFailed(ClusterError):
    """A transaction was not committed: ``transactional_id``, ``reason``.

    ``is_in_doubt`` is True if the commit was sent and not acknowledged. The transaction
    is then either committed or aborted, and the next producer with the transactional id
    waits for the decision.
    """

    def __init__(
        self, transactional_id: str, reason: str, is_in_doubt: bool = False
    ) -> None:
        super().__init__(transactional_id, reason, is_in_doubt)
        self.transactional_id = transactional_id
        self.reason = reason
        self.is_in_doubt = is_in_doubt

    def _describe(self) -> str:
        doubt = "; it may have been committed nevertheless" if self.is_in_doubt else ""
        return f"transaction of {self.transactional_id!r}: {self.reason}{doubt}"
