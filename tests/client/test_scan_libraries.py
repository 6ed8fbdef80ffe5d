# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries in README read a scan with the code from README.

``tools/interop/table_libraries.py`` also runs this file with pandas 3, because PySpark
requires pandas 2 in the environment for the other tests.
"""

import datetime
import importlib

import duckdb
import pandas
import polars
import pyarrow
import pytest

import kwire as installed
from tests.client.log_broker import LogBroker
from tests.client.machines.partition_log import StoredBatch

# The second record has no timestamp. The third record only has a timestamp.
ROWS = [
    (b"k", b"v", 1_700_000_000_123, [("h", b"1"), ("h", None)]),
    (b"", b"\xff", -1, []),
    (None, None, 0, []),
]
TIMES = [
    datetime.datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=datetime.UTC),
    None,
    datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
]


@pytest.fixture(scope="module")
def broker():
    """Broker with a single-batch topic."""
    with LogBroker({"orders": (0,)}) as running:
        log = running.log("orders")
        data = installed.records.encode_batch(ROWS)
        values = {offset: row[1] for offset, row in enumerate(ROWS)}
        last = len(ROWS) - 1
        log.batches.append(StoredBatch(0, last, log.epoch, data, values))
        log.end = len(ROWS)
        yield running


@pytest.fixture
def scan(kwire, broker):
    """New scan of the topic, which no library has read."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        yield kafka.scan("orders")


def find_missing(rows):
    """Replace NaT and NaN, which pandas uses for missing values, by None."""
    return [None if value is None or value != value else value for value in rows]


def test_pyarrow_reads_a_scan(scan):
    table = pyarrow.table(scan)
    table.validate(full=True)
    assert table["timestamp"].to_pylist() == TIMES
    assert table["key"].to_pylist() == [b"k", b"", None]
    assert table["value"].to_pylist() == [b"v", b"\xff", None]


def test_polars_reads_a_scan(scan):
    frame = polars.DataFrame(scan)
    assert frame["timestamp"].to_list() == TIMES
    assert frame["key"].to_list() == [b"k", b"", None]
    assert frame["headers"].to_list() == [
        [{"key": "h", "value": b"1"}, {"key": "h", "value": None}],
        [],
        [],
    ]


def test_duckdb_reads_a_scan(scan):
    rows = duckdb.sql("select epoch_ms(timestamp), key from scan").fetchall()
    assert rows == [(1_700_000_000_123, b"k"), (None, b""), (0, None)]


def test_pandas_reads_a_scan(scan):
    frame = pyarrow.table(scan).to_pandas()
    assert list(frame.columns)[:3] == ["topic", "partition", "offset"]
    assert frame["topic"].tolist() == ["orders"] * 3
    assert frame["offset"].tolist() == [0, 1, 2]
    assert isinstance(frame["timestamp"].dtype, pandas.DatetimeTZDtype)
    assert find_missing(frame["timestamp"].tolist()) == TIMES
    assert find_missing(frame["key"].tolist()) == [b"k", b"", None]
    assert find_missing(frame["value"].tolist()) == [b"v", b"\xff", None]
