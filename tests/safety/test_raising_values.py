# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests objects that raise errors when they are used, and signals in long calls.

An error from a value of the caller becomes an ``EncodeError``. MemoryError and
exceptions outside ``Exception``, such as KeyboardInterrupt and SystemExit, are not
caused by the value and propagate unchanged. The messages for unusual values are tested
in ``tests/engine/twins/test_refused_values.py``.
"""

import asyncio
import gc
import math
import signal
import time
import uuid
from functools import partial

import pytest

from tests.harness.sweeps import sweep

PASSING = [
    KeyboardInterrupt,
    SystemExit,
    MemoryError,
    GeneratorExit,
    asyncio.CancelledError,
]


class Raising:
    """Object whose methods all raise the exception ``error``."""

    def __init__(self, error):
        """Store the exception."""
        self.error = error

    def fail(self, *args):
        """Raise the stored exception."""
        raise self.error

    __index__ = __float__ = __eq__ = __iter__ = __len__ = __buffer__ = fail
    __hash__ = None


class RaisingUuid(uuid.UUID):
    """UUID that raises an exception when its integer value is read."""

    def __init__(self, error):
        """Store the exception."""
        object.__setattr__(self, "error", error)

    @property
    def int(self):
        """Raise the stored exception."""
        raise object.__getattribute__(self, "error")


def calls(kwire, error):
    """Return calls by name. They use an object whose methods raise ``error``."""
    m, wire, encode = kwire.messages, kwire.messages.wire, kwire.encode
    value = Raising(error)
    assignment, quotas = m.ConsumerProtocolAssignment, m.AlterClientQuotasRequest
    partitions = assignment.TopicPartition(partitions=[1, value])
    quota = quotas.EntryData(ops=[quotas.OpData(value=value)])
    topic = m.FetchRequest.FetchTopic(topic_id=RaisingUuid(error))
    return {
        "int32": lambda: encode(m.FetchRequest(max_wait_ms=value), 4),
        "int32 array": lambda: encode(assignment(assigned_partitions=[partitions]), 0),
        "float64": lambda: encode(quotas(entries=[quota]), 0),
        "uuid": lambda: encode(m.FetchRequest(topics=[topic]), 13),
        "absent": lambda: encode(m.MetadataRequest(allow_auto_topic_creation=value), 1),
        "tagged": lambda: encode(m.FetchRequest(cluster_id=value), 12),
        "wire varint": lambda: wire.encode_varint(value),
        "wire array": lambda: wire.encode_array([value], "int8"),
        "record timestamp": lambda: kwire.records.encode_batch([(b"", b"", value)]),
        "record headers": lambda: kwire.records.encode_batch([(b"", b"", 1, value)]),
    }


NAMES = [
    "int32",
    "int32 array",
    "float64",
    "uuid",
    "absent",
    "tagged",
    "wire varint",
    "wire array",
    "record timestamp",
    "record headers",
]


@sweep("kind", PASSING)
@sweep("name", NAMES)
def test_base_exceptions_propagate(kwire, name, kind):
    """KeyboardInterrupt and similar exceptions are raised as the same object."""
    error = kind("not yours")
    with pytest.raises(kind) as caught:
        calls(kwire, error)[name]()
    assert caught.value is error


@sweep("kind", [ZeroDivisionError, TypeError, RecursionError])
@sweep("name", [name for name in NAMES if "record" not in name])
def test_other_exceptions_become_encode_errors(kwire, name, kind):
    """Any other exception becomes an EncodeError with the path of the field."""
    with pytest.raises(kwire.EncodeError):
        calls(kwire, kind("yours"))[name]()


def test_a_str_is_written_as_it_is(twins):
    """A value of a str subclass is encoded from its text.

    Its methods are not called.
    """

    class Shouting(str):
        __slots__ = ()

        def encode(self, *args):
            return b"NO"

    class Other:
        def encode(self):
            return b"NO"

    written = []
    for kwire in twins:
        topic = kwire.messages.FetchRequest.FetchTopic
        request = kwire.messages.FetchRequest
        written.append(kwire.encode(request(topics=[topic(topic=Shouting("a"))]), 4))
        with pytest.raises(kwire.EncodeError):
            kwire.encode(request(topics=[topic(topic=Other())]), 4)
    assert written[0] == written[1]
    assert b"\0\1a" in written[0]


class Interrupted(Exception):
    """Raised by the signal handler."""


def make_long_call(kwire, name):
    """Return a call that takes several tenths of a second on the compiled engine."""
    m, count = kwire.messages, 1_000_000 if name.startswith("decode") else 2_000_000
    if name == "decode tags":
        tags = [(tag, b"") for tag in range(count // 2)]
        data = kwire.encode(m.ApiVersionsRequest(unknown_tagged_fields=tags), 3)
        return partial(kwire.decode, m.ApiVersionsRequest, data, 3)
    if name.endswith("records"):
        encode = partial(kwire.records.encode_batch, [(b"", b"")] * (2 * count))
        if name == "encode records":
            return encode
        batch = encode()
        return lambda: next(kwire.records.decode_batches(batch)).records
    count = 4_000_000 if name == "encode" else count
    topics = [m.MetadataRequest.MetadataRequestTopic()] * count
    encode = partial(kwire.encode, m.MetadataRequest(topics=topics), 1)
    if name == "encode":
        return encode
    return partial(kwire.decode, m.MetadataRequest, encode(), 1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timers")
@pytest.mark.parametrize(
    "name", ["decode", "decode tags", "encode", "decode records", "encode records"]
)
def test_a_long_call_can_be_interrupted(twins, name):
    """A signal handler runs long before the end of the call.

    The kernel may deliver the signal late on a busy machine, so the test makes four
    attempts. The garbage collector is disabled, because it discards exceptions of
    handlers that run in its callbacks.
    """
    call = make_long_call(twins.fast, name)
    gc.disable()
    try:
        times, interrupt_times = times_and_interrupts(call)
    finally:
        gc.enable()
    assert min(times) > 0.02
    assert min(interrupt_times) < max(times) * 0.8


def times_and_interrupts(call):
    """Time four complete calls and four interrupted calls.

    Return two lists of seconds of processor time.
    """
    times = []
    for _ in range(4):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return times, [interrupted_after(call, min(times) / 5) for _ in range(4)]


def interrupted_after(call, wait_s):
    """Call a function and interrupt it after ``wait_s`` seconds of processor time.

    Returns the processor time of the call, or infinity if the call completed.
    """
    is_calling = True

    def interrupt(*args):
        if is_calling:
            raise Interrupted

    before = signal.signal(signal.SIGPROF, interrupt)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, wait_s)
        call()
    except Interrupted:
        return time.process_time() - start
    finally:
        is_calling = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return math.inf
