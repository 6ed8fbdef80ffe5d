# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs threads that interrupt one another as often as possible."""

import sys
import threading


def together(works, interval=1e-5):
    """Run the functions in one thread each, and raise the first error.

    ``interval`` is the interpreter's switch interval in seconds.
    """
    failures = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    if failures:
        raise failures[0]
