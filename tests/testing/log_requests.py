# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests for one partition of a test cluster, and the entry of its response."""

from __future__ import annotations

from uuid import UUID

from kwire import messages
from kwire.records import decode_batches, encode_batch

NO_ID = UUID(int=0)


def find_topic_id(machine, topic):
    """Return the id of a topic, or an unknown id."""
    state = machine.state.topics.get(topic)
    return state.topic_id if state else UUID(int=7)


def produce(client, data, *, topic="orders", partition=0, version=None, acks=-1):
    """Send a record set; return the entry of its partition, or None."""
    request = messages.ProduceRequest
    version = client.machine.table.pick(request) if version is None else version
    has_ids = version >= 13
    response = client.request(
        request(
            acks=acks,
            timeout_ms=1000,
            topic_data=[
                request.TopicProduceData(
                    name="" if has_ids else topic,
                    topic_id=find_topic_id(client.machine, topic) if has_ids else NO_ID,
                    partition_data=[
                        request.PartitionProduceData(index=partition, records=data)
                    ],
                )
            ],
        ),
        version,
    )
    if response is None:
        return None
    return response.responses[0].partition_responses[0]


def make_fetch(
    machine,
    offset=0,
    *,
    topic="orders",
    partition=0,
    version=None,
    max_wait_ms=0,
    min_bytes=1,
    max_bytes=1 << 20,
    partition_max_bytes=1 << 20,
    isolation_level=0,
    current_leader_epoch=-1,
    last_fetched_epoch=-1,
    session_id=0,
    session_epoch=-1,
    is_empty=False,
):
    """Return a Fetch request for one partition, or for none if ``is_empty``."""
    request = messages.FetchRequest
    version = machine.table.pick(request) if version is None else version
    has_ids = version >= 13
    topics = [
        request.FetchTopic(
            topic="" if has_ids else topic,
            topic_id=find_topic_id(machine, topic) if has_ids else NO_ID,
            partitions=[
                request.FetchPartition(
                    partition=partition,
                    fetch_offset=offset,
                    partition_max_bytes=partition_max_bytes,
                    current_leader_epoch=current_leader_epoch if version >= 9 else -1,
                    last_fetched_epoch=last_fetched_epoch if version >= 12 else -1,
                )
            ],
        )
    ]
    return request(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes if version >= 3 else 0x7FFFFFFF,
        isolation_level=isolation_level if version >= 4 else 0,
        session_id=session_id if version >= 7 else 0,
        session_epoch=session_epoch if version >= 7 else -1,
        topics=() if is_empty else topics,
    )


def fetch(client, offset=0, *, version=None, **options):
    """Send a Fetch request; return the entry of its partition, or None."""
    response = client.request(
        make_fetch(client.machine, offset, version=version, **options), version
    )
    return response.responses[0].partitions[0] if response else None


def list_offsets(client, timestamp, *, version=None, topic="orders", isolation_level=0):
    """Send a ListOffsets request; return the entry of partition 0."""
    request = messages.ListOffsetsRequest
    response = client.request(
        request(
            replica_id=-1,
            isolation_level=isolation_level,
            topics=[
                request.ListOffsetsTopic(
                    name=topic,
                    partitions=[
                        request.ListOffsetsPartition(
                            partition_index=0, timestamp=timestamp
                        )
                    ],
                )
            ],
        ),
        version,
    )
    return response.topics[0].partitions[0]


def read_values(data):
    """Return the values of a record set."""
    return [record.value for batch in decode_batches(data) for record in batch.records]


def make_batch(*values, timestamp=None, key=b"key", **options):
    """Return a batch of magic 2 with these values."""
    records = [
        (key, value) if timestamp is None else (key, value, timestamp)
        for value in values
    ]
    return encode_batch(records, **options)
