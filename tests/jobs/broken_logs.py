# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Data directories with known damage, and the records that are still recoverable.

``Disks`` writes one to three replicas of every partition. ``break_some`` damages files
and records the faults. A batch is recoverable if its bytes are unchanged in one of the
replicas, even if the file was renamed. Offsets and checksums have no influence.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import NamedTuple

from kwire import records

BASE_TIME = 1_700_000_000_000
METADATA = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EPOCH_BYTES = range(12, 16)
"""Positions of the leader epoch's bytes in a batch.

The checksum does not include these bytes, and damage to them does not lose records.
"""
FIELDS = {
    "base offset": (0, 8),
    "length": (8, 4),
    "epoch": (12, 4),
    "last offset delta": (23, 4),
}
"""(position, size) of the header fields that locate a batch, by field name."""


class Batch(NamedTuple):
    """Batch of the original log, before any damage.

    * ``base``: first offset.
    * ``last``: last offset.
    * ``epoch``: leader epoch.
    * ``data``: encoded bytes.
    * ``rows``: records as (offset, key, value, timestamp, headers).
    """

    base: int
    last: int
    epoch: int
    data: bytes
    rows: tuple
    is_control: bool = False


def make_batch(generator, base, count, epoch, *, mark=b"", codec=None, bad=False):
    """Create a batch of ``count`` random records that starts at offset ``base``.

    * ``mark``: bytes at the start of every value, to distinguish replicas.
    * ``codec``: compression, or None for a random one.
    * ``bad``: whether the records are undecodable bytes under a valid checksum.
    """
    rows = []
    for index in range(count):
        key = b"key %d %s" % (base + index, mark) if generator.random() < 0.9 else None
        value = mark + generator.randbytes(generator.randrange(60))
        headers = [("h", b"%d" % index)] if generator.random() < 0.3 else []
        rows.append((key, value, BASE_TIME + base + index, headers))
    codec = codec or generator.choice(CODECS)
    data = records.encode_batch(
        rows, base_offset=base, partition_leader_epoch=epoch, compression=codec
    )
    if bad:
        data = with_nonsense(data)
    rows = tuple(
        (base + index, key, value, timestamp, tuple(headers))
        for index, (key, value, timestamp, headers) in enumerate(rows)
    )
    return Batch(base, base + count - 1, epoch, data, rows)


def set_field(path, position, field, change):
    """Add ``change`` to a header field of the batch at ``position`` in a file.

    The result is reduced to the size of the field.
    """
    start, size = FIELDS[field]
    start += position
    data = bytearray(path.read_bytes())
    value = int.from_bytes(data[start : start + size], "big") + change
    data[start : start + size] = (value % (1 << 8 * size)).to_bytes(size, "big")
    path.write_bytes(data)


def with_nonsense(data):
    """Replace the records of a batch by bytes that cannot be decoded.

    The checksum is recomputed, so that only decoding detects the damage.
    """
    import crc32c

    body = bytearray(data)
    body[61:] = b"\xff" * (len(body) - 61)
    body[17:21] = crc32c.crc32c(bytes(body[21:])).to_bytes(4, "big")
    return bytes(body)


def control_batch(base, epoch):
    """Create a commit marker, which occupies an offset but contains no user record."""
    data = records.encode_batch(
        [(b"\0\0\0\1", b"\0\0\0\0\0\0", BASE_TIME + base)],
        base_offset=base,
        partition_leader_epoch=epoch,
        producer_id=7,
        producer_epoch=0,
        is_transactional=True,
        is_control=True,
    )
    return Batch(base, base, epoch, data, (), True)


