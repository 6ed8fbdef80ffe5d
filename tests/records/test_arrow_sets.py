# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record set and frame columns from any library become pyarrow arrays.

Their contents are tested in ``tests/spark``. These tests cover the input forms, the
types, and the errors that the public functions raise.
"""

import pandas
import polars
import pyarrow
import pytest


def make_set(kwire):
    """Encode a batch with two records."""
    return kwire.records.encode_batch([(b"k", b"v", 5, [("h", b"x")]), (None, None)])


def make_forms(rows):
    """Return a column with the same rows from every supported library, by name."""
    array = pyarrow.array(rows, pyarrow.binary())
    return {
        "array": array,
        "chunked array": pyarrow.chunked_array([array[:1], array[1:]]),
        "large binary": array.cast(pyarrow.large_binary()),
        "pandas objects": pandas.Series(rows),
        "pandas with Arrow": pandas.Series(array, dtype=pandas.ArrowDtype(array.type)),
        "polars": polars.Series(rows, dtype=polars.Binary),
    }


def test_columns_of_every_library_are_the_same_records(kwire):
    """The records are the same, whichever library the column of record sets is from.

    The field names equal those of ``records_to_arrow``. Records without headers have
    null.
    """
    data = make_set(kwire)
    expected = {
        "offset": 0,
        "timestamp_type": 0,
        "key": b"k",
        "value": b"v",
        "headers": [{"key": "h", "value": b"x"}],
    }
    for name, column in make_forms([data, None, b"", data + data]).items():
        lists = kwire.records.arrow.record_sets_to_arrow(column)
        lists.validate(full=True)
        rows = lists.to_pylist()
        assert [row and len(row) for row in rows] == [2, None, [], 4], name
        first, second = rows[0]
        assert first.pop("timestamp").timestamp() == 0.005 and first == expected
        assert second["headers"] is None and second["key"] is None


def test_damage_is_an_error_or_a_record_with_its_text(kwire):
    """A damaged record set raises an error, or has one record with the error text.

    ``on_error`` has the same meaning as in ``messages_to_arrow``.
    """
    decode = kwire.records.arrow.record_sets_to_arrow
    data = make_set(kwire)
    rows = pyarrow.array([data[:-1] + b"?" + data])
    with pytest.raises(kwire.CorruptBatch):
        decode(rows)
    (row,) = decode(rows, on_error="null").to_pylist()
    assert [bool(record["_error"]) for record in row] == [True, False, False]
    schema = pyarrow.list_(pyarrow.struct([("OFFSET", pyarrow.int64())]))
    lists = decode(rows, on_error="null", schema=schema)
    assert lists.type == schema
    assert lists.to_pylist() == [[None, {"OFFSET": 0}, {"OFFSET": 1}]]
    with pytest.raises(ValueError, match='on_error must be "raise" or "null"'):
        decode(rows, on_error="skip")


def test_frames_of_every_library_are_the_same_structs(kwire):
    """The structs are the same, whichever library the column of frames is from.

    The version may be a number, a column, or a part of the frames.
    """
    cls = kwire.messages.MetadataResponse
    decode = kwire.messages.arrow.frames_to_arrow
    response = cls(throttle_time_ms=7, cluster_id="c")
    versions = [3, None, 9, 12]
    frames = [
        version and kwire.messages.framing.encode_response(response, version)[4:]
        for version in versions
    ]
    numbers = make_forms(frames)
    forms = {
        "array": pyarrow.array(versions),
        "pandas objects": pandas.Series(versions),
        "polars": polars.Series(versions),
    }
    for name, column in forms.items():
        rows = decode(numbers[name], cls, column).to_pylist()
        assert [row and row["throttle_time_ms"] for row in rows] == [7, None, 7, 7]
    schema = pyarrow.struct([("clusterId", pyarrow.string())])
    rows = decode(pyarrow.array(frames[2:3]), cls, 9, schema=schema)
    assert rows.to_pylist() == [{"clusterId": "c"}]
    beat = kwire.messages.HeartbeatRequest(group_id="g")
    frame = kwire.messages.framing.encode_request(beat, 4)[4:]
    for column in make_forms([frame, None]).values():
        rows = decode(column, kwire.messages.HeartbeatRequest).to_pylist()
        assert [row and row["group_id"] for row in rows] == ["g", None]


def test_wrong_input_raises_a_helpful_error(kwire):
    """Errors about column types and schemas contain Arrow's type names."""
    decode = kwire.records.arrow.record_sets_to_arrow
    with pytest.raises(TypeError, match="an Arrow array is required"):
        decode([b""])
    with pytest.raises(TypeError, match="an array of binary is required"):
        decode(pyarrow.array([1]))
    schema = pyarrow.list_(pyarrow.struct([("offset", pyarrow.int32())]))
    with pytest.raises(ValueError, match="offset cannot be int32; use int64;"):
        decode(pyarrow.array([b""]), schema=schema)
    cls = kwire.messages.HeartbeatRequest
    schema = pyarrow.struct([("groupid", pyarrow.int32())])
    with pytest.raises(ValueError, match="groupid cannot be int32; use string;"):
        kwire.messages.arrow.frames_to_arrow(pyarrow.array([b""]), cls, schema=schema)
