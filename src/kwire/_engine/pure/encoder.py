# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes messages by following the plan. These functions define the correct result.

They write fields, arrays, structs and tag sections to a ``Writer`` in wire order and
stop at the first value that cannot be encoded. ``encode`` first calls the generated
code of ``emitter.py``. The functions here run only if that code fails, to find the
value that cannot be encoded.

Twin: ``fast/encoder.pyx``. Differs from its twin in: errors are exceptions, the path is
kept up to date while writing, and generated code is called first.
"""

from __future__ import annotations

from ... import errors
from ...schema import plan
from .path import format_path
from .primitives import (
    LARGEST,
    check_null,
    write_bytes,
    write_count,
    write_fixed,
    write_length,
    write_string,
)
from .program import find_program
from .writer import ValueFault, Writer, write_unsigned_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TAGS = "unknown_tagged_fields"


def write_struct(
    writer: Writer, layout: plan.Plan, value: Any, binding: plan.Binding
) -> None:
    """Write a struct: its fields in schema order, then its tag section.

    A field that the version does not have must be equal to its default, unless the
    schema marks it as ignorable.

    Source: section ``ignorable`` of Kafka's message language.
    """
    cls: Any = binding.classes[layout.struct.name]
    if type(value) is not cls:
        code = errors.NULL_NOT_ALLOWED if value is None else errors.WRONG_TYPE
        raise ValueFault(code, value)
    defaults = binding.defaults[layout.struct.name]
    for step in layout.steps:
        field = getattr(value, step.attribute)
        writer.path.append(step.attribute)
        if step.place == plan.PRESENT:
            write_field(writer, step, field, binding)
        elif step.place == plan.ABSENT and not is_default(field, defaults[step.slot]):
            raise ValueFault(errors.NOT_IN_VERSION, field)
        writer.path.pop()
    if layout.flexible:
        write_tagged_fields(writer, layout, value, binding)
    elif value.unknown_tagged_fields:
        writer.path.append(_TAGS)
        raise ValueFault(errors.TAGS_NOT_IN_VERSION, value.unknown_tagged_fields)


def is_default(value: object, default: object) -> bool:
    """Return whether a value is identical or equal to the default of the field.

    The result is False if the comparison raises an exception. ``MemoryError`` is not
    suppressed.
    """
    if value is default:
        return True
    try:
        return bool(value == default)
    except MemoryError:
        raise
    except Exception:
        return False


def write_field(
    writer: Writer, step: plan.Step, value: object, binding: plan.Binding
) -> None:
    """Write one field that is not in the tag section."""
    try:
        if step.is_array:
            write_array(writer, step, value, binding)
        elif step.code <= plan.UUID:
            write_fixed(writer, step.code, value)
        elif step.code == plan.STRING:
            write_string(writer, value, step.compact, step.nullable)
        elif step.code != plan.STRUCT:
            write_bytes(writer, value, step.compact, step.nullable)
        elif step.nullable and value is None:
            writer.out.append(0xFF)
        else:
            if step.nullable:
                writer.out.append(1)
            write_struct(writer, _plan_of(step), value, binding)
    except ValueFault as fault:
        fault.expected = fault.expected or plan.describe_expected(step, False)
        raise


def write_array(
    writer: Writer, step: plan.Step, value: Any, binding: plan.Binding
) -> None:
    """Write an array: its count, then its elements."""
    if value is None:
        check_null(step.nullable)
        write_length(writer, -1, step.compact, 4)
        return
    if type(value) is not tuple:
        raise ValueFault(errors.WRONG_TYPE, value)
    write_count(writer, len(value), step.compact)
    for index, element in enumerate(value):
        writer.path.append(index)
        try:
            if step.code <= plan.UUID:
                write_fixed(writer, step.code, element)
            elif step.code == plan.STRING:
                write_string(writer, element, step.compact, False)
            elif step.code != plan.STRUCT:
                write_bytes(writer, element, step.compact, False)
            else:
                write_struct(writer, _plan_of(step), element, binding)
        except ValueFault as fault:
            fault.expected = fault.expected or plan.describe_expected(step, True)
            raise
        writer.path.pop()


def write_tagged_fields(
    writer: Writer, layout: plan.Plan, value: Any, binding: plan.Binding
) -> None:
    """Write a tag section in ascending tag order.

    It contains the known fields that differ from their defaults, and the unknown fields
    that the struct has kept from decoding.

    Source: KIP-482.
    """
    writer.path.append(_TAGS)
    unknown = value.unknown_tagged_fields
    check_unknown_tags(unknown, layout)
    defaults = binding.defaults[layout.struct.name]
    known = [
        step
        for step in layout.tagged
        if not is_default(getattr(value, step.attribute), defaults[step.slot])
    ]
    write_unsigned_varint(writer, len(known) + len(unknown))
    for step in known:
        writer.path[-1] = step.attribute
        write_tagged_field(writer, step, getattr(value, step.attribute), binding)
        writer.path[-1] = _TAGS
    # Known tags are contiguous from 0, so all unknown tags are greater.
    for pair in unknown:
        write_unknown_tag(writer, pair)
    writer.path.pop()


def check_unknown_tags(unknown: Any, layout: plan.Plan) -> None:
    """Check that the unknown tagged fields are (tag, bytes) pairs in ascending order.

    A tag that the schema defines, for this or another version, is an error.
    """
    if type(unknown) is not tuple:
        raise ValueFault(errors.TAGS_NOT_PAIRS, unknown)
    previous = -1
    for pair in unknown:
        if (
            type(pair) is not tuple
            or len(pair) != 2
            or type(pair[0]) is not int
            or type(pair[1]) is not bytes
        ):
            raise ValueFault(errors.TAGS_NOT_PAIRS, unknown)
        tag = pair[0]
        if (
            not previous < tag <= 0xFFFFFFFF
            or tag in layout.invalid_tags
            or any(step.tag == tag for step in layout.tagged)
        ):
            raise ValueFault(errors.TAGS_OUT_OF_ORDER, unknown)
        previous = tag


def write_unknown_tag(writer: Writer, pair: tuple[int, bytes]) -> None:
    """Write one unknown tag with the bytes that decoding has kept."""
    if len(pair[1]) > LARGEST:
        raise ValueFault(errors.TOO_LARGE, pair[1])
    write_unsigned_varint(writer, pair[0])
    write_unsigned_varint(writer, len(pair[1]))
    writer.out += pair[1]


def write_tagged_field(
    writer: Writer, step: plan.Step, value: object, binding: plan.Binding
) -> None:
    """Write one known tagged field: tag, size in bytes, and content."""
    content = Writer()
    content.path = writer.path
    if step.plan is not None and not step.is_array and step.nullable:
        try:
            write_unsigned_varint(content, value is not None)
            if value is not None:
                write_struct(content, step.plan, value, binding)
        except ValueFault as fault:
            fault.expected = fault.expected or plan.describe_expected(step, False)
            raise
    else:
        write_field(content, step, value, binding)
    if len(content.out) > LARGEST:
        raise ValueFault(errors.TOO_LARGE, value)
    write_unsigned_varint(writer, step.tag)
    write_unsigned_varint(writer, len(content.out))
    writer.out += content.out


def encode(message: Any, version: int) -> bytes:
    """Encode a message body, without frame size and header.

    Shape: the fields in schema order. In flexible versions, each struct ends with its
    tag section.

    Raises ``EncodeError`` with the path of the first value that cannot be encoded.
    Raises ``UnsupportedVersion`` if the message does not have this version.

    Source: ``ApiMessage.write`` of Kafka's generated classes.
    """
    program = find_program(type(message), version)
    done = program.try_write(message)
    if done is not None:
        return done
    writer = Writer()
    try:
        write_struct(writer, program.layout, message, program.binding)
    except ValueFault as fault:
        raise errors.encode_failure(
            fault.code,
            fault.expected,
            fault.value,
            format_path(writer.path),
            program.layout.name,
            program.layout.version,
        ) from None
    return bytes(writer.out)


def _plan_of(step: plan.Step) -> plan.Plan:
    assert step.plan is not None
    return step.plan
