# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure reads while partition leaders move, with and without KIP-951 hints.

``python -m benchmarks leaders`` runs ``moves.py`` and writes the results. The brokers
are started by ``tools/interop/broker``.
"""
