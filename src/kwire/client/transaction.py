# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Transaction`` and ``TransactionSync``: commit records of a producer together.

``Producer.transaction`` returns a transaction. The machine of the producer sends its
requests, so these classes only begin and end the transaction.
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
    """Common base of ``Transaction`` and ``TransactionSync``.

    ``init`` fences older producers of the transactional id, and returns the machine of
    the producer and its runner.
    """

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
        """Commit the offsets of a consumer group together with the transaction.

        There are two ways to call this method:

        * ``group`` is a consumer, and ``offsets`` contains one or more of its chunks
          which the transaction has processed. If the consumer has lost a chunk's
          partition, this method raises ``PartitionLost``, or the end of the transaction
          raises ``TransactionFailed``.
        * ``group`` is a group name or the ``group_metadata`` of a consumer, and
          ``offsets`` contains the next offsets to read, {(topic, partition): offset},
          for example from ``Scan.position``.

        The method waits until the group coordinator has accepted the offsets.

        Raises ``ValueError`` if an argument is invalid, if the consumer is closed, or
        outside the transaction's block. Raises ``ClusterError`` if the offsets are
        rejected or not accepted in time, or if the transaction has failed. Source:
        KIP-98, KIP-447.
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
            # The parent process commits or aborts the transaction. Return without an
            # error, so that the child raises the exception of the block.
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
    """Asynchronous transaction. ``Producer.transaction`` returns it.

    It is an asynchronous context manager. The end of its block waits until all records
    of the block are acknowledged, and then commits them. An exception in the block
    aborts the transaction.

    The end of the block raises ``TransactionFailed`` in two cases:

    * A record or an offset was rejected, or was not acknowledged in time. The
      transaction is aborted, and the producer can begin another one.
    * The commit was not acknowledged. The transaction is committed or aborted as a
      whole, and a new producer is required. ``is_in_doubt`` is True if the commit may
      have succeeded.

    Raises ``ProducerFenced`` if a newer producer uses the same transactional id, or if
    the transaction took longer than ``transaction_timeout_s``. Brokers since 4.0 answer
    the second case with INVALID_TXN_STATE, which raises ``RequestRefused``.
    """


class TransactionSync(TransactionBase, Blocking):
    """Transaction with blocking calls. ``ProducerSync.transaction`` returns it.

    It is a context manager. The end of its block waits until all records of the block
    are acknowledged, and then commits them. An exception in the block aborts the
    transaction.

    The end of the block raises ``TransactionFailed`` in two cases:

    * A record or an offset was rejected, or was not acknowledged in time. The
      transaction is aborted, and the producer can begin another one.
    * The commit was not acknowledged. The transaction is committed or aborted as a
      whole, and a new producer is required. ``is_in_doubt`` is True if the commit may
      have succeeded.

    Raises ``ProducerFenced`` if a newer producer uses the same transactional id, or if
    the transaction took longer than ``transaction_timeout_s``. Brokers since 4.0 answer
    the second case with INVALID_TXN_STATE, which raises ``RequestRefused``.
    """


def _check_offsets(
    group: Any, offsets: Any
) -> tuple[GroupMetadata, Mapping[tuple[str, int], int]]:
    """Convert the arguments of ``send_offsets`` to group metadata and offsets.

    Raises ``ValueError`` with the name of the invalid argument.
    """
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
    for partition, offset in offsets.items():
        match partition, offset:
            case (str(), int()), int() if offset >= 0:
                pass
            case _:
                raise ValueError(
                    "offsets must be {(topic, partition): offset}"
                    f" (got {partition!r:.60}: {offset!r:.40})"
                )
    return group, offsets
