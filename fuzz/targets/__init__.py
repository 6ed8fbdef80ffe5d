# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One file for each fuzzing target, and what several targets share.

The stem of a target's file names its corpus, its findings and its lines in the ledger.
"""
