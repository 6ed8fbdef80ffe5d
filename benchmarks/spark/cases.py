# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases in Spark: complete jobs whose rows are discarded.

Before the measurement, all decoders must return the same values, and every job must
return the expected number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.spark import inputs
from benchmarks.spark.inputs import LogInput
from benchmarks.spark.sources import (
    SPARK_SCHEMA,
    PeerReader,
    PeerSource,
    ReplayHeaders,
    ReplaySource,
    save,
)

GIB = 1 << 30
SIZES = {"64 MiB": GIB // 16, "256 MiB": GIB // 4, "1 GiB": GIB, "4 GiB": 4 * GIB}
ONE_COLUMN = "value binary"
PEERS = ("aiokafka", "kafka-python")
TASKS = 2

EMPTY = "kafka-log, empty"
LOG, REPLAY = "kafka-log, 8 columns", "replay, 8 columns"
LOG_VALUE, REPLAY_VALUE = "kafka-log, value alone", "replay, value alone"
HEADERS, HEADERS_REPLAY = "read_headers", "replay of read_headers"

_TIMES = {EMPTY: 5, f"{LOG}, 64 MiB": 5, f"{LOG}, 256 MiB": 2}
_FRAME_ROWS = 2_000_000
_FRAMES_AT_ONCE = 10_000


def log_case(size: str) -> str:
    """Return the name of the ``kafka-log`` case with all columns for an input size."""
    return LOG if size == "1 GiB" else f"{LOG}, {size}"


@dataclass(frozen=True)
class Case:
    """Spark job that is measured.

    * ``group``: cases of a group run consecutively in a round.
    * ``rows``, ``size``: rows and bytes of the input.
    * ``table``: function that creates the table of the job.
    * ``times``: number of runs in a round, whose median counts. Short jobs are
      repeated.
    """

    name: str
    group: str
    rows: int
    size: int
    table: Callable[[], Any]
    times: int = 1


def write_logs(folder: Path) -> dict[str, LogInput]:
    """Write logs of all sizes, an empty log, and a small log for the comparison."""
    logs = {
        name: inputs.write_log(
            folder / name.replace(" ", ""), size, partitions=max(1, size // GIB)
        )
        for name, size in SIZES.items()
    }
    logs["empty"] = inputs.write_log(folder / "empty", 0)
    logs["small"] = inputs.write_log(folder / "small", 1)
    return logs


def kafka_log(session: Any, log: LogInput, schema: str = "", **options: str) -> Any:
    """Return the table of a log with the columns of ``schema``.

    By default, it has all eight columns.
    """
    reader = session.read.format("kafka-log").options(**options)
    if schema:
        reader = reader.schema(schema)
    else:
        reader = reader.option("includeHeaders", "true")
    return reader.load(log.path)


def make_reader(log: LogInput, schema: str) -> Any:
    """Return the reader from which Spark obtains the tasks and rows of a log."""
    from pyspark.sql.types import StructType

    from kwire.spark import KafkaLogSource

    options = {"path": log.path, "includeHeaders": "true"}
    return KafkaLogSource(options).reader(StructType.fromDDL(schema))


def _prepare(log: LogInput, schema: str, path: Path) -> dict[str, str]:
    """Return the options of the replay for a log. Writes its first batch to ``path``.

    The replay has the same tasks with the same row counts. Therefore Spark receives
    rows of the same shape in batches of the same size.
    """
    reader = make_reader(log, schema)
    parts = reader.partitions()
    save(next(iter(reader.read(parts[0]))), str(path))
    rows = [
        sum(piece.size for piece in part.value) // log.batch_size * inputs.RECORDS
        for part in parts
    ]
    return {"batch": str(path), "rows": ",".join(map(str, rows))}


def _replay(session: Any, log: LogInput, schema: str, prepared: dict[str, str]) -> Any:
    source = session.read.format("replay").schema(schema)
    return source.options(**prepared).load()


def _peer(session: Any, log: LogInput, peer: str) -> Any:
    source = session.read.format("peer").options(
        peer=peer, segment=log.segment, size=log.size, step=log.batch_size, tasks=TASKS
    )
    return source.load()


def _header_tables(session: Any, folder: Path) -> tuple[int, int, Any, Any]:
    from kwire.spark.functions import read_headers

    rows = inputs.write_frames(folder / "frames", _FRAME_ROWS, 2 * TASKS)
    source = session.read.parquet(str(folder / "frames"))
    decoded = read_headers(source, "frame")
    ready = decoded.limit(_FRAMES_AT_ONCE).toArrow().combine_chunks().to_batches()[0]
    save(ready, str(folder / "headers.arrow"))
    replay = ReplayHeaders(str(folder / "headers.arrow"))
    size = sum(each.stat().st_size for each in (folder / "frames").glob("*.parquet"))
    return rows, size, decoded, source.mapInArrow(replay, decoded.schema)


def make_cases(session: Any, folder: Path, logs: dict[str, LogInput]) -> list[Case]:
    """Return all cases. The files of replays are written to ``folder``."""
    import kwire.spark

    for source in (kwire.spark.KafkaLogSource, ReplaySource, PeerSource):
        session.dataSource.register(source)

    def case(
        name: str, group: str, log: LogInput, make: Callable[..., Any], *rest: Any
    ) -> Case:
        return Case(
            name,
            group,
            log.rows,
            log.size,
            lambda: make(session, log, *rest),
            _TIMES.get(name, 1),
        )

    whole, part = logs["1 GiB"], logs["64 MiB"]
    cases = [
        case(LOG, "columns", whole, kafka_log),
        case(LOG_VALUE, "value", whole, kafka_log, ONE_COLUMN),
        case(EMPTY, "sizes", logs["empty"], kafka_log),
    ]
    cases += [
        case(log_case(name), "sizes", logs[name], kafka_log)
        for name in SIZES
        if log_case(name) != LOG
    ]
    for name, group, schema in (
        (REPLAY, "columns", SPARK_SCHEMA),
        (REPLAY_VALUE, "value", ONE_COLUMN),
    ):
        prepared = _prepare(whole, schema, folder / f"{group}.arrow")
        cases.append(case(name, group, whole, _replay, schema, prepared))
    cases += [case(peer, "peers", part, _peer, peer) for peer in PEERS]
    rows, size, decoded, replay = _header_tables(session, folder)
    cases.append(Case(HEADERS, "headers", rows, size, lambda: decoded))
    cases.append(Case(HEADERS_REPLAY, "headers", rows, size, lambda: replay))
    return cases


def run(case: Case) -> None:
    """Run the job of a case and discard its rows."""
    case.table().write.format("noop").mode("overwrite").save()


def check(cases: Iterable[Case], small: LogInput) -> None:
    """Check that all decoders return the same values, and jobs all of their rows.

    Raises ``SystemExit`` if there is a difference.
    """
    reader = make_reader(small, SPARK_SCHEMA)
    parts = reader.partitions()
    expected = pa.Table.from_batches(
        [batch for part in parts for batch in reader.read(part)]
    )
    assert expected.num_rows == small.rows
    for peer in PEERS:
        others = PeerReader(peer, small.segment, [(0, small.size)], small.batch_size)
        theirs = [b for part in others.partitions() for b in others.read(part)]
        if not pa.Table.from_batches(theirs).equals(expected):
            raise SystemExit(f"{peer} and kwire read different values")
    for case in cases:
        rows = case.table().count()
        if rows != case.rows:
            raise SystemExit(f"{case.name} gives {rows} rows, not {case.rows}")
