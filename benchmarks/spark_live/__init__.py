# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Spark tables from a running broker, beside Spark's own source and sink."""
