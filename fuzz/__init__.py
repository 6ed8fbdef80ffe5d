# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing of kwire: targets, seeds, the corpus, and the command that runs them.

A target is one file ``targets/fuzz_*.py`` with ``TestOneInput``; see ``README.md``.
Nothing here belongs to the wheel.
"""
