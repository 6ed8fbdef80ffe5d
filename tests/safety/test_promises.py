# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Promises that hold over many calls: no state, linear work, threads.

Memory has a file of its own (``test_memory.py``), and so have buffers, bad bytes
(``twins/test_agreement.py``) and reads past the end (``test_guard_pages.py``). Work is
counted here, not timed: what a clock says belongs to the benchmarks.
"""

import random
import sys
import threading

import pytest
from golden import by_pair, vectors
from hostile import unsigned_varint
from values import build, neutral, systematic

ALTERNATIONS = 100_000
THREADS = 8


def test_a_failed_call_leaves_nothing_behind(kwire):
    """After any error the same call on good bytes gives the same value."""
    cls = kwire.messages.FetchRequest
    good = by_pair()["FetchRequest", 12][1].data
    expected = neutral(kwire.decode(cls, good, 12))
    dice = random.Random(3)
    bad = [good[: dice.randrange(len(good))] for _ in range(50)] + [good + b"\0"]
    for at in range(len(good)):
        bad.append(good[:at] + b"\xff\xff\xff\xff\xff" + good[at + 5 :])
    broken = cls(topics=(5,))
    failures = 0
    for number in range(ALTERNATIONS // 4):
        try:
            kwire.decode(cls, bad[number % len(bad)], 12)
        except kwire.DecodeError:
            failures += 1
        try:
            kwire.encode(broken, 12)
        except kwire.EncodeError:
            failures += 1
        message = kwire.decode(cls, good, 12)
        assert kwire.encode(message, 12) == good
        if number % 100 == 0:
            assert neutral(message) == expected
    assert failures > ALTERNATIONS // 4


def test_errors_are_the_same_each_time(kwire):
    """An error says the same whatever was called before."""
    cls = kwire.messages.MetadataResponse
    data = by_pair()["MetadataResponse", 12][1].data
    cuts = list(range(len(data)))

    def outcomes():
        found = {}
        for end in cuts:
            with pytest.raises(kwire.DecodeError) as caught:
                kwire.decode(cls, data[:end], 12)
            found[end] = str(caught.value)
        return found

    first = outcomes()
    random.Random(1).shuffle(cuts)
    assert outcomes() == first


def test_a_megabyte_of_bad_varints_is_refused_at_once(kwire):
    """The error lies within the first bytes: nothing reads on to the end."""
    for name, version in [
        ("MetadataResponse", 12),
        ("FetchResponse", 17),
        ("ApiVersionsRequest", 4),
        ("JoinGroupRequest", 9),
    ]:
        cls = getattr(kwire.messages, name)
        with pytest.raises(kwire.InvalidVarint) as caught:
            kwire.decode(cls, b"\xff" * 2**20, version)
        assert caught.value.offset <= 10


def families(kwire, size):
    """Make input of a size that asks for the most work per byte, by kind."""
    messages = kwire.messages
    response = messages.MetadataResponse
    topic = response.MetadataResponseTopic
    tags = range(1000, 1000 + size)
    section = b"".join(unsigned_varint(tag) + b"\0" for tag in tags)
    yield (
        "empty elements",
        messages.MetadataRequest,
        kwire.encode(
            messages.MetadataRequest(
                topics=[messages.MetadataRequest.MetadataRequestTopic(name="")] * size
            ),
            1,
        ),
        1,
    )
    yield (
        "unknown tags",
        messages.ApiVersionsRequest,
        b"\1\1" + unsigned_varint(size) + section,
        3,
    )
    yield (
        "nested arrays",
        response,
        kwire.encode(response(topics=[topic(name="")] * size), 9),
        9,
    )
    yield (
        "bad at the end",
        response,
        kwire.encode(response(topics=[topic(name="")] * size), 9)[:-1],
        9,
    )


def work_of(call):
    """Count the calls of functions, Python's and C's, that a call makes."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def test_work_is_linear_in_the_input(twins):
    """Twice the input is twice the calls, in every family, on the pure engine.

    The compiled engine makes no calls to count; it visits the same steps.
    """
    kwire = twins.pure
    counts = {}
    for size in (200, 400, 800):
        for what, cls, data, version in families(kwire, size):

            def call(cls=cls, data=data, version=version):
                try:
                    kwire.decode(cls, data, version)
                except kwire.DecodeError as error:
                    assert error.offset == len(data)

            call()
            counts.setdefault(what, []).append(work_of(call))
    for what, (one, two, four) in counts.items():
        assert two <= 2.2 * one and four <= 2.2 * two, what


def in_threads(work):
    """Run ``work(number)`` in many threads that start as one; raise what they raise."""
    barrier = threading.Barrier(THREADS)
    failures = []

    def run(number):
        try:
            barrier.wait(10)
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [
        threading.Thread(target=run, args=(number,)) for number in range(THREADS)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]


def test_threads_decode_and_encode_at_once(kwire):
    """Many messages in eight threads: every one comes back as if alone."""
    chosen = random.Random(8).sample(vectors(), 150)

    def work(number):
        mine = chosen[number:] + chosen[:number]
        for vector in mine:
            cls = getattr(kwire.messages, vector.message)
            message = kwire.decode(cls, vector.data, vector.version)
            assert kwire.encode(message, vector.version) == vector.data
            with pytest.raises(kwire.DecodeError):
                kwire.decode(cls, vector.data + b"\xff" * 9, vector.version)

    in_threads(work)


SCHEMA = """
{ "name": "Fresh%d", "type": "data", "validVersions": "0-3", "flexibleVersions": "1+",
  "fields": [
    { "name": "Names", "type": "[]string", "versions": "0+" },
    { "name": "Parts", "type": "[]Part", "versions": "0+", "fields": [
      { "name": "Id", "type": "uuid", "versions": "0+" } ]}
  ]
}
"""


def test_threads_meet_a_fresh_message_at_once(kwire):
    """The first use of a class in each version may happen in all threads at once."""
    for number in range(5):
        cls = kwire.schema.message_class(SCHEMA % number)
        message = cls(names=["a", "b"], parts=[cls.Part()])

        def work(number, cls=cls, message=message):
            for version in range(4):
                data = kwire.encode(message, version)
                assert kwire.decode(cls, data, version) == message

        in_threads(work)


def test_threads_share_one_message(kwire):
    """Frozen messages need no locks: hash, repr, equality and encode all at once."""
    plain = dict(systematic(kwire, "MetadataResponse", 12))["unknown tags"]
    message = build(kwire, "MetadataResponse", plain)
    expected = kwire.encode(message, 12), hash(message), repr(message)

    def work(number):
        for _ in range(50):
            found = kwire.encode(message, 12), hash(message), repr(message)
            assert found == expected
            assert message.replace(cluster_id="other") != message

    in_threads(work)
