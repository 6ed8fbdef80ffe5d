# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged logs take linear time, whatever the damaged bytes contain."""

import random

import pytest

from tests.harness.processor_time import growth, least_seconds
from tests.log.log_files import Folder, batch, module


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def test_zeros_are_passed_at_full_speed(tmp_path, log):
    """256 MiB of zeros within a segment are skipped in less than two seconds.

    A file has such a region if it has its full size, but was only partly written.
    """
    size = 256 << 20
    path, spans = Folder(tmp_path / "orders-0").segment(0, [batch(0), batch(3)])
    last = path.read_bytes()[spans[1][0] :]
    with path.open("r+b") as file:
        file.truncate(spans[1][0])
        file.seek(size)
        file.write(last)
    partition = log.LogDirectory(tmp_path)["orders", 0]
    (problem,) = partition.problems()
    assert problem.position + problem.length == size
    assert least_seconds(lambda: list(partition.problems()), most=2) < 2


@pytest.mark.parametrize("kind", ["random", "zeros", "text", "twos"])
def test_a_large_damaged_region_is_passed_quickly(tmp_path, log, kind):
    """One megabyte of damaged bytes is skipped in less than 0.7 seconds."""
    size = 1 << 20
    garbage = {
        "random": random.Random(7).randbytes(size),
        "zeros": bytes(size),
        "text": b"All work and no play makes a dull log. " * (size // 39),
        "twos": b"\0\0\0\0\0\0\0\2" * (size // 8),
    }[kind]
    first, last = batch(0), batch(3)
    Folder(tmp_path / "orders-0").segment(0, [first, garbage, last])
    partition = log.LogDirectory(tmp_path)["orders", 0]
    (problem,) = partition.problems()
    assert (problem.position, problem.length) == (len(first), len(garbage))
    assert least_seconds(lambda: list(partition.problems()), most=0.7) < 0.7


def lookalike(offset, size):
    """Return a batch header with the length ``size`` and a wrong checksum."""
    return batch(offset, 1)[:8] + size.to_bytes(4, "big") + batch(offset, 1)[12:61]


def test_forged_headers_are_passed_in_linear_time(tmp_path, twins):
    """Many forged headers are skipped in linear time.

    Every header claims that its batch extends to the end of the file. Computing the
    checksum for each header would take quadratic time.
    """
    log = module(twins.fast, "log")

    def make_search(count):
        heads = [
            lookalike(3 + n, 61 * (count - n) + len(batch(3)) - 12)
            for n in range(count)
        ]
        folder = tmp_path / str(count)
        Folder(folder / "orders-0").segment(0, [batch(0), *heads, batch(3)])
        partition = log.LogDirectory(folder)["orders", 0]
        return lambda: list(partition.problems())

    # The input grows by a factor of 16. Linear time grows by 16, quadratic time by 256.
    assert growth(make_search, 2000, 32_000, most=64) < 64
