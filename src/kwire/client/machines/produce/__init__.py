# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines of a producer: batches, Produce requests and transactions.

``machine.py`` combines them. None of them uses sockets, threads or a clock.
"""
