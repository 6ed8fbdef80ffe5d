# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the input for the offsets job: the longest replica of every partition."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from ...errors import DecodeError
from ...log import LogDirectory
from .groups import format_uuid
from .problems import ProblemRow, make_failure_row
from .reading import TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...log import Partition

    Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


_HEADER_SPEEDUP = 16
"""Estimated minimum factor by which reading the batch headers of a segment is faster
than reading its records. ``LogInputs.work`` divides the size of topics by it.
"""


class LogInputs:
    """Partitions found in the log directories below ``paths``.

    * ``offsets``: ``__consumer_offsets`` partitions.
    * ``topics``: all other partitions by (topic, partition).
    * ``problems``: rows about unreadable files.

    Raises ``FileNotFoundError`` if there is no ``__consumer_offsets`` partition.
    """

    def __init__(self, paths: Paths) -> None:
        self.offsets: list[Partition] = []
        self.topics: dict[tuple[str, int], Partition] = {}
        self.problems: list[ProblemRow] = []
        if isinstance(paths, (str, os.PathLike)):
            paths = (paths,)
        self.paths = tuple(os.fspath(path) for path in paths)
        replicas: dict[tuple[str, int], dict[str, Partition]] = {}
        for path in self.paths:
            directory = LogDirectory(path)
            for error in directory.unreadable:
                self.problems.append(
                    ProblemRow(
                        error.path,
                        position=error.offset,
                        reason="checkpoint",
                        error=error.reason,
                    )
                )
            for skipped in directory.skipped:
                self.problems.append(make_failure_row(path, None, None, skipped))
            for partition in directory:
                partition_replicas = replicas.setdefault(
                    (partition.topic, partition.partition), {}
                )
                partition_replicas[str(partition.path)] = partition
        for (topic, number), folders in sorted(replicas.items()):
            longest = _choose_longest(list(folders.values()))
            if topic == TOPIC:
                self.offsets.append(longest)
            else:
                self.topics[topic, number] = longest
        if not self.offsets:
            path_list = ", ".join(self.paths) or "."
            raise FileNotFoundError(
                errno.ENOENT,
                f"no partition of {TOPIC} in it; give the data directories of brokers",
                path_list,
            )

    @property
    def size(self) -> int:
        """Total segment size in bytes."""
        return sum(
            partition.size for partition in (*self.offsets, *self.topics.values())
        )

    @property
    def work(self) -> int:
        """Estimated work in bytes, for deciding whether Spark is worthwhile.

        Topics count much less than their size, because only batch headers are read.
        """
        return (
            sum(partition.size for partition in self.offsets)
            + self.size // _HEADER_SPEEDUP
        )

    def topic_names(self) -> dict[str, str]:
        """Find topic names by topic id, according to ``partition.metadata`` files."""
        names = {}
        for log in self.topics.values():
            try:
                topic_id = format_uuid(log.topic_id)
            except (DecodeError, OSError):
                continue
            if topic_id is not None:
                names[topic_id] = log.topic
        return names


def _choose_longest(replicas: list[Partition]) -> Partition:
    """Choose the replica with the highest log end offset.

    If several replicas have the same end offset, prefer the lowest start offset, then
    the largest size.
    """
    if len(replicas) == 1:
        return replicas[0]
    return max(
        replicas,
        key=lambda replica: (_find_end(replica), -replica.start_offset, replica.size),
    )


def _find_end(log: Partition) -> int:
    try:
        return log.end_offset
    except OSError:
        return -1
