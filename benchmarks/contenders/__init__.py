# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries under test: one module per library, all with the same functions.

* ``build`` creates the codec's own message from a workload.
* ``values`` converts such a message back to plain values.
* ``encode``, ``decode``, ``frame``, ``encode_integers`` and ``decode_integers`` return
  a ``Statement``, which is first verified and later timed.
* ``BUILDS`` and ``CHECKS`` describe the objects that decoding creates, and the errors
  that it detects.

Every codec is used as its documentation recommends. Lookups that are only required once
happen before the clock starts. If a codec does not support an operation, its module
omits the function.

The modules ``*_records`` and ``libraries`` implement the tasks for record rows, and
``*_connections`` implement the tasks for connection rows. Their functions accept a
task's arguments and return its ``Statement``.
"""

CLIENT_ID = "benchmark"
CORRELATION_ID = 7
