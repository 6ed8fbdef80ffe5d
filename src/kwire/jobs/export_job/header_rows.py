# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Batch headers as numpy arrays. All ``BatchHeader`` fields are int64 columns."""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...records import BatchHeader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

FIELDS = [(name, "i8") for name in BatchHeader.__match_args__]
"""Column names and types, as a numpy dtype specification."""

ROW_BYTES = 8 * len(FIELDS)

_read_fields = attrgetter(*BatchHeader.__match_args__)


def make_rows(headers: Sequence[BatchHeader]) -> NDArray[Any]:
    """Convert batch headers to a structured array with one row per header."""
    import numpy

    return numpy.array([_read_fields(header) for header in headers], FIELDS)


def join_rows(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate row arrays.

    They are concatenated as plain integers, because numpy copies structured arrays
    field by field, which is slower.
    """
    import numpy

    return numpy.concatenate([rows.view("i8") for rows in parts]).view(FIELDS)


def read_row(rows: NDArray[Any], at: int) -> BatchHeader:
    """Convert the row with the index ``at`` back to a ``BatchHeader``."""
    values = zip(BatchHeader.__match_args__, rows[at].item(), strict=True)
    return BatchHeader(**dict(values))


def mark_changes(*columns: NDArray[Any]) -> NDArray[Any]:
    """Return a boolean array that marks rows where any column value changes.

    The first row is always marked.
    """
    import numpy

    changes: NDArray[Any] = numpy.zeros(len(columns[0]), bool)
    changes[:1] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    return changes


def split_runs(*columns: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Return the runs of rows in which all columns have constant values.

    A run is a pair of row numbers (first, stop). ``stop`` is exclusive.
    """
    edges = mark_changes(*columns).nonzero()[0].tolist()
    return pairwise([*edges, len(columns[0])])


def is_full(header: BatchHeader) -> bool:
    """Return whether a batch contains a record for every offset in its range."""
    return header.record_count == header.last_offset - header.base_offset + 1
