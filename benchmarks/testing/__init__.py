# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the test cluster of ``kwire.testing``: its start, and records through it.

``python -m benchmarks testing`` runs ``workload.py`` in new processes and writes the
results.
"""
