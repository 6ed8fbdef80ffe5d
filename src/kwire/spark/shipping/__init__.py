# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Deploys kwire to a cluster's workers: archives, and import checks."""
