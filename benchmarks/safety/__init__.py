# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the safety checks, and of hostile input.

What can be counted is a test under ``tests/safety``; nothing here decides whether the
suite passes.
"""
