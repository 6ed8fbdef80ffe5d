# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Joins requests and their responses in captured frames, one pair a row.

Brokers answer the requests of a connection in order, so a response belongs to the
first request of its correlation id that still waits. No Spark here: batches of pyarrow
in and out, in the order of connections and of what went over them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ..messages import ProduceRequest
from ..recording.pairing import is_answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ORDER = ("recording", "connection", "sequence")
"""The columns that captured rows are sorted by."""

COLUMNS = (
    *ORDER,
    "direction",
    "timestamp",
    "client_address",
    "broker_address",
    "api_key",
    "api_version",
    "correlation_id",
    "client_id",
    "size",
    "frame",
)
"""The columns of ``kafka-capture`` that pairs are made of."""

_TIME = pa.timestamp("us", "UTC")
_CONNECTION = [
    ("recording", pa.string()),
    ("connection", pa.int64()),
    ("client_address", pa.string()),
    ("broker_address", pa.string()),
    ("api_key", pa.int32()),
    ("api_version", pa.int32()),
    ("correlation_id", pa.int32()),
    ("client_id", pa.string()),
]
_SIDE = [
    ("sequence", pa.int64()),
    ("timestamp", _TIME),
    ("size", pa.int32()),
    ("frame", pa.binary()),
]
_SIDES = ("request", "response")

PAIRS = pa.schema(
    [
        *_CONNECTION,
        *(
            (side if name == "frame" else f"{side}_{name}", kind)
            for side in _SIDES
            for name, kind in _SIDE
        ),
        ("latency_ms", pa.float64()),
    ]
)
"""The columns of pairs; those of the response are null where there was none."""

_IN_FLIGHT = 10_000
"""Requests of a connection that wait; with more, the oldest gets no answer any more."""


def pair_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pair the requests of captured rows with their responses.

    Batches have ``COLUMNS`` and are sorted by ``ORDER``. Each request gives one row:
    when its response comes, or when its connection ends without. Responses without a
    request give none. Memory: one batch, and the requests that wait.
    """
    waiting = _Waiting()
    kept: pa.RecordBatch | None = None
    for batch in batches:
        whole = batch if kept is None else _join(kept, batch)
        pairs = waiting.take(whole, len(whole) - len(batch))
        if pairs:
            yield _make_pairs(whole, pairs)
        kept = whole.take(pa.array(waiting.renumber(), pa.int64()))
    if kept is not None and len(kept):
        yield _make_pairs(kept, [(row, None) for row in range(len(kept))])


class _Waiting:
    """The requests of one connection that wait for an answer, the oldest first.

    They are known by their row in the batch, which ``renumber`` changes.
    """

    def __init__(self) -> None:
        self.place: tuple[object, object] = (None, None)
        self.requests: dict[int, tuple[int, int | None]] = {}
        self.by_id: dict[int, deque[int]] = {}

    def take(self, batch: pa.RecordBatch, start: int) -> list[tuple[int, int | None]]:
        """Take rows from ``start`` on; return pairs of rows, None for no response."""
        names = ("recording", "connection", "direction", "correlation_id", "api_key")
        columns = [batch.column(name).slice(start).to_pylist() for name in names]
        frames = batch.column("frame")
        pairs: list[tuple[int, int | None]] = []
        for row, (recording, connection, direction, number, api_key) in enumerate(
            zip(*columns, strict=True), start
        ):
            if (recording, connection) != self.place:
                pairs.extend(self.give_up(0))
                self.place = recording, connection
            if direction == "response":
                request = self.take_request(number, api_key)
                if request is not None:
                    pairs.append((request, row))
            elif number is None or (
                api_key == ProduceRequest.api_key and _wants_none(frames[row])
            ):
                pairs.append((row, None))
            else:
                self.requests[row] = number, api_key
                self.by_id.setdefault(number, deque()).append(row)
                pairs.extend(self.give_up(_IN_FLIGHT))
        return pairs

    def take_request(self, number: int, api_key: int | None) -> int | None:
        """Find the request that a response of this id answers; it waits no more."""
        for row in self.by_id.get(number, ()):
            asked = self.requests[row][1]
            if asked is None or api_key is None or asked == api_key:
                self.remove(row)
                return row
        return None

    def give_up(self, count: int) -> Iterator[tuple[int, None]]:
        """Drop all waiting requests but the newest ``count``."""
        while len(self.requests) > count:
            row = next(iter(self.requests))
            self.remove(row)
            yield row, None

    def remove(self, row: int) -> None:
        number, _ = self.requests.pop(row)
        rows = self.by_id[number]
        rows.remove(row)
        if not rows:
            del self.by_id[number]

    def renumber(self) -> list[int]:
        """List the rows that wait, and number them by their place in this list."""
        rows = list(self.requests)
        requests = list(self.requests.values())
        self.requests = dict(enumerate(requests))
        self.by_id = {}
        for row, (number, _) in self.requests.items():
            self.by_id.setdefault(number, deque()).append(row)
        return rows


def _wants_none(frame: pa.Scalar) -> bool:
    """Whether a Produce request says that it wants no response."""
    return bool(frame.is_valid) and not is_answered(frame.as_buffer())


def _join(first: pa.RecordBatch, second: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        pa.concat_arrays([first.column(name), second.column(name)]) for name in COLUMNS
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(COLUMNS))


def _make_pairs(
    batch: pa.RecordBatch, pairs: list[tuple[int, int | None]]
) -> pa.RecordBatch:
    rows = [pa.array(side, pa.int64()) for side in zip(*pairs, strict=True)]
    columns = [batch.column(name).take(rows[0]) for name, _ in _CONNECTION]
    for side in rows:
        columns += [batch.column(name).take(side) for name, _ in _SIDE]
    times = [batch.column("timestamp").take(side).cast(pa.int64()) for side in rows]
    asked, answered = (
        each.cast(pa.float64()).to_numpy(zero_copy_only=False) for each in times
    )
    latency = pa.array((answered - asked) / 1000, mask=np.isnan(answered - asked))
    return pa.RecordBatch.from_arrays([*columns, latency], schema=PAIRS)
