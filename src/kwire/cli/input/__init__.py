# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads command inputs: addresses, logs, bytes, records and tables."""
