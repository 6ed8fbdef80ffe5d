# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Deploys kwire to the workers of a cluster: archives, and import checks."""
