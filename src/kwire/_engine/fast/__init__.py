# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled engine, in Cython: it does what ``pure`` does, faster.

Each file has its twin of the same name in ``pure``, with the same functions in the
same order; it uses pointers for offsets and noted faults for exceptions.
"""
