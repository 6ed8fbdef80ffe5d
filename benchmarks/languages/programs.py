# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build and start the programs, and measure their processor time.

The time is read from the other process's CPU clock, before a request and after its
response. It is user and system time for all threads. Therefore all languages have the
same clock, and concurrent garbage collectors are included.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

import kwire
from benchmarks.harness import ROOT
from benchmarks.languages.kwire_program import WAYS as KWIRE_WAYS

HERE = Path(__file__).resolve().parent
BUILT = ROOT / "build" / "languages"
INPUTS = BUILT / "inputs"
TOOLS = ("cargo", "go", "java", "javac", "mvn")

# Type of a CPU clock in Linux: time that the scheduler has measured, in nanoseconds.
_SCHEDULED = 2
_CRATES = (
    "kafka-protocol",
    "kacrab-protocol",
    "kafka-wire",
    "krabka-protocol",
    "krabka-protocol-borrowed",
)
_CLASSES = ("kafka-clients", "kafka-clients-list")


class Contender(NamedTuple):
    """Library of a language that is used in one way by one program."""

    language: str
    program: str
    way: str

    @property
    def key(self) -> str:
        """Program and way of the contender, which identify it in the figures."""
        return f"{self.program} {self.way}"


CONTENDERS = (
    *(Contender("Python", "kwire", way) for way in KWIRE_WAYS),
    *(Contender("Rust", "rust", way) for way in _CRATES),
    *(Contender("Rust", "rust-mimalloc", way) for way in _CRATES),
    *(Contender("Java", "java", way) for way in _CLASSES),
    *(Contender("Java", "java-parallel", way) for way in _CLASSES),
    Contender("Go", "go", "kmsg"),
    Contender("Go", "go", "kmsg-unsafe"),
    Contender("Go", "go-800", "kmsg"),
    Contender("Go", "go-800", "kmsg-unsafe"),
)
COUNTING = "rust-counting"
"""Rust program whose allocator counts bytes. It measures memory, not time."""


def build() -> None:
    """Build the programs for the other languages. Unchanged sources are not recompiled.

    Raises SystemExit if a required tool is missing.
    """
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"the comparison of languages requires {', '.join(missing)}")
    BUILT.mkdir(parents=True, exist_ok=True)
    # Some crates require a newer compiler in their metadata than in their code.
    cargo = ["cargo", "build", "--quiet", "--release", "--locked"]
    cargo += ["--ignore-rust-version", "--target-dir", str(BUILT / "cargo")]
    _run([*cargo, "--manifest-path", str(HERE / "rust" / "Cargo.toml")])
    _run(["go", "build", "-C", str(HERE / "go"), "-o", str(BUILT / "go"), "."])
    _build_java()


def _build_java() -> None:
    """Compile the Java classes unless they are newer than all of their sources."""
    sources = sorted((HERE / "java").rglob("*.java"))
    changed = max(each.stat().st_mtime for each in (HERE / "java/pom.xml", *sources))
    done = BUILT / "classes" / "Languages.class"
    if done.exists() and done.stat().st_mtime > changed:
        return
    maven = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", str(HERE / "java")]
    _run([*maven, f"-Dmdep.outputFile={_listing()}", "dependency:build-classpath"])
    javac = ["javac", "--release", "17", "-cp", _listing().read_text()]
    _run([*javac, "-d", str(done.parent), *map(str, sources)])


def _listing() -> Path:
    return BUILT / "classpath"


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout)[-2000:]
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {said}")
    return done.stdout


def find_versions() -> dict[str, str]:
    """Return the versions of the compilers, the libraries and kwire, by name."""
    lock = tomllib.loads((HERE / "rust" / "Cargo.lock").read_text())
    crates = {each["name"]: each["version"] for each in lock["package"]}
    pom = (HERE / "java" / "pom.xml").read_text()
    clients = re.search(r"kafka-clients</artifactId>\s*<version>(.+?)<", pom)
    assert clients is not None
    modules = dict(re.findall(r"^\t(\S+) v(\S+)", _read_go_mod(), re.MULTILINE))
    franz = "github.com/twmb/franz-go"
    return {
        "kwire": kwire.__version__,
        "Python": sys.version.split()[0],
        "Rust": _run(["rustc", "--version"]).split()[1],
        **{name: crates[name] for name in (*_CRATES[:4], "mimalloc")},
        "Java": _run(["java", "--version"]).split()[1],
        "kafka-clients": clients[1],
        "Go": _run(["go", "version"]).split()[2].removeprefix("go"),
        "franz-go": modules[franz],
        "kmsg": modules[f"{franz}/pkg/kmsg"],
    }


def _read_go_mod() -> str:
    return (HERE / "go" / "go.mod").read_text()


def _command(program: str) -> list[str]:
    if program == "kwire":
        return [sys.executable, "-m", "benchmarks.languages.kwire_program"]
    language, _, option = program.partition("-")
    if language == "rust":
        return [str(BUILT / "cargo" / "release" / (option or "system"))]
    if language == "go":
        return [str(BUILT / "go")]
    collector = ["-XX:+UseParallelGC"] if option else ["-XX:+UseG1GC"]
    classes = os.pathsep.join((str(BUILT / "classes"), _listing().read_text()))
    return ["java", "-Xms1g", "-Xmx1g", *collector, "-cp", classes, "Languages"]


class Program:
    """Running program of a language, and its CPU clock."""

    def __init__(self, name: str) -> None:
        """Start the program, which waits for requests."""
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        if name.startswith("go-"):
            environment["GOGC"] = name.removeprefix("go-")
        self._name = name
        self._process = subprocess.Popen(
            [*_command(name), str(INPUTS)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._clock = ~self._process.pid << 3 | _SCHEDULED

    def ask(self, *words: object) -> str | None:
        """Send a request and return its response.

        Returns None if the program does not support the case. Raises ``SystemExit`` if
        the program has ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        request = " ".join(map(str, words))
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        response = self._process.stdout.readline().strip()
        if not response:
            raise SystemExit(f"{self._name} ended at the request: {request}")
        return None if response == "none" else response

    def seconds(self, *words: object) -> tuple[float, int]:
        """Run a case repeatedly.

        Returns the processor time per run in seconds, and the number of runs.
        """
        before = time.clock_gettime_ns(self._clock)
        loop_count = self.ask("run", *words)
        taken = time.clock_gettime_ns(self._clock) - before
        assert loop_count is not None
        return taken / 1e9 / int(loop_count), int(loop_count)

    def close(self) -> None:
        """Close the standard input of the program, and wait for its end."""
        self._process.communicate()
