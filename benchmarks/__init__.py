# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""How fast kwire is, beside the other Kafka codecs for Python, in one command.

``python -m benchmarks`` compares all values, measures, and writes ``RESULTS.md``.
"""
