# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire ls``: lists partitions in data directories, with offsets and sizes.

For speed on large logs, only both ends of a segment are read: its first batch, and the
batches after the last index entry. Times and formats therefore only describe both ends.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ... import log
from ..._text import format_count, format_name, format_size, format_time_range
from ...errors import DecodeError, KwireError
from ...log.storage import map_requests
from ..input.logs import LogInputs, add_partition_options, list_files, say_unreadable
from ..main import CANNOT, EXIT_CODES, FINE, explain
from ..output.tables import (
    RowFormat,
    clear_unknown,
    format_option,
    open_output,
    write_table,
)
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..output.tables import Output

_TITLES = (" PARTITION", " SEGMENTS", " SIZE", "OFFSETS", "TIME (UTC)", "FORMAT")
_SEGMENT_TITLES = ("SEGMENT", " SIZE", "OFFSETS", "TIME (UTC)", "FORMAT")


class PartitionSummary(NamedTuple):
    """Summary of one or several files, computed from their first and last batches.

    * ``start_offset``: first offset.
    * ``end_offset``: offset after the last one.
    * ``first_timestamp``, ``last_timestamp``: range of timestamps in ms since 1970.
    * ``magics``, ``codecs``: formats and compression of these batches.

    Unknown offsets and timestamps are -1.
    """

    start_offset: int = -1
    end_offset: int = -1
    first_timestamp: int = -1
    last_timestamp: int = -1
    magics: tuple[int, ...] = ()
    codecs: tuple[str, ...] = ()


@click.command(epilog=EXIT_CODES, short_help="List topics, partitions and segments.")
@add_partition_options
@click.option("--segments", "-l", is_flag=True, help="Print a line for each segment.")
@format_option
def command(form: RowFormat, segments: bool, **chosen: Any) -> int:
    """List topics and partitions: segments, sizes, offsets, times, formats.

    The second offset is the one after the last. Formats are the magic and the
    compression of the batches at the ends of segments; no file is read as a whole.
    """
    inputs = LogInputs(**chosen)
    say_unreadable(inputs)
    failed = not inputs.is_complete
    rows = []
    chosen_files = [_files(selected, segments) for selected in inputs.partitions]
    every = list(chain.from_iterable(chosen_files))
    is_remote = any(file.is_remote for file in every)
    summaries = map_requests(_try_to_summarize, every, is_remote=is_remote)
    for partition, own in zip(inputs.partitions, chosen_files, strict=True):
        file_summaries = list(zip(own, islice(summaries, len(own)), strict=True))
        try:
            rows += _rows(partition, segments, file_summaries)
        except (OSError, KwireError) as error:
            failed = True
            say(explain(error))
    if not segments:
        # Several brokers may have the same partitions. List one data directory after
        # the other.
        rows.sort(key=lambda row: (row["topic"], os.path.dirname(row["path"])))
    with open_output() as output:
        _write(output, form, segments, rows)
    topics = {partition.topic for partition in inputs.partitions}
    files = list(inputs.files())
    say(
        f"{format_count(len(topics), 'topic')},"
        f" {format_count(len(inputs.partitions), 'partition')},"
        f" {format_count(len(files), 'segment')}, {format_size(inputs.size)}"
    )
    return CANNOT if failed else FINE


def _files(partition: log.Partition, each: bool) -> list[log.Segment]:
    """List the segments of a partition. ``each`` includes its KRaft checkpoints."""
    files = list(list_files(partition))
    if each:
        files += [file for file in partition.snapshots if file not in files]
    return files


def _rows(
    partition: log.Partition,
    each: bool,
    found: list[tuple[log.Segment, PartitionSummary | Exception]],
) -> list[dict[str, Any]]:
    partition_fields = {
        "topic": partition.topic,
        "partition": partition.partition,
        "state": partition.state,
        "path": format_name(partition.path),
    }
    summaries = [(file, _check(one)) for file, one in found]
    if each:
        return [
            {
                **partition_fields,
                "path": format_name(file.path),
                "kind": file.kind,
                "size": file.size,
                "is_newest": file.is_newest,
                **_fields(summary),
            }
            for file, summary in summaries
        ]
    return [
        {
            **partition_fields,
            "segments": len(summaries),
            "size": sum(file.size for file, _ in summaries),
            **_fields(_together(summary for _, summary in summaries)),
        }
    ]


