# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All functions that read bytes keep the promises for any input.

The tests iterate over the table in ``entries.py``. Invalid input yields a value or a
documented error, which is the same on both engines. No function reads past the input
end, hangs, or leaks memory, and memory usage is proportional to the input.
"""

import array
import gc
import itertools
import mmap
import signal
import struct
import sys
import threading
from functools import partial

import pytest

from tests.harness.guard_pages import ROOM, Guarded, check
from tests.harness.hostile import INPUTS
from tests.harness.together import together
from tests.harness.traced import measure_left, peak_of
from tests.safety.entries import ENTRIES, ends, outcome
from tests.safety.entry_calls import folder, place
from tests.safety.entry_inputs import damage_forever, prefixes

LONGEST = 5.0
"""Processor time in seconds after which a call is considered to hang."""

SHARES = sum(entry.share for entry in ENTRIES.values())


def inputs(entry, percent, name=""):
    """Yield the valid inputs of an entry, prefixes of them, and damaged inputs.

    ``percent`` is the percentage of ``INPUTS`` that all entries get together.
    """
    count = max(4, int(INPUTS * percent * entry.share / SHARES / 100))
    yield from itertools.islice(entry.seeds(), count)
    places, most = sum(map(len, entry.seeds())), max(3, count // 3)
    yield from prefixes(entry, max(1, -(-places // most)))
    yield from itertools.islice(damage_forever(entry, name), count)


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)
def test_bad_bytes_are_a_value_or_a_documented_error(twins, figure):
    """Any input of an entry results in a value or a documented error.

    Inputs end at an inaccessible page. The calls run in a child process with an alarm.
    """
    package = twins.fast
    guarded = Guarded()
    counts = mmap.mmap(-1, 24)
    # Create the directory in this process, which deletes it, and not in the child.
    folder()

    def work(note):
        done = values = views = 0
        for entry in ENTRIES.values():
            for data in inputs(entry, 95):
                note((entry.name, data.hex()))
                signal.setitimer(signal.ITIMER_PROF, LONGEST)
                is_guarded = entry.is_view and len(data) <= ROOM
                buffer = guarded.put(data) if is_guarded else data
                values += ends(entry, package, buffer)
                views += is_guarded
                done += 1
        counts[:] = struct.pack("=3q", done, values, views)

    check(work, longest_s=600)
    done, values, views = struct.unpack("=3q", counts)
    assert done // 10 < values < done
    figure("P5", "inputs of other entries", done, least=INPUTS)
    figure("P6", "inputs of other entries on guard pages", views, least=INPUTS // 2)


def test_both_engines_agree(twins, figure):
    """Both engines return the same value or error for every input of an entry.

    Errors must have the same class, offset, path and message.
    """
    done = 0
    for entry in ENTRIES.values():
        for data in inputs(entry, 6, "agree"):
            fast = outcome(entry, twins.fast, data)
            pure = outcome(entry, twins.pure, data)
            assert fast == pure, (entry.name, data.hex())
            done += 1
    figure("P3", "inputs of other entries", done, least=INPUTS * 6 // 100)


def share_of(kwire, percent):
    """Return the percentage of inputs for an engine: a tenth on the Python engine.

    The Python engine is slower.
    """
    return percent if kwire.backend == "fast" else percent / 10


@pytest.mark.gate_on_pure
def test_a_failed_call_leaves_nothing_behind(kwire, figure):
    """After a failed call, a call with valid input returns the same value as before."""
    done = 0
    for entry in ENTRIES.values():
        good = min(entry.seeds(), key=len)
        expected = outcome(entry, kwire, good)
        for data in inputs(entry, share_of(kwire, 5), "alternate"):
            outcome(entry, kwire, data)
            assert outcome(entry, kwire, good) == expected, (entry.name, data.hex())
            done += 1
    figure("P12", "alternations of other entries", done, least=len(ENTRIES) * 5)


def good_and_bad(entry):
    """Return (shortest valid input, damaged input) of an entry."""
    return min(entry.seeds(), key=len), next(damage_forever(entry, "both"))


LEAK_ROUNDS = 2
KEPT_BY_OTHERS = (
    "verify",
    "segment",
    "snapshot of metadata",
    "payload of zstd",
    "spark records",
    "record sets to arrow",
    "wire unsigned_varints",
    "wire varints",
    "wire varlongs",
    "columns of JSON",
    "spark responses",
    "schema",
)
"""Entries whose memory is not traced.

zstd and small numpy arrays fill caches during some hundred calls. A class that the
compiled engine has created from a schema is never freed, like a class in C.
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_no_round_leaves_anything(twins, figure):
    """Neither the results nor the errors of the entries leak memory.

    The test runs in a child process without other threads, because their allocations
    would be counted. The Python engine is not tested: it does not count references
    itself, and its columns use numpy's caches.
    """
    kwire = twins.fast
    counts = mmap.mmap(-1, 16)
    # Create the directory in this process, which deletes it, and not in the child.
    folder()

    def work(note):
        leaks, done = {}, 0
        # Import and freeze everything first, so that all collections are fast.
        cases = [
            (entry, good_and_bad(entry))
            for entry in ENTRIES.values()
            if not entry.name.startswith(KEPT_BY_OTHERS)
        ]
        for entry, seeds in cases:
            for data in seeds:
                ends(entry, kwire, data)
        gc.collect()
        gc.freeze()
        for entry, seeds in cases:
            for number, data in enumerate(seeds):
                note((entry.name, data.hex()))
                more = measure_left(partial(ends, entry, kwire, data), LEAK_ROUNDS)
                if more:
                    leaks[entry.name, number] = more
                done += 1
        print(leaks, flush=True)
        counts[:] = struct.pack("=2q", done, len(leaks))

    check(work)
    done, leak_count = struct.unpack("=2q", counts)
    figure("P11", "inputs of other entries traced", done, least=250)
    figure("P11", "inputs of other entries that leave a block", leak_count, most=0)


