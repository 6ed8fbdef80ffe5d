# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs KIP-87, document 003: both migration plans, with producers and consumers.

A broker in a migration stage stores messages, serves them with the draft's Produce 3
and Fetch 3, and can compact its log. A new stage keeps the log, as an upgrade does.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import RemoteProtocolError
from ...messages import framing
from ...schema import error_codes
from .. import kip87_tombstone_flag as kip87
from ..kip87_tombstone_flag import Message, requests
from ..kip87_tombstone_flag.stages import UPGRADES, VERSION
from .loopback import LoopbackBroker
from .requirement import Document, Observation, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BIT = kip87.TOMBSTONE_BIT
_OLD_VERSION = 2
_TOPIC = "t"


class _Broker:
    """Broker with one partition in a migration stage. None means before the draft."""

    def __init__(self) -> None:
        self.stage: kip87.Stage | None = None
        self.log: list[Message] = []

    def enter(self, stage: str, *, keeps_log: bool = False) -> None:
        """Start a stage. The log becomes empty, unless this is an upgrade."""
        self.stage = kip87.STAGES[stage]
        if not keeps_log:
            self.log = []

    def compact(self) -> None:
        """Keep the last message for every key, unless this message is a delete."""
        assert self.stage is not None
        last = {message.key: message for message in self.log}
        self.log = [kept for kept in last.values() if not self.stage.is_delete(kept)]

    def answer(self, frame: bytes) -> bytes:
        """Answer Produce and Fetch requests.

        Raises ``RemoteProtocolError``, which closes the connection, before the draft.
        """
        header, request = requests.decode_request(frame)
        version = header.request_api_version
        if self.stage is None:
            raise RemoteProtocolError("the broker does not support the draft yet")
        if isinstance(request, requests.ProduceRequest):
            response = self._produce(self.stage, request, version)
        else:
            response = self._fetch(self.stage, version)
        return framing.encode_response(response, version, header.correlation_id)

    def _produce(self, stage: kip87.Stage, request: Any, version: int) -> Any:
        code = error_codes.NONE
        (partition,) = request.topic_data[0].partition_data
        for message in kip87.decode(partition.records):
            outcome = stage.on_produce(version, message)
            if outcome.message is None:
                code = outcome.error_code
            else:
                offset = len(self.log)
                self.log.append(outcome.message._replace(offset=offset))
        cls = requests.ProduceResponse
        row = cls.PartitionProduceResponse(error_code=code)
        topic = cls.TopicProduceResponse(name=_TOPIC, partition_responses=[row])
        return cls(responses=[topic])

    def _fetch(self, stage: kip87.Stage, version: int) -> Any:
        served = [stage.on_fetch(version, message).message for message in self.log]
        records = kip87.encode(message for message in served if message is not None)
        cls = requests.FetchResponse
        row = cls.PartitionData(high_watermark=len(self.log), records=records)
        topic = cls.FetchableTopicResponse(topic=_TOPIC, partitions=[row])
        return cls(responses=[topic])


class _Cluster:
    """Broker on a loopback socket, with a producer and a consumer."""

    def __init__(self, broker: _Broker, loopback: LoopbackBroker) -> None:
        self.broker = broker
        self._loopback = loopback

    def produce(self, version: int, messages: Iterable[Message]) -> str:
        """Send messages. Returns the error name, or "closed" without a response."""
        cls = requests.ProduceRequest
        records = kip87.encode(messages)
        row = cls.PartitionProduceData(index=0, records=records)
        topic = cls.TopicProduceData(name=_TOPIC, partition_data=[row])
        request = cls(acks=1, timeout_ms=1000, topic_data=[topic])
        response = self._exchange(request, version, requests.ProduceResponse)
        if response is None:
            return "closed"
        (row,) = response.responses[0].partition_responses
        return error_codes.name(row.error_code)

    def fetch(self, version: int) -> tuple[Message, ...]:
        """Return all messages that this Fetch version receives."""
        return kip87.decode(self.fetch_bytes(version))

    def fetch_bytes(self, version: int) -> bytes:
        """Return the bytes of all messages that this Fetch version receives."""
        cls = requests.FetchRequest
        row = cls.FetchPartition(fetch_offset=0, partition_max_bytes=2**20)
        topic = cls.FetchTopic(topic=_TOPIC, partitions=[row])
        request = cls(max_wait_ms=10, topics=[topic])
        response = self._exchange(request, version, requests.FetchResponse)
        return b"" if response is None else response.responses[0].partitions[0].records

    def _exchange(self, request: Any, version: int, response: type[Any]) -> Any:
        with self._loopback.connect() as connection:
            frame = connection.exchange(framing.encode_request(request, version, 9))
        if frame is None:
            return None
        return framing.decode_response(response, frame, version)[1]


