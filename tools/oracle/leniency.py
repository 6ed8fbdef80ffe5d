# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lets Kafka's own readers judge what kwire reads: ``compat="java"`` and strictness.

Kafka's readers and both engines of kwire read the same mutants of the vectors.
``compat="java"`` has to do what Kafka does; strict decoding may refuse more. The
exceptions are in ``DEVIATIONS``. How mutants are made is in ``mutants.py``, how
Kafka is asked in ``oracle.py``.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any, NamedTuple

import oracle
from mutants import Mutant, mutants

ENGINES = ("fast", "pure")
SHOWN = 10
"""How many differences of an engine are printed, the shortest first."""


class Deviation(NamedTuple):
    """A difference from Kafka that is meant; ``pattern`` finds its description."""

    name: str
    pattern: str
    kafka: str


DEVIATIONS = (
    Deviation(
        "fifth byte of a varint", "^strict: InvalidVarint", "drops its spare bits"
    ),
    Deviation(
        "size of a known tag",
        "^strict: (Truncated|TrailingBytes|InvalidLength): .* in a tag$"
        "|^strict: Truncated: .* in a section",
        "does not look at it",
    ),
    Deviation("struct marker", "^strict: .* does not mark", "goes by its sign"),
    Deviation(
        "compact length over 2^31", "^strict: .* over 2\\^31$", "takes it for null"
    ),
    Deviation(
        "negative length", "^strict: InvalidLength: -", "takes any of them for null"
    ),
    Deviation("bad UTF-8", "^strict: .* not UTF-8", "reads it as U+FFFD"),
    Deviation("order of tags", "^strict: .* ascending", "takes any, and tags twice"),
    Deviation("trailing bytes", "^strict: TrailingBytes", "leaves them unread"),
    Deviation(
        "tag count over 2^31",
        "^compat: InvalidLength: .* in a section over 2\\^31$",
        "takes it for 0 before 4.4, then refuses it",
    ),
    Deviation(
        "unknown tags from 2^31-1",
        "^kwire writes.* tag (-\\d+ comes after|2147483647 as an undefined)",
        "reads them, but cannot write them",
    ),
)
"""In the order in which they are tried."""


def ask_kafka(made: list[Mutant]) -> list[oracle.Row]:
    """Let Kafka read all mutants, each with the jar that wrote its vectors."""
    manifest = json.loads("".join(oracle.manifest_lines(oracle.VECTORS)))
    release_of = {
        (entry["message"], entry["version"]): re.findall(
            r"-([\d.]+)\.jar", entry["jar"]
        )
        for entry in manifest["pairs"]
    }
    asked: dict[str, list[int]] = {}
    for number, mutant in enumerate(made):
        asked.setdefault(release_of[mutant[:2]][0], []).append(number)
    answers: dict[int, oracle.Row] = {}
    for release, numbers in asked.items():
        lines = []
        for number in numbers:
            name, version, data, _ = made[number]
            text = base64.b64encode(data).decode()
            row = {"message": name, "version": version, "bytes": text}
            lines.append(oracle.compact(row) + "\n")
        said = oracle.ask(release, "read", text="".join(lines))
        answers.update(zip(numbers, said, strict=True))
    return [answers[number] for number in range(len(made))]


def was_read(answer: oracle.Row) -> bool:
    """Whether Kafka could read a mutant, even if it cannot write it back."""
    return bool(answer["ok"] or answer["step"] != "read")


def choose(engine: str) -> None:
    """Choose the engine of this process, before kwire is imported."""
    os.environ["KWIRE_BACKEND"] = engine


def judge(
    made: list[Mutant], answers: list[oracle.Row]
) -> tuple[Counter[str], list[tuple[Mutant, str]]]:
    """Compare the engine of this process with Kafka: deviations and others."""
    deviations: Counter[str] = Counter()
    others = []
    for mutant, answer in zip(made, answers, strict=True):
        try:
            found = list(differences(mutant, answer))
        except Exception as error:  # none but DecodeError may leave kwire
            found = [f"kwire fails with {error!r}"]
        for text in found:
            for deviation in DEVIATIONS:
                if re.search(deviation.pattern, text):
                    deviations[deviation.name] += 1
                    break
            else:
                others.append((mutant, text))
    others.sort(key=lambda other: len(other[0].data))
    return deviations, others


