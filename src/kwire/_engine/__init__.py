# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes messages and records by following a ``Plan`` of the schema.

There are two implementations with the same results: ``pure``, the Python engine, is the
specification; ``fast``, the compiled engine, is written in Cython and has the same
files, functions and order of errors. ``active`` selects one of them when it is
imported.

Nothing is imported here, because loading one engine must not load the other. Schema
files, file access, command line output and other texts for users belong in other
packages. May import: ``errors``, ``_limits``, ``schema``.
"""
