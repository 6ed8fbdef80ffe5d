# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write a compressed record batch and read it as an Arrow table (kwire.records).

    python examples/batches.py

Requires ``pip install kwire[arrow]``.
"""

import pyarrow

from kwire import records

rows = [
    (b"order-%d" % number, b"5 screws", 1_700_000_000_000) for number in range(1000)
]
data = records.encode_batch(rows, compression="gzip")
print(f"{len(rows)} records in {len(data)} bytes")

table = pyarrow.table(records.arrow.records_to_arrow(data))
print(table.column_names)
print(table.slice(998).select(["offset", "key", "value"]).to_pylist())
