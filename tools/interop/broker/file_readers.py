# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record how the broker's own classes read damaged files beside log segments.

The files are complete, empty, or truncated at every byte, and were written by a real
broker. ``tests/log/test_file_readers.py`` compares kwire with the recorded results.

    python -m tools.interop.broker.file_readers write  # into tests/data
    python -m tools.interop.broker.file_readers check  # fail on a difference
"""

from __future__ import annotations

import argparse
import base64
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.interop.broker import broker

RELEASE = "4.3.1"
DATA = broker.HERE.parents[2] / "tests" / "data"
VERDICTS = DATA / "file-readers.jsonl.xz"
FILES = {
    "cleaner-offset-checkpoint": "offsets",
    "log-start-offset-checkpoint": "offsets",
    "recovery-point-offset-checkpoint": "offsets",
    "replication-offset-checkpoint": "offsets",
    "meta.properties": "properties",
    "transactions-0/leader-epoch-checkpoint": "epochs",
    "transactions-0/partition.metadata": "metadata",
    "transactions-0/00000000000000000041.index": "index",
    "transactions-0/00000000000000000204.index": "index",
    "transactions-0/00000000000000000041.timeindex": "timeindex",
    "transactions-0/00000000000000000165.timeindex": "timeindex",
    "transactions-0/00000000000000000059.txnindex": "txnindex",
    "transactions-0/00000000000000000127.txnindex": "txnindex",
    "transactions-0/00000000000000000099.snapshot": "snapshot",
    "transactions-0/00000000000000000290.snapshot": "snapshot",
}
TEXT = ("offsets", "epochs", "metadata", "properties")
BLANKS = (b"\n", b"\n\n", b" ", b"0\n\n", b"0\n0\n\n", b"\0" * 8)
"""Contents of text files that are almost empty."""


def list_cases() -> Iterator[tuple[str, str, bytes]]:
    """Yield (type, name, content) for every file that is read."""
    for path, kind in FILES.items():
        data = (DATA / RELEASE / "data" / path).read_bytes()
        name = Path(path).name
        for size in range(len(data) + 1):
            yield kind, name, data[:size]
        blanks = BLANKS if kind in TEXT else (bytes(24), data + bytes(240))
        for blank in blanks:
            yield kind, name, blank


def read_with_kafka() -> str:
    """Read all files with Kafka's classes. Returns one JSON line for every file."""
    cases = list(list_cases())
    encoded = [base64.b64encode(data).decode() for _, _, data in cases]
    lines = [
        f"{kind} {name} {text}"
        for (kind, name, _), text in zip(cases, encoded, strict=True)
    ]
    command = [*broker.JAVA, "-cp", broker.jars(RELEASE)]
    program = str(broker.HERE / "FileReaders.java")
    verdicts = broker.run([*command, program], "\n".join(lines) + "\n").splitlines()
    rows = [
        {"kind": kind, "name": name, "bytes": text, "verdict": verdict}
        for (kind, name, _), text, verdict in zip(cases, encoded, verdicts, strict=True)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def main() -> None:
    """Write or check the results that Kafka's classes return for all files.

    Exits with a message if ``check`` finds a difference.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=("write", "check"))
    action = parser.parse_args().action
    text = read_with_kafka()
    if action == "write":
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        VERDICTS.write_bytes(packed)
    elif text != lzma.decompress(VERDICTS.read_bytes()).decode():
        sys.exit(f"Kafka {RELEASE} reads files otherwise than {VERDICTS} says")
    print(f"{text.count(chr(10))} files were read by Kafka {RELEASE}")


if __name__ == "__main__":
    main()
