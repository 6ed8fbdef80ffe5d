# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Contenders by label: contender module, desk class and kwire backend.

Modules and desks are specified by name, because every contender runs in a separate
process that only imports its own dependencies.
"""

from __future__ import annotations

from typing import NamedTuple

MESSAGES = "benchmarks.codec.desk:MessageDesk"
RECORDS = "benchmarks.codec.records.desk:RecordDesk"
CONNECTIONS = "benchmarks.codec.connections.desk:ConnectionDesk"


class Contender(NamedTuple):
    """Contender of the benchmarks.

    * ``module``: its module in ``benchmarks.contenders``.
    * ``desk``: name of the ``Desk`` class that runs its tasks.
    * ``backend``: value of ``KWIRE_BACKEND``, or None.
    """

    module: str
    desk: str
    backend: str | None = None


CONTENDERS = {
    "kwire": Contender("kwire", MESSAGES, "fast"),
    "kwire pure": Contender("kwire", MESSAGES, "pure"),
    "kio": Contender("kio", MESSAGES),
    "kafka-python": Contender("kafka_python", MESSAGES),
    "aiokafka": Contender("aiokafka", MESSAGES),
    "C loop": Contender("c_loop", MESSAGES),
    "C loop messages": Contender("c_loop_messages", MESSAGES),
    "C loop views": Contender("c_loop_views", MESSAGES),
    "kwire records": Contender("kwire_records", RECORDS, "fast"),
    "kwire pure records": Contender("kwire_records", RECORDS, "pure"),
    "kio records": Contender("kio_records", RECORDS),
    "kafka-python records": Contender("kafka_python_records", RECORDS),
    "aiokafka records": Contender("aiokafka_records", RECORDS),
    "libraries": Contender("libraries", RECORDS),
    "C loop records": Contender("c_loop_records", RECORDS),
    "kwire connections": Contender("kwire_connections", CONNECTIONS, "fast"),
    "kwire pure connections": Contender("kwire_connections", CONNECTIONS, "pure"),
    "kafka-python connections": Contender("kafka_python_connections", CONNECTIONS),
}
