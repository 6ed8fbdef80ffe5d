# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Paths in object stores, and parallel requests to object stores.

``StoredPath`` has the ``pathlib.Path`` methods that this package uses, so that
segments, indexes and checkpoints are read from disks and stores with the same code.
Stores are accessed with ``pyarrow.fs`` or otherwise with ``fsspec``. These libraries
are imported when the first URI is opened. ``stored_bytes.py`` reads segment data from a
store.
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
"""Windows drive letter at the beginning of a path."""

_STANDARD_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""Standard scheme names for the names that Hadoop uses."""

_ARROW_SCHEMES = {"file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss"}
"""Schemes that ``pyarrow.fs`` supports."""

_MISSING_SIZE = -1
"""Size value for objects that do not exist."""

THREADS = 32
"""Number of parallel requests.

With 50 ms per request, this allows 640 requests per second.
"""


class Status(NamedTuple):
    """File status with the ``os.stat_result`` fields that this package uses."""

    st_size: int


class Reader(Protocol):
    """Open object. ``read`` returns its bytes from ``start`` to ``end``."""

    size: int

    def read(self, start: int, end: int) -> bytes: ...
    def close(self) -> None: ...


class StoredPath:
    """Path to an object or directory in a store, such as ``s3://bucket/logs``.

    ``str`` returns the URI. Options after ``?`` are passed to ``pyarrow.fs``, and are
    kept in all derived paths. The URI may contain a user name before the host, but no
    password, because errors and tables show paths. Instances can be pickled. A path
    from a listing keeps the object size at that time.

    Raises ``ValueError`` if the URI is invalid, and ``OSError`` if it contains a
    secret.
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
        self._root = f"{_STANDARD_SCHEMES.get(scheme, scheme)}://{host}"
        self._options = options or ""
        self._key = key.rstrip("/")
        # Object keys are used unchanged, but file names are percent-encoded as in other
        # URIs.
        if scheme == "file":
            self._key = unquote(self._key)
            # On Windows, paths below a drive must not begin with a slash.
            if drive := _DRIVE.match(self._key):
                self._root += f"/{drive[1]}"
                self._key = self._key[drive.end() :]
        self._folder: StoredPath | None = None
        self._listed: dict[str, int] | None = None
        self._size: int | None = None

    def _make_path(self, key: str) -> StoredPath:
        """Return the path for another key in the same store."""
        path = StoredPath(self._root)
        path._key, path._options = key, self._options
        return path

    def __truediv__(self, name: str) -> StoredPath:
        """Return the path of a file in this directory."""
        path = self._make_path(f"{self._key}/{name}".lstrip("/"))
        if self._listed is not None:
            path._folder = self
            path._size = self._listed.get(name, _MISSING_SIZE)
        return path

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
        """Last path component."""
        return self._key.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Name suffix, beginning with the last dot."""
        return os.path.splitext(self.name)[1]

    @property
    def parent(self) -> StoredPath:
        """Directory that contains the path."""
        return self._folder or self._make_path(self._key.rpartition("/")[0])

    def with_suffix(self, suffix: str) -> StoredPath:
        """Return the path with another suffix."""
        return self.parent / (os.path.splitext(self.name)[0] + suffix)

    def absolute(self) -> StoredPath:
        """Return the path itself, because a URI is always absolute."""
        return self

    def stat(self) -> Status:
        """Return the object size.

        Raises ``FileNotFoundError`` if the object is missing.
        """
        if self._size is None:
            self._size = self.size_now()
        if self._size == _MISSING_SIZE:
            _raise_missing(self)
        return Status(self._size)

    def is_file(self) -> bool:
        """Whether an object with this key exists."""
        if self._size is not None:
            return self._size != _MISSING_SIZE
        with _translate_errors(self):
            return self._open_store().get_info(self._key)[0] == "file"

    def open(self) -> Reader:
        """Open the object for range reads. The caller must close the result."""
        if self._size == _MISSING_SIZE:
            _raise_missing(self)
        with _translate_errors(self):
            return self._open_store().open(self._key, self._size)

    def read_bytes(self, most: int = -1) -> bytes:
        """Read the complete object, or at most its first ``most`` bytes."""
        reader = self.open()
        try:
            end = reader.size if most < 0 else min(most, reader.size)
            return self.read(reader, 0, end)
        finally:
            reader.close()

    def read(self, reader: Reader, start: int, end: int) -> bytes:
        """Read a range of an open object.

        Returns fewer bytes if the object has shrunk.
        """
        with _translate_errors(self):
            try:
                return reader.read(start, end)
            except Exception:
                if self.size_now() > start:
                    raise
                return b""

    def size_now(self) -> int:
        """Request the current size. Raises the same errors as ``stat``."""
        with _translate_errors(self):
            object_type, size = self._open_store().get_info(self._key)
        if object_type != "file":
            _raise_missing(self)
        return size

    def folders(self) -> Iterator[tuple[StoredPath, list[str]]]:
        """Yield this directory and its subdirectories with their object names.

        Directories are sorted. Only one listing is requested, regardless of their
        number. Raises ``FileNotFoundError`` if the directory contains no object.
        """
        with _translate_errors(self):
            objects = self._open_store().list_objects(self._key)
        prefix = f"{self._key}/" if self._key else ""
        objects = [entry for entry in objects if entry[0].startswith(prefix)]
        if not objects:
            _raise_missing(self)
        folders: dict[str, dict[str, int]] = {self._key: {}}
        for key, size in objects:
            folder, _, name = key.rpartition("/")
            ancestor = folder
            while ancestor not in folders:
                folders[ancestor] = {}
                ancestor = ancestor.rpartition("/")[0]
            folders[folder][name] = size
        paths: dict[str, StoredPath] = {}
        for key in sorted(folders):
            path = self._make_path(key)
            path._listed = folders[key]
            path._folder = paths.get(key.rpartition("/")[0])
            paths[key] = path
            yield path, list(folders[key])

    def _open_store(self) -> _Store:
        """Return the client for the store."""
        # A forked process must not share connections with its parent process.
        return _connect(self._root, self._options, os.getpid())


if TYPE_CHECKING:
    Place = Path | StoredPath
    Named = str | os.PathLike[str] | StoredPath


def locate(path: Named) -> Place:
    """Convert a name to a path: ``StoredPath`` for a URI, otherwise ``Path``.

    Raises ``OSError`` if a URI contains a password or another secret.
    """
    if isinstance(path, StoredPath):
        return path
    if isinstance(path, str) and _URI.fullmatch(path):
        return StoredPath(path)
    return Path(path)


def map_requests(
    function: Callable[[Item], Result], items: Iterable[Item], *, is_remote: bool
) -> Iterator[Result]:
    """Call a function for every item. Yields the results in item order.

    If ``is_remote`` is true, up to ``THREADS`` calls run in parallel. Errors are also
    raised in item order, and then all pending calls are cancelled. For local files the
    calls run sequentially: a call takes tens of microseconds, mostly in Python code, so
    threads would be slower.
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
    """Recreate a pickled ``StoredPath`` from its URI and its known size."""
    path = StoredPath(uri)
    path._size = size
    return path


