# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their names when they are whole, or not at all.

Until then they are hidden neighbours, ``.<name>.<random>.partial``, which a kill leaves
behind and which nobody reads. What is in them is the business of those who write.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import contextmanager, suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

_WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""What a file system says that has no links, or will not have this one."""


@contextmanager
def new_file(
    path: str | os.PathLike[str], *, replaces: bool = False, mode: int = 0o666
) -> Iterator[BinaryIO]:
    """Open a file that gets its name, safe on the disk, when the block ends well.

    A file of that name is refused, at once and again at the end, unless this one
    ``replaces`` it: ``FileExistsError``. What cannot be written is an ``OSError`` that
    names ``path``, and leaves nothing behind; only where the name itself does not reach
    the disk does the file stand there, whole.
    """
    target = Path(path)
    if not replaces:
        _check_free(target)
    hidden = target.with_name(f".{target.name}.{os.urandom(4).hex()}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with _named(target):
            file = io.BufferedWriter(_File(os.open(hidden, flags, mode), target))
        try:
            yield file
            file.flush()
            with _named(target):
                os.fsync(file.fileno())
        finally:
            # What it could not write is known by now.
            with suppress(OSError):
                file.close()
        with _named(target):
            _give_name(hidden, target, replaces)
    except BaseException:
        with suppress(OSError):
            hidden.unlink()
        raise
    with _named(target):
        sync_folder(target.parent)


class _File(io.FileIO):
    """A file that names itself in its errors; a block may read other files too."""

    def __init__(self, handle: int, target: Path) -> None:
        super().__init__(handle, "wb")
        self._target = target

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        with _named(self._target):
            return super().write(data)


@contextmanager
def _named(target: Path) -> Iterator[None]:
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
    if os.path.lexists(target):
        raise FileExistsError(
            errno.EEXIST, "exists already; remove it or give another name", str(target)
        )


def _give_name(hidden: Path, target: Path, replaces: bool) -> None:
    if replaces:
        os.replace(hidden, target)
        return
    try:
        # Of two that want the same name, a link lets one have it.
        os.link(hidden, target)
    except OSError as error:
        _check_free(target)
        if error.errno not in _WITHOUT_LINKS:
            raise
        # Here the later one has it.
        os.rename(hidden, target)
    else:
        os.unlink(hidden)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make new names in a folder outlive the machine, where a system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        # Who may write in a folder need not be let to read it.
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
