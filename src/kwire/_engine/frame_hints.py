# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Explains a failed decode if the input begins with a frame size or with a header.

    size int32 | api key int16 | version int16 | ...   a request as it is sent
    size int32 | correlation id int32 | ...            a response as it is sent

The functions are called after decoding has failed. They add a hint to the error that
names the function to call instead. A hint is only a guess, because a damaged body can
begin with the same bytes.
"""

from __future__ import annotations

from struct import Struct

from ..errors import DecodeError, UnsupportedVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

_SIZE_BYTES = 4
_size = Struct(">i").unpack_from
_key_and_version = Struct(">hh").unpack_from


def take_first_bytes(data: Buffer, count: int) -> tuple[bytes, int]:
    """Return the first bytes of the input, ``count`` at most, and the input size."""
    with memoryview(data) as view:
        return view.cast("B")[:count].tobytes() if view.nbytes else b"", view.nbytes


def hint_at_size(error: DecodeError | UnsupportedVersion, frame: Buffer) -> None:
    """Add a hint to the error if the frame begins with its own size."""
    if _has_size(*take_first_bytes(frame, _SIZE_BYTES)):
        _add(
            error,
            "the frame begins with its own size; pass frame[4:], or feed the stream to"
            " FrameSplitter",
        )


def hint_at_header(
    error: DecodeError, data: Buffer, kind: str, api_key: int | None, version: int
) -> None:
    """Add a hint to the error if the body begins with a size or a request header."""
    head, size = take_first_bytes(data, 2 * _SIZE_BYTES)
    has_size = _has_size(head, size)
    if kind == "response":
        if has_size:
            _add(
                error,
                "the bytes begin with the size of a frame; pass data[4:] to"
                " framing.decode_response",
            )
        return
    start = _SIZE_BYTES if has_size else 0
    if kind != "request" or len(head) < start + 4 or (api_key, version) == (0, 0):
        # Key 0 and version 0 are four zero bytes. Many bodies begin with zeros, so
        # these bytes do not indicate a header.
        return
    if _key_and_version(head, start) == (api_key, version):
        what = "a frame's size and a request header" if start else "a request header"
        rest = "data[4:]" if start else "data"
        hint = f"the bytes begin with {what}; pass {rest} to framing.decode_request"
        _add(error, hint)


def _has_size(head: bytes, size: int) -> bool:
    return len(head) >= _SIZE_BYTES and _size(head)[0] == size - _SIZE_BYTES


def _add(error: DecodeError | UnsupportedVersion, hint: str) -> None:
    """Insert the hint before the original reason, which describes the input itself."""
    error.reason = f"{hint} (as they are: {error.reason})"
    error.args = (error.reason, *error.args[1:])
