# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Input that another process changes during a call yields a value or an error.

A shared mapping, or a ``bytearray`` that another thread fills, may change between two
reads of the same byte. If the checked value differs from the used value, a ``str`` may
be invalid, Arrow may contain text that is not UTF-8, or a size may not match the
allocation. All calls run in a child process, because these errors can crash it.
"""

import functools
import itertools
import mmap
import struct
import sys
import time
from array import array

import pyarrow as pa
import pytest

from tests.harness.guard_pages import check
from tests.harness.hostile import INPUTS
from tests.safety import entry_calls as on
from tests.safety.changing_memory import changed, check_texts
from tests.safety.entries import ENTRIES, plain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

LEAST = 5
"""Minimum number of calls for each case, however slow the machine is."""

SECONDS = 0.2 * INPUTS / 50_000
"""Duration of a case with a long input, in seconds."""

LONG = "kwire" * 6000
"""Long text of 30,000 characters.

It is long enough that the writer can change it between its check and its copy.
"""

READERS = [
    entry
    for entry in ENTRIES.values()
    if entry.is_view or (entry.name.startswith("spark") and not entry.is_text)
]
"""Entries whose function reads the memory of its argument without a copy."""


def outcome(run, package, argument):
    """Make a call, and check its result.

    Return True if it is a value, and False if it is an error.
    """
    try:
        value = run(package, argument)
    except package.KwireError as error:
        check_texts(str(error))
        return False
    if isinstance(value, (pa.Array, pa.RecordBatch)):
        value.validate(full=True)
    else:
        check_texts(plain(value))
    return True


def calls(cases, package, seconds):
    """Make calls on changing memory. Return (number of calls, number of values).

    A case is (name, call, valid inputs). It is called at least ``LEAST`` times and for
    at least ``seconds``, because the writer may have to wait for a processor.
    """
    counts = mmap.mmap(-1, 16)
    for _, run, seeds in cases:
        # Imports on the first call take longer than many calls.
        outcome(run, package, memoryview(seeds[0]))

    def work(note):
        done = values = 0
        for name, run, seeds in cases:
            note(name)
            until = time.monotonic() + seconds
            for number in itertools.count():
                if number >= LEAST and time.monotonic() > until:
                    break
                memory_input = memory.put(seeds[number % len(seeds)])
                values += outcome(run, package, memory_input)
                done += 1
        counts[:] = struct.pack("=2q", done, values)

    with changed() as memory:
        check(work)
    return struct.unpack("=2q", counts)


def test_every_entry_reads_memory_that_changes(twins, figure):
    """All entries that read foreign memory return a value or a documented error.

    Only the compiled engine is tested.
    """
    cases = [(entry.name, entry.run, entry.seeds()) for entry in READERS]
    done, values = calls(cases, twins.fast, SECONDS / 10)
    assert done // 20 < values < done
    figure("P21", "calls of other entries", done, least=len(READERS) * LEAST)


def messages(package):
    """Yield cases that decode messages with a long text, strictly and leniently."""
    cls = package.messages.FindCoordinatorRequest
    for version in (2, 3):
        seed = package.encode(cls(key=LONG), version)
        for options in ({}, {"compat": "java"}, {"zero_copy": True}):
            yield (
                f"message {version} {options}",
                lambda package, data, version=version, options=options: package.decode(
                    package.messages.FindCoordinatorRequest, data, version, **options
                ),
                seed,
            )
        yield (
            f"columns of messages {version}",
            lambda package, data, version=version: columns_of(package, data, version),
            seed,
        )
    for name in ("string", "compact_string"):
        seed = getattr(package.messages.wire, f"encode_{name}")(LONG)
        yield f"wire {name}", on.call(f"messages.wire.decode_{name}"), seed


def columns_of(package, data, version):
    """Decode one message to columns without copying the input."""
    arrow = on.module(package, "messages.arrow")
    cls = package.messages.FindCoordinatorRequest
    return arrow.messages_to_arrow(one_row(data), cls, version, on_error="null")


def one_row(data):
    """Create an Arrow array with one row that shares the memory of the input."""
    offsets = pa.py_buffer(struct.pack("=2i", 0, len(data)))
    buffers = [None, offsets, pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), 1, buffers)


def headers(package):
    """Yield cases that decode requests with a long client id."""
    request = package.messages.ApiVersionsRequest()
    seed = package.messages.framing.encode_request(request, 3, 7, LONG)[4:]
    yield "request", on.call("messages.framing.decode_request"), seed
    for mode in ("raise", "null"):
        read = on.call("messages.arrow.request_headers_to_arrow", on_error=mode)
        yield (
            f"columns of headers {mode}",
            lambda package, data, read=read: read(package, one_row(data)),
            seed,
        )


def records(package):
    """Yield cases that decode records with a long header key.

    The key is the same in several records.
    """
    rows = [(b"k", b"v" * 50, 5, [(LONG[:9000], b"h")])] * 3
    seed = package.records.encode_batch(rows)
    for errors in ("strict", "replace"):
        options = {"errors": errors, "check_crc": False}
        yield (
            f"records {errors}",
            lambda package, data, options=options: on.decode_all(
                package, data, **options
            ),
            seed,
        )
        read = on.call("records.arrow.records_to_arrow", **options)
        yield f"columns of records {errors}", read, seed
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        rows = [(b"k", bytes(range(200)) * 20, 5)] * 20
        seed = package.records.encode_batch(rows, compression=codec)
        read = on.call("records.arrow.records_to_arrow", check_crc=False)
        yield f"columns of {codec}", read, seed


@pytest.mark.parametrize("cases", [messages, headers, records])
def test_long_text_is_what_it_says(twins, figure, cases):
    """A text that changes between its check and its copy is valid or an error."""
    package = twins.fast
    memory_cases = [(name, run, [seed]) for name, run, seed in cases(package)]
    done, values = calls(memory_cases, package, SECONDS)
    assert values
    figure(
        "P21", f"calls on long {cases.__name__}", done, least=len(memory_cases) * LEAST
    )


ROWS = 20


def encode_all(package, table):
    """Encode all rows of a table."""
    return on.module(package, "records.columns").encode_batch(table)


def encode_some(package, table):
    """Encode the rows of a table by number, from the last row to the first."""
    engine = on.module(package, "_engine.active").record_engine
    options = on.module(package, "records.options")
    rows = engine.ColumnRows(*on.module(package, "records.tables").split_table(table))
    encoded = engine.EncodedRows(1 << 20)
    encoded.extend_columns(rows, array("q", range(ROWS)[::-1]))
    header = options.make_header(options.BatchOptions(), len(encoded))
    return encoded.make_batch(header)


def try_to_encode(package, data, encode):
    """Encode columns that change, and decode the resulting batch."""
    try:
        table = table_over(data)
    except pa.ArrowInvalid:
        # pyarrow read an inconsistent offset.
        return None
    batch = encode(package, table)
    try:
        return on.module(package, "records.arrow").records_to_arrow(batch)
    except package.KwireError as error:
        raise AssertionError("a batch that kwire cannot read") from error


def table_over(data):
    """Return a table whose offsets and bytes share the memory of the input."""
    places, content = data[: 4 * (ROWS + 1)], data[4 * (ROWS + 1) :]
    buffers = [None, pa.py_buffer(places), pa.py_buffer(content)]
    key = pa.Array.from_buffers(pa.binary(), ROWS, buffers)
    names = pa.Array.from_buffers(pa.string(), ROWS, buffers)
    pairs = pa.StructArray.from_arrays([names, key], ["key", "value"])
    lists = pa.ListArray.from_arrays(pa.array(range(ROWS + 1), pa.int32()), pairs)
    return pa.record_batch({"key": key, "value": key, "headers": lists})


def test_columns_that_change_become_a_sound_batch(twins, figure):
    """Columns that change are encoded to a valid batch, or rejected.

    Checksum, sizes and header keys of the batch are valid.
    """
    text = LONG * 8
    size = len(text) // ROWS
    seed = struct.pack(f"={ROWS + 1}i", *range(0, len(text) + 1, size)) + text.encode()
    cases = [
        (encode.__name__, functools.partial(try_to_encode, encode=encode), [seed])
        for encode in (encode_all, encode_some)
    ]
    done, values = calls(cases, twins.fast, 2 * SECONDS)
    assert values
    figure("P21", "batches written of columns that change", done, least=2 * LEAST)


def test_a_frame_whose_header_changes_is_refused(kwire, monkeypatch):
    """If the header of a request changes, the request is rejected.

    Header and body must belong to the same API and version.
    """
    frame = kwire.messages.framing.encode_request(kwire.messages.MetadataRequest(), 5)[
        4:
    ]
    with monkeypatch.context() as patch:
        changed_head = (b"\0\3\0\6", len(frame))
        patch.setattr(
            kwire.messages.framing.frame_hints,
            "take_first_bytes",
            lambda *_: changed_head,
        )
        with pytest.raises(kwire.InvalidValue, match="input changed"):
            kwire.messages.framing.decode_request(frame)
    assert kwire.messages.framing.decode_request(frame)[0].request_api_version == 5


def test_batch_that_disappears_is_not_converted(kwire, monkeypatch):
    """If the batch disappears after its header was read, an error is raised."""
    batch = kwire.records.encode_batch([(b"k", b"v")])
    monkeypatch.setattr(kwire.records, "decode_batches", lambda *_, **__: iter(()))
    with pytest.raises(kwire.InvalidValue, match="input changed"):
        kwire.records.convert_batches(batch, 1)


def test_a_payload_that_may_change_is_copied(kwire, monkeypatch):
    """A compression library receives a copy of the payload, which cannot change."""
    inputs = []
    compression = on.module(kwire, "records.compression")
    batch = kwire.records.encode_batch([(b"k", b"v")], compression="gzip")
    none, gzip, *_ = compression.CODECS

    def reader(data, *arguments):
        inputs.append(data.obj)
        return gzip.read(data, *arguments)

    monkeypatch.setattr(compression, "CODECS", [none, gzip._replace(read=reader)])
    for data in (batch, bytearray(batch)):
        assert [
            decoded_batch.records
            for decoded_batch in kwire.records.decode_batches(data)
        ]
    assert inputs[0] is batch
    assert type(inputs[1]) is bytes and inputs[1] is not batch
