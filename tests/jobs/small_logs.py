# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Small log of 84 records in three segments, with one fault at a known position."""

import os
import random

from tests.jobs.broken_logs import make_batch, true_log


def one_log(tmp_path, brokers=2, batches=30):
    """Write the same undamaged log for several brokers, in three segments.

    Return the directories and the batches.
    """
    generator = random.Random(7)
    batches = true_log(generator, batches=batches)
    batches = [batch for batch in batches if not batch.is_control][:21]
    renumbered, base = [], 0
    for batch in batches:
        new_batch = make_batch(generator, base, 4, batch.epoch, codec="none")
        renumbered.append(new_batch)
        base = new_batch.last + 1
    folders = [tmp_path / "in" / f"b{number}" / "t-0" for number in range(brokers)]
    for folder in folders:
        write_log(folder, renumbered)
    return folders, renumbered


def write_log(folder, batches, size=7):
    """Write segments with ``size`` batches each, and the checkpoints of the partition.

    The high watermark is the offset after the last batch.
    """
    folder.mkdir(parents=True)
    for start in range(0, len(batches), size):
        part = batches[start : start + size]
        path = folder / f"{part[0].base:020}.log"
        path.write_bytes(b"".join(batch.data for batch in part))
    epochs = sorted({batch.epoch for batch in batches})
    lines = ["0", str(len(epochs))]
    for epoch in epochs:
        first = next(batch for batch in batches if batch.epoch == epoch)
        lines.append(f"{epoch} {first.base}")
    (folder / "leader-epoch-checkpoint").write_text("\n".join(lines) + "\n")
    end = batches[-1].last + 1
    mark = f"0\n1\nt 0 {end}\n"
    (folder.parent / "replication-offset-checkpoint").write_text(mark)


def position(batches, base):
    """Return (file name, position in the file) of the batch with this base offset."""
    index = next(i for i, batch in enumerate(batches) if batch.base == base)
    first = index - index % 7
    start = sum(len(batch.data) for batch in batches[first:index])
    return f"{batches[first].base:020}.log", start


def flip(folder, batches, base, byte=70):
    """Flip one bit of a batch.

    ``byte`` is the position of the bit's byte in the batch.
    """
    name, start = position(batches, base)
    data = bytearray((folder / name).read_bytes())
    data[start + byte] ^= 16
    (folder / name).write_bytes(data)


def cut(folder, batches, base):
    """Truncate a segment within the batch that has the base offset ``base``."""
    name, start = position(batches, base)
    os.truncate(folder / name, start + 40)


def delete(folder, batches, base):
    """Delete the segment that contains the batch at offset ``base``."""
    (folder / position(batches, base)[0]).unlink()


def zero(folder, batches, base):
    """Overwrite the batch at offset ``base`` and the next two batches with zeros."""
    name, start = position(batches, base)
    index = next(i for i, batch in enumerate(batches) if batch.base == base)
    size = sum(len(batch.data) for batch in batches[index : index + 3])
    data = bytearray((folder / name).read_bytes())
    data[start : start + size] = bytes(size)
    (folder / name).write_bytes(data)
