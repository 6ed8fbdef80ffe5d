# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the promises in SECURITY.md that concern several packages."""
