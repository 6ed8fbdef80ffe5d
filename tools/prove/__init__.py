# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Verify the promises in SECURITY.md, and verify that the tests detect bugs."""
