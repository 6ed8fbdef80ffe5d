# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes batches from a walk into objects or columns.

If a batch has a correct checksum but cannot be decoded, it is reported as a problem,
and all other batches are still returned. Results are copies, because a file region may
leave memory when the walk continues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._limits import MIB, Limits
from ..errors import DecodeError, UnsupportedVersion
from ..records import Batch, decode_batches, read_batch_header
from ..records.batches import read_records
from ..records.options import check_errors
from . import problems
from .problems import Problem, in_file, report_problem
from .walk import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..records import BatchHeader
    from ..records.columns import Records
    from .file_bytes import FileBytes
    from .problems import OnCorrupt
    from .transactions import Transactions
    from .walk import SegmentWalk

_MAX_GROUP_BYTES = MIB
"""Maximum total size in bytes of adjacent uncompressed messages that are decoded in one
call.
"""

_MAX_COMPRESSED_BYTES = MIB
"""Maximum number of compressed bytes that are decoded in one call.

Together with ``_MAX_RATIO``, this limits memory independently of the input.
"""

_MAX_RATIO = 32
"""Maximum decompressed size per compressed byte if several batches are decoded in one
call. If a batch exceeds the limit, all batches of the call are decoded individually.
"""

_LONG_RUN_BYTES = MIB // 16
"""Minimum size in bytes of a run that is decoded immediately. A shorter run is decoded
together with the batches next to it, because every call has a fixed cost.
"""


def decode_runs(
    walk: SegmentWalk,
    file: FileBytes,
    *,
    start_offset: int | None,
    end_offset: int | None,
    transactions: Transactions | None,
    on_corrupt: OnCorrupt,
    check_crc: bool,
    errors: Literal["strict", "replace"],
    limits: Limits,
) -> Iterator[Batch]:
    """Decode the batches of a walk, one ``Batch`` per batch or uncompressed message.

    Adjacent uncompressed messages are decoded in one call. See ``Segment.batches`` for
    the parameters.
    """
    check_errors(errors)
    low = -(2**63) if start_offset is None else start_offset
    high = 2**63 if end_offset is None else end_offset
    for run in _group_messages(walk, on_corrupt):
        header = run[0]
        if header.base_offset >= high and header.record_count >= 0:
            return
        if transactions is not None and not transactions.is_stable(header):
            return
        if run[-1].last_offset < low:
            continue
        if transactions is not None and transactions.hides(header):
            yield Batch(header, ())
            continue
        for batch in _decode_group(
            walk, file, run, on_corrupt, check_crc, errors, limits
        ):
            if batch.base_offset >= high:
                return
            if batch.base_offset < low or batch.last_offset >= high:
                kept = tuple(r for r in batch.records if low <= r.offset < high)
                batch = Batch(batch.header, kept)
            yield batch


def _group_messages(
    walk: SegmentWalk, on_corrupt: OnCorrupt
) -> Iterator[list[BatchHeader]]:
    """Group headers for decoding, and report problems according to ``on_corrupt``.

    A group contains a single batch or compressed message, or adjacent uncompressed
    messages with the same magic and attributes.
    """
    run: list[BatchHeader] = []
    for item in walk:
        if run and not _can_append(run, item):
            yield run
            run = []
            walk.hold = None
        if isinstance(item, Problem):
            report_problem(item, on_corrupt)
        elif item.magic == 2 or item.record_count < 0:
            yield [item]
        else:
            run.append(item)
            walk.hold = run[0].position
    if run:
        yield run


def _can_append(run: list[BatchHeader], item: BatchHeader | Problem) -> bool:
    """Whether an item is a message that can be decoded together with ``run``."""
    first, last = run[0], run[-1]
    return (
        not isinstance(item, Problem)
        and item.position == last.position + last.size
        and (item.magic, item.attributes, item.record_count)
        == (first.magic, first.attributes, first.record_count)
        and item.position + item.size - first.position <= _MAX_GROUP_BYTES
    )


