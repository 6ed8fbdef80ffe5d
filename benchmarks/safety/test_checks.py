# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that the checks which ``make bench-safety`` removes exist in the engine."""

from pathlib import Path

import pytest

from benchmarks.safety.checks import ENGINE, UNCHECKED

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", UNCHECKED)
def test_checks_to_take_out_are_in_the_source(name):
    """The sources contain each check that the benchmark removes from its copy.

    The benchmark itself runs rarely.
    """
    text = (ROOT / ENGINE / name).read_text(encoding="utf-8")
    for old, new in UNCHECKED[name]:
        assert old in text
        text = text.replace(old, new)
