# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any allocation may fail: the result is a ``MemoryError`` and no damage.

Python gets its larger blocks from an allocator that can be replaced: here by one that
has none, or cannot resize what it gave. Blocks of the engine's own fail where they are
larger than what the process may map. ``test_single_allocations.py`` and
``records/test_record_memory.py`` fail each single one, in a child; these run where
lines are counted.
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
"""Python's domain of blocks from ``malloc``: all that have more than 512 bytes."""


class Allocator(ctypes.Structure):
    """``PyMemAllocatorEx``."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("ctx", "malloc", "calloc", "realloc", "free")
    ]


def address_of(function):
    """Return the address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value


def allocators():
    """Make the usual allocator, one without blocks, and one that never resizes."""
    usual = Allocator()
    ctypes.pythonapi.PyMem_GetAllocator(RAW, ctypes.byref(usual))
    # Called with the context, which is null, it gives null.
    nothing = address_of(ctypes.CDLL(None).labs)
    assert not usual.ctx
    return {
        "usual": usual,
        "no blocks": Allocator(None, nothing, nothing, nothing, usual.free),
        "no resizing": Allocator(None, usual.malloc, usual.calloc, nothing, usual.free),
    }


KINDS = allocators()


def ran_out(kind, call):
    """Make a call with one of these allocators; tell whether memory ran out."""
    change = ctypes.pythonapi.PyMem_SetAllocator
    wanted, usual = ctypes.byref(KINDS[kind]), ctypes.byref(KINDS["usual"])
    raised = False
    change(RAW, wanted)
    try:
        call()
    except MemoryError:
        raised = True
    finally:
        change(RAW, usual)
    return raised


def lacks(kind, call):
    """Check that a call works, fails for want of room, and works again."""
    call()
    assert ran_out(kind, call)
    call()


def ran_out_of_pages(call, room=2**25):
    """Make a call that may map ``room`` bytes; tell whether memory ran out."""
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
    """Call itself, so that what has to grow with the stack does so now."""
    if levels:
        go_down(levels - 1)


@pytest.fixture(autouse=True)
def warm(twins):
    """Let the interpreter, and who traces it, take before what they keep."""
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
    """Return the compiled engine; the other one leaves memory to Python."""
    return twins.fast


@pytest.fixture
def engine(kwire):
    """Find what the engine offers for records."""
    return importlib.import_module(f"{kwire.__name__}._engine.active").record_engine


@pytest.fixture
def columns(kwire):
    """Find the package's module of columns."""
    return importlib.import_module(f"{kwire.__name__}.records.columns")


def field(name, kind, **keys):
    """Describe a field of all versions."""
    return {"name": name, "type": kind, "versions": "0+"} | keys


def describe_tagged(name, kind, tag, **keys):
    """Describe a field in the tag section."""
    return field(name, kind, taggedVersions="0+", tag=tag, **keys)


def message_class(kwire, *fields):
    """Make a message of one flexible version."""
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


@pytest.mark.parametrize("place", ["line", "tag"])
@pytest.mark.parametrize("kind", VALUES)
def test_values_there_is_no_room_for(kwire, kind, place):
    """Text, bytes and arrays, in line and in the tag section, one struct deeper too."""
    inner = (
        field("Value", kind) if place == "line" else describe_tagged("Value", kind, 0)
    )
    cls = message_class(kwire, field("Rows", "[]Row", fields=[inner]))
    made = cls(rows=[cls.Row(value=VALUES[kind])])
    data = kwire.encode(made, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))
    lacks("no blocks", lambda: kwire.decode(cls, data, 0, compat="java"))
    assert kwire.decode(cls, data, 0) == made


@pytest.mark.parametrize("count", [60, 100])
def test_unknown_tags_there_is_no_room_for(kwire, count):
    """The list they are kept in, and the tuple it becomes."""
    cls = message_class(kwire, field("Value", "int32"))
    made = cls(unknown_tagged_fields=[(tag, b"") for tag in range(count)])
    data = kwire.encode(made, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))


def test_a_struct_there_is_no_room_for(kwire):
    """Read, made, changed: one of many fields is a large block."""
    names = [f"F{index}" for index in range(80)]
    rows = [field(name, "int8") for name in names]
    cls = message_class(kwire, *rows)
    made = cls(f1=5)
    data = kwire.encode(made, 0)
    lacks("no blocks", lambda: kwire.decode(cls, data, 0))
    lacks("no blocks", lambda: made.replace(f2=7))
    lacks("no blocks", cls)
    assert kwire.decode(cls, data, 0) == made


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
def test_each_end_of_the_first_buffer(kwire, name):
    """Whatever is at the 1024th byte, growing there fails and nothing breaks."""
    fields, values = LAST[name]
    cls = message_class(kwire, field("Text", "string"), *fields)
    values = dict(values)
    if name.endswith("struct"):
        values["a"] = cls.Inner(number=7)
    failed = set()
    for length in range(930, 1026):
        made = cls(text="x" * length, **values)
        # A small one first, so that the next begins in the small buffer.
        kwire.encode(cls(), 0)
        failed.add(ran_out("no blocks", lambda made=made: kwire.encode(made, 0)))
        kwire.encode(cls(), 0)
        data = kwire.encode(made, 0)
        assert kwire.decode(cls, data, 0) == made
    assert failed == {True}


def test_a_second_message_is_as_large_as_the_first(kwire):
    """The buffer that is taken at the start, grows, and is cut to size at the end."""
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


def test_a_buffer_that_cannot_grow_again(kwire):
    """It has moved out of the first one, and lets all go."""
    cls = message_class(kwire, field("A", "bytes"), field("B", "bytes"))
    made = cls(a=bytes(3000), b=bytes(9000))
    kwire.encode(cls(), 0)
    assert ran_out("no resizing", lambda: kwire.encode(made, 0))
    kwire.encode(cls(), 0)
    assert kwire.decode(cls, kwire.encode(made, 0), 0) == made


