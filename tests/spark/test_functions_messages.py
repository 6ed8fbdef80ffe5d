# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Message columns equal ``kwire.decode`` for all messages and versions.

Tests the arrays of ``from_kafka_message`` and ``to_kafka_message`` without Spark:
Kafka's own bytes with and without headers, several versions in one column, null and
invalid rows. The errors are the same as from kwire's decoders.
"""

import base64
import importlib
import json
import math
import uuid
from functools import cache

import pyarrow
import pytest

from tests.harness import golden, hostile
from tests.harness.message_counts import PAIRS

PARTS = 8
"""Number of tests among which the messages are divided.

One test per message would take too long.
"""


def room(kwire, name):
    """Import a module below ``kwire.spark`` on one engine."""
    return importlib.import_module(f"{kwire.__name__}.messages.{name}")


@cache
def by_message():
    """Return Kafka's vectors of all versions by message name."""
    vectors_by_name = {}
    for vector in golden.vectors():
        vectors_by_name.setdefault(vector.message, []).append(vector)
    return vectors_by_name


def names_of(part):
    """Return the names of the messages that part ``part`` tests."""
    return sorted(by_message())[part::PARTS]


def vectors_of(name):
    """Return Kafka's vectors of a message as a list."""
    return list(by_message()[name])


def add_prefix(kwire, vector):
    """Return the bytes of a vector after the header or version that precedes it."""
    cls = getattr(kwire.messages, vector.message)
    message = kwire.decode(cls, vector.data, vector.version)
    version = vector.version
    if cls.kind == "request":
        # Client ids of different lengths, so that bodies start at different positions.
        client_id = "ä" * (len(vector.data) % 5) or None
        frame = kwire.messages.framing.encode_request(
            message, version, correlation_id=7, client_id=client_id
        )
        return frame[4:]
    if cls.kind == "response":
        return kwire.messages.framing.encode_response(
            message, version, correlation_id=7
        )[4:]
    return version.to_bytes(2, "big") + vector.data


def expected(value, struct, version):
    """Convert a decoded struct to the expected row.

    Fields that the version does not have are null. The function only uses the version
    ranges of the schema.
    """
    row = {}
    for field in struct.fields:
        content = getattr(value, field.attribute)
        if version not in field.versions:
            row[field.attribute] = None
        elif field.is_array and content is not None:
            row[field.attribute] = [one(element, field, version) for element in content]
        else:
            row[field.attribute] = one(content, field, version)
    return row


def one(value, field, version):
    """Convert a field value or an array element to the expected value."""
    if field.struct is not None and value is not None:
        return expected(value, field.struct, version)
    if isinstance(value, uuid.UUID):
        return base64.urlsafe_b64encode(value.bytes).decode()[:22]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value


