# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Output directory of a job: Parquet tables and an HTML report.

``Output`` creates the directory. ``open_table`` and ``open_rows`` write a single
Parquet file. ``Result`` describes the output to the caller.

Every task writes its own files, possibly in another process. Files appear atomically
when they are complete. If Spark repeats a task, the second attempt replaces the files
of the first attempt.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._files import create_file, sync_folder
from ..messages.arrow_types import load_pyarrow, make_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

REPORT = "report.html"

_MAX_BATCH_ROWS = 8192
"""Maximum number of rows that ``RowWriter`` collects before it converts them to an
Arrow batch, so that only these rows are in memory as Python objects.
"""

_ROW_GROUP_BYTES = 8 * 1024 * 1024
"""Size of the pending Arrow batches in bytes from which they are written as a row
group.
"""


class Result(NamedTuple):
    """Result of a job.

    * ``tables``: directories of Parquet files, by table name.
    * ``counts``: number of rows, by table name.
    * ``report``: path of the HTML report.
    * ``findings``: number of problems that the job searches for, for example breaking
      clients, lost ranges or stuck partitions.
    """

    tables: dict[str, str]
    counts: dict[str, int]
    report: str
    findings: int


def make_table(columns: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Convert rows to an Arrow table.

    ``columns`` contains the types by column name, as for ``make_arrow_type``.
    """
    import pyarrow

    return pyarrow.Table.from_pylist(rows, schema=make_arrow_schema(columns))


class TableWriter:
    """Writes Arrow batches to a Parquet file.

    Small batches are combined to row groups. ``rows`` is the number of written rows.
    """

    def __init__(self, parquet: Any) -> None:
        self._parquet = parquet
        self._pending: list[Any] = []
        self._bytes = 0
        self.rows = 0

    def write(self, rows: Any) -> None:
        """Write a ``RecordBatch`` or a ``Table`` with the file's schema."""
        batches = rows.to_batches() if hasattr(rows, "to_batches") else [rows]
        for batch in batches:
            self._pending.append(batch)
            self._bytes += batch.nbytes
            self.rows += batch.num_rows
            if self._bytes >= _ROW_GROUP_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write all pending batches as a row group."""
        import pyarrow

        group = pyarrow.Table.from_batches(self._pending, self._parquet.schema)
        if group.num_rows:
            self._parquet.write_table(group)
        self._pending.clear()
        self._bytes = 0


class RowWriter:
    """Writes individual rows to a Parquet file.

    ``make_rows`` converts a list of rows to an Arrow batch or table.
    """

    def __init__(
        self, writer: TableWriter, make_rows: Callable[[list[Any]], Any]
    ) -> None:
        self._writer = writer
        self._make_rows = make_rows
        self._rows: list[Any] = []

    def write(self, row: Any) -> None:
        """Add a row. Rows are written in batches of ``_MAX_BATCH_ROWS``."""
        self._rows.append(row)
        if len(self._rows) >= _MAX_BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows that have been added since the last call, as one batch."""
        self._writer.write(self._make_rows(self._rows))
        self._rows.clear()


@contextmanager
def open_table(
    path: str | os.PathLike[str], schema: Any, *, compression: str = "zstd"
) -> Iterator[TableWriter]:
    """Create a Parquet file, which appears when the ``with`` block has succeeded.

    A table without rows is created as well, with its schema.
    """
    parquet = load_pyarrow("a job").parquet
    with (
        create_file(path, replaces=True) as file,
        parquet.ParquetWriter(file, schema, compression=compression) as out,
    ):
        writer = TableWriter(out)
        yield writer
        writer.flush()


@contextmanager
def open_rows(
    path: str | os.PathLike[str], schema: Any, make_rows: Callable[[list[Any]], Any]
) -> Iterator[RowWriter]:
    """Create a Parquet file like ``open_table``, and write individual rows to it."""
    with open_table(path, schema) as table:
        writer = RowWriter(table, make_rows)
        yield writer
        writer.flush()


class Output:
    """Output directory of a job, which appears when the ``with`` block has succeeded.

    During the block, all files are in the sibling directory ``<out>.partial-<random>``.
    This directory is removed after an exception. If the process is killed, the
    directory remains, but does not affect later runs.

        with Output(out) as output:
            running.run_tasks(work, tasks_with(output.table_path("records", 0)), ...)
            output.write_table("problems", problems)
            output.write_report(report.html())
        return output.result(findings=0)

    Raises ``OSError`` if ``out`` is a URL, and ``FileExistsError`` if it already exists
    and is not an empty directory.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        if "://" in os.fspath(out):
            raise OSError(
                errno.EINVAL,
                "not a local directory; give a local path",
                os.fspath(out),
            )
        self._out = Path(out).absolute()
        # A process id would not be unique, because containers that share a disk can
        # have equal process ids.
        self._partial = self._out.with_name(
            f"{self._out.name}.partial-{os.urandom(4).hex()}"
        )
        self._names: list[str] = []

    def __enter__(self) -> Self:
        load_pyarrow("a job")
        self._check_free()
        self._out.parent.mkdir(parents=True, exist_ok=True)
        self._partial.mkdir()
        return self

    def _check_free(self) -> None:
        if os.path.lexists(self._out) and (
            not self._out.is_dir() or any(self._out.iterdir())
        ):
            raise FileExistsError(
                errno.EEXIST,
                "exists already; remove it or choose another directory",
                str(self._out),
            )

    @property
    def tables(self) -> dict[str, str]:
        """Final directories of all tables, by table name."""
        return {name: str(self._out / name) for name in self._names}

    def table_path(self, name: str, task: int = 0) -> str:
        """Return the path of a task's Parquet file, and create the table directory."""
        if name not in self._names:
            (self._partial / name).mkdir()
            self._names.append(name)
        return str(self._partial / name / f"part-{task:05}.parquet")

    def write_table(self, name: str, table: Any) -> None:
        """Write a complete table as a single file."""
        with open_table(self.table_path(name), table.schema) as writer:
            writer.write(table)

    def write_report(self, html: str) -> None:
        """Write the HTML report."""
        with create_file(self._partial / REPORT) as file:
            file.write(html.encode())

    def commit(self) -> None:
        """Rename the directory to its final name.

        The ``with`` block calls this method at its end.
        """
        self._check_free()
        folders = [self._partial, *(self._partial / name for name in self._names)]
        for folder in folders:
            # Remove temporary files of killed tasks, which Spark has run again since
            # then.
            for path in folder.glob(".*.partial"):
                path.unlink()
            sync_folder(folder)
        if self._out.is_dir():
            self._out.rmdir()
        try:
            self._partial.rename(self._out)
        except OSError:
            # Another job may have created the same directory in the meantime.
            self._check_free()
            raise
        sync_folder(self._out.parent)

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error_type is None:
                self.commit()
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)
        if isinstance(error, OSError) and self._is_temporary(error.filename):
            raise OSError(error.errno, error.strerror, str(self._out)) from error

    def _is_temporary(self, path: object) -> bool:
        """Return whether a path is in the temporary directory.

        Errors should not mention this directory, because the caller does not know it.
        """
        return isinstance(path, str) and Path(path).is_relative_to(self._partial)

    def result(self, findings: int) -> Result:
        """Return the job's result. Row counts are read from the Parquet files."""
        from pyarrow.parquet import read_metadata

        counts = {
            name: sum(read_metadata(path).num_rows for path in Path(folder).iterdir())
            for name, folder in self.tables.items()
        }
        return Result(self.tables, counts, str(self._out / REPORT), findings)
