# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes the protocol's primitive types, singly or in bulk.

For code that reads or writes parts of the protocol itself. A single value is one call
(``decode_varint(data, offset) -> (value, next_offset)``); the bulk functions
take and return numpy arrays, with no Python object per value.
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