def without_nan(value):
    """Replace NaN by a string, because NaN is not equal to itself."""
    if isinstance(value, dict):
        return {name: without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def binary(rows):
    return pyarrow.array(rows, pyarrow.binary())


def versions(numbers):
    return pyarrow.array(numbers, pyarrow.int32())


@pytest.mark.parametrize("part", range(PARTS))
def test_columns_equal_decode_for_every_message_and_version(kwire, part):
    """The column of a message equals ``decode`` for all of Kafka's vectors.

    The vectors are decoded as bodies and as frames.
    """
    reading = room(kwire, "columns.message_reading")
    registry = importlib.import_module(f"{kwire.__name__}.schema.registry")
    for name in names_of(part):
        struct = registry.load(name).struct
        cls = getattr(kwire.messages, name)
        vectors = vectors_of(name)
        expected_rows = [
            expected(
                kwire.decode(cls, vector.data, vector.version), struct, vector.version
            )
            for vector in vectors
        ]
        numbers = versions([*(vector.version for vector in vectors), None])
        bodies = binary([*(vector.data for vector in vectors), None])
        frames = binary([*(add_prefix(kwire, vector) for vector in vectors), None])
        for rows, is_framed in ((bodies, False), (frames, True)):
            column = reading.read_messages(rows, name, numbers, framed=is_framed)
            column.validate(full=True)
            *body_rows, last = column.to_pylist()
            assert last is None
            assert {row.pop("_error") for row in body_rows} == {None}, name
            assert without_nan(body_rows) == expected_rows, name


def test_every_layout_is_among_the_vectors(kwire):
    """The vectors contain every version of every message."""
    classes = [getattr(kwire.messages, name) for name in kwire.messages.ALL]
    layouts = [
        (cls.__name__, version) for cls in classes for version in cls.valid_versions
    ]
    assert len(layouts) == PAIRS
    assert set(golden.by_pair()) == set(layouts)


@pytest.mark.parametrize("part", range(PARTS))
def test_json_is_what_kafka_writes(kwire, part):
    """The JSON form of a column equals the JSON of Kafka's own converter."""
    reading = room(kwire, "columns.message_reading")
    for name in names_of(part):
        vectors = [vector for vector in vectors_of(name) if vector.json is not None]
        rows = binary([add_prefix(kwire, vector) for vector in vectors])
        column = reading.read_json(
            rows, name, versions=versions([vector.version for vector in vectors])
        )
        assert column.field("_error").null_count == len(vectors), name
        documents = [json.loads(text) for text in column.field("json").to_pylist()]
        assert documents == [vector.json for vector in vectors], name


@pytest.mark.parametrize("part", range(PARTS))
def test_written_messages_are_read_again(kwire, part):
    """Structs and JSON texts are encoded to bytes with the same content."""
    reading, writing = (
        room(kwire, "columns.message_reading"),
        room(kwire, "columns.message_writing"),
    )
    for name in names_of(part):
        vectors = vectors_of(name)
        rows = binary([*(add_prefix(kwire, vector) for vector in vectors), None])
        numbers = versions([*(vector.version for vector in vectors), None])
        column = reading.read_messages(rows, name, numbers)
        written = writing.write_messages(column, name, numbers)
        assert written.field("_error").null_count == len(rows), name
        again = reading.read_messages(written.field("data"), name, numbers)
        assert without_nan(again.to_pylist()) == without_nan(column.to_pylist()), name
        texts = reading.read_json(rows, name, versions=numbers, failfast=True)
        written = writing.write_messages(texts, name, numbers, failfast=True)
        again = reading.read_json(written, name, versions=numbers, failfast=True)
        assert again.equals(texts), name


def test_written_frames_are_the_frames(kwire):
    """If the decoded header is passed, a message is encoded to the identical frame."""
    reading, writing = (
        room(kwire, "columns.message_reading"),
        room(kwire, "columns.message_writing"),
    )
    headers = room(kwire, "columns.request_headers")
    vectors = vectors_of("HeartbeatRequest")
    plain = [
        kwire.encode(
            kwire.decode(
                kwire.messages.HeartbeatRequest, vector.data, vector.version
            ).replace(unknown_tagged_fields=()),
            vector.version,
        )
        for vector in vectors
    ]
    vectors = [
        vector._replace(data=data) for vector, data in zip(vectors, plain, strict=True)
    ]
    rows = binary([add_prefix(kwire, vector) for vector in vectors])
    written = writing.write_messages(
        reading.read_messages(rows, "HeartbeatRequest"),
        "HeartbeatRequest",
        headers.read_headers(rows).field("api_version"),
        headers=headers.read_headers(rows),
        failfast=True,
    )
    assert written.equals(rows)


def error_of(call, *arguments):
    """Assert that a call raises an error. Return its text."""
    try:
        call(*arguments)
    except Exception as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "name", ["FetchRequest", "MetadataResponse", "JoinGroupRequest"]
)
def test_truncated_frame_is_null_with_a_reason(kwire, name):
    """A truncated frame has null fields, and the error of ``messages.framing``."""
    reading = room(kwire, "columns.message_reading")
    cls = getattr(kwire.messages, name)
    newest = max(
        vectors_of(name), key=lambda vector: (vector.version, len(vector.data))
    )
    frame = add_prefix(kwire, newest)
    cuts = [*[frame[:size] for size in range(len(frame))][-400:], frame, None]
    if cls.kind == "request":
        expected_errors = [
            error_of(kwire.messages.framing.decode_request, cut) for cut in cuts[:-1]
        ]
    else:
        read = kwire.messages.framing.decode_response
        expected_errors = [
            error_of(read, cls, cut, newest.version) for cut in cuts[:-1]
        ]
    assert None not in expected_errors[:-1]
    column = reading.read_messages(binary(cuts), name, newest.version)
    assert column.field("_error").to_pylist() == [*expected_errors, None]
    assert column.null_count == 1
    for field in column.flatten()[:-1]:
        assert field.null_count >= len(cuts) - 1
    texts = reading.read_json(binary(cuts), name, versions=newest.version)
    assert texts.field("_error").equals(column.field("_error"))
    with pytest.raises(kwire.DecodeError) as caught:
        reading.read_messages(binary(cuts[::-1]), name, newest.version, failfast=True)
    assert str(caught.value) == expected_errors[-2]


