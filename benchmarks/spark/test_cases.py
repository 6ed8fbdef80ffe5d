# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the Spark benchmark: equal values and row counts, and the verdicts.

The verdicts are tested with artificial figures, so that a missed target does not have
to be produced by a slow measurement.
"""

import os

import pytest

from benchmarks.spark import cases as work
from benchmarks.spark import inputs, memory
from benchmarks.spark.targets import SparkFigures, spark_verdicts
from kwire import log


# kafka-python calls a deprecated function when it reads its own package files.
@pytest.mark.filterwarnings("ignore:.*_text is deprecated")
def test_cases_give_their_rows_and_equal_values(spark, tmp_path, monkeypatch):
    """Replays, peers and kwire return the same values for minimal inputs.

    A case with a wrong number of rows is reported.
    """
    monkeypatch.setattr(work, "_FRAME_ROWS", 1)
    small = inputs.write_log(tmp_path / "log", 1)
    four = inputs.write_log(tmp_path / "four", 1, partitions=4)
    empty = inputs.write_log(tmp_path / "none", 0)
    logs = dict.fromkeys(work.SIZES, small) | {"4 GiB": four, "empty": empty}
    cases = work.make_cases(spark, tmp_path, logs)
    work.check(cases, small)
    assert {case.rows for case in cases} == {0, small.rows, four.rows, 4000}
    assert len({case.name for case in cases}) == len(cases) == 12
    wrong = [work.Case("wrong", "", 1, 0, lambda: spark.range(2))]
    with pytest.raises(SystemExit, match="wrong gives 2 rows, not 1"):
        work.check(wrong, small)


def test_logs_are_sound(tmp_path):
    """The written segments are valid, with consecutive offsets and a usable index."""
    made = inputs.write_log(tmp_path, 3 << 20, partitions=2)
    for number, partition in enumerate(log.LogDirectory(made.path)):
        full, begun = partition.segments
        assert list(partition.problems()) == []
        assert (partition.partition, begun.size) == (number, 0)
        assert partition.end_offset == begun.base_offset == made.rows // 2
        assert len(full.find_splits(1 << 20)) == 2
        assert len(full.index.entries) == full.size // made.batch_size - 1
    assert made.size >= 3 << 20


def test_memory_of_workers_is_seen(spark):
    """If a job allocates 64 MiB, the private memory of a worker includes them."""

    def job():
        def hold(batches):
            held = bytearray(os.urandom(1 << 16) * 1024)
            yield from batches
            del held

        table = spark.range(10).mapInArrow(hold, "id bigint")
        table.write.format("noop").mode("overwrite").save()

    assert memory.peak_memory(spark, job)["private"] > 64 << 20


def made_up(slow=1.0, private=100):
    """Return the JSON report of a run with artificial figures.

    kwire needs ``slow`` times the permitted time for the largest log.
    """
    seconds = {
        work.REPLAY: 0.84,
        work.REPLAY_VALUE: 0.84,
        work.HEADERS_REPLAY: 0.89,
        work.LOG: 0.95,
        work.LOG_VALUE: 0.95,
        work.HEADERS: 0.95,
        "aiokafka": 8.5,
        "kafka-python": 16,
        work.EMPTY: 0,
    }
    rows = dict.fromkeys(seconds, 16_000)
    for name, times in ("64 MiB", 0.0625), ("256 MiB", 0.25), ("4 GiB", 4):
        seconds[work.log_case(name)] = 0.95 * times * (slow if times == 4 else 1)
        rows[work.log_case(name)] = int(16_000 * times)
    for name in (work.LOG, work.LOG_VALUE, work.HEADERS):
        seconds[name] *= slow
    return {
        "cases": {
            name: {
                "rows": rows[name],
                "seconds": [2 * each, each, each],
            }
            for name, each in seconds.items()
        },
        "memory": {
            kind: {"private": private * 1_000_000} for kind in ("splits", "whole")
        },
    }


def test_targets_are_met_or_missed():
    """Figures slightly within a limit meet the target, and others miss it."""
    assert all(verdict.met for verdict in spark_verdicts(SparkFigures(made_up())))
    found = list(spark_verdicts(SparkFigures(made_up(slow=1.25, private=201))))
    assert [verdict.met for verdict in found] == [False] * 7 + [True]
    uneven = made_up()
    uneven["cases"][work.log_case("64 MiB")]["seconds"] = [0.0625 * 1.3] * 3
    *_, flat = spark_verdicts(SparkFigures(uneven))
    assert (flat.met, flat.reached) == (False, "1.37x")
