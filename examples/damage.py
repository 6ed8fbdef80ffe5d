# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print damaged regions of log files, and count the records around them (kwire.log).

python examples/damage.py kafka-logs/
"""

import sys

from kwire import log

for partition in log.LogDirectory(sys.argv[1]):
    problems = []
    records = sum(
        len(batch.records) for batch in partition.batches(on_corrupt=problems.append)
    )
    print(f"{partition.topic}-{partition.partition}: {records} records")
    for problem in problems:
        print(f"  {problem.path}, byte {problem.position}: {problem.reason}")
