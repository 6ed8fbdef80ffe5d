# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ForkAware``: objects that a forked child process must not use.

A child process inherits the sockets of its parent. If both processes used them, each
process would read responses to the requests of the other, and their requests would be
mixed on the wire.

Python calls ``note_fork`` in the child immediately after ``os.fork``, so that
operations do not have to compare process ids. A fork by C code that bypasses
``os.fork`` is not detected.
"""

from __future__ import annotations

import os
from weakref import WeakSet

from ..errors import UsedAfterFork


class ForkAware:
    """Base class of an object that is usable only in the process that connected it."""

    is_forked = False
    """Whether this process is a child of the process that has connected."""

    def watch_forks(self) -> None:
        """Register this object, so that child processes call its ``note_fork``."""
        _watching.add(self)

    def note_fork(self) -> None:
        """Mark this object as unusable. Called in the child process after a fork.

        Overrides must not write to sockets, because the parent process uses them.
        """
        self.is_forked = True

    def check_process(self) -> None:
        """Raise ``UsedAfterFork`` in a child of the process that has connected."""
        if self.is_forked:
            raise UsedAfterFork(
                "the client connected before this process was forked, and its"
                " connections belong to the parent; call client.connect or"
                " client.connect_sync in the child process"
            )


_watching: WeakSet[ForkAware] = WeakSet()


def _note_forks() -> None:
    for instance in list(_watching):
        instance.note_fork()


# Windows does not support fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_forks)