def true_log(generator, *, batches, epochs=(0, 3, 4)):
    """Create consecutive batches of an undamaged log.

    The leader epoch changes at random batches. About every tenth batch is a control
    batch.
    """
    log, base = [], 0
    starts = sorted(generator.sample(range(batches // 4, batches), len(epochs) - 1))
    for number in range(batches):
        epoch = epochs[sum(number >= start for start in starts)]
        if generator.random() < 0.1:
            batch = control_batch(base, epoch)
        else:
            batch = make_batch(generator, base, generator.randint(1, 9), epoch)
        log.append(batch)
        base = batch.last + 1
    return log


class File(NamedTuple):
    """Segment file: its path before any renaming, and its original batches."""

    path: Path
    batches: tuple


class Replica:
    """Replica of a partition in one data directory."""

    def __init__(self, folder, batches, starts):
        self.folder = folder
        self.batches = batches
        self.files = []
        folder.mkdir(parents=True)
        for number, start in enumerate(starts):
            stop = starts[number + 1] if number + 1 < len(starts) else len(batches)
            part = tuple(batches[start:stop])
            base = part[0].base if part else batches[-1].last + 1
            path = folder / f"{base:020}.log"
            path.write_bytes(b"".join(batch.data for batch in part))
            self.files.append(File(path, part))
        epochs, last_epoch = [], -1
        for batch in batches:
            if batch.epoch > last_epoch:
                last_epoch = batch.epoch
                epochs.append(f"{last_epoch} {batch.base}")
        text = "\n".join(["0", str(len(epochs)), *epochs, ""])
        (folder / "leader-epoch-checkpoint").write_text(text)
        (folder / "partition.metadata").write_text(METADATA)

    def held(self, moved):
        """Yield the batches whose bytes are unchanged, except for the leader epoch.

        ``moved`` maps the original paths of renamed files to their current paths.
        """
        for file in self.files:
            path = moved.get(file.path, file.path)
            data = path.read_bytes() if path.exists() else b""
            position = 0
            for batch in file.batches:
                stored = data[position : position + len(batch.data)]
                position += len(batch.data)
                if stored[:12] + stored[16:] == batch.data[:12] + batch.data[16:]:
                    yield batch


def segment_starts(generator, batches):
    """Choose where segments start, with at least three batches in every segment.

    Return the indexes of the first batches.
    """
    starts, index = [0], 0
    while True:
        index += generator.randint(3, 12)
        if index > len(batches) - 3:
            return starts
        starts.append(index)


class Disks:
    """Data directories of several brokers, with replicas of the same partitions.

    * ``logs``: original batches by (topic, partition).
    * ``replicas``: replicas by (topic, partition).
    * ``moved``: current path by original path, for renamed files.
    * ``faults``: faults that were applied.
    """

    def __init__(self, root, seed, *, brokers=None, partitions=3):
        self.random = random.Random(seed)
        self.root = Path(root)
        self.brokers = [
            self.root / f"broker-{number}"
            for number in range(brokers or self.random.choice((2, 3)))
        ]
        self.logs = {}
        self.replicas = {}
        self.moved = {}
        self.touched = set()
        self.faults = []
        for number in range(partitions):
            self._write(("orders", number))
        for broker in self.brokers:
            self._checkpoint(broker)

    def _write(self, key):
        log = true_log(self.random, batches=self.random.randint(20, 60))
        self.logs[key] = log
        self.replicas[key] = []
        stale = self.random.random() < 0.4
        for number, broker in enumerate(self.brokers):
            batches = log
            if stale and 0 < number == len(self.brokers) - 1:
                batches = self._diverged(log)
            starts = segment_starts(self.random, batches)
            folder = broker / f"{key[0]}-{key[1]}"
            self.replicas[key].append(Replica(folder, batches, starts))

    def _diverged(self, log):
        """Return the log of a stale leader, which did not notice that it was replaced.

        The log equals ``log`` up to the last epoch change. After it, the stale leader
        appended other batches with its own epoch.
        """
        change = next(
            index for index, batch in enumerate(log) if batch.epoch == log[-1].epoch
        )
        # This replica was the leader until the change, so it has all earlier batches.
        tail, base = [], log[change].base
        for _ in range(self.random.randint(1, 12)):
            count = self.random.randint(1, 9)
            epoch = log[change - 1].epoch
            tail.append(make_batch(self.random, base, count, epoch, mark=b"stale"))
            base += count
        self.faults.append(("stale", base))
        return [*log[:change], *tail]

    def _checkpoint(self, broker):
        """Write the high watermarks of all partitions on a broker.

        The high watermark of a stale replica is 0, so that it confirms no offsets.
        """
        ends = {}
        for key, replicas in self.replicas.items():
            for replica in replicas:
                if replica.folder.parent == broker:
                    is_true = replica.batches is self.logs[key]
                    common = self.logs[key][-1].last + 1
                    ends[key] = common if is_true else 0
        lines = [f"{topic} {number} {end}" for (topic, number), end in ends.items()]
        text = "\n".join(["0", str(len(lines)), *lines, ""])
        (broker / "replication-offset-checkpoint").write_text(text)

    def break_some(self, count):
        """Apply ``count`` random faults to random files."""
        kinds = (
            self.flip,
            self.flip,
            self.flip_in_head,
            self.zero,
            self.cut,
            self.delete,
            self.add_foreign,
            self.swap,
        )
        for _ in range(count):
            self.random.choice(kinds)()

    def _any(self):
        key = self.random.choice(list(self.replicas))
        replica = self.random.choice(self.replicas[key])
        files = [
            file
            for file in replica.files
            if file.path not in self.moved
            and file.path.exists()
            and file.path.stat().st_size > 0
        ]
        return replica, self.random.choice(files) if files else None

    def _change(self, kind, change):
        _, file = self._any()
        if file is None:
            return
        data = bytearray(file.path.read_bytes())
        details = change(data, file)
        file.path.write_bytes(data)
        self.touched.add(file.path)
        self.faults.append((kind, str(file.path), details))

    def flip(self):
        """Flip a random bit at any position in a segment."""

        def change(data, file):
            position = self.random.randrange(len(data))
            data[position] ^= 1 << self.random.randrange(8)
            return position

        self._change("flip", change)

    def flip_in_head(self):
        """Flip a random bit in the header of a random batch."""

        def change(data, file):
            index = self.random.randrange(len(file.batches))
            position = sum(len(batch.data) for batch in file.batches[:index])
            position += self.random.randrange(61)
            if position < len(data):
                data[position] ^= 1 << self.random.randrange(8)
            return position

        self._change("head", change)

    def damage_field(self):
        """Change one field in a batch header, in a file that has no other damage."""
        field, (start, size) = self.random.choice(list(FIELDS.items()))

        def change(data, file):
            # Choose the last batch in half the cases, because only one neighbor can
            # confirm its position.
            last = len(file.batches) - 1
            index = self.random.choice((last, self.random.randint(0, last)))
            position = sum(len(batch.data) for batch in file.batches[:index]) + start
            if file.path in self.touched:
                return None
            value = int.from_bytes(data[position : position + size], "big")
            # A flipped bit may change the value by a small or a large amount.
            other = self.random.choice(
                (
                    value ^ 1 << self.random.randrange(8 * size),
                    value ^ 1 << self.random.randrange(6),
                    value + self.random.randint(-20, 20),
                )
            )
            data[position : position + size] = (other % (1 << 8 * size)).to_bytes(
                size, "big"
            )
            return field, index, value, other

        self._change("field", change)

    def zero(self):
        """Overwrite a random range of a segment with zeros."""

        def change(data, file):
            start = self.random.randrange(len(data))
            end = min(len(data), start + self.random.randint(1, 600))
            data[start:end] = bytes(end - start)
            return start, end

        self._change("zero", change)

    def cut(self):
        """Truncate a segment at a random position.

        It need not be the newest segment.
        """

        def change(data, file):
            size = self.random.randrange(len(data))
            del data[size:]
            return size

        self._change("cut", change)

    def delete(self):
        """Delete a random segment."""
        _, file = self._any()
        if file is not None:
            file.path.unlink()
            self.touched.add(file.path)
            self.faults.append(("delete", str(file.path)))

    def add_foreign(self):
        """Add a file that is not a segment, possibly with the name of a segment."""
        replica, _ = self._any()
        end = replica.batches[-1].last
        name = self.random.choice(
            (f"{self.random.randint(0, 2 * end):020}.log", "notes.txt", "x.log")
        )
        path = replica.folder / name
        if not path.exists() and path not in self.moved.values():
            path.write_bytes(self.random.randbytes(self.random.randrange(2000)))
            self.faults.append(("foreign", str(path)))

    def swap(self):
        """Exchange the names of two segments in a replica.

        Both must be undamaged, because a batch checksum does not include the base
        offset. Nothing confirms a single batch's offset in a file with a wrong name.
        """
        replica, _ = self._any()
        files = [file for file in replica.files if file.path not in self.touched]
        if len(files) < 2:
            return
        one, other = self.random.sample(files, 2)
        first, second = one.path, other.path
        aside = first.with_suffix(".tmp")
        first.rename(aside)
        second.rename(first)
        aside.rename(second)
        self.moved[one.path], self.moved[other.path] = second, first
        self.touched |= {first, second}
        self.faults.append(("swap", str(first), str(second)))

    def expected(self):
        """Return (rows, lost): the recoverable rows and the lost offset ranges.

        Both are dicts by (topic, partition). A range is (first offset, last offset).
        """
        rows, lost = {}, {}
        for key, log in self.logs.items():
            held = {
                batch
                for replica in self.replicas[key]
                for batch in replica.held(self.moved)
            }
            rows[key] = [row for batch in log if batch in held for row in batch.rows]
            lost[key] = ranges_of(
                offset
                for batch in log
                if batch not in held
                for offset in range(batch.base, batch.last + 1)
            )
        return rows, lost

    def remove(self):
        """Delete all data directories."""
        shutil.rmtree(self.root)


def ranges_of(offsets):
    """Merge ascending offsets into a list of ranges (first, last)."""
    ranges = []
    for offset in sorted(offsets):
        if ranges and offset == ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], offset
        else:
            ranges.append((offset, offset))
    return ranges


def read_table(result, name):
    """Read a table of a job result as a list of dicts."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(result.tables[name]).to_pylist()


def recovered_rows(result):
    """Return the recovered rows by (topic, partition), sorted by offset."""
    rows_by_partition = {}
    for row in read_table(result, "records"):
        headers = tuple(
            (header["key"], header["value"]) for header in row["headers"] or ()
        )
        moment = row["timestamp"]
        timestamp = -1 if moment is None else round(moment.timestamp() * 1000)
        key = row["topic"], row["partition"]
        rows_by_partition.setdefault(key, []).append(
            (row["offset"], row["key"], row["value"], timestamp, headers)
        )
    return {
        key: sorted(rows, key=lambda row: row[0])
        for key, rows in rows_by_partition.items()
    }


def listed_losses(result):
    """Return the offset ranges that are listed as lost, by (topic, partition)."""
    ranges_by_partition = {}
    for row in read_table(result, "lost"):
        key = row["topic"], row["partition"]
        ranges_by_partition.setdefault(key, []).append(
            (row["first_offset"], row["last_offset"])
        )
    return ranges_by_partition
