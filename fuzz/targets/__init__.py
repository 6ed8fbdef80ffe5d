# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing targets, one file for each of them, and modules that several targets share.

The corpus, the findings and the ledger lines of a target have the name of its file
without the extension.
"""
