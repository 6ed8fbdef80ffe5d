# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the job ``export`` on a test directory, and compare its result with the disks."""

from kwire import jobs
from tests.jobs.broken_logs import listed_losses, recovered_rows


def run_export(path, *inputs, **options):
    """Export the inputs, by default ``path``/in, to ``path``/out."""
    return jobs.export(inputs or [path / "in"], path / "out", **options)


def assert_exact(disks, result):
    """Check that rows and losses are exactly those of ``disks.expected``."""
    rows, lost = disks.expected()
    recovered, losses = recovered_rows(result), listed_losses(result)
    for key in disks.logs:
        assert recovered.get(key, []) == rows[key], key
        assert losses.get(key, []) == lost[key], key
    assert set(recovered) <= set(disks.logs)
    assert result.findings == sum(map(len, lost.values()))
