# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes truncated golden vectors, and golden vectors with one changed byte.

A ``Task`` is a vector with a set of changes. Its inputs end at a guard page and are
decoded in a child process with an alarm. A read past the end, a crash, an unexpected
error or a hang therefore fails one input, which is printed, saved with the fuzzing
findings, and can be repeated with a single command. The gate
(``test_message_bytes.py``) and ``tools/prove/deep`` select their inputs from this
module.
"""

import hashlib
import os
import signal
import struct
from typing import NamedTuple

from tests.harness import golden
from tests.harness.guard_pages import ROOM, Guarded, in_child
from tests.harness.hostile import MODES

HANG = 20.0
"""Time limit for decoding one input in seconds, about 100,000 times the usual time."""


def _others(old, values):
    return bytes(dict.fromkeys(value % 256 for value in values if value % 256 != old))


_HOSTILE = [
    _others(old, (0, 1, 0x7F, 0x80, 0xFF, old + 1, old - 1)) for old in range(256)
]
ALL = [[_others(old, range(256)) for old in range(256)]]
"""Lists of tables. A table contains the replacement values of a byte by its old value.

The first byte of a message uses the first table, the next byte the next one, and so on.
"""
HOSTILE = [_HOSTILE]
ONE_HOSTILE = [[new[turn % len(new) :][:1] for new in _HOSTILE] for turn in range(7)]


class Task(NamedTuple):
    """Golden vector, how it is decoded, and how it is changed.

    If ``tables`` is None, the vector is truncated instead of changed.
    """

    vector: golden.Vector
    mode: str
    tables: list | None


class Broken(AssertionError):
    """An input has violated a promise. The message says how to repeat the failure."""


class Input(Guarded):
    """Guarded memory that the parent process can read after a crash of the child.

    Its first bytes, far away from the input, contain four numbers: the index of the
    task, the size of the input, the number of tried inputs, and the number of valid
    messages.
    """

    HEAD = struct.Struct("=QQQQ")

    def tell(self, number, size, tried, messages):
        """Store the progress of the child process, for ``read_notes``."""
        self.HEAD.pack_into(self.memory, 0, number, size, tried, messages)

    def read_notes(self):
        """Return the progress of the child process, as passed to ``tell``."""
        return self.HEAD.unpack_from(self.memory, 0)


def middle_vectors():
    """Yield one golden vector per (message, version): that with the median size."""
    for vectors in golden.by_pair().values():
        yield sorted(vectors, key=lambda vector: len(vector.data))[len(vectors) // 2]


def shortest_vectors():
    """Yield the shortest golden vector with bytes per (message, version)."""
    for vectors in golden.by_pair().values():
        vectors_with_data = [vector for vector in vectors if vector.data]
        if vectors_with_data:
            yield min(vectors_with_data, key=lambda vector: len(vector.data))


def try_truncations(package, memory, number, task, tried, messages):
    """Decode all proper prefixes of the vector. None of them may be a valid message.

    Return the updated number of tried inputs, and ``messages``.
    """
    name, version, data, _ = task.vector
    decode, refusal = package.decode, package.DecodeError
    cls, options = getattr(package.messages, name), MODES[task.mode]
    signal.setitimer(signal.ITIMER_REAL, HANG)
    for size in range(len(data)):
        stored = memory.put(data[:size])
        memory.tell(number, size, tried, messages)
        tried += 1
        try:
            decode(cls, stored, version, **options)
        except refusal as error:
            named_message = error.message_name, error.version
            if named_message != (name, version) or not 0 <= error.offset <= size:
                raise Broken(f"not true of byte {error.offset}: {error}") from error
        else:
            raise Broken("a part of a message was taken for a whole one")
    return tried, messages


def change(package, memory, number, task, tried, messages):
    """Replace each byte of the vector by other values, one byte at a time.

    The decoder must return a message or raise ``DecodeError``. Returns the updated
    ``tried`` and ``messages``.
    """
    name, version, data, _ = task.vector
    decode, refusal = package.decode, package.DecodeError
    cls, options = getattr(package.messages, name), MODES[task.mode]
    stored, size, tables = memory.put(data), len(data), task.tables
    memory.tell(number, size, tried, messages)
    for index, old in enumerate(data):
        signal.setitimer(signal.ITIMER_REAL, HANG)
        for new in tables[index % len(tables)][old]:
            stored[index] = new
            tried += 1
            try:
                decode(cls, stored, version, **options)
            except refusal as error:
                if not 0 <= error.offset <= size:
                    raise Broken(f"not true of byte {error.offset}") from error
            else:
                messages += 1
        stored[index] = old
    return tried, messages


def attempt(package, tasks, memory):
    """Run tasks in a child process. Return (tried inputs, valid messages).

    If an input violates a promise, Broken is raised.
    """

    def work(note):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        tried = messages = 0
        for number, task in enumerate(tasks):
            do = try_truncations if task.tables is None else change
            try:
                tried, messages = do(package, memory, number, task, tried, messages)
            except Exception as error:
                note(error)
                os._exit(1)
        memory.tell(len(tasks), 0, tried, messages)

    status, failure = in_child(work)
    number, size, tried, messages = memory.read_notes()
    if status == 0:
        assert number == len(tasks)
        return tried, messages
    if os.WIFSIGNALED(status):
        # Every report must start with these words if a fuzzer must not repeat its input
        # automatically.
        failure = f"the process ended: {signal.Signals(os.WTERMSIG(status)).name}"
    input_bytes = bytes(memory.view[ROOM - size : ROOM])
    (name, version, _, _), mode, _ = tasks[number]
    raise Broken(report(package, name, version, mode, input_bytes, failure))


def report(package, name, version, mode, data, failure):
    """Save an input that violated a promise.

    Return a text with the failure and a command that repeats it.
    """
    from fuzz import engines, process
    from fuzz.targets import fuzz_message

    bits = {"java": fuzz_message.JAVA, "zero-copy": fuzz_message.ZERO_COPY}
    bit = sum(bit for word, bit in bits.items() if word in mode)
    first = getattr(package.messages, name).valid_versions.min
    corpus_entry = engines.place_of(name) + bytes((version - first, bit)) + data
    arguments = f"{name} {version} {mode} {data.hex() or '-'}"
    command = f"python -m tools.prove.deep.messages {arguments}"
    text = f"{failure} ({package.backend})\n{command}"
    path = (
        process.FINDINGS
        / f"fuzz_message-{hashlib.sha256(corpus_entry).hexdigest()[:12]}"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(corpus_entry)
    path.with_suffix(".txt").write_text(f"{text}\n", encoding="utf-8")
    return text
