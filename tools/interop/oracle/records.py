# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run Kafka's record classes: they write test vectors and read kwire's batches.

This module builds the Java program, writes the committed vectors and verifies them.
``record_cases.py`` contains the batches that Kafka writes, and ``record_check.py`` the
batches that kwire writes. kwire's tests only read the committed vectors.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import lzma
import os
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tools.interop.oracle import record_cases, record_check
from tools.interop.oracle.oracle import (
    HERE,
    VECTORS,
    OracleError,
    Row,
    compact,
    run,
    shortened,
)

PROJECT = HERE / "record_classes"
TARGET = PROJECT / "target"
PACKED = VECTORS / "records.jsonl.xz"
CONVERTING = "3.9.2"
"""Release that writes the vectors: the last one that supports all message formats."""
ENGINES = ("fast", "pure")
SHOWN = 10
"""Maximum number of printed errors."""


def releases() -> list[str]:
    """List the Kafka releases with supported record classes, newest first."""
    profiles = ElementTree.parse(PROJECT / "pom.xml").findall("{*}profiles/{*}profile")
    return [str(profile.findtext("{*}id")) for profile in profiles]


def command(release: str) -> list[str]:
    """Return the command that runs the Java program with the jars of a release.

    Maven builds the program first if it is outdated.
    """
    listing = TARGET / f"classpath-{release}"
    sources = [PROJECT / "pom.xml", *PROJECT.glob("src/**/*.java")]
    newest = max(source.stat().st_mtime for source in sources)
    if not listing.exists() or listing.stat().st_mtime < newest:
        maven = ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", f"{PROJECT}/pom.xml"]
        goals = ["compile", "dependency:build-classpath"]
        run([*maven, "-P", release, f"-Dmdep.outputFile={listing}", *goals])
        # Maven does not write the list of jars again if it has not changed. Update its
        # modification time, so that the next call does not run Maven.
        listing.touch()
    path = f"{TARGET}/classes-{release}:{listing.read_text().strip()}"
    return ["java", "-cp", path, "kwire.oracle.records.Records"]


def ask(release: str, asked: Iterable[Row]) -> list[Row]:
    """Send requests to the record classes of one release. Returns the answers."""
    lines = "".join(compact(row) + "\n" for row in asked)
    return [json.loads(line) for line in run(command(release), lines).splitlines()]


def all_bytes(release: str, asked: Iterable[Row]) -> list[bytes]:
    """Send requests to the record classes, and return the bytes of each answer."""
    return [base64.b64decode(answer["bytes"]) for answer in ask(release, asked)]


def about(verb: str, data: bytes, **more: object) -> Row:
    """Return a request that applies the operation ``verb`` to bytes.

    ``more`` contains further fields of the request.
    """
    return {"do": verb, "bytes": record_cases.text(data), **more}


def origin() -> Row:
    """Return the first row of the vector file: name and SHA-256 digest of the jar."""
    command(CONVERTING)
    paths = (TARGET / f"classpath-{CONVERTING}").read_text().strip().split(":")
    (jar,) = (Path(path) for path in paths if "kafka-clients" in Path(path).name)
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    return {"kind": "origin", "jar": jar.name, "sha256": digest}


def vectors() -> Iterator[Row]:
    """Yield a row for each vector: its bytes, and the content that Kafka reads."""
    yield origin()
    cases = [
        *record_cases.batches(),
        *record_cases.CONTROL,
        *record_cases.EMPTIED,
        record_cases.HOSTILE,
    ]
    encoded = all_bytes(CONVERTING, [case.asked for case in cases])
    written = dict(zip([case.name for case in cases], encoded, strict=True))
    asked = {case.name: case.asked for case in cases}
    sets = dict(record_cases.sets(written))
    repaired = all_bytes(CONVERTING, [about("repair", data) for data in sets.values()])
    written.update(zip(sets, repaired, strict=True))
    read = ask(CONVERTING, [about("read", data) for data in written.values()])
    for (name, data), answer in zip(written.items(), read, strict=True):
        yield {
            "kind": "batches",
            "name": name,
            "asked": asked.get(name),
            "bytes": record_cases.text(data),
            "read": answer,
        }

    wanted = list(record_cases.conversions())
    questions = [
        about(
            "convert",
            written[each.source],
            magic=each.magic,
            start_offset=each.start_offset,
        )
        for each in wanted
    ]
    for each, answer in zip(wanted, ask(CONVERTING, questions), strict=True):
        yield {"kind": "conversion", **each._asdict(), **answer}

    mutants = list(record_cases.mutants(written))
    repaired = all_bytes(CONVERTING, [about("repair", each[2]) for each in mutants])
    read = ask(CONVERTING, [about("read", data) for data in repaired])
    for (name, place, _), data, answer in zip(mutants, repaired, read, strict=True):
        yield {
            "kind": "mutant",
            "name": name,
            "place": place,
            "bytes": record_cases.text(data),
            "read": answer,
        }


def write() -> None:
    """Create the vectors with Kafka and write them to the committed file."""
    lines = "".join(compact(row) + "\n" for row in vectors())
    PACKED.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    size = PACKED.stat().st_size
    print(f"{lines.count(chr(10))} vectors of records, {size / 1e3:.0f} kB packed")


def check() -> None:
    """Create the vectors again, and compare them with the committed vectors.

    Raises ``OracleError`` at the first difference.
    """
    committed = lzma.decompress(PACKED.read_bytes()).decode().splitlines()
    again = [compact(row) for row in vectors()]
    for old, new in zip(committed, again, strict=False):
        if old != new:
            raise OracleError(
                f"committed: {shortened(old)}\n   written: {shortened(new)}"
            )
    if len(committed) != len(again):
        raise OracleError(
            f"{len(committed)} vectors are committed, {len(again)} were written"
        )
    print(f"all {len(again)} vectors of records are what Kafka writes and reads")


def check_kwire() -> None:
    """Let every Kafka release read the batches that both engines of kwire have written.

    Raises ``OracleError`` if a release reads something else.
    """
    pools = [
        ProcessPoolExecutor(1, get_context("spawn"), choose, (engine,))
        for engine in ENGINES
    ]
    waiting = [
        pool.submit(record_check.write_all, engine)
        for engine, pool in zip(ENGINES, pools, strict=True)
    ]
    written = [one for each in waiting for one in each.result()]
    for pool in pools:
        pool.shutdown()
    for release in releases():
        asked = [about("read", one.data, explain=True) for one in written]
        faults = [
            f"{one.name}: {text}"
            for one, read in zip(written, ask(release, asked), strict=True)
            if (text := record_check.fault(one, read))
        ]
        for text in faults[:SHOWN]:
            print(f"  {shortened(text)}")
        if faults:
            raise OracleError(f"Kafka {release} reads {len(faults)} batches otherwise")
        print(f"Kafka {release} reads {len(written)} batches as kwire meant them")


def choose(engine: str) -> None:
    """Select the engine for this process.

    Must be called before the first import of kwire.
    """
    os.environ["KWIRE_BACKEND"] = engine


def main() -> None:
    """Write the vectors, or check them and kwire's batches.

    Exits with a message if Kafka cannot run or a check fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write", help="write the vectors")
    commands.add_parser("check", help="the same again, and kwire's batches to Kafka")
    arguments = parser.parse_args()
    try:
        if arguments.command == "write":
            write()
        else:
            check()
            check_kwire()
    except OracleError as error:
        sys.exit(f"records: {error}")


if __name__ == "__main__":
    main()
