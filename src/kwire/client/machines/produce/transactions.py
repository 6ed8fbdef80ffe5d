# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Transactions``: the transactions of one transactional id, one after another.

At the end of a transaction, the coordinator writes a commit or abort marker to each of
its partitions. The coordinator therefore has to know the partitions and groups:

* In the first protocol, the producer adds them at the coordinator before it sends data.
* In the second protocol (KIP-890), the brokers that receive the data add them. Every
  transaction has its own epoch, so late requests cannot become part of the next one.

``TRANSITIONS`` lists the states and events. DESIGN.md contains the same table.
``batch_sender.py`` sends the record batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING, Any

from ....connection.negotiation import (
    CLIENT,
    NO_TOPIC_IDS,
    TRANSACTION_PROTOCOL_1,
    FinalizedFeatures,
)
from ....connection.negotiation.facts import first_version
from ....errors import KwireError
from ....messages import (
    AddOffsetsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
)
from ....schema import error_codes as codes
from ...errors import BrokersUnreachable, TransactionFailed
from ..backoff import Backoff
from ..coordinators import Coordinators, CoordinatorType
from ..events import Event
from ..link import LinkState
from .transaction_requests import (
    TransactionVerdict,
    add_partitions_request,
    offsets_request,
    read_transaction_verdict,
    transaction_failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..cluster import ClusterMachine
    from ..group.options import GroupMetadata
    from ..link import Link
    from .transaction_requests import Producer

    Coordinator = tuple[CoordinatorType, str]

_FIRST_WITH_EPOCHS = first_version("InitProducerIdRequest", "producer_id")
"""First version with which a producer can request its next epoch (KIP-360)."""

_SECOND_PROTOCOL = 2
"""Level of the feature transaction.version that enables the protocol of KIP-890."""

_CONCURRENT_S = 0.02
"""First pause in seconds after CONCURRENT_TRANSACTIONS: the coordinator has not
completed the previous transaction yet, which usually takes only some milliseconds.
"""


class TransactionState(Enum):
    """State of a transactional producer. FATAL is final."""

    STARTING = auto()
    """Requesting a producer id, or its next epoch."""
    READY = auto()
    """No transaction is open."""
    OPEN = auto()
    """The transaction accepts records and offsets."""
    FAILED = auto()
    """A record or an offset has failed. The transaction can only be aborted."""
    COMMITTING = auto()
    """The program has committed the transaction. The coordinator commits it when all
    records and offsets are acknowledged."""
    ABORTING = auto()
    """The transaction is being aborted: by the program, or because it has failed."""
    FATAL = auto()
    """Final state: the producer is fenced, or has failed for another reason."""


_S = TransactionState
TRANSITIONS: Mapping[str, Mapping[TransactionState, TransactionState]] = {
    "start": {_S.STARTING: _S.READY},
    "begin": {_S.READY: _S.OPEN},
    "commit": {_S.OPEN: _S.COMMITTING, _S.FAILED: _S.ABORTING},
    "abort": {_S.OPEN: _S.ABORTING, _S.FAILED: _S.ABORTING},
    "fail": {_S.OPEN: _S.FAILED, _S.COMMITTING: _S.ABORTING},
    "finish": {_S.COMMITTING: _S.READY, _S.ABORTING: _S.READY},
    "restart": {_S.ABORTING: _S.STARTING},
    "give_up": {state: _S.FATAL for state in _S if state is not _S.FATAL},
}
"""Next state by event and current state. An event must not happen in any other state.

* "start": there is a producer id and an epoch.
* "begin", "commit", "abort": decisions of the program.
* "fail": a record or an offset has failed.
* "finish", "restart": the coordinator has ended the transaction. After "restart", the
  producer requests its next epoch.
* "give_up": the producer is fenced, a deadline has passed, or there is an error that
  neither a retry nor an abort solves.
"""


class Knowledge(IntEnum):
    """State of the current transaction at the coordinator, as the producer knows it."""

    NOTHING = 0
    """No request has begun the transaction."""
    MAYBE_BEGUN = 1
    """A request that begins the transaction was sent."""
    BEGUN = 2
    """The coordinator has confirmed that the transaction is open."""
    MAYBE_COMMITTED = 3
    """A commit was sent, but there was no response."""


@dataclass(slots=True, eq=False)
class PendingOffsets:
    """Offsets of a consumer group to be added to a transaction.

    * ``member``: identity of the consumer, by which the coordinator fences it.
    * ``offsets``: offsets by (topic, partition).
    * ``give_up_at``: time after which the transaction fails.
    * ``is_over``: True if the coordinator has the offsets, or if they have failed.
    * ``failure``: reason of the failure, or None.
    """

    member: GroupMetadata
    offsets: dict[tuple[str, int], int]
    give_up_at: float
    is_over: bool = False
    failure: KwireError | None = None

    def finish(self, failure: KwireError | None = None) -> None:
        """Record that the coordinator has the offsets, or that they have failed."""
        self.failure = failure
        self.is_over = True


class Transactions:
    """State machine of a transactional producer. ``ProducerMachine`` advances it.

    The producer can begin a transaction when the state is READY. ``begin`` opens it,
    ``add_partition`` and ``add_offsets`` extend it, and ``end`` commits or aborts it.
    When the coordinator has ended it, the state is READY again, or STARTING if the next
    epoch is required. ``advance`` sends at most one request at a time.

    * ``producer``: producer id and epoch of the batches, or None before the first
      start.
    * ``failure``: reason why the transaction cannot be committed, or None.
    * ``fatal``: error that ended the producer (state FATAL), or None.
    * ``result``: failure of the last transaction that has ended, or None.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        transactional_id: str,
        *,
        timeout_s: float,
        give_up_s: float,
        now: float,
    ) -> None:
        self.state = TransactionState.STARTING
        self.producer: Producer | None = None
        self.failure: KwireError | None = None
        self.fatal: KwireError | None = None
        self.result: KwireError | None = None
        self._cluster = cluster
        self._coordinators = Coordinators(cluster)
        self._features = FinalizedFeatures()
        self._id = transactional_id
        self._coordinator = CoordinatorType.TRANSACTION, transactional_id
        self._timeout_ms = int(timeout_s * 1000)
        self._give_up_s = give_up_s
        self._is_second = False
        self._knowledge = Knowledge.NOTHING
        # Partitions that the coordinator has not added to the transaction yet.
        self._wanted: dict[tuple[str, int], None] = {}
        # Partitions that the coordinator has added to the transaction.
        self._added: set[tuple[str, int]] = set()
        # Consumer groups that the coordinator has added to the transaction.
        self._groups: set[str] = set()
        # Offsets that have not been committed in the transaction yet.
        self._offsets: list[PendingOffsets] = []
        # True while a request is in flight. The next one waits for its response.
        self._is_sending = False
        self._backoff = Backoff(cluster)
        self._reason = ""
        self._give_up_at = now + cluster.settings.timeout_s

    @property
    def is_settled(self) -> bool:
        """Whether the producer has its id and epoch, or has failed."""
        return self.state is not TransactionState.STARTING

    @property
    def is_over(self) -> bool:
        """Whether no transaction is open or ending."""
        return self.state in (
            TransactionState.STARTING,
            TransactionState.READY,
            TransactionState.FATAL,
        )

    @property
    def takes_records(self) -> bool:
        """Whether records can be sent, because the transaction has not failed."""
        return self.state in (TransactionState.OPEN, TransactionState.COMMITTING)

    @property
    def is_failed(self) -> bool:
        """Whether the transaction must be aborted, so unsent records are dropped."""
        return self.state in (TransactionState.FAILED, TransactionState.ABORTING)

    def begin(self) -> None:
        """Begin a transaction. The state must be READY.

        No request is sent. The first partition or offset begins the transaction at the
        coordinator.
        """
        self._move("begin")
        for link in self._cluster.links():
            if link.state is LinkState.READY:
                self._features.update(link.table)
        level = self._features.level("transaction.version")
        self._is_second = level >= _SECOND_PROTOCOL
        self.result = None

    def end(self, is_commit: bool, now: float) -> None:
        """Commit the transaction when everything is acknowledged, or abort it.

        A transaction that has failed is aborted in both cases. ``result`` then contains
        the failure.
        """
        self._move("commit" if is_commit else "abort")
        self._give_up_at = now + self._give_up_s
        self._cluster.wake(now)

    def fail(self, failure: KwireError) -> None:
        """Record the first failure of a transaction, which can then only be aborted."""
        if self.state in TRANSITIONS["fail"]:
            self._move("fail")
            self.failure = failure

    def refusal(self) -> KwireError:
        """Return the error for records that the transaction does not accept."""
        if self.fatal is not None:
            return self.fatal
        if self.failure is not None:
            refusal = self._make_failure(f"it cannot be committed: {self.failure}")
            refusal.__cause__ = self.failure
            return refusal
        if self.state is TransactionState.ABORTING:
            return self._make_failure("it is aborted")
        return self._make_failure("it has ended, and accepts no more records")

    def stale_epoch(self) -> KwireError:
        """Return the error for a partition that requires the next epoch.

        After an abort, brokers before Kafka 2.5 do not return the next epoch.
        """
        return self._make_failure(
            "unacknowledged records of the previous transaction were dropped, and"
            " brokers before Kafka 2.5 cannot bump the producer epoch; make a new"
            " producer"
        )

    def stop(self, failure: KwireError) -> None:
        """Fail all pending offsets after a failure of the transaction or producer."""
        for pending in self._offsets:
            pending.finish(failure)
        self._offsets.clear()

    def constraints(self) -> tuple[Any, ...]:
        """Return the version constraints of Produce requests in this transaction."""
        return () if self._is_second else (TRANSACTION_PROTOCOL_1,)

    def add_partition(self, topic: str, partition: int) -> bool:
        """Add a partition to the transaction; return whether it can be written to.

        In the second protocol, the first Produce request adds the partition. In the
        first protocol, the next ``advance`` sends AddPartitionsToTxn, and the partition
        can be written to after its response.
        """
        topic_partition = topic, partition
        if self._is_second or topic_partition in self._added:
            return True
        self._wanted[topic_partition] = None
        return False

    def note_write(self) -> None:
        """Record that data was sent, which may have begun the transaction."""
        self._learn(self._knowledge_of_write())

    def add_offsets(
        self, member: GroupMetadata, offsets: Mapping[tuple[str, int], int], now: float
    ) -> PendingOffsets:
        """Add the offsets of a consumer group to the transaction.

        The returned object receives the result.
        """
        pending = PendingOffsets(member, dict(offsets), now + self._give_up_s)
        self._offsets.append(pending)
        self._cluster.wake(now)
        return pending

    def advance(self, now: float, *, is_idle: bool) -> None:
        """Send the next request if none is in flight.

        ``is_idle`` is True if no batch waits for an acknowledgement. The transaction
        ends only then.
        """
        if self.state is TransactionState.FATAL:
            return
        self._check_deadlines(now)
        if self._is_sending or self._backoff.must_wait(now):
            return
        match self.state:
            case TransactionState.STARTING:
                self._start(now)
            case TransactionState.OPEN | TransactionState.COMMITTING if self._wanted:
                self._add_partitions(now)
            case TransactionState.OPEN | TransactionState.COMMITTING if self._offsets:
                self._send_offsets(self._offsets[0], now)
            case TransactionState.COMMITTING | TransactionState.ABORTING if is_idle:
                self._end(now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts the other fields."""
        state = self.state
        assert (state is TransactionState.FATAL) == (self.fatal is not None)
        assert state is not TransactionState.FAILED or self.failure is not None
        assert self.failure is None or not self.takes_records, "a failed commit"
        assert self._wanted.keys().isdisjoint(self._added), "added twice"
        if state is TransactionState.READY or state is TransactionState.STARTING:
            assert self._knowledge is Knowledge.NOTHING, "an ended transaction is open"
            remaining = self._wanted or self._added or self._groups or self._offsets
            assert not remaining, "an ended transaction has partitions or offsets"
        if self.is_settled and state is not TransactionState.FATAL:
            assert self.producer is not None, "no producer id"

    def _move(self, event: str) -> None:
        following = TRANSITIONS[event].get(self.state)
        assert following is not None, f"{event}: the transaction is {self.state.name}"
        self.state = following

    def _knowledge_of_write(self) -> Knowledge:
        return Knowledge.BEGUN if self._is_second else Knowledge.MAYBE_BEGUN

    def _learn(self, knowledge: Knowledge) -> None:
        self._knowledge = max(self._knowledge, knowledge)

    def _give_up(self, failure: KwireError) -> None:
        """End the producer with the error ``failure``, which is final."""
        self._move("give_up")
        self.fatal = failure

    def _check_deadlines(self, now: float) -> None:
        """Fail operations whose deadline has passed.

        Also drops the pending partitions and offsets of a transaction that has failed.
        """
        for pending in self._offsets:
            if now >= pending.give_up_at:
                group = pending.member.group_id
                self.fail(self._make_timeout(f"committing offsets of {group!r}"))
            else:
                self._cluster.wake(pending.give_up_at)
        if self.is_failed:
            self._wanted.clear()
            self.stop(self.refusal())
        is_starting = self.state is TransactionState.STARTING
        is_commit = self.state is TransactionState.COMMITTING
        if not (is_starting or is_commit or self.state is TransactionState.ABORTING):
            return
        if now < self._give_up_at:
            self._cluster.wake(self._give_up_at)
        elif is_starting:
            self._give_up(
                self._make_timeout(f"initializing the transactional id {self._id!r}")
            )
        else:
            if is_commit and self._is_sending:
                self._learn(Knowledge.MAYBE_COMMITTED)
            operation = "commit" if is_commit else "abort"
            self._give_up(
                self._make_failure(
                    f"its {operation} was not acknowledged within {self._give_up_s:g} s"
                    f" ({self._explain()}); make a new producer",
                    self._knowledge is Knowledge.MAYBE_COMMITTED,
                )
            )

    def _make_timeout(self, doing: str) -> BrokersUnreachable:
        limit = self._give_up_s
        if self.state is TransactionState.STARTING:
            limit = self._cluster.settings.timeout_s
        return BrokersUnreachable(
            f"{doing}: no coordinator completed this within {limit:g} s;"
            f" {self._explain()}"
        )

    def _explain(self) -> str:
        return self._reason or self._cluster.reasons()

    def _make_failure(
        self, reason: str, is_in_doubt: bool = False
    ) -> TransactionFailed:
        return TransactionFailed(self._id, reason, is_in_doubt)

    # Methods that send requests.

    def _start(self, now: float) -> None:
        """Send InitProducerId, which returns the producer id and the next epoch.

        An existing epoch is kept if the broker does not support requests with an epoch.
        """
        link = self._find_link(now, self._coordinator)
        if link is None:
            return
        versions = link.table.range_of(InitProducerIdRequest)
        if self.producer is not None and versions.max < _FIRST_WITH_EPOCHS:
            # Keep the current epoch. In this version, the request does not contain the
            # epoch, so the coordinator could not recognize that a newer producer has
            # the transactional id, and would fence the newer one.
            self._move("start")
            return

        def take(response: Any, now: float) -> None:
            self._backoff.reset()
            self.producer = response.producer_id, response.producer_epoch
            self._move("start")

        request = InitProducerIdRequest(
            **self._identity(), transaction_timeout_ms=self._timeout_ms
        )
        doing = f"initializing the transactional id {self._id!r}"
        self._send(request, take, doing, now)

    def _add_partitions(self, now: float) -> None:
        """Send AddPartitionsToTxn for the partitions in ``_wanted``."""
        assert self.producer is not None
        request = add_partitions_request(self._id, self.producer, self._wanted)

        def take(response: Any, now: float) -> None:
            waiting = len(self._wanted)
            worst: tuple[int, str] | None = None
            for topic in response.results_by_topic_v3_and_below:
                for part in topic.results_by_partition:
                    partition = topic.name, part.partition_index
                    code = part.partition_error_code
                    if not code:
                        self._added.add(partition)
                        self._wanted.pop(partition, None)
                        self._learn(Knowledge.BEGUN)
                    elif code != codes.OPERATION_NOT_ATTEMPTED:
                        # OPERATION_NOT_ATTEMPTED means that the coordinator did not add
                        # the partition because of another partition's error. Report the
                        # error of that partition instead.
                        worst = (
                            code,
                            f"adding {partition[0]}-{partition[1]} to a transaction",
                        )
            if worst is not None:
                self._react(*worst, now, self._coordinator)
            elif waiting and len(self._wanted) == waiting:
                self._retry("the broker left the partitions unanswered", now)
            else:
                self._backoff.reset()

        doing = f"adding partitions to a transaction of {self._id!r}"
        self._send(request, take, doing, now, (CLIENT,), knows=Knowledge.MAYBE_BEGUN)

    def _send_offsets(self, pending: PendingOffsets, now: float) -> None:
        """Send the next request for offsets of a group.

        In the first protocol, AddOffsetsToTxn adds the group at the transaction
        coordinator first. TxnOffsetCommit then sends the offsets to the group
        coordinator.
        """
        group = pending.member.group_id
        doing = f"committing offsets of {group!r} in a transaction"
        assert self.producer is not None
        if not self._is_second and group not in self._groups:

            def added(_: Any, now: float) -> None:
                self._backoff.reset()
                self._groups.add(group)
                self._learn(Knowledge.BEGUN)

            add = AddOffsetsToTxnRequest(**self._identity(), group_id=group)
            self._send(add, added, doing, now, knows=Knowledge.MAYBE_BEGUN)
            return
        coordinator = CoordinatorType.GROUP, group

        def take(response: Any, now: float) -> None:
            answered = {
                (topic.name, part.partition_index): part.error_code
                for topic in response.topics
                for part in topic.partitions
            }
            for topic_partition in pending.offsets:
                code = answered.get(topic_partition, codes.UNKNOWN_SERVER_ERROR)
                if code:
                    operation = f"{doing}: {topic_partition[0]}-{topic_partition[1]}"
                    self._react(code, operation, now, coordinator)
                    return
            self._backoff.reset()
            if pending in self._offsets:
                self._offsets.remove(pending)
                pending.finish()

        request = offsets_request(
            self._id, self.producer, pending.member, pending.offsets
        )
        constraints = (NO_TOPIC_IDS, *self.constraints())
        knows = self._knowledge_of_write()
        self._send(request, take, doing, now, constraints, coordinator, knows)

    def _end(self, now: float) -> None:
        """Send EndTxn. If no request has begun the transaction, end it immediately."""
        is_commit = self.state is TransactionState.COMMITTING
        if self._knowledge is Knowledge.NOTHING:
            self._finish(is_commit, None, now)
            return

        def take(response: Any, now: float) -> None:
            following = None
            if self._is_second and response.producer_id >= 0:
                following = response.producer_id, response.producer_epoch
            self._finish(is_commit, following, now)

        doing = "committing" if is_commit else "aborting"
        doing = f"{doing} a transaction of {self._id!r}"
        request = EndTxnRequest(**self._identity(), committed=is_commit)
        self._send(request, take, doing, now, self.constraints())

    def _finish(self, is_commit: bool, following: Producer | None, now: float) -> None:
        """Record that the transaction has ended.

        ``following`` is the producer id and epoch of the next transaction, which the
        coordinator returns in the second protocol.
        """
        event = Event.TRANSACTION_COMMITTED if is_commit else Event.TRANSACTION_ABORTED
        reason = self.failure or "the program aborted it"
        self._cluster.report(event, transactional_id=self._id, reason=reason)
        self.result = None
        if self.failure is not None:
            self.result = self._make_failure(f"it was aborted: {self.failure}")
            self.result.__cause__ = self.failure
        self.failure = None
        self._backoff.reset()
        for added in (self._added, self._groups, self._wanted):
            added.clear()
        if following is None and not is_commit and self._knowledge > Knowledge.NOTHING:
            # Request the next epoch after an abort, so that late requests of this
            # transaction cannot become part of the next one.
            self._move("restart")
            self._give_up_at = now + self._cluster.settings.timeout_s
            self._cluster.wake(now)
        else:
            self._move("finish")
            self.producer = following or self.producer
        self._knowledge = Knowledge.NOTHING

    def _identity(self) -> dict[str, Any]:
        """Return the request fields that identify the producer."""
        producer_id, epoch = self.producer or (-1, -1)
        return {
            "transactional_id": self._id,
            "producer_id": producer_id,
            "producer_epoch": epoch,
        }

    def _find_link(self, now: float, coordinator: Coordinator) -> Link | None:
        """Return a link to a coordinator, or look it up and return None.

        If the lookup fails, the producer fails. If it is the lookup of a group
        coordinator, only the transaction fails.
        """
        link = self._coordinators.link_to(*coordinator, now)
        failure = self._coordinators.failure(*coordinator)
        if failure is None:
            return link
        if coordinator == self._coordinator:
            self._give_up(failure)
        else:
            self.fail(failure)
            self._cluster.wake(now)
        return None

    def _send(
        self,
        request: Any,
        take: Callable[[Any, float], None],
        doing: str,
        now: float,
        constraints: tuple[Any, ...] = (),
        coordinator: Coordinator | None = None,
        knows: Knowledge = Knowledge.NOTHING,
    ) -> None:
        """Send a request to a coordinator.

        * ``take``: called with a response whose top-level error code is 0. It resets
          the backoff if no partition has an error either.
        * ``doing``: description of the operation for errors.
        * ``coordinator``: None means the transaction coordinator.
        * ``knows``: knowledge that the coordinator may have from this request.
        """
        coordinator = coordinator or self._coordinator
        link = self._find_link(now, coordinator)
        if link is None:
            return
        self._learn(knows)

        def done(response: Any, now: float) -> None:
            self._is_sending = False
            if self.state is TransactionState.FATAL:
                return
            if response is None:
                is_end = isinstance(request, EndTxnRequest)
                if is_end and self.state is TransactionState.COMMITTING:
                    self._learn(Knowledge.MAYBE_COMMITTED)
                self._retry(link.reason, now)
                return
            code = getattr(response, "error_code", 0)
            if code:
                self._react(code, doing, now, coordinator)
                return
            self._reason = ""
            take(response, now)

        try:
            version = link.pick(type(request), *constraints)
            link.send(request, done, now, version=version)
        except KwireError as error:
            if self.state is TransactionState.OPEN:
                self.fail(error)
                self._cluster.wake(now)
            else:
                self._give_up(error)
            return
        self._is_sending = True

    def _react(
        self, code: int, doing: str, now: float, coordinator: Coordinator
    ) -> None:
        """Retry, abort, or fail the producer, depending on an error code."""
        self._reason = f"the broker answered {codes.name(code)}"
        verdict = read_transaction_verdict(code)
        if verdict is TransactionVerdict.FIND_COORDINATOR:
            self._coordinators.forget(*coordinator)
            self._retry(self._reason, now)
        elif verdict is TransactionVerdict.RETRY:
            is_concurrent = code == codes.CONCURRENT_TRANSACTIONS
            self._retry(self._reason, now, _CONCURRENT_S if is_concurrent else None)
        elif self.state is TransactionState.ABORTING and self._had_no_transaction(code):
            self._finish(False, None, now)
        elif verdict is TransactionVerdict.ABORT and self.state in (
            TransactionState.OPEN,
            TransactionState.FAILED,
            TransactionState.COMMITTING,
        ):
            self.fail(transaction_failure(doing, self._id, code))
        else:
            failure: KwireError = transaction_failure(doing, self._id, code)
            if self._knowledge is Knowledge.MAYBE_COMMITTED:
                cause, failure = (
                    failure,
                    self._make_failure(str(failure), is_in_doubt=True),
                )
                failure.__cause__ = cause
            self._give_up(failure)

    def _retry(self, reason: str, now: float, first_s: float | None = None) -> None:
        """Delay the next request after a failure for the reason ``reason``."""
        self._reason = reason
        self._backoff.fail(now, f"transaction of {self._id!r}", reason, first_s=first_s)

    def _had_no_transaction(self, code: int) -> bool:
        """Return whether an abort failed because the coordinator had no transaction."""
        return code == codes.INVALID_TXN_STATE and self._knowledge < Knowledge.BEGUN
