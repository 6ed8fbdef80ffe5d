# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares each process that runs tests: signals, hypothesis, garbage, xdist."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import signal
from typing import Any

import pytest

from tests.harness.other_pythons import replace_missing

# Before a file of tests imports what is replaced.
replace_missing()


def pytest_configure() -> None:
    """Have Ctrl-C interrupt the programs that tests start, and set hypothesis up."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell ignores it for what runs in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _has_hypothesis():
        import tests.harness.hypothesis_profile  # noqa: F401


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Have hypothesis ready before anything is frozen, and after it started itself."""
    if _has_hypothesis():
        from tests.harness.hypothesis_profile import make_generator

        make_generator()


def _has_hypothesis() -> bool:
    """Whether it is installed: a wheel without extras is tested without it."""
    return importlib.util.find_spec("hypothesis") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Collect tests without looking for garbage, which takes as long as the tests do.

    Nothing is frozen when the interpreter ends: libraries count objects then. Before,
    pytest looks for garbage itself.
    """
    atexit.register(gc.unfreeze)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse an id with an address: processes share the tests by id."""
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"give ids to the parameters of {unstable[0]}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share files out whole, once xdist is there to share them."""
    from tests.harness.shares import Shares

    return Shares(config, log)
