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
import warnings

import pytest

PAGE = mmap.PAGESIZE
ROOM = 16 * PAGE
LONGEST_S = 120
"""After which a child has hung."""

NO_ACCESS = 0


def address_of(memory):
    """Return the address of mapped memory."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def protect(address, size, access):
    """Set what may be done with pages."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), access) == 0


class Guarded:
    """Memory whose end is the end of what may be read."""

    def __init__(self):
        """Map some pages, the last of which faults."""
        self.memory = mmap.mmap(-1, ROOM + PAGE)
        self.address = address_of(self.memory)
        self.view = memoryview(self.memory)
        protect(self.address + ROOM, PAGE, NO_ACCESS)

    def put(self, data):
        """Copy input to the very end, and give a view of it."""
        start = ROOM - len(data)
        self.view[start:ROOM] = data
        return self.view[start:ROOM]


class Window:
    """Input of which only the page of a position and the next may be read."""

    def __init__(self, data):
        """Copy input; all of it may be read until ``move``."""
        self.size = -(-len(data) // PAGE) * PAGE + PAGE
        self.memory = mmap.mmap(-1, self.size)
        self.memory[: len(data)] = data
        self.address = address_of(self.memory)
        self.view = memoryview(self.memory)[: len(data)]

    def move(self, position):
        """Allow reading from the page of ``position`` to the end of the next."""
        protect(self.address, self.size, NO_ACCESS)
        start = position // PAGE * PAGE
        protect(self.address + start, min(2 * PAGE, self.size - start), mmap.PROT_READ)


def fork():
    """Fork, whatever threads a library has: the child of a test waits for none of them.

    CPython 3.12 and newer warn of any thread, and pyarrow's allocator may have one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_child(work, longest_s=LONGEST_S):
    """Run ``work(note)`` in a child process; return how it ended and its last note.

    One that hangs is ended by an alarm.
    """
    note = mmap.mmap(-1, PAGE)

    def write(text):
        note[:] = repr(text).encode()[:PAGE].ljust(PAGE)

    sys.stdout.flush()
    child = fork()
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
