# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes arrays of messages, frames or request headers into Arrow arrays.

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
    """Decode an array with frames of one message class, in any versions, into structs.

    * ``array``: as for ``messages_to_arrow``, or a pandas series. Every row is a
      request or response with its header and without its size, or another message after
      its version as INT16.
    * ``versions``: a number, or an array or series with a number per row. Optional if
      the rows contain their version, as framed requests do. A response has the version
      of its request.
    * ``framed``: with False, each row is a message body.
    * ``on_error``: "raise" (default) raises the error of the first invalid row, as
      ``kwire.decode`` and ``framing`` do. With "null", an additional last field
      ``_error`` contains the error message of an invalid row, and all other fields are
      null.
    * ``schema``: result type, with the fields to decode at every level, in any order.
      Names are compared without case and underscores. An integer field may have a wider
      type. If the schema has no ``_error``, an invalid row becomes a null struct.

    The struct has the fields of all versions. Fields that do not exist in a row's
    version are null. Unsigned integers have the next larger signed type, and uuids are
    the 22 characters that Kafka prints. A null row becomes a null struct.

    Raises ``ValueError`` if the message does not have a field of ``schema``, if a type
    cannot represent all values of its field, if a value is null but its field in
    ``schema`` is not nullable, or if ``on_error`` has another value. Raises
    ``TypeError`` if ``array`` or ``versions`` has another type, ``EncodeError`` if its
    Arrow data is invalid, and ``LimitExceeded`` if the rows have 2 GiB or more in
    total. Requires pyarrow.
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