def _raise_missing(path: StoredPath) -> NoReturn:
    """Raise ``FileNotFoundError`` for an object or directory that does not exist."""
    raise FileNotFoundError(errno.ENOENT, "no such object or directory", str(path))


@contextmanager
def _translate_errors(path: StoredPath) -> Iterator[None]:
    """Convert all errors of a store to ``OSError`` with the path."""
    try:
        yield
    except ImportError:
        raise
    except FileNotFoundError:
        _raise_missing(path)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        number = getattr(error, "errno", None) or errno.EIO
        raise OSError(number, reason, str(path)) from error


class _Store(Protocol):
    """Interface to an object store: object type and size, listing, and range reads.

    If the size is already known from a listing, ``open`` does not request it again,
    provided that the client library supports this.
    """

    def get_info(self, key: str) -> tuple[str, int]: ...
    def list_objects(self, key: str) -> list[tuple[str, int]]: ...
    def open(self, key: str, size: int | None) -> Reader: ...


@lru_cache(maxsize=64)
def _connect(root: str, options: str, process: int) -> _Store:
    """Connect to a store. Connections are cached per process."""
    scheme = root.partition(":")[0]
    install = "fsspec and its driver for it"
    if scheme in _ARROW_SCHEMES:
        try:
            from pyarrow.fs import FileSystem

            return _ArrowStore(*FileSystem.from_uri(f"{root}/?{options}".rstrip("?")))
        except ImportError:
            install = "kwire[arrow]"
        except NotImplementedError:  # pyarrow was built without this store
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
    """Object store that is accessed through ``pyarrow.fs``."""

    def __init__(self, system: Any, prefix: str) -> None:
        self._system = system
        self._prefix = prefix.rstrip("/") + "/"

    def get_info(self, key: str) -> tuple[str, int]:
        (info,) = self._system.get_file_info([self._prefix + key])
        return info.type.name.lower(), info.size if info.is_file else _MISSING_SIZE

    def list_objects(self, key: str) -> list[tuple[str, int]]:
        from pyarrow.fs import FileSelector

        folder = (self._prefix + key).rstrip("/") or "/"
        infos = self._system.get_file_info(FileSelector(folder, recursive=True))
        prefix_length = len(self._prefix)
        return [
            (info.path[prefix_length:], info.size) for info in infos if info.is_file
        ]

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
    """Object store that is accessed through ``fsspec``."""

    def __init__(self, system: Any, prefix: str) -> None:
        self._system = system
        self._prefix = prefix.rstrip("/") + "/"

    def get_info(self, key: str) -> tuple[str, int]:
        self._system.invalidate_cache()
        try:
            info = self._system.info(self._prefix + key)
        except FileNotFoundError:
            return "notfound", _MISSING_SIZE
        return info["type"], info["size"] if info["type"] == "file" else _MISSING_SIZE

    def list_objects(self, key: str) -> list[tuple[str, int]]:
        self._system.invalidate_cache()
        infos = self._system.find(self._prefix + key, detail=True)
        prefix_length = len(self._prefix)
        return [
            (path[prefix_length:], info["size"])
            for path, info in infos.items()
            if info["type"] == "file"
        ]

    def open(self, key: str, size: int | None) -> Reader:
        if size is None:
            object_type, size = self.get_info(key)
            if object_type != "file":
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
