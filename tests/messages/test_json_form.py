# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON form equals Kafka's own, and encodes to the same bytes.

Kafka's ``JsonConverter`` wrote the vectors' JSON. Kafka's form omits unknown tagged
fields and record contents, so such vectors cannot be restored. The tests count them
instead of assuming their number.
"""

import base64
import copy
import itertools
import json
import math
import uuid
from collections import Counter

import pytest

from tests.harness import golden
from tests.harness.hostile import some
from tests.harness.sweeps import sweep

MESSAGES = sorted({vector.message for vector in golden.vectors()})
WITHOUT_CONVERTER = "SubscriptionInfoData"
WITH_RECORDS = 121


def find_lost_parts(package, message):
    """Return the set of parts that the JSON form lacks: "tags", "records", or both."""
    binding = package._engine.active.engine.binding_of(type(message))
    structs = (binding.message.struct, *binding.message.structs())
    fields = {struct.name: struct.fields for struct in structs}

    def visit(value):
        if isinstance(value, tuple):
            return set().union(*map(visit, value))
        if not hasattr(type(value), "__match_args__"):
            return set()
        lost = {"tags"} if value.unknown_tagged_fields else set()
        for field in fields[type(value).__name__]:
            inner = getattr(value, field.attribute)
            if field.type != "records":
                lost |= visit(inner)
            elif inner:
                lost.add("records")
        return lost

    return visit(message)


def decode_vector(package, vector):
    """Decode a golden vector. Return (class, message)."""
    cls = getattr(package.messages, vector.message)
    return cls, package.decode(cls, vector.data, vector.version)


@sweep("name", MESSAGES)
def test_to_json_equals_the_json_of_kafka(kwire, name):
    """The JSON form equals Kafka's JSON in values, types and key order."""
    for vector in golden.vectors():
        if vector.message == name != WITHOUT_CONVERTER:
            _, message = decode_vector(kwire, vector)
            form = kwire.to_json(message, vector.version)
            assert json.dumps(form) == json.dumps(vector.json)


@sweep("name", MESSAGES)
def test_kafkas_json_leads_back_to_kafkas_bytes(kwire, name):
    """``from_json`` restores Kafka's bytes from Kafka's JSON.

    If the JSON lacks unknown tags or records, ``to_json`` of the result returns the
    same JSON.
    """
    for vector in golden.vectors():
        if vector.message != name:
            continue
        cls, message = decode_vector(kwire, vector)
        form = vector.json
        if name == WITHOUT_CONVERTER:
            form = kwire.to_json(message, vector.version)
        restored = kwire.from_json(cls, form, vector.version)
        assert type(restored) is cls
        if find_lost_parts(kwire, message):
            assert kwire.to_json(restored, vector.version) == form
            assert kwire.encode(restored, vector.version) != vector.data
        else:
            assert kwire.encode(restored, vector.version) == vector.data


def test_few_vectors_lose_data_in_json(kwire):
    """The JSON of few vectors lacks data.

    Every flexible pair has one vector with unknown tags, and 121 vectors contain
    records.
    """
    counts = Counter()
    missing = Counter()
    flexible = set()
    for vector in golden.vectors():
        cls, message = decode_vector(kwire, vector)
        counts.update(find_lost_parts(kwire, message))
        if vector.version in cls.flexible_versions:
            flexible.add((vector.message, vector.version))
        if vector.json is None:
            missing[vector.message] += 1
    assert counts == {"tags": len(flexible), "records": WITH_RECORDS}
    assert set(missing) == {WITHOUT_CONVERTER}


def test_json_text_restores_the_message(kwire):
    """The JSON form can be written and read with the module ``json``."""
    cls = kwire.messages.HeartbeatRequest
    message = cls(group_id="né𝄞", generation_id=-7, group_instance_id=None)
    text = json.dumps(kwire.to_json(message, 4))
    assert kwire.from_json(cls, json.loads(text), 4) == message


def test_values_become_plain_json_types(kwire):
    """Integers of other types, including bool, become plain integers in the form."""

    class Seven:
        def __index__(self):
            return 7

    cls = kwire.messages.HeartbeatRequest
    for value, number in ((True, "1"), (Seven(), "7")):
        form = kwire.to_json(cls(generation_id=value), 0)
        assert json.dumps(form["generationId"]) == number


