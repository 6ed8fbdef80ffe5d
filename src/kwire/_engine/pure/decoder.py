# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes messages by walking the plan. These functions define what is correct.

They read fields, arrays, structs and tag sections from a ``Cursor`` in the order of the
wire and stop at the first fault. A size is checked before its content is read, and the
content before memory is allocated for it. ``decode`` calls the straight-line code of
``emitter.py`` first. It walks the plan where that code gives up, to find the fault and
its offset, and where it does not apply (``zero_copy``, ``compat``, limits of counts).

Twin: ``fast/decoder.pyx``. Differs from its twin in: faults as exceptions, a path
that is kept while walking, and the call of the straight-line code.
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

    Fields that the version lacks get their default.
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
    """Read one field in line, which means outside the tag section."""
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
    """Read an array into a tuple, or None for null.

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
    """Read the marker of a nullable struct in line: INT8, 1 present, -1 null.

    Another byte is refused; a lenient cursor takes the sign of it.
    """
    start = cursor.at
    marker = read_fixed(cursor, plan.INT8)
    assert isinstance(marker, int)
    if marker != 1 and marker != -1 and not cursor.lenient:
        raise CursorFault(errors.BAD_MARKER, start, marker)
    return marker >= 0


def read_tagged_marker(cursor: Cursor) -> bool:
    """Read the marker of a nullable struct with a tag: UNSIGNED_VARINT, 1 or 0.

    Another value is refused at its first byte; a lenient cursor takes the sign of it.
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
    """Read a tag section; fields of unknown tags are kept as bytes.

    Shape: UNSIGNED_VARINT count, then for each tag, size (bytes) and content. Tags
    ascend, and a known field uses its size exactly; a lenient cursor checks neither.
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
                # Kafka ignores the size of a known tag.
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
    """Read the content of one known tag, which is ``size`` bytes long."""
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
    """Decode one message body: no size, no header.

    ``data`` is any contiguous bytes-like object, and all of it is used. ``zero_copy``
    gives memoryviews of ``data`` for bytes and records fields. ``compat="java"`` reads
    as leniently as Kafka's own classes: it ignores trailing bytes, unsorted tags, bad
    UTF-8 and spare varint bits. ``limits`` bounds the size of the input, the elements
    of each array and the tagged fields of each section.
    Shape: the fields in schema order, each struct closed by its tag section in
    flexible versions. Time and memory are linear in the input.
    Raises ``DecodeError`` with the offset in ``data`` (bytes) and the field's path, or
    ``UnsupportedVersion``. Source: ``ApiMessage.read`` of Kafka's generated classes.
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
    """Decode one message at byte ``start``; return it and the offset of its end.

    As ``decode``, but bytes may follow the message.
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
        del body  # as below
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
    # The traceback of the exception refers to this frame, which must not refer to the
    # caller's buffer, nor to the exception itself.
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
    """Whether the ``compat=`` argument makes the cursor lenient."""
    if compat is None:
        return False
    if compat == "java":
        return True
    raise ValueError(f'compat must be None or "java" (got {errors.quote(compat)})')


def _plan_of(step: plan.Step) -> plan.Plan:
    assert step.plan is not None
    return step.plan
