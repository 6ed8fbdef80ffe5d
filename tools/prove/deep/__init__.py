# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Long runs of the tests with hostile input, in parts that can be resumed.

Each module here is a part: ``run(state, until)`` works until ``time.monotonic`` reaches
``until`` and yields its state after each step, a dict that JSON can hold;
``figures(state)`` returns what was reached. The parts make and check inputs with the
functions of the tests.
"""
