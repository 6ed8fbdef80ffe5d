# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes primitive protocol types, individually or in bulk.

This module is intended for programs that implement parts of the protocol themselves. A
function for individual values processes one value per call (``decode_varint(data,
offset) -> (value, next_offset)``). Bulk functions accept and return numpy arrays,
without creating a Python object per value.
"""

from __future__ import annotations

from .._engine.active import backend

TYPE_CHECKING = False
if TYPE_CHECKING or backend == "pure":
    from .._engine.pure.bulk import *
    from .._engine.pure.wire import *
else:
    from .._engine.fast.bulk import *
    from .._engine.fast.wire import *
