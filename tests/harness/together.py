# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Starts threads that interrupt each other as often as Python allows."""

import sys
import threading


def together(works, interval=1e-5):
    """Run each of some functions in a thread of its own; raise the first failure."""
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
