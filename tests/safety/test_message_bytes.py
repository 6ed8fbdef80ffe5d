# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests truncated, modified and alternating messages: promises P5, P6, P12 and P16.

All prefixes and single-byte changes use guarded memory in a child process
(``broken_messages.py``), with more than a million inputs on the compiled engine. Other
hostile inputs are tested in ``test_guard_pages.py`` and
``engine/twins/test_agreement.py``. ``KWIRE_HOSTILE_INPUTS`` scales the number of
inputs.
"""

import ctypes
import itertools
import random
import sys
from functools import partial

import pytest

from tests.harness import golden
from tests.harness.guard_pages import ROOM
from tests.harness.hostile import INPUTS, LARGEST_SEED, some
from tests.harness.traced import peak_of
from tests.harness.values import TAGS, UnknownTags, binding_of, build, pairs
from tests.safety import broken_messages
from tests.safety.broken_messages import ALL, HOSTILE, ONE_HOSTILE, Broken, Input, Task

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)

FLEXIBLE = 482
"""Number of (message, version) pairs whose structs have tag sections."""


def tasks_of(vectors, mode, tables):
    """Create a task for each selected vector."""
    return [Task(vector, mode, tables) for vector in some(vectors)]


def test_prefixes_are_refused(kwire, figure):
    """Every prefix of a golden vector is rejected.

    All vectors are tested on the compiled engine, and one vector per pair on the Python
    engine.
    """
    middle = broken_messages.middle_vectors
    if kwire.backend == "fast":
        tasks = tasks_of(golden.vectors(), "strict", None)
        tasks += tasks_of(middle(), "java", None)
        tasks += tasks_of(middle(), "java-zero-copy", None)
    else:
        tasks = tasks_of(middle(), "strict", None)
        tasks += tasks_of(itertools.islice(middle(), 0, None, 4), "java", None)
    tried, _ = broken_messages.attempt(kwire, tasks, Input())
    assert tried == sum(len(task.vector.data) for task in tasks)
    if kwire.backend == "fast":
        figure("P5", "prefixes refused", tried, least=3 * INPUTS)
        figure("P6", "prefixes in guarded memory", tried, least=3 * INPUTS)
    else:
        figure("P5", "prefixes refused in plain Python", tried, least=INPUTS // 4)


def test_changed_bytes_are_messages_or_refused(kwire, figure):
    """If a byte of a golden vector changes, decoding returns a message or DecodeError.

    Every byte of a short vector gets all values, and of a longer vector hostile values.
    On the Python engine, every byte gets one hostile value.
    """
    middle = broken_messages.middle_vectors
    if kwire.backend == "fast":
        tasks = tasks_of(broken_messages.shortest_vectors(), "strict", ALL)
        for mode in ("strict", "java-zero-copy"):
            tasks += tasks_of(middle(), mode, HOSTILE)
    else:
        tasks = tasks_of(middle(), "strict", ONE_HOSTILE)
    tried, messages = broken_messages.attempt(kwire, tasks, Input())
    assert tried // 10 < messages < tried
    if kwire.backend == "fast":
        figure("P5", "single-byte changes", tried, least=5 * INPUTS)
        figure("P6", "changes in guarded memory", tried, least=5 * INPUTS)
    else:
        figure("P5", "single-byte changes in plain Python", tried, least=INPUTS // 5)


class Faulty:
    """Package whose decoder has a planted bug, to verify that the tests detect it."""

    def __init__(self, package, memory, fault):
        """Store the bug and the guarded memory."""
        self.backend, self.messages = package.backend, package.messages
        self.DecodeError = package.DecodeError
        self.memory, self.real, self.fault = memory, package.decode, fault

    def decode(self, cls, data, version, **options):
        """Decode correctly. If the last byte is 0x80, trigger the bug first."""
        if data[-1:] == b"\x80":
            getattr(self, self.fault)(data)
        return self.real(cls, data, version, **options)

    def read_on(self, data):
        """Read one byte beyond the end."""
        ctypes.string_at(self.memory.address + ROOM - len(data), len(data) + 1)

    def hang(self, data):
        """Loop endlessly."""
        while True:
            pass

    def raise_untyped(self, data):
        """Raise an undocumented error."""
        raise IndexError("out of range")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("read_on", "SIGSEGV"),
        ("hang", "SIGALRM"),
        ("raise_untyped", "IndexError('out of range')"),
    ],
)
def test_the_harness_names_the_input_at_fault(
    kwire, fault, message, monkeypatch, tmp_path
):
    """If an input violates a promise, the error contains it, and it is saved."""
    # Shorten the time limit only for the bug that exceeds it. On a busy machine, a
    # short limit could expire before the other bugs are triggered.
    if fault == "hang":
        monkeypatch.setattr(broken_messages, "HANG", 0.2)
    monkeypatch.setattr("fuzz.process.FINDINGS", tmp_path)
    memory = Input()
    faulty = Faulty(kwire, memory, fault)
    vector = golden.Vector("ApiVersionsRequest", 3, b"\2a\2b\0", None)
    with pytest.raises(Broken) as caught:
        broken_messages.attempt(faulty, [Task(vector, "java", HOSTILE)], memory)
    line = "tools.prove.deep.messages ApiVersionsRequest 3 java 0261026280"
    failure = str(caught.value)
    assert message in failure
    assert failure.endswith(f"({kwire.backend})\npython -m {line}")
    saved, text = sorted(tmp_path.iterdir())
    assert saved.read_bytes().endswith(b"\3\1\2a\2b\x80")
    assert text.read_text() == f"{failure}\n"


def test_the_harness_notices_a_prefix_that_is_taken(kwire, monkeypatch, tmp_path):
    """If a prefix of a vector is decoded successfully, the harness reports it.

    The vector is a complete message with an additional byte.
    """
    monkeypatch.setattr("fuzz.process.FINDINGS", tmp_path)
    vector = golden.Vector("ApiVersionsRequest", 0, b"\0", None)
    with pytest.raises(Broken, match="taken for a whole one"):
        broken_messages.attempt(kwire, [Task(vector, "strict", None)], Input())


def spoil(message):
    """Return a copy of a message that cannot be encoded.

    Its last array element or its unknown tags are invalid.
    """
    for name in type(message).__match_args__:
        value = getattr(message, name)
        if type(value) is tuple and value and hasattr(value[-1], TAGS):
            return message.replace(**{name: (*value, 5)})
    return message.replace(**{TAGS: (5,)})


def failures(kwire, cls, vector, dice):
    """Yield calls endlessly that fail because of invalid arguments."""
    data, version = vector.data, vector.version
    broken = spoil(kwire.decode(cls, data, version))

    def decode(bad):
        kwire.decode(cls, bad, version)

    while True:
        yield decode, data[: dice.randrange(len(data))]
        yield decode, data + dice.randbytes(3)
        yield lambda bad: kwire.encode(bad, version), broken


def test_a_failed_call_leaves_nothing_behind(kwire, figure):
    """After any error, decoding a valid message returns the same value as before."""
    dice = random.Random(3)
    seeds = [v for v in golden.vectors() if 0 < len(v.data) <= LARGEST_SEED]
    figure_name, least_count = "alternations of bad and good", INPUTS // 2
    if kwire.backend == "pure":
        figure_name, least_count = f"{figure_name} in plain Python", INPUTS // 8
    cases = []
    for vector in dice.sample(seeds, 1000):
        cls = getattr(kwire.messages, vector.message)
        expected = kwire.decode(cls, vector.data, vector.version)
        fails = failures(kwire, cls, vector, dice)
        cases.append((cls, vector.data, vector.version, expected, fails))
    alternations = differences = 0
    for cls, data, version, expected, fails in itertools.islice(
        itertools.cycle(cases), least_count
    ):
        fail, bad = next(fails)
        with pytest.raises((kwire.DecodeError, kwire.EncodeError)):
            fail(bad)
        message = kwire.decode(cls, data, version)
        differences += message != expected or kwire.encode(message, version) != data
        alternations += 1
    figure("P12", figure_name, alternations, least=least_count)
    figure("P12", "differences", differences, most=0)


def walk_structs(layout, message, depth=1):
    """Yield (depth, unknown tags) for a message and all structs in it."""
    yield depth, message.unknown_tagged_fields
    for step in layout.steps:
        value = getattr(message, step.attribute)
        if step.plan is None or not value:
            continue
        for part in value if step.is_array else (value,):
            yield from walk_structs(step.plan, part, depth + 1)


class Marked(UnknownTags):
    """Builds messages whose structs all have unknown tags.

    The last tag of a struct has ``size`` bytes.
    """

    def __init__(self, size):
        """Set the content size of the last tag."""
        self.tags = ((0, b""), (3, b"kept"), (2**31, bytes(size)))


def flexible(kwire):
    """Yield (message, version, plan) for all pairs with tag sections."""
    for name, version in pairs(kwire):
        if version in getattr(kwire.messages, name).flexible_versions:
            yield name, version, binding_of(kwire, name).plan(version)


def test_unknown_tags_survive_at_every_level(kwire, figure):
    """Unknown tags in all structs are decoded, and encoded to the same bytes."""
    count = structs = deepest = 0
    for name, version, layout in flexible(kwire):
        message = build(kwire, name, Marked(9).message(kwire.schema.plan, layout))
        data = kwire.encode(message, version)
        read = kwire.decode(type(message), data, version)
        assert kwire.encode(read, version) == data, (name, version)
        for depth, tags in walk_structs(layout, read):
            tag_values = [value for _, value in tags]
            assert tag_values == [b"", b"kept", bytes(9)], (name, version, depth)
            deepest = max(deepest, depth)
            structs += 1
        count += 1
    figure("P16", "pairs whose unknown tags survive", count, least=FLEXIBLE)
    figure("P16", "structs with unknown tags", structs, least=FLEXIBLE)
    figure("P16", "levels of nesting", deepest, least=6)


def with_tags(kwire, name, version, layout, size):
    """Return a call that decodes a message whose structs have unknown tags.

    The last tag of every struct has ``size`` bytes.
    """
    message = build(kwire, name, Marked(size).message(kwire.schema.plan, layout))
    data = kwire.encode(message, version)
    call = partial(kwire.decode, type(message), data, version)
    call()
    return call


MOST_FOR_A_BYTE = 1.01


@pytest.mark.gate_on_pure
def test_unknown_tags_take_no_memory_but_their_bytes(kwire, figure):
    """Unknown tags need only the memory of their bytes.

    Decoding a tag of 10,300 bytes needs 10,000 bytes more than a tag of 300 bytes.
    """
    highest = 0.0
    for name, version, layout in flexible(kwire):
        # Measure several times: if this value were too high, a leak could hide in it.
        small, read = peak_of(with_tags(kwire, name, version, layout, 300), most=0)
        structs = sum(1 for _ in walk_structs(layout, read))
        bound = small + MOST_FOR_A_BYTE * 10_000 * structs
        large, _ = peak_of(with_tags(kwire, name, version, layout, 10_300), bound)
        highest = max(highest, (large - small) / (10_000 * structs))
    figure("P16", "bytes for each byte of unknown tags", highest, most=MOST_FOR_A_BYTE)
