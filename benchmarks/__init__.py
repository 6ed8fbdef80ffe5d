# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that compare kwire with other Kafka libraries for Python.

``python -m benchmarks`` first verifies that all libraries decode the same values. Then
it runs the measurements and writes ``RESULTS.md``.
"""
