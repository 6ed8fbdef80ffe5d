# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Migration plans in the KIP-87 draft, with one test per table cell.

A cell is a stage and a request. The other tests cover the step order, a tombstone
during a complete migration, and both sides on a socket: with the draft's Produce 3 and
Fetch 3, and with brokers that use these version numbers differently.
"""

import importlib

import pytest

from tests.drafts.loopback import ask, serving
from tests.harness.sweeps import sweep

BIT = 0x10
STAGES = ("two-stage 1", "two-stage 2", "magic 1", "magic 2")


@pytest.fixture
def kip87(kwire):
    """Module of the draft on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.drafts.kip87_tombstone_flag")


@pytest.fixture
def requests(kwire):
    """Request classes of the draft on the tested engine."""
    return importlib.import_module(
        f"{kwire.__name__}.drafts.kip87_tombstone_flag.requests"
    )


KINDS = {
    "old value": {"magic": 1, "value": b"v"},
    "old null": {"magic": 1, "value": None},
    "plain": {"magic": 2, "value": b"v"},
    "tombstone": {"magic": 2, "value": None, "attributes": BIT},
    "valued tombstone": {"magic": 2, "value": b"v", "attributes": BIT},
    "null": {"magic": 2, "value": None},
}
"""Messages by name, all with key k and time 5."""


def make_message(kip87, kind):
    """Return the message that ``KINDS`` describes under the name ``kind``."""
    return kip87.Message(3, 5, b"k", **KINDS[kind])


REFUSED = None, False
PRODUCE_CELLS = [
    ("two-stage 1", 2, "old value", "store", ("old value", False)),
    ("two-stage 1", 2, "old null", "store", ("old null", True)),
    ("two-stage 1", 3, "plain", "store", ("plain", False)),
    ("two-stage 1", 3, "tombstone", "store", ("tombstone", True)),
    ("two-stage 1", 3, "valued tombstone", "store", ("valued tombstone", True)),
    ("two-stage 1", 3, "null", "store", ("null", True)),
    ("two-stage 2", 2, "old value", "up", ("plain", False)),
    ("two-stage 2", 2, "old null", "up", ("tombstone", True)),
    ("two-stage 2", 3, "plain", "store", ("plain", False)),
    ("two-stage 2", 3, "tombstone", "store", ("tombstone", True)),
    ("two-stage 2", 3, "valued tombstone", "store", ("valued tombstone", True)),
    ("two-stage 2", 3, "null", "reject", REFUSED),
    ("magic 1", 2, "old value", "store", ("old value", False)),
    ("magic 1", 2, "old null", "store", ("old null", True)),
    ("magic 1", 3, "plain", "down", ("old value", False)),
    ("magic 1", 3, "tombstone", "down", ("old null", True)),
    ("magic 1", 3, "valued tombstone", "down", ("old null", True)),
    ("magic 1", 3, "null", "reject", REFUSED),
    ("magic 2", 2, "old value", "up", ("plain", False)),
    ("magic 2", 2, "old null", "up", ("tombstone", True)),
    ("magic 2", 3, "plain", "store", ("plain", False)),
    ("magic 2", 3, "tombstone", "store", ("tombstone", True)),
    ("magic 2", 3, "valued tombstone", "store", ("valued tombstone", True)),
    ("magic 2", 3, "null", "reject", REFUSED),
]
"""Inputs: stage, version, sent message. Results: action, stored message, is delete."""

FETCH_CELLS = [
    *(
        (stage, version, kind, "serve", kind, kind == "old null")
        for stage in STAGES
        for version in (2, 3)
        for kind in ("old value", "old null")
    ),
    *(
        (stage, 3, kind, "serve", kind, kind in ("tombstone", "valued tombstone"))
        for stage in ("two-stage 1", "two-stage 2", "magic 2")
        for kind in ("plain", "tombstone", "valued tombstone")
    ),
    *(
        (stage, 2, kind, "down", served, served == "old null")
        for stage in ("two-stage 1", "two-stage 2", "magic 2")
        for kind, served in (
            ("plain", "old value"),
            ("tombstone", "old null"),
            ("valued tombstone", "old null"),
        )
    ),
    ("two-stage 1", 2, "null", "down", "old null", True),
    ("two-stage 1", 3, "null", "serve", "null", True),
]
"""Inputs: stage, version, stored message. Results: action, sent message, is delete."""


def cell(value):
    """Return the test id of a parameter. Only texts and numbers are part of it."""
    return str(value) if isinstance(value, (str, int)) else None


