# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries that are measured: one module each, with the same functions.

``build`` makes the codec's own message from a workload, ``values`` turns one back to
plain values, and ``encode``, ``decode``, ``frame``, ``encode_integers`` and
``decode_integers`` give the ``Statement`` that is checked first and timed later. A
codec is used as its own documentation says; what can be looked up once is looked up
before the clock runs. A module lacks the functions that its codec cannot serve.
``BUILDS`` and ``CHECKS`` say what decoding gives and verifies.

The modules named ``*_records`` and ``libraries`` serve the rows of records, those named
``*_connections`` the rows of connections: each of their functions takes the arguments
of a task and gives its ``Statement``.
"""

CLIENT_ID = "benchmark"
CORRELATION_ID = 7
