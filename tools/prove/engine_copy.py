# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Copy the tree to ``build`` and compile the engine there with other options.

A copy contains the files that git would track. File contents are compared, so that a
module is compiled again only if its source has changed. When a planted bug is applied,
only the modules that it lists are compiled, and all files are restored afterwards.
``breaks.py`` runs harnesses in broken copies. ``sanitize.py``, ``line_coverage.py``,
``references.py`` and ``pure_suite.py`` run tests in separate copies.
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
    """Planted bug: a patch with the content of its header lines.

    * ``harness`` and ``arguments``: ``pytest`` with tests, a module with options,
      ``clock`` with an input family, or ``sanitizer`` with an input as Python code.
    * ``shows``: promises that this harness verifies.
    * ``built``: engine modules that must be compiled again.
    """

    patch: Path
    what: str
    harness: str
    arguments: str
    shows: tuple[str, ...]
    built: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the patch file, with spaces instead of underscores."""
        return self.patch.stem.replace("_", " ")


def bugs() -> list[Bug]:
    """Read the headers of all patches in ``tools/prove/bugs``."""
    return [read_bug(patch) for patch in sorted(PLANTED.glob("*.patch"))]


def read_bug(patch: Path) -> Bug:
    """Read the header of a patch.

    Raises ``SystemExit`` if a required line is missing.
    """
    head = patch.read_text(encoding="utf-8").partition("\n--- ")[0]
    said = dict(re.findall(r"^(\w+): (.*)$", head, re.MULTILINE))
    if missing := {"Bug", "Noticed", "Shows"} - said.keys():
        raise SystemExit(f"the head of {patch.name} lacks {', '.join(sorted(missing))}")
    harness, _, arguments = said["Noticed"].partition(" ")
    shows = tuple(name for name in said["Shows"].split(", ") if name != "none")
    built = tuple(said.get("Built", "").split())
    return Bug(patch, said["Bug"], harness, arguments, shows, built)


class Copy:
    """Copy of the tree with its own compiled engine."""

    def __init__(self, name: str, switch: str) -> None:
        """Set the directory of the copy, which is ``build/name``.

        ``switch`` is the environment variable that configures the build in
        ``setup.py``.
        """
        self.root = ROOT / "build" / name
        self.switch = switch

    def refresh(self, changed: Mapping[str, str] | None = None) -> None:
        """Update the files of the copy from the tree.

        ``changed`` replaces some of the texts.

        This process then holds the lock of the copy. If another process holds the lock,
        the method waits for it.
        """
        changed = changed or {}
        self.root.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.root / ".lock", "w")  # noqa: SIM115
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        names = {name for name in files_of_the_tree() if (ROOT / name).is_file()}
        ours = self.root / ".files"
        for name in set(read_lines(ours)) - names - changed.keys():
            (self.root / name).unlink(missing_ok=True)
        for name in names - changed.keys():
            put(name, (ROOT / name).read_bytes(), self.root)
        for name, text in changed.items():
            put(name, text.encode(), self.root)
        ours.write_text("\n".join(sorted({*names, *changed})), encoding="utf-8")

    def state(self) -> str:
        """Return a digest of all files in the copy that came from the tree."""
        digest = hashlib.sha256()
        for name in read_lines(self.root / ".files"):
            digest.update(name.encode() + b"\0" + (self.root / name).read_bytes())
        return digest.hexdigest()

    def build(self) -> None:
        """Compile the modules that are older than their sources.

        Raises ``SystemExit`` if that fails.
        """
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
        """Run Python in the copy with its engine. All output is in ``stdout``.

        The output is written to ``log``, which can be read while the command is
        running. If ``log`` is None, a temporary file is used. ``prefix`` is a command
        that starts Python, for example to limit its memory.
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
        """Apply a bug and compile its modules, and restore everything afterwards.

        If a bug changes a ``.pxd`` file, all modules that use the file would normally
        be compiled. Only the modules listed by the bug are compiled, because they are
        sufficient to detect it, which saves most of a minute.
        """
        touched = [self.root / name for name in files_of(bug.patch)]
        sources = [self.root / ENGINE / f"{name}.pyx" for name in bug.built]
        built = [self.root / "build/cython" / ENGINE / f"{n}.c" for n in bug.built]
        for source in sources:
            built += source.parent.glob(f"{source.stem}.*.so")
        # Restore older files first, so that the order of modification times is
        # preserved.
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
                # Create a new file instead of overwriting the old one, which a process
                # may have loaded as a module.
                path.unlink()
                path.write_bytes(content)
            set_times(times)


def files_of_the_tree() -> list[str]:
    """List the files that git would track, or the files of a copy without git."""
    if (ROOT / ".files").exists():
        return read_lines(ROOT / ".files")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    return list(filter(None, names.decode().split("\0")))


def copy_tree(folder: Path) -> None:
    """Copy all files of the tree into a directory, which should be empty."""
    for name in files_of_the_tree():
        if (ROOT / name).is_file():
            put(name, (ROOT / name).read_bytes(), folder)


def set_times(times: Mapping[Path, int]) -> None:
    """Set the modification times of files, in nanoseconds."""
    for path, time in times.items():
        os.utime(path, ns=(time, time))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file. Returns an empty list if it does not exist."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def put(name: str, content: bytes, root: Path) -> None:
    """Write a file in ``root`` unless its content is already identical.

    An unchanged file keeps its modification time, so its module is not compiled again.
    """
    target = root / name
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    if (ROOT / name).exists():
        shutil.copymode(ROOT / name, target)


def files_of(patch: Path) -> list[str]:
    """Return the paths of the files that a patch changes, relative to the root."""
    lines = patch.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]


def apply(patch: Path, root: Path) -> None:
    """Apply a patch without fuzz. Raises ``SystemExit`` if it does not apply."""
    done = subprocess.run(
        ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-i", str(patch)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{patch.name} does not apply: {done.stdout.strip()}")
