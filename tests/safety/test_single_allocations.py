# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Any single allocation in a call may fail, including the smallest allocations.

CPython's hooks let one allocation fail, or three in a row, at every position in the
call. The result is a ``MemoryError`` or the normal result, and the next call works. The
tests run in a child process, because a bug causes a crash. The same is tested for
records in ``records/test_record_memory.py``, and for large blocks in
``test_failing_allocations.py``.
"""

import importlib
import re
import struct
import uuid
from functools import partial
from pathlib import Path

import pytest

from tests.harness.golden import Vector, by_pair
from tests.harness.guard_pages import check
from tests.harness.values import neutral

LACKS = {"one allocation": 1, "three allocations": 3}
CALM = 12
"""Number of successful calls in a row after which the test ends.

The failing allocation is then after the last allocation of the call.
"""
MOST = 3000
OWN = re.compile("^error return without exception set|^<function .* returned NULL")
"""Matches errors that CPython raises if it has no memory for a frame."""


@pytest.fixture
def kwire(twins):
    """Return the compiled engine. The Python engine leaves allocation to Python."""
    return twins.fast


@pytest.fixture
def failing():
    """Return the module ``_testcapi``, whose functions let allocations fail."""
    reason = "this CPython came without its own tests, which fail memory"
    return pytest.importorskip("_testcapi", reason=reason)


def longest_vectors(kwire):
    """Yield the longest golden vector of each (message, version) pair."""
    for (name, _), vectors in by_pair().items():
        longest = max(vectors, key=lambda vector: len(vector.data))
        yield getattr(kwire.messages, name), longest


def partitions(kwire):
    """Build a response with ids and epochs that CPython does not cache."""
    cls = kwire.messages.MetadataResponse
    topic = cls.MetadataResponseTopic
    parts = [
        cls.MetadataResponsePartition(
            partition_index=1000 + index,
            leader_id=2000 + index,
            leader_epoch=3000 + index,
            replica_nodes=(1001, 1002, 1003 + index),
            isr_nodes=(1001, 1002),
        )
        for index in range(5)
    ]
    topics = [topic(name="orders", partitions=parts)]
    return cls(topics=topics, cluster_id="c", controller_id=1001)


def try_each(failing, package, call, width, read):
    """Let one allocation after another fail. Return how often MemoryError was raised.

    ``width`` is the number of consecutive allocations that fail.
    """
    expected = outcome_of(package, call, read)
    start = calm = ran_out = 0
    while calm < CALM:
        assert start < MOST, "there is no end of the allocations"
        result = error = None
        failing.set_nomemory(start, start + width)
        try:
            result = call()
        except MemoryError:
            pass
        except package.KwireError as raised:
            error = raised
        except SystemError as raised:
            # The message of the error may be missing, because it needs memory, too.
            if raised.args and not OWN.search(str(raised)):
                raise
        finally:
            failing.remove_mem_hooks()
        calm += 1
        if result is not None:
            assert read(result) == expected, start
        elif error is not None:
            assert str(error) == expected, start
        else:
            ran_out += 1
            calm = 0
        start += 1
    assert outcome_of(package, call, read) == expected
    return ran_out


def outcome_of(package, call, read):
    """Make a call. Return its result in a comparable form, or its error.

    ``read`` converts the result.
    """
    try:
        result = call()
    except package.KwireError as error:
        return str(error)
    return read(result)


def read_column(value):
    """Return the values of a column as a list."""
    import pyarrow

    return pyarrow.array(value).to_pylist()


def calls(kwire, cls, vector):
    """Yield (name, call, function that makes the result comparable)."""
    version, data = vector.version, vector.data
    message = kwire.decode(cls, data, version)
    engine = importlib.import_module(f"{kwire.__name__}._engine.active").record_engine
    framing = kwire.messages.framing
    decode = partial(kwire.decode, cls, data, version)
    again = partial(kwire.encode, version=version)
    yield "decode", decode, neutral
    yield "cut", partial(kwire.decode, cls, data[:-1], version), neutral
    yield "views", partial(decode, zero_copy=True), again
    yield "lenient", partial(decode, compat="java"), neutral
    yield "encode", partial(kwire.encode, message, version), bytes
    yield "replace", message.replace, neutral
    yield "to_dict", message.to_dict, neutral
    if cls.kind in ("request", "response"):
        if cls.kind == "request":
            write = partial(framing.encode_request, message, version, 7, "client")
            read = framing.decode_request
        else:
            write = partial(framing.encode_response, message, version, 7)
            read = partial(framing.decode_response, cls, version=version)
        frame = write()
        yield "frame", write, bytes
        yield "decode frame", partial(read, frame[4:]), neutral
        # The input starts with a size, so the error contains a hint.
        yield "frame, size", partial(read, frame), neutral
        yield "body, size", partial(kwire.decode, cls, frame, version), neutral
    for label, rows in (("columns", data + data), ("columns, cut", data + data[:-1])):
        offsets = struct.pack("=3i", 0, len(data), len(rows))
        column = (None, offsets, rows, 0, 2, False, True)
        yield label, partial(engine.decode_messages, cls, version, *column), read_column


@pytest.mark.parametrize("lack", LACKS)
def test_message_functions_report_every_failed_allocation(kwire, failing, lack):
    """Functions for messages report every allocation that fails.

    All messages and versions are tested.
    """
    chosen = list(longest_vectors(kwire))
    large = partitions(kwire)
    for version in (1, 9, 12):
        data = kwire.encode(large, version)
        chosen.append((type(large), Vector("MetadataResponse", version, data, None)))

    def work(note):
        ran_out = 0
        for cls, vector in chosen:
            for label, call, read in calls(kwire, cls, vector):
                note((label, cls.__name__, vector.version))
                ran_out += try_each(failing, kwire, call, LACKS[lack], read)
        assert ran_out > 100_000

    check(work)


def calls_beside(kwire):
    """Yield calls without a message: header columns and single values."""
    engine = importlib.import_module(f"{kwire.__name__}._engine.active").record_engine
    wire, framing = kwire.messages.wire, kwire.messages.framing
    heartbeat = kwire.messages.HeartbeatRequest(group_id="g", member_id="m")
    good = framing.encode_request(heartbeat, 4, 7, "client")[4:]
    for label, bad in (("version", b"\0\1\0\x7f"), ("cut", good[:9])):
        offsets = struct.pack("=3i", 0, len(good), len(good + bad))
        column = (None, offsets, good + bad, 0, 2, False)
        decode = partial(
            engine.decode_request_headers,
            kwire.messages.RequestHeader,
            framing.decode_request,
            *column,
        )
        yield f"headers, {label}", partial(decode, False), read_column
        yield f"headers, {label}, kept", partial(decode, True), read_column
    for name, value in (
        ("array", [1000, "x" * 30, None, b"y"]),
        ("array", 5),
        ("array", (number for number in ())),
        ("compact_string", "\xe9" * 40),
        ("uuid", uuid.UUID(int=2**100)),
        ("tagged_fields", {1: b"x" * 30, 1000: b""}),
        ("tagged_fields", 7),
        ("varlong", 2**62),
    ):
        yield f"encode {name}", partial(getattr(wire, f"encode_{name}"), value), bytes
    for name, data in (
        ("array", wire.encode_array([1000, 2**30])),
        ("compact_string", wire.encode_compact_string("\xe9" * 40)),
        ("uuid", bytes(range(16))),
        ("tagged_fields", wire.encode_tagged_fields({1: b"x" * 30, 1000: b""})),
        ("varlong", wire.encode_varlong(2**62)),
    ):
        decode = getattr(wire, f"decode_{name}")
        yield f"decode {name}", partial(decode, data), neutral
        yield f"decode {name}, cut", partial(decode, data[:-1]), neutral


@pytest.mark.parametrize("lack", LACKS)
def test_other_functions_report_every_failed_allocation(kwire, failing, lack):
    """Functions without a message report every allocation that fails.

    They decode header columns with valid and invalid rows, and single values.
    """

    def work(note):
        ran_out = 0
        for label, call, read in calls_beside(kwire):
            note(label)
            ran_out += try_each(failing, kwire, call, LACKS[lack], read)
        assert ran_out > 100

    check(work)


ENGINE = Path(__file__).resolve().parents[2] / "src" / "kwire" / "_engine" / "fast"
LEAVES = ("return", "break", "continue")


def test_except_clauses_are_not_left_early():
    """No code of the engine leaves an except clause early.

    If the error has no traceback, because memory is lacking, Cython would release a
    null pointer and crash. It only checks for null at the end of a clause, and if an
    exception leaves it.
    """
    clauses = 0
    for path in sorted(ENGINE.glob("*.p[yx][xd]")):
        depth = None
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            indent = len(line) - len(line.lstrip())
            text = line.strip()
            if depth is not None and text and indent <= depth:
                depth = None
            if depth is not None:
                assert not text.startswith(LEAVES), f"{path.name}:{number}"
            if text.startswith("except") and text.endswith(":"):
                depth = indent
                clauses += 1
    assert clauses > 8
