# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Copies the tree to ``build`` and builds the engine there with other options.

A copy has the files that git would keep. Files are compared by content, so that a
module is only built again after its source has changed. A planted bug can be applied:
only the modules that it names are built, and afterwards all files are restored.
``breaks.py`` runs harnesses in broken copies. ``sanitize.py``, ``line_coverage.py``,
``references.py`` and ``pure_suite.py`` run tests in other copies.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

ENGINE = Path("src/kwire/_engine/fast")
PLANTED = ROOT / "tools" / "prove" / "bugs"


class Bug(NamedTuple):
    """A planted bug: a patch, and what its first lines say.

    * ``harness`` and ``arguments``: ``pytest`` and its tests, a module and its options,
      ``clock`` and a family of inputs, or ``sanitizer`` and an input as Python code.
    * ``shows``: the promises that this harness shows.
    * ``built``: the modules of the engine to build again.
    """

    patch: Path
    what: str
    harness: str
    arguments: str
    shows: tuple[str, ...]
    built: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the patch, in words."""
        return self.patch.stem.replace("_", " ")


def bugs() -> list[Bug]:
    """Read the heads of all patches under ``tools/prove/bugs``."""
    return [read_bug(patch) for patch in sorted(PLANTED.glob("*.patch"))]


def read_bug(patch: Path) -> Bug:
    """Read the head of a patch."""
    head = patch.read_text(encoding="utf-8").partition("\n--- ")[0]
    said = dict(re.findall(r"^(\w+): (.*)$", head, re.MULTILINE))
    if missing := {"Bug", "Noticed", "Shows"} - said.keys():
        raise SystemExit(f"the head of {patch.name} lacks {', '.join(sorted(missing))}")
    harness, _, arguments = said["Noticed"].partition(" ")
    shows = tuple(name for name in said["Shows"].split(", ") if name != "none")
    built = tuple(said.get("Built", "").split())
    return Bug(patch, said["Bug"], harness, arguments, shows, built)


class Copy:
    """The tree once more, with an engine of its own."""

    def __init__(self, name: str, switch: str) -> None:
        """Name the copy, and the switch of ``setup.py`` that it is built with."""
        self.root = ROOT / "build" / name
        self.switch = switch

    def refresh(self, changed: Mapping[str, str] | None = None) -> None:
        """Make the files those of the tree, but for texts that are to differ.

        From here on the copy is this process's: another one waits for its end.
        """
        changed = changed or {}
        self.root.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.root / ".lock", "w")  # noqa: SIM115
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        wanted = {name for name in files_of_the_tree() if (ROOT / name).is_file()}
        ours = self.root / ".files"
        for name in set(read_lines(ours)) - wanted - changed.keys():
            (self.root / name).unlink(missing_ok=True)
        for name in wanted - changed.keys():
            put(name, (ROOT / name).read_bytes(), self.root)
        for name, text in changed.items():
            put(name, text.encode(), self.root)
        ours.write_text("\n".join(sorted({*wanted, *changed})), encoding="utf-8")

    def state(self) -> str:
        """Sum up all files that the copy has from the tree."""
        digest = hashlib.sha256()
        for name in read_lines(self.root / ".files"):
            digest.update(name.encode() + b"\0" + (self.root / name).read_bytes())
        return digest.hexdigest()

    def build(self) -> None:
        """Compile the modules whose sources are newer than they are."""
        done = subprocess.run(
            [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "-j2"],
            cwd=self.root,
            env={**os.environ, self.switch: "1"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"the engine does not build\n{done.stderr[-2000:]}")

    def run(
        self,
        command: Sequence[str],
        more: Mapping[str, str] | None = None,
        log: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy, on its engine; all output is text in ``stdout``.

        It goes through a file: ``log``, to be read meanwhile, or a temporary one.
        ``prefix`` is a command that starts Python, for example to limit its memory.
        """
        environment = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        environment.pop("KWIRE_BACKEND", None)
        with open(log, "w+b") if log else tempfile.TemporaryFile() as out:
            done = subprocess.run(
                [*prefix, sys.executable, *command],
                cwd=self.root,
                env={**environment, **(more or {})},
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            out.seek(0)
            text = out.read().decode(errors="replace")
        return subprocess.CompletedProcess(command, done.returncode, text)

    @contextlib.contextmanager
    def patched(self, bug: Bug) -> Iterator[None]:
        """Put a bug in, and build the modules that it names; then undo both.

        A change of a ``.pxd`` file changes all modules that use it; only those named
        are built, which is enough to see it noticed and saves the rest of a minute.
        """
        touched = [self.root / name for name in files_of(bug.patch)]
        sources = [self.root / ENGINE / f"{name}.pyx" for name in bug.built]
        built = [self.root / "build/cython" / ENGINE / f"{n}.c" for n in bug.built]
        for source in sources:
            built += source.parent.glob(f"{source.stem}.*.so")
        # In this order, which is from older to newer.
        saved = {path: path.read_bytes() for path in [*touched, *built]}
        times = {p: p.stat().st_mtime_ns for p in touched if p.suffix == ".pxd"}
        try:
            apply(bug.patch, self.root)
            set_times(times)
            for source in sources:
                source.touch()
            if sources:
                self.build()
            yield
        finally:
            for source in sources:
                source.touch()
            for path, content in saved.items():
                # A module in use is not written over.
                path.unlink()
                path.write_bytes(content)
            set_times(times)


def files_of_the_tree() -> list[str]:
    """Name what git would keep; in a copy, which git does not know, what it has."""
    if (ROOT / ".files").exists():
        return read_lines(ROOT / ".files")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    return list(filter(None, names.decode().split("\0")))


def copy_tree(folder: Path) -> None:
    """Copy the files of the tree into an empty directory."""
    for name in files_of_the_tree():
        if (ROOT / name).is_file():
            put(name, (ROOT / name).read_bytes(), folder)


def set_times(times: Mapping[Path, int]) -> None:
    """Give files the times of their last change that they had before."""
    for path, time in times.items():
        os.utime(path, ns=(time, time))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file that may not exist yet."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def put(name: str, content: bytes, root: Path) -> None:
    """Write a file unless its content is there already: times decide what is built."""
    target = root / name
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    if (ROOT / name).exists():
        shutil.copymode(ROOT / name, target)


def files_of(patch: Path) -> list[str]:
    """Name the files that a patch changes."""
    lines = patch.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]


def apply(patch: Path, root: Path) -> None:
    """Apply a patch, exactly."""
    done = subprocess.run(
        ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-i", str(patch)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{patch.name} does not apply: {done.stdout.strip()}")
