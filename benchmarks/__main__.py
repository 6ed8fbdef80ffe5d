# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run benchmarks and write the report: ``python -m benchmarks [QUESTION]``.

A question is a directory with a ``chapter.py``. This module defines ``OPTIONS`` with
default values, and either ``measure`` and ``write_chapter``, or ``show``, which only
prints. If no question is specified, the ``make bench`` chapters are written: codec,
spark, spark-udf and live.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.codec import quick
from benchmarks.harness import ROOT

BENCH = ("codec", "spark", "spark-udf", "live")
FIGURES = ROOT / "build" / "benchmarks"
QUESTIONS = {
    path.parent.name.replace("_", "-"): path
    for path in sorted(Path(__file__).parent.glob("*/chapter.py"))
}


def describe(path: Path) -> str:
    """Return the first line of a module's docstring without importing the module."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def answer(question: str, arguments: Sequence[str]) -> int:
    """Run the benchmark of one question with its command line arguments.

    Returns the exit code: the result of the chapter's ``show``, or 0 without ``show``.
    """
    chapter = importlib.import_module(
        f"benchmarks.{question.replace('-', '_')}.chapter"
    )
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {question}",
        description=chapter.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, default in chapter.OPTIONS.items():
        if isinstance(default, bool):
            parser.add_argument(f"--{name}", action="store_true")
        elif isinstance(default, tuple):
            parser.add_argument(name, nargs="*", help=", ".join(default))
        else:
            shown = f"default: {default}"
            parser.add_argument(
                f"--{name}", type=type(default), default=default, help=shown
            )
    if hasattr(chapter, "show"):
        status: int = chapter.show(**vars(parser.parse_args(arguments)))
        return status
    parser.add_argument(
        "--only-write", action="store_true", help="use the figures of the last run"
    )
    options = vars(parser.parse_args(arguments))
    FIGURES.mkdir(parents=True, exist_ok=True)
    figures = FIGURES / f"{question}.json"
    if not options.pop("only_write"):
        chapter.measure(figures, **options)
    print(chapter.write_chapter(figures))
    return 0


def main() -> int:
    """Run the question that the command line names, or all questions of ``make bench``.

    Returns the exit code of the question, or 0.
    """
    lines = [f"  {name:13}{describe(path)}" for name, path in QUESTIONS.items()]
    lines += [
        f"  {kind:13}Print some rows of {kind}: words of names" for kind in quick.ROWS
    ]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="\n".join(["questions:", *lines]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "question", nargs="?", choices=[*QUESTIONS, *quick.ROWS], metavar="QUESTION"
    )
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...")
    chosen = parser.parse_args()
    # Treat SIGTERM like Ctrl-C, so that context managers still stop the brokers when
    # the benchmark is terminated.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if chosen.question in quick.ROWS:
        quick.run(chosen.question, chosen.options)
        return 0
    if chosen.question:
        return answer(chosen.question, chosen.options)
    return max(answer(question, []) for question in BENCH)


if __name__ == "__main__":
    sys.exit(main())
