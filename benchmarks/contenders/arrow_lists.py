# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Convert other libraries' records to Arrow: one list per column, then pyarrow.

Only columns with data are filled. If the records have no headers, no header lists are
created.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pyarrow as pa

from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads

_COLUMNS = """
def collect(data):
    offsets, timestamps, keys, values = [], [], [], []
{loop}
    return offsets, timestamps, keys, values
"""
_COLUMNS_AND_HEADERS = """
def collect(data):
    offsets, timestamps, keys, values = [], [], [], []
    ends, header_keys, header_values = [0], [], []
{loop}
    return offsets, timestamps, keys, values, ends, header_keys, header_values
"""
_APPEND = (
    "offsets.append(record.offset)",
    "timestamps.append(record.timestamp)",
    "keys.append(record.key)",
    "values.append(record.value)",
)
_APPEND_HEADERS = (
    "for header_key, header_value in record.headers:",
    "    header_keys.append(header_key)",
    "    header_values.append(header_value)",
    "ends.append(len(header_keys))",
)


def _collector(loop: str, with_headers: bool) -> str:
    """Return the source text of a function ``collect(data)``.

    ``loop`` contains the placeholder ``USE``, which is replaced by the statements that
    append a record to the columns.
    """
    uses = _APPEND + (_APPEND_HEADERS if with_headers else ())
    depth = next(line for line in loop.splitlines() if "USE" in line).index("USE")
    use = f"\n{' ' * depth}".join(uses)
    body = textwrap.indent(loop.strip("\n").replace("USE", use), "    ")
    return (_COLUMNS_AND_HEADERS if with_headers else _COLUMNS).format(loop=body)


def batch_of(
    offsets: list[int],
    timestamps: list[int],
    keys: list[bytes],
    values: list[bytes],
    ends: list[int] | None = None,
    header_keys: list[str] | None = None,
    header_values: list[bytes] | None = None,
) -> Any:
    """Return an Arrow record batch with the columns.

    ``ends``, ``header_keys`` and ``header_values`` are None if there are no headers.
    """
    columns = {
        "offset": pa.array(offsets, pa.int64()),
        "timestamp": pa.array(timestamps, pa.timestamp("ms", "UTC")),
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
    }
    if ends is not None:
        pairs = pa.StructArray.from_arrays(
            [pa.array(header_keys, pa.string()), pa.array(header_values, pa.binary())],
            ["key", "value"],
        )
        columns["headers"] = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pairs)
    return pa.record_batch(columns)


def values_of(batch: Any) -> list[Any]:
    """Return [offset, timestamp, key, value, headers] for each row of a batch."""
    names = batch.schema.names
    columns = [
        batch.column("offset").to_pylist(),
        batch.column("timestamp").cast(pa.int64()).to_pylist(),
        batch.column("key").to_pylist(),
        batch.column("value").to_pylist(),
        batch.column("headers").to_pylist()
        if "headers" in names
        else [[]] * batch.num_rows,
    ]
    return [
        [*fields, [[header["key"], header["value"]] for header in headers]]
        for *fields, headers in zip(*columns, strict=True)
    ]


def lists_to_arrow(loop: str, names: dict[str, Any], name: str) -> Statement:
    """Read the records of a workload into lists, and convert the lists to Arrow.

    * ``loop``: source text of the loop that reads the records.
    * ``names``: names that the loop uses.
    * ``name``: name of the workload.
    """
    scope = dict(names)
    exec(_collector(loop, bool(workloads.rows(name)[0][3])), scope)
    collect, data = scope["collect"], workloads.encoded(name, "none")
    return Statement(
        "batch_of(*collect(data))",
        {"collect": collect, "batch_of": batch_of, "data": data},
        values=lambda: values_of(batch_of(*collect(data))),
    )
