# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run ``kwire`` commands in separate processes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tools.interop.broker.broker import BrokerError

SECONDS = 180


def kwire_versions(address: str, *options: str, code: int = 0) -> str:
    """Run ``kwire versions`` and return its standard output.

    If ``code`` is not 0, the command must fail with this exit code. The function then
    returns the standard error output.
    """
    done = _run_kwire(address, "versions", *options, code=code)
    return done.stderr if code else done.stdout


def kwire_rows(
    address: str, command: str, *options: str, code: int = 0
) -> list[dict[str, Any]]:
    """Run a kwire command with JSON output, and return one dictionary per row.

    The command must end with the exit code ``code``.
    """
    done = _run_kwire(address, command, *options, "-o", "jsonl", code=code)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _run_kwire(
    address: str, command: str, *options: str, code: int
) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "kwire", command, address]
    done = subprocess.run(
        [*program, "--timeout", str(SECONDS), *options],
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode != code:
        raise BrokerError(
            f"kwire {command} ended with {done.returncode}, not {code}: {done.stderr}"
        )
    return done