@pytest.mark.parametrize(
    ("stage", "version", "sent", "action", "stored"), PRODUCE_CELLS, ids=cell
)
def test_produce_cell(kip87, stage, version, sent, action, stored):
    """The broker stores, converts or rejects the message as the table says.

    It also detects whether the stored message is a delete.
    """
    kind, is_delete = stored
    outcome = kip87.STAGES[stage].on_produce(version, make_message(kip87, sent))
    expected = None if kind is None else make_message(kip87, kind)
    assert (outcome.action, outcome.message, outcome.is_delete) == (
        action,
        expected,
        is_delete,
    )
    assert bool(outcome.reason) is (kind is None)
    assert outcome.error_code == (0 if kind else 87)
    lost = outcome.report.values if outcome.report else 0
    assert lost == (action == "down" and sent == "valued tombstone")
    assert (outcome.report is not None) is (action in ("up", "down"))


@sweep(("stage", "version", "stored", "action", "served", "is_delete"), FETCH_CELLS)
def test_fetch_cell(kip87, stage, version, stored, action, served, is_delete):
    """The broker sends the stored message, or converts it for an old consumer.

    Only an unchanged message can be sent with zero copy.
    """
    outcome = kip87.STAGES[stage].on_fetch(version, make_message(kip87, stored))
    assert (outcome.action, outcome.message) == (action, make_message(kip87, served))
    assert outcome.is_delete is is_delete
    assert outcome.zero_copy is (action == "serve")
    lost = outcome.report.values if outcome.report else 0
    assert lost == (action == "down" and stored == "valued tombstone")
    assert outcome.report is None or outcome.report.null_values == 0


def test_every_cell_is_tested(kip87):
    """The table has four stages with complete rows, and no other stage."""
    assert tuple(kip87.STAGES) == STAGES
    produced = {(row[0], row[1], row[2]) for row in PRODUCE_CELLS}
    sent = [(2, kind) for kind in KINDS if kind.startswith("old")]
    sent += [(3, kind) for kind in KINDS if not kind.startswith("old")]
    assert produced == {(stage, *row) for stage in STAGES for row in sent}
    stored = {
        (stage, row[4][0])
        for stage in STAGES
        for row in PRODUCE_CELLS
        if row[0] == stage and row[4][0]
    }
    fetched = {(row[0], row[1], row[2]) for row in FETCH_CELLS}
    assert {
        (stage, version, kind) for stage, kind in stored for version in (2, 3)
    } <= fetched


@pytest.mark.parametrize("name", STAGES)
def test_messages_stored_before_the_stage_keep_their_rule(kip87, name):
    """A message that was stored before has magic 0 or 1.

    Its null value decides whether it is a delete, even in the stage "flag only".
    """
    stage = kip87.STAGES[name]
    for magic in (0, 1):
        assert stage.is_delete(kip87.Message(value=None, magic=magic))
        assert not stage.is_delete(
            kip87.Message(value=b"v", magic=magic, attributes=BIT)
        )


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("version", [0, 1])
def test_fetch_below_2_gets_magic_0(kip87, name, version):
    """An old consumer gets magic 0, even if the broker stores a newer magic.

    The conversion removes the timestamp, which the report counts.
    """
    outcome = kip87.STAGES[name].on_fetch(version, make_message(kip87, "old null"))
    assert outcome.message == kip87.Message(3, -1, b"k", None, magic=0)
    assert (outcome.action, outcome.report.timestamps) == ("down", 1)


@pytest.mark.parametrize("name", STAGES)
def test_message_with_a_wrong_magic_is_rejected(kwire, kip87, name):
    """A request is rejected if its messages do not have the magic of its version.

    Versions above 3 are unknown, and raise ``UnsupportedVersion``.
    """
    stage = kip87.STAGES[name]
    for version, kind in ((0, "plain"), (2, "tombstone"), (3, "old value")):
        outcome = stage.on_produce(version, make_message(kip87, kind))
        assert (outcome.action, outcome.message) == ("reject", None)
        assert outcome.reason.startswith(f"Produce v{version} requires magic ")
    for version in (-1, 4):
        for ask_stage in (stage.on_produce, stage.on_fetch):
            with pytest.raises(kwire.UnsupportedVersion, match="v0 to v3"):
                ask_stage(version, make_message(kip87, "plain"))


@pytest.mark.parametrize("version", [2, 3])
def test_stage_magic_1_serves_no_magic_2_to_old_consumers(kwire, kip87, version):
    """In this stage, the log should not contain magic 2.

    A new consumer gets such a message unchanged. For an old consumer, it is an error.
    """
    stage, message = kip87.STAGES["magic 1"], make_message(kip87, "plain")
    if version == 3:
        assert stage.on_fetch(version, message).message == message
        return
    with pytest.raises(kwire.EncodeError, match="magic 1 stores"):
        stage.on_fetch(version, message)


