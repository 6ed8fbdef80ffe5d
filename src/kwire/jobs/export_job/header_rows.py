# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Batch headers as rows of numpy arrays: all fields of ``BatchHeader``, as int64."""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...records import BatchHeader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

FIELDS = [(name, "i8") for name in BatchHeader.__match_args__]
"""Names and types of the fields, in the form that numpy expects."""

ROW_BYTES = 8 * len(FIELDS)

_read_fields = attrgetter(*BatchHeader.__match_args__)


def make_rows(headers: Sequence[BatchHeader]) -> NDArray[Any]:
    """Make an array with a row for each header."""
    import numpy

    return numpy.array([_read_fields(header) for header in headers], FIELDS)


def join_rows(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Join arrays of rows, as integers, because numpy copies fields one by one."""
    import numpy

    return numpy.concatenate([rows.view("i8") for rows in parts]).view(FIELDS)


def read_row(rows: NDArray[Any], at: int) -> BatchHeader:
    """Make the header of one row."""
    values = zip(BatchHeader.__match_args__, rows[at].item(), strict=True)
    return BatchHeader(**dict(values))


def mark_changes(*columns: NDArray[Any]) -> NDArray[Any]:
    """Mark the first row, and each row where a column changes."""
    import numpy

    changes: NDArray[Any] = numpy.zeros(len(columns[0]), bool)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    return changes


def split_runs(*columns: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Return the runs of rows in which no column changes, as (first, stop)."""
    edges = mark_changes(*columns).nonzero()[0].tolist()
    return pairwise([*edges, len(columns[0])])


def is_full(header: BatchHeader) -> bool:
    """Whether a batch has a record for each of its offsets."""
    return header.record_count == header.last_offset - header.base_offset + 1
