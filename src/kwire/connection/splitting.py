# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Empty responses on the wire: how a server says that it does not know a request.

The text of KIP-35 (documents 000 and 001) asks for a header "with Length=0", which can
be read in three ways. Reading A, a frame that holds the correlation id alone, is what
kwire speaks; reading B, a size of zero with the id behind it, breaks the framing of
whoever does not expect it and is spoken among drafts alone. Reading C, a size of zero
and nothing else, cannot be told whose answer it is, and is an error.
"""

from __future__ import annotations

from ..framing import FrameSplitter
from ..negotiation.handshake import HEADER_BYTES


def empty_response(correlation_id: int, *, draft: bool = False) -> bytes:
    """Write an empty response as a frame.

    Shape: INT32 size 4 and the correlation id (reading A); with ``draft`` INT32 size 0
    and the correlation id behind the frame (reading B).
    """
    size = 0 if draft else HEADER_BYTES
    return size.to_bytes(4, "big") + correlation_id.to_bytes(4, "big", signed=True)


class DraftSplitter(FrameSplitter):
    """Splits a stream in which an empty frame has a correlation id behind it.

    Such a frame comes out as reading A would have it, so that only the splitter knows
    of reading B.
    """

    __slots__ = ()

    _after_empty = HEADER_BYTES
