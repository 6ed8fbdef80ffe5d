# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a split segment together return the same as the whole segment.

Batches, problems, their order and the records are compared, for intact and damaged
files, with indexes that are intact, stale, zero or missing.
"""

import random
import struct
import sys
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from tests.log.log_files import Folder, batch, log_of, messages, module

KINDS = ["plain", "compressed", "magic 0", "magic 1", "wrapped", "mixed", "nested"]
INDEXES = ["sound", "stale", "zeros", "truncated", "foreign", "missing"]


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def make_batches(kind, rng):
    """Return 24 consecutive batches of one kind, or of all kinds if it is "mixed".

    In the kind "nested", the record values contain encoded batches.
    """
    batches, offset = [], 0
    for number in range(24):
        count = rng.randrange(1, 6)
        form = KINDS[number % 5] if kind == "mixed" else kind
        if form == "compressed":
            batches.append(batch(offset, count, codec=rng.choice(["gzip", "zstd"])))
        elif form == "nested":
            inner = b"".join(log_of([1] * rng.randrange(1, 5), offset + 1))
            batches.append(batch(offset, count, value=inner))
        elif form == "plain":
            batches.append(batch(offset, count, value=b"v" * rng.randrange(80)))
        else:
            magic = 0 if form == "magic 0" else 1
            codec = "gzip" if form == "wrapped" else "none"
            batches.append(messages(offset, count, magic=magic, codec=codec))
        offset += count
    return batches


def add_damage(data, rng, faults):
    """Return a copy of ``data`` with ``faults`` random faults."""
    for _ in range(faults):
        position = rng.randrange(len(data))
        size = rng.choice([1, 4, 60, 400])
        form = rng.randrange(5)
        if form == 0:
            data[position] ^= 1 << rng.randrange(8)
        elif form == 1:
            data[position : position + size] = rng.randbytes(
                len(data[position : position + size])
            )
        elif form == 2:
            data[position : position + size] = bytes(
                len(data[position : position + size])
            )
        elif form == 3:
            del data[position : position + size]
        else:
            data[position:position] = rng.randbytes(size)
    return data


def write_index(folder, kind, batches, rng):
    entries, position = [], 0
    for data in batches:
        entries.append((int.from_bytes(data[:8], "big"), position))
        position += len(data)
    entries = entries[1::2]
    if kind == "stale":
        entries = [
            (offset, position + rng.randrange(-9, 9)) for offset, position in entries
        ]
    elif kind == "zeros":
        entries = [(0, 0)] * 50
    elif kind == "truncated":
        entries = [*entries[:2], *[(0, 0)] * 50]
    elif kind == "foreign":
        entries = [(offset * 3, position * 2 // 3) for offset, position in entries]
    if kind != "missing":
        folder.beside(0, ".index", ">ii", *entries)


def read_part(segment, start=0, end=None):
    """Return the batch headers and problems in a part of a segment, in order."""
    with segment.open() as file:
        walk_segment = sys.modules[type(segment).__module__].walk_segment
        return list(walk_segment(segment, file, start=start, end=end))


def records_of(segment, start=0, end=None):
    return [
        (record.offset, record.timestamp, record.key, record.value)
        for decoded in segment.batches(start, end, on_corrupt="skip")
        for record in decoded.records
    ]


def assert_cuts_lose_nothing(segment, size):
    """Check that the parts of a segment contain the same as the whole segment.

    ``size`` is the minimum size of a part. Return the number of parts.
    """
    cuts = segment.find_splits(size)
    assert cuts[0] == 0 and list(cuts) == sorted(set(cuts))
    assert all(after - before >= size for before, after in pairwise(cuts))
    spans = list(pairwise([*cuts, None]))
    assert [item for span in spans for item in read_part(segment, *span)] == read_part(
        segment
    )
    assert [r for span in spans for r in records_of(segment, *span)] == records_of(
        segment
    )
    return len(cuts)


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("kind", KINDS)
def test_splits_of_a_sound_segment_lose_no_batch(log, tmp_path, kind, index):
    rng = random.Random(5)
    batches = make_batches(kind, rng)
    folder = Folder(tmp_path / "orders-0")
    path, spans = folder.segment(0, batches)
    write_index(folder, index, batches, rng)
    segment = log.Segment(path)
    longest = max(size for _, size in spans)
    for size in (1, 100, 1000, 3000):
        count = assert_cuts_lose_nothing(segment, size)
        assert count >= segment.size // (size + 2 * longest) - 3, (size, count)
    assert segment.find_splits(segment.size) == (0,)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("cuts")


def assert_damage_changes_nothing(log, root, kind, index, rng, faults, size):
    batches = make_batches(kind, rng)
    folder = Folder(root / "orders-0")
    for old in folder.path.iterdir():
        old.unlink()
    path, _ = folder.segment(0, batches)
    write_index(folder, index, batches, rng)
    path.write_bytes(add_damage(bytearray(b"".join(batches)), rng, faults))
    assert_cuts_lose_nothing(log.Segment(path), size)


@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
@example(seed=306)
@example(seed=1035)
@example(seed=2666)
def test_splits_of_a_damaged_segment_lose_no_batch(kwire, scratch, seed):
    """The parts of a damaged segment together contain the batches of the whole segment.

    One of the fixed seeds has an intact batch directly before a split position.
    """
    rng = random.Random(seed)
    kind, index = rng.choice(KINDS[:-1]), rng.choice(INDEXES)
    faults, size = rng.randrange(9), rng.choice([1, 60, 300, 1000])
    log = module(kwire, "log")
    assert_damage_changes_nothing(log, scratch, kind, index, rng, faults, size)


@pytest.mark.parametrize("seed", range(40))
def test_batches_inside_values_do_not_move_splits(log, scratch, seed):
    """Batches inside of record values are not split positions.

    A search that jumps from header to header may lose its position after damage. It is
    then repeated byte by byte.
    """
    rng = random.Random(seed)
    assert_damage_changes_nothing(log, scratch, "nested", "missing", rng, 5, 300)


def test_damage_between_indexed_splits_has_no_influence(log, tmp_path):
    """If an index exists, damage between the split positions does not move them."""
    folder = Folder(tmp_path / "orders-0")
    batches = log_of([4] * 200)
    path, spans = folder.segment(0, batches)
    entries = [(4 * n, spans[n][0]) for n in range(5, 200, 5)]
    folder.beside(0, ".index", ">ii", *entries)
    cuts = log.Segment(path).find_splits(5000)
    assert set(cuts[1:]) <= {start for start, _ in spans} and len(cuts) > 3
    data = bytearray(path.read_bytes())
    far = [start for start, _ in spans if all(abs(start - cut) > 2000 for cut in cuts)]
    assert len(far) > 10
    for start in far:
        struct.pack_into(">i", data, start + 8, -1)
    path.write_bytes(data)
    assert log.Segment(path).find_splits(5000) == cuts


def test_split_size_below_one_byte_is_rejected(log, tmp_path):
    path, _ = Folder(tmp_path / "orders-0").segment(0, log_of([1]))
    with pytest.raises(ValueError, match="split_bytes must be 1 or more"):
        log.Segment(path).find_splits(0)
