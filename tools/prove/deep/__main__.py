# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m tools.prove.deep``: run the parts in turn and continue previous runs.

The progress of every part is stored in ``build/deep`` together with a digest of kwire's
sources. If the sources change, the part starts again from the beginning.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from tools import ROOT
from tools.generate.promises import Figure, record

WORK = ROOT / "build" / "deep"
HERE = Path(__file__).resolve().parent
PARTS = sorted(path.stem for path in HERE.glob("*.py") if path.stem[0] != "_")
SAVE_EVERY = 5.0
PRINT_EVERY = 30.0


def sources() -> str:
    """Return a digest of kwire's source files."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "kwire").rglob("*")):
        if path.suffix in (".py", ".pyx", ".pxd", ".h"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Progress:
    """State of one part, which is stored in a file."""

    def __init__(self, name: str, of: str, folder: Path = WORK) -> None:
        """Read the stored state if kwire's sources have not changed since then.

        ``of`` is the digest of the current sources.
        """
        self.path = folder / f"{name}.json"
        self.of = of
        self.state: dict[str, Any] = {}
        if self.path.exists():
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            if kept["sources"] == of:
                self.state = kept["state"]
            else:
                print(f"{name}: kwire has changed, so it begins anew")

    def save(self) -> None:
        """Write the state to its file atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        text = json.dumps({"sources": self.of, "state": self.state})
        new.write_text(text, encoding="utf-8")
        new.replace(self.path)


def run_part(name: str, part: ModuleType, progress: Progress, until: float) -> bool:
    """Run one part until the time ``until``, and store its state regularly.

    Returns False if an input fails. The error is printed.
    """
    saved = printed = time.monotonic()
    try:
        for state in part.run(progress.state, until):
            progress.state = state
            now = time.monotonic()
            if now - saved >= SAVE_EVERY:
                progress.save()
                saved = now
            if now - printed >= PRINT_EVERY:
                print(f"{name}: {part.figures(state)[0].text()}", flush=True)
                printed = now
    except AssertionError as error:
        print(f"{name} failed: {error}", file=sys.stderr, flush=True)
        return False
    finally:
        progress.save()
    return True


def main() -> int:
    """Run the selected parts one after the other.

    Returns the exit code: 1 if a part fails.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.prove.deep",
        description="Deep runs, resumed where they were",
    )
    parser.add_argument("--minutes", type=float, default=10, help="for all, default 10")
    parser.add_argument("--part", choices=PARTS, help="this one alone")
    parser.add_argument("--anew", action="store_true", help="forget what was reached")
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    names = [asked.part] if asked.part else PARTS
    of, end, well = sources(), time.monotonic() + 60 * asked.minutes, True
    for number, name in enumerate(names):
        progress = Progress(name, of)
        if asked.anew:
            progress.state = {}
        now = time.monotonic()
        until = now + (end - now) / (len(names) - number)
        part = importlib.import_module(f"{__package__}.{name}")
        well &= run_part(name, part, progress, until)
    rows = [row for name in PARTS for row in read_figures(name, of)]
    for row in rows:
        print(f"{row.promise:3} {row.text()}")
    if well and asked.record:
        if not all(row.is_kept() for row in rows):
            print("not recorded: run on until all is reached", file=sys.stderr)
            return 1
        record("deep", rows)
    return 0 if well else 1


def read_figures(name: str, of: str) -> list[Figure]:
    """Return the figures of the stored state of a part.

    They are zero if the state was reached with other sources.
    """
    part = importlib.import_module(f"{__package__}.{name}")
    rows: list[Figure] = part.figures(Progress(name, of).state)
    return rows


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped: the same command goes on from here")
