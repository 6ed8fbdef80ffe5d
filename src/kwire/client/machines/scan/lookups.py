# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``OffsetLookups``: looks up the offsets that readers need before their next Fetch.

    partitions --ListOffsets--> offsets

Every request contains the lookups of one kind for one leader: "start" and "end" are the
scan's bounds, and "latest" is the log end offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import OFFSETS_BY_TIME
from ....errors import KwireError
from ....messages import ListOffsetsRequest
from .options import LATEST
from .partition_reader import ReaderState
from .requests import lookups_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..cluster import ClusterMachine
    from ..link import Link
    from .options import ScanOptions
    from .partition_reader import PartitionReader
    from .partition_set import PartitionSet


class OffsetLookups:
    """Sends the offset lookups of the readers in a ``PartitionSet``.

    Call ``advance`` after every event. Every response sets the offsets of its readers.
    """

    def __init__(
        self, cluster: ClusterMachine, options: ScanOptions, partitions: PartitionSet
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._partitions = partitions

    def advance(self, now: float) -> None:
        """Send the lookups that are due."""
        waiting: dict[tuple[int, str], dict[PartitionReader, int]] = {}
        partitions, due = self._partitions, ReaderState.LOOKUP_DUE
        for reader in partitions.readers.values():
            if reader.state is due and partitions.is_due(reader, now):
                info = self._cluster.metadata.partition(reader.topic, reader.partition)
                if info is None or info.leader < 0:
                    self._cluster.want_metadata()
                else:
                    key = info.leader, next(iter(reader.lookups))
                    waiting.setdefault(key, {})[reader] = info.leader_epoch
        for (leader, kind), epochs in waiting.items():
            link = self._cluster.link_to(leader, now, ListOffsetsRequest)
            if link is not None:
                self._send(link, kind, epochs, now)

    def _send(
        self, link: Link, kind: str, epochs: Mapping[PartitionReader, int], now: float
    ) -> None:
        """Send ListOffsets for the lookups of one kind.

        ``epochs`` contains the partitions with their current leader epochs.
        """
        by_time = any(reader.lookups[kind].timestamp >= 0 for reader in epochs)

        def done(response: Any, now: float) -> None:
            waiting = {
                reader.place: reader for reader in epochs if reader.end_request(request)
            }
            if response is not None:
                is_fruitless = True
                for topic in response.topics:
                    for part in topic.partitions:
                        reader = waiting.pop((topic.name, part.partition_index), None)
                        if reader is not None and self._process_offset(
                            reader, kind, part, now
                        ):
                            is_fruitless = False
                if is_fruitless:
                    self._cluster.note_fruitless(link, ListOffsetsRequest, now)
            self._partitions.retry_all(waiting.values(), now)

        constraints = (OFFSETS_BY_TIME,) if by_time else ()
        try:
            version = link.pick(ListOffsetsRequest, *constraints)
            request = lookups_request(epochs, kind, self._options, version)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self._partitions.failure = error
            return
        for reader in epochs:
            reader.begin_lookup(request)

    def _process_offset(
        self, reader: PartitionReader, kind: str, part: Any, now: float
    ) -> bool:
        """Process the result of a lookup.

        Returns whether this kind of lookup has succeeded for the first time. A repeated
        lookup is not progress.
        """
        if part.error_code:
            self._partitions.take_error(reader, part.error_code, now)
            return False
        # The oldest version returns a list, whose first offset is the requested one.
        offset = next(iter(part.old_style_offsets), part.offset)
        if offset < 0 and reader.lookups[kind].timestamp < 0:
            # Every log has a start offset and an end offset. A new leader may not know
            # them yet.
            self._partitions.retry(reader, now, "the leader does not know the offset")
            return False
        if offset < 0:
            # No record has this timestamp or a later one, so use the log end offset.
            reader.look_up(kind, LATEST)
            return False
        is_first = reader.set_offset(kind, offset)
        if is_first:
            self._partitions.progress_at = now
        if kind == "latest" and reader.is_start_given:
            assert reader.position is not None
            if reader.position > offset:
                self._partitions.lose(reader, f"the log ends at offset {offset}")
        return is_first
