# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads topics: positions, fetches and their sessions, without a socket or a clock."""
