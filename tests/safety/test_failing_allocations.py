# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any allocation may fail: the result is a ``MemoryError`` without other damage.

Python obtains larger blocks from a replaceable allocator. The tests replace it by an
allocator without memory, or without resizing. The engine's own blocks fail if they
exceed the process's address space limit. ``test_single_allocations.py`` and
``records/test_record_memory.py`` let single allocations fail in a child process. The
tests in this file also run when coverage is measured.
"""

import ctypes
import gc
import importlib
import json
import mmap
import struct
import uuid

import numpy
import pytest

from tests.records.record_bytes import batch, message, record

RAW = 0
"""Number of Python's memory domain for ``malloc``.

All blocks above 512 bytes use this domain.
"""


class Allocator(ctypes.Structure):
    """``PyMemAllocatorEx`` of the C API: context and functions of an allocator."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("ctx", "malloc", "calloc", "realloc", "free")
    ]


def address_of(function):
    """Return the address of a C function as an integer."""
    return ctypes.cast(function, ctypes.c_void_p).value


def allocators():
    """Return three allocators by name.

    They work normally, provide no memory, or cannot resize memory.
    """
    usual = Allocator()
    ctypes.pythonapi.PyMem_GetAllocator(RAW, ctypes.byref(usual))
    # The allocator functions receive the context, which is null, and labs(0) is null.
    nothing = address_of(ctypes.CDLL(None).labs)
    assert not usual.ctx
    return {
        "usual": usual,
        "no blocks": Allocator(None, nothing, nothing, nothing, usual.free),
        "no resizing": Allocator(None, usual.malloc, usual.calloc, nothing, usual.free),
    }


KINDS = allocators()


def ran_out(kind, call):
    """Make a call with the allocator ``kind``. Return whether it raised MemoryError."""
    change = ctypes.pythonapi.PyMem_SetAllocator
    failing, usual = ctypes.byref(KINDS[kind]), ctypes.byref(KINDS["usual"])
    raised = False
    change(RAW, failing)
    try:
        call()
    except MemoryError:
        raised = True
    finally:
        change(RAW, usual)
    return raised


def lacks(kind, call):
    """Assert that a call succeeds before and after a failure.

    With the allocator ``kind``, it must raise MemoryError.
    """
    call()
    assert ran_out(kind, call)
    call()


def ran_out_of_pages(call, room=2**25):
    """Make a call that may map at most ``room`` bytes of new memory.

    Return whether it raised MemoryError.
    """
    resource = pytest.importorskip("resource", reason="no limit on memory")
    gc.collect()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (used + room, limits[1]))
    try:
        call()
    except MemoryError:
        return True
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    return False


def go_down(levels):
    """Recurse ``levels`` times, so that the interpreter allocates frames in advance."""
    if levels:
        go_down(levels - 1)


@pytest.fixture(autouse=True)
def warm(twins):
    """Make calls that let the interpreter and tracers allocate their memory in advance.

    Otherwise, these allocations could fail instead of the tested ones.
    """
    go_down(300)
    kwire = twins.fast
    topic = kwire.messages.MetadataRequest.MetadataRequestTopic(name=5)
    for call in (
        lambda: kwire.encode(kwire.messages.MetadataRequest(topics=[topic]), 1),
        lambda: kwire.decode(kwire.messages.MetadataRequest, b"\0\0\0\1\0", 1),
        lambda: kwire.messages.wire.encode_array([1, "x"]),
        lambda: kwire.messages.wire.decode_array(b"\0\0\0\2\0"),
        lambda: kwire.records.encode_batch([(b"", b"", 1, [["n", 5]])]),
        lambda: kwire.messages.framing.encode_request(
            kwire.messages.MetadataRequest(topics=[topic]), 1
        ),
        lambda: list(kwire.records.decode_batches(BATCHES["name"] + bytes(20))),
    ):
        with pytest.raises(kwire.KwireError):
            call()


@pytest.fixture
def kwire(twins):
    """Return the compiled engine. The Python engine leaves allocation to Python."""
    return twins.fast


@pytest.fixture
def engine(kwire):
    """Return the record engine of the package."""
    return importlib.import_module(f"{kwire.__name__}._engine.active").record_engine


