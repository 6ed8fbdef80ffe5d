# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast kwire is, beside other Kafka libraries for Python.

``python -m benchmarks`` compares all values, measures, and writes ``RESULTS.md``.
"""
