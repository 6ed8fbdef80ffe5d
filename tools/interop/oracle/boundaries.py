# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the size limits of the two newest Kafka releases.

These limits do not appear in the message schemas, so they are measured. A shape varies
one count or length in a message: array elements, tagged fields, or the bytes of a
string. The generated classes of both releases decode every shape at all powers of ten,
one below and one above. The record classes of the releases supported by ``records.py``
do the same.

``write`` stores the results in ``boundaries.txt``. ``check`` measures again and
compares. If a new release has a different limit, update ``docs/project/deviations.md``
and ``kwire.Limits``.

No shape measures the nesting depth, because Kafka's schema language has no recursive
structs. The schema therefore determines the depth. Nested arrays are covered by a
shape.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.interop.oracle import oracle, records
from tools.interop.oracle.boundary_shapes import (
    RECORD_SHAPES,
    RECORDED,
    SHAPES,
    Boundary,
    RecordShape,
    Shape,
    changes,
    counts,
    format_boundaries,
    make_boundary,
    read_boundaries,
)

MAX_BYTES = 16 * 1024 * 1024


def find_boundaries(shapes: Iterable[Shape], releases: list[str]) -> list[Boundary]:
    """Measure the limits of message shapes in the specified Kafka releases.

    The generated message classes decode each shape with all counts.
    """
    with tempfile.TemporaryDirectory() as directory:
        asked = [
            (shape, count, Path(directory, f"{number}-{count}"))
            for number, shape in enumerate(shapes)
            for count in counts()
            if shape.measure(count) <= MAX_BYTES
        ]
        for shape, count, path in asked:
            path.write_bytes(shape.encode(count))
        lines = [
            f"{shape.message} {shape.version} {path}\n" for shape, _, path in asked
        ]
        accepted = {
            release: [
                row["ok"] for row in oracle.ask(release, "accept", text="".join(lines))
            ]
            for release in releases
        }
    found = []
    for shape in shapes:
        for release in releases:
            verdicts = {
                count: is_accepted
                for (other, count, _), is_accepted in zip(
                    asked, accepted[release], strict=True
                )
                if other is shape
            }
            found.append(make_boundary(shape.name, release, verdicts))
    return found


def find_record_boundaries(
    shapes: Iterable[RecordShape], releases: list[str]
) -> list[Boundary]:
    """Measure the limits of record shapes in the specified Kafka releases.

    The record classes read each shape with all counts.
    """
    boundaries = []
    for shape in shapes:
        asked = [count for count in counts() if 0 < count <= shape.highest + 1]
        questions = [records.about("read", shape.encode(count)) for count in asked]
        for release in releases:
            answers = records.ask(release, questions)
            verdicts = {
                count: "error" not in answer
                for count, answer in zip(asked, answers, strict=True)
            }
            boundaries.append(make_boundary(shape.name, release, verdicts))
    return boundaries


HEADER = """\
# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Size limits of the two newest Kafka releases, written by
# tools/interop/oracle/boundaries.py.
# Columns: shape, release, largest accepted count, smallest rejected count (0: none).
"""


def main() -> None:
    """Measure the limits, and write or check them.

    Exits with a message if Kafka cannot run or, with ``check``, if a limit differs.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("write", "check"))
    command = parser.parse_args().command
    try:
        boundaries = find_boundaries(SHAPES, oracle.releases()[:2])
        boundaries += find_record_boundaries(RECORD_SHAPES, records.releases()[:2])
    except (oracle.OracleError, ValueError) as error:
        sys.exit(f"boundaries: {error}")
    for line in changes(boundaries):
        print(line)
    if command == "write":
        RECORDED.write_text(HEADER + format_boundaries(boundaries), encoding="utf-8")
    elif boundaries != read_boundaries(RECORDED.read_text(encoding="utf-8")):
        print(format_boundaries(boundaries), end="")
        sys.exit(f"boundaries: Kafka's limits differ from {RECORDED.name}; see above")
    print(
        f"{len(SHAPES) + len(RECORD_SHAPES)} shapes at up to {len(counts())} sizes each"
    )


if __name__ == "__main__":
    main()
