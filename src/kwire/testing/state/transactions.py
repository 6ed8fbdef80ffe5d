# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinators of transactional ids: producer ids, epochs and open transactions.

All coordinators share one state, because a test cluster does not replicate. The answers
check which broker is the coordinator of a transactional id.

Source: ``TransactionCoordinator``, ``TransactionMetadata``, KIP-98, KIP-360, KIP-890.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ...schema import error_codes
from .features import BUMPS_EPOCHS, RETURNS_ABORTABLE, is_since
from .partition_log import ABORT, COMMIT
from .topic import NO_LEADER

if TYPE_CHECKING:
    from .cluster import ClusterState
    from .timers import Timer

EMPTY = "Empty"
ONGOING = "Ongoing"
PREPARE_COMMIT = "PrepareCommit"
PREPARE_ABORT = "PrepareAbort"
COMPLETE_COMMIT = "CompleteCommit"
COMPLETE_ABORT = "CompleteAbort"
STATES = (
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_ABORT,
    COMPLETE_COMMIT,
    COMPLETE_ABORT,
    "Dead",
    "PrepareEpochFence",
)
"""Names of states in ListTransactions. Brokers never show the last two of them."""

MAX_TIMEOUT_MS = 900_000
"""Default of the broker property ``transaction.max.timeout.ms``."""
EXPIRATION_MS = 604_800_000
"""Default of the broker property ``transactional.id.expiration.ms``: seven days."""
MAX_CLIENT_EPOCH = 0x7FFE
"""Last epoch of a producer id. The next one is reserved for fencing the producer."""
MARKER_RETRY_S = 0.1
"""Interval in which a coordinator looks for the leader of a partition again."""

_NO_EPOCH, _MAX_EPOCH = -1, 0x7FFF
_PREPARED = (PREPARE_COMMIT, PREPARE_ABORT)


class ProducerIdentity(NamedTuple):
    """Producer id and epoch, which identify one instance of a producer."""

    producer_id: int
    epoch: int


NO_PRODUCER = ProducerIdentity(-1, -1)


class ProducerResult(NamedTuple):
    """Error code of a request, and the identity that the producer uses from now on."""

    error_code: int
    producer: ProducerIdentity = NO_PRODUCER


