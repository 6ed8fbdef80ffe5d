# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the sdist: ``python -m tools.release.sdist dist``.

It is built twice, from copies of the files that git knows, in folders of different
names; both have to come out equal, byte by byte. What setuptools leaves to
chance in the archive (owners, times, order) is taken from the commit or sorted.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.prove.engine_copy import copy_tree
from tools.release import install_lines
from tools.release.pythons import epoch, run


def normalised(sdist: bytes, time: int) -> bytes:
    """Write an sdist again, in order and with nothing of the machine in it."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(sdist)) as old,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.mtime = time
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(packed.getvalue(), mtime=time)


def build(folder: Path) -> tuple[str, bytes]:
    """Build an sdist of a tree: its name and its bytes."""
    backend = [sys.executable, "-m", "build", "--sdist", "--no-isolation"]
    # The sources of the engine go into it either way; without, none is translated.
    pure = {"KWIRE_BUILD_PURE": "1"}
    run([*backend, "--outdir", folder / "out", folder / "tree"], environment=pure)
    (made,) = (folder / "out").iterdir()
    return made.name, normalised(made.read_bytes(), int(epoch()))


def main() -> None:
    """Build twice, compare, and keep one."""
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        one, other = Path(scratch, "one"), Path(scratch, "a-second-one")
        copy_tree(one / "tree")
        # PyPI shows the README of the sdist, which can be installed by its name there.
        install_lines.switch_pages(one / "tree", ("README.md",))
        shutil.copytree(one, other)
        first, second = build(one), build(other)
    if first != second:
        sys.exit("two builds of the sdist differ: compare their files with diffoscope")
    name, data = first
    target.mkdir(parents=True, exist_ok=True)
    (target / name).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    print(f"{name}: {len(data):,} bytes, built twice, equal\n  sha256 {digest}")


if __name__ == "__main__":
    main()
