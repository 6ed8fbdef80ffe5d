# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that ends at a page without access, and child processes that may crash.

One byte too far ends the process, in the release build and whatever the allocator
does; so work on guarded memory runs in a child, and a fault is one failed case that
names its input. ``test_guard_pages.py`` shows first that the guard is there.
"""

import ctypes
import faulthandler
import mmap
import os
import signal
import sys

import pytest

PAGE = mmap.PAGESIZE
ROOM = 16 * PAGE
LONGEST_S = 120
"""After which a child has hung."""


class Guarded:
    """Memory whose end is the end of what may be read."""

    def __init__(self):
        """Map some pages, the last of which faults."""
        self.memory = mmap.mmap(-1, ROOM + PAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.view = memoryview(self.memory)
        libc = ctypes.CDLL(None, use_errno=True)
        last = ctypes.c_void_p(self.address + ROOM)
        assert libc.mprotect(last, ctypes.c_size_t(PAGE), 0) == 0

    def put(self, data):
        """Copy input to the very end, and give a view of it."""
        start = ROOM - len(data)
        self.view[start:ROOM] = data
        return self.view[start:ROOM]


def in_child(work, longest_s=LONGEST_S):
    """Run ``work(note)`` in a child process; return how it ended and its last note.

    One that hangs is ended by an alarm.
    """
    note = mmap.mmap(-1, PAGE)

    def write(text):
        note[:] = repr(text).encode()[:PAGE].ljust(PAGE)

    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        # The parent reports faults, and one of them is planned.
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(longest_s)
        try:
            work(write)
        except BaseException as error:
            write((error, note[:].rstrip()))
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return status, note[:].rstrip().decode(errors="replace")


def check(work, longest_s=LONGEST_S):
    """Run ``work`` in a child process and fail with its last note if it ends badly."""
    status, note = in_child(work, longest_s)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        pytest.fail(f"{name} while reading {note}")
    assert os.WEXITSTATUS(status) == 0, f"an unexpected error: {note}"