def test_tombstone_bit_is_that_of_the_stage(kip87):
    """If a stage has another bit, the default bit has no meaning."""
    stage = kip87.STAGES["magic 2"]._replace(tombstone_bit=0x40)
    message = make_message(kip87, "plain")._replace(attributes=0x40)
    assert stage.on_produce(3, message).is_delete
    assert stage.on_fetch(2, message).message == make_message(kip87, "old null")
    assert stage.on_produce(3, make_message(kip87, "tombstone")).action == "reject"
    converted = stage.on_produce(2, make_message(kip87, "old null")).message
    assert converted.attributes == 0x40


# Order of the steps -------------------------------------------------------------------

MAGIC_STEPS = ("code 0.10.2-IV0", "protocol 0.10.2", "clients", "format 0.10.2")
TWO_STAGE_STEPS = ("format 0.10.1-1", "clients", "format 0.10.2")


@pytest.mark.parametrize(
    ("plan", "steps", "names"),
    [
        ("magic", MAGIC_STEPS, (None, None, "magic 1", "magic 1", "magic 2")),
        ("two-stage", TWO_STAGE_STEPS, (None, *STAGES[:1] * 2, "two-stage 2")),
    ],
)
def test_steps_lead_through_the_stages(kip87, plan, steps, names):
    """The order is code, protocol, clients, format. Every step leads to one stage."""
    for count, name in enumerate(names):
        stage = kip87.stage_after(steps[:count], plan)
        assert (stage and stage.name) == name


def test_steps_out_of_order_are_refused(kip87):
    """The error contains the step that must be done first."""
    with pytest.raises(ValueError, match="the next step must be 'code 0"):
        kip87.stage_after(MAGIC_STEPS[1:])
    with pytest.raises(ValueError, match=r"the next step must be 'clients' \(got 'fo"):
        kip87.stage_after((*MAGIC_STEPS[:2], MAGIC_STEPS[3]))
    with pytest.raises(ValueError, match="the upgrade is complete"):
        kip87.stage_after((*MAGIC_STEPS, "clients"))
    with pytest.raises(ValueError, match="plan must be one of two-stage, magic"):
        kip87.stage_after((), "three-stage")


def test_tombstone_through_the_whole_migration(kip87):
    """A value with the bit is lost before the format upgrade, and kept afterwards."""
    sent = make_message(kip87, "valued tombstone")
    stages = [kip87.stage_after(MAGIC_STEPS[:count]) for count in (2, 3, 4)]
    stored = [stage.on_produce(3, sent).message for stage in stages]
    assert [message.value for message in stored] == [None, None, b"v"]
    last = stages[-1]
    assert [last.on_fetch(3, message).message for message in stored] == stored
    seen = [last.on_fetch(2, message) for message in stored]
    assert {outcome.message for outcome in seen} == {make_message(kip87, "old null")}
    assert [outcome.zero_copy for outcome in seen] == [True, True, False]
    assert all(outcome.is_delete for outcome in seen)


def test_null_without_the_bit_comes_back_to_life(kip87):
    """The message is a delete in stage 1 of the first plan, but not in stage 2.

    The document overlooks this: such a message remains in the log after the upgrade.
    When it is converted for an old consumer, the report says that it becomes a delete.
    """
    first, second = (kip87.STAGES[name] for name in STAGES[:2])
    stored = first.on_produce(3, make_message(kip87, "null"))
    assert stored.is_delete
    served = second.on_fetch(2, stored.message)
    assert (served.is_delete, served.message) == (
        False,
        make_message(kip87, "old null"),
    )
    assert served.report.null_values == 1


# On a socket --------------------------------------------------------------------------


