# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of callers that raise when they are used, and signals in long calls.

What a value raises is its caller's mistake and becomes ``EncodeError``, but for what
has nothing to do with the value: MemoryError, and KeyboardInterrupt, SystemExit and
others that are no ``Exception``. Which odd values are refused in which words is for
``tests/engine/twins/test_refused_values.py``.
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
    """Raises a given exception, whatever it is asked."""

    def __init__(self, error):
        """Keep what to raise."""
        self.error = error

    def fail(self, *args):
        """Raise it."""
        raise self.error

    __index__ = __float__ = __eq__ = __iter__ = __len__ = __buffer__ = fail
    __hash__ = None


class RaisingUuid(uuid.UUID):
    """A uuid that raises when it is asked for its number."""

    def __init__(self, error):
        """Keep what to raise."""
        object.__setattr__(self, "error", error)

    @property
    def int(self):
        """Raise it."""
        raise object.__getattribute__(self, "error")


def calls(kwire, error):
    """Make the calls that ask an object for its value, with one that raises."""
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
def test_what_is_no_fault_of_the_value_passes(kwire, name, kind):
    """The very exception, not one made of it."""
    error = kind("not yours")
    with pytest.raises(kind) as caught:
        calls(kwire, error)[name]()
    assert caught.value is error


@sweep("kind", [ZeroDivisionError, TypeError, RecursionError])
@sweep("name", [name for name in NAMES if "record" not in name])
def test_any_other_exception_is_the_fault_of_the_value(kwire, name, kind):
    """It becomes the error that names the field."""
    with pytest.raises(kwire.EncodeError):
        calls(kwire, kind("yours"))[name]()


def test_a_str_is_written_as_it_is(twins):
    """Not by the method of a subclass, nor by that of another object."""

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
    """What the handler of a signal raises here."""


def make_long_call(kwire, name):
    """Make a call that takes the compiled engine a good part of a second."""
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
    """A signal's handler runs long before the call would end.

    The kernel may send the signal late on a busy machine, so there are four tries.
    The collector is off: what a handler raises while it calls back is lost.
    """
    call = make_long_call(twins.fast, name)
    gc.disable()
    try:
        times, taken = times_and_interrupts(call)
    finally:
        gc.enable()
    assert min(times) > 0.02
    assert min(taken) < max(times) * 0.8


def times_and_interrupts(call):
    """Time some calls, then interrupt as many: the time that each of them took."""
    times = []
    for _ in range(4):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return times, [interrupted_after(call, min(times) / 5) for _ in range(4)]


def interrupted_after(call, wait_s):
    """Call something, and raise from a handler after some time of the processor.

    Returns the time that the call took; infinite if it came to its end.
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