class Transaction:
    """State of a transactional id, and its current transaction.

    * ``previous_producer_id``, ``last_epoch``: identity before the last epoch bump, by
      which a retry is recognized. The epoch is -1 if the producer was fenced.
    * ``partitions``: partitions of the transaction that have no marker yet.
    * ``groups``: groups of the transaction whose offsets have no marker yet.
    * ``start_ms``: Unix time of the start of the last transaction, or -1.
    """

    def __init__(
        self, transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.epoch = _NO_EPOCH
        self.previous_producer_id = -1
        self.last_epoch = _NO_EPOCH
        self.timeout_ms = timeout_ms
        self.state = EMPTY
        self.partitions: dict[tuple[str, int], None] = {}
        self.groups: dict[str, None] = {}
        self.start_ms = -1
        self.update_ms = now_ms
        self.timer: Timer | None = None

    @property
    def producer(self) -> ProducerIdentity:
        """Current producer id and epoch."""
        return ProducerIdentity(self.producer_id, self.epoch)

    @property
    def is_exhausted(self) -> bool:
        """Whether the next epoch bump requires a new producer id."""
        return self.epoch >= MAX_CLIENT_EPOCH

    @property
    def deadline_ms(self) -> int:
        """Unix time at which the coordinator aborts the transaction."""
        return self.start_ms + self.timeout_ms

    def is_expired(self, now_ms: int) -> bool:
        """Whether the transactional id has not been used for seven days."""
        is_open = self.state == ONGOING or self.state in _PREPARED
        return not is_open and now_ms - self.update_ms >= EXPIRATION_MS


class TransactionCoordinator:
    """Transactional ids of a cluster.

    * ``marker_delay_s``: time between the end of a transaction and its markers. In
      this time, coordinators return CONCURRENT_TRANSACTIONS.
    """

    def __init__(self, cluster: ClusterState) -> None:
        self.marker_delay_s = 0.0
        self._cluster = cluster
        self._transactions: dict[str, Transaction] = {}
        self._next_producer_id = 0
        self._bumps_epochs = is_since(cluster.release, BUMPS_EPOCHS)
        self._missing_partition_error = (
            error_codes.TRANSACTION_ABORTABLE
            if is_since(cluster.release, RETURNS_ABORTABLE)
            else error_codes.INVALID_TXN_STATE
        )

    def allocate_producer_id(self) -> int:
        """Return a new producer id."""
        producer_id = self._next_producer_id
        self._next_producer_id += 1
        return producer_id

    def find(self, transactional_id: str) -> Transaction | None:
        """Return the state of a transactional id, or None if it is unknown."""
        transaction = self._transactions.get(transactional_id)
        if transaction is not None and transaction.is_expired(self._now_ms):
            del self._transactions[transactional_id]
            return None
        return transaction

    def list_transactions(self) -> list[Transaction]:
        """List the states of all transactional ids."""
        transactions = [self.find(name) for name in list(self._transactions)]
        return [transaction for transaction in transactions if transaction is not None]

    def init_producer(
        self,
        transactional_id: str,
        timeout_ms: int,
        expected: ProducerIdentity | None,
    ) -> ProducerResult:
        """Start a new epoch, which fences older producers.

        An open transaction is aborted first. In this case, the producer must repeat the
        request.

        * ``expected``: identity of a producer that continues after an error (KIP-360),
          or None for a new producer.
        """
        transaction = self.find(transactional_id)
        if transaction is None:
            transaction = Transaction(
                transactional_id, self.allocate_producer_id(), timeout_ms, self._now_ms
            )
            self._transactions[transactional_id] = transaction
        if expected is not None and not _is_current_producer(transaction, expected):
            return ProducerResult(error_codes.PRODUCER_FENCED)
        if transaction.state in _PREPARED:
            return ProducerResult(error_codes.CONCURRENT_TRANSACTIONS)
        if transaction.state == ONGOING:
            self._fence(transaction)
            return ProducerResult(error_codes.CONCURRENT_TRANSACTIONS)
        code = self._start_epoch(transaction, expected)
        if code:
            return ProducerResult(code)
        transaction.state = EMPTY
        transaction.timeout_ms = timeout_ms
        transaction.start_ms = -1
        transaction.update_ms = self._now_ms
        return ProducerResult(error_codes.NONE, transaction.producer)

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        partitions: Iterable[tuple[str, int]],
    ) -> int:
        """Add partitions to the transaction of a producer; return an error code."""
        transaction, code = self._find_writable(transactional_id, producer)
        if transaction is not None:
            self._begin(transaction)
            transaction.partitions.update(dict.fromkeys(partitions))
        return code

    def add_group(
        self, transactional_id: str, producer: ProducerIdentity, group_id: str
    ) -> int:
        """Add the offsets of a group to a transaction; return an error code."""
        transaction, code = self._find_writable(transactional_id, producer)
        if transaction is not None:
            self._begin(transaction)
            transaction.groups[group_id] = None
        return code

    def verify_partition(
        self, transactional_id: str, producer: ProducerIdentity, key: tuple[str, int]
    ) -> int:
        """Return 0 if the transaction of a producer contains a partition."""
        transaction, code = self._find_writable(transactional_id, producer)
        if transaction is None or key in transaction.partitions:
            return code
        return self._missing_partition_error

    def verify_group(
        self, transactional_id: str, producer: ProducerIdentity, group_id: str
    ) -> int:
        """Return 0 if the transaction of a producer contains offsets of a group."""
        transaction, code = self._find_writable(transactional_id, producer)
        if transaction is None or group_id in transaction.groups:
            return code
        return self._missing_partition_error

    def end(
        self,
        transactional_id: str,
        producer: ProducerIdentity,
        is_commit: bool,
        bumps_epochs: bool,
    ) -> ProducerResult:
        """Commit or abort a transaction.

        * ``bumps_epochs``: whether the producer uses the protocol of KIP-890, in which
          each transaction has its own epoch.
        """
        if not transactional_id:
            return ProducerResult(error_codes.INVALID_REQUEST)
        transaction = self.find(transactional_id)
        if transaction is None:
            return ProducerResult(error_codes.INVALID_PRODUCER_ID_MAPPING)
        if bumps_epochs:
            code, must_end = _check_end_with_bump(transaction, producer, is_commit)
        else:
            code, must_end = _check_end(transaction, producer, is_commit)
        if must_end:
            self._end(transaction, is_commit, bumps_epochs)
        return ProducerResult(code, NO_PRODUCER if code else transaction.producer)

    @property
    def _now_ms(self) -> int:
        return self._cluster.clock.unix_ms

    def _find_writable(
        self, transactional_id: str, producer: ProducerIdentity
    ) -> tuple[Transaction | None, int]:
        """Return the transaction to which a producer may write, or an error code."""
        if not transactional_id:
            return None, error_codes.INVALID_REQUEST
        transaction = self.find(transactional_id)
        if transaction is None or transaction.producer_id != producer.producer_id:
            return None, error_codes.INVALID_PRODUCER_ID_MAPPING
        if transaction.epoch != producer.epoch:
            return None, error_codes.PRODUCER_FENCED
        if transaction.state in _PREPARED:
            return None, error_codes.CONCURRENT_TRANSACTIONS
        return transaction, error_codes.NONE

    def _start_epoch(
        self, transaction: Transaction, expected: ProducerIdentity | None
    ) -> int:
        """Bump the epoch, or start a new producer id; return an error code."""
        epoch = transaction.epoch
        is_current = expected is None or expected.epoch == epoch
        if transaction.is_exhausted:
            if not is_current:
                # Kafka fails with an exception here.
                return error_codes.UNKNOWN_SERVER_ERROR
            transaction.previous_producer_id = transaction.producer_id
            transaction.producer_id = self.allocate_producer_id()
            transaction.epoch = 0
            transaction.last_epoch = epoch if expected is not None else _NO_EPOCH
            return error_codes.NONE
        if is_current or epoch == _NO_EPOCH:
            transaction.last_epoch = epoch if expected is not None else _NO_EPOCH
            transaction.previous_producer_id = transaction.producer_id
            transaction.epoch = epoch + 1
            return error_codes.NONE
        is_retry = expected is not None and expected.epoch == transaction.last_epoch
        return error_codes.NONE if is_retry else error_codes.PRODUCER_FENCED

    def _begin(self, transaction: Transaction) -> None:
        """Start a transaction unless one is open."""
        transaction.update_ms = self._now_ms
        if transaction.state == ONGOING:
            return
        transaction.state = ONGOING
        transaction.start_ms = self._now_ms
        self._set_timer(transaction)

    def _set_timer(self, transaction: Transaction) -> None:
        """Check the deadline of a transaction later.

        A transactional id has one timer. It remains after the end of a transaction, so
        that short transactions do not fill the clock with cancelled timers.
        """
        clock = self._cluster.clock
        delay_s = max(transaction.deadline_ms - self._now_ms, 1) / 1000
        timer = transaction.timer
        if timer is not None:
            if timer.time_s <= clock.now_s + delay_s:
                return
            timer.cancel()
        transaction.timer = clock.after(delay_s, lambda: self._time_out(transaction))

    def _time_out(self, transaction: Transaction) -> None:
        transaction.timer = None
        if transaction.state != ONGOING:
            return
        if self._now_ms < transaction.deadline_ms:
            self._set_timer(transaction)
        else:
            self._fence(transaction)

    def _fence(self, transaction: Transaction) -> None:
        """Abort a transaction in a new epoch.

        Since 4.0, a producer that continues may use this epoch.
        """
        last_epoch = transaction.epoch if self._bumps_epochs else _NO_EPOCH
        transaction.last_epoch = last_epoch
        transaction.epoch = _find_next_epoch(transaction.epoch)
        self._prepare(transaction, is_commit=False, next_producer=None)

    def _end(
        self, transaction: Transaction, is_commit: bool, bumps_epochs: bool
    ) -> None:
        """Commit or abort a transaction for its producer."""
        next_producer = None
        if bumps_epochs:
            transaction.last_epoch = transaction.epoch
            if transaction.is_exhausted:
                next_producer = ProducerIdentity(self.allocate_producer_id(), 0)
            transaction.epoch = _find_next_epoch(transaction.epoch)
        self._prepare(transaction, is_commit, next_producer)

    def _prepare(
        self,
        transaction: Transaction,
        is_commit: bool,
        next_producer: ProducerIdentity | None,
    ) -> None:
        """Decide the end of a transaction, and write its markers.

        * ``next_producer``: identity after the markers if the epoch is exhausted.
        """
        transaction.state = PREPARE_COMMIT if is_commit else PREPARE_ABORT
        if transaction.start_ms < 0:
            transaction.start_ms = self._now_ms
        transaction.update_ms = self._now_ms
        marker_producer = transaction.producer
        if next_producer is not None:
            # The client never sees the epoch of these markers.
            transaction.previous_producer_id = transaction.producer_id
            transaction.producer_id, transaction.epoch = next_producer

        def write_markers() -> None:
            self._write_markers(transaction, marker_producer, is_commit)
            if transaction.partitions:
                self._cluster.clock.after(MARKER_RETRY_S, write_markers)
            else:
                transaction.state = COMPLETE_COMMIT if is_commit else COMPLETE_ABORT
                transaction.update_ms = self._now_ms
            self._cluster.note_change()

        if self.marker_delay_s > 0:
            self._cluster.clock.after(self.marker_delay_s, write_markers)
        else:
            write_markers()

    def _write_markers(
        self, transaction: Transaction, producer: ProducerIdentity, is_commit: bool
    ) -> None:
        """Write the markers to all partitions that have a leader.

        The remaining partitions stay in the transaction. A deleted partition needs no
        marker.
        """
        marker = COMMIT if is_commit else ABORT
        for name, index in list(transaction.partitions):
            partition = self._cluster.find_partition(name, index)
            if partition is not None and partition.leader == NO_LEADER:
                continue
            del transaction.partitions[name, index]
            if partition is not None and not partition.log.is_read_only:
                partition.log.end_transaction(
                    producer.producer_id, producer.epoch, marker, self._now_ms
                )
        for group_id in transaction.groups:
            group = self._cluster.groups.get(group_id)
            if group is not None:
                group.offsets.end_transaction(producer.producer_id, is_commit)
                group.offsets.note_epoch(producer.producer_id, producer.epoch)
        transaction.groups.clear()


