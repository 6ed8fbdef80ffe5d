# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks spark-udf``: equal values from all cases, and its targets.

The times are invented, because a missed target must not depend on how fast the machine
is.
"""

import dataclasses

import pytest

from benchmarks.spark_udf import cases as work
from benchmarks.spark_udf import inputs
from benchmarks.spark_udf.rounds import READING, measure_cases
from benchmarks.spark_udf.targets import UdfFigures, udf_verdicts


# kafka-python reads its own files with a function that new Python versions deprecate.
@pytest.mark.filterwarnings("ignore:.*_text is deprecated")
def test_all_cases_return_equal_values(spark, tmp_path):
    """A case that returns other values ends the run, and the message names it."""
    rows = {
        work.RECORD_SETS: work.read_column(
            spark, inputs.write_record_sets(tmp_path / "sets", rows=3)
        ),
        work.METADATA: work.read_column(
            spark, inputs.write_responses(tmp_path / "responses", rows=3)
        ),
    }
    cases = work.make_cases()
    assert len({(case.column, case.name) for case in cases}) == len(cases)
    work.check(cases, rows)
    seconds = measure_cases(cases[:2], rows, rounds=1, warm=0)
    names = {READING, work.BY_HAND, work.BY_HAND + work.WITHOUT_ARROW}
    assert set(seconds[work.RECORD_SETS]) == names

    first, *_ = cases
    fewer = dataclasses.replace(
        first, name="fewer", decode=lambda rows: first.decode(rows.limit(2))
    )
    with pytest.raises(SystemExit, match="record sets, fewer: "):
        work.check([first, fewer], rows)


def made_up(from_records, read_records):
    """Return the report of a run in which aiokafka takes 8 s without the reading."""
    times = {
        READING: [1.0, 1.0, 1.0],
        work.AIOKAFKA: [9.0, 9.0, 90.0],
        work.FROM_RECORDS: [1 + from_records] * 3,
        work.READ_RECORDS: [1 + read_records] * 3,
    }
    return {"seconds": {work.RECORD_SETS: times}}


@pytest.mark.parametrize(
    ("from_records", "read_records", "met"),
    [(2.2, 1.1, [True, True]), (2.4, 1.1, [False, True]), (2.2, 1.2, [True, False])],
)
def test_leads_decide_whether_targets_are_met(from_records, read_records, met):
    """The time for reading is subtracted, and the median of the rounds counts."""
    figures = UdfFigures(made_up(from_records, read_records))
    assert [verdict.met for verdict in udf_verdicts(figures)] == met
