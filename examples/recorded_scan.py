# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record the requests of a scan and count them by API (kwire.recording).

    python examples/recorded_scan.py broker:9092 orders captures/

Requires ``pip install kwire[arrow]``. You can replace the scan with any Kafka client.
"""

import sys
from collections import Counter

from kwire import client
from kwire.recording import Recorder, read_captures
from kwire.schema import releases

address, topic, directory = sys.argv[1:]
with (
    Recorder("127.0.0.1:0", address, directory) as recorder,
    client.connect_sync(recorder.address) as kafka,
):
    rows = sum(len(chunk.records()) for chunk in kafka.scan(topic))
print(rows, "records")

requests = Counter()
for batch in read_captures(recorder.folder, ["direction", "api_key"]):
    for frame in batch.to_pylist():
        if frame["direction"] == "request":
            requests[releases.name_of(frame["api_key"])] += 1
for api, count in sorted(requests.items()):
    print(api, count)
