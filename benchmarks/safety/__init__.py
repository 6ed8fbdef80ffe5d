# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of safety checks, and the cost of hostile input.

Properties that can be counted are tested in ``tests/safety``. The results of this
package never decide whether the test suite passes.
"""
