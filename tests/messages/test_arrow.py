# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``messages_to_arrow`` equals ``decode`` for every row, valid or not.

The tests compare columns with the objects that ``kwire.decode`` returns, and errors
with those for individual rows. Both engines return the same columns. The compiled
engine creates no objects for rows and releases the GIL.
"""

import importlib
import math
import re
import sys
import threading
import time
import tracemalloc
import uuid
from collections import defaultdict

import polars
import pyarrow
import pytest

from tests.harness import golden, hostile
from tests.harness.guard_pages import Guarded, check
from tests.harness.sweeps import sweep

PAIRS = sorted(golden.by_pair())
MESSAGES = sorted({name for name, _ in PAIRS})
HOSTILE_INPUTS = hostile.share(10)


def to_arrow(kwire, *arguments, **options):
    """Call ``messages_to_arrow`` on one engine. Validate the array, and return it."""
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    array = arrow.messages_to_arrow(*arguments, **options)
    array.validate(full=True)
    return array


def to_plain(value, kind):
    """Convert a decoded value to the value that pyarrow returns for it."""
    if value is None:
        return None
    if pyarrow.types.is_struct(kind):
        fields = [field for field in kind if field.name != "_error"]
        return {f.name: to_plain(getattr(value, f.name), f.type) for f in fields}
    if pyarrow.types.is_list(kind):
        return [to_plain(item, kind.value_type) for item in value]
    if isinstance(value, uuid.UUID):
        return value.bytes
    # Unlike in Python, NaN must equal NaN here.
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def values_of(array):
    """Return the values of an array in the same form as ``to_plain``."""

    def without_nan(value):
        if isinstance(value, dict):
            return {name: without_nan(item) for name, item in value.items()}
        if isinstance(value, list):
            return [without_nan(item) for item in value]
        return "nan" if isinstance(value, float) and math.isnan(value) else value

    return without_nan(array.to_pylist())


def try_to_decode(kwire, cls, data, version):
    """Decode one row as an object. Return (message, None) or (None, error).

    Remove the hint that ``decode`` adds to the error for a frame, because columns do
    not add it.
    """
    try:
        return kwire.decode(cls, data, version), None
    except kwire.DecodeError as error:
        error.reason = re.sub(r".* \(as they are: (.*)\)", r"\1", error.reason)
        return None, error.with_traceback(None)


def error_facts(error):
    """Return the class, message, offset and path of an error as a tuple."""
    return type(error).__name__, error.offset, error.path, error.reason


def binary_array(rows, kind=None):
    """Return a binary array of the rows, or an array of the type ``kind``."""
    return pyarrow.array(rows, kind or pyarrow.binary())


def heartbeats(kwire, count):
    """Encode ``count`` different Heartbeat requests. Return them as a list."""
    make = kwire.messages.HeartbeatRequest
    return [
        kwire.encode(make(group_id=f"group-{i}", generation_id=i, member_id="ä" * i), 4)
        for i in range(count)
    ]


def metadata(kwire, topics, partitions):
    """Encode a Metadata response.

    It has ``topics`` topics with ``partitions`` partitions each.
    """
    make = kwire.messages.MetadataResponse
    topic, partition = make.MetadataResponseTopic, make.MetadataResponsePartition
    inner = [
        partition(partition_index=i, replica_nodes=(1, 2, 3), isr_nodes=(1, i))
        for i in range(partitions)
    ]
    outer = [topic(name=f"topic-{i}", partitions=inner) for i in range(topics)]
    return kwire.encode(make(topics=outer), 9)


@sweep("name", MESSAGES)
def test_columns_equal_decode(kwire, name):
    """The columns of all golden vectors equal the messages that ``decode`` returns.

    There is a null row between the vectors of each version.
    """
    cls = getattr(kwire.messages, name)
    for version in [version for pair, version in PAIRS if pair == name]:
        rows = [vector.data for vector in golden.by_pair()[name, version]]
        rows = [*rows, None, *rows[::-1]]
        column = to_arrow(kwire, binary_array(rows), cls, version)
        messages = [
            kwire.decode(cls, row, version) if row is not None else None for row in rows
        ]
        assert values_of(column) == [
            to_plain(message, column.type) for message in messages
        ]
        assert column.null_count == 1
        assert [field.name for field in column.type] == list(cls.__match_args__)
        assert all(field.nullable for field in column.type)


@sweep("name", MESSAGES)
def test_twins_give_equal_columns(twins, name):
    """Both engines return columns with equal types, values and buffers."""
    for version in [version for pair, version in PAIRS if pair == name]:
        rows = [vector.data for vector in golden.by_pair()[name, version]]
        rows = binary_array([*rows, None, b"\xff", *rows])
        fast, pure = (
            to_arrow(
                package,
                rows,
                getattr(package.messages, name),
                version,
                on_error="null",
            )
            for package in twins
        )
        assert fast.type == pure.type
        assert list(map(content, fast.buffers())) == list(map(content, pure.buffers()))


def content(buffer):
    """Return the bytes of a buffer. A missing buffer has none, like an empty one."""
    return b"" if buffer is None else buffer.to_pybytes()


def test_each_kafka_type_has_one_arrow_type(kwire):
    """A Kafka type has the same Arrow type in every version."""
    inner_types = {}
    by_type = {
        "bool": pyarrow.bool_(),
        "int8": pyarrow.int8(),
        "int16": pyarrow.int16(),
        "uint16": pyarrow.uint16(),
        "int32": pyarrow.int32(),
        "uint32": pyarrow.uint32(),
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "string": pyarrow.string(),
        "bytes": pyarrow.binary(),
        "records": pyarrow.binary(),
        "uuid": pyarrow.binary(16),
    }

    def check(struct, kind):
        for field, column in zip(struct.fields, kind, strict=True):
            inner = column.type.value_type if field.is_array else column.type
            if field.struct is None:
                inner_types[field.type] = inner
                assert inner == by_type[field.type]
            else:
                check(field.struct, inner)

    for name, version in PAIRS:
        cls = getattr(kwire.messages, name)
        check(
            cls._binding.message.struct,
            to_arrow(kwire, binary_array([]), cls, version).type,
        )
    assert inner_types == by_type


def flat_forms(rows):
    """Yield an Arrow array of the same rows in every form that is accepted."""
    array = binary_array(rows)
    longer = binary_array([b"\0", None, b"", *rows, b"\xff\xff", None])
    large = binary_array(rows, pyarrow.large_binary())
    half = len(rows) // 2
    yield "binary", array
    yield "large binary", large
    yield "slice", longer.slice(3, len(rows))
    yield "slice of large", longer.cast(large.type).slice(3, len(rows))
    yield "binary view", array.cast(pyarrow.binary_view())
    yield "one chunk", pyarrow.chunked_array([longer.slice(3, len(rows))])
    yield (
        "chunks",
        pyarrow.chunked_array([array[:half], binary_array([]), array[half:]]),
    )
    yield "capsules", CapsulesOnly(longer.slice(3, len(rows)))
    yield "polars", polars.Series(rows, dtype=polars.Binary)


class CapsulesOnly:
    """Arrow array of an unknown library, which only has the capsule methods."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


