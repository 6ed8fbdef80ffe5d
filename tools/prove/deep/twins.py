# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode millions of hostile inputs on both engines and compare the results (P3).

``tests/engine/twins/test_agreement.py`` defines the input families and the comparison.
Every turn generates new inputs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from fuzz import engines
from tests.engine.twins import test_agreement
from tests.safety import broken_messages
from tools.generate.promises import Figure

INPUTS = 20_000
"""Number of inputs that both engines decode in one turn."""


def run(state: dict[str, Any], until: float) -> Iterator[dict[str, Any]]:
    """Compare the engines with new inputs in each turn, until the time ``until``."""
    packages = engines.packages()
    if len(packages) == 1:
        raise AssertionError("there is one engine: build the compiled one, make build")
    # Turn 0 contains the inputs of the gate.
    state = {"turns": 1, "inputs": 0} | state
    while time.monotonic() < until:
        inputs = 0
        for _, mode, ends, differing in test_agreement.compare_engines(
            *packages, INPUTS, state["turns"]
        ):
            for name, version, data in differing:
                said = "the engines differ, or are wrong"
                raise AssertionError(
                    broken_messages.report(packages[0], name, version, mode, data, said)
                )
            inputs += ends.total()
        state["inputs"] += inputs
        state["turns"] += 1
        yield state


def figures(state: dict[str, Any]) -> list[Figure]:
    """Return the number of inputs as a figure. A difference would stop the run."""
    inputs = state.get("inputs", 0)
    what = "inputs on which both engines agree"
    return [Figure("P3", what, inputs, "make deep", least=5_000_000)]
