# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Mutate all bounds comparisons of the cursor, and run tests that must fail.

Other files that access input bytes directly are mutated too. The rules are: every
``<``, ``<=``, ``>`` and ``>=`` is made strict or non-strict, its bound is moved by one,
and the complete comparison is replaced by True and by False. An equality comparison
with an end position is replaced by False. All mutants of all files are compiled
together, and the environment variable ``KWIRE_MUTANT`` selects one.
``equivalent_mutants.txt`` lists the mutants that no test can detect, with reasons.

``--go-on`` skips mutants that the previous run has tested, if the tree has not changed.
"""

from __future__ import annotations

import argparse
import io
import keyword
import re
import sys
import time
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.generate.promises import Figure, record
from tools.prove.breaks import PYTEST, Change, try_changes
from tools.prove.engine_copy import ENGINE, Copy

PURE = Path("src/kwire/_engine/pure")
FAST = ".".join(ENGINE.parts[1:])
MESSAGES = (
    "tests/messages/test_wire.py",
    "tests/safety/test_bounds.py",
    "tests/engine/test_encoder_edges.py",
    "tests/safety/test_guard_pages.py",
    "tests/messages/test_vectors.py",
    "tests/safety/test_message_bytes.py",
)
RECORDS = (
    "tests/safety/test_record_bounds.py",
    "tests/records/test_formats.py",
    "tests/records/test_columns.py",
    "tests/records/test_reading_rules.py",
    "tests/records/test_wrapper_messages.py",
    "tests/records/test_hostile_records.py",
)
SETS = ("tests/records/test_decode_records.py", *RECORDS)
TESTS = {
    ENGINE / "cursor.pxd": MESSAGES,
    ENGINE / "primitives.pxd": MESSAGES,
    ENGINE / "bulk.pyx": (*MESSAGES[:4], "tests/safety/test_failing_allocations.py"),
    ENGINE / "decoder.pyx": (
        *MESSAGES,
        "tests/safety/test_unreached_lines.py",
        "tests/messages/test_framing.py",
        "tests/engine/test_structs.py",
        "tests/safety/test_input_buffers.py",
        "tests/safety/test_single_allocations.py",
        "tests/engine/twins/test_agreement.py",
    ),
    ENGINE / "column_walk.pyx": (
        "tests/messages/test_arrow.py",
        "tests/safety/test_bounds.py",
        "tests/safety/test_guard_pages.py",
        "tests/safety/test_unreached_lines.py",
    ),
    ENGINE / "batches.pyx": (*RECORDS, "tests/records/test_measure_run.py"),
    ENGINE / "record_sets.pxd": SETS,
    ENGINE / "record_sets.pyx": SETS,
    ENGINE / "record_walk.pyx": (*RECORDS, "tests/records/test_conversion.py"),
    ENGINE / "header_columns.pyx": (
        "tests/safety/test_bounds.py",
        "tests/messages/test_arrow_headers.py",
        "tests/spark/test_functions_messages.py",
    ),
    PURE / "cursor.py": MESSAGES,
    PURE / "primitives.py": MESSAGES,
}
"""Mutated files with the tests that exercise them. Fast tests are listed first."""

INPUTS = "50000"
WORKERS = 3
LEAST = 400

# Functions that allocate memory for an estimated number of rows. The code that appends
# rows allocates more if necessary, so mutants of the estimate cannot be detected.
HINTS = {("record_walk.pyx", "reserve_rows")}

FUNCTION = re.compile(r"^(?:cdef|cpdef|def)\b[^\n(]*?(\w+)\(", re.MULTILINE)
FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ENDS = {"end", "stop"}
# Tokens that end an operand, in addition to brackets.
BREAKS = {*keyword.kwlist, ",", ":", "=", "==", "!=", "+=", "->"}

HEADER = """\
/* Which mutant is alive in this module; 0 is none. */
static int kwire_mutant = 0;
static void kwire_choose(int number) { kwire_mutant = number; }
"""
DECLARED = """
cdef extern from "mutant.h" nogil:
    int kwire_mutant
    void kwire_choose(int number)
"""
CHOSEN = """

from kwire._engine.fast.mutant cimport kwire_choose
import os as _os
kwire_choose(int(_os.environ.get("KWIRE_MUTANT", "0")))
"""
PURE_CHOICE = """
import os