def test_zero_copy_messages_have_the_same_form(kwire):
    """A message with memoryviews has the same form as with bytes."""
    cls = kwire.messages.SaslAuthenticateRequest
    data = kwire.encode(cls(auth_bytes=b"\x00\xff\xfe"), 2)
    message = kwire.decode(cls, data, 2, zero_copy=True)
    assert isinstance(message.auth_bytes, memoryview)
    assert kwire.to_json(message, 2) == {"authBytes": "AP/+"}


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
        (-0.0, -0.0),
        (5e-324, 5e-324),
    ],
)
def test_floats_without_a_json_number_become_words(kwire, value, form):
    """NaN and infinities become strings, because JSON has no numbers for them.

    Kafka's converter does the same.
    """
    cls = kwire.messages.AlterClientQuotasRequest
    message = cls(entries=[cls.EntryData(ops=[cls.OpData(key="k", value=value)])])
    converted = kwire.to_json(message, 1)
    assert repr(converted["entries"][0]["ops"][0]["value"]) == repr(form)
    json.dumps(converted, allow_nan=False)
    restored = kwire.from_json(cls, converted, 1)
    assert repr(restored.entries[0].ops[0].value) == repr(value)


def test_an_integer_is_a_float_too(kwire):
    """An integer is a valid float, because JSON does not distinguish 42 from 42.0."""
    cls = kwire.messages.AlterClientQuotasRequest
    entry = {"entity": [], "ops": [{"key": "", "value": 42, "remove": False}]}
    decoded = kwire.from_json(cls, {"entries": [entry], "validateOnly": False}, 1)
    assert repr(decoded.entries[0].ops[0].value) == "42.0"


@pytest.mark.parametrize("value", [True, None, "1.5", "nan", 10**400, [1.5]])
def test_only_numbers_are_floats(kwire, value):
    """A bool, a string, and an integer beyond the float range are not valid floats."""
    cls = kwire.messages.AlterClientQuotasRequest
    entry = {"entity": [], "ops": [{"key": "", "value": value, "remove": False}]}
    with pytest.raises(kwire.errors.InvalidValue, match="expected a number") as caught:
        kwire.from_json(cls, {"entries": [entry], "validateOnly": False}, 1)
    assert caught.value.path == "entries[0].ops[0].value"


def test_uuids_are_written_as_kafka_prints_them(kwire):
    """A UUID is written as URL-safe base64 of 22 characters, without padding."""
    cls = kwire.messages.DescribeTopicPartitionsResponse
    topic_id = uuid.UUID("ffffffff-ffff-4fff-bfff-fffffffffffe")
    message = cls(
        topics=[cls.DescribeTopicPartitionsResponseTopic(topic_id=topic_id)],
    )
    form = kwire.to_json(message, 0)
    assert form["topics"][0]["topicId"] == "________T_-__________g"
    assert kwire.from_json(cls, form, 0) == message


def test_tagged_fields_at_their_default_are_left_out(kwire):
    """A tagged field with its default value is omitted from the form.

    Null is written if it is not the default. A missing key means the default.
    """
    cls = kwire.messages.ConsumerGroupMemberMetadataValue
    default, null = cls(), cls(classic_member_metadata=None)
    assert default != null
    assert "classicMemberMetadata" not in kwire.to_json(default, 0)
    assert kwire.to_json(null, 0)["classicMemberMetadata"] is None
    for message in (default, null):
        assert kwire.from_json(cls, kwire.to_json(message, 0), 0) == message


def test_records_are_written_empty_and_read_from_base64(kwire):
    """Records are omitted from the form, like in Kafka, but can be read from base64."""
    cls = kwire.messages.ProduceRequest
    partition = cls.PartitionProduceData(records=b"\x01\x02")
    topic = cls.TopicProduceData(name="t", partition_data=[partition])
    message = cls(acks=-1, timeout_ms=1, topic_data=[topic])
    form = kwire.to_json(message, 9)
    partition_form = form["topicData"][0]["partitionData"][0]
    assert partition_form["records"] == ""
    partition_form["records"] = base64.b64encode(b"\x01\x02").decode()
    assert kwire.from_json(cls, form, 9) == message


def test_unknown_tagged_fields_are_dropped(kwire):
    """Unknown tagged fields are omitted from the form."""
    cls = kwire.messages.HeartbeatRequest
    message = cls(unknown_tagged_fields=((5, b"x"),))
    assert kwire.to_json(message, 4) == kwire.to_json(cls(), 4)


def test_to_json_omits_only_ignorable_absent_fields(kwire):
    """A field that the version does not have is omitted if it is ignorable.

    Otherwise, the error of ``encode`` is raised.
    """
    cls = kwire.messages.MetadataResponse
    form = kwire.to_json(cls(throttle_time_ms=9, cluster_id="c"), 0)
    assert set(form) == {"brokers", "topics"}
    cls = kwire.messages.FindCoordinatorRequest
    for call in (kwire.to_json, kwire.encode):
        with pytest.raises(kwire.EncodeError, match="this version lacks") as caught:
            call(cls(key="g", key_type=1), 0)
        assert caught.value.path == "key_type"


