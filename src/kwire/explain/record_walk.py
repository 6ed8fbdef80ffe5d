# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a record set and adds a span for every field in every batch and record.

    batch (magic 2)                      message (magic 0 and 1)
     0 base_offset            INT64       0 offset        INT64
     8 batch_length           INT32       8 message_size  INT32
    12 partition_leader_epoch INT32      12 crc           UINT32
    16 magic                  INT8       16 magic         INT8
    17 crc                    UINT32     17 attributes    INT8
    21 attributes             INT16      18 timestamp     INT64, magic 1 only
    23 last_offset_delta      INT32         key           INT32 size, then bytes
    27 base_timestamp         INT64         value         INT32 size, then bytes
    35 max_timestamp          INT64
    43 producer_id            INT64
    51 producer_epoch         INT16
    53 base_sequence          INT32
    57 records                INT32 count, then records

The active engine reads and checks the batch headers. This module reads the records,
with the same checks as ``_engine/pure/record_decoder.py`` and in the same order.
Compressed records do not have individual positions in the input, so they have one
common span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import errors, records
from .._limits import Limits
from ..errors import DecodeError, KwireError
from ..messages.control_records import decode_control_record
from ..records import batches
from ..schema import plan
from ..schema.batch_layout import CODEC_MASK, LOG_APPEND_TIME
from .cursor import MapCursor, join_path
from .spans import Span, SpanNotes

if TYPE_CHECKING:
    from ..records.classes import BatchHeader

_BATCH = (
    ("base_offset", plan.INT64),
    ("batch_length", plan.INT32),
    ("partition_leader_epoch", plan.INT32),
    ("magic", plan.INT8),
    ("crc", plan.UINT32),
    ("attributes", plan.INT16),
    ("last_offset_delta", plan.INT32),
    ("base_timestamp", plan.INT64),
    ("max_timestamp", plan.INT64),
    ("producer_id", plan.INT64),
    ("producer_epoch", plan.INT16),
    ("base_sequence", plan.INT32),
    ("records", plan.INT32),
)
"""Batch header fields and the record count. Source: KIP-98."""

_MESSAGE = (
    ("offset", plan.INT64),
    ("message_size", plan.INT32),
    ("crc", plan.UINT32),
    ("magic", plan.INT8),
    ("attributes", plan.INT8),
    ("timestamp", plan.INT64),
)
"""Message fields preceding the key. Magic 0 has no timestamp."""

_KINDS = {
    **dict.fromkeys(("batch_length", "message_size", "records"), "structure"),
    **dict.fromkeys(("base_timestamp", "max_timestamp", "timestamp"), "timestamp"),
    "crc": "checksum",
}
_LEAST_HEADER = 2


class RecordWalk:
    """Reads record sets, adds their spans, and collects errors in ``damage``.

    ``root`` is the path of the records field.
    """

    def __init__(
        self, spans: list[Span], part: str, root: str, owner: str, limits: Limits
    ) -> None:
        self.spans = spans
        self.damage: list[DecodeError] = []
        self._part = part
        self._root = root
        self._owner = owner
        self._limits = limits

    def read(self, data: bytes, position: int, end: int) -> None:
        """Read all batches and messages between two byte positions in the input."""
        index = 0
        while position < end:
            cursor = MapCursor(data, position, end)
            notes = SpanNotes(cursor, self.spans, self._part, self._root, self._owner)
            errors_before = len(self.damage)
            try:
                header = self._read_header(data, position, end)
            except DecodeError as error:
                self.damage.append(error)
                notes.note_rest(position, end, "damaged", error.reason)
                return
            if header is None:
                notes.note_rest(position, end, "cut")
                return
            position = cursor.end = header.position + header.size
            entry_kind = "batches" if header.magic == 2 else "messages"
            notes.root = join_path(self._root, f"{entry_kind}[{index}]")
            notes.owner = notes.root
            try:
                is_intact = len(self.damage) == errors_before
                self._read_entry(notes, data, header, is_intact)
            except DecodeError as error:
                self.damage.append(error)
                notes.note_rest(0, position, "damaged", error.reason)
            index += 1

    def _read_header(self, data: bytes, position: int, end: int) -> BatchHeader | None:
        try:
            header: BatchHeader | None = records.read_batch_header(
                data, position, end=end
            )
        except DecodeError as error:
            try:
                header = records.read_batch_header(
                    data, position, check_crc=False, end=end
                )
            except DecodeError:
                raise error from None
            # If only the checksum is wrong, show the fields and mark the checksum as
            # damaged.
            self.damage.append(error)
        return header

    def _read_entry(
        self, notes: SpanNotes, data: bytes, header: BatchHeader, is_intact: bool
    ) -> None:
        fields = _BATCH if header.magic == 2 else _MESSAGE[: 5 + header.magic]
        for name, code in fields:
            notes.read_fixed(code, name=name, kind=_KINDS.get(name, "number"))
            changes: dict[str, object] = {}
            if name == "crc" and not is_intact:
                changes = {"kind": "damaged", "meaning": self.damage[-1].reason}
            elif name == "attributes":
                changes = {"meaning": _format_attributes(header)}
            elif name == "last_offset_delta":
                changes = {"meaning": f"offset {header.last_offset}"}
            if changes:
                self.spans[-1] = self.spans[-1]._replace(**changes)  # type: ignore[arg-type]
        if header.magic < 2:
            self._read_message(notes, data, header)
        elif header.attributes & CODEC_MASK:
            start, notes.cursor.at = notes.cursor.at, notes.cursor.end
            raw = data[start : notes.cursor.end]
            meaning = self._describe_compressed(data, header)
            notes.note(
                start, "RECORDS", raw, "compressed", name="records", meaning=meaning
            )
        else:
            for index in range(header.record_count):
                notes.cursor.path[:] = ["records", index]
                _read_record(notes, header)
            notes.cursor.path.clear()
            notes.cursor.check_end()

    def _read_message(self, notes: SpanNotes, data: bytes, header: BatchHeader) -> None:
        """Decode the key and value in a message with magic 0 or 1."""
        for name in ("key", "value"):
            start = notes.cursor.at
            notes.cursor.path.append(name)
            value = notes.cursor.read_bytes(False, True)
            notes.cursor.path.pop()
            if name == "value" and header.attributes & CODEC_MASK:
                kind, meaning = "compressed", self._describe_compressed(data, header)
            else:
                kind, meaning = "bytes", None
            notes.note(
                start, "BYTES", value, kind, name=name, meaning=meaning, prefix=4
            )
        notes.cursor.check_end()

    def _describe_compressed(self, data: bytes, header: BatchHeader) -> str:
        """Describe a compressed batch.

        Raises ``DecodeError`` if its records are damaged.

        If the codec's package is not installed, the description contains the import
        error.
        """
        try:
            count = len(batches.read_records(data, header, limits=self._limits))
            size = len(batches.decompress_payload(data, header, self._limits))
        except ImportError as error:
            return f"{header.compression}; {error}"
        plural = "" if count == 1 else "s"
        return f"{header.compression}: {count} record{plural}, {size} bytes unpacked"


