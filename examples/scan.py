# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read a topic into an Arrow table and describe its partitions (kwire.client).

    python examples/scan.py broker:9092 orders

Requires ``pip install kwire[arrow]``.
"""

import sys

import pyarrow

from kwire import client

address, topic = sys.argv[1:]
with client.connect_sync(address) as kafka:
    table = pyarrow.table(kafka.scan(topic))
groups = table.group_by("partition").aggregate([([], "count_all"), ("offset", "max")])
for row in groups.sort_by("partition").to_pylist():
    print(row["partition"], row["count_all"], "records, last offset", row["offset_max"])