def test_all_forms_of_input_have_equal_results(kwire):
    """Arrays of all forms with the same rows have the same result.

    The forms are slices, chunks, views and capsules.
    """
    cls = kwire.messages.HeartbeatRequest
    rows = [*heartbeats(kwire, 20), None, *heartbeats(kwire, 3)]
    expected = to_arrow(kwire, binary_array(rows), cls, 4)
    assert expected.null_count == 1
    forms = dict(flat_forms(rows))
    assert len(forms) == 9
    for form, array in forms.items():
        assert to_arrow(kwire, array, cls, 4).equals(expected), form


def test_string_and_fixed_size_binary_arrays_are_accepted(kwire):
    """String arrays and fixed-size binary arrays are accepted as bytes."""
    cls = kwire.messages.HeartbeatRequest
    row = kwire.encode(cls(group_id="g", member_id="m"), 3)
    expected = to_arrow(kwire, binary_array([row, None]), cls, 3)
    narrow = pyarrow.array([row, None], pyarrow.binary(len(row)))
    assert to_arrow(kwire, narrow, cls, 3).equals(expected)
    text = row.replace(b"\xff", b"\0").decode()
    expected = to_arrow(kwire, binary_array([text.encode()] * 2), cls, 3)
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        assert to_arrow(kwire, pyarrow.array([text] * 2, kind), cls, 3).equals(expected)