def test_hostile_bodies_have_the_errors_of_decode(kwire):
    """A damaged body between valid bodies has the error of ``decode``."""
    reading = room(kwire, "columns.message_reading")
    count = hostile.share(1) // len(hostile.FAMILIES)
    by_name = {}
    for family in hostile.FAMILIES:
        for mutant in hostile.take(family, count):
            by_name.setdefault(mutant.message, []).append(mutant)
    bad = 0
    for name, inputs in by_name.items():
        cls = getattr(kwire.messages, name)
        column = reading.read_messages(
            binary([mutant.data for mutant in inputs]),
            name,
            versions([mutant.version for mutant in inputs]),
            framed=False,
        )
        expected_errors = [
            error_of(kwire.decode, cls, mutant.data, mutant.version)
            for mutant in inputs
        ]
        assert column.field("_error").to_pylist() == expected_errors
        bad += sum(text is not None for text in expected_errors)
    assert bad > count


def test_unknown_versions_are_errors_of_their_rows(kwire):
    """A version that is too new, negative or null is an error of its row.

    All other rows are decoded.
    """
    reading = room(kwire, "columns.message_reading")
    make = kwire.messages.HeartbeatRequest
    body = kwire.encode(make(group_id="g"), 4)
    numbers = versions([4, 5, 99, -3, None, 4])
    column = reading.read_messages(
        binary([body] * 5 + [None]), make.__name__, numbers, framed=False
    )
    assert column.field("group_id").to_pylist() == ["g", *[None] * 5]
    texts = column.field("_error").to_pylist()
    assert texts[0] is None and texts[5] is None
    for text, number in zip(texts[1:4], (5, 99, -3), strict=True):
        assert text == f"{make.__name__} has versions 0 to 4 (got {number})"
    assert texts[4].startswith("the bytes of this HeartbeatRequest do not contain")


def test_frames_that_contradict_the_columns_are_errors(kwire):
    """A frame that contradicts the columns is an error of its row.

    It contains another API, or another version than the column.
    """
    reading = room(kwire, "columns.message_reading")
    beat = kwire.messages.framing.encode_request(kwire.messages.HeartbeatRequest(), 4)[
        4:
    ]
    fetch = kwire.messages.framing.encode_request(kwire.messages.FetchRequest(), 4)[4:]
    column = reading.read_messages(binary([beat, fetch, beat]), "HeartbeatRequest")
    assert column.field("generation_id").to_pylist() == [0, None, 0]
    assert (
        column.field("_error")[1].as_py().endswith("API key 1, HeartbeatRequest has 12")
    )
    column = reading.read_messages(
        binary([beat, beat]), "HeartbeatRequest", versions([4, 3])
    )
    assert column.field("_error")[0].as_py() is None
    assert column.field("_error")[1].as_py().endswith("have version 4 (expected 3)")


def test_tags_in_headers_are_passed_over(kwire):
    """An unknown tag in a response header is skipped."""
    reading = room(kwire, "columns.message_reading")
    make = kwire.messages.HeartbeatResponse
    plain = kwire.messages.framing.encode_response(make(error_code=5), 4)[4:]
    tagged = plain[:4] + b"\x01\x63\x02ab" + plain[5:]
    column = reading.read_messages(binary([plain, tagged, plain[:4]]), make.__name__, 4)
    assert column.field("error_code").to_pylist() == [5, 5, None]
    assert column.field("_error")[2].as_py() == error_of(
        kwire.messages.framing.decode_response, make, plain[:4], 4
    )


