# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding and encoding records leaks no memory and uses no freed memory.

Every function is called repeatedly with valid and invalid input, with a failing
allocator, and with buffers that other threads modify. Cases that could crash the
process run in a child process. Reads beyond the end of the input are tested in
``test_hostile_records.py`` and ``test_lying_callers.py``.
"""

import contextlib
import gc
import importlib
import struct
import sys
import threading
from functools import partial

import pytest

from tests.harness.guard_pages import check
from tests.harness.together import together
from tests.harness.traced import measure_left, peak_of
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import marker

HEADERS = [("first", b"x"), ("zweiter ü", None)]
ROWS = [(b"key", bytes(index), 10**12 + index, HEADERS) for index in range(300, 306)]
PLAIN = batch(
    *(
        record(index, 10**9 * index, b"key", b"value", [(b"name", b"x")])
        for index in range(3)
    )
)
MESSAGES = message(1, 300, b"key", b"value", 10**12) + message(1, 301, None, b"value")
WRAPPED = wrapper(1, message(1, 0, b"key", b"v"), message(1, 1), offset=1000)
MARKER = marker(0, 7, 0)
COMPRESSED = compressed_batch(record(0, 10**9, b"key", b"value"))
BAD_NAME = batch(record(0, 0, b"key", b"value", [(b"n\xff\xfeme", b"x")]))
TEXT = (None, struct.pack("=3i", 0, 1, 2), b"ab", 0)
LISTS = (struct.pack("=3i", 0, 1, 2), 0, 2, TEXT, TEXT)


def engine_of(package):
    """Return the module of the package's record engine."""
    return importlib.import_module(f"{package.__name__}._engine.active").record_engine


class Raising:
    """Object that raises LookupError when it is converted to int or iterated."""

    def __index__(self):
        """Raise LookupError."""
        raise LookupError("mine")

    __iter__ = __index__


def refuse(*_):
    """Compression function that raises LookupError."""
    raise LookupError("mine")


def calls(package):
    """Return calls by name, for every engine function.

    The calls have valid arguments and all kinds of invalid ones.
    """
    engine = engine_of(package)
    columns = importlib.import_module(f"{package.__name__}.records.columns")
    records = package.records
    head = records.BatchHeader(last_offset=-1)
    first = records.read_batch_header(MESSAGES)
    outer = records.read_batch_header(WRAPPED)
    plain = records.read_batch_header(PLAIN)
    inner = message(1, 0, b"key", b"v")
    odd = [[bytearray(b"k"), memoryview(b"v"), True, [["a", bytearray(b"x")]]]] * 2
    text = [(b"k", b"v", None, [("a", b"b"), ("\ud800", b"b")])]
    texts = (TEXT, TEXT, LISTS)
    nulls = (*LISTS[:3], (b"\0", *TEXT[1:]), TEXT)
    table = columns.decode_records(PLAIN)
    return {
        "head": lambda: records.read_batch_header(PLAIN),
        "head, checksum": lambda: records.read_batch_header(PLAIN[:-1] + b"?"),
        "records": lambda: engine.read_records(PLAIN, plain),
        "records, cut": lambda: engine.read_records(PLAIN[61:-1], plain, compressed=1),
        "records, name": lambda: list(records.decode_batches(BAD_NAME)),
        "replaced": lambda: list(records.decode_batches(BAD_NAME, errors="replace")),
        "messages": lambda: engine.read_message_run(MESSAGES, first),
        "inner": lambda: engine.read_inner_messages(inner, outer),
        "inner, cut": lambda: engine.read_inner_messages(inner[:-1], outer),
        "payload": lambda: engine.find_payload(WRAPPED, outer),
        "batches": lambda: list(records.decode_batches(WRAPPED + COMPRESSED)),
        "encode": lambda: engine.encode_batch(ROWS, head, None),
        "encode compressed": lambda: engine.encode_batch(ROWS, head, bytes),
        "encode odd": lambda: engine.encode_batch(odd, head, None),
        "encode, text": lambda: engine.encode_batch(text, head, None),
        "encode, number": lambda: engine.encode_batch([(b"", b"", 2**70)], head, None),
        "encode, row": lambda: engine.encode_batch([5], head, None),
        "encode, raise": lambda: engine.encode_batch(
            [(bytearray(1), b"", Raising())], head, None
        ),
        "encode, headers": lambda: engine.encode_batch(
            [(b"", bytearray(1), None, Raising())], head, None
        ),
        "encode, codec": lambda: engine.encode_batch(ROWS, head, refuse),
        "encode messages": lambda: engine.encode_messages(
            [row[:3] for row in ROWS], head.replace(magic=1, attributes=1), bytes
        ),
        "columns": lambda: columns.decode_records(PLAIN + MESSAGES, batch_columns=True),
        "columns compressed": lambda: columns.decode_records(WRAPPED + COMPRESSED),
        "columns of views": lambda: columns.decode_records(
            PLAIN + MESSAGES + WRAPPED + COMPRESSED, views=True
        ).__arrow_c_array__(),
        "columns of views, name": lambda: columns.decode_records(BAD_NAME, views=True),
        "columns of views, codec": lambda: engine.decode_columns(
            COMPRESSED, engine.ReadOptions(refuse), views=True
        ),
        "columns replaced": lambda: columns.decode_records(BAD_NAME, errors="replace"),
        "columns, name": lambda: columns.decode_records(BAD_NAME),
        "columns, checksum": lambda: columns.decode_records(PLAIN[:-1] + b"?"),
        "columns, start": lambda: columns.decode_records(PLAIN, start_offset="0"),
        "columns, codec": lambda: engine.decode_columns(
            COMPRESSED, engine.ReadOptions(refuse)
        ),
        "rows": lambda: records.decode_records(PLAIN + MESSAGES + WRAPPED + COMPRESSED),
        "rows cut": lambda: records.decode_records(PLAIN + MESSAGES, start_offset=1),
        "rows committed": lambda: records.decode_records(
            MARKER, aborted_transactions=[]
        ),
        "rows, name": lambda: records.decode_records(BAD_NAME),
        "rows, checksum": lambda: records.decode_records(PLAIN[:-1] + b"?"),
        "rows, codec": lambda: engine.decode_records(
            COMPRESSED, engine.ReadOptions(refuse)
        ),
        "encode columns": lambda: engine.encode_columns(
            2, None, None, *texts, head, bytes
        ),
        "encode columns, null": lambda: engine.encode_columns(
            2, None, None, TEXT, TEXT, nulls, head, None
        ),
        "encode columns, count": lambda: engine.encode_columns(
            3, None, None, *texts, head, None
        ),
        "memory": lambda: bytes(memoryview(engine.new_memory(100))),
        "arrow": lambda: table.__arrow_c_array__(),
    }


