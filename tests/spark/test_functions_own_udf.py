# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A user's own UDF can return records and messages as structs."""

import pandas as pd
import pytest

from kwire import messages, records

RECORDS = (
    "array<struct<offset:bigint,timestamp:bigint,key:binary,value:binary,"
    "headers:array<struct<key:string,value:binary>>>>"
)
RESPONSE = (
    "struct<throttle_time_ms:int,"
    "topics:array<struct<name:string,partitions:array<struct<leader_id:int>>>>>"
)


@pytest.fixture(scope="module")
def rows(spark):
    """Return a data frame with two rows: a record set and a null."""
    data = records.encode_batch([(b"k", b"v", 5, [("h", b"x")]), (None, None, 6)])
    return spark.createDataFrame([(data,), (None,)], "data binary").coalesce(1)


def list_records(data):
    """Decode a record set to ``Record`` objects."""
    return data and records.decode_records(data)[0]


def list_dicts(data):
    """Decode a record set to dicts."""
    return data and [record.to_dict() for record in records.decode_records(data)[0]]


def make_response(data):
    """Return a message that has structs in arrays of structs."""
    cls = messages.MetadataResponse
    partition = cls.MetadataResponsePartition(leader_id=3)
    topic = cls.MetadataResponseTopic(name="orders", partitions=[partition])
    return data and cls(throttle_time_ms=7, topics=[topic])


def skip_unless_objects_are_accepted(decode, arrow):
    """Skip tests that return objects before PySpark 4.1.

    The Arrow path of older releases only accepts dicts and tuples.
    """
    from pyspark.sql import functions

    if arrow and decode is not list_dicts and not hasattr(functions, "arrow_udf"):
        pytest.skip("objects with Arrow require PySpark 4.1")


EXPECTED = [
    [(0, 5, b"k", b"v", [("h", b"x")]), (1, 6, None, None, [])],
    None,
]


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("decode", [list_records, list_dicts])
def test_a_udf_returns_records(rows, decode, arrow):
    """A UDF can return ``Record`` objects or dicts, with and without Arrow."""
    skip_unless_objects_are_accepted(decode, arrow)
    from pyspark.sql.functions import udf

    results = rows.select(udf(decode, RECORDS, useArrow=arrow)("data").alias("r"))
    assert [row.r for row in results.collect()] == EXPECTED


@pytest.mark.parametrize("arrow", [True, False])
def test_a_udf_returns_messages(rows, arrow):
    """A UDF can return a message. Fields that its type does not contain are omitted."""
    skip_unless_objects_are_accepted(make_response, arrow)
    from pyspark.sql.functions import udf

    results = rows.select(
        udf(make_response, RESPONSE, useArrow=arrow)("data").alias("m")
    )
    expected = (7, [("orders", [(3,)])])
    assert [row.m for row in results.collect()] == [expected, None]


def test_a_pandas_udf_returns_dicts_of_records(rows):
    """A pandas UDF can return dicts of records, but no objects."""
    from pyspark.sql.functions import pandas_udf

    def decode(column: pd.Series) -> pd.Series:
        return column.map(list_dicts, na_action="ignore")

    results = rows.select(pandas_udf(decode, RECORDS)("data").alias("r"))
    assert [row.r for row in results.collect()] == EXPECTED
