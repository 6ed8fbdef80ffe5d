# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What safety costs, and what hostile input costs: time, by the clock.

What can be counted is a test under ``tests/safety``; nothing here decides whether the
suite passes.
"""