class Broker:
    """Broker that supports the draft in one stage, with a log for one partition."""

    def __init__(self, kwire, kip87, requests, stage):
        self.encode = kwire.messages.framing.encode_response
        self.kip87, self.requests, self.stage = kip87, requests, stage
        self.log = []

    def answer(self, frame):
        """Return the response to one request.

        An unsupported request raises an error, which closes the connection.
        """
        header, request = self.requests.decode_request(frame)
        act = self.produce if request.api_key == 0 else self.fetch
        version = header.request_api_version
        return self.encode(act(request, version), version, header.correlation_id)

    def produce(self, request, version):
        """Process the messages according to the stage, and store the result."""
        cls = self.requests.ProduceResponse
        (topic,) = request.topic_data
        (partition,) = topic.partition_data
        base, code = len(self.log), 0
        for message in self.kip87.decode(partition.records):
            outcome = self.stage.on_produce(version, message)
            if outcome.message is None:
                code = outcome.error_code
            else:
                offset = len(self.log)
                self.log.append(outcome.message._replace(offset=offset))
        row = cls.PartitionProduceResponse(error_code=code, base_offset=base)
        return cls(
            responses=[
                cls.TopicProduceResponse(name=topic.name, partition_responses=[row])
            ]
        )

    def fetch(self, request, version):
        """Return the log from an offset on, according to the stage."""
        cls = self.requests.FetchResponse
        (topic,) = request.topics
        (partition,) = topic.partitions
        served = [
            self.stage.on_fetch(version, message).message
            for message in self.log[partition.fetch_offset :]
        ]
        row = cls.PartitionData(
            high_watermark=len(self.log), records=self.kip87.encode(served)
        )
        return cls(
            responses=[cls.FetchableTopicResponse(topic=topic.topic, partitions=[row])]
        )


class Client:
    """Producer and consumer that require a broker with the draft."""

    def __init__(self, kwire, kip87, requests, address):
        self.kwire, self.kip87, self.requests = kwire, kip87, requests
        self.address = address

    def ask(self, request, version, cls):
        """Send a request over a new connection.

        Return the first topic of the response. Raise ``RemoteProtocolError`` if the
        broker closes the connection.
        """
        data = self.kwire.messages.framing.encode_request(request, version, 9)
        frame = ask(self.kwire, self.address, data)
        if frame is None:
            reason = f"the broker closed the connection on version {version}"
            raise self.kwire.RemoteProtocolError(reason)
        _, response = self.kwire.messages.framing.decode_response(cls, frame, version)
        return response.responses[0]

    def produce(self, version, *messages, acks=1):
        """Send messages with a Produce version, and return the error code."""
        cls = self.requests.ProduceRequest
        rows = [cls.PartitionProduceData(index=0, records=self.kip87.encode(messages))]
        topics = [cls.TopicProduceData(name="t", partition_data=rows)]
        request = cls(acks=acks, timeout_ms=1000, topic_data=topics)
        topic = self.ask(request, version, self.requests.ProduceResponse)
        return topic.partition_responses[0].error_code

    def fetch(self, version):
        """Return all messages in a Fetch version."""
        cls = self.requests.FetchRequest
        rows = [cls.FetchPartition(fetch_offset=0, partition_max_bytes=10**6)]
        request = cls(
            max_wait_ms=10, topics=[cls.FetchTopic(topic="t", partitions=rows)]
        )
        topic = self.ask(request, version, self.requests.FetchResponse)
        return self.kip87.decode(topic.partitions[0].records)


def kinds_of(messages):
    """Return the name in ``KINDS`` for each message."""
    names = {
        (kind["magic"], kind.get("attributes", 0), kind["value"]): name
        for name, kind in KINDS.items()
    }
    return [names[row.magic, row.attributes, row.value] for row in messages]


@pytest.mark.parametrize("name", STAGES)
def test_client_and_broker_speak_the_draft(kwire, kip87, requests, name):
    """New and old producers and consumers observe the results of the table."""
    broker = Broker(kwire, kip87, requests, kip87.STAGES[name])
    with serving(kwire, broker.answer) as address:
        client = Client(kwire, kip87, requests, address)
        codes = [
            client.produce(
                2, make_message(kip87, "old value"), make_message(kip87, "old null")
            ),
            client.produce(
                3, make_message(kip87, "plain"), make_message(kip87, "valued tombstone")
            ),
            client.produce(3, make_message(kip87, "null")),
        ]
        new, old = client.fetch(3), client.fetch(2)
    assert codes == [0, 0, 0 if name == "two-stage 1" else 87]
    stored = {
        "two-stage 1": ["old value", "old null", "plain", "valued tombstone", "null"],
        "two-stage 2": ["plain", "tombstone", "plain", "valued tombstone"],
        "magic 1": ["old value", "old null", "old value", "old null"],
        "magic 2": ["plain", "tombstone", "plain", "valued tombstone"],
    }[name]
    assert kinds_of(new) == stored
    seen = ["old value", "old null", "old value", "old null"]
    assert kinds_of(old) == seen + ["old null"] * (len(stored) - 4)
    assert [row.offset for row in new] == [row.offset for row in old]
    assert [row.offset for row in new] == list(range(len(stored)))


