# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Opening files that were found in a folder: regular files, and nothing else.

Opening a FIFO waits for a writer, reading a device may never end, and opening one may
do something. So whatever a scan of folders leads to is opened here. What a user names
as a stream, such as ``@/dev/stdin``, is opened by those who read it.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY"))
"""Nothing may wait, and no terminal may become that of this process."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFDIR: "a folder",
}


class NotRegularFile(FileNotFoundError):
    """What has the name of a file is none: a FIFO, a socket, a device, a folder.

    As no file is there, it is a ``FileNotFoundError`` and treated like one.
    """

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        text = f"is {kind}, not a regular file"
        super().__init__(errno.ENOENT, text, os.fspath(path))
        self._mode = mode

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return NotRegularFile, (self.filename, self._mode)


def check_regular(path: str | os.PathLike[str], mode: int) -> None:
    """Raise ``NotRegularFile`` unless the mode, from ``stat``, is a regular file's."""
    if not stat.S_ISREG(mode):
        raise NotRegularFile(path, mode)


def open_regular(path: str | os.PathLike[str], *, buffering: int = -1) -> BinaryIO:
    """Open a regular file to read its bytes; ``NotRegularFile`` for anything else.

    Looked at before and after opening: what replaces the file between the two is
    refused as well, without waiting for it. A link that leads to itself is a
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
