# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing of kwire: targets, seeds, the corpus, and the command that runs them.

A target is a file ``targets/fuzz_*.py`` with a function ``TestOneInput``, as described
in ``README.md``. The wheel does not contain this package.
"""
