# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that ends at an inaccessible page, and child processes that may crash.

An access beyond the end terminates the process, in release builds too and independently
of the allocator. Such work therefore runs in a child process: a fault fails one test
case, and the failure names the input. ``test_guard_pages.py`` verifies the guard pages.
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
"""Maximum seconds of a child process. An alarm then terminates it."""

NO_ACCESS = 0


def address_of(memory):
    """Return the address of a memory mapping."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def protect(address, size, access):
    """Set the access rights of the pages in a range, whose size is in bytes."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), access) == 0


class Guarded:
    """Memory that ends directly before an inaccessible page."""

    def __init__(self):
        """Map 16 accessible pages, followed by an inaccessible page."""
        self.memory = mmap.mmap(-1, ROOM + PAGE)
        self.address = address_of(self.memory)
        self.view = memoryview(self.memory)
        protect(self.address + ROOM, PAGE, NO_ACCESS)

    def put(self, data):
        """Copy the input so that it ends directly before the guard page.

        Return a view of the copy.
        """
        start = ROOM - len(data)
        self.view[start:ROOM] = data
        return self.view[start:ROOM]


class Window:
    """Input of which only two pages are readable after ``move``."""

    def __init__(self, data):
        """Copy the input. The memory is readable until the first ``move``."""
        self.size = -(-len(data) // PAGE) * PAGE + PAGE
        self.memory = mmap.mmap(-1, self.size)
        self.memory[: len(data)] = data
        self.address = address_of(self.memory)
        self.view = memoryview(self.memory)[: len(data)]

    def move(self, position):
        """Make only the page of ``position`` and the following page readable."""
        protect(self.address, self.size, NO_ACCESS)
        start = position // PAGE * PAGE
        protect(self.address + start, min(2 * PAGE, self.size - start), mmap.PROT_READ)


def fork():
    """Fork without the DeprecationWarning about threads.

    CPython 3.12 and newer warn if any thread exists, and pyarrow's allocator may have
    started a thread. The child processes in tests do not wait for other threads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_child(work, longest_s=LONGEST_S):
    """Run ``work(note)`` in a child process.

    Return its wait status and its last note. ``work`` calls ``note(value)`` to store
    the input that it is about to process. An alarm terminates the child after
    ``longest_s`` seconds.
    """
    note = mmap.mmap(-1, PAGE)

    def write(text):
        note[:] = repr(text).encode()[:PAGE].ljust(PAGE)

    sys.stdout.flush()
    child = fork()
    if child == 0:
        # The parent process reports a crash, so that the child need not print a
        # traceback.
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
    """Run ``work`` in a child process. Fail with its last note if the child fails."""
    status, note = in_child(work, longest_s)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        pytest.fail(f"{name} while reading {note}")
    assert os.WEXITSTATUS(status) == 0, f"an unexpected error: {note}"
