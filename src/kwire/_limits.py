# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Limits``: the ``limits=`` argument of all functions that decode bytes.

This module only contains the values. Decoders compare sizes with them before
allocating.
"""

from __future__ import annotations

MIB = 1024 * 1024


class Limits:
    """Limits for untrusted input.

    * ``frame_bytes``: maximum frame or message body size in bytes.
    * ``decompressed_bytes``: maximum decompressed size in bytes, per record batch.
    * ``decompressed_ratio``: maximum decompressed size per record batch, as a multiple
      of its compressed size.
    * ``total_decompressed_bytes``: maximum total size in bytes that the compressed
      batches in one call may have after decompression. Every record counts as at least
      64 bytes, because even an empty record becomes an object or a row. Functions that
      return one batch at a time start a new total for every batch.
    * ``records``: maximum record count in a batch.
    * ``array_elements``: maximum element count, per array in a message.
    * ``tagged_fields``: maximum field count, per tag section in a message.

    None disables a limit. Kafka 4.4 rejects arrays with more than 1,000,000 elements
    and tag sections with more than 10,000 fields. To reject the same messages, use
    ``Limits(array_elements=1_000_000, tagged_fields=10_000)``.
    Raises ``TypeError`` or ``ValueError`` if a limit is not a number or is negative.
    """

    __slots__ = (
        "array_elements",
        "decompressed_bytes",
        "decompressed_ratio",
        "frame_bytes",
        "records",
        "tagged_fields",
        "total_decompressed_bytes",
    )

    frame_bytes: int | None
    decompressed_bytes: int | None
    decompressed_ratio: float | None
    records: int | None
    array_elements: int | None
    tagged_fields: int | None
    total_decompressed_bytes: int | None

    def __init__(
        self,
        *,
        frame_bytes: int | None = 100 * MIB,
        decompressed_bytes: int | None = 64 * MIB,
        decompressed_ratio: float | None = None,
        records: int | None = None,
        array_elements: int | None = None,
        tagged_fields: int | None = None,
        total_decompressed_bytes: int | None = 256 * MIB,
    ) -> None:
        for name, value in (
            ("frame_bytes", frame_bytes),
            ("decompressed_bytes", decompressed_bytes),
            ("decompressed_ratio", decompressed_ratio),
            ("records", records),
            ("array_elements", array_elements),
            ("tagged_fields", tagged_fields),
            ("total_decompressed_bytes", total_decompressed_bytes),
        ):
            if value is not None and not isinstance(value, (int, float)):
                raise TypeError(f"{name} must be a number or None (got {value!r:.40})")
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be 0 or more (got {value!r})")
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Limits cannot be changed; make a new object")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Limits):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __reduce__(self) -> tuple[object, tuple[float | None, ...]]:
        return _restore, self._values()

    def __repr__(self) -> str:
        values = zip(self.__slots__, self._values(), strict=True)
        return f"Limits({', '.join(f'{name}={value!r}' for name, value in values)})"

    def _values(self) -> tuple[float | None, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


def _restore(*values: float | None) -> Limits:
    return Limits(**dict(zip(Limits.__slots__, values, strict=True)))  # type: ignore[arg-type]


PIECE_BYTES = 16 * MIB
"""Default size of a piece if a record set is decoded in pieces. A piece ends with the
batch with which its decompressed size in bytes reaches this number.
"""

DEFAULT = Limits()
"""Default limits of all decoders."""
