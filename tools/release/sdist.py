# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build the sdist: ``python -m tools.release.sdist dist``.

The sdist is built twice from copies of the tracked files in directories with different
names, and both results must be identical. setuptools does not write reproducible
owners, timestamps and orders, so this program replaces them with fixed values, the
commit's timestamp, and sorted names.
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
    """Return an sdist whose files are sorted and do not describe this machine.

    ``time`` is the timestamp of all files in seconds.
    """
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
    """Build an sdist from the tree in ``folder``. Returns its name and its content."""
    backend = [sys.executable, "-m", "build", "--sdist", "--no-isolation"]
    # The sdist contains the engine sources in any case. This variable prevents their
    # translation to C, which is not necessary here.
    pure = {"KWIRE_BUILD_PURE": "1"}
    run([*backend, "--outdir", folder / "out", folder / "tree"], environment=pure)
    (archive,) = (folder / "out").iterdir()
    return archive.name, normalised(archive.read_bytes(), int(epoch()))


def main() -> None:
    """Build the sdist twice in different directories, and write one of them.

    Exits with a message if the two files differ.
    """
    target = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        one, other = Path(scratch, "one"), Path(scratch, "a-second-one")
        copy_tree(one / "tree")
        # PyPI displays the README of the sdist. Its readers can install kwire by name.
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
