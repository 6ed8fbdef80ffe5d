# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Opens regular files for reading, and creates files atomically.

``open_regular`` opens files that were discovered in a directory. It rejects FIFOs and
devices, because opening a FIFO blocks until there is a writer, and a device may never
reach its end. Streams that a user specifies, such as ``@/dev/stdin``, are opened by the
command that reads them.

With ``create_file``, a file either has its name and is complete, or does not exist.
Until it is complete, it is a hidden file in the same directory,
``.<name>.<random>.partial``. If the process is killed, the hidden file remains. kwire
never opens such files.
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
"""Open without blocking, and without making a terminal the controlling terminal."""

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFDIR: "a directory",
}

_WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""Error numbers that ``link`` returns on file systems without hard links."""


class NotRegularFile(FileNotFoundError):
    """The path is a FIFO, socket, device or directory instead of a regular file.

    This is a ``FileNotFoundError``, so that callers handle it like a missing file.
    """

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        text = f"is {name_kind(mode)}, not a regular file"
        super().__init__(errno.ENOENT, text, os.fspath(path))
        self._mode = mode

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return NotRegularFile, (self.filename, self._mode)


def name_kind(mode: int) -> str:
    """Describe the file type in a ``stat`` mode that is not a regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def check_regular(path: str | os.PathLike[str], mode: int) -> None:
    """Raise ``NotRegularFile`` unless the ``stat`` mode specifies a regular file."""
    if not stat.S_ISREG(mode):
        raise NotRegularFile(path, mode)


def open_regular(path: str | os.PathLike[str], *, buffering: int = -1) -> BinaryIO:
    """Open a regular file for binary reading.

    The type is checked before and after opening. If a FIFO or device replaces the file
    in between, it is also rejected, without waiting for it.
    Raises ``NotRegularFile`` if the path is not a regular file, and
    ``FileNotFoundError`` if it does not exist or is a symbolic link that refers to
    itself.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(errno.ENOENT, error.strerror, path) from None
        raise
    check_regular(path, mode)
    return open(path, "rb", buffering=buffering, opener=_open_checked)


def _open_checked(path: str, flags: int) -> int:
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
    """Open a file that receives its name after the block has succeeded.

    Its content is synced to disk before it receives its name.
    Raises ``FileExistsError`` if ``path`` exists, both before and after the block,
    unless ``replaces`` is true. Raises ``OSError`` with ``path`` if any other operation
    fails. No file remains after an error, with one exception: if only the directory
    cannot be synced, the complete file remains.
    """
    # Importing pathlib takes longer than running a command that creates no file.
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
            # If unwritten data remains, ``write`` or ``flush`` has already raised the
            # error.
            with suppress(OSError):
                file.close()
        with _name_in_errors(target):
            _move_to_target(hidden, target, replaces)
    except BaseException:
        with suppress(OSError):
            hidden.unlink()
        raise
    with _name_in_errors(target):
        sync_folder(target.parent)


class _File(io.FileIO):
    """File whose errors contain the target name. A block may use several files."""

    def __init__(self, handle: int, target: Path) -> None:
        super().__init__(handle, "wb")
        self._target = target

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        with _name_in_errors(self._target):
            return super().write(data)


@contextmanager
def _name_in_errors(target: Path) -> Iterator[None]:
    """Replace the hidden file name in an ``OSError`` by the target name."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def _check_free(target: Path) -> None:
    if os.path.isdir(target):
        raise FileExistsError(
            errno.EEXIST, "is a directory; name a file in it", str(target)
        )
    try:
        mode = os.stat(target).st_mode
    except OSError:
        mode = stat.S_IFREG
    if not stat.S_ISREG(mode):
        # Do not suggest to remove the path, because it may be /dev/stdout.
        kind = name_kind(mode)
        raise FileExistsError(
            errno.EEXIST, f"is {kind}, not a regular file; name a new file", str(target)
        )
    if os.path.lexists(target):
        raise FileExistsError(
            errno.EEXIST, "exists already; remove it or give another name", str(target)
        )


def _move_to_target(hidden: Path, target: Path, replaces: bool) -> None:
    if replaces:
        os.replace(hidden, target)
        return
    try:
        # If two writers use the same name concurrently, ``link`` succeeds for only one.
        os.link(hidden, target)
    except OSError as error:
        _check_free(target)
        if error.errno not in _WITHOUT_LINKS:
            raise
        # Without hard links, the later writer replaces the earlier writer's file.
        os.rename(hidden, target)
    else:
        os.unlink(hidden)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a directory, so that new file names survive a system crash."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        # A directory can be writable without being readable.
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
