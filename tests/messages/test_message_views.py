# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test messages as columns whose bytes are views into the input array.

``messages_to_arrow(views=True)`` is compared with columns that copy. The tests verify
that the result refers to the memory of the input array as long as the result exists.
"""

import gc
import importlib

import polars
import pyarrow
import pytest

from tests.harness.values import build, systematic

VIEW = pyarrow.binary_view()


def to_arrow(kwire, *arguments, **options):
    """Call ``messages_to_arrow`` with views, and return the validated array."""
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    return arrow.messages_to_arrow(*arguments, **options)


def produce(kwire, *sizes):
    """Encode a Produce request with one topic for each record set size in ``sizes``."""
    cls = kwire.messages.ProduceRequest
    topics = [
        cls.TopicProduceData(
            name=f"t{size}",
            partition_data=[
                cls.PartitionProduceData(
                    records=None if size is None else bytes(range(256))[:size] * 2
                )
            ],
        )
        for size in sizes
    ]
    return kwire.encode(cls(topic_data=topics), 9)


def records_in(requests):
    """Return the record sets in a column of Produce requests."""
    return (
        requests.field("topic_data")
        .flatten()
        .field("partition_data")
        .flatten()
        .field("records")
    )


def without_views(kind):
    """Return the same type with binary instead of binary views."""
    if kind == VIEW:
        return pyarrow.binary()
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct(
            [field.with_type(without_views(field.type)) for field in kind]
        )
    if pyarrow.types.is_list(kind):
        inner = kind.value_field
        return pyarrow.list_(inner.with_type(without_views(inner.type)))
    return kind


@pytest.mark.parametrize("on_error", ["raise", "null"])
def test_views_equal_the_copied_columns(kwire, on_error):
    """Views have the same values as columns that copy.

    The values have all lengths and null, and some rows are null or invalid.
    """
    cls = kwire.messages.ProduceRequest
    rows = [produce(kwire, *range(20), None, 200), None, produce(kwire), b""]
    rows = rows[: 3 if on_error == "raise" else 4]
    for kind in (pyarrow.binary(), pyarrow.large_binary(), VIEW):
        array = pyarrow.array([b"x", *rows, rows[0]], kind)[1:]
        plain = to_arrow(kwire, array, cls, 9, on_error=on_error)
        column = to_arrow(kwire, array, cls, 9, on_error=on_error, views=True)
        column.validate(full=True)
        assert records_in(column).type == VIEW
        assert column.cast(plain.type).equals(plain)
        assert column.null_count == 1
    frame = polars.from_arrow(pyarrow.table({"request": column}))
    assert frame["request"].len() == len(rows) + 1


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("FetchResponse", 4),
        ("FetchResponse", 16),
        ("JoinGroupResponse", 9),
        ("SaslAuthenticateRequest", 2),
        ("DescribeGroupsResponse", 5),
        ("SyncGroupRequest", 0),
        ("MetadataResponse", 12),
    ],
)
def test_views_cover_bytes_in_every_kind_of_field(kwire, name, version):
    """All bytes fields are views: in arrays, in structs, and in tagged fields.

    In versions without the field, the column is null.
    """
    cls = getattr(kwire.messages, name)
    values = [
        build(kwire, name, fields) for _, fields in systematic(kwire, name, version)
    ]
    rows = pyarrow.array([kwire.encode(value, version) for value in values])
    plain = to_arrow(kwire, rows, cls, version)
    views = to_arrow(kwire, rows, cls, version, views=True)
    views.validate(full=True)
    assert without_views(views.type) == plain.type
    assert views.cast(plain.type).equals(plain)


def test_views_keep_the_array_alive(kwire):
    """The array is kept alive as long as a view exists.

    A bytearray cannot be resized, and its changes are visible.
    """
    row = produce(kwire, 100)
    data = bytearray(row)
    offsets = pyarrow.py_buffer(
        len(row).to_bytes(8, "little")[4:] + len(row).to_bytes(4, "little")
    )
    buffers = [None, offsets, pyarrow.py_buffer(data)]
    array = pyarrow.Array.from_buffers(pyarrow.binary(), 1, buffers)
    column = records_in(
        to_arrow(kwire, array, kwire.messages.ProduceRequest, 9, views=True)
    )
    del array, buffers
    gc.collect()
    data[data.index(bytes(range(100)))] = 0xFF
    assert column[0].as_py() == b"\xff" + (bytes(range(100)) * 2)[1:]
    with pytest.raises(BufferError):
        data.append(0)
    del column
    gc.collect()
    data.append(0)


def test_errors_release_the_array(kwire):
    """After an error, the array is released. The error is the same as without views."""
    row = produce(kwire, 100)
    data = bytearray(row[:-1])
    offsets = pyarrow.py_buffer(bytes(4) + len(data).to_bytes(4, "little"))
    array = pyarrow.Array.from_buffers(
        pyarrow.binary(), 1, [None, offsets, pyarrow.py_buffer(data)]
    )
    with pytest.raises(kwire.DecodeError) as caught:
        to_arrow(kwire, array, kwire.messages.ProduceRequest, 9, views=True)
    with pytest.raises(kwire.DecodeError) as plain:
        to_arrow(kwire, array, kwire.messages.ProduceRequest, 9)
    assert str(caught.value) == str(plain.value)
    # The tracebacks of the errors refer to frames that hold the array, so delete them.
    del array, caught, plain
    gc.collect()
    data.append(0)
