# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write records in message formats 0 and 1, which brokers before 3.0 could store.

``workloads.py`` writes the current format. A topic setting with a broker version
selects its format: 0.9.0 stores magic 0, 0.10.0 magic 1, and 2.8 magic 2.
"""

from __future__ import annotations

import time

from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker
from tools.interop.broker.clients import Row

VERSIONS = {0: "0.9.0", 1: "0.10.0", 2: "2.8"}
CODECS = ["none", "gzip", "snappy", "lz4"]


def rows_without_headers(name: str, count: int, first: int = 0) -> list[Row]:
    """Create ``count`` rows without headers, including a null key and a null value."""
    rows = workloads.numbered_rows(name, count, first, keys=23)
    rows = [row._replace(headers=[]) for row in rows]
    rows[1] = rows[1]._replace(key=None)
    rows[2] = rows[2]._replace(value=None)
    return rows


def write_formats(broker: Broker) -> None:
    """Write one topic per pair of format and codec, with current and old clients."""
    for magic in (0, 1):
        for codec in CODECS:
            topic = f"magic{magic}-{codec}"
            workloads.create_topic(
                broker,
                topic,
                message_format_version=VERSIONS[magic],
                segment_bytes=8192,
            )
            rows = rows_without_headers("new", 24)
            clients.produce_with_librdkafka(broker, topic, rows, codec, 8)
            rows = rows_without_headers("old", 24, 24)
            clients.produce_with_old_kafka_python(broker, topic, rows, codec, 8)
            clients.produce_with_old_librdkafka(broker, topic, rows, codec, 8)
    workloads.write_append_time(broker, message_format_version=VERSIONS[1])


def write_compacted_formats(broker: Broker) -> None:
    """Write compacted topics in both old formats, and wait for the log cleaner.

    The cleaner creates offset gaps, including gaps inside compressed wrapper messages.
    """
    for magic in (0, 1):
        topic = f"magic{magic}-compacted"
        version = VERSIONS[magic]
        workloads.create_compacted(broker, topic, message_format_version=version)
        for number in range(6):
            rows = [
                row._replace(key=row.key or b"none")
                for row in rows_without_headers(topic, 40, number * 40)
            ]
            codec = CODECS[number % len(CODECS)]
            clients.produce_with_librdkafka(broker, topic, rows, codec, 5)
        workloads.wait_for_cleaner(broker, topic)


def write_after_upgrade(broker: Broker) -> None:
    """Write the formats 0, 1 and 2 to one partition, one after the other."""
    topic = "upgraded"
    workloads.create_topic(broker, topic, message_format_version=VERSIONS[0])
    for magic, version in VERSIONS.items():
        of_topic = workloads.admin.ResourceType.TOPIC
        name = "message.format.version"
        workloads.set_config(broker, of_topic, topic, name, version)
        # ZooKeeper informs the broker about the change. Wait two seconds, because there
        # is no event that shows when the broker has received it.
        time.sleep(2)
        for codec in CODECS:
            rows = rows_without_headers(f"magic {magic}", 6)
            clients.produce_with_librdkafka(broker, topic, rows, codec, 3)
