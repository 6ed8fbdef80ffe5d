# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Count all object references exactly with a debug build of CPython.

A debug build counts the total number of references to all objects. The engine is
compiled for it in ``build/references``. Every entry point is called thousands of times
with valid input and with every type of invalid input. Finally the total must be
unchanged. Calls are repeated N times and then 2 N times, so that references that are
kept only once cancel out.

``--record`` stores the figures. The exit code is 1 if an entry point leaks references.
Messages and records use the calls of their memory tests. All other entry points are
listed here.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

from tools import ROOT
from tools.generate.promises import Figure, record
from tools.prove.engine_copy import Copy

COPY = ROOT / "build" / "references"
DEBUG_PYTHON = "python3-dbg"
ROUNDS = 10_000

Call = Callable[[], object]


def build(python: str) -> None:
    """Build the engine for the debug interpreter ``python``.

    Modules that are newer than their sources are not compiled again. Raises
    ``SystemExit`` if the build fails.
    """
    Copy("references", "").refresh()
    # Cython is compiled for this interpreter, where it generates the C files faster
    # than in the debug interpreter. Any command of setup.py generates them.
    for command in (
        [sys.executable, "setup.py", "--quiet", "--name"],
        [python, "setup.py", "--quiet", "build_ext", "--inplace", "-j2"],
    ):
        done = subprocess.run(
            command, cwd=COPY, env=environment(), capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"the engine does not build\n{done.stderr[-2000:]}")


def environment() -> dict[str, str]:
    """Return an environment in which an interpreter finds the copy and the tests.

    It also contains the pure Python packages of this interpreter.
    """
    paths = [COPY / "src", ROOT]
    paths.append(Path(sysconfig.get_path("purelib")))
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


def is_debug(python: str) -> bool:
    """Return whether an interpreter exists and counts references."""
    code = "import sys; sys.gettotalrefcount()"
    try:
        return not subprocess.run([python, "-c", code], capture_output=True).returncode
    except OSError:
        return False


# Functions that run in the debug interpreter ------------------------------------------


def entries(kwire: Any) -> dict[str, dict[str, Call]]:
    """Return the calls of all entry points, by group and by name."""
    from tests.records import test_record_memory
    from tests.safety import test_memory

    messages = test_memory.calls(kwire)
    records = test_record_memory.calls(kwire)
    framed = ("frame", "read", "split")
    return {
        "messages": {k: v for k, v in messages.items() if not k.startswith(framed)},
        "framing": {k: v for k, v in messages.items() if k.startswith(framed)},
        "records": {k: v for k, v in records.items() if "column" not in k},
        "columns": {k: v for k, v in records.items() if "column" in k},
        "message columns": message_columns(kwire),
        "header columns": header_columns(kwire),
        "wire primitives": primitives(kwire),
        "connection": connections(kwire),
    }


def rows_of(rows: list[bytes]) -> tuple[None, bytes, bytes]:
    """Return the buffers of an Arrow array of bytes that has no nulls."""
    import struct

    ends = [sum(map(len, rows[:number])) for number in range(len(rows) + 1)]
    return None, struct.pack(f"={len(ends)}i", *ends), b"".join(rows)


def message_columns(kwire: Any) -> dict[str, Call]:
    """Return calls that decode messages into columns, by name."""
    engine = importlib.import_module("kwire._engine.active").record_engine
    cls = kwire.messages.MetadataResponse
    topic = cls.MetadataResponseTopic(
        name="t", partitions=[cls.MetadataResponsePartition(isr_nodes=[1, 2])]
    )
    good = kwire.encode(cls(topics=[topic] * 3, cluster_id="c"), 9)
    cases = {
        "good": [good, good],
        "bad row": [good, good[:-2]],
        "bad text": [good.replace(b"\2t", b"\2\xff"), good],
    }

    def call(rows: list[bytes], keep: bool, version: int = 9) -> Call:
        buffers = rows_of(rows)
        return lambda: engine.decode_messages(
            cls, version, *buffers, 0, len(rows), False, keep
        )

    calls = {name: call(rows, False) for name, rows in cases.items()}
    calls |= {f"{name}, kept": call(rows, True) for name, rows in cases.items()}
    buffers = rows_of(cases["good"])
    produce, produced = kwire.messages.ProduceRequest, rows_of([bytes(7)])
    array: Any = calls["good"]()
    return calls | {
        "views": lambda: engine.decode_messages(
            cls, 9, *buffers, 0, 2, False, False, views=True
        ),
        "views, bad row": lambda: engine.decode_messages(
            produce, 9, *produced, 0, 1, False, False, views=True
        ),
        "no version": call(cases["good"], False, 99),
        "arrow": lambda: array.__arrow_c_array__(),
    }


