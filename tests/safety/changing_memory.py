# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Provides memory that another process changes while it is read.

The writer process changes one byte at a time and restores it immediately, as fast as
possible. Most of the input is therefore valid at any time, so that calls do not fail
early. The writer runs until it is killed, or for ``LONGEST_S``. The calls under test
are in ``test_changing_memory.py``.
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
"""Masks that are applied to bytes with XOR, to change texts, varints and sizes."""


class Changing:
    """Memory that two processes share.

    The first page contains the size of the input, and the following pages the input.
    """

    def __init__(self):
        """Map the memory. The context manager ``changed`` starts the writer."""
        self.memory = mmap.mmap(-1, mmap.PAGESIZE + ROOM)
        self.view = memoryview(self.memory)

    def put(self, data):
        """Copy ``data`` to the memory, and return a view of the copy, which changes."""
        end = mmap.PAGESIZE + len(data)
        self.view[:4] = len(data).to_bytes(4, "little")
        self.view[mmap.PAGESIZE : end] = data
        return self.view[mmap.PAGESIZE : end]

    def write(self):
        """Change and restore bytes endlessly."""
        memory, dice = self.memory, random.Random(21)
        spots = [dice.random() for _ in range(4096)]
        while True:
            for change in CHANGES:
                size = int.from_bytes(memory[:4], "little")
                for spot in spots:
                    position = mmap.PAGESIZE + int(spot * size)
                    original = memory[position]
                    changed = original ^ change
                    memory[position] = changed
                    memory[position] = original
                    memory[position] = changed
                    memory[position] = original


@contextmanager
def changed():
    """Yield memory that another process changes until the block ends."""
    changing = Changing()
    writer = fork()
    if writer == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST_S)
        try:
            changing.write()
        finally:
            os._exit(1)
    try:
        yield changing
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)


def check_texts(value):
    """Check that all strings in a value are consistent.

    A ``str`` stores whether it is ASCII. If this flag is wrong, its bytes are invalid,
    and CPython reads beyond its end when the string is encoded.
    """
    if isinstance(value, str):
        raw = value.encode()
        assert value.isascii() == raw.isascii(), ("not the text that it says", raw)
        assert raw.decode() == value
    elif isinstance(value, (list, tuple)):
        for item in value:
            check_texts(item)