@contextmanager
def _start_brokers() -> Iterator[_Cluster]:
    broker = _Broker()
    with LoopbackBroker(broker.answer) as loopback:
        yield _Cluster(broker, loopback)


def _tombstone(key: bytes = b"k") -> Message:
    """Return a delete with a value, which is only a delete because of the flag."""
    return Message(key=key, value=b"v", attributes=_BIT)


def _describe(message: Message) -> str:
    value = "null" if message.value is None else message.value.decode()
    flag = ", flag" if message.attributes & _BIT else ""
    return f"magic {message.magic}, value {value}{flag}"


def _store_and_fetch(
    stage: str, produce: int, message: Message, fetch: int, cluster: _Cluster
) -> Observation:
    """Produce a message in a stage, and describe the message that Fetch receives."""
    cluster.broker.enter(stage)
    error = cluster.produce(produce, [message])
    received = cluster.fetch(fetch)
    if not received:
        return Observation(error)
    return Observation(_describe(received[0]))


def _observe_zero_copy(stage: str, version: int, cluster: _Cluster) -> Observation:
    """Compare the bytes in a Fetch response with the stored bytes."""
    cluster.broker.enter(stage)
    cluster.produce(VERSION, [_tombstone()])
    received = cluster.fetch_bytes(version)
    stored = kip87.encode(cluster.broker.log)
    (message,) = kip87.decode(received)
    value = "the stored bytes" if received == stored else "converted"
    return Observation(f"{value}: {_describe(message)}")


def _observe_compaction(
    stage: str, version: int, last: Message, cluster: _Cluster
) -> str:
    """Produce a value and then ``last``. Returns whether compaction keeps the key."""
    first = last._replace(value=b"w", attributes=0)
    before = stage if last.magic == 2 else "magic 1"
    cluster.broker.enter(before)
    cluster.produce(version, [first, last])
    cluster.broker.enter(stage, keeps_log=True)
    stored = _describe(cluster.fetch(VERSION)[-1])
    cluster.broker.compact()
    keys = {message.key for message in cluster.fetch(VERSION)}
    return f"{stored}: {'kept' if last.key in keys else 'deleted'}"


def _observe_first_stage(cluster: _Cluster) -> str:
    """Delete one key with the flag, and another key with a null value."""
    cluster.broker.enter("two-stage 1")
    values = [Message(key=key, value=b"w") for key in (b"flag", b"null", b"none")]
    deletes = [_tombstone(b"flag"), Message(key=b"null", value=None)]
    cluster.produce(VERSION, values + deletes)
    cluster.broker.compact()
    kept = [(message.key or b"").decode() for message in cluster.fetch(VERSION)]
    deleted = [key for key in ("flag", "null", "none") if key not in kept]
    return f"deleted by {' and by '.join(deleted)}"


def _observe_upgrade(cluster: _Cluster) -> Observation:
    """Follow the upgrade steps, and send a tombstone with a value after every step."""
    parts = []
    steps = [step for step, _ in UPGRADES["magic"]]
    for count in range(1, len(steps) + 1):
        cluster.broker.stage = kip87.stage_after(steps[:count])
        cluster.broker.log = []
        parts.append(cluster.produce(VERSION, [_tombstone()]))
        if cluster.broker.stage is not None:
            value = cluster.fetch(VERSION)[0].value
            parts[-1] = "null" if value is None else f"value {value.decode()}"
    return Observation(", ".join(parts))


def _observe_order(cluster: _Cluster) -> str:
    """Try to raise the message format before clients are upgraded."""
    steps = [step for step, _ in UPGRADES["magic"]]
    try:
        kip87.stage_after([*steps[:2], steps[3]])
    except ValueError as error:
        expected = "the next step must be 'clients'"
        return "refused: clients first" if expected in str(error) else str(error)
    return "accepted"


_V2 = partial(Message, key=b"k", magic=1)