@pytest.fixture
def columns(kwire):
    """Return the ``records.columns`` module of the package."""
    return importlib.import_module(f"{kwire.__name__}.records.columns")


def field(name, kind, **keys):
    """Return the schema of a field that exists in all versions."""
    return {"name": name, "type": kind, "versions": "0+"} | keys


def describe_tagged(name, kind, tag, **keys):
    """Return the schema of a tagged field that exists in all versions."""
    return field(name, kind, taggedVersions="0+", tag=tag, **keys)


def message_class(kwire, *fields):
    """Create a message class with one version, which is flexible."""
    messages = importlib.import_module(f"{kwire.__name__}.messages")
    described = {"type": "data", "name": "Large", "fields": fields}
    described |= {"validVersions": "0", "flexibleVersions": "0+"}
    return messages.message_class(json.dumps(described))


VALUES = {
    "[]bytes": [b"x" * 600] * 2,
    "[]string": ["ab"] * 100,
    "[]int32": range(100),
    "[]int64": range(100),
    "[]uuid": [uuid.UUID(int=1)] * 100,
    "string": "x" * 600,
    "bytes": b"x" * 600,
}


@pytest.mark.parametrize("position", ["line", "tag"])
@pytest.mark.parametrize("kind", VALUES)
def test_decode_reports_failed_allocations(kwire, kind, position):
    """If the memory for a string, bytes or array fails, MemoryError is raised.

    The field is inline or tagged, and in a nested struct.
    """
    inner = (
        field("Value", kind)
        if position == "line"
        else describe_tagged("Value", kind, 0)
    )
    cls = message_class(kwire, field("Rows", "[]Row", fields=[inner]))
    sample = cls(rows=[cls.Row(value=VALUES[kind])])
    data = kwire.encode(sample, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))
    lacks("no blocks", lambda: kwire.decode(cls, data, 0, compat="java"))
    assert kwire.decode(cls, data, 0) == sample


@pytest.mark.parametrize("count", [60, 100])
def test_unknown_tags_report_failed_allocations(kwire, count):
    """If the memory for unknown tags fails, MemoryError is raised.

    Both the list and the final tuple can fail.
    """
    cls = message_class(kwire, field("Value", "int32"))
    sample = cls(unknown_tagged_fields=[(tag, b"") for tag in range(count)])
    data = kwire.encode(sample, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))


def test_structs_report_failed_allocations(kwire):
    """If the memory for a struct with many fields fails, MemoryError is raised.

    Decoding, creating and changing the struct are tested.
    """
    names = [f"F{index}" for index in range(80)]
    rows = [field(name, "int8") for name in names]
    cls = message_class(kwire, *rows)
    sample = cls(f1=5)
    data = kwire.encode(sample, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))
    lacks("no blocks", lambda: sample.replace(f2=7))
    lacks("no blocks", cls)
    assert kwire.decode(cls, data, 0) == sample


INNER = {"fields": [field("Number", "int64")], "nullableVersions": "0+"}
LAST = {
    "numbers": ([field("A", "int64"), field("B", "int16")], {}),
    "uuid": ([field("A", "uuid")], {}),
    "string": ([field("A", "string")], {"a": "x" * 20}),
    "bytes": ([field("A", "bytes")], {"a": bytearray(20)}),
    "array": ([field("A", "[]int32")], {"a": range(9)}),
    "strings": ([field("A", "[]string")], {"a": ["", "x"]}),
    "bools": ([field("A", "[]bool")], {"a": [True] * 9}),
    "struct": ([field("A", "Inner", **INNER)], {}),
    "tag": ([describe_tagged("A", "int64", 0)], {"a": 5}),
    "tagged array": ([describe_tagged("A", "[]int32", 0)], {"a": range(9)}),
    "tagged struct": (
        [describe_tagged("A", "Inner", 0, default="null", **INNER)],
        {"a": None},
    ),
    "unknown": ([], {"unknown_tagged_fields": [(5, b"xy"), (2**28, b"x" * 20)]}),
    "classic string": (
        [field("A", "string", flexibleVersions="none"), field("B", "string")],
        {"a": "x"},
    ),
}


