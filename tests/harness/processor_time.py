# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the processor time of calls, for bounds that hold on a busy machine too.

A call takes longer while others use the caches, never shorter. So the least of some
tries counts, and what is over its bound is tried again before it fails.
"""

import time

TRIES = 8


def take_seconds(call):
    """Call something; return the seconds of the processor that it took."""
    start = time.process_time()
    call()
    return time.process_time() - start


def least_seconds(call, most):
    """Return the least seconds of a few calls, of more while it is over ``most``."""
    least = min(take_seconds(call) for _ in range(2))
    for _ in range(TRIES):
        if least <= most:
            break
        least = min(least, take_seconds(call))
    return least


def growth(make_call, few, many, most):
    """Return how many times as long a call on ``many`` takes as one on ``few``.

    ``make_call`` makes the call for a size. Sizes that differ by 16 and a bound of 64
    tell linear from quadratic, whatever else the processor does.
    """
    call = make_call(few)
    unit = min(take_seconds(call) for _ in range(3))
    return least_seconds(make_call(many), most * unit) / unit
