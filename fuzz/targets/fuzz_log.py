# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a segment with all functions of ``kwire.log``, and other files of a partition.

An input consists of a byte that selects a file, a byte with options, a byte that
specifies how the record set is prepared (``record_bytes.py``), and the data. The
segment always contains a record set. The selected file contains the data after the
first 0xFF 0x00 0xFF, if there is one.
"""

import os
import tempfile
from functools import cache
from pathlib import Path

from fuzz import engines, guided
from fuzz.targets.record_bytes import set_of

MODULES = ("log", "records.batches", "records.columns", "records.compression")
CUT = b"\xff\x00\xff"
BASE = "00000000000000000000"
FILES = (
    *(f"{BASE}{suffix}" for suffix in (".index", ".timeindex", ".txnindex")),
    "00000000000000000009.snapshot",
    "leader-epoch-checkpoint",
    "partition.metadata",
    "00000000000000000007.log",
)
ABOVE = (
    "meta.properties",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
"""Files of the data directory, the parent of the partition directory."""

COMMITTED, STRICT_TAIL, DEEP, RAISE, SMALL, CHECKED = (1 << bit for bit in range(6))
"""Options: the bits of the second byte of an input, from the lowest bit on."""


@cache
def _folder():
    # Use a file system in memory if possible, because thousands of files are created
    # and deleted every second.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="kwire-fuzz-", dir=place)
    (Path(made.name) / "topic-3").mkdir()
    return made


def _written(data):
    """Write the files of an input. Returns the data directory."""
    root = Path(_folder().name)
    folder = root / "topic-3"
    for path in (*folder.iterdir(), *root.glob("*[stn]")):
        path.unlink()
    content, found, other = data[2:].partition(CUT)
    (folder / f"{BASE}.log").write_bytes(set_of(content) if content else b"")
    if found:
        names = (*FILES, *ABOVE)
        name = names[data[0] % len(names)]
        place = folder if name in FILES else root
        (place / name).write_bytes(
            set_of(other) if name.endswith(".log") and other else other
        )
    return root


def limits_of(package):
    """Return limits of 256 KiB, because 64 MiB per input would make fuzzing slow."""
    return package.Limits(decompressed_bytes=256 * 1024)


def headers(package, path, mode):
    """Read the batch headers of a segment. Returns the headers and the problems."""
    wrong = []
    segment = package.log.Segment(path, access="read")
    tell = "raise" if mode & RAISE else wrong.append
    found = segment.headers(
        check_crc=bool(mode & CHECKED),
        on_corrupt=tell,
        strict_tail=bool(mode & STRICT_TAIL),
    )
    return list(found), wrong


def batches(package, path, mode):
    """Decode a segment to objects. Returns the batches and the problems."""
    wrong = []
    segment = package.log.Segment(path, access="read")
    found = segment.batches(
        isolation_level="read_committed" if mode & COMMITTED else "read_uncommitted",
        on_corrupt="raise" if mode & RAISE else wrong.append,
        limits=limits_of(package),
    )
    return [(batch.header, batch.records) for batch in found], wrong


def columns(package, path, mode):
    """Decode a segment to columns. Returns the rows and the problems."""
    wrong = []
    segment = package.log.Segment(path, access="read")
    found = segment.columns(
        isolation_level="read_committed" if mode & COMMITTED else "read_uncommitted",
        on_corrupt="raise" if mode & RAISE else wrong.append,
        chunk_bytes=64 if mode & SMALL else 1 << 20,
        limits=limits_of(package),
    )
    rows = []
    for table in found:
        keys, values = list(table.key), list(table.value)
        stamps = table.timestamp.tolist()
        rows += zip(table.offset.tolist(), stamps, keys, values, strict=True)
    return rows, wrong


def places(package, path, mode):
    """Return looked-up offsets and timestamps, the splits, and the valid regions."""
    segment = package.log.Segment(path, access="read")
    return (
        [segment.seek(offset) for offset in (0, 1, 5, 1 << 40)],
        [segment.seek_timestamp(time) for time in (-1, 0, 1_600_000_000_000)],
        segment.find_splits(100),
        segment.has_holes,
        list(segment.good_regions(limits=limits_of(package))),
    )


def verified(package, root, mode):
    """Verify a data directory.

    Returns the problems, the errors of unreadable partitions, and the start offsets.
    """
    found = package.log.LogDirectory(root, access="read")
    problems = [
        problem
        for partition in found
        for problem in package.log.verify(
            partition,
            deep=bool(mode & DEEP),
            strict_tail=bool(mode & STRICT_TAIL),
            limits=limits_of(package),
        )
    ]
    unreadable = [engines.facts(package, error) for error in found.unreadable]
    return problems, unreadable, [each.start_offset for each in found]


def beside(package, root, mode):
    """Read all files except for segments. Returns a value or an error for each file."""
    log = package.log
    folder = root / "topic-3"
    readers = (
        (log.OffsetIndex, folder / FILES[0]),
        (log.TimeIndex, folder / FILES[1]),
        (log.TransactionIndex, folder / FILES[2]),
        (log.ProducerSnapshot, folder / FILES[3]),
        (log.read_leader_epochs, folder / FILES[4]),
        (log.read_partition_metadata, folder / FILES[5]),
        (log.read_meta_properties, root / ABOVE[0]),
        (log.read_offset_checkpoint, root / ABOVE[1]),
    )
    found = []
    for read, path in readers:
        if not path.exists():
            continue
        try:
            value = read(path)
            entries = getattr(value, "entries", value)
            found.append(list(entries) if entries is not value else entries)
        except package.errors.KwireError as error:
            found.append(engines.facts(package, error))
    return found


def TestOneInput(data):
    """Write the files of one input, read them in all ways, and compare engines."""
    if len(data) < 3:
        return
    root, mode = _written(data), data[1]
    path = root / "topic-3" / f"{BASE}.log"
    engines.agree(headers, path, mode)
    engines.agree(batches, path, mode)
    engines.agree(columns, path, mode)
    engines.agree(places, path, mode)
    engines.agree(verified, root, mode)
    if CUT in data:
        engines.agree(beside, root, mode)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
