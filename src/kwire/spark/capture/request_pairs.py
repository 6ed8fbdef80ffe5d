# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Joins requests with their responses in captured frames, one row per pair.

``recording.pairing`` implements the matching rules. This module does not import Spark:
input and output are pyarrow batches, sorted by connection and frame order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ...messages import ProduceRequest
from ...recording.pairing import AwaitedRequests, is_answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ORDER = ("recording", "connection", "sequence")
"""Columns by which the input rows must be sorted."""

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
"""Input columns, which are part of ``kafka-capture`` rows."""

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
"""Output columns. The columns of a missing response are null."""

_IN_FLIGHT = 10_000
"""Maximum number of requests on one connection that wait for their responses.

If there are more requests, the oldest one is returned without a response.
"""


def pair_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pair the requests of captured rows with their responses.

    Input batches have the columns ``COLUMNS`` and are sorted by ``ORDER``. Every
    request becomes one row, as soon as its response is read or can no longer follow.
    Responses without request are skipped. The function keeps one batch and the pending
    requests in memory.
    """
    reader = _PairReader()
    kept: pa.RecordBatch | None = None
    for batch in batches:
        whole = batch if kept is None else _join_batches(kept, batch)
        pairs = reader.read(whole, len(whole) - len(batch))
        if pairs:
            yield _make_pairs(whole, pairs)
        kept = whole.take(pa.array(reader.renumber(), pa.int64()))
    if kept is not None and len(kept):
        yield _make_pairs(kept, [(row, None) for row in range(len(kept))])


class _PairReader:
    """Pairs the request and response rows of batches, one connection after another.

    A pending request is represented by a list that only contains its row number, so
    that ``renumber`` can replace the number.
    """

    def __init__(self) -> None:
        self._connection: list[object] = [None, None]
        self._awaited = AwaitedRequests[list[int]](_IN_FLIGHT)

    def read(self, batch: pa.RecordBatch, start: int) -> list[tuple[int, int | None]]:
        """Read a batch's rows, starting with row ``start``.

        Returns pairs with the row numbers of a request and its response. The second
        number is None if the request has no response.
        """
        names = ("recording", "connection", "direction", "correlation_id", "api_key")
        columns = [batch.column(name).slice(start).to_pylist() for name in names]
        frames = batch.column("frame")
        pairs: list[tuple[int, int | None]] = []
        for row, (*connection, direction, number, api_key) in enumerate(
            zip(*columns, strict=True), start
        ):
            if connection != self._connection:
                pairs += _list_unanswered(self._awaited.drop(0))
                self._connection = connection
            if direction == "response":
                if taken := self._awaited.take(number, api_key):
                    pairs += _list_unanswered(taken[:-1])
                    pairs.append((taken[-1][0], row))
            elif number is None or (
                api_key == ProduceRequest.api_key and _wants_none(frames[row])
            ):
                pairs.append((row, None))
            else:
                pairs += _list_unanswered(self._awaited.add(number, api_key, [row]))
        return pairs

    def renumber(self) -> list[int]:
        """Return the row numbers of the pending requests, and renumber them from 0.

        The caller copies these rows into a new batch in the same order.
        """
        rows = []
        for number, request in enumerate(self._awaited):
            rows.append(request[0])
            request[0] = number
        return rows


def _list_unanswered(requests: list[list[int]]) -> list[tuple[int, None]]:
    return [(row, None) for (row,) in requests]


def _wants_none(frame: pa.Scalar) -> bool:
    """Return whether a Produce request does not expect a response (acks=0)."""
    return bool(frame.is_valid) and not is_answered(frame.as_buffer())


def _join_batches(first: pa.RecordBatch, second: pa.RecordBatch) -> pa.RecordBatch:
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
