# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Frames received on the measured connections.

They are a stream of small Fetch responses with different numbers and records, and
ApiVersions responses from brokers. This module does not depend on any contender.
"""

from __future__ import annotations

import functools
import random
from uuid import UUID

from benchmarks.workloads.messages import Values, Workload

FRAMES = 1_000
RECORD_BYTES = 100
#: Maximum number of bytes that a socket returns per read.
CHUNK_BYTES = 65_536

#: Number of ApiVersions requests until a broker release answers. Release 4.1 does not
#: support the latest request version, so the client must repeat it. Release 4.4
#: supports it.
QUESTIONS = {"4.1": 2, "4.4": 1}
#: Fetch version that the negotiation selects, by broker release.
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
    """Return the messages of a response stream, ordered by correlation id."""
    source = random.Random(version)
    return tuple(
        _fetch(version, number, source.randbytes(RECORD_BYTES))
        for number in range(FRAMES)
    )


def framed(bodies: list[bytes], version: int) -> bytes:
    """Encode a response stream with sizes and headers.

    A header is the correlation id. In flexible versions, an empty tag section follows.
    """
    tags = b"\0" if version >= FIRST_FLEXIBLE else b""
    stream = bytearray()
    for number, body in enumerate(bodies):
        stream += (4 + len(tags) + len(body)).to_bytes(4, "big")
        stream += number.to_bytes(4, "big") + tags + body
    return bytes(stream)


def chunks(stream: bytes) -> list[bytes]:
    """Split a stream into chunks of ``CHUNK_BYTES``, like reads from a socket."""
    return [stream[at : at + CHUNK_BYTES] for at in range(0, len(stream), CHUNK_BYTES)]


def expected(version: int) -> list[list[object]]:
    """Return the expected (correlation id, plain values) lists of a stream."""
    return [[number, load.values] for number, load in enumerate(responses(version))]
