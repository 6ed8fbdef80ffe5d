# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads what commands are given: addresses, logs, bytes, records and tables."""
