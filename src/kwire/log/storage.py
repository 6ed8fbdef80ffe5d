# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Paths in object stores, and requests to these stores, several at once.

``StoredPath`` has the methods of ``pathlib.Path`` that logs use, so that segments,
indexes and checkpoints are read in one way from disks and stores. Stores are those of
``pyarrow.fs``, or else of ``fsspec``; both are imported on the first URI only.
``stored_bytes.py`` reads the bytes of a segment from a store.
"""

from __future__ import annotations

import errno
import os
import re
from collections import deque
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeVar
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    Item = TypeVar("Item")
    Result = TypeVar("Result")

_URI = re.compile(r"(?s)([A-Za-z][A-Za-z0-9+.-]+)://([^/?]*)/*([^?]*)(?:\?(.*))?")

_DRIVE = re.compile(r"([A-Za-z]:)(?:/+|$)")

_SAME = {"s3a": "s3", "s3n": "s3"}
"""Names that Hadoop has for a store, and the one that everybody else has."""

_ARROW = {"file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss"}
"""The stores that ``pyarrow.fs`` knows."""

_MISSING = -1
"""The size of what is not there."""

THREADS = 32
"""Calls at once: a store that takes 50 ms for a request answers 640 in a second."""


class Status(NamedTuple):
    """The part of ``os.stat_result`` that logs use."""

    st_size: int


class Reader(Protocol):
    """An open object: its size, and its bytes from ``start`` to ``end``."""

    size: int

    def read(self, start: int, end: int) -> bytes: ...
    def close(self) -> None: ...


class StoredPath:
    """The path of an object or folder in a store: a URI such as ``s3://bucket/logs``.

    ``str`` gives the URI. Options after ``?`` go to ``pyarrow.fs`` and stay with every
    path below. A user name may be in front of the host, a password may not: paths are
    shown in errors and tables. Instances can be pickled. A path that comes from a
    listing knows its size, as it was then.
    """

    __slots__ = ("_folder", "_key", "_listed", "_options", "_root", "_size")

    def __init__(self, uri: str) -> None:
        match = _URI.fullmatch(uri)
        if match is None:
            raise ValueError(
                f"a URI must have a scheme, :// and a path (got {uri!r:.100})"
            )
        scheme, host, key, options = match.groups()
        scheme = scheme.lower()
        if ":" in host.rpartition("@")[0] or "secret" in (options or ""):
            raise OSError(
                errno.EINVAL,
                "a path cannot contain a secret, because errors and tables show paths;"
                " set it in the environment, as the store documents it",
                f"{scheme}://...",
            )
        self._root = f"{_SAME.get(scheme, scheme)}://{host}"
        self._options = options or ""
        self._key = key.rstrip("/")
        # Keys of stores stand as they are, names of files as in every URI.
        if scheme == "file":
            self._key = unquote(self._key)
            # Below a drive of Windows there is no path that begins with a slash.
            if drive := _DRIVE.match(self._key):
                self._root += f"/{drive[1]}"
                self._key = self._key[drive.end() :]
        self._folder: StoredPath | None = None
        self._listed: dict[str, int] | None = None
        self._size: int | None = None

    def _other(self, key: str) -> StoredPath:
        made = StoredPath(self._root)
        made._key, made._options = key, self._options
        return made

    def __truediv__(self, name: str) -> StoredPath:
        """Return the path of a name below this one."""
        made = self._other(f"{self._key}/{name}".lstrip("/"))
        if self._listed is not None:
            made._folder = self
            made._size = self._listed.get(name, _MISSING)
        return made

    def __str__(self) -> str:
        options = f"?{self._options}" if self._options else ""
        key = quote(self._key) if self._root.startswith("file:") else self._key
        return f"{self._root}/{key}{options}"

    def __repr__(self) -> str:
        return f"StoredPath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredPath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_path, (str(self), self._size)

    @property
    def name(self) -> str:
        """The text after the last slash."""
        return self._key.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot on."""
        return os.path.splitext(self.name)[1]

    @property
    def parent(self) -> StoredPath:
        """The folder that contains it."""
        return self._folder or self._other(self._key.rpartition("/")[0])

    def with_suffix(self, suffix: str) -> StoredPath:
        """Return the path with another suffix."""
        return self.parent / (os.path.splitext(self.name)[0] + suffix)

    def absolute(self) -> StoredPath:
        """Return itself: a URI is absolute."""
        return self

    def stat(self) -> Status:
        """Return the size; ``FileNotFoundError`` if there is no such object."""
        if self._size is None:
            self._size = self.size_now()
        if self._size == _MISSING:
            _refuse_missing(self)
        return Status(self._size)

    def is_file(self) -> bool:
        """Whether there is an object of that name."""
        if self._size is not None:
            return self._size != _MISSING
        with _translate_errors(self):
            return self._store().look(self._key)[0] == "file"

    def open(self) -> Reader:
        """Open the object for reading ranges; to be closed."""
        if self._size == _MISSING:
            _refuse_missing(self)
        with _translate_errors(self):
            return self._store().open(self._key, self._size)

    def read_bytes(self, most: int = -1) -> bytes:
        """Read the object, or its first bytes."""
        reader = self.open()
        try:
            end = reader.size if most < 0 else min(most, reader.size)
            return self.read(reader, 0, end)
        finally:
            reader.close()

    def read(self, reader: Reader, start: int, end: int) -> bytes:
        """Read a range of the open object; less if it has become shorter since."""
        with _translate_errors(self):
            try:
                return reader.read(start, end)
            except Exception:
                if self.size_now() > start:
                    raise
                return b""

    def size_now(self) -> int:
        """Request the size again; errors are those of ``stat``."""
        with _translate_errors(self):
            kind, size = self._store().look(self._key)
        if kind != "file":
            _refuse_missing(self)
        return size

    def folders(self) -> Iterator[tuple[StoredPath, list[str]]]:
        """Iterate over the folders below and the names of their objects, in order.

        One listing, however many folders there are.
        """
        with _translate_errors(self):
            found = self._store().below(self._key)
        begin = f"{self._key}/" if self._key else ""
        found = [each for each in found if each[0].startswith(begin)]
        if not found:
            _refuse_missing(self)
        folders: dict[str, dict[str, int]] = {self._key: {}}
        for key, size in found:
            folder, _, name = key.rpartition("/")
            above = folder
            while above not in folders:
                folders[above] = {}
                above = above.rpartition("/")[0]
            folders[folder][name] = size
        made: dict[str, StoredPath] = {}
        for key in sorted(folders):
            path = self._other(key)
            path._listed = folders[key]
            path._folder = made.get(key.rpartition("/")[0])
            made[key] = path
            yield path, list(folders[key])

    def _store(self) -> _Store:
        # A process that was forked has to connect by itself.
        return _connect(self._root, self._options, os.getpid())


