# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Long runs of the tests with hostile input, in parts that can be resumed.

Every module is a part with two functions. ``run(state, until)`` works until
``time.monotonic`` reaches ``until``, and yields its JSON-compatible state after every
step. ``figures(state)`` returns the results. The parts create and check inputs with the
functions of the tests.
"""
