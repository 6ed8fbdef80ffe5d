# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate the table of APIs in docs/guides/testing.md from ``kwire.testing.SERVED``.

``--check`` checks that the table is current, and writes nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kwire.schema import releases
from kwire.testing import SERVED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guides" / "testing.md"
_COMMAND = "python -m tools.generate.served_apis"
_BEGIN = f"<!-- served: begin. Written by {_COMMAND} -->\n"
_END = "<!-- served: end -->\n"


def make_table() -> str:
    """Return the table: an API per line, with the releases that offer it."""
    offered = {
        release: {
            releases.name_of(key)
            for key in releases.ranges(release, releases.usual_listener(release))
        }
        for release in releases.NAMES
    }
    lines = ["| API | releases |", "|---|---|"]
    for api in sorted(SERVED):
        names = [release for release in releases.NAMES if api in offered[release]]
        span = f"{names[0]} to {names[-1]}" if names else "none"
        lines.append(f"| {api} | {span} |")
    return "\n".join(lines) + "\n"


def make_page(text: str) -> str:
    """Return the page with the current table. Raises ``ValueError`` without markers."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"{PAGE.name} has no markers {_BEGIN!r} and {_END!r}")
    return f"{before}{begin}\n{make_table()}\n{end}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    text = PAGE.read_text("utf-8")
    current = make_page(text)
    if not options.check:
        PAGE.write_text(current, "utf-8")
    elif text != current:
        print(f"{PAGE.name} is stale; run: {_COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
