# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases, their input, and the checksums that all programs must return.

Input and checksums are computed from the values in ``benchmarks.workloads.messages``
and ``benchmarks.workloads.records``, so that no program defines another program's
input.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.contenders import kio
from benchmarks.workloads import records as record_workloads
from benchmarks.workloads.messages import workload

_START, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1


class Case(NamedTuple):
    """Operation on an input, as a row of the report.

    * ``operation``: "decode", "encode" or "records".
    * ``name``: name of the input.
    * ``title``: title in the report.
    """

    operation: str
    name: str
    title: str

    @property
    def key(self) -> str:
        """Operation and name of the case, which identify it in requests and figures."""
        return f"{self.operation} {self.name}"


CASES = (
    Case("decode", "metadata_v9_ids", "Metadata v9, 1,000 partitions, ids from 1001"),
    Case("decode", "offset_fetch_v8", "OffsetFetch v8, 500 partitions"),
    Case("decode", "fetch_v12", "Fetch v12, 100 partitions, 200 B of records each"),
    Case("decode", "produce_v9", "Produce v9, 100 KB of records"),
    Case("decode", "api_versions_v3", "ApiVersions v3, 60 keys"),
    Case("decode", "heartbeat_v4", "Heartbeat v4"),
    Case("encode", "metadata_v9_ids", "encode that Metadata"),
    Case("records", "1k_100B", "1,000 records of 100 B"),
    Case("records", "10k_1KB", "10,000 records of 1 KB"),
)


def encode_case(name: str) -> bytes:
    """Return the input of a case. Records and messages are not encoded by kwire."""
    if name.startswith(("1k_", "10k_")):
        return record_workloads.encoded(name, "none")
    load = workload(name)
    return bytes(kio.encode(load, kio.build(load)).result())


def write_inputs(folder: Path) -> None:
    """Write one file for each input of the cases."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in {case.name for case in CASES}:
        (folder / f"{name}.bin").write_bytes(encode_case(name))


class Checksum:
    """Checksum over values in wire order, computed in the same way by all programs.

    A number is one step. A string is represented by its size and the CRC-32 over its
    bytes, a list by its size and its elements, and null by the number -1.
    """

    def __init__(self) -> None:
        """Start with the checksum of no values."""
        self._state = _START

    def number(self, value: int) -> None:
        """Add an integer or a boolean as one step."""
        self._state = (self._state ^ (value & _MASK)) * _PRIME & _MASK

    def add(self, value: Any) -> None:
        """Add a value and, for a list or dictionary, all values inside."""
        if value is None:
            self.number(-1)
        elif isinstance(value, int):
            self.number(value)
        elif isinstance(value, dict):
            for field in value.values():
                self.add(field)
        elif isinstance(value, list):
            self.number(len(value))
            for element in value:
                self.add(element)
        else:
            data = value.encode() if isinstance(value, str) else bytes(value)
            self.number(len(data))
            self.number(zlib.crc32(data))

    def __str__(self) -> str:
        """Format the checksum as 16 hexadecimal digits, as all programs do."""
        return f"{self._state:016x}"


def add_records(records: list[list[Any]]) -> str:
    """Return the checksum of records: lists in the order of ``record_loop.FIELDS``."""
    checksum = Checksum()
    for offset, timestamp, key, value, headers in records:
        for field in (offset, timestamp, key, value, len(headers)):
            checksum.add(field)
    return str(checksum)


def add_value(value: Any) -> str:
    """Return the checksum of the values of a message, or of bytes."""
    checksum = Checksum()
    checksum.add(value)
    return str(checksum)


def expect(case: Case) -> str:
    """Return the expected checksum of a case, which is computed from its values."""
    if case.operation == "records":
        return add_records(record_workloads.decoded(case.name))
    if case.operation == "encode":
        return add_value(encode_case(case.name))
    return add_value(workload(case.name).values)
