# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-request-log``: request logs of brokers as a table.

    spark.read.format("kafka-request-log").load("broker-logs/")

The table has one row per request. ``kwire.recording.request_log`` parses the lines.
Large files are split at line ends. Compressed files (gzip) cannot be split.
"""

from __future__ import annotations

import json
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ...recording.request_log import (
    LoggedRequest,
    list_request_logs,
    read_request_log,
    split_request_log,
)
from ...recording.requests import REQUEST_TYPES, Request, requests_batch
from ..short_errors import SparkEntry
from ..topics.option_values import read_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql.types import StructType

    from ...recording.request_log import BadLine

MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")
CORRUPT = "struct<path:string,line:bigint,reason:string,text:string>"

_NAMES = (
    "path",
    "paths",
    "mode",
    "columnNameOfCorruptRecord",
    "maxPartitionBytes",
    "timeZone",
)
_BY_LOWER = {name.lower(): name for name in _NAMES}
_ROWS = 10_000


class RequestLogOptions(NamedTuple):
    """Validated options of a ``kafka-request-log`` reader."""

    paths: tuple[str, ...]
    mode: str
    corrupt_record: str
    names_corrupt_record: bool
    max_partition_bytes: int
    timezone: tzinfo


def read_options(given: Mapping[str, str]) -> RequestLogOptions:
    """Read the options. Raises ``ValueError`` for an unknown name or invalid value."""
    values: dict[str, str] = {}
    for name, text in given.items():
        if name.lower() not in _BY_LOWER:
            raise ValueError(
                f"kafka-request-log has no option {name!r}; use one of"
                f" {', '.join(_NAMES)}"
            )
        values[_BY_LOWER[name.lower()]] = str(text)
    mode = values.get("mode", MODES[0]).upper()
    if mode not in MODES:
        raise ValueError(
            f"mode must be one of {', '.join(MODES)} (got {values['mode']!r:.80})"
        )
    return RequestLogOptions(
        _read_paths(values),
        mode,
        values.get("columnNameOfCorruptRecord", "_corrupt_record"),
        "columnNameOfCorruptRecord" in values,
        read_size(values, "maxPartitionBytes") or 128 << 20,
        _read_timezone(values.get("timeZone", "UTC")),
    )


def _read_paths(values: Mapping[str, str]) -> tuple[str, ...]:
    try:
        paths = json.loads(values.get("paths", "[]"))
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(p, str) for p in paths):
        raise ValueError(
            'paths must be JSON such as ["request.log", "request.log.1.gz"] (got'
            f" {values['paths']!r:.80})"
        )
    if values.get("path"):
        paths = [values["path"], *paths]
    if not paths:
        raise ValueError(
            'kafka-request-log requires a path: .load("kafka-request.log"), or a'
            " directory"
        )
    return tuple(paths)


def _read_timezone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise ValueError(
            f"timeZone must be a name such as UTC or Europe/Berlin (got {name!r:.80})"
        ) from None


class KafkaRequestLogSource(SparkEntry, DataSource):
    """Spark data source ``kafka-request-log``.

    A user-specified schema selects columns. Raises ``ValueError`` for invalid options,
    and in the mode FAILFAST for a line that cannot be parsed.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that users pass to ``spark.read.format``."""
        return "kafka-request-log"

    def schema(self) -> str:
        """Return the schema, with the column of corrupt lines if an option names it."""
        options = read_options(self.options)
        columns = dict(REQUEST_TYPES)
        if options.names_corrupt_record:
            columns[options.corrupt_record] = CORRUPT
        return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader for the schema's columns.

        Raises ``ValueError`` if a column does not exist or has another type.
        """
        options = read_options(self.options)
        known = REQUEST_TYPES | {options.corrupt_record: CORRUPT}
        names = []
        for field in schema.fields:
            kind = field.dataType.simpleString()
            if field.name not in known:
                raise ValueError(
                    f"kafka-request-log has no column {field.name!r}; it has"
                    f" {', '.join(known)}"
                )
            if kind != known[field.name]:
                raise ValueError(
                    f"column {field.name!r} of kafka-request-log must be"
                    f" {known[field.name]} (got {kind})"
                )
            names.append(field.name)
        return RequestLogReader(options, names)


class RequestLogReader(SparkEntry, DataSourceReader):
    """Splits the files on the driver, and reads them in the tasks."""

    def __init__(self, options: RequestLogOptions, names: list[str]) -> None:
        self._options = options
        self._names = names

    def partitions(self) -> Sequence[InputPartition]:
        """Plan the input partitions: list the files and split them."""
        options = self._options
        return [
            InputPartition((log, *piece))
            for path in options.paths
            for log in list_request_logs(path)
            for piece in split_request_log(log, options.max_partition_bytes)
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one byte range of a file as Arrow batches."""
        path, start, end = partition.value
        requests: list[Request] = []
        bad: list[BadLine | None] = []
        options = self._options
        for entry in read_request_log(path, start, end, timezone=options.timezone):
            if isinstance(entry, LoggedRequest):
                requests.append(entry.request)
                bad.append(None)
            elif options.mode == "FAILFAST":
                raise ValueError(
                    f"{entry.path}: line {entry.line}, byte {entry.position}:"
                    f" {entry.reason}; it begins {entry.text[:80]!r}."
                    " mode=PERMISSIVE returns a row for each such line,"
                    " mode=DROPMALFORMED skips it"
                )
            elif options.mode == "PERMISSIVE":
                requests.append(Request())
                bad.append(entry)
            if len(requests) >= _ROWS:
                yield self._make_batch(requests, bad)
                requests, bad = [], []
        if requests:
            yield self._make_batch(requests, bad)

    def _make_batch(self, requests: list[Request], bad: list[BadLine | None]) -> Any:
        import pyarrow as pa

        batch = requests_batch(requests)
        corrupt = self._options.corrupt_record
        if corrupt in self._names:
            text, long = pa.string(), pa.int64()
            names = [("path", text), ("line", long), ("reason", text), ("text", text)]
            rows = [
                None
                if line is None
                else {name: getattr(line, name) for name, _ in names}
                for line in bad
            ]
            batch = batch.append_column(corrupt, pa.array(rows, pa.struct(names)))
        return batch.select(self._names)