def _format_attributes(header: BatchHeader) -> str:
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


def _read_record(notes: SpanNotes, header: BatchHeader) -> None:
    """Decode the magic 2 record at the cursor. Further records may follow it."""
    cursor = notes.cursor
    outer_owner, notes.owner = notes.owner, notes.format_path()
    end = cursor.end
    start = cursor.at
    length = cursor.read_varint()
    if length < 0:
        raise cursor.failure(errors.BAD_LENGTH, start, length)
    cursor.require(length)
    notes.note(start, "VARINT", length, "structure", name="length", meaning="bytes")
    cursor.end = cursor.at + length
    start = cursor.at
    attributes = cursor.read_raw(1)[0]
    notes.note(start, "INT8", attributes, "number", name="attributes")
    start = cursor.at
    timestamp_delta = cursor.read_varlong()
    timestamp = header.base_timestamp + timestamp_delta
    if header.attributes & LOG_APPEND_TIME:
        timestamp = header.max_timestamp
    notes.note(
        start,
        "VARLONG",
        timestamp_delta,
        "timestamp",
        name="timestamp_delta",
        meaning=_wrap_int64(timestamp),
    )
    start = cursor.at
    offset_delta = cursor.read_varint()
    notes.note(
        start,
        "VARINT",
        offset_delta,
        "number",
        name="offset_delta",
        meaning=f"offset {_wrap_int64(header.base_offset + offset_delta)}",
    )
    cursor.path.append("key")
    key = _read_sized(notes)
    if header.is_control:
        key_span_index = len(notes.spans) - 1
    cursor.path[-1] = "value"
    value = _read_sized(notes)
    if header.is_control:
        meaning = _find_control_type(key, value)
        notes.spans[key_span_index] = notes.spans[key_span_index]._replace(
            meaning=meaning
        )
    cursor.path[-1] = "headers"
    _read_headers(notes)
    cursor.path.pop()
    cursor.check_end()
    cursor.end = end
    notes.owner = outer_owner


def _read_headers(notes: SpanNotes) -> None:
    cursor = notes.cursor
    start = cursor.at
    count = cursor.read_varint()
    if not 0 <= count <= (cursor.end - cursor.at) // _LEAST_HEADER:
        raise cursor.failure(errors.BAD_COUNT, start, count)
    notes.note(start, "VARINT", count, "structure")
    for index in range(count):
        cursor.path += (index, "key")
        start = cursor.at
        name = cursor.read_sized()
        if name is None:
            raise cursor.failure(errors.UNEXPECTED_NULL, start)
        text = cursor.decode_text(name)
        prefix = cursor.at - start - len(name)
        notes.note(start, "STRING", text, "text", prefix=prefix)
        cursor.path[-1] = "value"
        _read_sized(notes)
        del cursor.path[-2:]


def _read_sized(notes: SpanNotes) -> bytes | None:
    start = notes.cursor.at
    value = notes.cursor.read_sized()
    prefix = notes.cursor.at - start - len(value or b"")
    notes.note(start, "BYTES", value, "bytes", prefix=prefix)
    return value


def _find_control_type(key: bytes | None, value: bytes | None) -> str | None:
    try:
        return decode_control_record(key, value).type_name
    except KwireError:
        return None


def _wrap_int64(value: int) -> int:
    """Wrap a sum to the INT64 range, because additions in Kafka also overflow."""
    return (value + 2**63) % 2**64 - 2**63