@pytest.mark.parametrize("rows", [[], [None], [None] * 9])
def test_arrays_without_messages_are_accepted(kwire, rows):
    """Arrays without rows and arrays of nulls are accepted for every binary type."""
    cls = kwire.messages.MetadataResponse
    kinds = [pyarrow.binary(), pyarrow.large_binary(), pyarrow.null()]
    for kind in kinds:
        for array in (binary_array(rows, kind), pyarrow.chunked_array([], kind)):
            column = to_arrow(kwire, array, cls, 12)
            assert column.null_count == len(column) == len(array)
            assert column.type.get_field_index("topics") >= 0


@pytest.mark.parametrize(
    "array", [[b""], b"", pyarrow.array([1]), pyarrow.table({"a": [b""]}), None]
)
def test_messages_to_arrow_rejects_other_input(kwire, array):
    """Input of another type raises TypeError with the required type."""
    with pytest.raises(TypeError, match="is required"):
        to_arrow(kwire, array, kwire.messages.HeartbeatRequest, 4)


def test_wrong_options_are_refused(kwire):
    """An unknown version, class or value of ``on_error`` raises an error."""
    cls = kwire.messages.MetadataResponse
    with pytest.raises(kwire.UnsupportedVersion):
        to_arrow(kwire, binary_array([]), cls, 99)
    with pytest.raises(TypeError):
        to_arrow(kwire, binary_array([]), cls.MetadataResponseTopic, 9)
    with pytest.raises(ValueError, match="on_error"):
        to_arrow(kwire, binary_array([]), cls, 9, on_error="ignore")


