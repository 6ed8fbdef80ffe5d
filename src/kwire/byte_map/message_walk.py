# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The walk of a message's plan over its bytes, noting a span for each value.

It reads in the order of ``_pure/decoder.py``, with the same primitives and the same
checks, and so stops at the same fault. Frames and headers are read here as well; the
batches in records fields are the business of ``record_walk.py``.
"""

from __future__ import annotations

from contextlib import suppress

from .. import errors, framing, plan
from .._backend import engine
from .._pure.cursor import Cursor, Fault, read_unsigned_varint, require
from .._pure.path import path_text
from .._pure.primitives import read_bytes, read_count, read_fixed, read_string
from .._pure.record_decoder import check_end
from ..errors import KwireError
from ..limits import DEFAULT, Limits
from ..messages import RequestHeader, ResponseHeader, by_key
from ..protocol_guide import type_name
from .record_walk import RecordWalk
from .spans import KIND_OF, ByteMap, Notes, varint_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..errors import DecodeError
    from ..messages import Message, Response

_UNKNOWN = "unknown_tagged_fields"
_UNALIGNED = "unaligned_records"
"""The one field whose records may begin and end within a batch. Source: KIP-630."""


class MessageWalk(Notes):
    """Reads a message, and what stands around it, between two positions of an input."""

    def __init__(self, data: bytes, start: int, end: int | None, limits: Limits):
        end = len(data) if end is None else end
        if not 0 <= start <= end <= len(data):
            raise ValueError(f"start is a position in the input, not {start}")
        super().__init__(Cursor(data, start, end), [], "", "", "")
        self._data = data
        self._start = start
        self._end = end
        self._limits = limits or DEFAULT
        self._damage: list[DecodeError] = []
        self._subject: tuple[str, int | None] = "", None
        self._missing = 0

    def result(self, read: Callable[[], None]) -> ByteMap:
        """Read, and make the map of what came of it."""
        error: KwireError | None = None
        try:
            read()
        except Fault as fault:
            place = fault.detail, fault.offset, path_text(self.cursor.path)
            error = errors.decode_failure(fault.code, *place, *self._subject)
        except KwireError as failure:
            error = failure
        self.rest(self._start, self._end, "unread", getattr(error, "reason", ""))
        return ByteMap(tuple(self.spans), error, tuple(self._damage))

    def frame_size(self) -> None:
        """Read the size of a frame, which says where the frame ends."""
        cursor = self.cursor
        self.part = "frame"
        self._subject = "frame", None
        cursor.path.append("size")
        size = self.fixed(plan.INT32, kind="structure")
        if size < 0:
            raise Fault(errors.BAD_LENGTH, self._start, size)
        cursor.path.pop()
        self._start = cursor.at
        self._missing = max(size - (cursor.end - cursor.at), 0)
        cursor.end = min(cursor.at + size, cursor.end)

    def end_of_frame(self) -> None:
        """Check that the frame is as long as it says, and that nothing follows it."""
        self._subject = "frame", None
        if self._missing:
            self.cursor.path.append("size")
            raise Fault(errors.TRUNCATED, self.cursor.end, self._missing)
        self.cursor.end = self._end
        check_end(self.cursor)

    def request_header(self) -> plan.Plan:
        """Read a request's header; return the plan of the body that it announces."""
        binding = engine.binding_of(RequestHeader)
        at = self.cursor.at
        head = self._data[at : min(at + 4, self.cursor.end)]
        if len(head) < 4:
            self._message(binding.plan(0))
        api_key = int.from_bytes(head[:2], "big", signed=True)
        version = int.from_bytes(head[2:], "big", signed=True)
        try:
            cls = by_key(api_key, "request")
        except KeyError:
            # All headers begin with what the oldest one has, if there is so much.
            with suppress(Fault):
                self._message(binding.plan(0))
            framing.decode_request(self._data[at : self.cursor.end])
            raise
        message = engine.binding_of(cls).message
        self._message(binding.plan(plan.request_header_version(message, version)))
        return engine.binding_of(cls).plan(version)

    def response_header(self, cls: type[Response], version: int) -> None:
        """Read the header of a response of a version."""
        message = engine.binding_of(cls).message
        header_version = plan.response_header_version(message, version)
        self._message(engine.binding_of(ResponseHeader).plan(header_version))

    def version_prefix(self, cls: type[Message]) -> int:
        """Read the version in front of a message."""
        self.part = cls.__name__
        self._subject = cls.__name__, None
        self.cursor.path.append("version")
        version = self.fixed(plan.INT16, kind="structure")
        self.cursor.path.pop()
        return int(version)

    def appended(self) -> None:
        """Pass over what a version newer than all known ones has appended."""
        start, self.cursor.at = self.cursor.at, self.cursor.end
        if start < self.cursor.end:
            raw = self._data[start : self.cursor.end]
            self.note(start, "", raw, "unknown", meaning="of a newer version")

    def message(self, layout: plan.Plan, whole: bool = True) -> None:
        """Read the message that takes the rest of the bytes, ``whole`` or in part."""
        self._message(layout)
        if whole:
            check_end(self.cursor)

    def _message(self, layout: plan.Plan) -> None:
        self.part = f"{layout.name} v{layout.version}"
        self._subject = layout.name, layout.version
        size = self.cursor.end - self._start
        ceiling = self._limits.frame_bytes
        if ceiling is not None and size > ceiling:
            raise Fault(errors.FRAME_TOO_LARGE, self._start, size)
        self._struct(layout)

    def _struct(self, layout: plan.Plan) -> None:
        before, self.owner = self.owner, self.path()
        for step in layout.steps:
            if step.place == plan.PRESENT:
                self.cursor.path.append(step.attribute)
                self._field(step)
                self.cursor.path.pop()
        if layout.flexible:
            self._tagged_fields(layout)
        self.owner = before

    def _field(self, step: plan.Step) -> None:
        if step.is_array:
            self._array(step)
        elif step.plan is None:
            self._value(step)
        elif not step.nullable or self._marker():
            self._struct(step.plan)

    def _array(self, step: plan.Step) -> None:
        cursor = self.cursor
        start = cursor.at
        count = read_count(cursor, step.compact, step.nullable, step.element_least)
        self.note(start, type_name(step), None if count < 0 else count, "structure")
        for index in range(count):
            cursor.path.append(index)
            if step.plan is None:
                self._value(step, is_element=True)
            else:
                self._struct(step.plan)
            cursor.path.pop()

    def _value(self, step: plan.Step, is_element: bool = False) -> None:
        if step.code <= plan.UUID:
            self.fixed(step.code)
            return
        start = self.cursor.at
        nullable = step.nullable and not is_element
        read: Any = read_string if step.code == plan.STRING else read_bytes
        value = read(self.cursor, step.compact, nullable)
        prefix = 2 if step.code == plan.STRING else 4
        if step.compact:
            prefix = varint_size(self._data, start)
        kind = KIND_OF[step.code]
        if step.code == plan.RECORDS and value and step.attribute != _UNALIGNED:
            self._records(step, start, start + prefix)
        else:
            self.note(start, type_name(step, is_element), value, kind, prefix=prefix)

    def _records(self, step: plan.Step, start: int, content: int) -> None:
        cursor = self.cursor
        end, cursor.at = cursor.at, content
        self.note(start, type_name(step), end - content, "structure", meaning="bytes")
        inner = RecordWalk(self.spans, self.part, self.path(), self.owner, self._limits)
        inner.read(self._data, content, end)
        self._damage += inner.damage
        cursor.at = end

    def _marker(self) -> bool:
        """Read the marker of a nullable struct in line: INT8, 1 present, -1 null."""
        start = self.cursor.at
        marker: Any = read_fixed(self.cursor, plan.INT8)
        if marker not in (1, -1):
            raise Fault(errors.BAD_MARKER, start, marker)
        meaning = "present" if marker == 1 else "null"
        self.note(start, "INT8", marker, "structure", meaning=meaning)
        return bool(marker == 1)

    def _tagged_marker(self) -> bool:
        """Read the marker of a nullable struct with a tag: UNSIGNED_VARINT, 1 or 0."""
        start = self.cursor.at
        marker = read_unsigned_varint(self.cursor)
        if marker > 1:
            raise Fault(errors.BAD_MARKER, start, marker)
        meaning = "present" if marker else "null"
        self.note(start, "UNSIGNED_VARINT", marker, "structure", meaning=meaning)
        return marker == 1

    def _tagged_fields(self, layout: plan.Plan) -> None:
        """Read a tag section; each field is a tag, a size and a content."""
        cursor = self.cursor
        start = cursor.at
        cursor.path.append(_UNKNOWN)
        count = read_unsigned_varint(cursor)
        if count > (cursor.end - cursor.at) // 2:
            raise Fault(errors.BAD_COUNT, start, count)
        # To errors the section is the attribute; this is the count of all its fields.
        cursor.path[-1] = "_tagged_fields"
        self.note(start, "UNSIGNED_VARINT", count, "structure")
        known = {step.tag: step for step in layout.tagged}
        previous = -1
        unknown = 0
        for _ in range(count):
            cursor.path[-1] = _UNKNOWN
            start = cursor.at
            tag = read_unsigned_varint(cursor)
            if tag <= previous:
                raise Fault(errors.TAG_OUT_OF_ORDER, start, tag)
            if tag in layout.invalid_tags:
                raise Fault(errors.TAG_NOT_IN_VERSION, start, tag)
            previous = tag
            middle = cursor.at
            size = read_unsigned_varint(cursor)
            require(cursor, size)
            if tag in known:
                cursor.path[-1] = known[tag].attribute
                self._tag(start, middle, tag, size)
                self._tagged_field(known[tag], size)
                continue
            self._tag(start, middle, tag, size, f"[{unknown}]")
            start = cursor.at
            cursor.at += size
            if size:
                raw = self._data[start : cursor.at]
                self.note(
                    *(start, "", raw, "unknown"),
                    name=f"[{unknown}]",
                    meaning=f"tag {tag}",
                )
            unknown += 1
        cursor.path.pop()

    def _tag(
        self, start: int, middle: int, tag: int, size: int, name: str = ""
    ) -> None:
        """Note a tag, which ends at ``middle``, and the size behind it."""
        end, self.cursor.at = self.cursor.at, middle
        self.note(start, "UNSIGNED_VARINT", tag, "structure", name=name, meaning="tag")
        self.cursor.at = end
        self.note(
            middle, "UNSIGNED_VARINT", size, "structure", name=name, meaning="size"
        )

    def _tagged_field(self, step: plan.Step, size: int) -> None:
        cursor = self.cursor
        end, cursor.end = cursor.end, cursor.at + size
        if step.plan is None or step.is_array or not step.nullable:
            self._field(step)
        elif self._tagged_marker():
            self._struct(step.plan)
        check_end(cursor)
        cursor.end = end
