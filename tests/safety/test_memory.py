# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declared sizes do not cause allocations, and no call leaks memory.

Counts and sizes are validated before memory is allocated. Thousands of calls do not
increase the memory, measured with ``tracemalloc``, which traces both engines' objects,
and with the process size. The memory per input byte is tested in
``test_memory_factor.py``.
"""

import gc
import os
import subprocess
import sys
from functools import partial

import pytest

from tests.harness.hostile import unsigned_varint
from tests.harness.traced import measure_left, peak_of
from tests.harness.values import build, systematic

FACTOR = 40
FIXED = 64 * 1024
INPUT_SIZE = 12 * 1024


def error_of(kwire, call):
    """Make a call that must raise DecodeError.

    Return the error without its traceback.
    """
    try:
        call()
    except kwire.DecodeError as error:
        return error.with_traceback(None)
    raise AssertionError("the input was accepted")


HUGE = {
    "null array": (("MetadataRequest", 0), b"", 2**31 - 1),
    "strings": (("MetadataRequest", 12), b"", 2**31 - 1),
    "structs": (("FetchResponse", 4), bytes(4), 2**31 - 1),
    "compact structs": (("FetchResponse", 12), bytes(10), 2**31 - 1),
    "int32s": (("FetchSnapshotRequest", 0), b"", 2**31 - 1),
    "most": (("MetadataRequest", 12), b"", 2**32 - 1),
}


@pytest.mark.parametrize("bomb_name", HUGE)
def test_a_huge_count_allocates_nothing(kwire, bomb_name, figure):
    """A count of 2^31 allocates less than 1 KiB more than a truncated input."""
    name, version, huge = bomb(kwire, bomb_name)
    cls = getattr(kwire.messages, name)
    # Compare with an input that ends before the count, because it raises the same
    # error.
    start = HUGE[bomb_name][1]
    small = start if version in cls.flexible_versions else start + b"\0\0"
    peaks = []
    for data in (small, huge):
        refused = partial(error_of, kwire, partial(kwire.decode, cls, data, version))
        refused()
        # Measure several times and use the minimum.
        peaks.append(peak_of(refused, most=0)[0])
    more = max(0, peaks[1] - peaks[0])
    figure("P7", "memory for a count of 2^31 or more", more, most=1023, unit=" bytes")


RESIDENT = """
import resource, sys
sys.path[:0] = {path!r}
import kwire

def refuse(count, inputs):
    for number in range(count):
        cls, data, version = inputs[number % len(inputs)]
        try:
            kwire.decode(cls, data, version)
        except kwire.DecodeError:
            continue
        raise SystemExit("a bomb was accepted")

names = {bombs!r}
bombs = [(getattr(kwire.messages, name), data, v) for name, v, data in names]
refuse(100, [(cls, b"", version) for cls, _, version in bombs])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
refuse(1000, bombs)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
"""Program that decodes bombs, and prints how much its peak memory has increased.

It first decodes other input, so that imports and caches are not measured. This input
must be small, because ``ru_maxrss`` also counts memory that was freed.
"""
ALONE = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
"""Program that runs a script in a new process.

It is needed because ``ru_maxrss`` of a new process starts with the maximum of its
parent, and this program is small.
"""


def bomb(kwire, bomb_name):
    """Return (message name, version, encoded message with a huge count)."""
    (name, version), start, count = HUGE[bomb_name]
    if version in getattr(kwire.messages, name).flexible_versions:
        return name, version, start + unsigned_varint(count) + bytes(50)
    return name, version, start + count.to_bytes(4, "big") + bytes(50)


