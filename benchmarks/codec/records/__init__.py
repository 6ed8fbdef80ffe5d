# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record batch benchmarks: table rows, targets, measurements and tables."""
