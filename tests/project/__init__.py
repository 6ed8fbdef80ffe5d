# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the repository: layers, documentation, type stubs and test selection."""
