# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure startup: import time, first decoded message and build time.

Every start uses a new interpreter without the ``site`` module, because site hooks may
already import measured modules. The clock runs inside that interpreter and starts
immediately before the contender's first import.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.contenders import kio
from benchmarks.harness import ROOT
from benchmarks.harness.contenders import CONTENDERS
from benchmarks.harness.replay import clock, replay
from benchmarks.workloads.messages import workload
from tools.prove.engine_copy import files_of_the_tree, put

SECTION = "Start"
ROUNDS = 15
HEAVY = ("asyncio", "dataclasses", "enum", "json", "re", "typing", "uuid")

IMPORTS = {"kwire": "import kwire", "kwire pure": "import kwire"}
FIRST_MESSAGE = {
    "kwire": """
import kwire
from kwire.messages import MetadataResponse
kwire.decode(MetadataResponse, data, version=9)
""",
    "kio": """
from kio.schema.metadata.v9.response import MetadataResponse
from kio.serial import entity_reader
entity_reader(MetadataResponse)(data, 0)
""",
    "kafka-python": """
from kafka.protocol.metadata import MetadataResponse
MetadataResponse.decode(data, version=9)
""",
}
FIRST_MESSAGE["kwire pure"] = FIRST_MESSAGE["kwire"]

# Import ``os`` and ``site`` before the clock starts. A regular interpreter loads both
# at startup, but ``-S`` skips them.
PROGRAM = """
import os, site, sys, time
sys.path[:0] = sys.argv[2:]
with open(sys.argv[1], "rb") as file:
    data = file.read()
started = time.perf_counter()
{statements}
seconds = time.perf_counter() - started
loaded = sorted(sys.modules)
import json
print(json.dumps([seconds, loaded]))
"""

CASES = [("import kwire", label) for label in IMPORTS]
CASES += [("import and decode Metadata v9", label) for label in FIRST_MESSAGE]


@pytest.fixture(scope="module")
def starts(tmp_path_factory) -> Iterator[Callable[[str, str], list]]:
    """Start the program of each case ``ROUNDS`` times, in shuffled order.

    Yields a function that returns a list of (seconds, loaded modules) for a case.
    """
    metadata = workload("metadata_v9")
    data = tmp_path_factory.mktemp("start") / "metadata"
    data.write_bytes(kio.encode(metadata, kio.build(metadata)).result())
    package = importlib.util.find_spec("kwire")
    paths = [Path(package.origin).parents[1], sysconfig.get_path("purelib")]
    answers: dict[tuple[str, str], list] = {case: [] for case in CASES}

    def run(title: str, label: str) -> list:
        statements = (IMPORTS if title == "import kwire" else FIRST_MESSAGE)[label]
        program = PROGRAM.format(statements=statements)
        backend = CONTENDERS[label].backend
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, data, *paths],
            env={**os.environ, **({"KWIRE_BACKEND": backend} if backend else {})},
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    for case in CASES:
        run(*case)
    order = random.Random(0)
    turns = list(CASES)
    for _ in range(ROUNDS):
        order.shuffle(turns)
        for case in turns:
            answers[case].append(run(*case))
    yield lambda *case: answers[case]


@pytest.mark.benchmark(timer=clock)
@pytest.mark.parametrize(("title", "label"), CASES)
def test_start(benchmark, starts, title, label) -> None:
    """Store the startup times of one contender in the report of pytest-benchmark."""
    found = starts(title, label)
    heavy = sorted(set(HEAVY).intersection(*(loaded for _, loaded in found)))
    labels = {"section": SECTION, "title": title, "entry": label, "heavy": heavy}
    replay(benchmark, [seconds for seconds, _ in found], **labels)


@pytest.mark.benchmark(timer=clock)
def test_build(benchmark, tmp_path) -> None:
    """Store the build time of a clean copy, and the stripped size of the extensions."""
    for name in files_of_the_tree():
        if (ROOT / name).is_file():
            put(name, (ROOT / name).read_bytes(), tmp_path)
    command = ["setup.py", "-q", "build_ext", "--inplace"]
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], cwd=tmp_path, check=True)
    seconds = time.perf_counter() - started

    extensions = sorted(tmp_path.glob("src/kwire/**/*.so"))
    assert extensions, "the build left no extension"
    subprocess.run(["strip", "--strip-all", *extensions], check=True)
    size = sum(extension.stat().st_size for extension in extensions)
    labels = {"section": SECTION, "title": "build", "entry": "kwire"}
    replay(benchmark, [seconds], stripped_bytes=size, **labels)
