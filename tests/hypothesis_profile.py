# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of hypothesis: the same examples on every run, and no files."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "kwire",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("kwire")
