# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the package once per engine, in the same process.

The Python engine is the same source, imported a second time under the name
``kwire_pure``. The two packages therefore share no modules.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import NamedTuple

import kwire as installed


class Twins(NamedTuple):
    """The same package with each engine.

    * ``fast``: the package with the compiled engine, if it is built.
    * ``pure``: the package with the Python engine.
    """

    fast: ModuleType
    pure: ModuleType


def _load_pure() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "kwire_pure",
        installed.__file__,
        submodule_search_locations=list(installed.__path__),
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["kwire_pure"] = package
    spec.loader.exec_module(package)
    before = os.environ.get("KWIRE_BACKEND")
    os.environ["KWIRE_BACKEND"] = "pure"
    try:
        importlib.import_module("kwire_pure._engine.active")
    finally:
        if before is None:
            del os.environ["KWIRE_BACKEND"]
        else:
            os.environ["KWIRE_BACKEND"] = before
    return package


PACKAGES = {"pure": _load_pure()}
if installed.backend == "fast":
    PACKAGES["fast"] = installed
