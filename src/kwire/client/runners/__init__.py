# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the state machines of ``machines`` over sockets, blocking or with asyncio."""
