# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that another process changes while it is read.

The writer changes one byte at a time and puts it back at once, as fast as it can: most
of the input is right at any time, so that calls get far into it. It runs until it is
ended, or for ``LONGEST_S``. What the calls are is in ``test_changing_memory.py``.
"""

import mmap
import os
import random
import signal
from contextlib import contextmanager

from tests.harness.guard_pages import fork

ROOM = 64 * mmap.PAGESIZE
LONGEST_S = 600
CHANGES = (0x80, 0x01, 0xFF, 0x7F, 0x40, 0x02)
"""What a byte is changed by: bits of text, of varints, of sizes."""


class Changing:
    """Memory that the writer shares; its first page says how much is written to."""

    def __init__(self):
        """Map the memory; the writer begins with ``changed``."""
        self.memory = mmap.mmap(-1, mmap.PAGESIZE + ROOM)
        self.view = memoryview(self.memory)

    def put(self, data):
        """Put input where it is changed from now on, and give a view of it."""
        end = mmap.PAGESIZE + len(data)
        self.view[:4] = len(data).to_bytes(4, "little")
        self.view[mmap.PAGESIZE : end] = data
        return self.view[mmap.PAGESIZE : end]

    def write(self):
        """Change bytes and put them back, without end."""
        memory, dice = self.memory, random.Random(21)
        spots = [dice.random() for _ in range(4096)]
        while True:
            for change in CHANGES:
                size = int.from_bytes(memory[:4], "little")
                for spot in spots:
                    place = mmap.PAGESIZE + int(spot * size)
                    kept = memory[place]
                    changed = kept ^ change
                    memory[place] = changed
                    memory[place] = kept
                    memory[place] = changed
                    memory[place] = kept


@contextmanager
def changed():
    """Yield memory that a process of its own changes."""
    given = Changing()
    writer = fork()
    if writer == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST_S)
        try:
            given.write()
        finally:
            os._exit(1)
    try:
        yield given
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)


def check_texts(value):
    """Look at all strings of a value: each is the text that it says it is.

    A ``str`` keeps whether it is ASCII; one that keeps a lie has bytes that no other
    string has, and CPython reads past its end when it is encoded elsewhere.
    """
    if isinstance(value, str):
        raw = value.encode()
        assert value.isascii() == raw.isascii(), ("not the text that it says", raw)
        assert raw.decode() == value
    elif isinstance(value, (list, tuple)):
        for each in value:
            check_texts(each)
