# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes arrays of messages with one version, or request headers, into Arrow arrays.

The engine creates the columns, and this module converts them to pyarrow arrays.
``arrow`` is the public module. pyarrow is imported when a function is called.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from .._engine.active import record_engine as engine
from .._limits import DEFAULT, Limits
from ..errors import quote
from . import RequestHeader
from .arrow_arrays import load_binary_array, load_pyarrow
from .framing import decode_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    import pyarrow

    from . import Message

# Result types by message class, and by (has views, keeps errors).
_types: WeakKeyDictionary[type[Message], dict[tuple[bool, bool], pyarrow.DataType]]
_types = WeakKeyDictionary()


def messages_to_arrow(
    array: Any,
    cls: type[Message],
    version: int,
    *,
    on_error: Literal["raise", "null"] = "raise",
    views: bool = False,
    limits: Limits | None = DEFAULT,
) -> pyarrow.StructArray:
    """Decode an array with one encoded message per row into nested Arrow arrays.

    * ``array``: a pyarrow array or chunked array of a binary or string type, or an
      object with ``__arrow_c_array__`` or ``__arrow_c_stream__``, such as a polars
      series. Every row is a message body. All messages have the class ``cls`` and the
      same ``version``.
    * ``on_error``: "raise" (default) raises the error of ``kwire.decode`` for the first
      invalid row. The path starts with the row, ``[7].topics[0]``, and the offset
      counts from the row's first byte. The hint for frames that are passed instead of
      messages is omitted. With "null", an additional last field ``_error`` contains the
      error message of an invalid row, and all other fields are null.
    * ``views``: return bytes and records fields as binary_view. Their bytes remain in
      ``array``, whose memory the result keeps alive. Values up to 12 bytes, and
      strings, are still copied.
    * ``limits``: ``frame_bytes`` limits the size of every row.

    A field becomes a column with its Python name. Structs become structs, and arrays
    become lists. A field that does not exist in the version has its default value in
    every row. A null row becomes a null struct. Unknown tagged fields are omitted.

    Raises ``EncodeError`` if the Arrow data in ``array`` is invalid, and
    ``LimitExceeded`` if a column would exceed Arrow's 32-bit offsets. Raises
    ``UnsupportedVersion`` if the message does not have ``version``, ``TypeError`` if
    ``array`` has another type, and ``ValueError`` if ``on_error`` has another value.
    Requires pyarrow.
    """
    keep_errors = keeps_errors(on_error)
    pyarrow = load_pyarrow("kwire.messages.arrow")
    flat = load_binary_array(array)
    validity, offsets, data = flat.buffers()
    made = engine.decode_messages(
        cls,
        version,
        validity,
        offsets,
        data,
        flat.offset,
        len(flat),
        pyarrow.types.is_large_binary(flat.type),
        keep_errors,
        limits,
        views,
    )
    known = _types.setdefault(cls, {})
    key = (bool(views), keep_errors)
    if key not in known:
        converted = pyarrow.array(made)
        known[key] = converted.type
        return converted
    # All versions have the same type, and importing a type takes longer than importing
    # the data.
    return made.import_with(pyarrow.Array._import_from_c, known[key])


def request_headers_to_arrow(
    array: Any,
    *,
    on_error: Literal["raise", "null"] = "raise",
    limits: Limits = DEFAULT,
) -> pyarrow.StructArray:
    """Decode the headers of an array of requests to any API, with one frame per row.

    * ``array``: as for ``messages_to_arrow``. Every row is a frame without its size, as
      for ``framing.decode_request``.
    * ``on_error``: "raise" (default) raises the error of ``decode_request`` for the
      first invalid header, unknown API or unknown version, with the row at the start of
      the path (``[7].client_id``). "null" works as in ``messages_to_arrow``.
    * ``limits``: ``frame_bytes`` limits the size of every row.

    Fields, all nullable: api_key int16, api_version int16, correlation_id int32,
    client_id string, and body_position int32, the position in the row at which the body
    begins. The body is not decoded. Tagged fields in the header are validated and
    omitted.

    Raises ``EncodeError`` if the Arrow data in ``array`` is invalid, ``TypeError`` if
    ``array`` has another type, and ``ValueError`` if ``on_error`` has another value.
    Requires pyarrow.
    """
    keep_errors = keeps_errors(on_error)
    pyarrow = load_pyarrow("kwire.messages.arrow")
    flat = load_binary_array(array)
    validity, offsets, data = flat.buffers()
    made = engine.decode_request_headers(
        RequestHeader,
        lambda frame: decode_request(frame, limits=limits),
        validity,
        offsets,
        data,
        flat.offset,
        len(flat),
        pyarrow.types.is_large_binary(flat.type),
        keep_errors,
        limits,
    )
    return pyarrow.array(made)


def keeps_errors(on_error: str) -> bool:
    """Whether invalid rows become null and keep their error message.

    Raises ``ValueError`` if ``on_error`` is neither "raise" nor "null".
    """
    if on_error not in ("raise", "null"):
        raise ValueError(f'on_error must be "raise" or "null" (got {quote(on_error)})')
    return on_error == "null"
