# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The output of a job: a folder of Parquet tables and a page, complete or not at all.

``Output`` is the folder, ``open_table`` and ``open_rows`` write one file in it,
``Result`` is what the caller gets. Tasks write files of their own, in whatever process
they run; a task that runs twice writes the same file twice, and each time it appears
complete.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._files import create_file, sync_folder
from ..records.arrow_types import load_pyarrow, make_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

REPORT = "report.html"

_BATCH_ROWS = 8192
"""Rows that a ``RowWriter`` turns into Arrow's memory at once."""

_GROUP_BYTES = 8 * 1024 * 1024
"""About the size of a row group, in Arrow's memory."""


class Result(NamedTuple):
    """The result of a job.

    ``tables`` names each table's folder of Parquet files, ``counts`` its rows;
    ``report`` is the path of the page, ``findings`` the number of what the job looks
    for: breaks, lost ranges, stuck partitions.
    """

    tables: dict[str, str]
    counts: dict[str, int]
    report: str
    findings: int


def make_table(columns: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Make an Arrow table of rows; ``columns`` are as in ``make_arrow_type``."""
    import pyarrow

    return pyarrow.Table.from_pylist(rows, schema=make_arrow_schema(columns))


class TableWriter:
    """Writes batches to a Parquet file; small ones are gathered into row groups.

    ``rows`` counts what was written.
    """

    def __init__(self, parquet: Any) -> None:
        self._parquet = parquet
        self._pending: list[Any] = []
        self._bytes = 0
        self.rows = 0

    def write(self, rows: Any) -> None:
        """Take a ``RecordBatch`` or a ``Table`` of the file's schema."""
        batches = rows.to_batches() if hasattr(rows, "to_batches") else [rows]
        for batch in batches:
            self._pending.append(batch)
            self._bytes += batch.nbytes
            self.rows += batch.num_rows
            if self._bytes >= _GROUP_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write what was gathered as a row group."""
        import pyarrow

        group = pyarrow.Table.from_batches(self._pending, self._parquet.schema)
        if group.num_rows:
            self._parquet.write_table(group)
        self._pending.clear()
        self._bytes = 0


class RowWriter:
    """Writes rows to a Parquet file; ``make_rows`` makes some into a batch or table."""

    def __init__(
        self, writer: TableWriter, make_rows: Callable[[list[Any]], Any]
    ) -> None:
        self._writer = writer
        self._make_rows = make_rows
        self._rows: list[Any] = []

    def write(self, row: Any) -> None:
        """Take one row."""
        self._rows.append(row)
        if len(self._rows) >= _BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Make a batch of the rows that wait."""
        self._writer.write(self._make_rows(self._rows))
        self._rows.clear()


@contextmanager
def open_table(
    path: str | os.PathLike[str], schema: Any, *, compression: str = "zstd"
) -> Iterator[TableWriter]:
    """Open one Parquet file, which appears when the ``with`` block ends well.

    A table without rows is written too, with its schema.
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
    """Open one Parquet file as ``open_table`` does, to write row by row."""
    with open_table(path, schema) as table:
        writer = RowWriter(table, make_rows)
        yield writer
        writer.flush()


class Output:
    """The folder that a job writes; it appears when the ``with`` block ends well.

    Until then everything is in ``<out>.partial-<random>`` beside it, which an exception
    removes. After a kill it stays, and does not disturb the next run.

        with Output(out) as output:
            running.run_tasks(work, tasks_with(output.table_path("records", 0)), ...)
            output.write_table("problems", problems)
            output.write_report(report.html())
        return output.result(findings=0)
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        if "://" in os.fspath(out):
            raise OSError(
                errno.EINVAL,
                "not a folder of this machine; give a local path",
                os.fspath(out),
            )
        self._out = Path(out).absolute()
        # No number of a process: containers that share a disk have the same ones.
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
                "exists already; remove it or give another folder",
                str(self._out),
            )

    @property
    def tables(self) -> dict[str, str]:
        """The final folder of each table."""
        return {name: str(self._out / name) for name in self._names}

    def table_path(self, name: str, task: int = 0) -> str:
        """Return the path for a task's file of a table, and make its folder."""
        if name not in self._names:
            (self._partial / name).mkdir()
            self._names.append(name)
        return str(self._partial / name / f"part-{task:05}.parquet")

    def write_table(self, name: str, table: Any) -> None:
        """Write a table whose rows are all known."""
        with open_table(self.table_path(name), table.schema) as writer:
            writer.write(table)

    def write_report(self, html: str) -> None:
        """Write the page."""
        with create_file(self._partial / REPORT) as file:
            file.write(html.encode())

    def commit(self) -> None:
        """Give the folder its name; the end of the ``with`` block does it."""
        self._check_free()
        folders = [self._partial, *(self._partial / name for name in self._names)]
        for folder in folders:
            # What a killed task has left; on Spark it ran again after that.
            for path in folder.glob(".*.partial"):
                path.unlink()
            sync_folder(folder)
        if self._out.is_dir():
            self._out.rmdir()
        try:
            self._partial.rename(self._out)
        except OSError:
            # Another job was there first.
            self._check_free()
            raise
        sync_folder(self._out.parent)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)
        if isinstance(error, OSError) and self._is_own(error.filename):
            raise OSError(error.errno, error.strerror, str(self._out)) from error

    def _is_own(self, path: object) -> bool:
        """Whether a path is below the hidden folder, which the caller does not know."""
        return isinstance(path, str) and Path(path).is_relative_to(self._partial)

    def result(self, findings: int) -> Result:
        """Make the result of the job; rows are counted from the files."""
        from pyarrow.parquet import read_metadata

        counts = {
            name: sum(read_metadata(path).num_rows for path in Path(folder).iterdir())
            for name, folder in self.tables.items()
        }
        return Result(self.tables, counts, str(self._out / REPORT), findings)
