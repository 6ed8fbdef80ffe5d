# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a call's peak memory and the memory that it keeps, with tracemalloc.

tracemalloc counts the allocations in all threads, including threads from pytest and
previous tests. A high value is therefore measured again, because the call itself always
allocates the same amount.

Kept memory is exact: a leak of one object is detected. As in
``tools/prove/references.py``, N calls are compared with 2 N calls, so that single
allocations cancel out. If there is a difference, the measurement is repeated with more
calls, up to two times. A leak increases every time, but a cache does not.
"""

import gc
import tracemalloc

TRIES = 3


def peak_of(call, most):
    """Return the peak of a call's traced allocations in bytes, and the call's result.

    If the peak exceeds ``most``, the call is measured again up to ``TRIES`` times. The
    minimum of these peaks is returned.
    """
    peaks = []
    for _ in range(TRIES):
        gc.freeze()
        gc.collect()  # Also frees the objects that CPython keeps for reuse.
        tracemalloc.start()
        try:
            result = call()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        if peaks[-1] <= most:
            break
    return min(peaks), result


def measure_kept(call, rounds):
    """Call a function ``rounds`` times.

    Return the increase of traced memory between the first and the last call, in bytes.
    """
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(rounds):
        call()
        # The garbage collector clears the free lists of the engines, so that their size
        # is the same before and after.
        gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def measure_left(call, rounds):
    """Return the additional bytes that 2 N calls keep compared with N calls.

    The result is 0 if there is no leak. A difference below one byte per call is not a
    leak, because it is less than the smallest object once in sixteen calls.
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
