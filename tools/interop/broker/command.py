# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the command ``kwire versions`` in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from tools.interop.broker.broker import BrokerError

SECONDS = 180


def kwire_versions(address: str, *options: str, code: int = 0) -> str:
    """Run ``kwire versions`` and return what it printed; stderr if it has to fail."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "kwire",
            "versions",
            address,
            "--timeout",
            str(SECONDS),
            *options,
        ],
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode != code:
        raise BrokerError(
            f"kwire versions ended with {done.returncode}, not {code}: {done.stderr}"
        )
    return done.stderr if code else done.stdout
