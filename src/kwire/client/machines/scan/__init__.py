# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines that read topics: partitions, offset lookups, and fetch sessions.

``machine.py`` has the scan. A group consumer uses the same ``Fetcher``.
"""
