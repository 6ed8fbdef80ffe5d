# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The fixtures of the suite: one test, both engines.

``kwire`` is the package on one engine, and every test that takes it runs once on
each; ``twins`` is the package on both, for tests that compare them. The pure engine
is the same source imported a second time as ``kwire_pure``, so both live in one
process and share no module.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import NamedTuple

import pytest

import kwire as kwire_fast


def _load_pure() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "kwire_pure",
        kwire_fast.__file__,
        submodule_search_locations=list(kwire_fast.__path__),
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["kwire_pure"] = package
    spec.loader.exec_module(package)
    before = os.environ.get("KWIRE_BACKEND")
    os.environ["KWIRE_BACKEND"] = "pure"
    try:
        importlib.import_module("kwire_pure._backend")
    finally:
        if before is None:
            del os.environ["KWIRE_BACKEND"]
        else:
            os.environ["KWIRE_BACKEND"] = before
    return package


PACKAGES = {"pure": _load_pure()}
if kwire_fast.backend == "fast":
    PACKAGES["fast"] = kwire_fast


class Twins(NamedTuple):
    """The package on both engines."""

    fast: ModuleType
    pure: ModuleType


@pytest.fixture(scope="session", params=sorted(PACKAGES))
def kwire(request: pytest.FixtureRequest) -> ModuleType:
    """The package on one engine; the test runs once on each."""
    return PACKAGES[request.param]


@pytest.fixture(scope="session")
def twins() -> Twins:
    """Both engines at once. Only a pure build, which has none to compare, lacks it."""
    if "fast" not in PACKAGES:
        pytest.skip("this build has one engine, there is nothing to compare")
    return Twins(PACKAGES["fast"], PACKAGES["pure"])
