# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that shared directories do not import modules from a question."""

import ast

import pytest

from benchmarks.harness import ROOT

SHARED = {
    "workloads": {"workloads"},
    "harness": {"harness"},
    "contenders": {"contenders", "harness", "workloads"},
}
"""Directories in ``benchmarks`` that a shared directory may import."""


@pytest.mark.parametrize("folder", SHARED)
def test_shared_folders_import_no_question(folder):
    """A shared module imports only the directories in ``SHARED``.

    A contender process must not import other contenders or questions.
    """
    for path in (ROOT / "benchmarks" / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                top, _, rest = node.module.partition(".")
                names = [rest] if rest else [alias.name for alias in node.names]
                if top == "benchmarks":
                    imported = {name.partition(".")[0] for name in names}
                    assert imported <= SHARED[folder], path