def _decode_group(
    walk: SegmentWalk,
    file: FileBytes,
    run: list[BatchHeader],
    on_corrupt: OnCorrupt,
    check_crc: bool,
    errors: Literal["strict", "replace"],
    limits: Limits,
) -> Iterator[Batch]:
    """Decode a magic 2 batch, a compressed message, or adjacent uncompressed messages.

    If a batch cannot be decoded, it is reported according to ``on_corrupt``, and
    decoding continues with the next batch in the list.
    """
    while run:
        header = run[0]
        start, end = header.position, run[-1].position + run[-1].size
        try:
            if header.magic == 2:
                replace = errors == "replace"
                records = read_records(file.data, header, replace, check_crc, limits)
                yield Batch(header, records)
                return
            data = bytes(file.data[start:end])
            for batch in decode_batches(
                data, check_crc=check_crc, errors=errors, limits=limits
            ):
                position = start + batch.position
                run = [item for item in run if item.position >= position + batch.size]
                yield Batch(batch.header.replace(position=position), batch.records)
            return
        except DecodeError as error:
            base = 0 if header.magic == 2 else start
            failure = in_file(error, walk.path, base)
        if on_corrupt == "raise":
            raise failure
        report_problem(make_undecodable(walk, run[0], failure), on_corrupt)
        run = run[1:]


def decode_one(
    walk: SegmentWalk, file: FileBytes, header: BatchHeader, limits: Limits
) -> Iterator[Batch]:
    """Decode the current batch in a walk. Yields nothing if it cannot be decoded."""
    yield from _decode_group(walk, file, [header], "skip", True, "strict", limits)


def decode_columns(
    walk: SegmentWalk,
    file: FileBytes,
    *,
    start_offset: int | None,
    end_offset: int | None,
    transactions: Transactions | None,
    on_corrupt: OnCorrupt,
    chunk_bytes: int,
    limits: Limits,
    **options: Any,
) -> Iterator[Records]:
    """Decode the batches of a walk into columns, many adjacent batches per call.

    See ``Segment.columns`` for the parameters.
    """
    low = -(2**63) if start_offset is None else start_offset
    high = 2**63 if end_offset is None else end_offset
    options |= {"start_offset": start_offset, "end_offset": end_offset}
    pending: list[BatchHeader | Run] = []
    free_bytes = 0
    # A run does not contain producer ids, so runs are disabled if transactions must be
    # filtered.
    for item in walk.with_runs(chunk_bytes if transactions is None else 0):
        if isinstance(item, Problem):
            yield from _decode_adjacent(
                walk, file, pending, on_corrupt, limits, options
            )
            pending = []
            report_problem(item, on_corrupt)
            continue
        if item.base_offset >= high and (
            isinstance(item, Run) or item.record_count >= 0
        ):
            break
        if item.last_offset < low:
            continue
        if isinstance(item, Run) and (not pending or item.size >= _LONG_RUN_BYTES):
            # Decode the run immediately, while its bytes are still in the CPU cache.
            yield from _decode_adjacent(
                walk, file, pending, on_corrupt, limits, options
            )
            pending = []
            yield from _decode_adjacent(walk, file, [item], on_corrupt, limits, options)
            continue
        if isinstance(item, Run):
            max_bytes = chunk_bytes
        else:
            if transactions is not None and not transactions.is_stable(item):
                break
            if item.is_control:
                continue
            if transactions is not None and transactions.hides(item):
                continue
            max_bytes = (
                chunk_bytes if item.compression == "none" else _MAX_COMPRESSED_BYTES
            )
        last = pending[-1] if pending else None
        if last is not None and (
            last.position + last.size != item.position
            or item.size > min(free_bytes, max_bytes)
        ):
            yield from _decode_adjacent(
                walk, file, pending, on_corrupt, limits, options
            )
            pending = []
        if not pending:
            free_bytes = max_bytes
        free_bytes = min(free_bytes, max_bytes) - item.size
        pending.append(item)
        walk.hold = pending[0].position
    yield from _decode_adjacent(walk, file, pending, on_corrupt, limits, options)


