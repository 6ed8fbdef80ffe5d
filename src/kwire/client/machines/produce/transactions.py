# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Transactions``: the transactions of one transactional id, one after another.

    STARTING -> READY -> OPEN -> COMMITTING -> READY
                           `---> ABORTING ---> READY, or STARTING for the next epoch

A transaction is all that is written between two markers, which the coordinator writes
to each partition. By the first protocol, a producer names partitions and groups to the
coordinator before it sends them anything; by the second (KIP-890) their brokers do, and
each transaction has an epoch of its own. Record batches are ``machine.py``'s.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from ....connection.negotiation import (
    CLIENT,
    NO_TOPIC_IDS,
    TRANSACTION_PROTOCOL_1,
    FinalizedFeatures,
)
from ....connection.negotiation.facts import first_version
from ....errors import KwireError
from ....messages import EndTxnRequest, InitProducerIdRequest
from ....schema import error_codes as codes
from ...errors import BrokersUnreachable, TransactionFailed
from ..coordinators import Coordinators, CoordinatorType
from ..link import LinkState
from .transaction_requests import (
    TransactionVerdict,
    add_offsets_request,
    add_partitions_request,
    end_request,
    init_request,
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

_FIRST_WITH_EPOCHS = first_version("InitProducerIdRequest", "producer_id")
"""The version of InitProducerId by which a producer raises its own epoch (KIP-360)."""

_SECOND_PROTOCOL = 2
"""The level of the feature transaction.version that is KIP-890's protocol."""

_CONCURRENT_S = 0.02
"""The first pause for a coordinator that still completes the transaction before."""


class Phase(Enum):
    """Where a transactional producer is."""

    STARTING = auto()
    """It has no producer id, or not yet the next epoch."""
    READY = auto()
    OPEN = auto()
    COMMITTING = auto()
    ABORTING = auto()


class PendingOffsets:
    """Offsets of a group on their way into a transaction: ``is_over``, ``failure``."""

    __slots__ = ("failure", "give_up_at", "is_over", "member", "offsets")

    def __init__(
        self,
        member: GroupMetadata,
        offsets: Mapping[tuple[str, int], int],
        give_up_at: float,
    ) -> None:
        self.member = member
        self.offsets = dict(offsets)
        self.give_up_at = give_up_at
        self.is_over = False
        self.failure: KwireError | None = None

    def finish(self, failure: KwireError | None = None) -> None:
        """Set what became of them."""
        self.failure = failure
        self.is_over = True


class Transactions:
    """The state of a transactional producer; ``ProducerMachine`` moves it.

    ``producer`` are the id and epoch to write with. ``failure`` is why the transaction
    cannot be committed; ``fatal`` ends the producer.
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
        self.phase = Phase.STARTING
        self.producer: Producer | None = None
        self.failure: KwireError | None = None
        self.fatal: KwireError | None = None
        self.result: KwireError | None = None
        self._cluster = cluster
        self._coordinators = Coordinators(cluster)
        self._features = FinalizedFeatures()
        self._id = transactional_id
        self._timeout_ms = int(timeout_s * 1000)
        self._give_up_s = give_up_s
        self._is_second = False
        # What is to be added to the transaction, and what the coordinator has added.
        self._wanted: dict[tuple[str, int], None] = {}
        self._added: set[tuple[str, int]] = set()
        self._groups: set[str] = set()
        self._offsets: list[PendingOffsets] = []
        # Whether the coordinator may know of a transaction, and whether it does.
        self._is_begun = self._is_confirmed = False
        # Whether a commit was sent that had no response.
        self._is_in_doubt = False
        self._is_sending = False
        self._failures = 0
        self._retry_at = now
        self._reason = ""
        self._give_up_at = now + cluster.settings.timeout_s

    @property
    def is_settled(self) -> bool:
        """Whether there is a producer id, or will never be."""
        return self.phase is not Phase.STARTING or self.fatal is not None

    @property
    def is_over(self) -> bool:
        """Whether there is no transaction, neither open nor on its way to its end."""
        return self.phase in (Phase.STARTING, Phase.READY) or self.fatal is not None

    @property
    def takes_records(self) -> bool:
        """Whether batches belong to a transaction that may be committed."""
        is_begun = self.phase in (Phase.OPEN, Phase.COMMITTING)
        return is_begun and self.failure is None

    @property
    def is_failed(self) -> bool:
        """Whether what is not sent yet does not have to be."""
        return self.failure is not None or self.phase is Phase.ABORTING

    def begin(self) -> None:
        """Begin a transaction; nothing is sent for it yet."""
        assert self.phase is Phase.READY
        for link in self._cluster.links():
            if link.state is LinkState.READY:
                self._features.update(link.table)
        level = self._features.level("transaction.version")
        self._is_second = level >= _SECOND_PROTOCOL
        self.phase = Phase.OPEN
        self.failure = self.result = None
        self._is_begun = self._is_confirmed = self._is_in_doubt = False

    def end(self, is_commit: bool, now: float) -> None:
        """Commit the transaction once all of it is acknowledged, or abort it."""
        self.phase = Phase.COMMITTING if is_commit else Phase.ABORTING
        self._give_up_at = now + self._give_up_s
        self._cluster.wake(now)

    def fail(self, failure: KwireError) -> None:
        """Note that the transaction cannot be committed."""
        if self.phase in (Phase.OPEN, Phase.COMMITTING):
            self.failure = self.failure or failure

    def refusal(self) -> KwireError:
        """Return why the transaction takes nothing."""
        if self.failure is not None:
            refusal = self._failed(f"it cannot be committed: {self.failure}")
            refusal.__cause__ = self.failure
            return refusal
        if self.phase is Phase.ABORTING:
            return self._failed("it is aborted")
        return self._failed("it is over, and records belong to a transaction")

    def stale_epoch(self) -> KwireError:
        """Return why a partition cannot be written to after an aborted transaction."""
        return self._failed(
            "records of the one before were given up, and only brokers from Kafka 2.5"
            " on give the producer its next epoch; make a new producer"
        )

    def stop(self, failure: KwireError) -> None:
        """Give up whatever has not ended, as the producer has failed."""
        for pending in self._offsets:
            pending.finish(failure)
        self._offsets.clear()

    def constraints(self) -> tuple[Any, ...]:
        """Return what a Produce request of the transaction requires."""
        return () if self._is_second else (TRANSACTION_PROTOCOL_1,)

    def add_partition(self, topic: str, partition: int) -> bool:
        """Have a partition belong to the transaction; return whether to write to it.

        By the second protocol it is added by that; else by the next ``advance``.
        """
        place = topic, partition
        if self._is_second or place in self._added:
            return True
        self._wanted[place] = None
        return False

    def note_write(self) -> None:
        """Note that records were sent, which the coordinator may learn of by that."""
        self._is_begun = True
        self._is_confirmed |= self._is_second

    def add_offsets(
        self, member: GroupMetadata, offsets: Mapping[tuple[str, int], int], now: float
    ) -> PendingOffsets:
        """Commit offsets of a group with the transaction."""
        pending = PendingOffsets(member, offsets, now + self._give_up_s)
        self._offsets.append(pending)
        self._cluster.wake(now)
        return pending

    def advance(self, now: float, *, is_idle: bool) -> None:
        """Do what can be done now; ``is_idle`` if no record waits for anything."""
        if self.fatal is not None:
            return
        self._drop_what_failed(now)
        if self._is_sending or self.phase is Phase.READY or self.fatal is not None:
            return
        if self._retry_at > now:
            self._cluster.wake(self._retry_at)
            return
        if self.phase is Phase.STARTING:
            self._start(now)
        elif self._wanted and not self.is_failed:
            self._add_partitions(now)
        elif self._offsets and not self.is_failed:
            self._send_offsets(self._offsets[0], now)
        elif is_idle and self.phase in (Phase.COMMITTING, Phase.ABORTING):
            self._end(now)

    def _drop_what_failed(self, now: float) -> None:
        """Give up what took too long, or is not wanted any more."""
        for pending in self._offsets:
            if now >= pending.give_up_at:
                group = pending.member.group
                self.fail(self._late(f"committing offsets of {group!r}"))
            else:
                self._cluster.wake(pending.give_up_at)
        if self.phase is Phase.COMMITTING and self.failure is not None:
            self.phase = Phase.ABORTING
        if self.is_failed:
            self._wanted.clear()
            for pending in self._offsets:
                pending.finish(self.refusal())
            self._offsets.clear()
        if self.phase in (Phase.OPEN, Phase.READY):
            return
        if now < self._give_up_at:
            self._cluster.wake(self._give_up_at)
        elif self.phase is Phase.STARTING:
            self.fatal = self._late(f"taking the transactional id {self._id!r}")
        else:
            what = "commit" if self.phase is Phase.COMMITTING else "abort"
            # One that is on its way at this moment is in doubt too.
            self._is_in_doubt |= what == "commit" and self._is_sending
            self.fatal = self._failed(
                f"its {what} was not acknowledged within {self._give_up_s:g} s"
                f" ({self._why()}); make a new producer",
                self._is_in_doubt,
            )

    def _late(self, doing: str) -> BrokersUnreachable:
        limit = self._cluster.settings.timeout_s
        if self.phase is not Phase.STARTING:
            limit = self._give_up_s
        return BrokersUnreachable(
            f"{doing}: no coordinator did it within {limit:g} s; {self._why()}"
        )

    def _why(self) -> str:
        return self._reason or self._cluster.reasons()

    def _failed(self, reason: str, is_in_doubt: bool = False) -> TransactionFailed:
        return TransactionFailed(self._id, reason, is_in_doubt)

    # Requests.

    def _start(self, now: float) -> None:
        link = self._coordinator(now)
        if link is None:
            return
        versions = link.table.range_of(InitProducerIdRequest)
        known = self.producer
        if versions.max < _FIRST_WITH_EPOCHS:
            # Without a given epoch this would take the id from a newer producer.
            if known is not None:
                self.phase = Phase.READY
                return
            known = None

        def take(response: Any, now: float) -> None:
            self._failures = 0
            self.producer = response.producer_id, response.producer_epoch
            self.phase = Phase.READY

        request = init_request(self._id, self._timeout_ms, known)
        self._send(
            link, request, take, f"taking the transactional id {self._id!r}", now
        )

    def _add_partitions(self, now: float) -> None:
        link = self._coordinator(now)
        if link is None:
            return
        sent = list(self._wanted)
        assert self.producer is not None
        request = add_partitions_request(self._id, self.producer, sent)

        def take(response: Any, now: float) -> None:
            waiting = len(self._wanted)
            worst: tuple[int, str] | None = None
            for topic in response.results_by_topic_v3_and_below:
                for part in topic.results_by_partition:
                    place = topic.name, part.partition_index
                    code = part.partition_error_code
                    if not code:
                        self._added.add(place)
                        self._wanted.pop(place, None)
                        self._is_confirmed = True
                    elif code != codes.OPERATION_NOT_ATTEMPTED:
                        # That one only came along with another that was refused.
                        worst = code, f"adding {place[0]}-{place[1]} to a transaction"
            if worst is not None:
                self._react(worst[0], CoordinatorType.TRANSACTION, worst[1], now)
            elif waiting and len(self._wanted) == waiting:
                self._reason = "the broker left the partitions unanswered"
                self._retry(now)
            else:
                self._failures = 0

        self._is_begun = True
        doing = f"adding partitions to a transaction of {self._id!r}"
        self._send(link, request, take, doing, now, constraints=(CLIENT,))

    def _send_offsets(self, pending: PendingOffsets, now: float) -> None:
        group = pending.member.group
        doing = f"committing offsets of {group!r} in a transaction"
        assert self.producer is not None
        if not self._is_second and group not in self._groups:
            link = self._coordinator(now)
            if link is not None:
                self._is_begun = True

                def added(_: Any, now: float) -> None:
                    self._failures = 0
                    self._groups.add(group)
                    self._is_confirmed = True

                add = add_offsets_request(self._id, self.producer, group)
                self._send(link, add, added, doing, now)
            return
        link = self._coordinator(now, CoordinatorType.GROUP, group)
        if link is None:
            return

        def take(response: Any, now: float) -> None:
            answered = {
                (topic.name, part.partition_index): part.error_code
                for topic in response.topics
                for part in topic.partitions
            }
            for place in pending.offsets:
                code = answered.get(place, codes.UNKNOWN_SERVER_ERROR)
                if code:
                    place_doing = f"{doing}: {place[0]}-{place[1]}"
                    self._react(code, CoordinatorType.GROUP, place_doing, now, group)
                    return
            self._failures = 0
            if pending in self._offsets:
                self._offsets.remove(pending)
                pending.finish()

        self.note_write()
        request = offsets_request(
            self._id, self.producer, pending.member, pending.offsets
        )
        constraints = (NO_TOPIC_IDS, *self.constraints())
        self._send(
            link,
            request,
            take,
            doing,
            now,
            kind=CoordinatorType.GROUP,
            key=group,
            constraints=constraints,
        )

    def _end(self, now: float) -> None:
        is_commit = self.phase is Phase.COMMITTING
        if not self._is_begun:
            self._finish(is_commit, None, now)
            return
        link = self._coordinator(now)
        if link is None:
            return
        assert self.producer is not None

        def take(response: Any, now: float) -> None:
            following = None
            if self._is_second and response.producer_id >= 0:
                following = response.producer_id, response.producer_epoch
            self._finish(is_commit, following, now)

        doing = f"{'committing' if is_commit else 'aborting'} a transaction"
        self._send(
            link,
            end_request(self._id, self.producer, is_commit),
            take,
            f"{doing} of {self._id!r}",
            now,
            constraints=self.constraints(),
        )

    def _finish(self, is_commit: bool, following: Producer | None, now: float) -> None:
        """End a transaction whose end the coordinator has decided."""
        self.result = None
        if self.failure is not None:
            self.result = self._failed(f"it was aborted: {self.failure}")
            self.result.__cause__ = self.failure
        self.failure = None
        self._failures = 0
        self._added.clear()
        self._groups.clear()
        self._wanted.clear()
        self.phase = Phase.READY
        if following is not None:
            self.producer = following
        elif not is_commit and self._is_begun:
            # What is still on its way must not get into the next transaction.
            self.phase = Phase.STARTING
            self._give_up_at = now + self._cluster.settings.timeout_s
            self._cluster.wake(now)
        self._is_begun = self._is_confirmed = False

    def _coordinator(
        self,
        now: float,
        kind: CoordinatorType = CoordinatorType.TRANSACTION,
        key: str | None = None,
    ) -> Link | None:
        key = self._id if key is None else key
        link = self._coordinators.link_to(kind, key, now)
        failure = self._coordinators.failure(kind, key)
        if failure is None:
            return link
        if kind is CoordinatorType.TRANSACTION:
            self.fatal = failure
        else:
            self.fail(failure)
            self._cluster.wake(now)
        return None

    def _send(
        self,
        link: Link,
        request: Any,
        take: Callable[[Any, float], None],
        doing: str,
        now: float,
        *,
        kind: CoordinatorType = CoordinatorType.TRANSACTION,
        key: str | None = None,
        constraints: tuple[Any, ...] = (),
    ) -> None:
        """Send a request.

        ``take`` is called with a response that has no error at its top level. It resets
        ``_failures`` if no partition has an error either.
        """

        def done(response: Any, now: float) -> None:
            self._is_sending = False
            if response is None:
                self._reason = link.reason
                is_end = isinstance(request, EndTxnRequest)
                self._is_in_doubt |= is_end and self.phase is Phase.COMMITTING
                self._retry(now)
                return
            code = getattr(response, "error_code", 0)
            if code:
                self._react(code, kind, doing, now, key)
                return
            self._retry_at = now
            self._reason = ""
            take(response, now)

        try:
            version = link.pick(type(request), *constraints)
            link.send(request, done, now, version=version)
        except KwireError as error:
            if self.phase is Phase.OPEN:
                self.fail(error)
                self._cluster.wake(now)
            else:
                self.fatal = error
            return
        self._is_sending = True

    def _react(
        self,
        code: int,
        kind: CoordinatorType,
        doing: str,
        now: float,
        key: str | None = None,
    ) -> None:
        """Do what the error of a coordinator asks for."""
        self._reason = f"the broker answered {codes.name(code)}"
        verdict = read_transaction_verdict(code)
        if verdict is TransactionVerdict.FIND_COORDINATOR:
            self._coordinators.forget(kind, self._id if key is None else key)
            self._retry(now)
        elif verdict is TransactionVerdict.RETRY:
            is_concurrent = code == codes.CONCURRENT_TRANSACTIONS
            self._retry(now, _CONCURRENT_S if is_concurrent else None)
        elif self.phase is Phase.ABORTING and self._was_nothing(code):
            self._finish(False, None, now)
        elif verdict is TransactionVerdict.ABORT and self.phase in (
            Phase.OPEN,
            Phase.COMMITTING,
        ):
            self.fail(transaction_failure(doing, self._id, code))
        else:
            self.fatal = transaction_failure(doing, self._id, code)
            if self._is_in_doubt:
                cause = self.fatal
                self.fatal = self._failed(str(cause), is_in_doubt=True)
                self.fatal.__cause__ = cause

    def _was_nothing(self, code: int) -> bool:
        """Whether there is nothing to abort: what was to begin it has not arrived."""
        return code == codes.INVALID_TXN_STATE and not self._is_confirmed

    def _retry(self, now: float, first_s: float | None = None) -> None:
        self._failures += 1
        jitter = self._cluster.random.random()
        pause = self._cluster.settings.backoff_s(self._failures, jitter, first_s)
        self._retry_at = now + pause