def attempt(package, call):
    """Make a call.

    Return True if it raised an expected error, False if it succeeded.
    """
    try:
        call()
    except (package.KwireError, TypeError, LookupError):
        return True
    return False


ROUNDS = {"fast": 1000, "pure": 80}
TRACED_ROUNDS = 20


@pytest.mark.gate_on_pure
def test_nothing_grows(kwire, figure):
    """No function leaks memory or references, in successful and in failed calls."""
    watched = [None, True, (), "", b"", 0, kwire.records.Record]
    rounds = ROUNDS[kwire.backend]
    entries = calls(kwire)
    leaks = {}
    gc.collect()
    gc.freeze()
    for title, call in entries.items():
        # The first calls fill caches.
        failed = [attempt(kwire, call) for _ in range(10)]
        assert all(failed) == any(failed) == ("," in title), title
        gc.collect()
        references = [sys.getrefcount(value) for value in watched]
        blocks = measure_left(partial(attempt, kwire, call), TRACED_ROUNDS)
        if blocks:
            leaks[title] = blocks
        for _ in range(rounds):
            attempt(kwire, call)
        gc.collect()
        pairs = zip(watched, references, strict=True)
        grown = [sys.getrefcount(value) - number for value, number in pairs]
        assert max(grown) < rounds // 2, (title, grown)
    figure("P11", "entries and errors of records traced", len(entries), least=30)
    print(leaks)
    figure("P11", "entries of records that leave a block", len(leaks), most=0)


WORST = {
    "records": record(0, 0) * 1200,
    "records with headers": record(0, 0, headers=[(b"", None)]) * 1000,
    "headers": record(0, 0, headers=[(b"", b"")] * 4000),
    "names of headers": record(0, 0, headers=[(b"ab", None)] * 2000),
    "keys": record(0, 0, b"ab", b"cd") * 800,
    "timestamps": record(0, 2**40) * 800,
}
COUNTS = {"headers": 1, "names of headers": 1, "records": 1200, "keys": 800}
COUNTS |= {"records with headers": 1000, "timestamps": 800}
PROMISED = {"fast": 40, "pure": 48}
ENGINES = {"fast": "compiled engine", "pure": "plain Python"}
SPARE = 16 * 1024


@pytest.mark.parametrize("name", WORST)
def test_memory_is_bounded_by_the_input(kwire, name, figure):
    """Memory is limited by a multiple of the input size.

    The input contains as many objects as possible, and is complete or truncated.
    """
    data = batch(WORST[name], count=COUNTS[name], last_delta=COUNTS[name] - 1)
    cut = batch(WORST[name][:-1], count=COUNTS[name], last_delta=COUNTS[name] - 1)
    most = 0
    for source in (data, cut):
        attempt(kwire, lambda: list(read(kwire, data)))
        bound = PROMISED[kwire.backend] * len(source) + SPARE
        peak, failed = peak_of(
            lambda d=source: attempt(kwire, lambda: list(read(kwire, d))), bound
        )
        assert failed == (source is cut)
        most = max(most, (peak - SPARE) / len(source))
    figure(
        "P7",
        f"memory of records for a byte of input, {ENGINES[kwire.backend]}",
        most,
        most=PROMISED[kwire.backend],
        unit=" bytes",
    )


