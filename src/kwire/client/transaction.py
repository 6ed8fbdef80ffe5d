# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Transaction`` and ``TransactionSync``: what a producer writes as a whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .consuming import ConsumerBase
from .machines import GroupMetadata

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from .chunks import Chunk
    from .consumer import Consumer
    from .machines import PendingOffsets, ProducerMachine
    from .runners.aio import AsyncRunner
    from .runners.blocking import BlockingRunner
    from .sync_consumer import ConsumerSync


class TransactionBase:
    """The part of a transaction that does not wait."""

    def __init__(self) -> None:
        self._machine: ProducerMachine | None = None
        self._is_used = False

    def _begin(self, machine: ProducerMachine) -> None:
        if self._is_used:
            raise ValueError(
                "a transaction can be entered once; call transaction() for another"
            )
        if machine.failure is not None:
            raise machine.failure
        machine.begin_transaction()
        self._machine = machine
        self._is_used = True

    def _add_offsets(
        self,
        group: str | GroupMetadata | ConsumerBase,
        offsets: Mapping[tuple[str, int], int] | Chunk | Iterable[Chunk],
        now: float,
    ) -> PendingOffsets | None:
        """Give offsets to the machine; None if there are none."""
        if isinstance(group, ConsumerBase):
            group, offsets = group._find_offsets(offsets)
        if isinstance(group, str):
            group = GroupMetadata(group, "", -1, None)
        if not isinstance(group, GroupMetadata) or not group.group:
            raise ValueError(
                "group must be a name, a consumer, or the group_metadata of one"
                f" (got {group!r:.60})"
            )
        if not isinstance(offsets, Mapping):
            raise ValueError(
                "offsets must be {(topic, partition): offset}; chunks require the"
                f" consumer instead of its group (got {offsets!r:.60})"
            )
        for place, offset in offsets.items():
            match place, offset:
                case (str(), int()), int() if offset >= 0:
                    pass
                case _:
                    raise ValueError(
                        "offsets must be {(topic, partition): offset}"
                        f" (got {place!r:.60}: {offset!r:.40})"
                    )
        if self._machine is None:
            raise ValueError("offsets must be sent within the block of the transaction")
        if not offsets:
            return None
        return self._machine.add_offsets(group, offsets, now)

    def _is_over(self) -> bool:
        machine = self._machine
        assert machine is not None and machine.transactions is not None
        return machine.transactions.is_over or machine.failure is not None

    def _leave(self, is_commit: bool) -> None:
        """Note that the transaction is over; raise why it is not committed."""
        machine, self._machine = self._machine, None
        assert machine is not None and machine.transactions is not None
        failure = machine.failure or machine.transactions.result
        if is_commit and failure is not None:
            raise failure


class Transaction(TransactionBase):
    """A transaction; ``Producer.transaction`` makes it.

    It is an asynchronous context manager. Leaving its block commits what was written in
    it, once that is acknowledged; leaving it by an exception aborts it. Where a record
    or an offset was not acknowledged, it is aborted too, and ``TransactionFailed`` is
    raised, as it is where the commit is in doubt.
    """

    def __init__(
        self, start: Callable[[], Awaitable[tuple[ProducerMachine, AsyncRunner]]]
    ) -> None:
        super().__init__()
        self._start = start
        self._runner: AsyncRunner | None = None

    async def send_offsets(
        self,
        group: str | GroupMetadata | Consumer,
        offsets: Mapping[tuple[str, int], int] | Chunk | Iterable[Chunk],
    ) -> None:
        """Have offsets of a group committed if the transaction is.

        ``group`` is a consumer and ``offsets`` the chunks of it that this transaction
        has dealt with: then a member that has lost their partitions cannot commit them,
        which is ``PartitionLost`` or ends the transaction with ``TransactionFailed``.
        Or ``group`` is a name, or the ``group_metadata`` of a consumer, and ``offsets``
        are the next ones to read, {(topic, partition): offset}, such as
        ``Scan.position`` returns. Source: KIP-98, KIP-447.
        """
        now = asyncio.get_running_loop().time()
        pending = self._add_offsets(group, offsets, now)
        if pending is not None:
            assert self._runner is not None
            await self._runner.wait(lambda: pending.is_over)
            if pending.failure is not None:
                raise pending.failure

    async def __aenter__(self) -> Transaction:
        machine, self._runner = await self._start()
        self._begin(machine)
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        machine, runner = self._machine, self._runner
        assert machine is not None and runner is not None
        is_commit = kind is None
        machine.end_transaction(is_commit, asyncio.get_running_loop().time())
        await runner.wait(self._is_over)
        self._leave(is_commit)


class TransactionSync(TransactionBase):
    """A transaction; ``ProducerSync.transaction`` makes it.

    It is a context manager. Leaving its block commits what was written in it, once that
    is acknowledged; leaving it by an exception aborts it. Where a record or an offset
    was not acknowledged, it is aborted too, and ``TransactionFailed`` is raised, as it
    is where the commit is in doubt.
    """

    def __init__(
        self, start: Callable[[], tuple[ProducerMachine, BlockingRunner]]
    ) -> None:
        super().__init__()
        self._start = start
        self._runner: BlockingRunner | None = None

    def send_offsets(
        self,
        group: str | GroupMetadata | ConsumerSync,
        offsets: Mapping[tuple[str, int], int] | Chunk | Iterable[Chunk],
    ) -> None:
        """Have offsets of a group committed if the transaction is.

        ``group`` is a consumer and ``offsets`` the chunks of it that this transaction
        has dealt with: then a member that has lost their partitions cannot commit them,
        which is ``PartitionLost`` or ends the transaction with ``TransactionFailed``.
        Or ``group`` is a name, or the ``group_metadata`` of a consumer, and ``offsets``
        are the next ones to read, {(topic, partition): offset}, such as
        ``ScanSync.position`` returns. Source: KIP-98, KIP-447.
        """
        pending = self._add_offsets(group, offsets, time.monotonic())
        if pending is not None:
            assert self._runner is not None
            self._runner.run_until(lambda: pending.is_over)
            if pending.failure is not None:
                raise pending.failure

    def __enter__(self) -> TransactionSync:
        machine, self._runner = self._start()
        self._begin(machine)
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        machine, runner = self._machine, self._runner
        assert machine is not None and runner is not None
        is_commit = kind is None
        machine.end_transaction(is_commit, time.monotonic())
        runner.run_until(self._is_over)
        self._leave(is_commit)


def check_transactional(transactional_id: Any) -> None:
    """Refuse a transaction of a producer that has no transactional id."""
    if transactional_id is None:
        raise ValueError(
            "a transaction requires a transactional_id: pass it to producer()"
        )
