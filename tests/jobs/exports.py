# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the job ``export`` on a test directory, and compare its result with the disks."""

from kwire import jobs
from tests.jobs.broken_logs import listed_losses, recovered_rows


def run_export(path, *inputs, **options):
    """Export ``inputs`` to ``path``/out. Without inputs, ``path``/in is exported."""
    return jobs.export(inputs or [path / "in"], path / "out", **options)


def assert_exact(disks, result):
    """Check that the recovered rows and the lost offsets equal ``disks.expected``."""
    rows, lost = disks.expected()
    recovered, losses = recovered_rows(result), listed_losses(result)
    for key in disks.logs:
        assert recovered.get(key, []) == rows[key], key
        assert losses.get(key, []) == lost[key], key
    assert set(recovered) <= set(disks.logs)
    assert result.findings == sum(map(len, lost.values()))