def read(package, data):
    """Decode the records of a batch."""
    return package.records.decode_batches(data, check_crc=False)


CALL_BACK = {
    "encode, raise",
    "encode, headers",
    "encode, codec",
    "columns, codec",
    "columns of views, codec",
    "rows, codec",
}
LACKS = {"one allocation": 1, "two allocations": 2, "thirty allocations": 30}


@pytest.mark.parametrize("lack", LACKS)
def test_failing_allocations_raise_memory_error(twins, lack):
    """If an allocation fails, MemoryError or the regular result is returned.

    Every allocation of a call fails in turn.
    """
    failing = pytest.importorskip(
        "_testcapi", reason="this CPython came without its own tests, which fail memory"
    )
    package, width = twins.fast, LACKS[lack]
    allowed = (package.KwireError, TypeError, LookupError)
    # CPython raises this error if it has no memory for a frame. Functions that the
    # engine calls back raise other errors, so they are not tested.
    no_exception_text = "error return without exception set"
    tried = {
        title: call for title, call in calls(package).items() if title not in CALL_BACK
    }

    def work(note):
        sys.unraisablehook = lambda unraisable: None
        ran_out = 0
        for title, call in tried.items():
            attempt(package, call)
            start = calm = 0
            while calm < 20 and start < 400:
                note((title, start))
                calm += 1
                try:
                    failing.set_nomemory(start, start + width)
                    try:
                        call()
                    finally:
                        failing.remove_mem_hooks()
                except MemoryError:
                    calm = 0
                    ran_out += 1
                except allowed:
                    pass
                except SystemError as error:
                    # The error message may be missing, because it needs memory, too.
                    if error.args and no_exception_text not in str(error):
                        raise
                start += 1
            attempt(package, call)
        assert ran_out > 300

    check(work)


def test_returned_buffer_of_a_codec_is_not_reused(kwire):
    """A codec that keeps the view of its input cannot access reused memory.

    The view is closed after the call, or its bytes do not change.
    """
    engine = engine_of(kwire)
    head = kwire.records.BatchHeader(last_offset=-1)
    buffers = []

    def compress(content):
        buffers.append((content, bytes(content)))
        return bytes(content)

    for number in range(20):
        rows = [(None, bytes([number]) * 1000)] * 100
        engine.encode_batch(rows, head, compress)
        engine.encode_batch(rows, head, None)
    assert len(buffers) == 20
    for content, original in buffers:
        with contextlib.suppress(ValueError):
            assert bytes(content) == original


def in_threads(*works):
    """Run functions in threads.

    The first function runs once. The others are repeated until it returns.
    """
    ended = threading.Event()
    first, *followers = works

    def lead():
        try:
            first()
        finally:
            ended.set()

    def follow(work):
        while not ended.is_set():
            work()

    together([lead, *(partial(follow, work) for work in followers)])


def test_changing_input_is_not_read_past_its_end(twins):
    """If another thread changes the input, no byte after the input is read.

    The result may be wrong or an error.
    """
    package = twins.fast
    columns = importlib.import_module(f"{package.__name__}.records.columns")
    valid = package.records.encode_batch([(b"key", bytes(50), 5, HEADERS)] * 3000)
    data = bytearray(valid)

    def read():
        for _ in range(150):
            # The readers may read different values from the same byte, which may raise
            # an error.
            with contextlib.suppress(package.DecodeError, SystemError):
                columns.decode_records(data, check_crc=False, errors="replace")

    def change():
        for position in range(70, len(data), 997):
            data[position] = 0xFF
        data[:] = valid

    check(lambda note: in_threads(read, change))


def test_changing_columns_never_exceed_the_allocation(twins):
    """Columns that another thread changes are rejected or encoded.

    The batch never exceeds its allocated memory.
    """
    package = twins.fast
    engine = engine_of(package)
    head = package.records.BatchHeader(last_offset=-1)
    count, large = 100_000, 1_000_000
    offsets = struct.pack(f"={count + 1}i", *range(count + 1))
    changing = bytearray(offsets)
    key = (None, offsets, bytes(large), 0)
    value = (None, changing, bytes(large), 0)
    lists = (struct.pack("=2i", 0, count), 0, count, key, value)

    def write():
        for _ in range(300):
            with contextlib.suppress(package.EncodeError):
                engine.encode_columns(1, None, None, TEXT, TEXT, lists, head, None)

    def change():
        changing[-4:] = struct.pack("=i", large)
        changing[-4:] = offsets[-4:]

    check(lambda note: in_threads(write, change))
