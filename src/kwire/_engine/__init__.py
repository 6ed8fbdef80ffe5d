# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs plans: decodes and encodes messages and records, in plain Python or in Cython.

``active`` selects one of the two engines. This file stays empty, because a module of
one engine must not load the other: ``pure`` is the specification, and ``fast`` has the
same files, functions and order of failures. Text for users, files and schemas do not
belong here. May import: ``errors``, ``_limits``, ``schema``.
"""
