# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run Kafka's generated message classes and compare kwire with them.

This module selects the jars, writes the committed test vectors and verifies them. The
Java program in the same directory creates, decodes and encodes the messages. kwire's
tests do not run this module, because they only read the committed vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
VECTORS = HERE.parents[2] / "tests" / "vectors"
SEED = "1"

Row = dict[str, Any]
Pair = tuple[str, int]


class OracleError(Exception):
    """A required program is missing or has failed."""


def releases() -> list[str]:
    """List the supported Kafka releases in the order of pom.xml, newest first."""
    names = ElementTree.parse(HERE / "pom.xml").findall("{*}profiles/{*}profile/{*}id")
    return [str(name.text) for name in names]


def jars(release: str) -> list[Path]:
    """Return the class path of a Kafka release.

    If necessary, Maven downloads the jars and compiles the Java program.
    """
    listing = TARGET / f"classpath-{release}"
    sources = [HERE / "pom.xml", *HERE.glob("src/**/*.java")]
    newest = max(source.stat().st_mtime for source in sources)
    if not listing.exists() or listing.stat().st_mtime < newest:
        maven = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", f"{HERE}/pom.xml"]
        goals = ["compile", "dependency:build-classpath"]
        run([*maven, "-P", release, f"-Dmdep.outputFile={listing}", *goals])
    return [Path(path) for path in listing.read_text().strip().split(":")]


def java(release: str, *arguments: str) -> list[str]:
    """Return the command that runs the Java program with the jars of a release."""
    path = ":".join(str(part) for part in (TARGET / "classes", *jars(release)))
    return ["java", "-cp", path, "kwire.oracle.Oracle", *arguments]


def run(command: list[str], text: str = "") -> str:
    """Run a command with ``text`` as its input. Returns its standard output.

    Raises ``OracleError`` if the command is missing or fails.
    """
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, encoding="utf-8"
        )
    except FileNotFoundError:
        raise OracleError(
            f"{command[0]} is not installed; the oracle needs Maven and a Java 17 JDK"
        ) from None
    if done.returncode:
        said = (done.stderr + done.stdout).splitlines()
        why = next((line for line in said if "ERROR" in line or "xception" in line), "")
        raise OracleError(f"{command[0]} ended with {done.returncode}: {why}")
    return done.stdout


def ask(release: str, *arguments: str, text: str = "") -> list[Row]:
    """Run the Java program with ``text`` as input.

    Returns the rows that it prints, one JSON object per line.
    """
    output = run(java(release, *arguments), text)
    return [json.loads(line) for line in output.split("\n") if line]


def wanted_pairs(listing: Path | None) -> list[Pair]:
    """Return the sorted (message, version) pairs of ``listing``, by default all.

    A line of ``listing`` contains a message with its minimum and maximum version.
    """
    if listing:
        lines = [line.split() for line in listing.read_text().splitlines() if line]
        ranges = [(name, int(low), int(high)) for name, low, high in lines]
    else:
        from kwire.schema import registry

        valid = {name: registry.find(name).valid_versions for name in registry.names()}
        ranges = [(name, known.min, known.max) for name, known in valid.items()]
    return sorted((name, v) for name, low, high in ranges for v in range(low, high + 1))


def message_classes() -> dict[str, dict[str, Row]]:
    """Return the facts about Kafka's generated classes, by release and message name.

    The newest release is first.
    """
    return {
        release: {row["message"]: row for row in ask(release, "classes")}
        for release in releases()
    }


def newest_release(pair: Pair, classes: dict[str, dict[str, Row]]) -> str | None:
    """Return the newest release whose class supports a pair, or None."""
    name, version = pair
    for release, messages in classes.items():
        message_class = messages.get(name)
        if message_class and message_class["min"] <= version <= message_class["max"]:
            return release
    return None


def reason_missing(name: str, classes: dict[str, dict[str, Row]]) -> str:
    """Return the versions of a message that each release supports, as a reason."""
    held = [
        f"{release} holds {messages[name]['min']}-{messages[name]['max']}"
        for release, messages in classes.items()
        if name in messages
    ]
    return "; ".join(held) or "no published jar holds the class"


def make_vectors(pairs: list[Pair]) -> tuple[str, str]:
    """Create the test vectors with Kafka's classes.

    Returns the text of the vector lines and of their manifest.
    """
    classes = message_classes()
    chosen = {pair: newest_release(pair, classes) for pair in pairs}
    vectors: dict[Pair, list[Row]] = {}
    seeds: dict[Pair, int] = {}
    for release in classes:
        asked = [pair for pair in pairs if chosen[pair] == release]
        print(f"kafka {release}: {len(asked)} pairs", file=sys.stderr)
        text = "".join(f"{name} {version}\n" for name, version in asked)
        for row in ask(release, "write", SEED, text=text):
            pair = row["message"], row["version"]
            if "seed" in row:
                seeds[pair] = row["seed"]
            else:
                vectors.setdefault(pair, []).append(row)
    entries: list[Row] = []
    missing: list[Row] = []
    for pair, chosen_release in chosen.items():
        name, version = pair
        entry: Row = {"message": name, "version": version}
        if chosen_release is None:
            missing.append({**entry, "reason": reason_missing(name, classes)})
            continue
        found = classes[chosen_release][name]
        origin = {"jar": found["jar"], "class": found["class"]}
        count = len(vectors[pair])
        entries.append({**entry, **origin, "seed": seeds[pair], "count": count})
    used = {entry["jar"] for entry in entries}
    sums = {
        jar.name: hashlib.sha256(jar.read_bytes()).hexdigest()
        for release in classes
        for jar in jars(release)
        if jar.name in used
    }
    rows = [row for pair in pairs for row in vectors.get(pair, [])]
    lines = "".join(compact(row) + "\n" for row in rows)
    return lines, manifest_text(sums, entries, missing)


