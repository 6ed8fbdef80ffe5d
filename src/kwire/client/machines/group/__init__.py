# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shares topics within a group: its member, its offsets, and the requests of both."""