@pytest.mark.parametrize("name", LAST)
def test_failed_growth_of_the_first_buffer_damages_nothing(kwire, name):
    """If the first buffer of 1024 bytes cannot grow, MemoryError is raised.

    The next messages are encoded correctly. The test covers all types of the field that
    crosses the end of the buffer.
    """
    fields, values = LAST[name]
    cls = message_class(kwire, field("Text", "string"), *fields)
    values = dict(values)
    if name.endswith("struct"):
        values["a"] = cls.Inner(number=7)
    failed = set()
    for length in range(930, 1026):
        sample = cls(text="x" * length, **values)
        # Encode a small message first, so that the next one starts in the small buffer.
        kwire.encode(cls(), 0)
        failed.add(ran_out("no blocks", lambda sample=sample: kwire.encode(sample, 0)))
        kwire.encode(cls(), 0)
        data = kwire.encode(sample, 0)
        assert kwire.decode(cls, data, 0) == sample
    assert failed == {True}


def test_second_message_reports_failed_allocations(kwire):
    """If the buffer of a second message fails, MemoryError is raised.

    The buffer cannot be allocated or resized. When memory is available again, the same
    message is encoded correctly.
    """
    request = kwire.messages.SaslAuthenticateRequest
    large, small = request(auth_bytes=bytes(5000)), request(auth_bytes=bytes(3000))
    answer = kwire.messages.SaslAuthenticateResponse
    for encode, first, second in (
        (kwire.encode, large, small),
        (kwire.messages.framing.encode_request, large, small),
        (
            kwire.messages.framing.encode_response,
            answer(auth_bytes=bytes(5000)),
            answer(auth_bytes=bytes(3000)),
        ),
    ):
        expected = encode(second, 2)
        for kind in ("no blocks", "no resizing"):
            encode(first, 2)
            assert ran_out(kind, lambda e=encode, m=second: e(m, 2))
            assert encode(second, 2) == expected
        encode(answer() if second is not small else request(), 2)


def test_second_failed_growth_frees_the_buffer(kwire):
    """If the second growth of a buffer fails, the buffer is freed."""
    cls = message_class(kwire, field("A", "bytes"), field("B", "bytes"))
    sample = cls(a=bytes(3000), b=bytes(9000))
    kwire.encode(cls(), 0)
    assert ran_out("no resizing", lambda: kwire.encode(sample, 0))
    kwire.encode(cls(), 0)
    assert kwire.decode(cls, kwire.encode(sample, 0), 0) == sample


def test_single_values_report_failed_allocations(kwire):
    """If the memory for a single value fails, MemoryError is raised.

    The values are types without a maximum size, and arrays of other types.
    """
    wire = kwire.messages.wire
    for name, value in (
        ("string", "x" * 2000),
        ("bytes", b"x" * 2000),
        ("compact_array", tuple(range(1000))),
        ("tagged_fields", {1: b"x" * 2000}),
    ):
        data = getattr(wire, f"encode_{name}")(value)
        lacks("no blocks", lambda n=name, v=value: getattr(wire, f"encode_{n}")(v))
        lacks("no blocks", lambda n=name, d=data: getattr(wire, f"decode_{n}")(d))
    for length in range(990, 1030):
        tags = {0: b"x" * length, 300: b"", 2**30: b"y" * 5}
        expected = wire.encode_tagged_fields(tags)
        ran_out("no blocks", lambda t=tags: wire.encode_tagged_fields(t))
        assert wire.encode_tagged_fields(tags) == expected


def test_bulk_values_report_failed_allocations(kwire):
    """If the memory for bulk values fails, MemoryError is raised.

    The output is allocated with its maximum size, and then resized.
    """
    for name in ("unsigned_varints", "varints", "varlongs"):
        values = numpy.ones(
            1000, "u4" if name[0] == "u" else f"i{4 + 4 * (name[3] == 'l')}"
        )
        encode = getattr(kwire.messages.wire, f"encode_{name}")
        for kind in ("no blocks", "no resizing"):
            lacks(kind, lambda e=encode, v=values: e(v))


