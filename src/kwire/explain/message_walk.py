# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a message according to its plan and adds a span for every value.

Fields are read and checked in the same order as in ``_engine/pure/decoder.py``, so that
the error in a map is identical to the error that decoding raises. This module also
reads frames and headers. ``record_walk.py`` reads the batches in records fields.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import errors
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..errors import DecodeError, KwireError
from ..messages import RequestHeader, ResponseHeader, framing
from ..schema import plan
from .cursor import MapCursor
from .guide import type_name
from .record_walk import RecordWalk
from .spans import KIND_OF, ByteMap, SpanNotes, measure_varint

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..messages import Message, Response
    from ..messages.api_registry import ApiRegistry

_UNKNOWN = "unknown_tagged_fields"
_UNALIGNED = "unaligned_records"
"""The only field whose records may start and end inside a batch. Source: KIP-630."""


class MessageWalk(SpanNotes):
    """Reads a message, optionally with its frame, between two input positions.

    The constructor raises ``ValueError`` if ``start`` or ``end`` is outside of
    ``data``. All read methods raise ``DecodeError`` or ``UnsupportedVersion``, which
    ``read_map`` catches.
    """

    def __init__(self, data: bytes, start: int, end: int | None, limits: Limits):
        end = len(data) if end is None else end
        if not 0 <= start <= end <= len(data):
            raise ValueError(
                f"start must be 0 to {end}, the end of the input (got {start})"
            )
        super().__init__(MapCursor(data, start, end), [], "", "", "")
        self._data = data
        self._start = start
        self._end = end
        self._limits = limits or DEFAULT
        self._damage: list[DecodeError] = []
        self._missing = 0

    def read_map(self, read: Callable[[], None]) -> ByteMap:
        """Call ``read``, and return the byte map with its spans and its error."""
        error: KwireError | None = None
        try:
            read()
        except KwireError as failure:
            error = failure
        self.note_rest(self._start, self._end, "unread", getattr(error, "reason", ""))
        return ByteMap(tuple(self.spans), error, tuple(self._damage))

    def read_frame_size(self) -> None:
        """Read the frame size. Afterwards, the cursor ends at the end of the frame."""
        cursor = self.cursor
        self.part = "frame"
        self.cursor.subject = "frame", None
        cursor.path.append("size")
        size = self.read_fixed(plan.INT32, kind="structure")
        if size < 0:
            raise cursor.failure(errors.BAD_LENGTH, self._start, size)
        cursor.path.pop()
        self._start = cursor.at
        self._missing = max(size - (cursor.end - cursor.at), 0)
        cursor.end = min(cursor.at + size, cursor.end)

    def check_end_of_frame(self) -> None:
        """Check that the frame has the specified size and that no bytes follow."""
        self.cursor.subject = "frame", None
        if self._missing:
            self.cursor.path.append("size")
            raise self.cursor.failure(errors.TRUNCATED, self.cursor.end, self._missing)
        self.cursor.end = self._end
        self.cursor.check_end()

    def read_request_header(self, registry: ApiRegistry) -> plan.Plan:
        """Read a request header. Return the plan for the body that follows."""
        binding = engine.binding_of(RequestHeader)
        position = self.cursor.at
        first_bytes = self._data[position : min(position + 4, self.cursor.end)]
        if len(first_bytes) < 4:
            self._read_message(binding.plan(0))
        api_key = int.from_bytes(first_bytes[:2], "big", signed=True)
        version = int.from_bytes(first_bytes[2:], "big", signed=True)
        try:
            cls = registry.by_key(api_key, "request")
        except KeyError:
            # If the API key is unknown, read the version 0 fields, because every header
            # version starts with these fields. The input may be shorter than the
            # fields.
            with suppress(DecodeError):
                self._read_message(binding.plan(0))
            framing.decode_request(self._data[position : self.cursor.end])
            raise
        message = engine.binding_of(cls).message
        self._read_message(binding.plan(plan.request_header_version(message, version)))
        return engine.binding_of(cls).plan(version)

    def read_response_header(self, cls: type[Response], version: int) -> None:
        """Read the response header that this version requires."""
        message = engine.binding_of(cls).message
        header_version = plan.response_header_version(message, version)
        self._read_message(engine.binding_of(ResponseHeader).plan(header_version))

    def read_version_prefix(self, cls: type[Message]) -> int:
        """Decode the version prefix that precedes a message."""
        self.part = cls.__name__
        self.cursor.subject = cls.__name__, None
        self.cursor.path.append("version")
        version = self.read_fixed(plan.INT16, kind="structure")
        self.cursor.path.pop()
        return int(version)

    def skip_appended(self) -> None:
        """Skip additional fields, which an unsupported newer version has appended."""
        start, self.cursor.at = self.cursor.at, self.cursor.end
        if start < self.cursor.end:
            raw = self._data[start : self.cursor.end]
            self.note(start, "", raw, "unknown", meaning="of a newer version")

    def read_message(self, layout: plan.Plan, whole: bool = True) -> None:
        """Read a message. If ``whole`` is true, additional bytes are an error."""
        self._read_message(layout)
        if whole:
            self.cursor.check_end()

    def _read_message(self, layout: plan.Plan) -> None:
        self.part = f"{layout.name} v{layout.version}"
        self.cursor.subject = layout.name, layout.version
        size = self.cursor.end - self._start
        limit = self._limits.frame_bytes
        if limit is not None and size > limit:
            raise self.cursor.failure(errors.FRAME_TOO_LARGE, self._start, size)
        self._read_struct(layout)

    def _read_struct(self, layout: plan.Plan) -> None:
        outer_owner, self.owner = self.owner, self.format_path()
        for step in layout.steps:
            if step.place == plan.PRESENT:
                self.cursor.path.append(step.attribute)
                self._read_field(step)
                self.cursor.path.pop()
        if layout.flexible:
            self._read_tagged_fields(layout)
        self.owner = outer_owner

    def _read_field(self, step: plan.Step) -> None:
        if step.is_array:
            self._read_array(step)
        elif step.plan is None:
            self._read_value(step)
        elif not step.nullable or self._read_marker():
            self._read_struct(step.plan)

    def _read_array(self, step: plan.Step) -> None:
        cursor = self.cursor
        start = cursor.at
        count = cursor.read_count(step.compact, step.nullable, step.element_least)
        limit = self._limits.array_elements
        if limit is not None and count > limit:
            raise cursor.failure(errors.TOO_MANY_ELEMENTS, start, count)
        self.note(start, type_name(step), None if count < 0 else count, "structure")
        for index in range(count):
            cursor.path.append(index)
            if step.plan is None:
                self._read_value(step, is_element=True)
            else:
                self._read_struct(step.plan)
            cursor.path.pop()

    def _read_value(self, step: plan.Step, is_element: bool = False) -> None:
        if step.code <= plan.UUID:
            self.read_fixed(step.code)
            return
        start = self.cursor.at
        is_text = step.code == plan.STRING
        read: Any = self.cursor.read_string if is_text else self.cursor.read_bytes
        value = read(step.compact, step.nullable and not is_element)
        prefix = 2 if is_text else 4
        if step.compact:
            prefix = measure_varint(self._data, start)
        kind = KIND_OF[step.code]
        if step.code == plan.RECORDS and value and step.attribute != _UNALIGNED:
            self._read_records(step, start, start + prefix)
        else:
            self.note(start, type_name(step, is_element), value, kind, prefix=prefix)

    def _read_records(self, step: plan.Step, start: int, content: int) -> None:
        cursor = self.cursor
        end, cursor.at = cursor.at, content
        self.note(start, type_name(step), end - content, "structure", meaning="bytes")
        location = self.part, self.format_path(), self.owner
        record_walk = RecordWalk(self.spans, *location, self._limits)
        record_walk.read(self._data, content, end)
        self._damage += record_walk.damage
        cursor.at = end

    def _read_marker(self) -> bool:
        """Read the INT8 marker of a nullable inline struct.

        Returns True if the struct is present (1), and False if it is null (-1).
        """
        start = self.cursor.at
        marker = self.cursor.read_fixed(plan.INT8)
        if marker not in (1, -1):
            raise self.cursor.failure(errors.BAD_MARKER, start, marker)
        meaning = "present" if marker == 1 else "null"
        self.note(start, "INT8", marker, "structure", meaning=meaning)
        return bool(marker == 1)

    def _read_tagged_marker(self) -> bool:
        """Read the UNSIGNED_VARINT marker of a nullable tagged struct.

        Returns True if the struct is present (1), and False if it is null (0).
        """
        start = self.cursor.at
        marker = self.cursor.read_unsigned_varint()
        if marker > 1:
            raise self.cursor.failure(errors.BAD_MARKER, start, marker)
        meaning = "present" if marker else "null"
        self.note(start, "UNSIGNED_VARINT", marker, "structure", meaning=meaning)
        return marker == 1

    def _read_tagged_fields(self, layout: plan.Plan) -> None:
        """Read a tag section: a count, then all fields with tag, size and content."""
        cursor = self.cursor
        start = cursor.at
        cursor.path.append(_UNKNOWN)
        count = cursor.read_unsigned_varint()
        if count > (cursor.end - cursor.at) // 2:
            raise cursor.failure(errors.BAD_COUNT, start, count)
        limit = self._limits.tagged_fields
        if limit is not None and count > limit:
            raise cursor.failure(errors.TOO_MANY_TAGS, start, count)
        # Errors use the attribute name for this section, but the count includes the
        # known tagged fields.
        cursor.path[-1] = "_tagged_fields"
        self.note(start, "UNSIGNED_VARINT", count, "structure")
        steps_by_tag = {step.tag: step for step in layout.tagged}
        previous = -1
        unknown_count = 0
        for _ in range(count):
            cursor.path[-1] = _UNKNOWN
            start = cursor.at
            tag = cursor.read_unsigned_varint()
            if tag <= previous:
                raise cursor.failure(errors.TAG_OUT_OF_ORDER, start, tag)
            if tag in layout.invalid_tags:
                raise cursor.failure(errors.TAG_NOT_IN_VERSION, start, tag)
            previous = tag
            size_start = cursor.at
            size = cursor.read_unsigned_varint()
            cursor.require(size)
            if tag in steps_by_tag:
                cursor.path[-1] = steps_by_tag[tag].attribute
                self._note_tag(start, size_start, tag, size)
                self._read_tagged_field(steps_by_tag[tag], size)
                continue
            self._note_tag(start, size_start, tag, size, f"[{unknown_count}]")
            start = cursor.at
            cursor.at += size
            if size:
                raw = self._data[start : cursor.at]
                self.note(
                    start,
                    "",
                    raw,
                    "unknown",
                    name=f"[{unknown_count}]",
                    meaning=f"tag {tag}",
                )
            unknown_count += 1
        cursor.path.pop()

    def _note_tag(
        self, start: int, middle: int, tag: int, size: int, name: str = ""
    ) -> None:
        """Add spans for a tag, which ends at ``middle``, and the following size."""
        end, self.cursor.at = self.cursor.at, middle
        self.note(start, "UNSIGNED_VARINT", tag, "structure", name=name, meaning="tag")
        self.cursor.at = end
        self.note(
            middle, "UNSIGNED_VARINT", size, "structure", name=name, meaning="size"
        )

    def _read_tagged_field(self, step: plan.Step, size: int) -> None:
        cursor = self.cursor
        end, cursor.end = cursor.end, cursor.at + size
        if step.plan is None or step.is_array or not step.nullable:
            self._read_field(step)
        elif self._read_tagged_marker():
            self._read_struct(step.plan)
        cursor.check_end()
        cursor.end = end
