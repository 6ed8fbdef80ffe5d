# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures with tracemalloc what a call takes at its peak, and what it leaves.

It counts for all threads: pytest's own, and those that another test has left. What
they had a part in is measured again; a call that takes or leaves something does so
each time.

What is left is exact: none is none, and not less than an object. As
``tools/prove/references.py`` counts references: N calls and then 2 N, so that what is
kept once falls out of the difference. Where there is one, it is done again with more
calls, and once more: a cache that fills or is emptied is no leak; a leak grows each
time.
"""

import gc
import tracemalloc

TRIES = 3


def peak_of(call, most):
    """Return the most bytes that a call has at once, and its result.

    More than ``most`` is too many, and measured again; the least is the call's own.
    """
    peaks = []
    for _ in range(TRIES):
        gc.freeze()
        gc.collect()  # which lets go of the objects that CPython keeps for later
        tracemalloc.start()
        try:
            kept = call()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        if peaks[-1] <= most:
            break
    return min(peaks), kept


def measure_kept(call, rounds):
    """Call many times; give the bytes that are traced now and were not before."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(rounds):
        call()
        # What engines keep of freed objects for the next ones is then the same.
        gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def measure_left(call, rounds):
    """Return how many more bytes 2 N calls leave than N calls; 0 is no leak.

    Less than a byte for a call is none: the least object, left once in sixteen calls.
    """
    more = 0
    tracemalloc.start()
    try:
        for _ in range(TRIES):
            measure_kept(call, 3)
            more = -measure_kept(call, rounds) + measure_kept(call, 2 * rounds)
            if more < rounds:
                return 0
            rounds *= 4
    finally:
        tracemalloc.stop()
    return more
