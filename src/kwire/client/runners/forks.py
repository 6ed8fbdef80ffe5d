# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ForkAware``: objects that a forked child process must not use.

A child process has copies of the sockets of its parent. If both used them, each would
read responses of the other and write into the middle of its requests. Python calls
``note_fork`` in the child immediately after ``os.fork``, so that no call has to compare
process ids. Processes that C code forks without telling Python are not noticed.
"""

from __future__ import annotations

import os
from weakref import WeakSet

from ..errors import UsedAfterFork


class ForkAware:
    """Base of an object that belongs to the process in which it has connected."""

    is_forked = False
    """Whether this process is a child of the process that has connected."""

    def watch_forks(self) -> None:
        """Have ``note_fork`` called in child processes from now on."""
        _watching.add(self)

    def note_fork(self) -> None:
        """Note that this is the child process. It must not touch shared sockets."""
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
    for each in list(_watching):
        each.note_fork()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_forks)
