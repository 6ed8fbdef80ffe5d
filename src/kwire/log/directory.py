# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogDirectory``: finds the partitions in a directory tree.

It supports data directories, where ``<topic>-<partition>/`` contains
``<base offset>.log`` and its related files, in any number and at any depth. It also
supports tiered storage with plain segments (KIP-405):
``<base offset>-<segment id>.log`` in ``<topic>-<topic id>/<partition>`` or
``<topic>-<partition>-<topic id>``. Only the small checkpoint files in data directories
are opened.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, overload

from .._files import NotRegularFile, check_regular
from .._text import format_name, suggest_names
from ..errors import DecodeError
from .checkpoints import read_offset_checkpoint, read_uuid
from .indexes import parse_base_offset
from .partitions import Partition
from .segments import FOLDER, Segment
from .storage import StoredPath, locate

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from .file_bytes import Access
    from .storage import Named, Place


_MAX_NAMES = 10
"""Maximum number of topic or partition names that an error message lists."""

STATES = ("future", "stray", "delete")
"""Directory name suffixes for partitions that are currently unused."""

_IN_STATE = re.compile(r"(?s)(.+)\.[0-9a-f]{32}-(future|stray|delete)")
_SEGMENT = re.compile(r"[0-9]{20}(?:-[A-Za-z0-9_-]{22})?\.log")
_CHECKPOINT = re.compile(r"[0-9]{20}-[0-9]{10}\.checkpoint")
_PRODUCER_SNAPSHOT = re.compile(r"[0-9]{20}(?:-[A-Za-z0-9_-]{22})?\.snapshot")
_TIERED_TOPIC = re.compile(r"(?s)(.+)-([A-Za-z0-9_-]{22})")
_TIERED_FOLDER = re.compile(r"(?s)(.+)-([0-9]{1,9})-([A-Za-z0-9_-]{22})")
_TIERED_SEGMENT = re.compile(r"[0-9]{20}-[A-Za-z0-9_-]{22}\.log")
_TIERED_PARTITION = re.compile(r"[0-9]{1,9}")

_RELATED_SUFFIXES = (".index", ".timeindex", ".txnindex", ".snapshot")
"""Suffixes of index and snapshot files, which are stored next to a segment."""

_PARTITION_FILES = ("leader-epoch-checkpoint", "partition.metadata")
"""Names of additional files in a partition directory."""

_CHECKPOINTS = {
    "recovery-point": "recovery-point-offset-checkpoint",
    "log-start": "log-start-offset-checkpoint",
    "replication": "replication-offset-checkpoint",
    "cleaner": "cleaner-offset-checkpoint",
}
"""File names of the checkpoints in a data directory, by kind."""


