# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The walk over a record set, noting a span for each field of each batch and record.

Whether an entry is whole and what its head says is found out by the active engine;
records are read in the order of ``_pure/record_decoder.py``, with the same checks.
What is compressed has no place in the input, and is one span.
"""

from __future__ import annotations

from .. import errors, plan, records
from .._pure.batches import wrapped
from .._pure.cursor import (
    Cursor,
    Fault,
    read_uint8,
    read_unsigned_varint,
    read_unsigned_varlong,
    require,
)
from .._pure.path import path_text
from .._pure.record_decoder import (
    check_end,
    read_classic,
    read_sized,
    text_of,
    zigzag,
)
from ..control_records import decode_control_record
from ..errors import DecodeError, KwireError
from ..limits import Limits
from ..record_classes import CODEC_MASK, LOG_APPEND_TIME
from .spans import Notes, Span, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record_classes import BatchHeader

_BATCH = (
    *(("base_offset", plan.INT64), ("batch_length", plan.INT32)),
    *(("partition_leader_epoch", plan.INT32), ("magic", plan.INT8)),
    *(("crc", plan.UINT32), ("attributes", plan.INT16)),
    *(("last_offset_delta", plan.INT32), ("base_timestamp", plan.INT64)),
    *(("max_timestamp", plan.INT64), ("producer_id", plan.INT64)),
    *(("producer_epoch", plan.INT16), ("base_sequence", plan.INT32)),
    ("records", plan.INT32),
)
"""What stands in front of the records of a batch. Source: KIP-98."""

_MESSAGE = (
    *(("offset", plan.INT64), ("message_size", plan.INT32), ("crc", plan.UINT32)),
    *(("magic", plan.INT8), ("attributes", plan.INT8), ("timestamp", plan.INT64)),
)
"""What stands in front of the key of a message; in magic 0 there is no timestamp."""

_KINDS = {
    **dict.fromkeys(("batch_length", "message_size", "records"), "structure"),
    **dict.fromkeys(("base_timestamp", "max_timestamp", "timestamp"), "timestamp"),
    "crc": "checksum",
}
_LEAST_HEADER = 2


class RecordWalk:
    """Maps record sets into a list of spans; ``root`` is the path of their field."""

    def __init__(
        self, spans: list[Span], part: str, root: str, owner: str, limits: Limits
    ) -> None:
        self.spans = spans
        self.damage: list[DecodeError] = []
        self._part = part
        self._root = root
        self._owner = owner
        self._limits = limits

    def read(self, data: bytes, at: int, end: int) -> None:
        """Read the entries between two positions (bytes) of an input."""
        index = 0
        while at < end:
            notes = Notes(
                Cursor(data, at, end), self.spans, self._part, self._root, self._owner
            )
            sound = len(self.damage)
            try:
                header = self._head(data, at, end)
            except DecodeError as error:
                self.damage.append(error)
                notes.rest(at, end, "damaged", error.reason)
                return
            if header is None:
                notes.rest(at, end, "cut")
                return
            at = notes.cursor.end = header.position + header.size
            word = "batches" if header.magic == 2 else "messages"
            notes.root = joined(self._root, f"{word}[{index}]")
            notes.owner = notes.root
            try:
                self._entry(notes, data, header, len(self.damage) == sound)
            except Fault as fault:
                path = path_text(notes.cursor.path)
                place = fault.detail, fault.offset, path
                self._damaged(notes, errors.decode_failure(fault.code, *place), at)
            except DecodeError as error:
                self._damaged(notes, error, at)
            index += 1

    def _damaged(self, notes: Notes, error: DecodeError, end: int) -> None:
        self.damage.append(error)
        notes.rest(0, end, "damaged", error.reason)

    def _head(self, data: bytes, at: int, end: int) -> BatchHeader | None:
        try:
            found: BatchHeader | None = records.read_batch_header(data, at, end=end)
        except DecodeError as error:
            try:
                found = records.read_batch_header(data, at, check_crc=False, end=end)
            except DecodeError:
                raise error from None
            # Only the checksum is wrong: the fields may show what happened to them.
            self.damage.append(error)
        return found

    def _entry(
        self, notes: Notes, data: bytes, header: BatchHeader, is_sound: bool
    ) -> None:
        fields = _BATCH if header.magic == 2 else _MESSAGE[: 5 + header.magic]
        for name, code in fields:
            notes.fixed(code, name=name, kind=_KINDS.get(name, "number"))
            changes: dict[str, object] = {}
            if name == "crc" and not is_sound:
                changes = {"kind": "damaged", "meaning": self.damage[-1].reason}
            elif name == "attributes":
                changes = {"meaning": _attributes(header)}
            elif name == "last_offset_delta":
                changes = {"meaning": f"offset {header.last_offset}"}
            if changes:
                self.spans[-1] = self.spans[-1]._replace(**changes)  # type: ignore[arg-type]
        if header.magic < 2:
            self._message(notes, data, header)
        elif header.attributes & CODEC_MASK:
            start, notes.cursor.at = notes.cursor.at, notes.cursor.end
            raw = data[start : notes.cursor.end]
            meaning = self._unpacked(data, header)
            notes.note(
                start, "RECORDS", raw, "compressed", name="records", meaning=meaning
            )
        else:
            for index in range(header.count):
                notes.cursor.path[:] = ["records", index]
                _read_record(notes, header)
            notes.cursor.path.clear()
            check_end(notes.cursor)

    def _message(self, notes: Notes, data: bytes, header: BatchHeader) -> None:
        """Read key and value of a message of magic 0 or 1."""
        for name in ("key", "value"):
            start = notes.cursor.at
            place = read_classic(notes.cursor, name)
            value = None if place is None else data[place[0] : place[1]]
            if name == "value" and header.attributes & CODEC_MASK:
                kind, meaning = "compressed", self._unpacked(data, header)
            else:
                kind, meaning = "bytes", None
            notes.note(
                *(start, "BYTES", value, kind), name=name, meaning=meaning, prefix=4
            )
        check_end(notes.cursor)

    def _unpacked(self, data: bytes, header: BatchHeader) -> str:
        """Say what is in a compressed entry; raise what reading it raises."""
        try:
            count = len(records.read_records(data, header, limits=self._limits))
            size = len(records.decompressed(data, header, self._limits))
        except ImportError as error:
            return f"{header.compression}; {error}"
        plural = "" if count == 1 else "s"
        return f"{header.compression}: {count} record{plural}, {size} bytes unpacked"


def _attributes(header: BatchHeader) -> str:
    words = [header.compression]
    if header.timestamp_type == 1:
        words.append("log append time")
    if header.is_transactional:
        words.append("transactional")
    if header.is_control:
        words.append("control")
    if header.delete_horizon is not None:
        words.append("delete horizon")
    return ", ".join(words)


def _read_record(notes: Notes, header: BatchHeader) -> None:
    """Read one record of magic 2, which the cursor's end may lie behind."""
    cursor = notes.cursor
    before, notes.owner = notes.owner, notes.path()
    end = cursor.end
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if length < 0:
        raise Fault(errors.BAD_LENGTH, start, length)
    require(cursor, length)
    notes.note(start, "VARINT", length, "structure", name="length", meaning="bytes")
    cursor.end = cursor.at + length
    start = cursor.at
    attributes = read_uint8(cursor)
    notes.note(start, "INT8", attributes, "number", name="attributes")
    start = cursor.at
    delta = zigzag(read_unsigned_varlong(cursor))
    time = header.base_timestamp + delta
    if header.attributes & LOG_APPEND_TIME:
        time = header.max_timestamp
    notes.note(
        *(start, "VARLONG", delta, "timestamp"),
        name="timestamp_delta",
        meaning=wrapped(time),
    )
    start = cursor.at
    delta = zigzag(read_unsigned_varint(cursor))
    notes.note(
        *(start, "VARINT", delta, "number"),
        name="offset_delta",
        meaning=f"offset {wrapped(header.base_offset + delta)}",
    )
    cursor.path.append("key")
    key = _sized(notes)
    if header.is_control:
        place = len(notes.spans) - 1
    cursor.path[-1] = "value"
    value = _sized(notes)
    if header.is_control:
        meaning = _control_type(key, value)
        notes.spans[place] = notes.spans[place]._replace(meaning=meaning)
    cursor.path[-1] = "headers"
    _read_headers(notes)
    cursor.path.pop()
    check_end(cursor)
    cursor.end = end
    notes.owner = before


def _read_headers(notes: Notes) -> None:
    cursor = notes.cursor
    start = cursor.at
    count = zigzag(read_unsigned_varint(cursor))
    if not 0 <= count <= (cursor.end - cursor.at) // _LEAST_HEADER:
        raise Fault(errors.BAD_COUNT, start, count)
    notes.note(start, "VARINT", count, "structure")
    for index in range(count):
        cursor.path += (index, "key")
        start = cursor.at
        name = read_sized(cursor)
        if name is None:
            raise Fault(errors.UNEXPECTED_NULL, start)
        text = text_of(name, cursor.at, False)
        prefix = cursor.at - start - len(name)
        notes.note(start, "STRING", text, "text", prefix=prefix)
        cursor.path[-1] = "value"
        _sized(notes)
        del cursor.path[-2:]


def _sized(notes: Notes) -> bytes | None:
    start = notes.cursor.at
    value = read_sized(notes.cursor)
    prefix = notes.cursor.at - start - len(value or b"")
    notes.note(start, "BYTES", value, "bytes", prefix=prefix)
    return value


def _control_type(key: bytes | None, value: bytes | None) -> str | None:
    try:
        return decode_control_record(key, value).type_name
    except KwireError:
        return None