def test_to_json_rejects_invalid_values(kwire):
    """An invalid value raises EncodeError with its path."""
    cls = kwire.messages.MetadataRequest
    message = cls(topics=[cls.MetadataRequestTopic(name="a"), 7])
    with pytest.raises(kwire.EncodeError) as caught:
        kwire.to_json(message, 12)
    assert caught.value.path == "topics[1]"


def test_unsupported_version_error_names_the_valid_versions(kwire):
    """An unsupported version raises an error with the supported versions."""
    cls = kwire.messages.HeartbeatRequest
    with pytest.raises(kwire.UnsupportedVersion, match="0 to 4"):
        kwire.to_json(cls(), 5)
    with pytest.raises(kwire.UnsupportedVersion, match="0 to 4"):
        kwire.from_json(cls, {}, 5)


def test_to_json_and_from_json_reject_other_classes(kwire):
    """Classes that are not messages, such as nested structs, raise TypeError."""
    for cls in (int, kwire.messages.MetadataRequest.MetadataRequestTopic):
        with pytest.raises(TypeError):
            kwire.from_json(cls, {}, 0)
    with pytest.raises(TypeError):
        kwire.to_json(7, 0)


def request_with(partition):
    """Return the JSON form of an OffsetCommit request version 8.

    ``partition`` contains changes of its only partition.
    """
    valid_partition = {
        "partitionIndex": 0,
        "committedOffset": 5,
        "committedLeaderEpoch": -1,
        "committedMetadata": None,
    }
    form = {
        "groupId": "g",
        "generationIdOrMemberEpoch": 1,
        "memberId": "m",
        "groupInstanceId": None,
        "topics": [
            {"name": "t", "partitions": []},
            {"name": "u", "partitions": [valid_partition | partition]},
        ],
    }
    return form


PARTITION = "topics[1].partitions[0]"


@sweep(
    ("change", "path", "words"),
    [
        ({"partitionIndex": "0"}, ".partition_index", "got '0'"),
        ({"partitionIndex": "x" * 999}, ".partition_index", f"got '{'x' * 37}'..."),
        ({"partitionIndex": True}, ".partition_index", "got true"),
        ({"partitionIndex": 1.0}, ".partition_index", "got 1.0"),
        ({"partitionIndex": None}, ".partition_index", "got null"),
        (
            {"partitionIndex": 2**31},
            ".partition_index",
            "to 2147483647, got 2147483648",
        ),
        ({"partitionIndex": 10**5000}, ".partition_index", "an integer of 16610 bits"),
        ({"committedOffset": -(2**63) - 1}, ".committed_offset", "an integer from -9"),
        ({"committedMetadata": 5}, ".committed_metadata", "a string or null, got 5"),
        ({"committedMetadata": []}, ".committed_metadata", "got an array"),
        ({"committedMetadata": {}}, ".committed_metadata", "got an object"),
        ({"committedMetadata": b""}, ".committed_metadata", "got a Python bytes"),
        ({"committedMetadata": "\ud800"}, ".committed_metadata", "surrogate"),
        ({"committedMetadata": "é" * 16384}, ".committed_metadata", "32768 bytes"),
        ({"commitTimestamp": 0}, ".commit_timestamp", "no key 'commitTimestamp'"),
        ({"offset": 0}, "", "OffsetCommitRequestPartition has no key 'offset'"),
        ({"committed_offset": 0}, "", "has no key 'committed_offset'"),
        ({3: 0}, "", "has no key 3"),
    ],
)
def test_a_wrong_value_is_named_with_its_path(kwire, change, path, words):
    """A wrong value raises an error with message, field, expected type and value."""
    cls = kwire.messages.OffsetCommitRequest
    kwire.from_json(cls, request_with({}), 8)
    with pytest.raises(kwire.errors.InvalidValue) as caught:
        kwire.from_json(cls, request_with(change), 8)
    error = caught.value
    assert error.path == PARTITION + path
    assert words in error.reason
    assert (error.message_name, error.version) == ("OffsetCommitRequest", 8)
    assert error.offset == 0
    assert len(str(error)) < 200


