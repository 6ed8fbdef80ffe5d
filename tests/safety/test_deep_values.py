# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Deeply nested values from callers do not crash the process.

Input bytes cannot cause deep nesting, because the schema determines the nesting. But a
constructor accepts any value, including a chain of structs. Every case runs in a
separate process, because a failure overflows the C stack.
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
    """Run code on a deeply nested value, and return the words that it prints.

    ``wrap`` selects how the value is nested.
    """
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
    """All structs of a long chain are freed without recursion."""
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
    blocks_held, blocks_left = map(int, run(kwire, wrap, code))
    # Some structs reuse memory that their class has kept, so they are not counted.
    assert blocks_held >= LEVELS * 0.95
    assert blocks_left < LEVELS / 1000


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("wrap", ["structs", "tuples"])
def test_a_chain_is_an_error_of_python(kwire, wrap):
    """Functions that visit nested values raise an error at Python's recursion limit."""
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
    """Several threads can free long chains at the same time.

    Every thread has its own list of structs that are freed later.
    """
    code = """
threads = [threading.Thread(target=nest) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("freed")
"""
    assert run(kwire, "structs", code) == ["freed"]
