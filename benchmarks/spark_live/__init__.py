# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare Spark tables from a running broker with Spark's own source and sink."""
