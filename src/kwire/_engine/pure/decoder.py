# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes messages by following the plan. These functions define the correct result.

They read fields, arrays, structs and tag sections from a ``Cursor`` in wire order and
stop at the first error. A size is checked before its content is read, and before memory
is allocated for the content.

``decode`` first calls the generated code of ``emitter.py``. The functions here run in
two cases: if the generated code fails, to find the error and its offset, and if it does
not support the options (``zero_copy``, ``compat``, limits for counts).

Twin: ``fast/decoder.pyx``. Differs from its twin in: errors are exceptions, the path is
kept up to date while reading, and generated code is called first.
"""

from __future__ import annotations

from ... import errors
from ..._limits import DEFAULT, Limits
from ...schema import plan
from .. import frame_hints
from .cursor import Cursor, CursorFault, read_unsigned_varint, require
from .path import format_path
from .primitives import (
    read_bytes,
    read_count,
    read_fixed,
    read_fixed_array,
    read_string,
)
from .program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Buffer

_TAGS = "unknown_tagged_fields"


def read_struct(cursor: Cursor, layout: plan.Plan, binding: plan.Binding) -> Any:
    """Read a struct: its fields in schema order, then its tag section.

    Fields that the version does not have are set to their defaults.
    """
    defaults = binding.defaults[layout.struct.name]
    values: dict[str, object] = {}
    for step in layout.steps:
        if step.place == plan.PRESENT:
            cursor.path.append(step.attribute)
            values[step.attribute] = read_field(cursor, step, binding)
            cursor.path.pop()
        else:
            values[step.attribute] = defaults[step.slot]
    if layout.flexible:
        read_tagged_fields(cursor, layout, binding, values)
    return binding.classes[layout.struct.name](**values)


def read_field(cursor: Cursor, step: plan.Step, binding: plan.Binding) -> object:
    """Read one field that is not in the tag section."""
    if step.is_array:
        return read_array(cursor, step, binding)
    if step.code <= plan.UUID:
        return read_fixed(cursor, step.code)
    if step.code == plan.STRING:
        return read_string(cursor, step.compact, step.nullable)
    if step.code != plan.STRUCT:
        return read_bytes(cursor, step.compact, step.nullable)
    if step.nullable and not read_marker(cursor):
        return None
    return read_struct(cursor, _plan_of(step), binding)


def read_array(cursor: Cursor, step: plan.Step, binding: plan.Binding) -> object:
    """Read an array as a tuple. The result is None if the array is null.

    Shape: the count (UNSIGNED_VARINT of n + 1, or INT32), then n elements.
    """
    count = read_count(cursor, step.compact, step.nullable, step.element_least)
    if count < 0:
        return None
    if step.code < plan.UUID:
        return read_fixed_array(cursor, step.code, count)
    elements: list[object] = []
    for index in range(count):
        cursor.path.append(index)
        if step.code == plan.UUID:
            elements.append(read_fixed(cursor, step.code))
        elif step.code == plan.STRING:
            elements.append(read_string(cursor, step.compact, False))
        elif step.code != plan.STRUCT:
            elements.append(read_bytes(cursor, step.compact, False))
        else:
            elements.append(read_struct(cursor, _plan_of(step), binding))
        cursor.path.pop()
    return tuple(elements)


def read_marker(cursor: Cursor) -> bool:
    """Read the INT8 before a nullable struct: 1 if it is present, -1 for null.

    Any other value is an error. A lenient cursor accepts it and uses only its sign.
    """
    start = cursor.at
    marker = read_fixed(cursor, plan.INT8)
    assert isinstance(marker, int)
    if marker != 1 and marker != -1 and not cursor.lenient:
        raise CursorFault(errors.BAD_MARKER, start, marker)
    return marker >= 0


def read_tagged_marker(cursor: Cursor) -> bool:
    """Read the marker of a tagged nullable struct: UNSIGNED_VARINT 1 or 0.

    Any other value is an error at its first byte. A lenient cursor interprets it as an
    int32 and uses only its sign.
    """
    start = cursor.at
    marker = read_unsigned_varint(cursor)
    if marker > 1 and not cursor.lenient:
        raise CursorFault(errors.BAD_MARKER, start, marker)
    return 0 < marker <= 0x7FFFFFFF


def read_tagged_fields(
    cursor: Cursor,
    layout: plan.Plan,
    binding: plan.Binding,
    values: dict[str, object],
) -> None:
    """Read a tag section. The content of unknown tags is kept as bytes.

    Shape: UNSIGNED_VARINT count, then for each field its tag, its size (bytes) and its
    content. Tags must be in ascending order, and the content of a known field must have
    exactly its size. A lenient cursor checks neither.

    Source: KIP-482.
    """
    unknown: list[tuple[int, bytes]] = []
    cursor.path.append(_TAGS)
    start = cursor.at
    count = read_unsigned_varint(cursor)
    if count > (cursor.end - cursor.at) // 2:
        raise CursorFault(errors.BAD_COUNT, start, count)
    if count > cursor.max_tags:
        raise CursorFault(errors.TOO_MANY_TAGS, start, count)
    previous = -1
    for _ in range(count):
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if tag <= previous and not cursor.lenient:
            raise CursorFault(errors.TAG_OUT_OF_ORDER, start, tag)
        if tag in layout.invalid_tags:
            raise CursorFault(errors.TAG_NOT_IN_VERSION, start, tag)
        previous = tag
        size = read_unsigned_varint(cursor)
        for step in layout.tagged:
            if step.tag == tag:
                # Kafka ignores the size of a known tag, and so does a lenient cursor.
                if not cursor.lenient:
                    require(cursor, size)
                cursor.path[-1] = step.attribute
                values[step.attribute] = read_tagged_field(cursor, step, size, binding)
                cursor.path[-1] = _TAGS
                break
        else:
            require(cursor, size)
            content = cursor.data[cursor.at : cursor.at + size]
            unknown.append((tag, bytes(content)))
            cursor.at += size
    cursor.path.pop()
    values[_TAGS] = tuple(unknown)


def read_tagged_field(
    cursor: Cursor, step: plan.Step, size: int, binding: plan.Binding
) -> object:
    """Read the content of one known tag. ``size`` is its length in bytes."""
    end = cursor.end
    if not cursor.lenient:
        cursor.end = cursor.at + size
    if step.plan is not None and not step.is_array and step.nullable:
        present = read_tagged_marker(cursor)
        value = read_struct(cursor, step.plan, binding) if present else None
    else:
        value = read_field(cursor, step, binding)
    if not cursor.lenient:
        if cursor.at != cursor.end:
            raise CursorFault(errors.TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
        cursor.end = end
    return value


def decode(
    cls: type,
    data: Buffer,
    version: int,
    *,
    zero_copy: bool = False,
    compat: str | None = None,
    limits: Limits | None = DEFAULT,
) -> Any:
    """Decode one message body, without frame size and header.

    * ``data``: contiguous bytes-like object that contains exactly one message.
    * ``zero_copy``: return memoryviews of ``data`` for bytes and records fields.
    * ``compat``: with ``"java"``, accept the same invalid input as Kafka's own classes.
      Trailing bytes and superfluous varint bits are ignored, tags may have any order,
      and invalid UTF-8 is replaced.
    * ``limits``: maximum input size, maximum number of elements in each array, and
      maximum number of fields in each tag section. None means the default limits.

    Shape: the fields in schema order. In flexible versions, each struct ends with its
    tag section. Time and memory are linear in the input size.

    Raises ``DecodeError`` with the path of the field and the offset in ``data``
    (bytes). Raises ``UnsupportedVersion`` if the message does not have this version.

    Source: ``ApiMessage.read`` of Kafka's generated classes.
    """
    lenient = is_lenient(compat)
    whole = not lenient
    try:
        return decode_part(cls, data, version, 0, zero_copy, lenient, limits, whole)[0]
    except errors.DecodeError as error:
        message = find_program(cls, version).binding.message
        facts = message.kind, message.api_key, version
        frame_hints.hint_at_header(error, data, *facts)
        raise


def decode_prefix(
    cls: type,
    data: Buffer,
    version: int,
    start: int = 0,
    *,
    zero_copy: bool = False,
    compat: str | None = None,
    limits: Limits | None = DEFAULT,
) -> tuple[Any, int]:
    """Decode the message that begins at byte ``start``; more bytes may follow it.

    Returns the message and its end offset. The other parameters and the errors are the
    same as for ``decode``. Raises ``ValueError`` if ``start`` is outside of ``data``.
    """
    lenient = is_lenient(compat)
    return decode_part(cls, data, version, start, zero_copy, lenient, limits, False)


def decode_part(
    cls: type,
    data: Buffer,
    version: int,
    start: int,
    zero_copy: bool,
    lenient: bool,
    limits: Limits | None,
    whole: bool,
) -> tuple[Any, int]:
    program = find_program(cls, version)
    binding = program.binding
    body: Any = data
    if zero_copy or type(data) is not bytes:
        body = get_input(data, zero_copy)
    size = len(body)
    limits = limits or DEFAULT
    if limits.frame_bytes is not None and size > limits.frame_bytes:
        del body  # the traceback refers to this frame, see below
        raise _failure(CursorFault(errors.FRAME_TOO_LARGE, 0, size), [], program.layout)
    if not 0 <= start <= size:
        del body
        raise ValueError(
            f"start must be 0 to {size}, the length of the input (got {start})"
        )
    max_elements, max_tags = limits.array_elements, limits.tagged_fields
    if max_elements is None and max_tags is None and not zero_copy and not lenient:
        done = program.try_read(body, start, size, whole)
        if done is not None:
            return done
    cursor = Cursor(body, start, size, zero_copy, lenient)
    if max_elements is not None:
        cursor.max_elements = max_elements
    if max_tags is not None:
        cursor.max_tags = max_tags
    try:
        value = read_struct(cursor, program.layout, binding)
        if whole and cursor.at != cursor.end:
            raise CursorFault(errors.TRAILING_BYTES, cursor.at, size - cursor.at)
        return value, cursor.at
    except CursorFault as fault:
        failure = _failure(fault, cursor.path, program.layout)
    # The traceback refers to this frame. Delete the local variables, so that a stored
    # exception keeps neither the caller's buffer nor itself alive.
    del cursor, body
    try:
        raise failure
    finally:
        del failure


def get_input(data: Buffer, zero_copy: bool) -> bytes | memoryview:
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    if zero_copy:
        return view.cast("B") if view.nbytes else memoryview(b"")
    with view:
        return view.tobytes()


def _failure(
    fault: CursorFault, path: list[str | int], layout: plan.Plan
) -> errors.DecodeError:
    return errors.decode_failure(
        fault.code,
        fault.detail,
        fault.offset,
        format_path(path),
        layout.name,
        layout.version,
    )


def is_lenient(compat: str | None) -> bool:
    """Return whether the ``compat`` argument makes the cursor lenient.

    Raises ``ValueError`` if it is neither None nor ``"java"``.
    """
    if compat is None:
        return False
    if compat == "java":
        return True
    raise ValueError(f'compat must be None or "java" (got {errors.quote(compat)})')


def _plan_of(step: plan.Step) -> plan.Plan:
    assert step.plan is not None
    return step.plan
