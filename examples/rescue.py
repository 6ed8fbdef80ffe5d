# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Recover the records of damaged log files, and list lost offsets (kwire.jobs).

    python examples/rescue.py kafka-logs/ rescued/

Requires ``pip install kwire[arrow,pages]``. Records missing in one replica are read
from others.
"""

import sys

import pyarrow.parquet

from kwire import jobs

result = jobs.export([sys.argv[1]], sys.argv[2])
print(result.counts["records"], "records;", result.report)
for row in pyarrow.parquet.read_table(result.tables["lost"]).to_pylist():
    place = f"{row['topic']}-{row['partition']}"
    print(f"{place}: {row['first_offset']} to {row['last_offset']}: {row['reason']}")
