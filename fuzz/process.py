# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of fuzzing targets: their directories, arguments and environment.

It also merges directories of inputs, which a target does in a process of its own. The
turns of the targets are in ``runner.py``, the packed inputs in ``corpus.py``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fuzz import guided

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "build" / "fuzz"
FINDINGS = HERE / "findings"
FILES = HERE / "targets"
TARGETS = tuple(sorted(path.stem for path in FILES.glob("fuzz_*.py")))

HANG = 20
"""Seconds of elapsed time after which an input counts as a hang."""

MAX_MEMORY_MIB = 2048
"""Maximum memory of a target's process in MiB."""

MAX_INPUT_BYTES = 8192
"""Maximum size of an input in bytes."""


def arguments(target, directory, *options):
    """Return the command line of a target with the options that all runs share.

    Inputs that end the process are written to ``directory``.
    """
    return [
        sys.executable,
        str(FILES / f"{target}.py"),
        f"-timeout={HANG}",
        # libFuzzer measures elapsed time, in which every input is slow on a busy
        # machine. Report only inputs that hang.
        f"-report_slow_units={HANG}",
        f"-rss_limit_mb={MAX_MEMORY_MIB}",
        f"-max_len={MAX_INPUT_BYTES}",
        f"-artifact_prefix={directory}/",
        *options,
    ]


def environment():
    """Return environment variables with which a target imports kwire and ``fuzz``."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def merge(target, into, more):
    """Copy inputs of the directory ``more`` to ``into`` if they add coverage."""
    artifacts = WORK / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    with (WORK / f"{target}.merge.log").open("wb") as log:
        subprocess.run(
            [*arguments(target, artifacts, "-merge=1"), str(into), str(more)],
            env=environment(),
            stdout=log,
            stderr=log,
            cwd=WORK,
            check=True,
        )
    # An input that fails ends the process that merges. Store it as a finding.
    keep_artifacts(target, artifacts)


def keep_artifacts(target, artifacts):
    """Move inputs that have ended a process to the findings. Returns their number."""
    kept = 0
    for path in sorted(artifacts.iterdir()):
        kept += 1
        data = path.read_bytes()
        name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
        shutil.copy(path, FINDINGS / name)
        text = f"{guided.ENDED}: {path.name.partition('-')[0]}\n"
        (FINDINGS / f"{name}.txt").write_text(text, encoding="utf-8")
        path.unlink()
    return kept