class LogDirectory:
    """Partitions in a directory tree, which may contain multiple data directories.

    * ``path``: directory, or its URI in an object store (see ``storage.py``). It may
      also be a single partition directory or a single segment file. For a segment file,
      only this segment is listed, but its neighbours are taken into account.
    * ``include``: also list partition directories with these suffixes ("future",
      "stray", "delete"). They are skipped by default.
    * ``compacted``: whether the partitions are compacted. By default, partitions detect
      this automatically.
    * ``access``: "map" maps files into memory. If another process truncates a mapped
      file, the system kills this process (SIGBUS). "read" copies the data instead. By
      default, the newest segment in a partition is copied if it was written within the
      last hour, and all other segments are mapped.

    The tree is read only once, so later files are not found. Symbolic links to
    directories are not followed, and only regular files are opened. ``skipped`` lists
    unreadable directories, which may contain partitions, and every FIFO, socket,
    device, directory or broken link whose name is reserved for log files.

    Raises ``FileNotFoundError`` if ``path`` does not exist, and ``ValueError`` if
    ``include`` contains another suffix.
    """

    __slots__ = ("partitions", "path", "skipped", "unreadable")

    partitions: tuple[Partition, ...]
    """Partitions, sorted by topic, partition and path."""

    unreadable: tuple[DecodeError, ...]
    """Errors in checkpoint files. These files are ignored."""

    skipped: tuple[OSError, ...]
    """Unreadable directories, and non-regular files named like log files."""

    def __init__(
        self,
        path: Named,
        *,
        include: Collection[str] = (),
        compacted: bool | None = None,
        access: Access | None = None,
    ) -> None:
        for name in include:
            if name not in STATES:
                raise ValueError(
                    f"include must be of {', '.join(STATES)} (got {name!r})"
                )
        self.path = locate(path)
        segment_name = None
        if self.path.is_file():
            segment_name, root = self.path.name, self.path.parent
        else:
            root = self.path
        partitions: list[Partition] = []
        unreadable: list[DecodeError] = []
        skipped: list[OSError] = []
        checkpoints: dict[Place, dict[str, dict[tuple[str, int], int]]] = {}
        for folder, names in _walk_folders(root, segment_name is not None, skipped):
            files = sorted(name for name in names if _is_log_name(name))
            if segment_name is not None and segment_name not in files:
                files.append(segment_name)
            if not files and (
                FOLDER.fullmatch(folder.name) is None or segment_name is not None
            ):
                continue
            if not files and "partition.metadata" not in names:
                continue
            if folder.parent not in checkpoints:
                checkpoints[folder.parent] = _read_checkpoints(
                    folder.parent, unreadable, skipped
                )
            partition = _make_partition(
                folder,
                files,
                names,
                checkpoints[folder.parent],
                compacted,
                access,
                skipped,
            )
            if partition.state and partition.state not in include:
                continue
            if segment_name is not None:
                partition.segments = tuple(
                    s for s in partition.segments if s.path.name == segment_name
                )
                partition.snapshots = tuple(
                    s for s in partition.snapshots if s.path.name == segment_name
                )
            partitions.append(partition)
        partitions.sort(key=lambda p: (p.topic, p.partition, str(p.path)))
        self.partitions = tuple(partitions)
        self.unreadable = tuple(unreadable)
        self.skipped = tuple({str(error.filename): error for error in skipped}.values())

    def __repr__(self) -> str:
        return f"<LogDirectory {str(self.path)!r}, {len(self.partitions)} partitions>"

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)

    @property
    def topics(self) -> tuple[str, ...]:
        """Sorted names of all topics in the tree."""
        return tuple(sorted({partition.topic for partition in self.partitions}))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Segments of all partitions."""
        return tuple(s for partition in self.partitions for s in partition.segments)

    @overload
    def __getitem__(self, key: str) -> tuple[Partition, ...]: ...
    @overload
    def __getitem__(self, key: tuple[str, int]) -> Partition: ...
    def __getitem__(
        self, key: str | tuple[str, int]
    ) -> Partition | tuple[Partition, ...]:
        """Return all partitions of a topic, or the partition for (topic, partition).

        Raises ``KeyError`` if the topic or partition does not exist. The message then
        lists the available names. Also raises ``KeyError`` if multiple directories
        contain the partition, for example because the tree contains data directories of
        multiple brokers. In this case, use ``replicas``.
        """
        if isinstance(key, str):
            partitions = tuple(
                partition for partition in self.partitions if partition.topic == key
            )
            if not partitions:
                raise KeyError(self._describe_unknown_topic(key))
            return partitions
        partitions = self.replicas(*key)
        if len(partitions) == 1:
            return partitions[0]
        if partitions:
            raise KeyError(
                f"{key[0]}-{key[1]} is in {len(partitions)} directories; use replicas()"
            )
        topic, number = key
        numbers = sorted({p.partition for p in self.partitions if p.topic == topic})
        if not numbers:
            raise KeyError(self._describe_unknown_topic(topic))
        raise KeyError(
            f"{topic!r} has no partition {number!r}; it has"
            f" {_list_names(list(map(str, numbers)))}"
        )

    def _describe_unknown_topic(self, topic: str) -> str:
        """Format the error for an unknown topic, with similar names and all topics."""
        topics = self.topics
        if not topics:
            folder = format_name(self.path)
            return f"no topic {topic!r}: no partitions were found in {folder}"
        return (
            f"no topic {topic!r}; the topics are"
            f" {_list_names(list(map(repr, topics)))}"
            f"{suggest_names(str(topic), topics)}"
        )

    def replicas(self, topic: str, partition: int) -> tuple[Partition, ...]:
        """Return all directories that contain a partition, sorted by path.

        May be empty.
        """
        return tuple(
            candidate
            for candidate in self.partitions
            if (candidate.topic, candidate.partition) == (topic, partition)
        )


def _list_names(names: list[str]) -> str:
    """Join names with commas, limited to ``_MAX_NAMES`` names."""
    text = ", ".join(names[:_MAX_NAMES])
    more = len(names) - _MAX_NAMES
    return f"{text} and {more} more" if more > 0 else text


def _is_log_name(name: str) -> bool:
    """Whether a file name belongs to a segment or a KRaft checkpoint."""
    return _SEGMENT.fullmatch(name) is not None or (
        _CHECKPOINT.fullmatch(name) is not None
    )


def _is_related_name(name: str) -> bool:
    """Whether a file name belongs to an index or another file next to a segment."""
    return name.endswith(_RELATED_SUFFIXES) or name in _PARTITION_FILES


def _walk_folders(
    root: Place, only_root: bool, skipped: list[OSError]
) -> Iterator[tuple[Place, list[str]]]:
    """Yield (directory, file names) for all directories in a tree.

    If ``only_root`` is True, only the root directory is yielded. Directories that
    cannot be read are added to ``skipped``.
    """
    if isinstance(root, StoredPath):
        for stored_folder, names in root.folders():
            if not only_root or stored_folder == root:
                yield stored_folder, names
        return
    if not root.is_dir():
        if root.exists():
            check_regular(root, root.stat().st_mode)
        raise FileNotFoundError(f"no such directory: {root.absolute()}")

    def note(error: OSError) -> None:
        # File systems create the directory ``lost+found`` at their root. Only the user
        # root can read it, and it never contains partitions.
        if os.path.basename(error.filename) != "lost+found":
            skipped.append(error)

    for folder, subfolders, names in os.walk(root.absolute(), onerror=note):
        for name in subfolders:
            if _is_log_name(name) or _is_related_name(name):
                skipped.append(NotRegularFile(os.path.join(folder, name), stat.S_IFDIR))
        yield (
            Path(folder),
            [file_name for file_name in names if _is_file(folder, file_name, skipped)],
        )
        if only_root:
            return


def _is_file(folder: str, name: str, skipped: list[OSError]) -> bool:
    """Whether a name may be opened as a file.

    A name that looks like a log file but is not a regular file is added to ``skipped``.
    """
    if not (_is_log_name(name) or _is_related_name(name)):
        return True
    path = os.path.join(folder, name)
    try:
        check_regular(path, os.stat(path).st_mode)
    except OSError as error:
        # A missing file is not an error, because a broker may have deleted it since the
        # directory was listed.
        if isinstance(error, NotRegularFile) or os.path.lexists(path):
            skipped.append(error)
        return False
    return True


def _read_checkpoints(
    folder: Place, unreadable: list[DecodeError], skipped: list[OSError]
) -> dict[str, dict[tuple[str, int], int]]:
    """Read the checkpoint files of a data directory: offsets by checkpoint kind.

    Decoding errors are added to ``unreadable``, and files that are not regular files to
    ``skipped``. Files that are missing or cannot be opened are ignored.
    """
    offsets_by_key = {}
    for key, name in _CHECKPOINTS.items():
        try:
            offsets_by_key[key] = read_offset_checkpoint(folder / name)
        except DecodeError as error:
            unreadable.append(error)
        except NotRegularFile as error:
            skipped.append(error)
        except OSError:
            continue
    return offsets_by_key


def _make_partition(
    folder: Place,
    log_names: list[str],
    file_names: list[str],
    checkpoints: dict[str, dict[tuple[str, int], int]],
    compacted: bool | None,
    access: Access | None,
    skipped: list[OSError],
) -> Partition:
    """Create the ``Partition`` for a directory.

    If the directory name does not contain a partition number, the number is -1. If it
    does not contain a topic id, the topic id is None.
    """
    topic, number, state, topic_id = folder.name, -1, "", None
    state_match = _IN_STATE.fullmatch(topic)
    if state_match is not None:
        topic, state = state_match[1], state_match[2]
    name_match = FOLDER.fullmatch(topic)
    topic_match = _TIERED_TOPIC.fullmatch(folder.parent.name)
    folder_match = _TIERED_FOLDER.fullmatch(topic)
    if topic_match is not None and _TIERED_PARTITION.fullmatch(topic):
        topic, number, topic_id = topic_match[1], int(topic), read_uuid(topic_match[2])
    elif folder_match is not None and any(map(_TIERED_SEGMENT.fullmatch, log_names)):
        topic, number, topic_id = (
            folder_match[1],
            int(folder_match[2]),
            read_uuid(folder_match[3]),
        )
    elif name_match is not None:
        topic, number = name_match[1], int(name_match[2])
    topic = format_name(topic)
    logs = [name for name in log_names if not _CHECKPOINT.fullmatch(name)]
    logs.sort(key=lambda name: (parse_base_offset(name) or 0, name), reverse=True)
    segments: list[Segment] = []
    for name in logs:
        try:
            segment = Segment(
                folder / name,
                access=access,
                topic=topic,
                partition=number,
                is_newest=not segments,
            )
        except NotRegularFile as error:
            skipped.append(error)
            continue
        except FileNotFoundError:
            # A broker has deleted the file since the directory was listed.
            continue
        if segments:
            # Tiered storage may contain several copies of a segment with the same base
            # offset. All copies are followed by the same segment.
            newer_segment = segments[-1]
            segment.next_base_offset = newer_segment.base_offset
            if newer_segment.base_offset == segment.base_offset:
                segment.next_base_offset = newer_segment.next_base_offset
        segments.append(segment)
    segments.reverse()
    snapshots: list[Segment] = []
    for name in sorted(filter(_CHECKPOINT.fullmatch, file_names)):
        with suppress(FileNotFoundError):
            snapshots.append(
                Segment(folder / name, access=access, topic=topic, partition=number)
            )
    return Partition(
        folder,
        topic,
        number,
        segments=tuple(segments),
        snapshots=tuple(snapshots),
        producer_snapshot_paths=tuple(
            folder / name
            for name in sorted(file_names)
            if _PRODUCER_SNAPSHOT.fullmatch(name)
        ),
        state=state,
        topic_id=topic_id,
        checkpoints={
            key: offsets[topic, number]
            for key, offsets in checkpoints.items()
            if (topic, number) in offsets
        },
        compacted=compacted,
    )