def _fields(summary: PartitionSummary) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in summary._asdict().items()
    }


def _try_to_summarize(file: log.Segment) -> PartitionSummary | Exception:
    """Return the summary of a file, or the exception if the file cannot be read.

    The exception is not raised, so that all other files are still listed.
    """
    try:
        return _summarize(file)
    except (OSError, KwireError) as error:
        return error


def _check(found: PartitionSummary | Exception) -> PartitionSummary:
    """Return a result of ``_try_to_summarize``, or raise it if it is an exception."""
    if isinstance(found, Exception):
        raise found
    return found


def _summarize(file: log.Segment) -> PartitionSummary:
    """Summarize a file from its first and last batches.

    A file without any batch has an empty summary.
    """
    first = next(file.headers(0, 1, on_corrupt="skip"), None)
    if first is None:
        # The file does not begin with a batch. Search for the first one.
        first = next(file.headers(on_corrupt="skip"), None)
    if first is None:
        return PartitionSummary()
    # To skip the middle of the segment, continue at the last entry in its offset index.
    start = max(first.position, file.seek_before(2**62))
    headers = [first, *file.headers(start, on_corrupt="skip")]
    last = headers[-1]
    times = [header.max_timestamp for header in headers]
    with suppress(DecodeError, OSError):
        # Ignore a damaged index, because it only provides an additional timestamp here.
        # ``kwire verify`` reports index errors.
        times += _last_time(file)
    file.forget_indexes()
    # In magic 0 and 1, a compressed message has the offset of its last inner message,
    # so use the file's base offset instead.
    start_offset = (
        first.base_offset if first.record_count >= 0 else max(file.base_offset, 0)
    )
    return PartitionSummary(
        start_offset,
        last.next_offset,
        first.base_timestamp if first.base_timestamp >= 0 else first.max_timestamp,
        max(times),
        tuple(sorted({header.magic for header in headers})),
        tuple(sorted({header.compression for header in headers})),
    )


def _last_time(file: log.Segment) -> list[int]:
    """Return the maximum timestamp in the last time index entry, as a list.

    The list is empty if the time index is missing or has no entries.
    """
    index = file.time_index
    if index is None:
        return []
    # A broker may have left arbitrary bytes at the end of the newest index, so check
    # it.
    entries = index.entries if file.is_newest else index.unchecked
    return [entries[-1][0]] if len(entries) else []


def _together(summaries: Iterable[PartitionSummary]) -> PartitionSummary:
    """Combine file summaries, in offset order, into one summary for the partition."""
    seen = [summary for summary in summaries if summary.magics]
    if not seen:
        return PartitionSummary()
    return PartitionSummary(
        seen[0].start_offset,
        seen[-1].end_offset,
        next((g.first_timestamp for g in seen if g.first_timestamp >= 0), -1),
        max(summary.last_timestamp for summary in seen),
        tuple(sorted({magic for summary in seen for magic in summary.magics})),
        tuple(sorted({codec for summary in seen for codec in summary.codecs})),
    )


def _write(
    output: Output, form: RowFormat, segments: bool, rows: list[dict[str, Any]]
) -> None:
    if form.is_table:
        titles = _SEGMENT_TITLES if segments else _TITLES
        write_table(output, titles, [_line(row, segments) for row in rows])
        return
    names = list(rows[0]) if rows else []
    lines = form.open_rows(output, names)
    for row in rows:
        lines.write(clear_unknown(row))


def _line(row: dict[str, Any], segments: bool) -> tuple[str, list[str]]:
    """Return the heading and the table cells for a partition, or for a segment file.

    The heading of a segment is its directory. The heading of a partition is its topic.
    """
    folder, name = os.path.split(row["path"].partition("?")[0])
    magics = ",".join(f"v{magic}" for magic in row["magics"])
    ends = f"{row['start_offset']}..{row['end_offset']}" if row["magics"] else "-"
    cells = [
        format_size(row["size"]),
        ends,
        format_time_range(row["first_timestamp"], row["last_timestamp"]),
        f"{magics} {','.join(row['codecs'])}" if magics else "-",
    ]
    if segments:
        heading = folder
        cells = [name, *cells]
    else:
        heading = f"{row['topic']}  ({folder})"
        number = "-" if row["partition"] < 0 else str(row["partition"])
        if row["state"]:
            number = f"{row['state']} {number}"
        cells = [number, str(row["segments"]), *cells]
    return heading, cells
