# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate a column of record sets, and decode it in turn with a UDF and with kwire.

Each job decodes all rows and discards the result. The time of a job that only reads the
column is subtracted. The first rounds are a warm-up and are not measured. The exit code
is 1 if the results differ.
"""

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from kwire import records
from kwire.jobs.running import JobError, open_session
from kwire.spark.functions import from_kafka_records, read_records

from . import by_hand

ROWS = 20_000
RECORDS = 20
"""Number of records in each row."""
VALUE_BYTES = 100
CORES = 2
WARM_UP, ROUNDS = 2, 3
BASE_TIME = 1_700_000_000_000
SUMS = (
    "count(*)",
    "sum(r.offset)",
    "sum(hash(r.offset, r.timestamp, r.key, r.value, r.headers))",
)
"""Aggregates over all records, including timestamps, that must be equal."""


def main() -> None:
    """Compare the results, measure all decoders, and print a table of their times.

    Exits with a message if the results differ.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix="kwire-drop-in-") as folder,
            open_session(f"local[{CORES}]") as spark,
        ):
            path = Path(folder) / "sets.parquet"
            size = write_sets(path)
            rows = spark.read.parquet(str(path))
            print(
                f"{ROWS:,} rows, {ROWS * RECORDS:,} records, {size >> 20} MiB,"
                f" local[{CORES}]"
            )
            compare(rows)
            show(race(rows))
    except JobError as error:
        sys.exit(f"drop_in: {error}")


def write_sets(path: Path) -> int:
    """Write a Parquet file with one record batch in each row.

    Returns the total size of the batches in bytes.
    """
    dice = random.Random(7)
    sets = []
    for number in range(ROWS):
        offset = number * RECORDS
        batch = [
            (
                b"customer-%d" % dice.randrange(10_000),
                dice.randbytes(VALUE_BYTES),
                BASE_TIME + offset + turn,
                [("trace", b"%016x" % dice.getrandbits(64))],
            )
            for turn in range(RECORDS)
        ]
        sets.append(records.encode_batch(batch, base_offset=offset))
    table = pa.table({"sets": pa.array(sets, pa.binary())})
    pyarrow.parquet.write_table(table, path, row_group_size=ROWS // (2 * CORES))
    return sum(map(len, sets))


def ways() -> dict:
    """Return a function for each decoder, from a DataFrame to a DataFrame."""
    from pyspark.sql.functions import udf

    plain = udf(by_hand.decode_records, by_hand.SCHEMA)
    pickled = udf(by_hand.decode_records, by_hand.SCHEMA, useArrow=False)
    return {
        "by hand, plain UDF": lambda rows: rows.select(plain("sets")),
        "by hand, without Arrow": lambda rows: rows.select(pickled("sets")),
        "from_kafka_records": lambda rows: rows.select(
            from_kafka_records("sets", schema=by_hand.SCHEMA)
        ),
        "read_records, as rows": lambda rows: read_records(
            rows, "sets", schema=by_hand.SCHEMA
        ),
    }


def compare(rows) -> None:
    """Check that the UDF and ``from_kafka_records`` return equal types and records.

    Exits with a message if they differ.
    """
    types, sums = [], []
    for decode in list(ways().values())[1:3]:
        lists = decode(rows).toDF("records")
        types.append(lists.schema["records"].dataType)
        records = lists.selectExpr("explode(records) AS r")
        sums.append(records.selectExpr(*SUMS).first())
    if types[0] != types[1]:
        sys.exit(f"drop_in: FAILED: by hand {types[0]}, by kwire {types[1]}")
    if sums[0] != sums[1] or sums[0][0] != ROWS * RECORDS:
        sys.exit(f"drop_in: FAILED: by hand {sums[0]}, by kwire {sums[1]}")
    print(f"the same {sums[0][0]:,} records either way")


def race(rows) -> dict[str, float]:
    """Run all decoders in turn for several rounds.

    Returns the median seconds of each decoder. The time for reading is subtracted.
    """
    jobs = {"nothing": lambda rows: rows.selectExpr("length(sets)"), **ways()}
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(WARM_UP + ROUNDS):
        for name, decode in jobs.items():
            start = time.perf_counter()
            decode(rows).write.format("noop").mode("overwrite").save()
            if turn >= WARM_UP:
                times[name].append(time.perf_counter() - start)
    nothing = statistics.median(times.pop("nothing"))
    return {name: statistics.median(each) - nothing for name, each in times.items()}


def show(seconds: dict[str, float]) -> None:
    """Print the seconds, the records per second and the speedup of each decoder."""
    first = next(iter(seconds.values()))
    print(f"\n{'':24}{'seconds':>9}{'records/s':>14}{'gain':>8}")
    for name, each in seconds.items():
        rate = ROWS * RECORDS / each
        print(f"{name:24}{each:9.2f}{rate:14,.0f}{first / each:7.1f}x")


if __name__ == "__main__":
    main()
