# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Sends any request to the responsible brokers, and merges their responses."""