def header_columns(kwire: Any) -> dict[str, Call]:
    """Return calls that decode request headers into columns, by name."""
    engine = importlib.import_module("kwire._engine.active").record_engine
    framing = kwire.messages.framing
    request = kwire.messages.HeartbeatRequest(group_id="g", member_id="m")
    frame = framing.encode_request(request, 4, 7, "me")[4:]
    cases = {
        "good": [frame, frame],
        "cut": [frame, frame[:6]],
        "unknown api": [b"\x7f\xff" + frame[2:]],
        "unknown version": [frame[:2] + b"\x7f\xff" + frame[4:]],
        "bad text": [frame.replace(b"me", b"\xff\xff", 1)],
    }

    def call(rows: list[bytes], keep: bool) -> Call:
        buffers = rows_of(rows)
        header = kwire.messages.RequestHeader
        return lambda: engine.decode_request_headers(
            header, framing.decode_request, *buffers, 0, len(rows), False, keep
        )

    calls = {name: call(rows, False) for name, rows in cases.items()}
    return calls | {f"{name}, kept": call(rows, True) for name, rows in cases.items()}


def primitives(kwire: Any) -> dict[str, Call]:
    """Return encoding and decoding calls for every primitive type, by name.

    The inputs are valid, invalid, truncated, or at an offset beyond the end.
    """
    from tests.engine import test_references

    wire = kwire.messages.wire
    calls: dict[str, Call] = {}
    for name, value in test_references.PRIMITIVES.items():
        encode = getattr(wire, f"encode_{name}")
        decode = getattr(wire, f"decode_{name}")
        data = encode(value)
        calls[f"decode {name}"] = partial(decode, data)
        calls[f"decode {name}, cut"] = partial(decode, data[:-1])
        calls[f"decode {name}, elsewhere"] = partial(decode, data, offset=999)
        calls[f"encode {name}"] = partial(encode, value)
        for what, wrong in test_references.wrong_values().items():
            calls[f"encode {name}, {what}"] = partial(encode, wrong)
    return calls


def connections(kwire: Any) -> dict[str, Call]:
    """Return calls for both sides of a connection, by name.

    Some calls succeed and others fail.
    """
    connection = importlib.import_module("kwire.connection")
    negotiation = importlib.import_module("kwire.connection.negotiation")
    table = negotiation.ApiVersionTable.from_ranges({3: (0, 8), 18: (0, 4)})
    request = kwire.messages.MetadataRequest(topics=None)
    asked = kwire.messages.framing.encode_request(request, 8, 0, "kw")
    response = kwire.messages.MetadataResponse(cluster_id="c")
    answer = kwire.messages.framing.encode_response(response, 8, 0)

    def client(data: bytes) -> object:
        machine = connection.ClientConnection("kw", table=table)
        machine.send(request)
        return machine.data_to_send(), list(machine.receive_data(data)), machine.close()

    def server(data: bytes) -> object:
        machine = connection.ServerConnection(table)
        for event in machine.receive_data(data):
            machine.send(event, response)
        return machine.data_to_send(), machine.close()

    def asking(data: bytes) -> object:
        made = connection.ClientConnection("kw")
        return made.data_to_send(), list(made.receive_data(data))

    made: dict[str, Call] = {}
    for name, side, data in (
        ("client", client, answer),
        ("server", server, asked),
        ("client that asks", asking, b"\0\0\0\4\0\0\0\0"),
    ):
        made[name] = partial(side, data)
        made[f"{name}, in part"] = partial(side, data[:-1])
        made[f"{name}, cut"] = partial(side, framed(data[4:-1]))
        made[f"{name}, wrong id"] = partial(side, data[:4] + b"\xff" + data[5:])
        made[f"{name}, garbage"] = partial(side, b"\xff" * 8)
    return made


def framed(data: bytes) -> bytes:
    """Return a frame with its size prefix, which is an INT32."""
    return len(data).to_bytes(4, "big") + data


def count(kwire: Any, call: Call, rounds: int) -> tuple[int, int]:
    """Call an entry point ``rounds`` times.

    Returns the change in the total number of references, and the number of failed
    calls.
    """
    errors = (kwire.KwireError, TypeError, AttributeError, LookupError, ValueError)
    failed = 0
    gc.collect()
    before = sys.gettotalrefcount()
    for _ in repeat(None, rounds):
        try:
            call()
        except errors:
            failed += 1
    gc.collect()
    return sys.gettotalrefcount() - before, failed


