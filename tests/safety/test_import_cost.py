# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the modules that ``import kwire`` loads, in new interpreters.

``test_layers.py`` tests which imports a module may have. ``python -m benchmarks
safety`` measures the import time.
"""

import os
import subprocess
import sys
from pathlib import Path

HEAVY = {"dataclasses", "typing", "enum", "uuid", "json", "re", "asyncio"}

LOADED = """
import sys
sys.path.insert(0, {path!r})
before = set(sys.modules)
import kwire
print(*sorted(set(sys.modules) - before))
"""


def list_loaded(kwire):
    """Return the names of the modules that ``import kwire`` loads.

    Modules that ``site`` loads do not count.
    """
    path = str(Path(kwire.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", LOADED.format(path=path)],
        env=os.environ | {"KWIRE_BACKEND": kwire.backend, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_loads_no_heavy_module(kwire, figure):
    """``import kwire`` loads only few modules, and no slow module of Python."""
    modules = list_loaded(kwire)
    assert "kwire" in modules
    figure("P19", "heavy modules that import kwire loads", len(modules & HEAVY), most=0)
    figure("P19", "modules that import kwire loads", len(modules), most=3)
