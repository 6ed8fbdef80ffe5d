# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Python engine: the specification of the compiled engine in ``fast``.

Each file has a twin in ``fast`` with the same name and with the same functions in the
same order. ``emitter.py``, ``arrow_interface.py``, ``record_fast_lane.py`` and other
files whose docstring says "Without a twin" exist only here.
"""
