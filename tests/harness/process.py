# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Configures the test processes: signals, hypothesis, garbage collection and xdist."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import signal
from typing import Any

import pytest

from tests.harness.other_pythons import replace_missing

# Replace missing features before any test file imports them.
replace_missing()


def pytest_configure() -> None:
    """Enable Ctrl-C for programs that tests start, and load the hypothesis profile."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell may start a background process with SIGINT ignored, which its child
        # processes inherit.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _has_hypothesis():
        import tests.harness.hypothesis_profile  # noqa: F401


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Initialize hypothesis after its own plugin and before objects are frozen."""
    if _has_hypothesis():
        from tests.harness.hypothesis_profile import make_generator

        make_generator()


def _has_hypothesis() -> bool:
    """Return whether hypothesis is installed.

    A wheel without extras is tested without it.
    """
    return importlib.util.find_spec("hypothesis") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Disable the garbage collector during collection, where it doubles the time.

    Objects are unfrozen before the interpreter exits, because some libraries count
    their objects then. Before this hook, pytest runs the garbage collector itself.
    """
    atexit.register(gc.unfreeze)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reject test ids that contain an object address.

    xdist compares the ids of all workers, and an address is different in each worker.
    """
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"give ids to the parameters of {unstable[0]}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return a scheduler that assigns whole files. Only xdist calls this hook."""
    from tests.harness.shares import Shares

    return Shares(config, log)
