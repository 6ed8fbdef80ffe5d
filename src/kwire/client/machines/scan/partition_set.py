# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionSet``: a task's partitions, and the reactions to their errors.

Offset lookups and fetches share the set, because both send requests to partition
leaders, pause after errors, and report the same failures. ``client/machines/faults.py``
contains the table from error code to reaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....schema import error_codes as codes
from ...errors import BrokersUnreachable, ClusterError, DataLost
from .. import faults
from ..events import Event
from ..faults import Reaction
from ..settings import MAX_EPOCH_RETRIES
from .options import EARLIEST, LATEST
from .partition_reader import ReaderState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....errors import KwireError
    from ..cluster import ClusterMachine
    from .options import ScanOptions, Spec
    from .partition_reader import PartitionReader

_MAX_LOSSES = 10_000
"""Maximum number of data losses in ``losses``. Brokers can cause any number of losses,
and each one needs memory.
"""

_FIRST_CATCH_UP_S = 0.01
"""First pause in seconds if a broker has not processed a decision of the cluster yet.
It is short, because brokers usually do so within some milliseconds.
"""

_MAX_CATCH_UPS = 9
"""Number of pauses that begin with ``_FIRST_CATCH_UP_S`` after which an older leader
epoch is accepted. They last about 3 seconds in total, as ``MAX_EPOCH_RETRIES`` usual
pauses do.
"""


class PartitionSet:
    """Readers of a task, and their common result.

    * ``readers``: the readers by (topic, partition).
    * ``failure``: error that ended the task, or None.
    * ``losses``: data losses that were skipped, at most the last 10,000.
    * ``progress_at``: time of the last response that made progress.
    """

    def __init__(
        self, cluster: ClusterMachine, options: ScanOptions, now: float
    ) -> None:
        self.readers: dict[tuple[str, int], PartitionReader] = {}
        self.failure: KwireError | None = None
        self.losses: list[DataLost] = []
        self.progress_at = now
        self._cluster = cluster
        self._options = options

    def is_due(self, reader: PartitionReader, now: float) -> bool:
        """Return whether the pause after an error is over; wake the task if not."""
        if reader.retry_at > now:
            self._cluster.wake(reader.retry_at)
            return False
        return True

    # Methods that handle the errors of partitions.

    def take_error(
        self,
        reader: PartitionReader,
        error_code: int,
        now: float,
        is_hinted: bool = False,
    ) -> None:
        """Handle a partition's error code: retry, or end the task.

        ``is_hinted`` is True if the response has contained a new leader (KIP-951).
        """
        reaction = faults.choose_reaction(error_code)
        name = codes.name(error_code)
        if reaction is Reaction.RETRY:
            self.retry(reader, now, name)
        elif reaction is Reaction.CATCH_UP:
            self._catch_up(reader, now, name)
        elif reaction is not Reaction.NEW_LEADER:
            self.failure = faults.failure(reader.name, error_code)
        elif not (is_hinted and reader.redirect(now)):
            self._cluster.want_metadata()
            self.retry(reader, now, name)
            if reader.error_count >= MAX_EPOCH_RETRIES:
                self._cluster.metadata.forget_leader(*reader.place)

    def retry(
        self,
        reader: PartitionReader,
        now: float,
        reason: str,
        first_s: float | None = None,
    ) -> None:
        """Repeat the request for a partition after a pause.

        ``first_s`` is the first pause in seconds, instead of ``retry_backoff_s``.
        """
        jitter = self._cluster.random.random()
        failures = reader.error_count + 1
        reader.retry(now + self._cluster.settings.backoff_s(failures, jitter, first_s))
        self._cluster.report(
            Event.RETRY,
            operation=f"reading {reader.name}",
            pause_s=reader.retry_at - now,
            reason=reason,
        )

    def retry_all(self, readers: Iterable[PartitionReader], now: float) -> None:
        """Repeat the requests for partitions that have got no response."""
        for reader in readers:
            reader.set_replica(-1)
            self.retry(reader, now, "there was no response for the partition")

    def lose(
        self,
        reader: PartitionReader,
        reason: str,
        *,
        topic_id: Any = None,
        resume: int | None = None,
        epoch: int = -1,
    ) -> None:
        """Handle a data loss as ``options.on_data_loss`` specifies.

        The task ends, or the partition continues at its log start or end offset.

        * ``topic_id``: id of the new topic, if the topic was created again.
        * ``resume``: offset at which to continue, instead of the start or the end.
        * ``epoch``: leader epoch of the record before ``resume``, or -1.
        """
        position = -1 if reader.position is None else reader.position
        lost = DataLost(reader.topic, reader.partition, position, reason)
        policy = self._options.on_data_loss
        if policy == "raise":
            self.failure = lost
            return
        self.losses.append(lost)
        del self.losses[:-_MAX_LOSSES]
        start: Spec = EARLIEST if policy == "earliest" else LATEST
        self._cluster.report(
            Event.DATA_LOST,
            partition=reader.name,
            offset=position,
            reason=reason,
            start=policy if resume is None else resume,
        )
        reader.lose(start if resume is None else resume, topic_id, epoch)

    def fail(
        self, reader: PartitionReader, text: str, cause: KwireError | None = None
    ) -> None:
        """End the task, because records of a partition cannot be read."""
        failure = ClusterError(
            f"reading {reader.name} at offset {reader.position}: {text}"
        )
        failure.__cause__ = cause
        self.failure = failure

    def is_done(self) -> bool:
        """Return whether all partitions have been read."""
        done_state = ReaderState.DONE
        return all(reader.state is done_state for reader in self.readers.values())

    def check_progress(self, now: float) -> None:
        """End the task if there was no progress for ``ClusterSettings.timeout_s``."""
        timeout_s = self._cluster.settings.timeout_s
        give_up_at = self.progress_at + timeout_s
        self._cluster.wake(give_up_at)
        if now >= give_up_at:
            readers = self.readers.values()
            open_ = [
                reader.name
                for reader in readers
                if reader.state is not ReaderState.DONE
            ]
            names = ", ".join(open_[:3] or self._options.topics[:3]) or "topics"
            reasons = self._cluster.reasons(since=self.progress_at)
            self.failure = BrokersUnreachable(
                f"reading {names}: no progress for {timeout_s:g} s; {reasons}"
            )

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the readers contradict themselves."""
        for topic_partition, reader in self.readers.items():
            assert reader.place == topic_partition, (
                f"{reader.name} is stored as {topic_partition}"
            )
            assert reader.state is not ReaderState.IDLE, f"{reader.name} is idle"
            reader.check_invariants()

    def _catch_up(self, reader: PartitionReader, now: float, reason: str) -> None:
        """Retry after a short pause, because a leader does not know its epoch yet.

        A new leader usually learns its epoch within some milliseconds.
        """
        self.retry(reader, now, reason, _FIRST_CATCH_UP_S)
        if reader.error_count >= MAX_EPOCH_RETRIES:
            self._cluster.want_metadata()
        if reader.error_count >= _MAX_CATCH_UPS:
            self._cluster.metadata.forget_leader(*reader.place)