def test_newer_subscriptions_are_read_as_the_newest(kwire):
    """A subscription of a newer version is decoded as the newest known version.

    Members of newer releases only append fields, which are skipped.
    """
    reading = room(kwire, "columns.message_reading")
    make = kwire.messages.ConsumerProtocolSubscription
    data = kwire.messages.framing.encode_prefixed(make(topics=["a"]), 3)
    newer = b"\x00\x63" + data[2:] + b"more"
    column = reading.read_messages(binary([data, newer, b"\0"]), make.__name__)
    assert column.field("topics").to_pylist() == [["a"], ["a"], None]
    assert column.field("_error")[2].is_valid


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()])
def test_slices_chunks_and_empty_arrays_are_decoded(kwire, kind):
    """Slices, chunked arrays and arrays without rows are decoded."""
    reading = room(kwire, "columns.message_reading")
    frames = [
        kwire.messages.framing.encode_request(
            kwire.messages.HeartbeatRequest(group_id=f"g{i}"), i % 5, client_id="c" * i
        )[4:]
        for i in range(20)
    ]
    frames[7] = None
    all_frames = pyarrow.array(frames, kind)
    expected_ids = [f"g{i}" if i != 7 else None for i in range(20)]
    for rows, part in (
        (all_frames.slice(5, 6), slice(5, 11)),
        (all_frames.slice(7, 1), slice(7, 8)),
        (all_frames.slice(20), slice(20, 20)),
        (pyarrow.chunked_array([all_frames[:3], all_frames[3:]]), slice(20)),
    ):
        for version_column in (None, versions([i % 5 for i in range(20)][part])):
            column = reading.read_messages(rows, "HeartbeatRequest", version_column)
            column.validate(full=True)
            assert column.field("group_id").to_pylist() == expected_ids[part]
            assert column.null_count == expected_ids[part].count(None)
            assert column.field("_error").null_count == len(column)
    empty = reading.read_messages(pyarrow.array([], kind), "MetadataResponse", 9)
    assert len(empty) == 0 and empty.type.num_fields > 3


def test_mixed_streams_become_json(kwire):
    """One column may contain requests of any API, and responses with their API key."""
    reading = room(kwire, "columns.message_reading")
    messages, framing = kwire.messages, kwire.messages.framing
    rows = binary(
        [
            framing.encode_request(messages.FetchRequest(), 4)[4:],
            framing.encode_request(messages.HeartbeatRequest(group_id="g"), 0)[4:],
            framing.encode_response(messages.HeartbeatResponse(error_code=3), 0)[4:],
            framing.encode_response(messages.HeartbeatResponse(), 0)[4:],
            framing.encode_response(messages.HeartbeatResponse(), 0)[4:],
        ]
    )
    column = reading.read_json(
        rows,
        pyarrow.array([None, 12, 12, None, 999]),
        pyarrow.array(["request", "request", "response", "response", "response"]),
        versions([None, 0, 0, 0, 0]),
    )
    texts, errors = column.field("json").to_pylist(), column.field("_error").to_pylist()
    assert [json.loads(text) for text in texts[1:3]] == [
        {"groupId": "g", "generationId": 0, "memberId": ""},
        {"errorCode": 3},
    ]
    assert "maxWaitMs" in json.loads(texts[0])
    assert texts[3:] == [None, None]
    assert errors[:3] == [None] * 3
    assert "Kafka has no response with API key 999" in errors[4]
    assert "message of this row" in errors[3]


def test_bad_values_are_errors_of_their_rows(kwire):
    """A row with an invalid value is null with an error, and other rows are encoded.

    If a field is not nullable, a null becomes its default.
    """
    writing = room(kwire, "columns.message_writing")
    kind = pyarrow.struct([("topic_id", pyarrow.string()), ("name", pyarrow.string())])
    rows = pyarrow.array(
        [
            {"topics": [{"name": "a"}]},
            {"topics": [{"name": "a" * 32768}]},
            {"topics": [{"name": "a", "topic_id": "no uuid"}]},
            None,
        ],
        pyarrow.struct([("topics", pyarrow.list_(kind))]),
    )
    column = writing.write_messages(rows, "MetadataRequest", 9, framed=False)
    good = kwire.messages.MetadataRequest(
        topics=[kwire.messages.MetadataRequest.MetadataRequestTopic(name="a")]
    )
    assert column.field("data").to_pylist() == [kwire.encode(good, 9), None, None, None]
    texts = column.field("_error").to_pylist()
    assert texts[0] is None and texts[3] is None
    assert "name" in texts[1] and "22 characters" in texts[2]
    column = writing.write_messages(
        pyarrow.array([{"topics": [{"name": None}]}, {"topics": None}, {}]),
        "MetadataRequest",
        9,
        framed=False,
        failfast=True,
    )
    read = [kwire.decode(type(good), data.as_py(), 9).topics for data in column]
    assert [read[0][0].name, read[1], read[2]] == ["", None, None]
    with pytest.raises(kwire.EncodeError):
        writing.write_messages(rows, "MetadataRequest", 9, failfast=True)
    json_rows = pyarrow.array(["{", "[" * 100_000, "{}", None])
    column = writing.write_messages(json_rows, "MetadataRequest", 9)
    assert column.field("data").null_count == 4
    assert column.field("_error").null_count == 1
    with pytest.raises(ValueError, match="has no field 'topic'; it has topics"):
        writing.write_messages(pyarrow.array([{"topic": "a"}]), "MetadataRequest", 9)