def test_single_values_there_is_no_room_for(kwire):
    """Each kind that has no bound, and arrays of what has one."""
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


def test_bulk_values_there_is_no_room_for(kwire):
    """They are written to the most there could be, and cut to size."""
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
def test_records_there_is_no_room_for(kwire, name):
    """Tuples of many, and keys, values and names that are long."""
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
def test_rows_there_is_no_room_for(kwire, name, kind):
    """What is copied of a row, and the batch itself."""
    row = ROWS[name]

    def encode():
        # A new text, as its UTF-8 stays with it.
        made = row
        if name.startswith("name"):
            pair = ["\xe9" * 601, b""]
            made = (*row[:3], [tuple(pair) if name == "name" else pair])
        kwire.records.encode_batch([made] * 20)

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
def test_a_builder_there_is_no_room_for(kwire, name):
    """It copies what may change, and takes no row that it could not copy."""
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
def test_batches_that_cannot_grow(kwire, magic):
    """More bytes than the rows let guess: more room is asked for, and not given."""
    rows = [(bytearray(500), memoryview(bytes(900)))] * 50
    lacks("no resizing", lambda: kwire.records.encode_batch(rows, magic=magic))
    lacks("no blocks", lambda: kwire.records.encode_batch(rows, magic=magic))
    lacks(
        "no blocks",
        lambda: kwire.records.encode_batch(
            rows, magic=magic, compression="gzip", base_offset=7
        ),
    )


def test_columns_there_is_no_room_for(columns, kwire):
    """The batch that is made of them."""
    table = columns.decode_records(kwire.records.encode_batch([(b"k", bytes(900))]))
    lacks("no blocks", lambda: columns.encode_batch(table))


def test_blocks_of_columns_have_an_end(engine):
    """More than there are addresses, and more than the process may map."""
    with pytest.raises(MemoryError):
        engine.new_memory(2**62)
    assert ran_out_of_pages(lambda: engine.new_memory(2**30))
    assert len(memoryview(engine.new_memory(2**20))) == 2**20


def entry(size, count=1, **fields):
    """Write the header of a batch of this many bytes, which were never touched."""
    memory = mmap.mmap(-1, size)
    head = batch(size=size - 12, count=count, last_delta=count - 1, crc=0, **fields)
    memory[: len(head)] = head
    return memory


def raw_varint(value):
    """Write an unsigned varint of five bytes."""
    return bytes(
        [value >> shift & 127 | 128 for shift in (0, 7, 14, 21)] + [value >> 28]
    )


LENGTH = 2**29


def value_of(place):
    """Write a batch of one record with one long value at a place of it."""
    parts = {"key": b"", "value": b"\1", "content": b"\1\1\2\2n"}
    front = b"\0\0\0" + parts[place] + raw_varint(LENGTH << 1)
    behind = {"key": 2, "value": 1, "content": 0}[place]
    size = len(front) + LENGTH + behind
    memory = entry(61 + 5 + size)
    memory[61 : 61 + 5 + len(front)] = raw_varint(size << 1) + front
    memory[len(memory) - behind :] = b"\1\0"[2 - behind :]
    return memory


@pytest.mark.parametrize("place", ["key", "value", "content"])
def test_columns_of_long_values(kwire, columns, place):
    """512 MiB of nothing in one record: neither a column nor an object of it."""
    data = value_of(place)
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))
    assert ran_out_of_pages(
        lambda: next(kwire.records.decode_batches(data, check_crc=False))
    )


@pytest.mark.parametrize("magic", [0, 1])
def test_columns_of_long_messages(kwire, columns, magic):
    """The same in the old formats."""
    head = struct.pack(">qiIbb", 0, 0, 0, magic, 0) + bytes(8 * magic)
    memory = mmap.mmap(-1, len(head) + 8 + LENGTH)
    memory[: len(head)] = head
    memory[8:12] = struct.pack(">i", len(memory) - 12)
    memory[len(head) : len(head) + 8] = struct.pack(">ii", -1, LENGTH)
    assert ran_out_of_pages(lambda: columns.decode_records(memory, check_crc=False))
    assert ran_out_of_pages(
        lambda: next(kwire.records.decode_batches(memory, check_crc=False))
    )


def test_columns_of_many_records(columns):
    """Room for all rows is made before the first one is read."""
    data = entry(2**30, count=2**27)
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))


def test_columns_of_many_headers(columns):
    """Room for all pairs of a record as well."""
    front = b"\0\0\0\1\1" + raw_varint(2**27 << 1)
    size = len(front) + 2**29
    data = entry(61 + 5 + size)
    data[61 : 61 + 5 + len(front)] = raw_varint(size << 1) + front
    assert ran_out_of_pages(lambda: columns.decode_records(data, check_crc=False))


@pytest.mark.parametrize("is_large", [False, True])
def test_columns_of_many_messages(kwire, engine, is_large):
    """Room for all rows of messages, and of request headers."""
    count = 2**27
    offsets = mmap.mmap(-1, (count + 1) * (8 if is_large else 4))
    rows = (None, offsets, b"", 0, count, is_large, True, kwire.Limits())
    cls = kwire.messages.MetadataResponse
    assert ran_out_of_pages(lambda: engine.decode_messages(cls, 9, *rows))
    assert ran_out_of_pages(lambda: engine.decode_messages(cls, 1, *rows))
    header = kwire.messages.RequestHeader
    assert ran_out_of_pages(lambda: engine.decode_request_headers(header, None, *rows))