def _decode_adjacent(
    walk: SegmentWalk,
    file: FileBytes,
    adjacent: list[BatchHeader | Run],
    on_corrupt: OnCorrupt,
    limits: Limits,
    options: dict[str, Any],
) -> Iterator[Records]:
    """Decode adjacent batches in one call.

    If this call fails, decode the batches individually to find the invalid batch.
    """
    from ..records.columns import decode_records

    walk.hold = None
    if not adjacent:
        return
    start, end = adjacent[0].position, adjacent[-1].position + adjacent[-1].size
    single_batch = adjacent[0] if len(adjacent) == 1 else None
    if isinstance(single_batch, Run):
        single_batch = None
    call_limits = _tighten_limits(limits) if single_batch is None else limits
    try:
        records = decode_records(
            file.data,
            position=start,
            end=end,
            # The walk has already verified the batches. Only the messages inside a
            # compressed message still require verification.
            check_crc=any(
                not isinstance(i, Run) and i.record_count < 0 for i in adjacent
            ),
            limits=call_limits,
            **options,
        )
    except DecodeError as error:
        failure = in_file(error, walk.path)
    else:
        yield records
        return
    if single_batch is None:
        for header in _read_headers(file, adjacent):
            yield from _decode_adjacent(
                walk, file, [header], on_corrupt, limits, options
            )
        return
    if on_corrupt == "raise":
        raise failure
    report_problem(make_undecodable(walk, single_batch, failure), on_corrupt)


def _read_headers(
    file: FileBytes, adjacent: list[BatchHeader | Run]
) -> Iterator[BatchHeader]:
    """Yield all batch headers, including batches inside runs."""
    for item in adjacent:
        if not isinstance(item, Run):
            yield item
            continue
        position = item.position
        while position < item.position + item.size:
            header = read_batch_header(file.data, position, check_crc=False)
            assert header is not None, "a run has whole batches"
            yield header
            position += header.size


def _tighten_limits(limits: Limits) -> Limits:
    """Return the limits for decoding multiple batches in one call.

    They are stricter than the limits from the caller, which apply if a batch is decoded
    alone.
    """
    ratio = limits.decompressed_ratio
    return Limits(
        frame_bytes=limits.frame_bytes,
        decompressed_bytes=limits.decompressed_bytes,
        decompressed_ratio=_MAX_RATIO if ratio is None else min(ratio, _MAX_RATIO),
        records=limits.records,
        total_decompressed_bytes=limits.total_decompressed_bytes,
    )


def make_undecodable(
    walk: SegmentWalk, header: BatchHeader, error: DecodeError
) -> Problem:
    """Return the problem for a batch whose records cannot be decoded."""
    return Problem(
        *walk.place,
        header.position,
        header.size,
        problems.RECORDS,
        header.base_offset - 1,
        header.last_offset + 1,
        f"byte {error.offset}: {error.reason}",
    )


def check_records(
    walk: SegmentWalk, file: FileBytes, header: BatchHeader, limits: Limits
) -> Problem | None:
    """Decode all records of a batch. Returns a problem if decoding fails."""
    start = header.position
    try:
        if header.magic == 2:
            records = read_records(file.data, header, False, True, limits)
            if header.is_control:
                _ = Batch(header, records).control_records
        else:
            data = bytes(file.data[start : start + header.size])
            for _batch in decode_batches(data, limits=limits):
                pass
    except DecodeError as error:
        base = 0 if header.magic == 2 else start
        return make_undecodable(walk, header, in_file(error, walk.path, base))
    except UnsupportedVersion as error:
        return make_undecodable(walk, header, DecodeError(str(error), start))
    return None