def todays_broker(kwire):
    """Return a server that decodes requests as Kafka's own.

    It fails if the request of a draft can be decoded.
    """

    def answer(frame):
        header, _ = kwire.messages.framing.decode_request(frame)
        raise AssertionError(f"the draft passed for Kafka's own: {header}")

    return answer


def old_broker(frame):
    """Close the connection on version 3, as brokers do for unknown versions."""
    assert frame[2:4] == b"\0\3"


@pytest.mark.parametrize("acks", [-1, 0, 1])
def test_brokers_of_today_take_no_draft_for_their_own(kwire, kip87, requests, acks):
    """The layouts do not match, because Kafka assigned these versions differently."""
    messages = [make_message(kip87, kind) for kind in ("plain", "valued tombstone")]
    for answer in (todays_broker(kwire), old_broker):
        with serving(kwire, answer) as address:
            client = Client(kwire, kip87, requests, address)
            with pytest.raises(kwire.RemoteProtocolError, match="closed the conn"):
                client.produce(3, *messages, acks=acks)
            with pytest.raises(kwire.RemoteProtocolError, match="closed the conn"):
                client.fetch(3)


def test_record_batches_of_today_are_named_to_the_draft(kwire, kip87, requests):
    """The first checksum shows that the broker sends Kafka's magic 2."""
    batch = kwire.records.encode_batch([(b"k", None, 5)])
    cls = requests.FetchResponse

    def answer(frame):
        header, _ = requests.decode_request(frame)
        row = cls.PartitionData(high_watermark=1, records=batch)
        topic = cls.FetchableTopicResponse(topic="t", partitions=[row])
        response = cls(responses=[topic])
        return kwire.messages.framing.encode_response(
            response, 3, header.correlation_id
        )

    with serving(kwire, answer) as address:
        client = Client(kwire, kip87, requests, address)
        with pytest.raises(kwire.CorruptBatch, match="Kafka's magic 2"):
            client.fetch(3)


@sweep("acks", [-1, 0, 1])
@sweep("timeout_ms", [0, 1000, 30_000, 65_536, 2**31 - 1])
@sweep("name", ["t", "topic", "x" * 249])
def test_produce_3_of_kafka_is_not_the_draft(kwire, requests, acks, timeout_ms, name):
    """Kafka's Produce 3 is an error for a broker with the draft."""
    cls = kwire.messages.ProduceRequest
    batch = kwire.records.encode_batch([(b"k", b"v")])
    rows = [cls.PartitionProduceData(index=0, records=batch)]
    topics = [cls.TopicProduceData(name=name, partition_data=rows)]
    for transactional_id in (None, "", "x", "transaction"):
        request = cls(
            transactional_id=transactional_id,
            acks=acks,
            timeout_ms=timeout_ms,
            topic_data=topics,
        )
        frame = kwire.messages.framing.encode_request(request, 3)[4:]
        with pytest.raises(kwire.DecodeError):
            requests.decode_request(frame)


@pytest.mark.parametrize("max_bytes", [0, 1, 1000, 50 * 2**20, 2**31 - 1])
@pytest.mark.parametrize("topics", [(), ("t",), ("topic", "u")])
def test_fetch_3_of_kafka_is_not_the_draft(kwire, requests, max_bytes, topics):
    """The draft has the topic count where Kafka has the response limit."""
    cls = kwire.messages.FetchRequest
    rows = [cls.FetchPartition(fetch_offset=1, partition_max_bytes=2**20)]
    request = cls(
        max_wait_ms=10,
        max_bytes=max_bytes,
        topics=[cls.FetchTopic(topic=name, partitions=rows) for name in topics],
    )
    frame = kwire.messages.framing.encode_request(request, 3)[4:]
    with pytest.raises(kwire.DecodeError):
        requests.decode_request(frame)


def test_requests_outside_the_draft_are_rejected(kwire, requests):
    """The draft has two requests, with versions up to 3."""
    frame = kwire.messages.framing.encode_request(kwire.messages.MetadataRequest(), 1)[
        4:
    ]
    with pytest.raises(kwire.UnsupportedVersion, match="API key 3"):
        requests.decode_request(frame)
    frame = kwire.messages.framing.encode_request(requests.FetchRequest(), 3)[4:]
    with pytest.raises(kwire.UnsupportedVersion):
        requests.decode_request(frame[:2] + b"\0\4" + frame[4:])
    with pytest.raises(kwire.TrailingBytes):
        requests.decode_request(frame + b"\0")
    for end in range(len(frame)):
        with pytest.raises(kwire.DecodeError):
            requests.decode_request(frame[:end])
