# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``verify``: checks a log and the files beside its segments.

``examine`` reads the segments once, and ``Checks`` compares the files beside them in
the same pass. This file checks the files of the partition, and leaves out what an
incomplete tail explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._limits import DEFAULT
from .._text import format_name
from ..errors import DecodeError
from . import problems
from .checkpoints import read_leader_epochs, read_partition_metadata
from .checks import Checks, unreadable_file
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
    """Verify a partition or one segment with all that belongs to it.

    Checksums, offsets, gaps; entries of ``.index``, ``.timeindex`` and ``.txnindex``
    against the batches; leader epochs; producer snapshots. ``deep`` decodes the
    records as well. ``progress`` is called every few MiB with the number of bytes
    since the last call. Findings beside the ``.log`` have the path of their file.

    A broker that finds a torn tail in its newest segment cuts it off, rebuilds the
    indexes of that segment and deletes later snapshots. So what these files say about
    the tail is no problem, unless ``strict_tail`` makes the tail itself one.
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
    place = log.topic, log.partition
    epochs: tuple[tuple[int, int], ...] = ()
    path = log.path / "leader-epoch-checkpoint"
    try:
        epochs = read_leader_epochs(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield unreadable_file(path, place, problems.LEADER_EPOCH, error)
    if list(epochs) != sorted(set(epochs)) or [start for _, start in epochs] != sorted(
        {start for _, start in epochs}
    ):
        detail = "epochs and their offsets do not ascend"
        name = format_name(path)
        yield Problem(name, *place, 0, 0, problems.LEADER_EPOCH, detail=detail)
        epochs = ()
    path = log.path / "partition.metadata"
    try:
        read_partition_metadata(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield unreadable_file(path, place, problems.METADATA, error)
    newest = log.segments[-1].base_offset if log.segments else -1
    in_tail: list[tuple[int, Problem]] = []
    for path in log.producer_snapshot_paths:
        try:
            ProducerSnapshot(path, limits=limits)
        except FileNotFoundError:
            pass
        except DecodeError as error:
            found = unreadable_file(path, place, problems.SNAPSHOT, error)
            offset = parse_base_offset(path.name) or 0
            if offset > newest >= 0:
                in_tail.append((offset, found))
            else:
                yield found
    checks = Checks(epochs, is_partition=not log.is_compacted)
    for segments in (log.segments, *((each,) for each in log.snapshots)):
        yield from examine(
            segments,
            are_gaps_wrong=lambda: not log.is_compacted,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
            checks=checks if segments is log.segments else None,
        )
    for offset, found in in_tail:
        if checks.torn_offset is None or offset <= checks.torn_offset:
            yield found
