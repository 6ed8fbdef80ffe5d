# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogDirectory``: finds the partitions in a tree of folders.

It knows Kafka's data directories, ``<topic>-<partition>/`` with ``<base offset>.log``
and what belongs to it, one or many of them in any tree, and tiered storage that keeps
plain segments, ``<base offset>-<segment id>.log`` in ``<topic>-<topic id>/<partition>``
or ``<topic>-<partition>-<topic id>`` (KIP-405). Nothing is opened but the small
checkpoints of data directories.
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


_NAMED = 10
"""How many names an error message lists."""

STATES = ("future", "stray", "delete")
"""What a folder's name may end with if the partition is not in use."""

_IN_STATE = re.compile(r"(?s)(.+)\.[0-9a-f]{32}-(future|stray|delete)")
_SEGMENT = re.compile(r"[0-9]{20}(?:-[A-Za-z0-9_-]{22})?\.log")
_CHECKPOINT = re.compile(r"[0-9]{20}-[0-9]{10}\.checkpoint")
_PRODUCER_SNAPSHOT = re.compile(r"[0-9]{20}(?:-[A-Za-z0-9_-]{22})?\.snapshot")
_TIERED_TOPIC = re.compile(r"(?s)(.+)-([A-Za-z0-9_-]{22})")
_TIERED_FOLDER = re.compile(r"(?s)(.+)-([0-9]{1,9})-([A-Za-z0-9_-]{22})")
_TIERED_SEGMENT = re.compile(r"[0-9]{20}-[A-Za-z0-9_-]{22}\.log")
_TIERED_PARTITION = re.compile(r"[0-9]{1,9}")

_BESIDE = (".index", ".timeindex", ".txnindex", ".snapshot")
_OF_PARTITION = ("leader-epoch-checkpoint", "partition.metadata")

_CHECKPOINTS = {
    "recovery-point": "recovery-point-offset-checkpoint",
    "log-start": "log-start-offset-checkpoint",
    "replication": "replication-offset-checkpoint",
    "cleaner": "cleaner-offset-checkpoint",
}


class LogDirectory:
    """The partitions in a data directory of Kafka, or in any tree of such.

    ``path`` may also be the folder of one partition or one segment file; then that
    segment is all there is, but its neighbours are known. Folders whose names end with
    ``-future``, ``-stray`` or ``-delete`` are left out unless ``include`` names the
    word. ``compacted`` overrules what each partition finds out by itself. Links to
    folders are not followed, and only regular files are opened: ``skipped`` names
    FIFOs, sockets, devices, folders and broken links with the name of a file of a log,
    and folders that may not be read, where partitions may be.
    ``path`` may be the URI of a folder in an object store
    (``storage.py``). The tree is read once; files that come later are not seen.

    With ``access="map"``, and by default for segments without a write within the
    last hour, a file is mapped: one that another process truncates meanwhile ends this
    process (SIGBUS). ``access="read"`` copies.
    """

    __slots__ = ("partitions", "path", "skipped", "unreadable")

    partitions: tuple[Partition, ...]
    """Sorted by topic, partition and path."""

    unreadable: tuple[DecodeError, ...]
    """What was wrong with checkpoints of data directories; they are left aside."""

    skipped: tuple[OSError, ...]
    """Folders that may not be read, and what is no file but has a log file's name."""

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
        one = None
        if self.path.is_file():
            one, root = self.path.name, self.path.parent
        else:
            root = self.path
        found: list[Partition] = []
        unreadable: list[DecodeError] = []
        skipped: list[OSError] = []
        checkpoints: dict[Place, dict[str, dict[tuple[str, int], int]]] = {}
        for folder, names in _folders(root, one is not None, skipped):
            files = sorted(name for name in names if _is_of_log(name))
            if one is not None and one not in files:
                files.append(one)
            if not files and (FOLDER.fullmatch(folder.name) is None or one is not None):
                continue
            if not files and "partition.metadata" not in names:
                continue
            if folder.parent not in checkpoints:
                checkpoints[folder.parent] = _read_checkpoints(
                    folder.parent, unreadable, skipped
                )
            made = _partition(
                folder,
                files,
                names,
                checkpoints[folder.parent],
                compacted,
                access,
                skipped,
            )
            if made.state and made.state not in include:
                continue
            if one is not None:
                made.segments = tuple(s for s in made.segments if s.path.name == one)
                made.snapshots = tuple(s for s in made.snapshots if s.path.name == one)
            found.append(made)
        found.sort(key=lambda each: (each.topic, each.partition, str(each.path)))
        self.partitions = tuple(found)
        self.unreadable = tuple(unreadable)
        self.skipped = tuple({str(each.filename): each for each in skipped}.values())

    def __repr__(self) -> str:
        return f"<LogDirectory {str(self.path)!r}, {len(self.partitions)} partitions>"

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the topics, sorted."""
        return tuple(sorted({each.topic for each in self.partitions}))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of all partitions."""
        return tuple(s for partition in self.partitions for s in partition.segments)

    @overload
    def __getitem__(self, key: str) -> tuple[Partition, ...]: ...
    @overload
    def __getitem__(self, key: tuple[str, int]) -> Partition: ...
    def __getitem__(
        self, key: str | tuple[str, int]
    ) -> Partition | tuple[Partition, ...]:
        """Return the partitions of a topic, or the one of (topic, partition).

        Raises ``KeyError`` if there is none, and names what there is; or if several
        folders have that one, as the folders of several brokers do: then ``replicas``
        gives all of them.
        """
        if isinstance(key, str):
            found = tuple(each for each in self.partitions if each.topic == key)
            if not found:
                raise KeyError(self._name_topics(key))
            return found
        found = self.replicas(*key)
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(
                f"{key[0]}-{key[1]} is in {len(found)} folders; call replicas()"
            )
        topic, number = key
        numbers = sorted({p.partition for p in self.partitions if p.topic == topic})
        if not numbers:
            raise KeyError(self._name_topics(topic))
        raise KeyError(
            f"{topic!r} has no partition {number!r}; it has"
            f" {_list_names(list(map(str, numbers)))}"
        )

    def _name_topics(self, topic: str) -> str:
        """Format the error for an unknown topic, with similar names and all topics."""
        topics = self.topics
        if not topics:
            where = format_name(self.path)
            return f"no topic {topic!r}: no partitions were found in {where}"
        return (
            f"no topic {topic!r}; the topics are"
            f" {_list_names(list(map(repr, topics)))}"
            f"{suggest_names(str(topic), topics)}"
        )

    def replicas(self, topic: str, partition: int) -> tuple[Partition, ...]:
        """All folders that have a partition, sorted by path; empty if none has."""
        return tuple(
            each
            for each in self.partitions
            if (each.topic, each.partition) == (topic, partition)
        )


