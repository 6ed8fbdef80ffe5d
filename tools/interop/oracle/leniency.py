# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the inputs that kwire accepts with the inputs that Kafka's decoders accept.

Kafka's decoders and both kwire engines decode identical mutants of the test vectors.
``compat="java"`` must behave like Kafka. Strict decoding may reject additional inputs.
Every observed difference must be documented on the page that ``deviations.py`` parses,
and every documented example must still differ. ``mutants.py`` generates the mutants.
``oracle.py`` and ``records.py`` run Kafka.
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
from pathlib import Path
from typing import Any, NamedTuple

from tools.interop.oracle import oracle, records
from tools.interop.oracle.deviations import (
    MOST,
    PAGE,
    Deviation,
    Example,
    describe_error,
    done_by_kafka,
    done_by_kwire,
    faults,
    name_of,
    read,
)
from tools.interop.oracle.mutants import Mutant, mutants

ENGINES = ("fast", "pure")
SHOWN = 10
"""Maximum number of printed differences for one engine.

The shortest are printed first.
"""


class Verdict(NamedTuple):
    """Differences between one engine of kwire and Kafka."""

    found: Counter[str]
    """Number of observed differences by entry of the page."""
    others: list[tuple[Mutant, str]]
    """Differences that are not documented on the page."""
    faults: list[str]
    """Documented examples with unexpected results."""


Asked = list[tuple[str, Example, oracle.Row]]
"""Examples of the page: name of the entry, example, and Kafka's answer."""


def ask_kafka(mutants_to_read: list[Mutant]) -> list[oracle.Row]:
    """Decode all mutants with the Kafka release that wrote their test vectors.

    Returns Kafka's answers in the order of the mutants.
    """
    manifest = json.loads("".join(oracle.manifest_lines(oracle.VECTORS)))
    release_of = {
        (entry["message"], entry["version"]): re.findall(
            r"-([\d.]+)\.jar", entry["jar"]
        )
        for entry in manifest["pairs"]
    }
    asked: dict[str, list[int]] = {}
    for number, mutant in enumerate(mutants_to_read):
        asked.setdefault(release_of[mutant[:2]][0], []).append(number)
    answers: dict[int, oracle.Row] = {}
    for release, numbers in asked.items():
        lines = []
        for number in numbers:
            name, version, data, _ = mutants_to_read[number]
            text = base64.b64encode(data).decode()
            row = {"message": name, "version": version, "bytes": text}
            lines.append(oracle.compact(row) + "\n")
        said = oracle.ask(release, "read", text="".join(lines))
        answers.update(zip(numbers, said, strict=True))
    return [answers[number] for number in range(len(mutants_to_read))]


def ask_about_examples(page: list[Deviation]) -> Asked:
    """Decode the documented examples with Kafka.

    Returns (name of the entry, example, answer) tuples.
    """
    asked = [(entry.name, example) for entry in page for example in entry.examples]
    asked.sort(key=lambda pair: not pair[1].message)
    of_messages = [as_mutant(example) for _, example in asked if example.message]
    questions = [
        records.about("read", example.input)
        for _, example in asked
        if not example.message
    ]
    answers = ask_kafka(of_messages) + records.ask(records.CONVERTING, questions)
    return [(*pair, answer) for pair, answer in zip(asked, answers, strict=True)]


def as_mutant(example: Example) -> Mutant:
    """Convert an example with a message into a mutant."""
    return Mutant(example.message, example.version, example.input, "example")


def was_read(answer: oracle.Row) -> bool:
    """Return whether Kafka decoded a mutant, even if it cannot encode it again."""
    return bool(answer["ok"] or answer["step"] != "read")


def choose(engine: str) -> None:
    """Select the engine for this process.

    Must be called before the first import of kwire.
    """
    os.environ["KWIRE_BACKEND"] = engine


def judge(
    page: list[Deviation],
    asked: Asked,
    made: list[Mutant],
    answers: list[oracle.Row],
) -> Verdict:
    """Compare the selected engine with Kafka.

    * ``page``: documented differences.
    * ``asked``: Kafka's answers for the documented examples.
    * ``made``, ``answers``: mutants with Kafka's answers for them.
    """
    import kwire

    verdict = Verdict(Counter(), [], [])
    for name, example, answer in asked:
        java = done_by_kwire(kwire, example, "java") if example.message else None
        strict = done_by_kwire(kwire, example, None)
        wrong = list(faults(example, done_by_kafka(example, answer), strict, java))
        if example.message:
            texts = list(differences(as_mutant(example), answer))
            if {name_of(text, page) for text in texts} != {name}:
                wrong.append(f"{example.title()}: not what {name!r} says: {texts}")
        verdict.faults.extend(wrong)
        verdict.found[name] += not wrong
    for mutant, answer in zip(made, answers, strict=True):
        try:
            texts = list(differences(mutant, answer))
        except Exception as error:  # kwire must not raise any error except DecodeError
            texts = [f"kwire fails with {error!r}"]
        for text in texts:
            listed = name_of(text, page)
            if listed:
                verdict.found[listed] += 1
            else:
                verdict.others.append((mutant, text))
    verdict.others.sort(key=lambda other: len(other[0].data))
    return verdict


