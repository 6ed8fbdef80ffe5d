# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures reading while leaders move, with the hints of KIP-951 and without.

``python -m benchmarks leaders`` runs ``moves.py`` and writes what it finds. The brokers
are those of ``tools/interop/broker``.
"""
