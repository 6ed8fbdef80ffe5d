# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one command and prints its time and memory as JSON.

``python launch.py LINES COMMAND...``; with LINES above 0 the command is ended after
as many lines of output. A program of its own, as a child starts with the largest
memory of its parent in its books, and this parent is small.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Run the command and print its figures."""
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
