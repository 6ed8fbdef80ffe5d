# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The engine in plain Python: the specification that ``fast`` follows.

Each file has its twin of the same name in ``fast``, with the same functions in the
same order. ``emitter.py`` and ``arrow_interface.py`` have none.
"""