BATCHES = {
    "records": batch(*[record(index) for index in range(100)]),
    "key": batch(record(0, 0, b"k" * 600)),
    "value": batch(record(0, 0, None, b"v" * 600)),
    "headers": batch(record(headers=[(b"n", None)] * 100)),
    "name": batch(record(headers=[(b"n" * 600, None)])),
    "content": batch(record(headers=[(b"n", b"x" * 600)])),
    "key of a message": message(1, 0, b"k" * 600, b"v"),
    "value of a message": message(0, 0, None, b"v" * 600),
}


@pytest.mark.parametrize("name", BATCHES)
def test_decode_batches_reports_failed_allocations(kwire, name):
    """If the memory for records fails, ``decode_batches`` raises MemoryError.

    The blocks are tuples of many records, and long keys, values and header names.
    """
    data = BATCHES[name]
    lacks("no blocks", lambda: list(kwire.records.decode_batches(data)))


LONG = "\xe9" * 600
ROWS = {
    "bytes": (b"k" * 600, b"v"),
    "other bytes": (bytearray(600), b"v"),
    "list": [b"k" * 50, b"v", 5, [("n", b"x")]],
    "no row": [b"k"] * 100,
    "headers": (b"k", b"v", 5, [("n", b"x")] * 100),
    "odd headers": (b"k", b"v", 5, [["n", bytearray(1)]] * 100),
    "no pair": (b"k", b"v", 5, [["n"] * 100]),
    "name": (b"k", b"v", 5, [(LONG, b"")]),
    "name in a list": (b"k", b"v", 5, [["".join(LONG), b""]]),
    "content": (b"k", b"v", 5, [("n", bytearray(600))]),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kind", ["no blocks", "no resizing"])
def test_encode_batch_reports_failed_allocations(kwire, name, kind):
    """If the memory for copied rows or for the batch fails, MemoryError is raised."""
    row = ROWS[name]

    def encode():
        # Use a new string, because CPython stores its UTF-8 form in the string.
        row_copy = row
        if name.startswith("name"):
            pair = ["\xe9" * 601, b""]
            row_copy = (*row[:3], [tuple(pair) if name == "name" else pair])
        kwire.records.encode_batch([row_copy] * 20)

    if name.startswith("no "):
        with pytest.raises(kwire.EncodeError):
            encode()
    else:
        encode()
    try:
        failed = ran_out(kind, encode)
    except kwire.EncodeError:
        failed = name.startswith("no ")
    assert failed


@pytest.mark.parametrize("name", [*ROWS][1:])
def test_batch_builder_reports_failed_allocations(kwire, name):
    """If the builder cannot copy a row, MemoryError is raised and no row is added."""
    builder = kwire.records.BatchBuilder(2**20)
    *row, headers = ((*ROWS[name], None, ())[:4]) if name != "no row" else [b""] * 4
    if name.startswith("name"):
        headers = [["\xe9" * 602, b""]]
    failed = False
    try:
        failed = ran_out("no blocks", lambda: builder.append(*row, headers))
    except kwire.EncodeError:
        failed = name.startswith("no ")
    assert failed == (name != "list")
    assert len(builder) == (name == "list")


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_batch_growth_reports_failed_allocations(kwire, magic):
    """If a batch that is larger than estimated cannot grow, MemoryError is raised."""
    rows = [(bytearray(500), memoryview(bytes(900)))] * 50
    lacks("no resizing", lambda: kwire.records.encode_batch(rows, magic=magic))
    lacks("no blocks", lambda: kwire.records.encode_batch(rows, magic=magic))
    lacks(
        "no blocks",
        lambda: kwire.records.encode_batch(
            rows, magic=magic, compression="gzip", base_offset=7
        ),
    )


def test_columns_report_failed_allocations(columns, kwire):
    """If the batch for encoded columns cannot be allocated, MemoryError is raised."""
    table = columns.decode_records(kwire.records.encode_batch([(b"k", bytes(900))]))
    lacks("no blocks", lambda: columns.encode_batch(table))


def test_blocks_of_columns_have_an_end(engine):
    """``new_memory`` raises MemoryError for sizes that are not available.

    One size exceeds the address space, and one exceeds the limit of the process.
    """
    with pytest.raises(MemoryError):
        engine.new_memory(2**62)
    assert ran_out_of_pages(lambda: engine.new_memory(2**30))
    assert len(memoryview(engine.new_memory(2**20))) == 2**20


def entry(size, count=1, **fields):
    """Return memory of ``size`` bytes that starts with a batch header for this size.

    The rest is unwritten, and therefore needs no physical memory.
    """
    memory = mmap.mmap(-1, size)
    head = batch(size=size - 12, count=count, last_delta=count - 1, crc=0, **fields)
    memory[: len(head)] = head
    return memory


def raw_varint(value):
    """Encode an unsigned varint with exactly five bytes."""
    return bytes(
        [value >> shift & 127 | 128 for shift in (0, 7, 14, 21)] + [value >> 28]
    )


LENGTH = 2**29


def value_of(part):
    """Return a batch with one record, whose key, value or header value is long."""
    parts = {"key": b"", "value": b"\1", "content": b"\1\1\2\2n"}
    front = b"\0\0\0" + parts[part] + raw_varint(LENGTH << 1)
    behind = {"key": 2, "value": 1, "content": 0}[part]
    size = len(front) + LENGTH + behind
    memory = entry(61 + 5 + size)
    memory[61 : 61 + 5 + len(front)] = raw_varint(size << 1) + front
    memory[len(memory) - behind :] = b"\1\0"[2 - behind :]
    return memory


@pytest.mark.parametrize("part", ["key", "value", "content"])
def test_columns_of_long_values_report_failed_allocations(kwire, columns, part):
    """If the memory for a record of 512 MiB fails, MemoryError is raised.

    The record is decoded as columns and as an object.
    """
    data = value_of(part)
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))
    assert ran_out_of_pages(
        lambda: next(kwire.records.decode_batches(data, check_crc=False))
    )