if TYPE_CHECKING:
    Place = Path | StoredPath
    Named = str | os.PathLike[str] | StoredPath


def locate(path: Named) -> Place:
    """Make a path of a name: a ``StoredPath`` of a URI, otherwise a ``Path``."""
    if isinstance(path, StoredPath):
        return path
    if isinstance(path, str) and _URI.fullmatch(path):
        return StoredPath(path)
    return Path(path)


def map_requests(
    function: Callable[[Item], Result], items: Iterable[Item], *, is_remote: bool
) -> Iterator[Result]:
    """Call a function for each item, and yield the results in the order of the items.

    If ``is_remote``, up to ``THREADS`` calls run at once. The error of a call is raised
    in its turn; then calls that have not begun are dropped. On a disk there is one call
    at a time: it takes tens of microseconds, most of them in Python, and threads would
    make it slower.
    """
    if not is_remote:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(THREADS, "kwire-requests")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) == 4 * THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _restore_path(uri: str, size: int | None) -> StoredPath:
    path = StoredPath(uri)
    path._size = size
    return path


def _refuse_missing(path: StoredPath) -> NoReturn:
    raise FileNotFoundError(errno.ENOENT, "no such object or folder", str(path))


@contextmanager
def _translate_errors(path: StoredPath) -> Iterator[None]:
    """Turn whatever a store raises into an ``OSError`` that names the path."""
    try:
        yield
    except ImportError:
        raise
    except FileNotFoundError:
        _refuse_missing(path)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        number = getattr(error, "errno", None) or errno.EIO
        raise OSError(number, reason, str(path)) from error


