# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Values that callers nest very deep do not end the process.

No bytes lead there: nesting is the schema's. But a constructor takes any value, and a
struct in a struct in a struct is one. Each case runs in a process of its own, as what
it protects from is a C stack that overflows.
"""

import subprocess
import sys

import pytest

LEVELS = 100_000

START = """
import gc, pickle, sys, threading
from kwire import EncodeError, backend, encode
from kwire.messages.json_form import to_json
from kwire.messages import FetchRequest

assert backend == sys.argv[1]

def nest():
    value = None
    for level in range({levels}):
        value = FetchRequest(replica_state={wrap})
    return value

"""

WRAPS = {
    "structs": "value",
    "tuples": "(value,)",
    "lists": "[value]",
    "both": "value if level % 99 else (value,)",
}


def run(kwire, wrap, code):
    """Run code that nests values in this manner; give what it printed."""
    start = START.replace("{wrap}", WRAPS[wrap]).replace("{levels}", str(LEVELS))
    done = subprocess.run(
        [sys.executable, "-c", start + code, kwire.backend],
        env={"KWIRE_BACKEND": kwire.backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    return done.stdout.split()


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_chain_of_structs_is_freed(kwire, wrap):
    """All of it, without a call within a call for each level."""
    code = """
nest()
gc.collect()
before = sys.getallocatedblocks()
value = nest()
print(sys.getallocatedblocks() - before)
del value
gc.collect()
print(sys.getallocatedblocks() - before)
"""
    held, left = map(int, run(kwire, wrap, code))
    # Some are made of freed structs that their class has kept.
    assert held >= LEVELS * 0.95
    assert left < LEVELS / 1000


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("wrap", ["structs", "tuples"])
def test_a_chain_is_an_error_of_python(kwire, wrap):
    """What walks a value to its end gives up where Python's own recursion ends."""
    calls = {
        "repr(value)": "RecursionError",
        "hash(value)": "RecursionError",
        "value == other": "RecursionError",
        "pickle.dumps(value)": "RecursionError",
        "encode(value, 17)": "EncodeError",
        "to_json(value, 17)": "EncodeError",
    }
    code = "value, other = nest(), nest()\n"
    for call, error in calls.items():
        code += f"try: {call}\nexcept {error}: print({error!r})\n"
    assert run(kwire, wrap, code) == list(calls.values())


@pytest.mark.gate_on_pure
def test_threads_free_their_own_chains(kwire):
    """Structs that wait to be freed wait for the thread that frees them."""
    code = """
threads = [threading.Thread(target=nest) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("freed")
"""
    assert run(kwire, "structs", code) == ["freed"]
