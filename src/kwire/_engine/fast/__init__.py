# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled engine, written in Cython: a faster implementation of ``pure``.

Each file has a twin in ``pure`` with the same name and with the same functions in the
same order. Positions are pointers instead of offsets. Errors are not raised: a function
stores a fault code in its cursor or writer, and its caller checks for it.
"""
