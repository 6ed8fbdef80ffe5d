# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes captures as Parquet files.

A recording is a directory with files named ``frames-<first>-<last>.parquet``, where
both numbers are sequence numbers with at least 12 digits. Every file appears
atomically. Readers skip a file if a larger file contains the same frames, so small
files can be merged while other processes read the directory. ``buffering.py`` decides
when files are written. Functions that need pyarrow import it when they are called.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .._files import create_file, sync_folder
from .._text import format_name
from ..errors import KwireError
from ..messages.arrow_types import load_pyarrow, make_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CAPTURE_TYPES = {
    "recording": "string",
    "connection": "bigint",
    "sequence": "bigint",
    "direction": "string",
    "timestamp": "timestamp",
    "client_address": "string",
    "broker_address": "string",
    "api_key": "int",
    "api_version": "int",
    "correlation_id": "int",
    "client_id": "string",
    "size": "int",
    "frame": "binary",
    "rewritten": "boolean",
}
"""SQL types of the capture columns by name. All columns are nullable."""

CAPTURE_COLUMNS = tuple(CAPTURE_TYPES)

REQUEST, RESPONSE = "request", "response"
"""Values of the column ``direction``."""

_FILE_NAME = re.compile(r"frames-(\d{12,})-(\d{12,})\.parquet")
"""Pattern for capture file names, with the first and the last sequence number."""

_BATCH_BYTES = 4 << 20
"""Approximate uncompressed size in bytes of the batches that readers return."""

_BATCH_ROWS = 10_000
_SEQUENCE = CAPTURE_COLUMNS.index("sequence")
_DICTIONARY_COLUMNS = [
    "recording",
    "direction",
    "client_address",
    "broker_address",
    "client_id",
]
"""Columns with few distinct values, which Parquet stores with dictionary encoding."""


class CaptureError(KwireError, ValueError):
    """A file is not a capture or is damaged. The message names the file and a fix."""


class CaptureFile(NamedTuple):
    """Path of a capture file, and the range of its sequence numbers.

    * ``first``: first sequence number in the file name.
    * ``last``: last sequence number in the file name.

    Both numbers are None if the name has another format, for example because another
    program wrote the file.
    """

    path: str
    first: int | None = None
    last: int | None = None


def capture_schema() -> Any:
    """Return the capture columns as a ``pyarrow.Schema``."""
    load_pyarrow("a capture")
    return make_arrow_schema(CAPTURE_TYPES)


