# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogTruncation``: detects that the log no longer contains records that were read.

If a leader fails before its followers have copied its last records, these records are
lost: the log of the new leader does not contain them (KIP-320). Since Fetch version 12,
brokers detect this by the leader epoch in the request. With older brokers, the client
sends OffsetForLeaderEpoch when the leader epoch has changed, to request the end offset
of the last epoch that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import EPOCH_END, FETCHED_EPOCH
from ....errors import KwireError
from ....messages import FetchRequest, OffsetForLeaderEpochRequest
from .requests import epoch_ends_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..cluster import ClusterMachine
    from ..link import Link
    from .partition_reader import PartitionReader
    from .partition_set import PartitionSet


class LogTruncation:
    """Compares leader epochs with the log, and rewinds readers of truncated logs."""

    def __init__(self, cluster: ClusterMachine, partitions: PartitionSet) -> None:
        self._cluster = cluster
        self._partitions = partitions

    def check(self, link: Link, epochs: dict[PartitionReader, int], now: float) -> None:
        """Send OffsetForLeaderEpoch before a Fetch, if this is necessary.

        ``epochs`` contains the partitions of the Fetch with their current leader
        epochs. Partitions that must wait for the response are removed from it.
        """
        unchecked = {
            reader: epoch
            for reader, epoch in epochs.items()
            if -1 < reader.checked_epoch != epoch >= 0 and reader.epoch >= 0
        }
        if not unchecked or link.table.usable(FetchRequest, FETCHED_EPOCH):
            return
        usable = link.table.usable(OffsetForLeaderEpochRequest, EPOCH_END)
        if usable:
            self._request_epoch_ends(link, unchecked, usable[-1], now)
            for reader in unchecked:
                del epochs[reader]

    def _request_epoch_ends(
        self,
        link: Link,
        unchecked: Mapping[PartitionReader, int],
        version: int,
        now: float,
    ) -> None:
        """Send OffsetForLeaderEpoch for some partitions of one leader."""
        request = epoch_ends_request(unchecked)

        def done(response: Any, now: float) -> None:
            waiting = {
                reader.place: reader
                for reader in unchecked
                if reader.end_request(request)
            }
            # Count the response as fruitless, because only a Fetch makes progress.
            self._cluster.note_fruitless(link, FetchRequest, now)
            for topic in () if response is None else response.topics:
                for part in topic.partitions:
                    reader = waiting.pop((topic.topic, part.partition), None)
                    if reader is not None:
                        self._take_epoch_end(reader, part, now)
            self._partitions.retry_all(waiting.values(), now)

        try:
            link.send(request, done, now, version=version)
        except KwireError as error:
            self._partitions.failure = error
            return
        for reader, epoch in unchecked.items():
            reader.begin_check(request, epoch)

    def _take_epoch_end(self, reader: PartitionReader, part: Any, now: float) -> None:
        if part.error_code:
            self._partitions.take_error(reader, part.error_code, now)
            return
        reader.confirm()
        if part.end_offset < 0:
            reason = "the log was truncated, and none of the read records remain"
            self._partitions.lose(reader, reason)
        else:
            self.rewind(reader, part.leader_epoch, part.end_offset)

    def rewind(self, reader: PartitionReader, epoch: int, end: int) -> None:
        """Handle a data loss if the log was truncated below the position (KIP-320).

        ``epoch`` is the last leader epoch that the reader and the log have in common,
        and ``end`` its end offset in the log.
        """
        assert reader.position is not None
        if end < reader.position:
            reason = f"the log was truncated to offset {end}, below this position"
            self._partitions.lose(reader, reason, resume=end, epoch=epoch)
        else:
            reader.set_epoch(epoch)
