# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks for ``make bench``: messages, records, connections and startup time."""
