# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts batches from one magic to another, as brokers did for old clients.

Batches with the requested magic are copied. Others are decoded and encoded again with
the same compression. Data that the target format cannot represent is lost and counted.
"""

from __future__ import annotations

from .. import records
from .._limits import DEFAULT, Limits
from ..errors import INPUT_CHANGED, EncodeError, decode_failure, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from .batches import Batch


class ConversionReport:
    """Counts converted batches and lost data.

    * ``copied``: number of batches in the result that were copied unchanged.
    * ``converted``: number of batches in the result that were encoded again.
    * ``timestamps``: number of records that lost their timestamp.
    * ``headers``: number of lost record headers.
    * ``control_batches``: number of omitted control batches.
    * ``empty_batches``: number of batches that were omitted because no record remains.
    * ``producer_fields``: number of batches that lost their producer id, epoch,
      sequence number and transaction.
    * ``below_start``: number of omitted records with offsets below ``start_offset``.
    * ``trailing_bytes``: number of bytes after the last complete batch.
    """

    __slots__ = (
        "below_start",
        "control_batches",
        "converted",
        "copied",
        "empty_batches",
        "headers",
        "producer_fields",
        "timestamps",
        "trailing_bytes",
    )

    copied: int
    converted: int
    timestamps: int
    headers: int
    control_batches: int
    empty_batches: int
    producer_fields: int
    below_start: int
    trailing_bytes: int

    def __init__(self) -> None:
        for name in self.__slots__:
            setattr(self, name, 0)

    @property
    def is_lossless(self) -> bool:
        """Whether no data was lost."""
        kept = ("converted", "copied", "trailing_bytes")
        return not any(getattr(self, n) for n in self.__slots__ if n not in kept)

    def __repr__(self) -> str:
        counts = ((name, getattr(self, name)) for name in self.__slots__)
        text = ", ".join(f"{name}={count}" for name, count in counts if count)
        return f"ConversionReport({text})"


def convert_batches(
    data: Buffer,
    to_magic: int,
    *,
    start_offset: int | None = None,
    timestamp_type: int = 0,
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> tuple[bytes, ConversionReport]:
    """Convert batches to ``to_magic``. Returns the batches and a report of lost data.

    From magic 2 to a lower magic, the result loses headers, control batches and
    producer fields. Every conversion to magic 0 or 1 omits the records of uncompressed
    batches below ``start_offset``. Magic 0 also loses timestamps. From magic 0 to a
    higher magic, records have no timestamp (-1), and ``timestamp_type`` is the type
    configured for the topic (0 CreateTime, 1 LogAppendTime). Magic 2 has one batch for
    every compressed message or run of uncompressed messages, and the first record's
    offset is the base offset. Compression and offsets are preserved. An incomplete last
    batch is omitted.

    Raises ``EncodeError`` if zstd batches are converted to a lower magic, or if
    ``to_magic`` is not 0, 1 or 2. Raises ``DecodeError`` for damaged batches.

    Source: ``RecordsUtil.downConvert``, ``LogValidator``.
    """
    if to_magic not in (0, 1, 2):
        raise EncodeError(f"must be 0, 1 or 2 (got {quote(to_magic)})", "to_magic")
    report = ConversionReport()
    parts: list[bytes] = []
    position = 0
    with memoryview(data) as view, _flat(view) as source:
        while True:
            header = records.read_batch_header(source, position, check_crc=check_crc)
            if header is None:
                break
            end = position + header.size
            if header.magic == to_magic:
                report.copied += 1
                parts.append(bytes(source[position:end]))
                position = end
                continue
            if to_magic < 2 and header.is_control:
                report.control_batches += 1
                position = end
                continue
            if to_magic < 2 and header.compression == "zstd":
                raise EncodeError(
                    f"zstd requires magic 2 (got magic={to_magic})",
                    f"batch at byte {position}",
                )
            # Consecutive uncompressed messages form one batch, which may be longer than
            # ``header.size``.
            batch = next(
                records.decode_batches(
                    source, position=position, check_crc=check_crc, limits=limits
                ),
                None,
            )
            if batch is None:
                raise decode_failure(INPUT_CHANGED, 0, position, "")
            position += batch.header.size
            part = _convert_batch(batch, to_magic, start_offset, timestamp_type, report)
            if part is None:
                report.empty_batches += 1
            else:
                report.converted += 1
                parts.append(part)
        report.trailing_bytes = len(source) - position
    return b"".join(parts), report


def _flat(view: memoryview) -> memoryview:
    return view.cast("B") if view.nbytes else memoryview(b"")


def _convert_batch(
    batch: Batch,
    to_magic: int,
    start_offset: int | None,
    timestamp_type: int,
    report: ConversionReport,
) -> bytes | None:
    header = batch.header
    rows = batch.records
    if start_offset is not None and header.compression == "none" and to_magic < 2:
        rows = tuple(row for row in rows if row.offset >= start_offset)
        report.below_start += len(batch.records) - len(rows)
    if not rows:
        return None
    if to_magic < 2 and header.magic == 2:
        report.headers += sum(len(row.headers) for row in rows)
        report.producer_fields += header.producer_id >= 0
        rows = tuple(row.replace(headers=()) if row.headers else row for row in rows)
    if to_magic == 0:
        report.timestamps += sum(row.timestamp >= 0 for row in rows)
    kind = header.timestamp_type if header.magic else timestamp_type
    log_append_time = None
    if to_magic and kind == 1:
        log_append_time = header.max_timestamp
    return records.encode_batch(
        rows,
        magic=to_magic,
        compression=header.compression,
        base_offset=rows[0].offset,
        log_append_time=log_append_time,
    )
