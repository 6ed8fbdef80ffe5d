# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runners, which connect the state machines of ``machines`` to sockets and the clock.

``aio.py`` uses asyncio, and ``blocking.py`` uses blocking calls.
"""
