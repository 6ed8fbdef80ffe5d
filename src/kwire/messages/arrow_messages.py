# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes arrays of messages of one version, or of request headers, into Arrow arrays.

The engine makes the columns, and the functions here return them as pyarrow's types.
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

# The types of a message class, by whether they have views and errors.
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
    """Decode an array of encoded messages, one a row, into nested Arrow arrays.

    ``array`` is a pyarrow array or chunked array of a binary or string type, or an
    object with ``__arrow_c_array__`` or ``__arrow_c_stream__``, such as a polars
    series; each row is one message body of class ``cls``, all of the same version. A
    field becomes a column of its name in Python, a struct a struct, an array a list; a
    field that the version lacks has its default in every row, a null row gives a null
    struct. Tagged fields that kwire does not know are left out. ``limits.frame_bytes``
    bounds each row.

    Raises what ``kwire.decode`` raises for the first bad row; the path begins with the
    row, ``[7].topics[0]``, and the offset counts from the row's first byte. Its hint
    at a frame that was passed in place of a message is left out.
    ``on_error="null"`` goes on instead: a bad row has null in every field, and a last
    field ``_error`` has the text of its error, null for good rows.
    With ``views``, bytes and records fields are binary_view: their bytes stay in
    ``array``, whose memory the result holds; up to 12 bytes are copied, and so is text.
    ``EncodeError`` if the Arrow data of ``array`` is invalid.
    ``LimitExceeded`` where one column would outgrow Arrow's 32-bit offsets.
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
    # All versions have one type, which takes longer to read than the data.
    return made.import_with(pyarrow.Array._import_from_c, known[key])


def request_headers_to_arrow(
    array: Any,
    *,
    on_error: Literal["raise", "null"] = "raise",
    limits: Limits = DEFAULT,
) -> pyarrow.StructArray:
    """Decode the headers of an array of requests of any API, one frame a row.

    ``array`` is as for ``messages_to_arrow``; each row is a frame without its size, as
    ``framing.decode_request`` takes it. Fields, all nullable: api_key int16,
    api_version int16, correlation_id int32, client_id string, and body_position int32,
    the byte of the row at which the body begins. The body is not read, tags in the
    header are checked and left out. ``limits.frame_bytes`` bounds each row.

    Raises what ``decode_request`` raises for the first bad header or unknown API or
    version, with the row at the front of its path (``[7].client_id``).
    ``on_error="null"`` goes on instead, as ``messages_to_arrow`` does.
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
    """Whether bad rows become null and leave the text of their error."""
    if on_error not in ("raise", "null"):
        raise ValueError(f'on_error must be "raise" or "null" (got {quote(on_error)})')
    return on_error == "null"
