# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Opens files that were found in a folder, and refuses those that are not regular.

Opening a FIFO waits for a writer, and reading a device may never end. So every file
that a scan of folders finds is opened here. Streams that a user names, such as
``@/dev/stdin``, are opened by the command that reads them.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY"))
"""Opening must not wait, nor make a terminal the one of this process."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFDIR: "a folder",
}


class NotRegularFile(FileNotFoundError):
    """The path is not a regular file but a FIFO, a socket, a device or a folder.

    A ``FileNotFoundError``, so that callers treat it as a missing file.
    """

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        text = f"is {name_kind(mode)}, not a regular file"
        super().__init__(errno.ENOENT, text, os.fspath(path))
        self._mode = mode

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return NotRegularFile, (self.filename, self._mode)


def name_kind(mode: int) -> str:
    """Name what a mode, from ``stat``, is of where it is no regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def check_regular(path: str | os.PathLike[str], mode: int) -> None:
    """Raise ``NotRegularFile`` unless the mode, from ``stat``, is a regular file's."""
    if not stat.S_ISREG(mode):
        raise NotRegularFile(path, mode)


def open_regular(path: str | os.PathLike[str], *, buffering: int = -1) -> BinaryIO:
    """Open a regular file to read its bytes; ``NotRegularFile`` for anything else.

    Checked before and after opening, so that another kind of file that replaces it in
    between is refused too, without waiting for it. A link that leads to itself is a
    ``FileNotFoundError``, as one is that leads nowhere.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(errno.ENOENT, error.strerror, path) from None
        raise
    check_regular(path, mode)
    return open(path, "rb", buffering=buffering, opener=_open)


def _open(path: str, flags: int) -> int:
    handle = os.open(path, flags | _FLAGS)
    try:
        check_regular(path, os.fstat(handle).st_mode)
    except BaseException:
        os.close(handle)
        raise
    return handle
