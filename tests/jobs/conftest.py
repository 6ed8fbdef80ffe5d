# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the job ``offsets``, for the files that test it."""

import importlib

import pytest


@pytest.fixture
def offsets(kwire, tmp_path):
    """Run the job on the engine of the test, below ``tmp_path``."""
    jobs = importlib.import_module(f"{kwire.__name__}.jobs")

    def run(*paths, **options):
        return jobs.offsets(paths, tmp_path / "out", **options)

    return run
