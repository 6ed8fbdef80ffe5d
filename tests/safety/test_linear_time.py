# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding time is linear in the size of the input, measured by counting calls.

``python -m benchmarks safety`` measures the time for the same inputs, up to 16 MB.
"""

import itertools
import sys

import pytest

from benchmarks.safety.families import FAMILIES


def work_of(call):
    """Return the number of calls of Python and C functions during ``call``."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


SIZES = (2000, 4000, 8000, 16_000)


@pytest.mark.parametrize("family", FAMILIES)
def test_work_is_linear_in_the_input(twins, family, figure):
    """Double the input needs about double the number of calls, in every family.

    The Python engine is measured, because the compiled engine makes no Python calls.
    Both engines execute the same steps.
    """
    counts = []
    for size in SIZES:
        call = FAMILIES[family](twins.pure, size)
        call()
        counts.append(work_of(call))
    growth = [two / half for half, two in itertools.pairwise(counts)]
    figure("P8", "most work for twice the input", max(growth), most=2.2, unit=" x")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("MetadataResponse", 12),
        ("FetchResponse", 17),
        ("ApiVersionsRequest", 4),
        ("JoinGroupRequest", 9),
    ],
)
def test_a_megabyte_of_bad_varints_is_refused_at_once(kwire, name, version, figure):
    """A megabyte of invalid varints is rejected after its first bytes.

    The function does not read to the end of the input.
    """
    cls = getattr(kwire.messages, name)
    with pytest.raises(kwire.InvalidVarint) as caught:
        kwire.decode(cls, b"\xff" * 2**20, version)
    figure(
        "P8", "where a megabyte of 0xff is refused, byte", caught.value.offset, most=10
    )
