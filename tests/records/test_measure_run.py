# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Regular batch runs end at the same byte on both engines.

Segment readers skip the batches in a run, so a run must not contain a byte that a
reader would reject.
"""

import random

import pytest

from tests.log.log_files import batch, messages, module, patched


@pytest.fixture
def run(kwire):
    """Return ``measure_run`` with default arguments.

    It measures from position 0 unless another position is passed.
    """
    measure_run = module(kwire, "records").measure_run

    def measured(data, position=0, **changes):
        options = {"last_start": len(data), "most_bytes": 2**40, "expected": 0}
        return measure_run(data, position, len(data), **(options | changes))

    return measured


PLAIN = [batch(0, 3), batch(3, 2), batch(5, 4)]


def test_measure_run_ends_after_the_ordinary_batches(run):
    """The result for regular batches is (size of all batches, next offset).

    Without any batch, the size is 0.
    """
    assert run(b"".join(PLAIN)) == (sum(map(len, PLAIN)), 9)
    assert run(b"") == (0, 0)


@pytest.mark.parametrize(
    "stranger",
    [
        batch(5, 4, codec="gzip"),
        batch(5, 4, producer=7),
        batch(5, 1, producer=7, control=b"\0\0\0\1"),
        batch(6, 3),
        batch(4, 3),
        messages(5, 2),
        patched(PLAIN[2], 16, "b", 3),
        patched(PLAIN[2], 80, "b", 1),
        patched(PLAIN[2], 8, ">i", 12),
        patched(PLAIN[2], 8, ">i", 2**31 - 1),
        PLAIN[2][:-1],
        PLAIN[2][:20],
        bytes(100),
    ],
    ids=[
        "compressed",
        "transactional",
        "control",
        "gap",
        "overlap",
        "old",
        "magic",
        "checksum",
        "short",
        "long",
        "cut",
        "head",
        "zeros",
    ],
)
def test_measure_run_ends_before_other_entries(run, stranger):
    """A run ends before the first entry that is not a regular batch."""
    data = b"".join((*PLAIN[:2], stranger, batch(9, 1)))
    assert run(data) == (len(PLAIN[0]) + len(PLAIN[1]), 5)


def test_measure_run_verifies_checksums_unless_trusted(run):
    """A wrong checksum ends the run, unless checksums are trusted."""
    data = b"".join((*PLAIN[:2], patched(PLAIN[2], 80, "b", 1)))
    assert run(data, check_crc=False) == (len(data), 9)


def test_the_first_batch_has_to_be_the_expected_one(run):
    """The run is empty if its first batch does not have the expected base offset."""
    assert run(b"".join(PLAIN), expected=1) == (0, 1)
    assert run(batch(2**40, 1), expected=2**40)[1] == 2**40 + 1


def test_measure_run_is_limited_in_bytes(run):
    """A run ends before the batch that would exceed ``most_bytes``."""
    sizes = [len(content) for content in PLAIN]
    data = b"".join(PLAIN)
    assert run(data, most_bytes=sizes[0] + sizes[1]) == (sizes[0] + sizes[1], 5)
    assert run(data, most_bytes=sizes[0] + sizes[1] - 1) == (sizes[0], 3)
    assert run(data, most_bytes=sizes[0] - 1) == (0, 0)


def test_measure_run_includes_batches_that_start_before_the_end(run):
    """``last_start`` limits where batches start, not where they end.

    A batch that starts before this position belongs to the run completely.
    """
    sizes = [len(content) for content in PLAIN]
    data = b"".join(PLAIN)
    assert run(data, last_start=sizes[0]) == (sizes[0], 3)
    assert run(data, last_start=sizes[0] + 1) == (sizes[0] + sizes[1], 5)


def test_offsets_end_where_int64_does(run):
    """A batch with the offset 2^63 - 1 is not part of a run.

    There is no valid next offset after it.
    """
    last = patched(batch(0, 1), 0, ">q", 2**63 - 1)
    assert run(last, expected=2**63 - 1) == (0, 2**63 - 1)


def test_engines_agree_on_any_bytes(twins):
    """Both engines measure the same run for any bytes and start positions.

    The input is valid, modified or truncated.
    """
    chance = random.Random(11)
    data = bytearray(b"".join(PLAIN * 3))
    engines = [module(engine, "records").measure_run for engine in twins]
    for _ in range(3000):
        changed = bytearray(data[: chance.randrange(len(data) + 1)])
        for _ in range(chance.randrange(3)):
            if changed:
                changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        position = chance.choice([0, len(PLAIN[0]), chance.randrange(len(changed) + 1)])
        position = min(position, len(changed))
        options = {
            "last_start": chance.choice([len(changed), chance.randrange(400)]),
            "most_bytes": chance.choice([2**40, chance.randrange(400)]),
            "expected": chance.choice([0, 3, 5]),
            "check_crc": chance.random() < 0.5,
        }
        fast, pure = (e(changed, position, len(changed), **options) for e in engines)
        assert fast == pure


def test_measure_run_rejects_a_position_out_of_range(kwire):
    """A position outside of the input raises ValueError: the caller is wrong."""
    measure_run = module(kwire, "records").measure_run
    options = {"last_start": 9, "most_bytes": 9, "expected": 0}
    for position, end in ((-1, 5), (6, 5), (0, 11)):
        with pytest.raises(ValueError, match="must be 0 to"):
            measure_run(bytes(10), position, end, **options)
