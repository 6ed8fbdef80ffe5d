# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The commands, one module each: ``kwire NAME`` runs ``command`` in ``NAME.py``.

A hyphen in the name of a command is an underscore in the name of its module.
"""
