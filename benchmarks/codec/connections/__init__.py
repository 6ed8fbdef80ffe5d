# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connection benchmarks: table rows, targets and tables for bytes and events."""