def _list_names(names: list[str]) -> str:
    text = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{text} and {more} more" if more > 0 else text


def _is_of_log(name: str) -> bool:
    return _SEGMENT.fullmatch(name) is not None or (
        _CHECKPOINT.fullmatch(name) is not None
    )


def _is_beside_log(name: str) -> bool:
    return name.endswith(_BESIDE) or name in _OF_PARTITION


def _folders(
    root: Place, only_root: bool, skipped: list[OSError]
) -> Iterator[tuple[Place, list[str]]]:
    """Iterate over the folders of a tree with the names of their files."""
    if isinstance(root, StoredPath):
        for place, names in root.folders():
            if not only_root or place == root:
                yield place, names
        return
    if not root.is_dir():
        if root.exists():
            check_regular(root, root.stat().st_mode)
        raise FileNotFoundError(f"no such directory: {root.absolute()}")

    def note(error: OSError) -> None:
        # A file system makes this folder for itself, at its root and for root alone.
        if os.path.basename(error.filename) != "lost+found":
            skipped.append(error)

    for folder, below, names in os.walk(root.absolute(), onerror=note):
        for name in below:
            if _is_of_log(name) or _is_beside_log(name):
                skipped.append(NotRegularFile(os.path.join(folder, name), stat.S_IFDIR))
        yield Path(folder), [each for each in names if _is_file(folder, each, skipped)]
        if only_root:
            return


def _is_file(folder: str, name: str, skipped: list[OSError]) -> bool:
    """Whether a name may be read as a file; notes a log's file that may not."""
    if not (_is_of_log(name) or _is_beside_log(name)):
        return True
    path = os.path.join(folder, name)
    try:
        check_regular(path, os.stat(path).st_mode)
    except OSError as error:
        # A file that is gone was deleted by a broker since the folder was listed.
        if isinstance(error, NotRegularFile) or os.path.lexists(path):
            skipped.append(error)
        return False
    return True


def _read_checkpoints(
    folder: Place, unreadable: list[DecodeError], skipped: list[OSError]
) -> dict[str, dict[tuple[str, int], int]]:
    read = {}
    for what, name in _CHECKPOINTS.items():
        try:
            read[what] = read_offset_checkpoint(folder / name)
        except DecodeError as error:
            unreadable.append(error)
        except NotRegularFile as error:
            skipped.append(error)
        except OSError:
            continue
    return read


def _partition(
    folder: Place,
    names: list[str],
    here: list[str],
    checkpoints: dict[str, dict[tuple[str, int], int]],
    compacted: bool | None,
    access: Access | None,
    skipped: list[OSError],
) -> Partition:
    """Make the partition of a folder; what its name does not say stays unknown."""
    topic, number, state, topic_id = folder.name, -1, "", None
    in_state = _IN_STATE.fullmatch(topic)
    if in_state is not None:
        topic, state = in_state[1], in_state[2]
    named = FOLDER.fullmatch(topic)
    tiered = _TIERED_TOPIC.fullmatch(folder.parent.name)
    in_one = _TIERED_FOLDER.fullmatch(topic)
    if tiered is not None and _TIERED_PARTITION.fullmatch(topic):
        topic, number, topic_id = tiered[1], int(topic), read_uuid(tiered[2])
    elif in_one is not None and any(map(_TIERED_SEGMENT.fullmatch, names)):
        topic, number, topic_id = in_one[1], int(in_one[2]), read_uuid(in_one[3])
    elif named is not None:
        topic, number = named[1], int(named[2])
    topic = format_name(topic)
    logs = [name for name in names if not _CHECKPOINT.fullmatch(name)]
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
            # A broker has deleted it since the folder was listed.
            continue
        if segments:
            # Tiered storage may have one part of the log twice.
            above = segments[-1]
            segment.next_base_offset = above.base_offset
            if above.base_offset == segment.base_offset:
                segment.next_base_offset = above.next_base_offset
        segments.append(segment)
    segments.reverse()
    snapshots: list[Segment] = []
    for name in sorted(filter(_CHECKPOINT.fullmatch, here)):
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
            folder / name for name in sorted(here) if _PRODUCER_SNAPSHOT.fullmatch(name)
        ),
        state=state,
        topic_id=topic_id,
        checkpoints={
            what: offsets[topic, number]
            for what, offsets in checkpoints.items()
            if (topic, number) in offsets
        },
        compacted=compacted,
    )
