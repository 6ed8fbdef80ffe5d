# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find the input of an export: folders of partitions, and the files beside segments.

Checkpoints and the names of snapshots show how far a log went when its tail is gone.
They have no checksums, so they are evidence that something is missing, and no more.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ... import log
from ..._files import NotRegularFile
from ..._text import format_name
from ...errors import DecodeError
from .problems import FileProblem
from .replicas import ReplicaFolder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .problems import PartitionKey

_CLAIMS = {
    "replication": "the high watermark that the broker noted is",
    "recovery-point": "the recovery point that the broker noted is",
}
_BESIDE = (".index", ".timeindex")
_DIGITS = 20
_NO_PARTITION = "", -1
_LISTED = 5


class ExportInputs(NamedTuple):
    """The partitions, their folders and segments, and what could not be read.

    What belongs to no partition is of the topic "" and the partition -1.
    """

    folders: dict[tuple[str, int], list[ReplicaFolder]]
    segments: list[tuple[str, log.Segment]]
    unreadable: list[tuple[PartitionKey, FileProblem]]


def find_inputs(
    paths: Iterable[str | os.PathLike[str]],
    topics: Collection[str] | None,
    partitions: Collection[int] | None,
    include: Collection[str],
) -> ExportInputs:
    """Find what lies below the paths; ``FileNotFoundError`` if nothing wanted does."""
    found = ExportInputs({}, [], [])
    seen: set[str] = set()
    names: set[str] = set()
    given = [os.fspath(path) for path in paths]
    for path in given:
        directory = log.LogDirectory(path, include=include, access="read")
        for error in directory.unreadable:
            problem = error.path, error.offset, 0, "checkpoint", error.reason
            found.unreadable.append((_NO_PARTITION, FileProblem(*problem)))
        for skipped in directory.skipped:
            reason = "skipped" if isinstance(skipped, NotRegularFile) else "unreadable"
            words = skipped.strerror or type(skipped).__name__
            name = format_name(skipped.filename)
            problem = name, 0, 0, reason, words
            found.unreadable.append((_NO_PARTITION, FileProblem(*problem)))
        for partition in directory:
            names.add(f"{partition.topic}-{partition.partition}")
            place = format_name(partition.path)
            if topics is not None and partition.topic not in topics:
                continue
            if partitions is not None and partition.partition not in partitions:
                continue
            if place in seen:
                continue
            seen.add(place)
            key = partition.topic, partition.partition
            found.folders.setdefault(key, []).append(_read_folder(partition, found))
            found.segments.extend((place, each) for each in partition.segments)
    if not found.folders:
        where = ", ".join(map(format_name, given))
        if names:
            listed = ", ".join(sorted(names)[:_LISTED])
            if len(names) > _LISTED:
                listed += f" and {len(names) - _LISTED} more"
            raise FileNotFoundError(
                f"no partition in {where} matches topics= and partitions=;"
                f" the partitions are {listed}"
            )
        raise FileNotFoundError(
            f"no partition in {where}: give a data directory of Kafka, or a folder"
            " above several"
        )
    return found


def _read_folder(partition: log.Partition, found: ExportInputs) -> ReplicaFolder:
    """Gather what lies beside the segments of a partition."""
    place = format_name(partition.path)
    epochs: tuple[tuple[int, int], ...] = ()
    try:
        epochs = partition.leader_epochs
    except DecodeError as error:
        problem = error.path, error.offset, 0, "leader-epoch", error.reason
        key = partition.topic, partition.partition
        found.unreadable.append((key, FileProblem(*problem)))
    claims = [
        (offset, f"{words} {offset} ({place})")
        for name, words in _CLAIMS.items()
        if (offset := partition.checkpoints.get(name, 0)) > 0
    ]
    claims += [
        (int(path.name[:_DIGITS]), f"there is {format_name(path)}")
        for path in partition.producer_snapshot_paths
    ]
    return ReplicaFolder(
        place,
        log_start=max(partition.checkpoints.get("log-start", 0), 0),
        claims=tuple(claims),
        epochs=epochs,
        is_compacted="cleaner" in partition.checkpoints,
        orphans=_find_orphans(partition),
    )


def _find_orphans(partition: log.Partition) -> tuple[int, ...]:
    """Find the offsets of indexes whose segments are gone."""
    if not isinstance(partition.path, Path):
        return ()
    stems = {Path(segment.path.name).stem for segment in partition.segments}
    names = (Path(name) for name in os.listdir(partition.path))
    return tuple(
        sorted(
            {
                int(name.stem[:_DIGITS])
                for name in names
                if name.suffix in _BESIDE
                and name.stem not in stems
                and name.stem[:_DIGITS].isascii()
                and name.stem[:_DIGITS].isdigit()
                and len(name.stem) >= _DIGITS
            }
        )
    )
