# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how much processor time calls use, with limits that hold on a busy machine.

Other processes that use the caches make a call slower, but never faster. Therefore the
minimum from several attempts is used, and a call that exceeds its limit is repeated
before the test fails.
"""

import time

TRIES = 8


def take_seconds(call):
    """Call a function and return the processor time in seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start


def least_seconds(call, most):
    """Return the minimum processor time of two calls, in seconds.

    While the minimum exceeds ``most``, the call is repeated up to ``TRIES`` times.
    """
    least = min(take_seconds(call) for _ in range(2))
    for _ in range(TRIES):
        if least <= most:
            break
        least = min(least, take_seconds(call))
    return least


def growth(make_call, few, many, most):
    """Return the time for ``many`` elements divided by the time for ``few``.

    ``make_call(size)`` returns the function to measure. A ratio above ``most`` is
    measured again. If the larger size is 16 times the smaller size, the limit 64
    distinguishes linear from quadratic time even on a busy machine.
    """
    call = make_call(few)
    unit = min(take_seconds(call) for _ in range(3))
    return least_seconds(make_call(many), most * unit) / unit