class CaptureWriter:
    """Writes capture files into a new recording directory below ``out``.

    Every method blocks until its file is stored on disk. One thread may call ``write``
    while another thread calls ``merge``, but concurrent calls of the same method are
    not supported.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        """Create the directory with access for its owner only.

        Its name is the recording id, which consists of the UTC time and a random
        suffix. Raises ``OSError`` if the directory cannot be created.
        """
        self._arrow = load_pyarrow("a capture")
        self._schema = capture_schema()
        created_at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.recording = f"{created_at}-{secrets.token_hex(3)}"
        self.folder = Path(out) / self.recording
        new_folders = [self.folder, *(f for f in self.folder.parents if not f.exists())]
        self.folder.mkdir(0o700, parents=True)
        for folder in new_folders:
            sync_folder(folder.parent)

    def write(self, rows: Sequence[tuple[Any, ...]]) -> CaptureFile:
        """Write rows to a new file.

        The rows must be in sequence order and contain every column except
        ``recording``. Raises ``OSError`` if writing fails. In this case the new file
        does not appear in the directory.
        """
        arrow = self._arrow
        names = [arrow.repeat(arrow.scalar(self.recording), len(rows))]
        columns = zip(*rows, strict=True)
        types = self._schema.types[1:]
        arrays = [arrow.array(*pair) for pair in zip(columns, types, strict=True)]
        table = arrow.Table.from_arrays(names + arrays, schema=self._schema)
        sequence = _SEQUENCE - 1
        return self._write_file(
            rows[0][sequence], rows[-1][sequence], lambda out: out.write_table(table)
        )

    def merge(self, files: Sequence[CaptureFile]) -> CaptureFile:
        """Combine neighbouring files into one file and delete the originals.

        The merged file is complete before any small file is deleted. Readers therefore
        find every row exactly once, even if the process is interrupted. Raises
        ``OSError`` if a file cannot be read, written or deleted.
        """

        def copy(out: Any) -> None:
            for file in files:
                out.write_table(self._arrow.parquet.read_table(file.path))

        first, last = files[0].first, files[-1].last
        assert first is not None and last is not None, "only own files are merged"
        merged = self._write_file(first, last, copy)
        for file in files:
            os.unlink(file.path)
        return merged

    def _write_file(
        self, first: int, last: int, fill: Callable[[Any], None]
    ) -> CaptureFile:
        """Create a Parquet file atomically. ``fill`` writes its tables."""
        path = self.folder / f"frames-{first:012}-{last:012}.parquet"
        with (
            create_file(path, replaces=True, mode=0o600) as file,
            self._arrow.parquet.ParquetWriter(
                file,
                self._schema,
                compression="zstd",
                use_dictionary=_DICTIONARY_COLUMNS,
                write_page_checksum=True,
                write_statistics=[n for n in CAPTURE_COLUMNS if n != "frame"],
            ) as out,
        ):
            fill(out)
        return CaptureFile(str(path), first, last)


def list_capture_files(path: str | os.PathLike[str]) -> list[CaptureFile]:
    """List capture files in a directory and its subdirectories, in reading order.

    ``path`` may also be a single file, or an address that pyarrow supports
    (``s3://bucket/captures``). Files are sorted by directory and then by sequence.
    Files with other names come last in their directory, sorted by name. Hidden files
    and directories (prefix ``.`` or ``_``) are skipped, and so are redundant files,
    whose frames are also contained in a larger file.

    Raises ``FileNotFoundError`` if ``path`` does not exist or contains no capture
    files, and ``CaptureError`` if pyarrow does not support the address.
    """
    filesystem, root = _open_filesystem(path)
    info = filesystem.get_file_info([_encode_path(filesystem, root)])[0]
    if info.is_file:
        return [CaptureFile(os.fspath(path))]
    if info.type.name == "NotFound":
        raise FileNotFoundError(2, "no such file or directory", os.fspath(path))
    prefix = query = ""
    if "://" in os.fspath(path):
        address, mark, options = os.fspath(path).partition("?")
        prefix, query = address.rstrip("/").removesuffix(root), mark + options
    files = _list_folder(filesystem, root)
    while _has_gap(files):
        # A gap can appear because files were merged during the listing, so list the
        # directory again. If the second result is the same, the recording itself has a
        # gap.
        second_listing = _list_folder(filesystem, root)
        if second_listing == files:
            break
        files = second_listing
    if not files:
        raise FileNotFoundError(
            2, "no captures in this directory (*.parquet files)", os.fspath(path)
        )
    return [file._replace(path=f"{prefix}{file.path}{query}") for file in files]


def read_captures(
    path: str | os.PathLike[str], columns: Iterable[str] | None = None
) -> Iterator[Any]:
    """Read a capture file or directory in batches of up to 10,000 rows and about 4 MB.

    Rows are ordered by (recording, sequence). Reading is safe while the relay keeps
    writing or merging files: rows that were present before the call are returned
    exactly once.

    * ``path``: as in ``list_capture_files``.
    * ``columns``: names from ``CAPTURE_COLUMNS``. Default: all columns.

    Returns an iterator of ``pyarrow.RecordBatch``. Raises ``FileNotFoundError`` if no
    capture files are found, and ``ValueError`` if a column does not exist. Raises
    ``CaptureError`` if the address is not supported, or, when the iteration reaches the
    file, if a file is not a capture or is damaged.
    """
    names = _check_columns(columns)
    files = list_capture_files(path)
    return (batch for file in files for batch in read_capture_file(file, names))


def read_capture_file(
    file: CaptureFile, columns: Iterable[str] | None = None
) -> Iterator[Any]:
    """Read one file from ``list_capture_files``, even if it has been merged since.

    Columns are returned in the requested order, with ``capture_schema`` types. Raises
    ``CaptureError`` with the file name if the file is not a capture or is damaged, and
    ``FileNotFoundError`` if the file and its merged replacement do not exist.
    """
    names = _check_columns(columns)
    filesystem, path = _open_filesystem(file.path)
    try:
        opened = filesystem.open_input_file(_encode_path(filesystem, path))
    except FileNotFoundError:
        if file.first is None:
            raise
        folder = path.rpartition("/")[0]
        larger = [f for f in _list_folder(filesystem, folder) if _is_contained(file, f)]
        if not larger:
            raise
        path = larger[0].path
        opened = filesystem.open_input_file(_encode_path(filesystem, path))
        first, last = file.first, file.last
        for batch in _read_batches(opened, file.path, [*names, "sequence"]):
            yield _filter_sequences(batch, first, last).select(range(len(names)))
        return
    yield from _read_batches(opened, file.path, names)


def _check_columns(columns: Iterable[str] | None) -> list[str]:
    """Return the requested column names. None requests all columns.

    Raises ``ValueError`` if a column does not exist.
    """
    names = list(CAPTURE_COLUMNS if columns is None else columns)
    for name in names:
        if name not in CAPTURE_TYPES:
            raise ValueError(
                f"a capture has no column {name!r}; it has {', '.join(CAPTURE_COLUMNS)}"
            )
    return names


def _open_filesystem(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """Return the pyarrow file system for a path or address, and the path inside it."""
    load_pyarrow("a capture")
    from pyarrow import fs as files

    text = os.fspath(path)
    if "://" not in text and not text.startswith("file:/"):
        return files.LocalFileSystem(), text
    if text.startswith("s3a://"):
        text = "s3://" + text.removeprefix("s3a://")
    try:
        filesystem: tuple[Any, str] = files.FileSystem.from_uri(text)
    except ValueError as error:
        raise CaptureError(
            f"{os.fspath(path)}: pyarrow cannot open this address ({error}); give a"
            " path, or an address such as s3://bucket/captures"
        ) from None
    return filesystem


def _list_folder(filesystem: Any, root: str) -> list[CaptureFile]:
    """List the capture files below a directory, without hidden and redundant files."""
    folders: dict[str, list[CaptureFile]] = {}
    for path in _iter_files(filesystem, root):
        components = path.removeprefix(root).split("/")
        if not any(component[:1] in (".", "_") for component in components):
            folder, _, name = path.rpartition("/")
            if match := _FILE_NAME.fullmatch(name):
                first, last = map(int, match.groups())
                file = CaptureFile(path, first, last)
            elif name.endswith(".parquet"):
                file = CaptureFile(path)
            else:
                continue
            folders.setdefault(folder, []).append(file)
    return [file for _, files in sorted(folders.items()) for file in _sort_files(files)]


def _encode_path(filesystem: Any, path: str) -> str | bytes:
    """Return a path in the form that pyarrow accepts.

    Local file names may contain invalid UTF-8, so they are passed as bytes.
    """
    return os.fsencode(path) if _is_local(filesystem) else path


def _is_local(filesystem: Any) -> bool:
    return bool(filesystem.type_name == "local")


def _iter_files(filesystem: Any, root: str) -> Iterator[str]:
    """Yield the paths of regular files below a directory, following symbolic links.

    Every directory is visited once, even if several links lead to it. Raises
    ``OSError`` if a directory cannot be listed.
    """
    from pyarrow import fs

    if not _is_local(filesystem):
        for info in filesystem.get_file_info(fs.FileSelector(root, recursive=True)):
            if info.is_file:
                yield info.path
        return
    # Walk local directories with the standard library, because pyarrow does not support
    # file names with bytes outside UTF-8.
    visited = set()
    for folder, subfolders, names in os.walk(
        root, onerror=_raise_error, followlinks=True
    ):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in visited:
            subfolders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path.replace(os.sep, "/")


def _raise_error(error: OSError) -> NoReturn:
    """Error callback for ``os.walk``, which ignores errors by default."""
    raise error


def _sort_files(files: list[CaptureFile]) -> Iterator[CaptureFile]:
    """Yield the capture files from one directory in reading order.

    If several files begin at the same sequence number, the largest file is sorted
    first. Any later file that adds no higher sequence number is redundant and is
    skipped.
    """
    sort_keys = [
        (file.first, -file.last, file)
        for file in files
        if file.first is not None and file.last is not None
    ]
    last_sequence = -1
    for _, last, file in sorted(sort_keys):
        if -last > last_sequence:
            last_sequence = -last
            yield file
    yield from sorted(file for file in files if file.first is None)


def _has_gap(files: list[CaptureFile]) -> bool:
    """Whether sequence numbers are missing between two files in a recording."""
    return any(
        before.last is not None
        and after.first not in (None, 0)
        and before.last + 1 != after.first
        for before, after in pairwise(files)
    )


def _is_contained(file: CaptureFile, larger: CaptureFile) -> bool:
    """Whether a larger file contains the complete sequence range of a file."""
    if None in (file.first, file.last, larger.first, larger.last):
        return False
    return larger.first <= file.first and file.last <= larger.last  # type: ignore[operator]


def _filter_sequences(batch: Any, first: int, last: int | None) -> Any:
    """Select rows by an inclusive sequence range. The sequence is the last column."""
    from pyarrow import compute

    sequence = batch.column(batch.num_columns - 1)
    return batch.filter(
        compute.and_(
            compute.greater_equal(sequence, first), compute.less_equal(sequence, last)
        )
    )


def _read_batches(opened: Any, path: str, names: list[str]) -> Iterator[Any]:
    """Yield the requested columns from an open Parquet file in batches.

    Raises ``CaptureError`` if a column is missing or the file is damaged.
    """
    import pyarrow as arrow

    columns = capture_schema()
    schema = arrow.schema([columns.field(name) for name in names])
    try:
        with arrow.parquet.ParquetFile(opened, page_checksum_verification=True) as file:
            missing = [name for name in names if name not in file.schema_arrow.names]
            if missing:
                raise CaptureError(
                    f"{format_name(path)}: this Parquet file is not a capture: it lacks"
                    f" {', '.join(missing)}; give files of kwire record, or write it"
                    " with kwire.recording.capture_schema()"
                )
            batch_rows = _compute_batch_rows(file.metadata)
            for batch in file.iter_batches(
                batch_rows, columns=list(dict.fromkeys(names))
            ):
                arrays = [batch.column(field.name).cast(field.type) for field in schema]
                yield arrow.RecordBatch.from_arrays(arrays, schema=schema)
    except (arrow.ArrowException, OSError, UnicodeError) as error:
        raise CaptureError(
            f"{format_name(path)}: this file cannot be read as a capture"
            f" ({' '.join(str(error).split()).rstrip('.')}); it may be damaged or"
            " incomplete: copy it again, or remove it"
        ) from error


def _compute_batch_rows(metadata: Any) -> int:
    """Compute the row count for one batch from the average row size in a file."""
    rows: int
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    rows = metadata.num_rows * _BATCH_BYTES // max(1, size)
    return max(1, min(_BATCH_ROWS, rows))
