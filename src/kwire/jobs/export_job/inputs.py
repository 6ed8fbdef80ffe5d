# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the input for an export: partition directories, segments and checkpoint files.

Checkpoints, and the names of producer snapshots, show how far a log extended if its
tail is missing. They have no checksums, so they only serve as evidence for missing
offsets, and never as a reason to reject valid batches.
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

_CLAIM_SENTENCES = {
    "replication": "the high watermark in the checkpoint is",
    "recovery-point": "the recovery point in the checkpoint is",
}
_INDEX_SUFFIXES = (".index", ".timeindex")
_NAME_DIGITS = 20
_NO_PARTITION = "", -1
_MAX_LISTED = 5


class ExportInputs(NamedTuple):
    """Input files for an export.

    * ``folders``: partition directories (one per replica) by (topic, partition).
    * ``segments``: (partition directory, segment file) pairs.
    * ``unreadable``: problems with files that cannot be read, with their partition. The
      partition is ("", -1) if the file belongs to no partition, for example a
      checkpoint file of a data directory.
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
    """Find all partitions below the specified paths.

    * ``paths``: data directories, directories above them, or tiered storage.
    * ``topics``, ``partitions``: only include these topics and partition numbers. None
      includes all.
    * ``include``: states of additional directories, see ``LogDirectory``.

    A partition directory found through several paths is included once. Raises
    ``FileNotFoundError`` if no partition matches. The error lists up to five partitions
    that exist.
    """
    inputs = ExportInputs({}, [], [])
    seen_paths: set[str] = set()
    partition_names: set[str] = set()
    path_names = [os.fspath(path) for path in paths]
    for path in path_names:
        directory = log.LogDirectory(path, include=include, access="read")
        for error in directory.unreadable:
            problem = error.path, error.offset, 0, "checkpoint", error.reason
            inputs.unreadable.append((_NO_PARTITION, FileProblem(*problem)))
        for skipped in directory.skipped:
            reason = "skipped" if isinstance(skipped, NotRegularFile) else "unreadable"
            explanation = skipped.strerror or type(skipped).__name__
            name = format_name(skipped.filename)
            problem = name, 0, 0, reason, explanation
            inputs.unreadable.append((_NO_PARTITION, FileProblem(*problem)))
        for partition in directory:
            partition_names.add(f"{partition.topic}-{partition.partition}")
            partition_path = format_name(partition.path)
            if topics is not None and partition.topic not in topics:
                continue
            if partitions is not None and partition.partition not in partitions:
                continue
            if partition_path in seen_paths:
                continue
            seen_paths.add(partition_path)
            key = partition.topic, partition.partition
            inputs.folders.setdefault(key, []).append(_read_folder(partition, inputs))
            inputs.segments.extend(
                (partition_path, segment) for segment in partition.segments
            )
    if not inputs.folders:
        path_list = ", ".join(map(format_name, path_names))
        if partition_names:
            listed = ", ".join(sorted(partition_names)[:_MAX_LISTED])
            if len(partition_names) > _MAX_LISTED:
                listed += f" and {len(partition_names) - _MAX_LISTED} more"
            raise FileNotFoundError(
                f"no partition in {path_list} matches topics= and partitions=;"
                f" the partitions are {listed}"
            )
        raise FileNotFoundError(
            f"no partition in {path_list}: give a data directory of Kafka, or a parent"
            " directory of several"
        )
    return inputs


def _read_folder(partition: log.Partition, inputs: ExportInputs) -> ReplicaFolder:
    """Collect information from the files beside a partition's segments.

    If the leader epoch checkpoint is damaged, a problem is added to ``inputs``.
    """
    partition_path = format_name(partition.path)
    epochs: tuple[tuple[int, int], ...] = ()
    try:
        epochs = partition.leader_epochs
    except DecodeError as error:
        problem = error.path, error.offset, 0, "leader-epoch", error.reason
        key = partition.topic, partition.partition
        inputs.unreadable.append((key, FileProblem(*problem)))
    claims = [
        (offset, f"{sentence} {offset} ({partition_path})")
        for name, sentence in _CLAIM_SENTENCES.items()
        if (offset := partition.checkpoints.get(name, 0)) > 0
    ]
    claims += [
        (
            int(path.name[:_NAME_DIGITS]),
            f"the producer snapshot {format_name(path)} exists",
        )
        for path in partition.producer_snapshot_paths
    ]
    return ReplicaFolder(
        partition_path,
        log_start=max(partition.checkpoints.get("log-start", 0), 0),
        claims=tuple(claims),
        epochs=epochs,
        is_compacted="cleaner" in partition.checkpoints,
        orphans=_find_orphans(partition),
    )


def _find_orphans(partition: log.Partition) -> tuple[int, ...]:
    """Find the base offsets in index file names whose segment files are missing.

    They are only searched in local directories.
    """
    if not isinstance(partition.path, Path):
        return ()
    stems = {Path(segment.path.name).stem for segment in partition.segments}
    names = (Path(name) for name in os.listdir(partition.path))
    return tuple(
        sorted(
            {
                int(name.stem[:_NAME_DIGITS])
                for name in names
                if name.suffix in _INDEX_SUFFIXES
                and name.stem not in stems
                and name.stem[:_NAME_DIGITS].isascii()
                and name.stem[:_NAME_DIGITS].isdigit()
                and len(name.stem) >= _NAME_DIGITS
            }
        )
    )