DOCUMENT = Document(
    "003",
    "kip87_tombstone_flag",
    "003-kip-87-tombstone-flag",
    "KIP-87: a tombstone flag for compacted topics",
    "a flag marks deletes; two migration plans with stages",
    _start_brokers,
    (
        Requirement(
            "Stage 1, format 0.10.1-1: the broker understands the flag and null",
            "deleted by flag and by null",
            "kip87_tombstone_flag.Stage.is_delete",
            "test_kip87_stages.py::test_fetch_cell",
            _observe_first_stage,
        ),
        Requirement(
            "Stage 1: an older consumer receives a null value for the flag",
            "magic 1, value null",
            "kip87_tombstone_flag.Stage.on_fetch",
            "test_kip87_stages.py::test_fetch_cell",
            partial(
                _store_and_fetch, "two-stage 1", VERSION, _tombstone(), _OLD_VERSION
            ),
        ),
        Requirement(
            "Stage 2, format 0.10.2: the broker understands the flag only",
            "magic 2, value v, flag: deleted",
            "kip87_tombstone_flag.Stage.is_delete",
            "test_kip87_stages.py::test_fetch_cell",
            partial(_observe_compaction, "two-stage 2", VERSION, _tombstone()),
        ),
        Requirement(
            "Plan by magic; code, protocol, clients, format: a flagged value is stored"
            " after the last step only",
            "closed, null, null, value v",
            "kip87_tombstone_flag.stage_after",
            "test_kip87_stages.py::test_tombstone_through_the_whole_migration",
            _observe_upgrade,
        ),
        Requirement(
            "Clients are upgraded before the format is raised",
            "refused: clients first",
            "kip87_tombstone_flag.stage_after",
            "test_kip87_stages.py::test_steps_out_of_order_are_refused",
            _observe_order,
        ),
        Requirement(
            "Before the format: Produce 3 with the flag is converted to null",
            "magic 1, value null",
            "kip87_tombstone_flag.Stage.on_produce",
            "test_kip87_stages.py::test_produce_cell",
            partial(_store_and_fetch, "magic 1", VERSION, _tombstone(), VERSION),
        ),
        Requirement(
            "Produce 2 works as today",
            "magic 1, value v",
            "kip87_tombstone_flag.Stage.on_produce",
            "test_kip87_stages.py::test_produce_cell",
            partial(
                _store_and_fetch, "magic 1", _OLD_VERSION, _V2(value=b"v"), VERSION
            ),
        ),
        Requirement(
            "Fetch 2 keeps zero copy",
            "the stored bytes: magic 1, value null",
            "kip87_tombstone_flag.Stage.on_fetch",
            "test_kip87_stages.py::test_fetch_cell",
            partial(_observe_zero_copy, "magic 1", _OLD_VERSION),
        ),
        Requirement(
            "After the format: Fetch 3 receives the flag and the value",
            "the stored bytes: magic 2, value v, flag",
            "kip87_tombstone_flag.Stage.on_fetch",
            "test_kip87_stages.py::test_client_and_broker_speak_the_draft",
            partial(_observe_zero_copy, "magic 2", VERSION),
        ),
        Requirement(
            "Fetch 2 loses zero copy and receives a null value",
            "converted: magic 1, value null",
            "kip87_tombstone_flag.down_convert",
            "test_kip87_stages.py::test_client_and_broker_speak_the_draft",
            partial(_observe_zero_copy, "magic 2", _OLD_VERSION),
        ),
        Requirement(
            "Compaction of magic 0 uses the null value",
            "magic 0, value null: deleted",
            "kip87_tombstone_flag.is_tombstone",
            "test_kip87_stages.py"
            "::test_messages_stored_before_the_stage_keep_their_rule",
            partial(_observe_compaction, "magic 2", 1, _V2(magic=0, value=None)),
        ),
        Requirement(
            "Compaction of magic 1 uses the null value",
            "magic 1, value null: deleted",
            "kip87_tombstone_flag.is_tombstone",
            "test_kip87_stages.py"
            "::test_messages_stored_before_the_stage_keep_their_rule",
            partial(_observe_compaction, "magic 2", _OLD_VERSION, _V2(value=None)),
        ),
        Requirement(
            "Compaction of magic 2 uses the flag",
            "magic 2, value v, flag: deleted",
            "kip87_tombstone_flag.is_tombstone",
            "test_kip87_tombstone_flag.py"
            "::test_bit_alone_decides_in_the_drafts_magic_2",
            partial(_observe_compaction, "magic 2", VERSION, _tombstone()),
        ),
        Requirement(
            "Without the flag, a value of magic 2 is not a delete",
            "magic 2, value v: kept",
            "kip87_tombstone_flag.is_tombstone",
            "test_kip87_tombstone_flag.py"
            "::test_bit_alone_decides_in_the_drafts_magic_2",
            partial(
                _observe_compaction, "magic 2", VERSION, Message(key=b"k", value=b"v")
            ),
        ),
        Requirement(
            "Note: Produce 3 rejects a null value without the flag",
            "INVALID_RECORD",
            "kip87_tombstone_flag.Stage.on_produce",
            "test_kip87_stages.py::test_produce_cell",
            partial(
                _store_and_fetch,
                "magic 2",
                VERSION,
                Message(key=b"k", value=None),
                VERSION,
            ),
        ),
    ),
)
