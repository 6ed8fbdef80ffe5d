# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Contents of a test cluster: brokers, topics, logs, groups and transactions.

Modules in this package have no sockets and read no clock. ``machine.py`` sets the time
before it processes a request. They contain no message layouts: ``answers`` converts
requests to calls of these classes, and their results to responses.
"""
