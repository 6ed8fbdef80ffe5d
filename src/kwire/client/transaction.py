# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Transaction`` and ``TransactionSync``: records that a producer writes as a whole.

A producer makes a transaction, and the machine of the producer runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .consumer import ConsumerBase
from .machines import GroupMetadata
from .runners.operations import Asynchronous, Blocking, Operations, operation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from .chunks import Chunk
    from .machines import ProducerMachine
    from .runners.protocols import Runner


class TransactionBase(Operations):
    """A transaction in neither form. ``init`` fences older producers of the id."""

    def __init__(
        self, init: Callable[[], Awaitable[tuple[ProducerMachine, Runner]]]
    ) -> None:
        self._init = init
        self._is_used = False
        self._machine: ProducerMachine | None = None
        self._runner: Runner | None = None

    @operation
    async def send_offsets(
        self,
        group: str | GroupMetadata | ConsumerBase,
        offsets: Mapping[tuple[str, int], int] | Chunk | Iterable[Chunk],
    ) -> None:
        """Commit offsets of a group together with the transaction.

        ``group`` is a consumer, and ``offsets`` are the chunks of it that this
        transaction has processed. A member that has lost their partitions then cannot
        commit them: this raises ``PartitionLost``, or ends the transaction with
        ``TransactionFailed``.
        Or ``group`` is a name, or the ``group_metadata`` of a consumer, and ``offsets``
        are the next offsets to read, {(topic, partition): offset}, such as
        ``Scan.position`` returns. Source: KIP-98, KIP-447.
        """
        metadata, offsets = _check_offsets(group, offsets)
        machine, runner = self._machine, self._runner
        if machine is None or runner is None:
            raise ValueError("offsets must be sent within the block of the transaction")
        if not offsets:
            return
        pending = machine.add_offsets(metadata, offsets, runner.now())
        await runner.wait(lambda: pending.is_over)
        if pending.failure is not None:
            raise pending.failure

    async def _enter(self) -> None:
        machine, self._runner = await self._init()
        if self._is_used:
            raise ValueError(
                "a transaction can be entered once; call transaction() for another"
            )
        if machine.failure is not None:
            raise machine.failure
        machine.begin_transaction()
        self.watch_forks()
        self._machine = machine
        self._is_used = True

    async def _leave(self, has_failed: bool) -> None:
        if has_failed and self.is_forked:
            # The parent process decides, and the exception of the block is raised.
            return
        machine, runner = self._machine, self._runner
        assert machine is not None and runner is not None
        transactions = machine.transactions
        assert transactions is not None
        machine.end_transaction(not has_failed, runner.now())
        await runner.wait(lambda: transactions.is_over or machine.failure is not None)
        self._machine = None
        failure = machine.failure or transactions.result
        if not has_failed and failure is not None:
            raise failure


class Transaction(TransactionBase, Asynchronous):
    """A transaction; ``Producer.transaction`` makes it.

    It is an asynchronous context manager. The end of its block commits the records that
    were written in it, after all of them are acknowledged. An exception in the block
    aborts the transaction. It is also aborted, and ``TransactionFailed`` is raised, if
    a record or an offset was not acknowledged or the commit is in doubt.
    """


class TransactionSync(TransactionBase, Blocking):
    """A transaction; ``ProducerSync.transaction`` makes it.

    It is a context manager. The end of its block commits the records that were written
    in it, after all of them are acknowledged. An exception in the block aborts the
    transaction. It is also aborted, and ``TransactionFailed`` is raised, if a record or
    an offset was not acknowledged or the commit is in doubt.
    """


def _check_offsets(
    group: Any, offsets: Any
) -> tuple[GroupMetadata, Mapping[tuple[str, int], int]]:
    """Return the group and the offsets; ``ValueError`` names a wrong argument."""
    if isinstance(group, ConsumerBase):
        group.check_process()
        group, offsets = group._find_offsets(offsets)
    if isinstance(group, str):
        group = GroupMetadata(group, "", -1, None)
    if not isinstance(group, GroupMetadata) or not group.group_id:
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
    return group, offsets