def differences(mutant: Mutant, answer: oracle.Row) -> Iterator[str]:
    """Describe all that kwire and Kafka do differently with one mutant."""
    from kwire import DecodeError, messages
    from kwire._backend import engine

    name, version, data, _ = mutant
    cls = getattr(messages, name)
    plan_of = engine.binding_of(cls).plan
    lenient = None
    try:
        value, end = engine.decode_prefix(cls, data, version, compat="java")
    except DecodeError as error:
        if was_read(answer):
            yield f"compat: {described(error, plan_of(version))}"
            return
    else:
        lenient = difference(value, version, len(data) - end, answer)
        if lenient:
            yield lenient
    try:
        value = engine.decode(cls, data, version)
    except DecodeError as error:
        if was_read(answer):
            yield f"strict: {described(error, plan_of(version))}"
    else:
        strict = difference(value, version, 0, answer)
        if strict and strict != lenient:
            yield f"strict: {strict}"


def difference(value: Any, version: int, left: int, answer: oracle.Row) -> str | None:
    """Describe how a decoded value differs from Kafka's, by what both write for it."""
    import kwire

    if not was_read(answer):
        return f"kwire reads what Kafka refuses: {answer['error']}"
    try:
        written = kwire.encode(value, version)
    except kwire.EncodeError as error:
        return f"kwire cannot write what Kafka does: {error}" if answer["ok"] else None
    if not answer["ok"]:
        return f"kwire writes what Kafka cannot: {answer['error']}"
    if left != answer["remaining"]:
        return f"kwire leaves {left} bytes, Kafka {answer['remaining']}"
    if answer["json"] is not None and kwire.to_json(value, version) != answer["json"]:
        return f"kwire has another value than Kafka: {value}"
    kafka = base64.b64decode(answer["rewritten"])
    if written != kafka:
        return f"kwire writes {written.hex()}, Kafka {kafka.hex()}"
    return None


def described(error: Any, layout: Any) -> str:
    """Describe a refusal, and whether it fell in a tag, a tag section or a number."""
    from kwire import plan

    text = f"{type(error).__name__}: {error.reason}, {error.path} byte {error.offset}"
    for attribute in re.findall("[a-z_][a-z_0-9]*", error.path):
        steps = [step for step in layout.steps if step.attribute == attribute]
        if not steps or steps[0].place == plan.TAGGED:
            text += " in a tag" if steps else " in a section"
            break
        layout = steps[0].plan
    # A length this large is refused for what is missing: up to 1 MiB was there.
    if any(int(n) > 2**31 - 2**20 for n in re.findall(r"\d+", error.reason)):
        text += " over 2^31"
    return text


def report(engine: str, found: Counter[str], others: list[tuple[Mutant, str]]) -> bool:
    """Print the verdict on one engine; return whether all is as it should be."""
    print(f"\n{engine}: {len(others)} differences, and as is meant to be:")
    for deviation in DEVIATIONS:
        print(f"{found[deviation.name]:7}  {deviation.name}: Kafka {deviation.kafka}")
    for mutant, text in others[:SHOWN]:
        name, version, data, kind = mutant
        print(f"  {name} v{version}, {kind}: {data.hex()}\n    {text}")
    stale = [one.name for one in DEVIATIONS if not found[one.name]]
    if stale:
        print(f"  never seen, so take it off the list: {', '.join(stale)}")
    return not others and not stale


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="chooses the mutants")
    parser.add_argument(
        "--rounds", type=int, default=4, help="mutants of each kind and pair"
    )
    arguments = parser.parse_args()
    try:
        made = list(mutants(arguments.seed, arguments.rounds))
        print(f"Kafka reads {len(made)} mutants (half a minute) ...", flush=True)
        answers = ask_kafka(made)
    except oracle.OracleError as error:
        sys.exit(f"leniency: {error}")
    all_kinds: Counter[str] = Counter()
    read_kinds: Counter[str] = Counter()
    for mutant, answer in zip(made, answers, strict=True):
        all_kinds[mutant.kind] += 1
        read_kinds[mutant.kind] += was_read(answer)
    for kind, number in sorted(all_kinds.items()):
        print(f"{number:7}  {kind}, of which Kafka could read {read_kinds[kind]}")
    with ExitStack() as stack:
        verdicts = []
        for engine in ENGINES:
            pool = ProcessPoolExecutor(1, get_context("spawn"), choose, (engine,))
            verdicts.append(stack.enter_context(pool).submit(judge, made, answers))
        good = [
            report(engine, *verdict.result())
            for engine, verdict in zip(ENGINES, verdicts, strict=True)
        ]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
