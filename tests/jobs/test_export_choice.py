# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Array operations on a partition, compared with loops over single batches."""

import subprocess
import sys
from itertools import groupby
from types import SimpleNamespace

import numpy
from hypothesis import given
from hypothesis import strategies as st

from kwire.jobs.export_job.choice import _choose_copies
from kwire.jobs.export_job.header_rows import mark_changes, split_runs

COPIES = st.dictionaries(st.integers(0, 3), st.booleans(), min_size=1)
"""Copies of one batch: the rank of the replica, and whether the copy is doubtful."""


def choose_one_by_one(groups):
    """Choose one copy for every batch. Yield (index of the batch, rank of the replica).

    A copy without doubt is preferred, then the replica of the previous batch, then the
    lowest rank.
    """
    before = -1
    for number, copies in enumerate(groups):
        before = min(copies, key=lambda rank: (copies[rank], rank != before, rank))
        yield number, before


@given(st.lists(COPIES, max_size=12))
def test_copies_are_chosen_as_if_one_by_one(groups):
    """The vectorized choice equals the choice that examines one batch after another."""
    rows = [
        (number, rank, copies[rank])
        for number, copies in enumerate(groups)
        for rank in copies
    ]
    group, rank, is_doubtful = (
        numpy.array([row[index] for row in rows], kind)
        for index, kind in enumerate((int, int, bool))
    )
    batches = SimpleNamespace(rank=rank, is_doubtful=is_doubtful)
    chosen = _choose_copies(batches, numpy.arange(len(rows)), group)
    assert [rows[index][:2] for index in chosen] == list(choose_one_by_one(groups))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_runs_end_where_a_column_changes(rows):
    columns = [numpy.array([row[index] for row in rows], int) for index in range(2)]
    expected = [key for key, _ in groupby(rows)]
    runs = list(split_runs(*columns))
    assert [rows[first] for first, _ in runs] == expected
    assert [index for run in runs for index in range(*run)] == list(range(len(rows)))
    assert mark_changes(*columns).sum() == len(expected)


def test_export_without_numpy_names_the_extra(tmp_path):
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from kwire import jobs\n"
        "try: jobs.export([sys.argv[1]], sys.argv[1] + '/out')\n"
        "except ImportError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "export requires numpy: pip install kwire[arrow]\n"
