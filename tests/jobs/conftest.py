# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture that runs the job ``offsets``."""

import importlib

import pytest


@pytest.fixture
def offsets(kwire, tmp_path):
    """Return a function that runs the job ``offsets`` with the tested engine.

    The function writes the result to a new directory below ``tmp_path``.
    """
    jobs = importlib.import_module(f"{kwire.__name__}.jobs")

    def run(*paths, **options):
        return jobs.offsets(paths, tmp_path / "out", **options)

    return run
