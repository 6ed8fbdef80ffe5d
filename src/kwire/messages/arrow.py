# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes arrays of messages, of frames or of request headers into Arrow arrays.

pyarrow is imported when a function is called: ``pip install kwire[arrow]``.
"""

from __future__ import annotations

from .arrow_arrays import load_array, load_pyarrow, load_short_binary_array
from .arrow_messages import (
    keeps_errors,
    messages_to_arrow,
    request_headers_to_arrow,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    import pyarrow

    from . import Message

__all__ = ["frames_to_arrow", "messages_to_arrow", "request_headers_to_arrow"]


def frames_to_arrow(
    array: Any,
    cls: type[Message],
    versions: Any = None,
    *,
    framed: bool = True,
    on_error: Literal["raise", "null"] = "raise",
    schema: pyarrow.StructType | None = None,
) -> pyarrow.StructArray:
    """Decode an array of frames of one message class, in any versions, into structs.

    ``array`` is as for ``messages_to_arrow``, or a pandas series. A row is a request or
    response with its header and without its size, or another message after its version
    as INT16; with ``framed=False`` it is a message body. ``versions`` is a number, or
    an array or series with a number for each row. It may be None if the rows contain
    their version, as framed requests do; a response has the version of its request.

    The struct has the fields of all versions, and a field that the version of a row
    lacks is null. Unsigned integers have the next larger signed type, and uuids are the
    22 characters that Kafka prints. A null row gives a null struct.

    ``schema`` is the type of the result. It names the fields to decode, at every level
    and in any order, without regard to case and underscores. An integer field may have
    a wider type. ``ValueError`` for a field that the message does not have, and for a
    type that cannot hold the values of its field.

    Raises the error of the first bad row, as ``kwire.decode`` and ``framing`` do. With
    ``on_error="null"``, a bad row is null in every field, and a last field ``_error``
    has the text of its error. If a schema is passed that lacks ``_error``, a bad row is
    a null struct.
    """
    keep_errors = keeps_errors(on_error)
    load_pyarrow("kwire.messages.arrow")
    from .columns.chosen_fields import narrow_type
    from .columns.message_reading import read_messages
    from .columns.message_types import find_message, message_type, with_error

    name = find_message(cls)
    if schema is not None:
        narrow_type(with_error(message_type(name)), schema, str)
    if versions is not None and not isinstance(versions, int):
        versions = load_array(versions)
    result: pyarrow.StructArray = read_messages(
        load_short_binary_array(array),
        name,
        versions,
        framed=framed,
        failfast=not keep_errors,
        schema=schema,
    )
    return result
