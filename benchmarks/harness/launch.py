# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one command and print its duration and memory as JSON.

Usage: ``python launch.py LINES COMMAND...``. If LINES is greater than 0, the command is
terminated after that many output lines. This is a separate program, because the kernel
counts the parent's peak memory for a new process. The parent is therefore kept small.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Run COMMAND, and print its figures as JSON."""
    wanted = int(sys.argv[1])
    started = time.perf_counter()
    first_line, first_text = None, ""
    with subprocess.Popen(
        sys.argv[2:],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if wanted else subprocess.DEVNULL,
    ) as command:
        lines = 0
        for lines, line in enumerate(command.stdout or (), 1):
            if first_line is None:
                first_line = time.perf_counter() - started
                first_text = line.decode()
            if lines == wanted:
                command.terminate()
                break
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    figures = {
        "code": command.returncode,
        "seconds": time.perf_counter() - started,
        "first_line": first_line,
        "first_text": first_text,
        "lines": lines,
        "max_rss_bytes": usage.ru_maxrss * 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