@pytest.mark.parametrize(
    ("key", "value", "path", "words"),
    [
        ("topics", None, "topics", "expected an array, got null"),
        ("topics", {}, "topics", "expected an array, got an object"),
        ("topics", [None], "topics[0]", "expected an object, got null"),
        ("topics", ["t"], "topics[0]", "expected an object, got 't'"),
        ("topics", [{"name": "t"}], "topics[0].partitions", "the key 'partitions'"),
        ("topics", [{}], "topics[0].name", "requires the key 'name'"),
    ],
)
def test_a_wrong_shape_is_named_with_its_path(kwire, key, value, path, words):
    """A wrong container type or a missing key raises an error with the path."""
    cls = kwire.messages.OffsetCommitRequest
    form = request_with({}) | {key: value}
    with pytest.raises(kwire.errors.InvalidValue) as caught:
        kwire.from_json(cls, form, 8)
    assert caught.value.path == path
    assert words in caught.value.reason


def test_an_array_may_be_null_where_the_version_says_so(kwire):
    """An array may be null only in the versions in which it is nullable.

    The topics of a Metadata request are nullable from version 1 on.
    """
    cls = kwire.messages.MetadataRequest
    assert kwire.from_json(cls, {"topics": None}, 1).topics is None
    for value, version, words in ((5, 1, "an array or null"), (None, 0, "an array")):
        with pytest.raises(kwire.errors.InvalidValue, match=f"expected {words}, got"):
            kwire.from_json(cls, {"topics": value}, version)


@pytest.mark.parametrize("obj", [None, [], "{}", 7])
def test_message_that_is_not_an_object_is_rejected(kwire, obj):
    """If the form is not a dict, an error is raised.

    A common mistake is to pass JSON text instead of the parsed object.
    """
    with pytest.raises(kwire.errors.InvalidValue, match="expected an object") as caught:
        kwire.from_json(kwire.messages.HeartbeatRequest, obj, 4)
    assert caught.value.path == ""


@pytest.mark.parametrize(
    "text", ["AP/", "AP_-", "AP/+ ", "=", "é", "A\nP/+", "AP/+=", "AP=="]
)
def test_base64_is_strict(kwire, text):
    """Invalid base64 raises an error. No character is skipped."""
    cls = kwire.messages.SaslAuthenticateRequest
    with pytest.raises(kwire.errors.InvalidValue, match="base64") as caught:
        kwire.from_json(cls, {"authBytes": text}, 2)
    assert caught.value.path == "auth_bytes"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA==",
        "AAAAAAAAAAAAAAAAAAAAAB",
        "AAAAAAAAAAA!AAAAAAAAAA",
        "AAAAAAAAAAA/AAAAAAAAAA",
        "éAAAAAAAAAAAAAAAAAAAAA",
        "00000000-0000-0000-0000-000000000000",
    ],
)
def test_uuids_are_strict(kwire, text):
    """A UUID must be exactly the text that Kafka prints."""
    cls = kwire.messages.AssignReplicasToDirsRequest
    form = {
        "brokerId": 1,
        "brokerEpoch": 1,
        "directories": [{"id": text, "topics": []}],
    }
    with pytest.raises(kwire.errors.InvalidValue, match="22 characters") as caught:
        kwire.from_json(cls, form, 0)
    assert caught.value.path == "directories[0].id"


ODD = [
    None,
    True,
    -1,
    300,
    2**63,
    10**5000,
    1.5,
    math.nan,
    "",
    "é",
    "\ud800",
    "AAAAAAAAAAAAAAAAAAAAAA",
    "x" * 40_000,
    [],
    [None],
    {},
    (),
    b"",
]


def find_value_paths(form, path=()):
    """Yield the paths to all values of a form.

    Only first array elements are visited.
    """
    yield path
    if isinstance(form, dict):
        for key in form:
            yield from find_value_paths(form[key], (*path, key))
    elif isinstance(form, list) and form:
        yield from find_value_paths(form[0], (*path, 0))


@sweep("name", MESSAGES)
def test_from_json_accepts_or_rejects_any_object(kwire, name):
    """An unusual value is rejected, or results in a message that can be encoded."""
    cls = getattr(kwire.messages, name)
    version = cls.valid_versions.max
    full = kwire.decode(cls, golden.by_pair()[name, version][1].data, version)
    root = {"": kwire.to_json(full, version)}
    original = copy.deepcopy(root)
    outcomes = Counter()
    for path, odd in some(itertools.product([*find_value_paths(root[""])], ODD)):
        inner = root
        *parents, last = ("", *path)
        for step in parents:
            inner = inner[step]
        valid, inner[last] = inner[last], odd
        try:
            message = kwire.from_json(cls, root[""], version)
        except kwire.errors.InvalidValue:
            outcomes["refused"] += 1
        else:
            kwire.encode(message, version)
            outcomes["read"] += 1
        inner[last] = valid
    assert root == original
    assert outcomes["refused"]
