# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Regular files in, complete files out.

``open_regular`` opens files that were found in a folder. Opening a FIFO waits for a
writer, and reading a device may never end, so it refuses both. Streams that a user
names, such as ``@/dev/stdin``, are opened by the command that reads them.

``create_file`` creates a file that has its name when it is complete, or does not exist.
Until then it is a hidden file in the same folder, ``.<name>.<random>.partial``. If the
process is killed, the hidden file remains, and no reader of kwire opens it.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, BinaryIO

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY"))
"""Opening must not wait, nor make a terminal the one of this process."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFDIR: "a folder",
}

_WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""Error numbers of ``link`` on file systems that have no hard links."""


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


@contextmanager
def create_file(
    path: str | os.PathLike[str], *, replaces: bool = False, mode: int = 0o666
) -> Iterator[BinaryIO]:
    """Open a file that gets its name, synced to disk, when the block has succeeded.

    Raises ``FileExistsError`` at the start, and again at the end, if ``path`` exists,
    unless ``replaces`` is set. Any other failure is an ``OSError`` that names ``path``,
    and no file is left, except where only the folder could not be synced: then the
    complete file stays.
    """
    # Importing pathlib takes longer than a command that writes no file.
    from pathlib import Path

    target = Path(path)
    if not replaces:
        _check_free(target)
    hidden = target.with_name(f".{target.name}.{os.urandom(4).hex()}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with _name_in_errors(target):
            file = io.BufferedWriter(_File(os.open(hidden, flags, mode), target))
        try:
            yield file
            file.flush()
            with _name_in_errors(target):
                os.fsync(file.fileno())
        finally:
            # If it could not write everything, that error has been raised before.
            with suppress(OSError):
                file.close()
        with _name_in_errors(target):
            _give_name(hidden, target, replaces)
    except BaseException:
        with suppress(OSError):
            hidden.unlink()
        raise
    with _name_in_errors(target):
        sync_folder(target.parent)


class _File(io.FileIO):
    """A file whose errors name the target: a block may work on other files as well."""

    def __init__(self, handle: int, target: Path) -> None:
        super().__init__(handle, "wb")
        self._target = target

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        with _name_in_errors(self._target):
            return super().write(data)


@contextmanager
def _name_in_errors(target: Path) -> Iterator[None]:
    """Put the name of the target, not of the hidden file, into an ``OSError``."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def _check_free(target: Path) -> None:
    if os.path.isdir(target):
        raise FileExistsError(
            errno.EEXIST, "is a folder; name a file in it", str(target)
        )
    try:
        mode = os.stat(target).st_mode
    except OSError:
        mode = stat.S_IFREG
    if not stat.S_ISREG(mode):
        # No user should remove /dev/stdout to have a file there.
        kind = name_kind(mode)
        raise FileExistsError(
            errno.EEXIST, f"is {kind}, not a regular file; name a new file", str(target)
        )
    if os.path.lexists(target):
        raise FileExistsError(
            errno.EEXIST, "exists already; remove it or give another name", str(target)
        )


def _give_name(hidden: Path, target: Path, replaces: bool) -> None:
    if replaces:
        os.replace(hidden, target)
        return
    try:
        # Of two writers of one name, a link succeeds for exactly one.
        os.link(hidden, target)
    except OSError as error:
        _check_free(target)
        if error.errno not in _WITHOUT_LINKS:
            raise
        # Without links the later writer replaces the file of the earlier one.
        os.rename(hidden, target)
    else:
        os.unlink(hidden)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a folder, so that new names in it survive a crash of the machine."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        # A folder may be writable but not readable.
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
