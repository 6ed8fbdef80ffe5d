# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m kwire.drafts``: runs a design document on loopback sockets.

The command ``kwire drafts`` does the same. This program only requires the standard
library, and starts without click.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from .runs import find_document, report
from .runs.requirement import run_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the document that the arguments specify, or list all documents.

    Returns the exit code, which is 1 if an observed behaviour contradicts its
    requirement. Raises ``SystemExit`` with code 2 if an argument is not valid, or if
    the loopback sockets cannot be opened.
    """
    parser = argparse.ArgumentParser(
        "python -m kwire.drafts",
        description="Run a design document of Kafka on loopback sockets, and print each"
        " requirement beside the observed behaviour.",
        epilog="Exit codes: 0 all requirements are met; 1 an observed behaviour"
        " contradicts its requirement; 2 wrong usage.",
    )
    parser.add_argument(
        "document",
        nargs="?",
        metavar="DOCUMENT",
        help="number (002) or module (kip951_leader_endpoints); without it, a list of"
        " the documents",
    )
    parser.add_argument(
        "--format",
        "-o",
        choices=("table", "jsonl"),
        default="table",
        help="text (the default), or JSON lines",
    )
    options = parser.parse_args(arguments)
    if options.document is None:
        rows, lines = report.describe_documents(), report.list_documents()
        _print(options.format, rows, lines)
        return 0
    try:
        document = find_document(options.document)
    except LookupError as error:
        parser.error(str(error.args[0]))
    try:
        results = run_document(document)
    except OSError as error:
        parser.error(f"the loopback sockets cannot be opened: {error}")
    _print(
        options.format,
        report.describe_results(document, results),
        report.format_report(document, results),
    )
    return 0 if all(result.is_met for result in results) else 1


def _print(form: str, rows: Iterable[dict[str, Any]], lines: Iterable[str]) -> None:
    for line in map(json.dumps, rows) if form == "jsonl" else lines:
        print(line)


if __name__ == "__main__":
    sys.exit(main())