def measure_gain(kwire: Any, call: Call, rounds: int) -> tuple[int, int]:
    """Return the references that ``rounds // 2`` further calls keep, and the failures.

    A cache that fills for the first time is not a leak. The measurement is therefore
    repeated up to three times, and only a leak occurs every time.
    """
    gain = failed = 0
    for _ in range(3):
        count(kwire, call, 20)
        one, _ = count(kwire, call, rounds // 2)
        two, failed = count(kwire, call, rounds)
        gain = two - one
        if gain == 0:
            break
    return gain, failed


def measure(rounds: int) -> None:
    """Measure all entry points in the debug interpreter.

    Prints one JSON list per entry point: group, name, kept references, failed calls.
    """
    # This extension was compiled for the regular interpreter and cannot be loaded here.
    # Every attempt to load it costs CPython a reference, so block the import.
    sys.modules["isal"] = None  # type: ignore[assignment]
    import kwire

    if kwire.backend != "fast" or not kwire._engine.active.engine.__file__.startswith(
        str(COPY)
    ):
        raise SystemExit("the engine that was built is not the one that runs")
    for group, calls in entries(kwire).items():
        for name, call in calls.items():
            gain, failed = measure_gain(kwire, call, rounds)
            print(json.dumps([group, name, gain, failed]), flush=True)


# Functions that run in this interpreter -----------------------------------------------


def report(python: str, rounds: int) -> tuple[list[Figure], int]:
    """Run the measurement in the debug interpreter.

    Prints a row for every group and a line for every leak. Returns the figures for the
    table of promises, and the number of leaks.
    """
    command = [python, "-m", "tools.prove.references", "--measure"]
    command += ["--rounds", str(rounds)]
    child = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    print(f"{'entries of':18} {'good':>6} {'refused':>8} {'rounds':>12} {'leaks':>7}")
    groups: dict[str, list[list[Any]]] = {}
    last = ""
    for line in child.stdout:
        group, *found = json.loads(line)
        if last and group != last:
            print(row(last, groups[last], rounds), flush=True)
        last = group
        groups.setdefault(group, []).append(found)
    if child.wait() or not groups:
        raise SystemExit("the debug interpreter failed; what it says stands above")
    print(row(last, groups[last], rounds))
    leaks = 0
    for group, entries_ in groups.items():
        for name, more, _ in entries_:
            if more:
                leaks += 1
                # The additional references belong only to the second half of the
                # rounds.
                gain = more / (rounds - rounds // 2)
                print(f"LEAK {group}: {name}: {gain:+.3g} references a round")
    total = sum(map(len, groups.values()))
    refused = sum(failed > 0 for found in groups.values() for _, _, failed in found)
    test = "make references"
    return [
        Figure("P11", "entries counted", total, test, least=200),
        Figure("P11", "of which are refused", refused, test, least=100),
        Figure("P11", "rounds of each", rounds, test, least=ROUNDS),
        Figure("P11", "entries that gain or lose references", leaks, test, most=0),
    ], leaks


def row(group: str, entries_of_group: list[list[Any]], rounds: int) -> str:
    """Format a row: the entry points of a group, the calls, and the leaks."""
    refused = sum(failed > 0 for _, _, failed in entries_of_group)
    leaks = sum(more != 0 for _, more, _ in entries_of_group)
    good = len(entries_of_group) - refused
    ends = f"{rounds * len(entries_of_group):12,} {leaks or 'none':>7}"
    return f"{group:18} {good:6} {refused:8} {ends}"


def main() -> int:
    """Build the engine, count the references, and print leaks.

    Returns the exit code: 1 if an entry point leaks references.
    """
    parser = argparse.ArgumentParser(description="Count all references, exactly.")
    parser.add_argument("--python", default=DEBUG_PYTHON, help="a debug build")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each entry")
    parser.add_argument("--record", action="store_true", help="note the figures")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        measure(asked.rounds)
        return 0
    if not is_debug(asked.python):
        print(
            f"{asked.python} is no debug build of CPython; on Debian install "
            "python3-dbg and libpython3-dbg, or name another with --python",
            file=sys.stderr,
        )
        return 2
    print(f"building the engine for {asked.python}", flush=True)
    build(asked.python)
    figures, leaks = report(asked.python, asked.rounds)
    if asked.record and not leaks:
        record("references", figures)
    return min(1, leaks)


if __name__ == "__main__":
    sys.exit(main())
