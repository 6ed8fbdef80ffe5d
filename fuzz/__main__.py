# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m fuzz``: run the targets in turn, keep the ledger, pack the corpus."""

from __future__ import annotations

import argparse
import datetime
import sys
import time

from fuzz import corpus, ledger, process, runner


def main() -> int:
    """Run the action that the command line specifies. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "action",
        nargs="?",
        default="run",
        choices=("run", "ledger", "pack", "retry"),
        help="run the targets (default), print the ledger, pack what they found into "
        "fuzz/corpus, or try all findings again",
    )
    parser.add_argument("--minutes", type=float, default=10, help="of the whole run")
    parser.add_argument("--slice", type=float, default=2, help="minutes at a time")
    parser.add_argument("--until", help="end at this time of today, UTC (09:10)")
    parser.add_argument("--target", action="append", choices=process.TARGETS)
    parser.add_argument(
        "--record", action="store_true", help="note the figures of the ledger"
    )
    asked = parser.parse_args()
    targets = asked.target or process.TARGETS
    found = 0
    if asked.action == "run":
        end = time.time() + 60 * asked.minutes
        if asked.until:
            today = datetime.datetime.now(datetime.UTC)
            hour, minute = map(int, asked.until.split(":"))
            end = today.replace(hour=hour, minute=minute, second=0).timestamp()
        found = runner.run(targets, end, 60 * asked.slice)
    elif asked.action == "pack":
        corpus.pack(targets)
    elif asked.action == "retry":
        found = corpus.retry(targets)
    print(ledger.table())
    if asked.record:
        ledger.record_figures(corpus.retry())
    return min(1, found)


if __name__ == "__main__":
    sys.exit(main())