THREADS = 8


@pytest.mark.gate
def test_threads_have_the_outcomes_of_one(kwire, figure):
    """Threads that call the same entry at the same time have the results of one thread.

    The input is valid or damaged.
    """
    done = []

    def outcome_of(entry, data):
        # The threads use different directories, so remove their paths from the results.
        return repr(outcome(entry, kwire, data)).replace(str(place()), "")

    cases = [
        (entry, [(data, outcome_of(entry, data)) for data in good_and_bad(entry)])
        for entry in ENTRIES.values()
    ]
    barrier = threading.Barrier(THREADS)

    def work(number):
        try:
            for entry, outcomes in cases:
                # The barrier keeps all threads in the same entry.
                barrier.wait(60)
                for data, expected in outcomes[:: -1 if number % 2 else 1]:
                    result = outcome_of(entry, data)
                    assert result == expected, (entry.name, data.hex()[:99])
                    done.append(entry.name)
        except BaseException:
            barrier.abort()
            raise

    together([partial(work, number) for number in range(THREADS)])
    least = 2 * THREADS * len(ENTRIES)
    figure("P13", "calls of other entries in eight threads", len(done), least=least)


class Data(bytes):
    """Subclass of bytes."""


KINDS = {
    "subclass": Data,
    "bytearray": bytearray,
    "view of a slice": lambda data: memoryview(b"xx" + data + b"y")[2:-1],
    "read-only view": lambda data: memoryview(bytearray(data)).toreadonly(),
    "array": lambda data: array.array("B", data),
    "signed view": lambda data: memoryview(data).cast("b"),
    "mmap": lambda data: map_bytes(data) if data else b"",
}


def map_bytes(data):
    """Copy bytes to an anonymous memory map."""
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    return memory


def test_any_contiguous_bytes_like_is_accepted(kwire, figure):
    """Every kind of contiguous buffer has the same outcome as bytes.

    This applies to valid and to damaged input.
    """
    done = 0
    for entry in ENTRIES.values():
        if entry.is_buffer:
            for data in inputs(entry, share_of(kwire, 2), "kinds"):
                expected = outcome(entry, kwire, data)
                for kind, make in KINDS.items():
                    result = outcome(entry, kwire, make(data))
                    assert result == expected, (entry.name, kind, data.hex())
                    done += 1
    figure("P15", "buffers of all kinds, other entries", done, least=2000)


def test_the_input_is_released_and_unchanged(kwire, figure):
    """After a call, the input is unchanged, and a bytearray can be resized.

    This also applies if the caller keeps the result or the error.
    """
    done, exports = 0, []
    for entry in ENTRIES.values():
        if entry.is_buffer:
            for data in inputs(entry, share_of(kwire, 6), "released"):
                buffer = bytearray(data)
                try:
                    result = entry.run(kwire, buffer)
                except kwire.KwireError as error:
                    result = error
                assert buffer == data, entry.name
                if "zero copy" in entry.name:
                    result = None
                try:
                    buffer.append(0)
                except BufferError:
                    exports.append((entry.name, data.hex()[:99], type(result)))
                done += 1
    least = INPUTS * 5 // 1000
    figure("P15", "resized after a call, other entries", done, least=least)
    print(*exports[:9], sep="\n")
    figure("P15", "live exports after a call", len(exports), most=0)


FIXED = 400 * 1024
"""Memory in bytes that a call may need in addition, to initialize libraries."""


def test_memory_follows_the_input(kwire, figure):
    """A call's peak memory is limited by the input size plus a fixed amount.

    The inputs are small, so the test detects allocations based on a declared size. The
    maximum memory per byte is measured in ``test_memory_factor.py`` and, for
    records, in ``records/test_record_memory.py``.
    """
    done, worst = 0, 0.0
    for entry in ENTRIES.values():
        # Compressed data can declare a wrong size in more ways.
        most = 40 if entry.growth == 1100 else 10
        most = most if kwire.backend == "fast" else 3
        seeds = list(inputs(entry, 1, "memory"))
        for data in seeds[:: -(-len(seeds) // most)]:
            outcome(entry, kwire, data)
            bound = entry.growth * len(data) + FIXED
            peak, _ = peak_of(partial(ends, entry, kwire, data), bound)
            assert peak <= bound, (entry.name, peak, data.hex())
            worst = max(worst, peak / bound)
            done += 1
    figure("P7", "bad inputs of other entries measured", done, least=len(ENTRIES) * 2)
    figure_name = "largest part of 400 KiB and what an entry may take for a byte"
    figure("P7", figure_name, worst, most=1)
