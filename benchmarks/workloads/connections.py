# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The frames that come in on the connections that are measured.

A stream of small Fetch responses, each with numbers and records of its own, and the
answers of brokers that are asked for their versions. Nothing here knows a contender.
"""

from __future__ import annotations

import functools
import random
from uuid import UUID

from benchmarks.workloads.messages import Values, Workload

FRAMES = 1_000
RECORD_BYTES = 100
#: What a socket gives at a time.
CHUNK_BYTES = 65_536

#: How often a broker of a release is asked before it answers: 4.1 does not know the
#: newest version of the question, 4.4 does.
QUESTIONS = {"4.1": 2, "4.4": 1}
#: What is picked of Fetch then.
FETCH_PICKED = {"4.1": 18, "4.4": 18}

CLIENT_ID = "benchmark"
TOPIC = "benchmark-topic"
TOPIC_ID = UUID(int=0x6B77697265 << 64)
FIRST_WITH_TOPIC_IDS = 13
FIRST_FLEXIBLE = 12


def _fetch(version: int, number: int, records: bytes) -> Workload:
    partition: Values = {
        "partition_index": 0,
        "error_code": 0,
        "high_watermark": 1_000_000 + number,
        "last_stable_offset": 1_000_000 + number,
        "log_start_offset": 0,
        "aborted_transactions": [],
        "preferred_read_replica": -1,
        "records": records,
    }
    topic: Values = {"topic": TOPIC, "partitions": [partition]}
    values: Values = {"throttle_time_ms": 0, "error_code": 0, "session_id": 0}
    if version >= FIRST_WITH_TOPIC_IDS:
        topic = {"topic_id": TOPIC_ID, "partitions": [partition]}
    if version < 11:
        del partition["preferred_read_replica"]
    if version < 7:
        del values["error_code"], values["session_id"]
    if version < 5:
        del partition["log_start_offset"]
    values["responses"] = [topic]
    structs = {"responses": "FetchableTopicResponse", "partitions": "PartitionData"}
    return Workload("FetchResponse", version, values, structs)


@functools.lru_cache(maxsize=2)
def responses(version: int) -> tuple[Workload, ...]:
    """Return the responses of a stream, in the order of their correlation ids."""
    source = random.Random(version)
    return tuple(
        _fetch(version, number, source.randbytes(RECORD_BYTES))
        for number in range(FRAMES)
    )


def framed(bodies: list[bytes], version: int) -> bytes:
    """Put sizes and headers before the bodies of a stream.

    A header is the correlation id, and an empty tag section in flexible versions.
    """
    tags = b"\0" if version >= FIRST_FLEXIBLE else b""
    stream = bytearray()
    for number, body in enumerate(bodies):
        stream += (4 + len(tags) + len(body)).to_bytes(4, "big")
        stream += number.to_bytes(4, "big") + tags + body
    return bytes(stream)


def chunks(stream: bytes) -> list[bytes]:
    """Cut a stream as it comes from a socket."""
    return [stream[at : at + CHUNK_BYTES] for at in range(0, len(stream), CHUNK_BYTES)]


def expected(version: int) -> list[list[object]]:
    """Return what must come out of a stream: correlation ids and plain values."""
    return [[number, load.values] for number, load in enumerate(responses(version))]