class _Store(Protocol):
    """A store: what is at a key, what is below it, and its bytes.

    A size that is known from a listing saves the request for it, where the client of
    the store lets it.
    """

    def look(self, key: str) -> tuple[str, int]: ...
    def below(self, key: str) -> list[tuple[str, int]]: ...
    def open(self, key: str, size: int | None) -> Reader: ...


@lru_cache(maxsize=64)
def _connect(root: str, options: str, process: int) -> _Store:
    """Connect to a store; once for each process."""
    scheme = root.partition(":")[0]
    install = "fsspec and its driver for it"
    if scheme in _ARROW:
        try:
            from pyarrow.fs import FileSystem

            return _ArrowStore(*FileSystem.from_uri(f"{root}/?{options}".rstrip("?")))
        except ImportError:
            install = "kwire[arrow]"
        except NotImplementedError:  # a pyarrow that was built without this store
            pass
    if options:
        raise ValueError(
            f"options after ? require a store of pyarrow (got {scheme}://)"
        )
    try:
        from fsspec.core import url_to_fs

        return _FsspecStore(*url_to_fs(root))
    except ImportError as error:
        raise ImportError(
            f"{scheme}:// cannot be read here: pip install {install} ({error})"
        ) from error


class _ArrowStore:
    def __init__(self, system: Any, prefix: str) -> None:
        self._system = system
        self._prefix = prefix.rstrip("/") + "/"

    def look(self, key: str) -> tuple[str, int]:
        (info,) = self._system.get_file_info([self._prefix + key])
        return info.type.name.lower(), info.size if info.is_file else _MISSING

    def below(self, key: str) -> list[tuple[str, int]]:
        from pyarrow.fs import FileSelector

        place = (self._prefix + key).rstrip("/") or "/"
        found = self._system.get_file_info(FileSelector(place, recursive=True))
        begin = len(self._prefix)
        return [(info.path[begin:], info.size) for info in found if info.is_file]

    def open(self, key: str, size: int | None) -> Reader:
        return _ArrowReader(self._system.open_input_file(self._prefix + key))


class _ArrowReader:
    def __init__(self, file: Any) -> None:
        self._file = file
        self.size: int = file.size()

    def read(self, start: int, end: int) -> bytes:
        data: bytes = self._file.read_at(end - start, start)
        return data

    def close(self) -> None:
        self._file.close()


class _FsspecStore:
    def __init__(self, system: Any, prefix: str) -> None:
        self._system = system
        self._prefix = prefix.rstrip("/") + "/"

    def look(self, key: str) -> tuple[str, int]:
        self._system.invalidate_cache()
        try:
            info = self._system.info(self._prefix + key)
        except FileNotFoundError:
            return "notfound", _MISSING
        return info["type"], info["size"] if info["type"] == "file" else _MISSING

    def below(self, key: str) -> list[tuple[str, int]]:
        self._system.invalidate_cache()
        found = self._system.find(self._prefix + key, detail=True)
        begin = len(self._prefix)
        return [
            (path[begin:], info["size"])
            for path, info in found.items()
            if info["type"] == "file"
        ]

    def open(self, key: str, size: int | None) -> Reader:
        if size is None:
            kind, size = self.look(key)
            if kind != "file":
                raise FileNotFoundError(key)
        return _FsspecReader(self._system, self._prefix + key, size)


class _FsspecReader:
    def __init__(self, system: Any, path: str, size: int) -> None:
        self._system = system
        self._path = path
        self.size = size

    def read(self, start: int, end: int) -> bytes:
        data: bytes = self._system.cat_file(self._path, start=start, end=end)
        return data

    def close(self) -> None: ...
