# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The protocol's primitives, single and in bulk, on the active engine.

For those who speak the protocol by hand. Single values come and go one call each
(``decode_varint(data, offset) -> (value, next_offset)``); the bulk functions take
and give numpy arrays, with no Python object per value.
"""

from __future__ import annotations

from ._backend import backend

TYPE_CHECKING = False
if TYPE_CHECKING or backend == "pure":
    from ._pure.bulk import *
    from ._pure.wire import *
else:
    from ._fast.bulk import *
    from ._fast.wire import *
