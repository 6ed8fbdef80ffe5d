# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One engine at work in a process of its own, without Spark.

kwire chooses its engine once per process, from ``KWIRE_BACKEND``; so each engine checks
and times the same recording in its own process. ``run`` starts one; the process itself
is ``python -m examples.wire_to_table.engine RECORDING`` and prints one JSON object.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import kwire
from kwire import framing, messages

from . import recording, round_trip

ENGINES = ("fast", "pure")
LEAST_S = 0.5
PROJECT = Path(__file__).resolve().parents[2]


class EngineError(Exception):
    """An engine did not run, or not the one asked for."""


def run(engine: str, path: Path) -> dict:
    """Check and time the recording at ``path`` on ``engine``; returns the findings."""
    command = [sys.executable, "-m", __spec__.name, str(path)]
    environment = {**os.environ, "KWIRE_BACKEND": engine}
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise EngineError(f"the {engine} engine ended with code {done.returncode}")
    found = json.loads(done.stdout)
    if found["backend"] != engine:
        raise EngineError(f"asked for {engine}, kwire runs on {found['backend']}")
    return found


def main() -> None:
    """Check the recording, time its decoding and print what was found."""
    frames = recording.read(Path(sys.argv[1]))
    report = round_trip.check(frames)
    decodable = [frame for frame in frames if not round_trip.is_odd(frame)]
    found = {
        "backend": kwire.backend,
        "round_trips": report.round_trips,
        "odd": len(report.odd),
        "failures": report.failures,
        "frames_per_s": 0.0 if report.failures else decoding_rate(decodable),
        "bytes_per_frame": sum(len(frame.sent) for frame in decodable) / len(decodable),
    }
    print(json.dumps(found))


def decoding_rate(frames: list[recording.Recorded]) -> float:
    """Return how many frames per second one core decodes, every object built."""
    work = [
        (
            frame.direction == "request",
            messages.by_key(frame.api_key, frame.direction),
            frame.sent,
            frame.api_version,
        )
        for frame in frames
    ]
    decoded = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < LEAST_S:
        for is_request, cls, frame, version in work:
            if is_request:
                framing.decode_request(frame)
            else:
                framing.decode_response(cls, frame, version)
        decoded += len(work)
    return decoded / elapsed


if __name__ == "__main__":
    main()
