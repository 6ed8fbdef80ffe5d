# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Code for type checkers: the types that they infer for calls of kwire.

The comment after ``reveal_type`` is the type that every checker must infer. ``# error``
marks a line that every checker must reject, and all other lines must be accepted. The
code is never executed.
"""

from __future__ import annotations

import uuid
from typing import reveal_type

import kwire
from kwire import client, messages, records
from kwire.messages import (
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    RegisterBrokerRecord,
    RequestHeader,
    framing,
)

NOTHING = uuid.UUID(int=0)


def reading(data: bytes) -> None:
    """Decoding returns an instance of the class that was passed."""
    reply = kwire.decode(MetadataResponse, data, version=12)
    reveal_type(reply)  # MetadataResponse
    reveal_type(reply.topics)  # tuple[MetadataResponseTopic, ...]
    reveal_type(reply.topics[0].partitions[3].leader_epoch)  # int
    reveal_type(reply.topics[0].name)  # str | None
    reveal_type(reply.topics[0].topic_id)  # UUID
    reveal_type(reply.topics[0].is_internal)  # bool
    reveal_type(reply.topics[0].partitions[0].isr_nodes)  # tuple[int, ...]
    reveal_type(reply.unknown_tagged_fields)  # tuple[tuple[int, bytes], ...]
    fetched = kwire.decode(FetchResponse, memoryview(data), 17, zero_copy=True)
    reveal_type(fetched.responses[0].partitions[0].records)  # bytes | None
    reveal_type(fetched.responses[0].partitions[0].diverging_epoch)  # EpochEndOffset
    kwire.decode(MetadataResponse, bytearray(data), 12, compat="java")
    kwire.decode(MetadataResponse, data, 12, limits=kwire.Limits(frame_bytes=9))
    print(reply.topic)  # error
    reply.topics[0].partitions.append(None)  # error
    kwire.decode(MetadataResponse, "text", 12)  # error
    kwire.decode(MetadataResponse, data, "12")  # error
    kwire.decode(MetadataResponse, data)  # error
    kwire.decode(MetadataResponse, data, 12, compat="scala")  # error
    kwire.decode(MetadataResponse.MetadataResponseTopic, data, 12)  # error
    kwire.decode(dict, data, 12)  # error


def writing() -> None:
    """Constructors accept keywords and any sequence. ``encode`` accepts any message."""
    topic = MetadataRequest.MetadataRequestTopic(name="a", topic_id=NOTHING)
    request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
    reveal_type(request.topics)  # tuple[MetadataRequestTopic, ...] | None
    reveal_type(kwire.encode(request, version=12))  # bytes
    MetadataRequest(topics=None, unknown_tagged_fields=[(9, b"")])
    partition = ProduceRequest.PartitionProduceData(records=memoryview(b""))
    ProduceRequest.PartitionProduceData(index=0, records=None)
    ProduceRequest.TopicProduceData(partition_data=(partition,))
    FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=1))
    MetadataRequest((topic,))  # error
    MetadataRequest(topic=[topic])  # error
    MetadataRequest(topics=["a"])  # error
    MetadataRequest.MetadataRequestTopic(topic_id="a")  # error
    FetchRequest(replica_state=None)  # error
    FetchRequest(max_bytes=None)  # error
    kwire.encode(topic, 12)  # error
    kwire.encode(b"", 12)  # error


def changing(reply: MetadataResponse) -> None:
    """Messages are frozen. ``replace`` only accepts the fields of the class."""
    reveal_type(reply.replace(controller_id=7, topics=[]))  # MetadataResponse
    reveal_type(reply.topics[0].replace(name=None))  # MetadataResponseTopic
    reply.replace(controller_id="7")  # error
    reply.replace(controller=7)  # error
    reply.controller_id = 7  # error
    reply.topics[0].name = "a"  # error
    reply.unknown_tagged_fields = ()  # error
    print({reply: 1})


def matching(reply: MetadataResponse) -> None:
    """``match`` patterns accept fields by position and by name."""
    match reply:
        case MetadataResponse(throttle, brokers, cluster_id=str(cluster)):
            reveal_type(throttle)  # int
            reveal_type(brokers)  # tuple[MetadataResponseBroker, ...]
            reveal_type(cluster)  # str
        case _:
            pass


def facts() -> None:
    """Message classes have typed attributes."""
    reveal_type(MetadataRequest.api_key)  # int
    reveal_type(RegisterBrokerRecord.api_key)  # int | None
    reveal_type(MetadataRequest.kind)  # str
    reveal_type(MetadataRequest.valid_versions)  # VersionRange
    reveal_type(MetadataRequest.flexible_versions.max)  # int
    reveal_type(messages.ALL)  # tuple[str, ...]
    reveal_type(messages.by_key(3, "request"))  # type[Request]
    reveal_type(messages.by_key(3, "response"))  # type[Response]
    reveal_type(messages.by_key(3, "metadata").valid_versions)  # VersionRange
    reveal_type(kwire.backend)  # str
    reveal_type(kwire.__version__)  # str
    reveal_type(kwire.error_codes.name(6))  # str
    print(messages.NoSuchRequest)  # error


def json_form(request: MetadataRequest, obj: dict[str, object]) -> None:
    """``from_json`` returns an instance of the class that was passed to it."""
    reveal_type(kwire.to_json(request, 12))  # dict[str, Any]
    reveal_type(kwire.from_json(MetadataRequest, obj, 12))  # MetadataRequest
    kwire.from_json(MetadataRequest, "{}", 12)  # error


def frames(request: MetadataRequest, reply: MetadataResponse) -> None:
    """Functions for requests reject responses, and the other way around."""
    reveal_type(framing.encode_request(request, 12, 7, client_id="me"))  # bytes
    reveal_type(framing.encode_response(reply, 12, correlation_id=7))  # bytes
    framing.encode_request(reply, 12)  # error
    framing.encode_response(request, 12)  # error
    framing.encode_request(RequestHeader(), 2)  # error
    data = framing.encode_prefixed(request, 12)
    reveal_type(framing.decode_request(data))  # tuple[RequestHeader, Request]
    _, body = framing.decode_request(data)
    if isinstance(body, MetadataRequest):
        reveal_type(body.topics)  # tuple[MetadataRequestTopic, ...] | None
    answer = framing.decode_response(MetadataResponse, data, 12)
    reveal_type(answer)  # tuple[int, MetadataResponse]
    reveal_type(framing.decode_prefixed(MetadataRequest, data))  # MetadataRequest
    reveal_type(next(framing.FrameSplitter().feed(data)))  # bytes | memoryview[int]
    framing.decode_response(MetadataRequest, data, 12)  # error
    framing.decode_request("text")  # error


def any_message(message: messages.Message) -> None:
    """``Message`` is available for annotations only."""
    reveal_type(message.replace(error_code=0))  # Message
    reveal_type(kwire.encode(message, message.valid_versions.max))  # bytes
    reveal_type(message == message)  # bool


def reading_records(data: bytes, position: int | None) -> None:
    """``decode_records`` returns the next offset as int if an offset is passed.

    It may also be None if the start offset is omitted or None.
    """
    rows, after = records.decode_records(data, start_offset=7)
    reveal_type(rows)  # list[Record]
    reveal_type(after)  # int
    reveal_type(records.decode_records(data)[1])  # int | None
    reveal_type(records.decode_records(data, start_offset=None)[1])  # int | None
    reveal_type(records.decode_records(data, start_offset=position)[1])  # int | None
    records.decode_records(data, start_offset="7")  # error


def own_schema(text: str, data: bytes) -> None:
    """Checkers do not know the fields of a class that is created at run time."""
    cls = kwire.messages.message_class(text)
    kwire.encode(cls(topics=[]), 0)
    print(kwire.decode(cls, data, 0).topics)
    kwire.messages.message_class(data)  # error


def failing(data: bytes) -> None:
    """Errors have typed attributes."""
    try:
        kwire.decode(MetadataResponse, data, 12)
    except kwire.DecodeError as error:
        reveal_type(error.offset)  # int
        reveal_type(error.path)  # str
        reveal_type(error.version)  # int | None
    except kwire.KwireError as error:
        reveal_type(error)  # KwireError


async def awaiting(kafka: client.Kafka) -> None:
    """The asyncio client has coroutine methods."""
    reveal_type(await kafka.topics())  # TopicsByName
    reveal_type(await kafka.sizes(["orders"]))  # dict[tuple[str, int], int]
    reveal_type(await kafka.offsets("orders"))  # dict[int, int]
    reveal_type(await kafka.offsets(["orders"]))  # dict[tuple[str, int], int]
    await kafka.sizes(names=["orders"])  # error


def blocking(kafka: client.KafkaSync) -> None:
    """The blocking client has the same methods."""
    reveal_type(kafka.topics())  # TopicsByName
    reveal_type(kafka.sizes(["orders"]))  # dict[tuple[str, int], int]
    reveal_type(kafka.offsets("orders"))  # dict[int, int]
    reveal_type(kafka.offsets(["orders"]))  # dict[tuple[str, int], int]
    kafka.sizes(names=["orders"])  # error