def manifest_text(sums: dict[str, str], entries: list[Row], missing: list[Row]) -> str:
    """Format the manifest with one pair per line, so that diffs are readable."""
    pairs = ",\n".join(map(compact, entries))
    unwritten = ",\n".join(map(compact, missing))
    return (
        f'{{"seed":{json.dumps(SEED)},\n"sha256":{json.dumps(sums, indent=0)},\n'
        f'"pairs":[\n{pairs}\n],\n"missing":[\n{unwritten}\n]}}\n'
    )


def compact(row: Row) -> str:
    """Format a row like the Java program, without spaces and with unescaped UTF-8."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False)


def write(pairs: list[Pair], folder: Path) -> None:
    """Write the vectors and their manifest to a directory."""
    lines, manifest = make_vectors(pairs)
    folder.mkdir(parents=True, exist_ok=True)
    packed = folder / "messages.jsonl.xz"
    packed.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    written = json.loads(manifest)
    print(
        f"{lines.count(chr(10))} vectors of {len(written['pairs'])} pairs, "
        f"{packed.stat().st_size / 1e6:.2f} MB packed; "
        f"{len(written['missing'])} pairs that no jar can write"
    )


def check(pairs: list[Pair]) -> None:
    """Create the vectors again, and compare them with the committed vectors.

    Raises ``OracleError`` at the first difference.
    """
    with tempfile.TemporaryDirectory() as folder:
        write(pairs, Path(folder))
        for content in (vector_lines, manifest_lines):
            committed, again = content(VECTORS), content(Path(folder))
            for old, new in zip(committed, again, strict=False):
                if old != new:
                    raise OracleError(
                        f"committed: {shortened(old)}\n   written: {shortened(new)}"
                    )
            if len(committed) != len(again):
                raise OracleError(
                    f"{len(committed)} lines are committed, {len(again)} were written"
                )
    print("the committed vectors are what Kafka writes")


def vector_lines(folder: Path) -> list[str]:
    """Return the lines of the vector file in a directory."""
    packed = (folder / "messages.jsonl.xz").read_bytes()
    return lzma.decompress(packed).decode().split("\n")


def manifest_lines(folder: Path) -> list[str]:
    """Return the lines of the manifest in a directory."""
    return (folder / "manifest.json").read_text(encoding="utf-8").split("\n")


def shortened(line: str) -> str:
    """Truncate a line to 300 characters.

    Its start contains the message and the version.
    """
    return line if len(line) <= 300 else line[:300] + "..."


def read(lines: Iterable[str]) -> Iterator[str]:
    """Decode messages with the newest Kafka release that supports their version.

    ``lines`` contains JSON requests. Yields the JSON answer for each request before the
    next request is read.
    """
    classes = message_classes()
    readers: dict[str, subprocess.Popen[str]] = {}
    try:
        for line in lines:
            asked = json.loads(line)
            release = newest_release((asked["message"], asked["version"]), classes)
            if release is None:
                reason = reason_missing(asked["message"], classes)
                yield compact({"ok": False, "step": "find", "error": reason})
                continue
            if release not in readers:
                readers[release] = subprocess.Popen(
                    java(release, "read"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                )
            reader = readers[release]
            assert reader.stdin and reader.stdout
            reader.stdin.write(compact(asked) + "\n")
            reader.stdin.flush()
            answer = reader.stdout.readline()
            if not answer:
                raise OracleError(
                    f"the reader of Kafka {release} died at {line.strip()}"
                )
            yield answer.rstrip("\n")
    finally:
        for reader in readers.values():
            reader.communicate()


def check_errors() -> None:
    """Compare the error codes of kwire with the newest Kafka release.

    Raises ``OracleError`` at the first difference.
    """
    from kwire import error_codes

    rows = ask(releases()[0], "errors")
    kafka = {row["name"]: row["code"] for row in rows}
    kwire = {name: code for name, code in vars(error_codes).items() if name.isupper()}
    for name in sorted(kafka.keys() | kwire.keys()):
        if kafka.get(name) != kwire.get(name):
            raise OracleError(f"{name} is {kafka.get(name)}, not {kwire.get(name)}")
    for row in rows:
        code, ours = row["code"], (row["name"], row["retriable"])
        if (error_codes.name(code), error_codes.retriable(code)) != ours:
            raise OracleError(f"the error code {code} should be {ours}")
    print(f"all {len(rows)} error codes are Kafka's")


def main() -> None:
    """Run the subcommand.

    Exits with a message if a program is missing or a check fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("write", "write the vectors and their manifest"),
        ("check", "write them again and fail on one differing byte"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("--pairs", type=Path, help="lines: message, min, max")
    commands.add_parser("read", help="let Kafka read JSON lines from stdin")
    commands.add_parser("errors", help="print Kafka's error codes")
    commands.add_parser("check-errors", help="compare kwire.error_codes with them")
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "write":
                write(wanted_pairs(arguments.pairs), VECTORS)
            case "check":
                check(wanted_pairs(arguments.pairs))
            case "read":
                for answer in read(sys.stdin):
                    print(answer, flush=True)
            case "errors":
                for row in ask(releases()[0], "errors"):
                    print(compact(row))
            case "check-errors":
                check_errors()
    except OracleError as error:
        sys.exit(f"oracle: {error}")


if __name__ == "__main__":
    main()