@pytest.mark.parametrize("magic", [0, 1])
def test_columns_of_long_messages_report_failed_allocations(kwire, columns, magic):
    """If the memory for a long message of magic 0 or 1 fails, MemoryError is raised."""
    head = struct.pack(">qiIbb", 0, 0, 0, magic, 0) + bytes(8 * magic)
    memory = mmap.mmap(-1, len(head) + 8 + LENGTH)
    memory[: len(head)] = head
    memory[8:12] = struct.pack(">i", len(memory) - 12)
    memory[len(head) : len(head) + 8] = struct.pack(">ii", -1, LENGTH)
    assert ran_out_of_pages(lambda: columns.decode_records(memory, check_crc=False))
    assert ran_out_of_pages(
        lambda: next(kwire.records.decode_batches(memory, check_crc=False))
    )


def test_columns_of_many_records_report_failed_allocations(columns):
    """The memory for all rows is allocated before the first record is read."""
    data = entry(2**30, count=2**27)
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))


def test_columns_of_many_headers_report_failed_allocations(columns):
    """The memory for all headers of a record is allocated before they are read."""
    front = b"\0\0\0\1\1" + raw_varint(2**27 << 1)
    size = len(front) + 2**29
    data = entry(61 + 5 + size)
    data[61 : 61 + 5 + len(front)] = raw_varint(size << 1) + front
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))


@pytest.mark.parametrize("is_large", [False, True])
def test_columns_of_many_messages_report_failed_allocations(kwire, engine, is_large):
    """The memory for all rows of an array is allocated before the first row is read.

    Messages and request headers are tested.
    """
    count = 2**27
    offsets = mmap.mmap(-1, (count + 1) * (8 if is_large else 4))
    rows = (None, offsets, b"", 0, count, is_large, True, kwire.Limits())
    cls = kwire.messages.MetadataResponse
    assert ran_out_of_pages(lambda: engine.decode_messages(cls, 9, *rows))
    assert ran_out_of_pages(lambda: engine.decode_messages(cls, 1, *rows))
    header = kwire.messages.RequestHeader
    assert ran_out_of_pages(lambda: engine.decode_request_headers(header, None, *rows))