def differences(mutant: Mutant, answer: oracle.Row) -> Iterator[str]:
    """Describe the differences between kwire and Kafka for one mutant.

    Both strict decoding and ``compat="java"`` are compared.
    """
    from kwire import DecodeError, messages
    from kwire._engine.active import engine

    name, version, data, _ = mutant
    cls = getattr(messages, name)
    plan_of = engine.binding_of(cls).plan
    lenient = None
    try:
        value, end = engine.decode_prefix(cls, data, version, compat="java")
    except DecodeError as error:
        if was_read(answer):
            yield f"compat: {describe_error(error, plan_of(version))}"
            return
    else:
        lenient = difference(value, version, len(data) - end, answer)
        if lenient:
            yield lenient
    try:
        value = engine.decode(cls, data, version)
    except DecodeError as error:
        if was_read(answer):
            yield f"strict: {describe_error(error, plan_of(version))}"
    else:
        strict = difference(value, version, 0, answer)
        if strict and strict != lenient:
            yield f"strict: {strict}"


def difference(value: Any, version: int, left: int, answer: oracle.Row) -> str | None:
    """Describe how a decoded value differs from Kafka's value.

    Both values are encoded again and the results are compared. Returns None if they are
    identical.
    """
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


def report(engine: str, page: list[Deviation], verdict: Verdict) -> bool:
    """Print the result for one engine.

    Returns True if there is no undocumented difference, every example has the
    documented results, and every entry of the page was observed.
    """
    print(f"\n{engine}: {len(verdict.others)} differences, and as is meant to be:")
    for entry in page:
        print(f"{verdict.found[entry.name]:7}  {entry.name}")
    for mutant, text in verdict.others[:SHOWN]:
        name, version, data, kind = mutant
        print(f"  {name} v{version}, {kind}: {data.hex()}\n    {text}")
    for fault in verdict.faults:
        print(f"  {fault}")
    stale = [entry.name for entry in page if not verdict.found[entry.name]]
    if stale:
        print(f"  never seen, so take it off the page: {', '.join(stale)}")
    return not verdict.others and not verdict.faults and not stale


def note(page: list[Deviation], verdicts: list[Verdict]) -> None:
    """Store the number of deviations for the table of promises in SECURITY.md."""
    from tools.generate.promises import Figure, record

    seen = min(sum(map(bool, verdict.found.values())) for verdict in verdicts)
    unlisted = sum(len(verdict.others) for verdict in verdicts)
    test = "make interop"
    figures = [
        Figure("P4", "deviations", len(page), test, most=MOST),
        Figure("P4", "deviations seen live", seen, test, least=len(page)),
        Figure("P4", "unlisted differences", unlisted, test, most=0),
    ]
    record("deviations", figures)


def main() -> None:
    """Compare both engines with Kafka.

    Exits with a message if a difference is unexpected.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="chooses the mutants")
    parser.add_argument(
        "--rounds", type=int, default=4, help="mutants of each kind and pair"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures")
    parser.add_argument("--page", type=Path, default=PAGE, help="the list to check")
    arguments = parser.parse_args()
    try:
        page = read(arguments.page.read_text(encoding="utf-8"))
        if len(page) > MOST:
            sys.exit(f"leniency: {len(page)} deviations are listed, {MOST} may be")
        all_mutants = list(mutants(arguments.seed, arguments.rounds))
        print(f"Kafka reads {len(all_mutants)} mutants (half a minute) ...", flush=True)
        answers, asked = ask_kafka(all_mutants), ask_about_examples(page)
    except (oracle.OracleError, ValueError) as error:
        sys.exit(f"leniency: {error}")
    all_kinds: Counter[str] = Counter()
    read_kinds: Counter[str] = Counter()
    for mutant, answer in zip(all_mutants, answers, strict=True):
        all_kinds[mutant.kind] += 1
        read_kinds[mutant.kind] += was_read(answer)
    for kind, number in sorted(all_kinds.items()):
        print(f"{number:7}  {kind}, of which Kafka could read {read_kinds[kind]}")
    with ExitStack() as stack:
        waiting = []
        for engine in ENGINES:
            pool = ProcessPoolExecutor(1, get_context("spawn"), choose, (engine,))
            job = stack.enter_context(pool).submit(
                judge, page, asked, all_mutants, answers
            )
            waiting.append(job)
        verdicts = [job.result() for job in waiting]
    good = [report(*pair) for pair in zip(ENGINES, [page] * 2, verdicts, strict=True)]
    if all(good) and arguments.record:
        note(page, verdicts)
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
