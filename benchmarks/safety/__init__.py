# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of safety checks and hostile input.

Properties that can be counted are tested in ``tests/safety``. The test suite never
depends on results from this package.
"""