kwire_mutant = int(os.environ.get("KWIRE_MUTANT", "0"))
"""


class Mutant(NamedTuple):
    """Modification of one comparison: its location, its old text and its new text."""

    number: int
    path: Path
    line: int
    function: str
    old: str
    new: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """File, function, old text and new text.

        This key identifies the mutant in ``equivalent_mutants.txt``, because line
        numbers change.
        """
        return self.path.name, self.function, self.old, self.new

    def text(self) -> str:
        """Return the location of the mutant, and its old and new text."""
        where = f"{self.path.name}:{self.line} {self.function}"
        return f"{where}: {self.old}  ->  {self.new}"


class Span(NamedTuple):
    """Comparison in a source text.

    ``start`` and ``end`` are its positions in the text. A chained comparison has more
    than one operator.
    """

    start: int
    end: int
    operands: list[str]
    operators: list[str]


def comparisons(text: str) -> Iterator[Span]:
    """Yield the comparisons of a source text that are mutated.

    Casts also contain angle brackets, but without spaces.
    """
    starts = [0]
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    kept = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)
    tokens = [
        (t.string, starts[t.start[0] - 1] + t.start[1], t.type in kept)
        for t in tokenize.generate_tokens(io.StringIO(text).readline)
        if t.type not in (tokenize.NL, tokenize.COMMENT)
    ]

    def reach(index: int, step: int) -> int:
        """Return the index of the last token of an operand.

        The search starts at the operator ``index`` and proceeds by ``step`` (1 or -1).
        """
        depth = 0
        inward, outward = ("([{", ")]}")[::step]
        while True:
            string, start, is_part = tokens[index + step]
            if not depth and (string in BREAKS or string in [*outward]):
                return index
            if not is_part or (not depth and is_comparator(text, string, start)):
                return index
            depth += (string in [*inward]) - (string in [*outward])
            index += step

    last = -1
    for index, (string, start, _) in enumerate(tokens):
        if index <= last or not is_comparator(text, string, start):
            continue
        first, middle = reach(index, -1), index
        operands = [part(text, tokens, first, index - 1)]
        operators = []
        while True:
            last = reach(middle, 1)
            operators.append(tokens[middle][0])
            operands.append(part(text, tokens, middle + 1, last))
            if not is_comparator(text, *tokens[last + 1][:2]):
                break
            middle = last + 1
        if operators[0] in FLIPPED or ENDS & {*operands}:
            end = tokens[last][1] + len(tokens[last][0])
            yield Span(tokens[first][1], end, operands, operators)


def is_comparator(text: str, string: str, start: int) -> bool:
    """Return whether a token is a comparison operator.

    An operator is surrounded by spaces, while the brackets of a cast are not.
    """
    around = text[start - 1] + text[start + len(string) : start + len(string) + 1]
    return string in (*FLIPPED, "==", "!=") and around in ("  ", " \n")


def part(text: str, tokens: list[tuple[str, int, bool]], first: int, last: int) -> str:
    """Return the source text from token ``first`` to token ``last``."""
    return text[tokens[first][1] : tokens[last][1] + len(tokens[last][0])]


def mutations(span: Span) -> Iterator[str]:
    """Yield the texts that replace a comparison."""
    operands, operators = span.operands, span.operators
    if operators[0] not in FLIPPED:
        yield "False"
        return
    for index, operator in enumerate(operators):
        flipped = [*operators]
        flipped[index] = FLIPPED[operator]
        yield joined(operands, flipped)
        # Strict and non-strict comparisons differ by one. Also move the bound by one in
        # the other direction.
        is_last = index == len(operators) - 1
        if index and not is_last:
            continue
        sign = "+" if (operator in ("<=", ">")) == is_last else "-"
        moved = [*operands]
        moved[-1 if is_last else 0] = f"({operands[-1 if is_last else 0]}) {sign} 1"
        yield joined(moved, operators)
    yield "True"
    yield "False"


def joined(operands: list[str], operators: list[str]) -> str:
    """Return the source text of a comparison with the operands and operators."""
    pairs = zip(operators, operands[1:], strict=True)
    return operands[0] + "".join(f" {operator} {right}" for operator, right in pairs)


def planted(text: str, path: Path, first: int) -> tuple[str, list[Mutant]]:
    """Insert all mutants of a file into its source text.

    * ``first``: number of the first mutant.

    Returns the new text and the mutants. If ``KWIRE_MUTANT`` selects no mutant, the
    code behaves like the original.
    """
    mutants: list[Mutant] = []
    seen: Counter[tuple[str, str]] = Counter()
    pieces, position = [], 0
    for span in comparisons(text):
        old = text[span.start : span.end]
        line = text.count("\n", 0, span.start) + 1
        *_, function = FUNCTION.findall(text, 0, span.start)
        shown = " ".join(old.split())
        seen[function, shown] += 1
        if seen[function, shown] > 1:
            shown += f" ({seen[function, shown]})"
        choice = ""
        for new in mutations(span):
            number = first + len(mutants)
            mutants.append(Mutant(number, path, line, function, shown, new))
            choice += f"({new}) if kwire_mutant == {number} else "
        pieces += [text[position : span.start], f"({choice}({old}))"]
        position = span.end
    return "".join([*pieces, text[position:]]), mutants


def plant() -> tuple[dict[str, str], list[Mutant]]:
    """Return the texts of the mutated source files by path, and all mutants."""
    mutants: list[Mutant] = []
    texts = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in [*(ROOT / ENGINE).glob("*.pyx"), *(ROOT / path for path in TESTS)]
    }
    for path in TESTS:
        text, more = planted(texts[str(path)], path, len(mutants) + 1)
        mutants += more
        if path.parent == PURE:
            import_line = "\nfrom __future__ import annotations\n"
            chosen = f"{import_line}\nfrom .mutant import kwire_mutant\n"
        else:
            import_line = f"\nfrom {FAST}."
            chosen = f"\nfrom {FAST}.mutant cimport kwire_mutant{import_line}"
        head, rest = text.split(import_line, 1)
        texts[str(path)] = f"{head}{chosen}{rest}"
    for name in texts:
        if name.endswith(".pyx"):
            texts[name] += CHOSEN
    texts[f"{ENGINE}/mutant.h"] = HEADER
    texts[f"{ENGINE}/mutant.pxd"] = DECLARED
    texts[f"{PURE}/mutant.py"] = PURE_CHOICE
    return texts, mutants


def read_equivalent() -> set[tuple[str, str, str, str]]:
    """Read the keys of equivalent mutants, which behave like the original code."""
    table = Path(__file__).with_name("equivalent_mutants.txt").read_text("utf-8")
    rows = re.findall(r"^  (\S+) (\S+): (.*) -> (.*)$", table, re.MULTILINE)
    return {
        (file, function, old, new)
        for file, function, old, mutants in rows
        for new in mutants.split(" | ")
    }


EQUIVALENT = read_equivalent()


def change(mutant: Mutant) -> Change:
    """Return the change that selects a mutant with ``KWIRE_MUTANT``.

    All mutants are compiled into the same copy.
    """
    # Repeat a failed Spark test, because its processes can fail for other reasons.
    options = (*PYTEST, "-p", "pytest_rerunfailures")
    return Change(
        str(mutant.number),
        f"{mutant.number} {mutant.text()}",
        [[*options, test] for test in TESTS[mutant.path]],
        # The plugins would take as long to load as most of these tests take to run.
        {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "KWIRE_HOSTILE_INPUTS": INPUTS},
        switch={"KWIRE_MUTANT": str(mutant.number)},
        unnoticed="the same" if mutant.key in EQUIVALENT else "ALIVE",
    )


def main() -> int:
    """Test all mutants, or the mutants that the command line selects.

    Returns the exit code: 1 if a mutant is not detected.
    """
    parser = argparse.ArgumentParser(description="mutants of bounds comparisons")
    parser.add_argument("--file", action="append", help="of this file alone")
    parser.add_argument("--only", type=int, action="append", help="this number alone")
    parser.add_argument("--go-on", action="store_true", help="where the last run ended")
    parser.add_argument("--list", action="store_true", help="name them and stop")
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    if asked.record and (asked.file or asked.only):
        parser.error("--record is for a run over all")
    copy, start = Copy("mutants", "KWIRE_BUILD_QUICK"), time.monotonic()
    texts, mutants = plant()
    copy.refresh(texts)
    chosen = [
        mutant
        for mutant in mutants
        if (not asked.file or mutant.path.name in asked.file)
        and (not asked.only or mutant.number in asked.only)
    ]
    if asked.list:
        for mutant in chosen:
            print(f"{mutant.number:4} {mutant.text()}")
        return 0
    copy.build()
    seconds = time.monotonic() - start
    print(f"{len(mutants)} mutants built in {seconds:.0f} s", flush=True)
    # Omit the mutants of estimates. No test can detect them, see ``HINTS``.
    guesses = [m for m in chosen if (m.path.name, m.function) in HINTS]
    chosen = [mutant for mutant in chosen if mutant not in guesses]
    by_name = try_changes(copy, map(change, chosen), asked.go_on, WORKERS)
    noticed = {mutant: by_name[str(mutant.number)] for mutant in chosen}
    alive = [m for m in chosen if not noticed[m] and m.key not in EQUIVALENT]
    same = [m for m in chosen if not noticed[m] and m.key in EQUIVALENT]
    wrong = [m for m in chosen if noticed[m] and m.key in EQUIVALENT]
    stale = EQUIVALENT - {mutant.key for mutant in mutants}
    killed = len(chosen) - len(same) - len(alive)
    print(
        f"{killed} killed, {len(alive)} alive, {len(same)} that do the same,"
        f" {len(guesses)} of guesses not tried"
    )
    for mutant in wrong:
        print(f"listed as equivalent, but noticed: {mutant.text()}")
    for key in sorted(stale):
        print(f"listed as equivalent, but there is no such mutant: {key}")
    if alive or wrong or stale:
        return 1
    if asked.record:
        what = "mutants of bounds comparisons"
        rows = [
            Figure("P18", f"{what} killed", killed, "make mutants", least=LEAST),
            Figure("P18", f"{what} alive", len(alive), "make mutants", most=0),
            Figure("P18", f"{what} that do the same", len(same), "make mutants"),
            Figure(
                "P18", f"{what} of guesses, not tried", len(guesses), "make mutants"
            ),
        ]
        record("mutants", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
