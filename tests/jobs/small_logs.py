# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Small log of 84 records in three segments, with one fault at a known position."""

import os
import random

from tests.jobs.broken_logs import make_batch, true_log


def one_log(tmp_path, brokers=2, batches=30):
    """Write the same undamaged log for several brokers, in three segments."""
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
    """Write segments with ``size`` batches, and checkpoints after all batches."""
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
    """Return the file name and the position of the batch with a base offset."""
    index = next(i for i, batch in enumerate(batches) if batch.base == base)
    first = index - index % 7
    start = sum(len(batch.data) for batch in batches[first:index])
    return f"{batches[first].base:020}.log", start


def flip(folder, batches, base, byte=70):
    """Flip a bit in one batch."""
    name, start = position(batches, base)
    data = bytearray((folder / name).read_bytes())
    data[start + byte] ^= 16
    (folder / name).write_bytes(data)


def cut(folder, batches, base):
    """Truncate a segment within a batch."""
    name, start = position(batches, base)
    os.truncate(folder / name, start + 40)


def delete(folder, batches, base):
    """Delete the segment that contains a batch."""
    (folder / position(batches, base)[0]).unlink()


def zero(folder, batches, base):
    """Overwrite a batch and the next two batches with zeros."""
    name, start = position(batches, base)
    index = next(i for i, batch in enumerate(batches) if batch.base == base)
    size = sum(len(batch.data) for batch in batches[index : index + 3])
    data = bytearray((folder / name).read_bytes())
    data[start : start + size] = bytes(size)
    (folder / name).write_bytes(data)