def test_a_thousand_bombs_leave_the_process_as_it_was(kwire, figure):
    """Decoding a thousand bombs does not increase the peak memory of a process.

    This includes memory that is not allocated for Python objects.
    """
    code = RESIDENT.format(
        path=sys.path, bombs=[bomb(kwire, bomb_name) for bomb_name in HUGE]
    )
    done = subprocess.run(
        [sys.executable, "-c", ALONE, code],
        env=os.environ | {"KWIRE_BACKEND": kwire.backend},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout, done.stderr
    figure(
        "P7",
        "growth of the process at its peak by 1,000 bombs",
        int(done.stdout),
        most=1024,
        unit=" KiB",
    )


@pytest.mark.parametrize("number", [2**31 - 1, 2**32 - 1, 50_000_000])
def test_huge_tag_sizes_are_rejected_without_allocation(kwire, number):
    """The number of tags and the size of an unknown tag must not exceed the input.

    A huge value raises an error without an allocation.
    """
    cls = kwire.messages.ApiVersionsRequest
    head = b"\1\1"
    for attack in (
        unsigned_varint(number),
        b"\1\x05" + unsigned_varint(number),
        b"\1\0" + unsigned_varint(number),
    ):
        data = head + attack + bytes(30)
        refused = partial(error_of, kwire, partial(kwire.decode, cls, data, 3))
        refused()
        most = 16 * 1024 - 1
        assert peak_of(refused, most)[0] <= most


def test_memory_of_unknown_tags_is_bounded(kwire):
    """Unknown tags need at most the promised memory per input byte.

    The input consists of as many small tags as possible.
    """
    cls = kwire.messages.ApiVersionsRequest
    for content in (b"", b"ab"):
        tags = range(1000, 1000 + INPUT_SIZE // (3 + len(content)))
        section = b"".join(
            unsigned_varint(tag) + bytes((len(content),)) + content for tag in tags
        )
        data = b"\1\1" + unsigned_varint(len(tags)) + section
        most = FACTOR * len(data) + FIXED
        peak, message = peak_of(partial(kwire.decode, cls, data, 3), most)
        assert len(message.unknown_tagged_fields) == len(tags)
        assert peak <= most


def test_memory_of_text_is_bounded(kwire):
    """Text needs at most the promised memory per input byte.

    The characters have 1 to 4 bytes, or replace invalid UTF-8.
    """
    cls = kwire.messages.SaslHandshakeRequest
    for unit in (b"a", "é".encode(), "日".encode(), "𝄞".encode(), b"\xff"):
        raw = unit * (30_000 // len(unit))
        data = len(raw).to_bytes(2, "big") + raw
        most = FACTOR * len(data) + FIXED
        decode = partial(kwire.decode, cls, data, 0, compat="java")
        peak, message = peak_of(decode, most)
        assert message.mechanism
        assert peak <= most


ROUNDS = {"fast": 2_000, "pure": 100}
"""Number of calls after which reference counts must be unchanged, by engine.

``tools/prove/references.py`` makes ten thousand calls and checks all objects.
"""
TRACED_ROUNDS = 20


def calls(kwire):
    """Return calls of all entry points by name, with valid and with invalid input."""
    messages, framing = kwire.messages, kwire.messages.framing
    cls = messages.MetadataResponse
    plain = dict(systematic(kwire, "MetadataResponse", 12))["unknown tags"]
    message = build(kwire, "MetadataResponse", plain)
    data = kwire.encode(message, 12)
    topic = message.topics[0]
    produce = messages.ProduceRequest
    values = dict(systematic(kwire, "ProduceRequest", 9))["unknown tags"]
    records = kwire.encode(build(kwire, "ProduceRequest", values), 9)
    heartbeat = messages.HeartbeatRequest(group_id="g", member_id="m")
    frame = framing.encode_request(heartbeat, 4, 7, "me")
    text = cls(topics=[topic.replace(name="\ud800")])
    return {
        "decode": lambda: kwire.decode(cls, data, 12),
        "decode zero copy": lambda: kwire.decode(produce, records, 9, zero_copy=True),
        "decode java": lambda: kwire.decode(cls, data, 12, compat="java"),
        "decode bytearray": lambda: kwire.decode(produce, bytearray(records), 9),
        "truncated": lambda: kwire.decode(cls, data[:-3], 12),
        "truncated zero copy": lambda: kwire.decode(
            produce, records[:-1], 9, zero_copy=True
        ),
        "trailing": lambda: kwire.decode(cls, data + b"x", 12),
        "bad count": lambda: kwire.decode(cls, data[:4] + b"\x7f" + data[5:], 12),
        "bad utf-8": lambda: kwire.decode(cls, data.replace(b"text", b"tex\xff"), 12),
        "bad tag": lambda: kwire.decode(cls, data.replace(b"\4kept", b"\x05kept"), 12),
        "too large": lambda: kwire.decode(
            cls, data, 12, limits=kwire.Limits(frame_bytes=5)
        ),
        "no version": lambda: kwire.decode(cls, data, 99),
        "not a message": lambda: kwire.decode(int, data, 1),
        "not bytes": lambda: kwire.decode(cls, "data", 12),
        "encode": lambda: kwire.encode(message, 12),
        "encode wrong type": lambda: kwire.encode(cls(topics=[topic, 5]), 12),
        "encode out of range": lambda: kwire.encode(cls(controller_id=2**40), 12),
        "encode lone surrogate": lambda: kwire.encode(text, 12),
        "encode long text": lambda: kwire.encode(cls(cluster_id="x" * 40000), 12),
        "encode lacking": lambda: kwire.encode(message, 0),
        "encode bad tags": lambda: kwire.encode(
            cls(unknown_tagged_fields=((1, "x"),)), 12
        ),
        "construct": lambda: cls(topics=[topic, topic], cluster_id="new"),
        "construct unknown field": lambda: cls(topics=[topic], nothing=1),
        "construct text for array": lambda: cls(cluster_id="new", topics="abc"),
        "replace": lambda: message.replace(topics=[], unknown_tagged_fields=[]),
        "replace unknown field": lambda: message.replace(nothing=1),
        "set": lambda: setattr(message, "topics", ()),
        "compare": lambda: message == kwire.decode(cls, data, 12),
        "hash": lambda: hash(message),
        "repr": lambda: repr(message),
        "reduce": lambda: message.__reduce__(),
        "frame request": lambda: framing.encode_request(heartbeat, 4, 7, "me"),
        "frame bad header": lambda: framing.encode_request(heartbeat, 4, "7", "me"),
        "frame bad body": lambda: framing.encode_request(
            heartbeat.replace(group_id=5), 4
        ),
        "read request": lambda: framing.decode_request(frame[4:]),
        "read bad request": lambda: framing.decode_request(frame[4:-1]),
        "split": lambda: list(framing.FrameSplitter().feed(frame * 3)),
        "split bad": lambda: list(framing.FrameSplitter().feed(b"\xff" * 8)),
    }


FAILING = {
    "truncated",
    "truncated zero copy",
    "trailing",
    "bad count",
    "bad utf-8",
    "bad tag",
    "too large",
    "no version",
    "not a message",
    "not bytes",
    "encode wrong type",
    "encode out of range",
    "encode lone surrogate",
    "encode long text",
    "encode lacking",
    "encode bad tags",
    "split bad",
    "construct unknown field",
    "construct text for array",
    "set",
    "replace unknown field",
    "frame bad header",
    "frame bad body",
    "read bad request",
}


def rounds(kwire, call, count):
    """Make a call ``count`` times. Return how often it failed."""
    failed = 0
    for _ in range(count):
        try:
            call()
        except (kwire.KwireError, TypeError, AttributeError):
            failed += 1
    return failed


def test_nothing_grows(kwire, figure):
    """No entry point leaks memory or references, in successful and in failed calls."""
    watched = [None, True, (), "", b"", 0, kwire.messages.MetadataResponse]
    count = ROUNDS[kwire.backend]
    entries = calls(kwire)
    leaks = {}
    for entry, call in entries.items():
        # The first calls fill caches and compile programs.
        failed = rounds(kwire, call, 20)
        assert failed == (20 if entry in FAILING else 0), entry
        gc.collect()
        references = [sys.getrefcount(value) for value in watched]
        rounds(kwire, call, count)
        gc.collect()
        pairs_ = zip(watched, references, strict=True)
        grown = [sys.getrefcount(value) - number for value, number in pairs_]
        assert max(grown) < count // 10, (entry, grown)
        more = measure_left(partial(rounds, kwire, call, 1), TRACED_ROUNDS)
        if more:
            leaks[entry] = more
    figure("P11", "entries and errors traced", len(entries), least=35)
    print(leaks)
    figure("P11", "entries that leave a block", len(leaks), most=0)
