# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``verify``: checks a log, its index files, and other partition files.

``examine`` reads the segments once, and ``Checks`` compares the index files in the same
pass. This module checks the remaining partition files, and ignores problems that an
incomplete tail explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._limits import DEFAULT
from .._text import format_name
from ..errors import DecodeError
from . import problems
from .checkpoints import read_leader_epochs, read_partition_metadata
from .checks import Checks, make_unreadable_problem
from .examine import examine
from .indexes import parse_base_offset
from .problems import Problem
from .segments import Segment
from .snapshots import ProducerSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._limits import Limits
    from .partitions import Partition


def verify(
    log: Partition | Segment,
    *,
    deep: bool = False,
    strict_tail: bool = False,
    progress: Callable[[int], object] | None = None,
    limits: Limits = DEFAULT,
) -> Iterator[Problem]:
    """Verify a partition or a segment, including all files that belong to it.

    The checks cover checksums, offsets and gaps, the entries of ``.index``,
    ``.timeindex`` and ``.txnindex``, the leader epochs, and the producer snapshots.
    Problems outside the ``.log`` file contain the path to the affected file.

    * ``deep``: also decode the records.
    * ``strict_tail``: treat a torn tail as damage.
    * ``progress``: callback that receives the number of additional bytes every few MiB.

    When a broker starts and finds a torn tail in its newest segment, it truncates the
    segment, rebuilds its indexes, and deletes later producer snapshots. Therefore
    inconsistencies in these files are not reported if they only affect the tail, unless
    ``strict_tail`` is set.
    """
    if isinstance(log, Segment):
        checks = Checks((), is_partition=False)
        yield from examine(
            (log,),
            are_gaps_wrong=lambda: not log.has_holes,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
            checks=checks,
        )
        return
    topic_partition = log.topic, log.partition
    epochs: tuple[tuple[int, int], ...] = ()
    path = log.path / "leader-epoch-checkpoint"
    try:
        epochs = read_leader_epochs(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield make_unreadable_problem(
            path, topic_partition, problems.LEADER_EPOCH, error
        )
    if list(epochs) != sorted(set(epochs)) or [start for _, start in epochs] != sorted(
        {start for _, start in epochs}
    ):
        detail = "epochs and their offsets are not in ascending order"
        name = format_name(path)
        yield Problem(
            name, *topic_partition, 0, 0, problems.LEADER_EPOCH, detail=detail
        )
        epochs = ()
    path = log.path / "partition.metadata"
    try:
        read_partition_metadata(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield make_unreadable_problem(path, topic_partition, problems.METADATA, error)
    newest = log.segments[-1].base_offset if log.segments else -1
    in_tail: list[tuple[int, Problem]] = []
    for path in log.producer_snapshot_paths:
        try:
            ProducerSnapshot(path, limits=limits)
        except FileNotFoundError:
            pass
        except DecodeError as error:
            problem = make_unreadable_problem(
                path, topic_partition, problems.SNAPSHOT, error
            )
            offset = parse_base_offset(path.name) or 0
            if offset > newest >= 0:
                in_tail.append((offset, problem))
            else:
                yield problem
    checks = Checks(epochs, is_partition=not log.is_compacted)
    for segments in (log.segments, *((snapshot,) for snapshot in log.snapshots)):
        yield from examine(
            segments,
            are_gaps_wrong=lambda: not log.is_compacted,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
            checks=checks if segments is log.segments else None,
        )
    for offset, problem in in_tail:
        if checks.torn_offset is None or offset <= checks.torn_offset:
            yield problem