def test_missing_pyarrow_names_the_extra(kwire, monkeypatch):
    """If pyarrow is missing, the error contains the command that installs it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install kwire\[arrow\]"):
        to_arrow(kwire, None, kwire.messages.HeartbeatRequest, 4)


def hostile_rows():
    """Return damaged messages of all families, by (message, version)."""
    rows = defaultdict(list)
    for family in hostile.FAMILIES:
        for name, version, data in hostile.take(
            family, HOSTILE_INPUTS // len(hostile.FAMILIES)
        ):
            rows[name, version].append(data)
    return rows


def test_invalid_rows_become_null_and_leave_no_bytes(kwire):
    """An invalid row is null, with the text of its error. Other rows keep their values.

    Valid rows alternate with invalid ones, because everything that an invalid row wrote
    before it failed must be removed from all columns.
    """
    bad = 0
    for (name, version), rows in hostile_rows().items():
        cls = getattr(kwire.messages, name)
        valid_rows = [vector.data for vector in golden.by_pair()[name, version]][:2]
        rows = [
            *valid_rows,
            *[inserted for row in rows for inserted in (row, valid_rows[0])],
            None,
        ]
        column = to_arrow(kwire, binary_array(rows), cls, version, on_error="null")
        values = values_of(column)
        assert values.pop() is None
        assert column.null_count == 1
        for row, value in zip(rows[:-1], values, strict=True):
            message, error = try_to_decode(kwire, cls, row, version)
            assert value.pop("_error") == (None if error is None else str(error))
            if error is None:
                assert value == to_plain(message, column.type)
            else:
                assert set(value.values()) <= {None}
                bad += 1
    assert bad > HOSTILE_INPUTS // 4


def test_the_first_bad_row_is_raised(kwire):
    """By default, the error of the first invalid row is raised.

    It equals the error of ``decode``, but its path starts with the row number.
    """
    raised = 0
    for (name, version), rows in hostile_rows().items():
        cls = getattr(kwire.messages, name)
        valid_row = golden.by_pair()[name, version][0].data
        for row in rows[:3]:
            _, error = try_to_decode(kwire, cls, row, version)
            if error is None:
                continue
            with pytest.raises(kwire.DecodeError) as caught:
                to_arrow(kwire, binary_array([valid_row, None, row, b""]), cls, version)
            path = f"[2].{error.path}" if error.path else "[2]"
            kind, offset, _, reason = error_facts(error)
            assert error_facts(caught.value) == (kind, offset, path, reason)
            assert (caught.value.message_name, caught.value.version) == (name, version)
            raised += 1
    assert raised > 500


def test_the_type_is_the_same_in_every_call(kwire):
    """Two calls with the same class return the identical type object.

    The type is cached for a class, with its views and error column.
    """
    cls = kwire.messages.MetadataResponse
    data = binary_array([metadata(kwire, 1, 1)])
    for options in ({}, {"views": True}, {"on_error": "null"}, {}):
        calls = [to_arrow(kwire, data, cls, 9, **options) for _ in range(2)]
        assert calls[0].type == calls[1].type
        assert calls[0].equals(calls[1])
        fields = calls[1].type.field(calls[1].type.num_fields - 1)
        assert (fields.name == "_error") == ("on_error" in options)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 8, 125, 126, 127, 128, 300])
def test_short_and_long_values_are_read_alike(kwire, size):
    """Values of all sizes around 127 are decoded, and truncated ones are errors.

    The size of a short value fits in one byte. Short ASCII strings, short int32 arrays
    and empty arrays have a separate, faster code path.
    """
    cls = kwire.messages.MetadataResponse
    topic, partition = cls.MetadataResponseTopic, cls.MetadataResponsePartition
    broker = cls.MetadataResponseBroker
    texts = ["a" * size, "a" * max(size - 2, 0) + "ä", None]
    numbers = tuple(range(1000, 1000 + size))
    partitions = [
        partition(replica_nodes=numbers, isr_nodes=numbers[:1]),
        partition(offline_replicas=numbers),
    ]
    message = cls(
        brokers=[broker(host=text or "", rack=text) for text in texts],
        topics=[topic(name=text or "", partitions=partitions) for text in texts],
    )
    for version in (1, 9):
        data = kwire.encode(message, version)
        step = 1 + len(data) // 500
        rows = [data, *[data[:end] for end in range(0, len(data), step)], data]
        column = to_arrow(kwire, binary_array(rows), cls, version, on_error="null")
        values = values_of(column)
        for row, value in zip(rows, values, strict=True):
            message_read, error = try_to_decode(kwire, cls, row, version)
            assert value.pop("_error") == (None if error is None else str(error))
            if error is None:
                assert value == to_plain(message_read, column.type)


@pytest.mark.parametrize("slice_of_many", [False, True])
def test_row_sizes_may_vary(kwire, slice_of_many):
    """Rows of very different sizes are decoded, also after null and invalid rows."""
    cls = kwire.messages.MetadataResponse
    large, small = metadata(kwire, 60, 5), kwire.encode(cls(), 9)
    for rows in (
        [large, *[small] * 50],
        [small, *[large] * 3],
        [None, large, small],
        [large[:-1], small, large],
        [small[:-1], large],
    ):
        array = binary_array(rows)
        if slice_of_many:
            array = binary_array([*[large] * 9, *rows, *[large] * 9]).slice(
                9, len(rows)
            )
        column = to_arrow(kwire, array, cls, 9, on_error="null")
        for row, value in zip(rows, values_of(column), strict=True):
            if row is None:
                assert value is None
                continue
            message, error = try_to_decode(kwire, cls, row, 9)
            assert value.pop("_error") == (None if error is None else str(error))
            if error is None:
                assert value == to_plain(message, column.type)


def test_utf8_is_validated_as_in_python(kwire):
    """UTF-8 is validated like in Python, and the errors are equal.

    Every lead byte is tested with various next bytes.
    """
    cls = kwire.messages.HeartbeatRequest
    follow = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF)
    texts = [bytes((lead,)) for lead in range(128, 256)]
    texts += [bytes((lead, a)) for lead in range(128, 256) for a in follow]
    texts += [
        bytes((lead, a, b))
        for lead in range(0xDF, 0xF6)
        for a in follow
        for b in follow
    ]
    texts += [
        bytes((lead, a, b, c))
        for lead in range(0xEF, 0xF6)
        for a in follow
        for b in (0x7F, 0x80, 0xBF, 0xC0)
        for c in (0x7F, 0x80, 0xBF, 0xC0)
    ]
    texts = [
        before + text + after
        for text in texts
        for before, after in ((b"", b""), (b"abcdefghi", b"z"), (b"\xc3\xa4", b""))
    ]
    rows = [
        len(text).to_bytes(2, "big") + text + kwire.encode(cls(), 3)[2:]
        for text in texts
    ]
    column = to_arrow(kwire, binary_array(rows), cls, 3, on_error="null")
    assert 0 < column.field("_error").null_count < len(rows)
    expected = [try_to_decode(kwire, cls, row, 3)[1] for row in rows]
    assert column.field("_error").to_pylist() == [
        None if error is None else str(error) for error in expected
    ]


def test_rows_have_the_limits_of_messages(kwire):
    """``limits`` applies to each row, not to the whole array."""
    cls = kwire.messages.HeartbeatRequest
    row = kwire.encode(cls(group_id="g"), 4)
    limits = kwire.Limits(frame_bytes=len(row))
    assert len(to_arrow(kwire, binary_array([row] * 9), cls, 4, limits=limits)) == 9
    with pytest.raises(kwire.LimitExceeded) as caught:
        to_arrow(kwire, binary_array([row, row + b"\0"]), cls, 4, limits=limits)
    assert (caught.value.path, caught.value.offset) == ("[1]", 0)
    unlimited = kwire.Limits(frame_bytes=None)
    assert len(to_arrow(kwire, binary_array([row]), cls, 4, limits=unlimited)) == 1


@pytest.mark.parametrize("on_error", ["raise", "null"])
def test_column_offsets_may_reach_the_limit(kwire, monkeypatch, on_error):
    """The offsets of strings, elements and errors may reach the maximum.

    If they exceed it, an error is raised. The test reduces the maximum.
    """
    columns = importlib.import_module(
        f"{kwire.__name__}._engine.{kwire.backend}.message_columns"
    )
    assert columns.LARGEST_OFFSET == 2**31 - 1
    cls = kwire.messages.MetadataResponse
    row = metadata(kwire, 10, 20)
    # Every name has 7 bytes. The replicas have the most elements, 600 per row.
    rows = binary_array([row, None, row])
    monkeypatch.setattr(columns, "LARGEST_OFFSET", 1200)
    to_arrow(kwire, rows, cls, 9, on_error=on_error)
    monkeypatch.setattr(columns, "LARGEST_OFFSET", 1199)
    with pytest.raises(kwire.LimitExceeded, match="32-bit offsets") as caught:
        to_arrow(kwire, rows, cls, 9, on_error=on_error)
    assert (caught.value.path, caught.value.offset) == ("", 0)
    texts = binary_array(heartbeats(kwire, 21))
    size = sum(len("ä".encode()) * i for i in range(21))
    monkeypatch.setattr(columns, "LARGEST_OFFSET", size)
    to_arrow(kwire, texts, kwire.messages.HeartbeatRequest, 4, on_error=on_error)
    monkeypatch.setattr(columns, "LARGEST_OFFSET", size - 1)
    with pytest.raises(kwire.LimitExceeded):
        to_arrow(kwire, texts, kwire.messages.HeartbeatRequest, 4, on_error=on_error)


def test_invalid_array_offsets_are_rejected(kwire):
    """Input offsets outside of the data raise an error before they are used."""
    columns = importlib.import_module(
        f"{kwire.__name__}._engine.{kwire.backend}.message_columns"
    )
    cls = kwire.messages.HeartbeatRequest
    row = kwire.encode(cls(), 4)

    def call(offsets, data=row, count=1, validity=None, start=0):
        raw = b"".join(n.to_bytes(4, sys.byteorder, signed=True) for n in offsets)
        return columns.decode_messages(
            cls, 4, validity, raw, data, start, count, False, False
        )

    assert call([0, len(row)]).length == 1
    assert call([5, 5, len(row) + 5], b"\xff" * 5 + row, 1, None, 1).length == 1
    for offsets in ([0, len(row) + 1], [-1, len(row) - 1], [len(row), 0], [0, -1]):
        with pytest.raises(ValueError, match="offsets of row 0"):
            call(offsets)
    # Even the size of the first row, which estimates the memory, must be valid.
    for last in (-1, 0, len(row) - 1, len(row) + 1, 2**31 - 1):
        with pytest.raises(ValueError, match="offsets of row 1"):
            call([0, len(row), last], count=2)
    for last in (-(2**63), 2**63 - 1):
        raw = b"".join(
            n.to_bytes(8, sys.byteorder, signed=True) for n in (0, len(row), last)
        )
        with pytest.raises(ValueError, match="offsets of row 1"):
            columns.decode_messages(cls, 4, None, raw, row, 0, 2, True, False)
    with pytest.raises(ValueError, match="too short"):
        call([0, len(row)], count=2)
    with pytest.raises(ValueError, match="too short"):
        call([0] * 10, count=9, validity=b"\xff")
    with pytest.raises(ValueError, match="start and count"):
        call([0], count=-1)
    with pytest.raises(ValueError, match="start and count"):
        call([0], start=-1)
    for huge in (2**62, 2**63 - 1):
        with pytest.raises(ValueError, match="too short"):
            call([0], start=huge, count=1)


def test_buffers_are_released(kwire):
    """The input is released after success and failure.

    A bytearray can therefore be resized.
    """
    columns = importlib.import_module(
        f"{kwire.__name__}._engine.{kwire.backend}.message_columns"
    )
    cls = kwire.messages.HeartbeatRequest
    data = bytearray(kwire.encode(cls(), 4))
    parts = bytearray(b"\1"), bytearray(4) + len(data).to_bytes(4, sys.byteorder), data
    columns.decode_messages(cls, 4, *parts, 0, 1, False, False)
    for buffer in parts:
        buffer.append(0)
    del data[-1]
    data[0] = 0
    with pytest.raises(kwire.DecodeError):
        columns.decode_messages(cls, 4, *parts, 0, 1, False, False)
    for buffer in parts:
        buffer.append(0)


def test_no_object_is_made_for_a_row(twins):
    """Decoding rows with the compiled engine creates no Python object per row.

    The columns are not Python objects. Even one object of the minimum size per row
    would need 800 KB.
    """
    kwire = twins.fast
    cls = kwire.messages.MetadataResponse
    row = metadata(kwire, 3, 3)
    for count in (10, 10_000):
        array = binary_array([row, row, None] * count)
        column = to_arrow(kwire, array, cls, 9, on_error="null")
        tracemalloc.start()
        column = to_arrow(kwire, array, cls, 9, on_error="null")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(column) == 3 * count
        assert peak < 32 * 1024


def test_other_threads_run_during_a_call(twins):
    """Another thread runs while the compiled engine decodes a large array."""
    kwire = twins.fast
    columns = importlib.import_module(f"{kwire.__name__}._engine.fast.message_columns")
    cls = kwire.messages.MetadataResponse
    row = metadata(kwire, 100, 100)
    array = binary_array([row] * 200)
    buffers = array.buffers()
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.0002)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        columns.decode_messages(cls, 9, *buffers, 0, len(array), False, False)
        during = counted[0] - before
    finally:
        ended.set()
        thread.join()
    assert during >= 5


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)
@pytest.mark.parametrize("family", sorted(hostile.FAMILIES))
def test_no_byte_after_the_data_is_read(twins, family):
    """No byte after the data of the array is read.

    Every damaged message is the last row, and ends at an inaccessible page.
    """
    kwire, guarded = twins.fast, Guarded()
    columns = importlib.import_module(f"{kwire.__name__}._engine.fast.message_columns")

    def work(note):
        for name, version, data in hostile.take(family, HOSTILE_INPUTS // 4):
            note((name, version, data))
            cls = getattr(kwire.messages, name)
            offsets = b"".join(n.to_bytes(4, sys.byteorder) for n in (0, len(data)))
            columns.decode_messages(
                cls, version, None, offsets, guarded.put(data), 0, 1, False, True
            )

    check(work)
