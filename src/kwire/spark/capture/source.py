# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-capture``: recorded traffic as a table with one row per frame.

    spark.read.format("kafka-capture").load("captures/")

``kwire.recording`` lists and reads the files. This module implements Spark's data
source interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ...recording import (
    CAPTURE_TYPES,
    CaptureError,
    list_capture_files,
    read_capture_file,
)
from ..short_errors import SparkEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql.types import StructType

_MODES = ("FAILFAST", "DROPMALFORMED")
_OPTIONS = ("path", "mode")


class KafkaCaptureSource(SparkEntry, DataSource):
    """Spark data source ``kafka-capture``.

    * Option ``path``: a file, or a directory that is searched recursively.
    * Option ``mode``: FAILFAST or DROPMALFORMED. With FAILFAST, the job fails if a file
      is damaged or is not a capture. With DROPMALFORMED, unreadable data is skipped.

    A user-specified schema selects columns. Raises ``ValueError`` for invalid options
    and columns.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that users pass to ``spark.read.format``."""
        return "kafka-capture"

    def schema(self) -> str:
        """Return all columns of a capture, in the notation of Spark schemas."""
        _read_options(self.options)
        return ", ".join(f"{name} {kind}" for name, kind in CAPTURE_TYPES.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Validate the options, and return the reader for a batch query."""
        path, mode = _read_options(self.options)
        return CaptureReader(path, mode, _chosen_columns(schema))


def _read_options(given: Mapping[str, str]) -> tuple[str, str]:
    options = {name.lower(): str(text) for name, text in given.items()}
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(
                f"kafka-capture has no option {name!r}; use one of"
                f" {', '.join(_OPTIONS)}"
            )
    mode = options.get("mode", _MODES[0]).upper()
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)} (got {mode!r:.80})")
    if not options.get("path"):
        raise ValueError(
            'kafka-capture requires a path: .load("captures/"), a directory that'
            " kwire record has written, or a file in it"
        )
    return options["path"], mode


def _chosen_columns(schema: StructType) -> list[str]:
    for field in schema.fields:
        kind = CAPTURE_TYPES.get(field.name)
        if kind is None:
            raise ValueError(
                f"kafka-capture has no column {field.name!r}; it has"
                f" {', '.join(CAPTURE_TYPES)}"
            )
        if field.dataType.simpleString() != kind:
            raise ValueError(
                f"column {field.name} of kafka-capture must be {kind} (got"
                f' {field.dataType.simpleString()}): write schema("{field.name} {kind}'
                '"), and cast the result'
            )
    return list(schema.fieldNames())


class CaptureReader(SparkEntry, DataSourceReader):
    """Lists the files on the driver, and reads each file in one task."""

    def __init__(self, path: str, mode: str, columns: list[str]) -> None:
        self._path = path
        self._mode = mode
        self._columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition per file."""
        return [InputPartition(file) for file in list_capture_files(self._path)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one file as Arrow batches."""
        try:
            yield from read_capture_file(partition.value, self._columns)
        except CaptureError as error:
            if self._mode == "FAILFAST":
                raise CaptureError(
                    f"{error}, or set mode to DROPMALFORMED to skip files that"
                    " cannot be read"
                ) from error
