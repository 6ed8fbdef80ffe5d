# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and validates the small text files in a data directory.

These files may be damaged as well if the disk is damaged. For any file content, the
functions only raise ``InvalidValue``, with the file in ``path`` and the position where
the invalid line begins in ``offset``, or ``LimitExceeded`` for a file above 100 MiB.
They raise ``FileNotFoundError`` if the file is missing.
"""

from __future__ import annotations

import binascii
import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, NoReturn
from uuid import UUID

from .._text import format_name
from ..errors import InvalidValue
from .indexes import read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .storage import Named

_NUMBER = re.compile(rb"-?[0-9]{1,19}")
_ID = re.compile(r"[A-Za-z0-9_-]{22}")


class PartitionMetadata(NamedTuple):
    """Content of the file ``partition.metadata`` in a partition directory."""

    version: int
    topic_id: UUID


def read_leader_epochs(path: Named) -> tuple[tuple[int, int], ...]:
    """Read ``leader-epoch-checkpoint``. Returns pairs of (epoch, first offset).

    The ascending order is not validated.

    Format: text lines with version 0, the entry count, and the entries. If the file
    ends before the entry count, it has no entries.

    Raises ``DecodeError`` with the file in its path if the content is invalid.
    Source: ``LeaderEpochCheckpointFile``.
    """
    return tuple(
        (
            _read_number(path, position, fields[0]),
            _read_number(path, position, fields[1]),
        )
        for position, fields in _read_entries(path, 2)
    )


def read_offset_checkpoint(path: Named) -> dict[tuple[str, int], int]:
    """Read a checkpoint file. Returns an offset for each (topic, partition).

    Supports ``recovery-point-offset-checkpoint``, ``log-start-offset-checkpoint``,
    ``replication-offset-checkpoint`` and ``cleaner-offset-checkpoint``.

    Format: text lines with version 0, the entry count, and one line with topic,
    partition and offset per entry. Brokers create these files empty, so a file that
    ends before the entry count has no entries.

    Raises ``DecodeError`` with the file in its path if the content is invalid.
    Source: ``OffsetCheckpointFile``.
    """
    offsets = {}
    for position, (topic, partition, offset) in _read_entries(path, 3):
        key = _read_text(path, position, topic), _read_number(path, position, partition)
        offsets[key] = _read_number(path, position, offset)
    return offsets


def read_partition_metadata(path: Named) -> PartitionMetadata:
    """Read ``partition.metadata``.

    Format: the lines ``version: 0`` and ``topic_id:`` with 22 base64 characters.

    Raises ``DecodeError`` with the file in its path if the content is invalid.
    Source: ``PartitionMetadataFile``.
    """
    values = {}
    for position, line in _read_lines(path):
        name, colon, value = line.partition(b":")
        if colon:
            values[name.strip()] = position, value.strip()
    for required_name in (b"version", b"topic_id"):
        if required_name not in values:
            _raise_invalid_value(
                path, 0, f"the file has no line {required_name.decode()!r}"
            )
    version = _read_number(path, *values[b"version"])
    position, text = values[b"topic_id"]
    topic_id = read_uuid(_read_text(path, position, text))
    if topic_id is None:
        _raise_invalid_value(path, position, f"expected a topic id (got {text!r:.60})")
    return PartitionMetadata(version, topic_id)


def read_meta_properties(path: Named) -> dict[str, str]:
    """Read ``meta.properties``. Returns property values by name, without validation.

    Format: lines ``name=value``, and comment lines that start with ``#`` or ``!``. The
    value is empty if a line contains no ``=``.

    Raises ``DecodeError`` with the file in its path if a line is not UTF-8.
    Source: ``java.util.Properties``.
    """
    values = {}
    for position, line in _read_lines(path):
        if not line or line.startswith((b"#", b"!")):
            continue
        name, _, value = _read_text(path, position, line).partition("=")
        values[name.strip()] = value.strip().replace("\\:", ":").replace("\\=", "=")
    return values


def read_uuid(text: str) -> UUID | None:
    """Parse an id in Kafka's text format: 22 characters, URL-safe base64.

    Returns None if the format is invalid.
    """
    if not _ID.fullmatch(text):
        return None
    standard = text.replace("-", "+").replace("_", "/")
    return UUID(bytes=binascii.a2b_base64(standard + "=="))


def _read_lines(path: Named) -> Iterator[tuple[int, bytes]]:
    """Yield (byte position, line) pairs. Whitespace around a line is not included."""
    position = 0
    lines = read_small_file(path).split(b"\n")
    if not lines[-1]:
        # An empty string after the last line feed, or in an empty file, is not a line.
        lines.pop()
    for line in lines:
        yield position + len(line) - len(line.lstrip()), line.strip()
        position += len(line) + 1


def _read_entries(path: Named, width: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the entries of a checkpoint file as (byte position, fields) pairs.

    ``width`` is the number of fields per entry. Raises ``InvalidValue`` if the version
    is not 0, or if the number of entries or fields is wrong.

    Source: ``CheckpointFile``, which also accepts files without a version or an entry
    count and treats them as empty.
    """
    lines = _read_lines(path)
    header_numbers = []
    for position, line in islice(lines, 2):
        header_numbers.append((position, _read_number(path, position, line)))
        if header_numbers[0][1] != 0:
            _raise_invalid_value(
                path, position, f"version must be 0 (got {header_numbers[0][1]})"
            )
    if len(header_numbers) < 2:
        return
    count = 0
    for position, line in lines:
        fields = line.split()
        if len(fields) != width:
            _raise_invalid_value(
                path, position, f"an entry must have {width} fields (got {len(fields)})"
            )
        count += 1
        yield position, fields
    if count != header_numbers[1][1]:
        _raise_invalid_value(
            path,
            header_numbers[1][0],
            f"expected {header_numbers[1][1]} entries (got {count})",
        )


def _read_number(path: Named, position: int, text: bytes) -> int:
    """Parse a signed 64-bit integer. Raises ``InvalidValue`` if the text is invalid."""
    if not _NUMBER.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        _raise_invalid_value(
            path, position, f"expected a number of at most 64 bits (got {text!r:.60})"
        )
    return int(text)


def _read_text(path: Named, position: int, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        _raise_invalid_value(path, position + error.start, "not UTF-8")


def _raise_invalid_value(path: Named, position: int, reason: str) -> NoReturn:
    """Raise ``InvalidValue`` for a byte position in a file."""
    raise InvalidValue(reason, position, format_name(path))