def _find_next_epoch(epoch: int) -> int:
    """Return the epoch of the next markers.

    The largest epoch does not increase. Brokers never return it, but a client can send
    it.
    """
    return min(epoch + 1, _MAX_EPOCH)


def _is_current_producer(transaction: Transaction, expected: ProducerIdentity) -> bool:
    """Whether the producer id of a client is current, or belongs to a retry.

    The epoch is checked later, when it is bumped.
    """
    return (
        transaction.epoch == _NO_EPOCH
        or expected.producer_id == transaction.producer_id
        or (
            expected.producer_id == transaction.previous_producer_id
            and expected.epoch >= MAX_CLIENT_EPOCH
        )
    )


def _check_end(
    transaction: Transaction, producer: ProducerIdentity, is_commit: bool
) -> tuple[int, bool]:
    """Return an error code, and whether the transaction must end now."""
    if transaction.producer_id != producer.producer_id:
        return error_codes.INVALID_PRODUCER_ID_MAPPING, False
    if transaction.epoch != producer.epoch:
        return error_codes.PRODUCER_FENCED, False
    if transaction.state == ONGOING:
        return error_codes.NONE, True
    return _check_repeated_end(transaction, is_commit), False


def _check_repeated_end(transaction: Transaction, is_commit: bool) -> int:
    """Return the error code if the transaction has ended before."""
    if transaction.state == (PREPARE_COMMIT if is_commit else PREPARE_ABORT):
        return error_codes.CONCURRENT_TRANSACTIONS
    if transaction.state == (COMPLETE_COMMIT if is_commit else COMPLETE_ABORT):
        return error_codes.NONE
    return error_codes.INVALID_TXN_STATE


def _check_end_with_bump(
    transaction: Transaction, producer: ProducerIdentity, is_commit: bool
) -> tuple[int, bool]:
    """Like ``_check_end``, for a client that expects an epoch bump (KIP-890).

    The same epoch therefore belongs to the next transaction, and the epoch before
    belongs to a retry. A producer may abort a transaction without partitions.
    """
    is_retry = (
        transaction.producer_id == producer.producer_id
        and transaction.epoch == producer.epoch + 1
    ) or (
        transaction.previous_producer_id == producer.producer_id
        and producer.epoch == MAX_CLIENT_EPOCH
        and transaction.epoch == 0
    )
    if transaction.producer_id != producer.producer_id and not is_retry:
        return error_codes.INVALID_PRODUCER_ID_MAPPING, False
    is_current = transaction.producer == producer and transaction.state not in _PREPARED
    if transaction.state in (EMPTY, ONGOING):
        is_retry = False
    if not is_current and not is_retry:
        return error_codes.PRODUCER_FENCED, False
    if is_retry:
        return _check_repeated_end(transaction, is_commit), False
    if transaction.state == ONGOING or not is_commit:
        return error_codes.NONE, True
    return error_codes.INVALID_TXN_STATE, False
