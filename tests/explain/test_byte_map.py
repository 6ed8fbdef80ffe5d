# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Byte maps assign every byte to one span, with the same values and errors as decoding.

The inputs are Kafka's golden vectors, unchanged and damaged. The expected values come
from the decoded message, not from a second traversal of the layout.
"""

import importlib
import re

import pytest

from kwire._engine.pure.checksums import crc32c
from tests.harness import golden, golden_records, hostile
from tests.harness.sweeps import sweep

MESSAGES = sorted({vector.message for vector in golden.vectors()})
BAD_INPUTS = hostile.INPUTS * 15 // 1000
"""Number of damaged inputs per input family. Every engine gets the same number."""


@pytest.fixture
def maps(kwire):
    """Return the ``explain`` module of the engine under test."""
    return importlib.import_module(f"{kwire.__name__}.explain")


def check_tiles(spans, data, start=0):
    """Assert that the spans cover all bytes once, in order, and that none is empty."""
    position = start
    for span in spans:
        assert span.position == position and span.size > 0, span
        position = span.end
    assert position == len(data)


def follow_path(message, path):
    """Return the value at a path such as ``topics[3].name``."""
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        message = getattr(message, name) if name else message[int(index)]
    return message


def check_values(spans, message):
    """Compare the value of every span with the field of the message at its path.

    Return the number of compared values.
    """
    compared = 0
    for span in spans:
        if "records.batches" in span.path or span.path.endswith("_tagged_fields"):
            continue
        value = follow_path(message, span.path)
        if span.kind == "unknown":
            assert value[1] == span.value and span.meaning == f"tag {value[0]}"
        elif span.meaning == "tag":
            assert not span.path.endswith("]") or value[0] == span.value
        elif span.meaning in ("present", "null"):
            assert (value is not None) == (span.value == 1)
        elif span.meaning == "bytes" or span.type.endswith("ARRAY"):
            assert span.value == (None if value is None else len(value))
        elif span.kind == "structure":
            assert span.meaning == "size"
        else:
            # Compare the repr, because -0.0 == 0.0 and True == 1.
            assert repr(span.value) == repr(value), span
            content = value.encode() if isinstance(value, str) else value
            if isinstance(content, bytes):
                assert span.size - span.prefix == len(content)
        compared += 1
    return compared


@sweep("name", MESSAGES)
def test_spans_cover_all_bytes_and_hold_the_decoded_values(kwire, maps, name):
    """The spans cover every byte once, and their values equal the decoded message."""
    cls = getattr(kwire.messages, name)
    for vector in golden.vectors():
        if vector.message != name:
            continue
        byte_map = maps.byte_map(cls, vector.data, vector.version)
        assert (byte_map.error, byte_map.damage) == (None, ())
        check_tiles(byte_map.spans, vector.data)
        assert {span.kind for span in byte_map.spans} <= set(maps.KINDS)
        message = kwire.decode(cls, vector.data, vector.version)
        assert check_values(byte_map.spans, message) or not vector.data.strip(b"\0")


def test_each_encoded_field_has_a_span(kwire, maps):
    """Every field in the plan has a span. Values are compared in the previous test."""
    plan = kwire.schema.plan
    for vectors in golden.by_pair().values():
        cls = getattr(kwire.messages, vectors[0].message)
        version = vectors[0].version
        layout = kwire._engine.active.engine.binding_of(cls).plan(version)
        paths = {
            span.path
            for vector in vectors
            for span in maps.byte_map(cls, vector.data, version).spans
        }
        names = {re.split(r"[.\[]", path)[0] for path in paths}
        for step in layout.steps:
            if step.place == plan.PRESENT:
                assert step.attribute in names
            if step.place not in (plan.PRESENT, plan.TAGGED):
                assert step.attribute not in names


def error_facts(error):
    """Return (class, message, offset, path) of an error, or None."""
    if error is None:
        return None
    return type(error), str(error), getattr(error, "path", ""), error.args


def catch_error(kwire, function, *args, **options):
    """Call a function. Return the ``KwireError`` that it raised, or None.

    If the input is a frame instead of a message, the decoder adds a hint to the reason.
    A byte map does not, so the hint is removed here.
    """
    try:
        function(*args, **options)
    except kwire.KwireError as error:
        if isinstance(error, kwire.DecodeError):
            error.reason = re.sub(r".* \(as they are: (.*)\)", r"\1", error.reason)
            error.args = (error.reason, *error.args[1:])
        return error
    return None


@pytest.mark.parametrize("family", hostile.FAMILIES)
def test_bad_bytes_give_the_error_of_decoding(kwire, maps, family):
    """A byte map of damaged bytes contains the error that ``decode`` raises.

    Class, message, offset and path are equal. The bytes after the error are the last
    span, which has the kind "unread".
    """
    refused = 0
    for name, version, data in hostile.take(family, BAD_INPUTS):
        cls = getattr(kwire.messages, name)
        byte_map = maps.byte_map(cls, data, version)
        expected = catch_error(kwire, kwire.decode, cls, data, version)
        assert error_facts(byte_map.error) == error_facts(expected), (
            name,
            version,
            data.hex(),
        )
        check_tiles(byte_map.spans, data)
        unread = [span for span in byte_map.spans if span.kind == "unread"]
        assert unread == [s for s in byte_map.spans[-1:] if s.kind == "unread"]
        if expected is None:
            assert not unread
            continue
        refused += 1
        for span in unread:
            assert (span.path, span.meaning) == (expected.path, expected.reason)
            assert span.position <= expected.offset <= len(data)
    assert refused > BAD_INPUTS // 10


def test_markers_of_structs_are_as_strict_as_in_decoding(kwire, maps):
    """Byte maps and ``decode`` accept the same marker bytes before nullable structs.

    Only the two values for a present struct and for a null struct are valid.
    """
    types = set()
    for vector in golden.vectors():
        cls = getattr(kwire.messages, vector.message)
        for span in maps.byte_map(cls, vector.data, vector.version).spans:
            if span.meaning not in ("present", "null"):
                continue
            types.add(span.type)
            for byte in 0, 1, 2, 0x7F, 0xFF:
                data = bytearray(vector.data)
                data[span.position] = byte
                byte_map = maps.byte_map(cls, data, vector.version)
                expected = catch_error(kwire, kwire.decode, cls, data, vector.version)
                assert error_facts(byte_map.error) == error_facts(expected)
    assert types == {"INT8", "UNSIGNED_VARINT"}


def make_frames(kwire):
    """Yield (class, version, frame) for every version of every request and response."""
    for name, version in golden.by_pair():
        cls = getattr(kwire.messages, name)
        vector = golden.by_pair()[name, version][-1]
        if cls.kind in ("request", "response"):
            message = kwire.decode(cls, vector.data, version)
            encode = getattr(kwire.messages.framing, f"encode_{cls.kind}")
            yield cls, version, encode(message, version, 77)


def test_frames_are_mapped_with_their_headers(kwire, maps):
    """The spans include the size, the header and the body."""
    kinds = set()
    for cls, version, sized in make_frames(kwire):
        request = (cls, version) if cls.kind == "response" else ()
        byte_map = maps.frame_map(sized, *request, sized=True)
        check_tiles(byte_map.spans, sized)
        assert (byte_map.error, byte_map.damage) == (None, ())
        size, *spans = byte_map.spans
        assert (size.part, size.path, size.value) == ("frame", "size", len(sized) - 4)
        parts = list(dict.fromkeys(span.part for span in spans))
        head = f"{cls.kind.capitalize()}Header v"
        assert parts[0].startswith(head) and parts[1:] in (
            [],
            [f"{cls.__name__} v{version}"],
        )
        correlation = [s.value for s in spans if s.path == "correlation_id"]
        assert correlation == [77]
        bare = maps.frame_map(sized[4:], *request)
        assert [(s.position + 4, *s[1:]) for s in bare.spans] == [
            tuple(s) for s in spans
        ]
        kinds.add(cls.kind)
    assert kinds == {"request", "response"}


def test_bad_frames_give_the_error_of_decoding(kwire, maps):
    """The byte map of a truncated frame contains the error that decoding raises."""
    for cls, version, sized in make_frames(kwire):
        frame = sized[4:]
        for end in {*range(min(len(frame), 14)), len(frame) - 1}:
            request = (cls, version) if cls.kind == "response" else ()
            cut = frame[:end]
            byte_map = maps.frame_map(cut, *request)
            if request:
                decode = kwire.messages.framing.decode_response
                expected = catch_error(kwire, decode, cls, cut, version)
            else:
                expected = catch_error(
                    kwire, kwire.messages.framing.decode_request, cut
                )
            assert error_facts(byte_map.error) == error_facts(expected)
            check_tiles(byte_map.spans, cut)


def test_unknown_request_is_mapped_up_to_its_header(kwire, maps):
    """If the API or version is unknown, the map contains only the header fields.

    The bytes after the header are a single span of kind "unread", because their layout
    is unknown.
    """
    unknown_api = bytes.fromhex("03e8 0001 00000007 ffff 010203")
    unknown_version = bytes.fromhex("0012 0063 00000007 0003 616263 00 010203")
    for frame, unread_size in (unknown_api, 5), (unknown_version, 3):
        byte_map = maps.frame_map(frame)
        expected = catch_error(kwire, kwire.messages.framing.decode_request, frame)
        assert type(expected) is kwire.UnsupportedVersion
        assert error_facts(byte_map.error) == error_facts(expected)
        check_tiles(byte_map.spans, frame)
        values = {span.path: span.value for span in byte_map.spans}
        assert values["correlation_id"] == 7
        assert (byte_map.spans[-1].kind, byte_map.spans[-1].size) == (
            "unread",
            unread_size,
        )
    assert byte_map.spans[0].meaning == "ApiVersions"


def test_frame_with_a_wrong_size_is_an_error(kwire, maps):
    message = kwire.messages.HeartbeatRequest(group_id="g")
    frame = kwire.messages.framing.encode_request(message, 4, 1)
    longer = (len(frame)).to_bytes(4, "big") + frame[4:]
    byte_map = maps.frame_map(longer, sized=True)
    assert type(byte_map.error) is kwire.Truncated
    assert (byte_map.error.path, byte_map.error.offset) == ("size", len(frame))
    byte_map = maps.frame_map(frame + b"xyz", sized=True)
    assert type(byte_map.error) is kwire.TrailingBytes
    assert byte_map.spans[-1].position == byte_map.error.offset == len(frame)
    byte_map = maps.frame_map(b"\xff\xff\xff\xfe" + frame[4:], sized=True)
    assert type(byte_map.error) is kwire.InvalidLength and byte_map.error.path == "size"
    check_tiles(byte_map.spans, frame)


def test_a_frame_within_more_bytes_keeps_their_offsets(kwire, maps):
    """Positions are relative to the input, so that they match a hex dump."""
    message = kwire.messages.HeartbeatRequest(group_id="g")
    frame = kwire.messages.framing.encode_request(message, 4, 1)
    byte_map = maps.frame_map(
        b"!!" + frame + b"??", start=2, end=2 + len(frame), sized=1
    )
    assert byte_map.error is None and byte_map.spans[0].position == 2
    assert byte_map.spans[-1].end == 2 + len(frame)
    with pytest.raises(ValueError, match=r"0 to 3, the end of the input \(got 5\)"):
        maps.frame_map(frame, start=5, end=3)


def test_invalid_arguments_are_rejected(kwire, maps):
    with pytest.raises(kwire.UnsupportedVersion):
        maps.byte_map(kwire.messages.FetchResponse, b"", 99)
    with pytest.raises(kwire.UnsupportedVersion):
        maps.frame_map(b"", kwire.messages.FetchResponse, 99)
    with pytest.raises(TypeError, match="a response is required"):
        maps.frame_map(b"", kwire.messages.FetchRequest, 4)


def test_any_contiguous_bytes_are_mapped(kwire, maps):
    """Any contiguous buffer has the same byte map as bytes."""
    vector = golden.by_pair()["MetadataRequest", 12][-1]
    cls = kwire.messages.MetadataRequest
    expected = maps.byte_map(cls, vector.data, 12)
    for data in bytearray(vector.data), memoryview(vector.data):
        assert maps.byte_map(cls, data, 12) == expected
    with pytest.raises(TypeError, match="contiguous"):
        maps.byte_map(cls, memoryview(vector.data)[::2], 12)


def test_limits_of_decoding_apply_to_maps(kwire, maps):
    """The same input has the same error in a map and in decoding."""
    data = golden.by_pair()["MetadataRequest", 12][-1].data
    limits = kwire.Limits(frame_bytes=3)
    cls = kwire.messages.MetadataRequest
    byte_map = maps.byte_map(cls, data, 12, limits=limits)
    expected = catch_error(kwire, kwire.decode, cls, data, 12, limits=limits)
    assert type(expected) is kwire.LimitExceeded
    assert error_facts(byte_map.error) == error_facts(expected)
    assert [span.kind for span in byte_map.spans] == ["unread"]
    frame = kwire.messages.framing.encode_request(kwire.decode(cls, data, 12), 12)
    byte_map = maps.frame_map(frame, sized=True, limits=limits)
    expected = catch_error(
        kwire, kwire.messages.framing.decode_request, frame[4:], limits=limits
    )
    assert (
        byte_map.error.reason,
        byte_map.error.message_name,
        byte_map.error.offset,
    ) == (
        expected.reason,
        expected.message_name,
        expected.offset + 4,
    )


def test_message_after_its_version_is_mapped(kwire, maps):
    cls = kwire.messages.ConsumerProtocolSubscription
    for vector in golden.vectors():
        if vector.message == cls.__name__:
            data = vector.version.to_bytes(2, "big") + vector.data
            byte_map = maps.prefixed_map(cls, data)
            check_tiles(byte_map.spans, data)
            assert byte_map.error is None and byte_map.spans[0].value == vector.version
            check_values(
                byte_map.spans[1:], kwire.messages.framing.decode_prefixed(cls, data)
            )
    newest = golden.by_pair()[cls.__name__, cls.valid_versions.max][0].data
    byte_map = maps.prefixed_map(cls, b"\0\x63" + newest + b"new")
    assert byte_map.error is None and byte_map.spans[-1].kind == "unknown"
    for data in (b"\0", b"\0\0", b"\0\1\0\0", b"\xff\xff\0"):
        expected = catch_error(kwire, kwire.messages.framing.decode_prefixed, cls, data)
        assert expected is not None
        assert error_facts(maps.prefixed_map(cls, data).error) == error_facts(expected)


def test_error_codes_and_api_keys_have_their_names(kwire, maps):
    response = kwire.messages.ApiVersionsResponse
    data = kwire.encode(response(error_code=35, api_keys=[response.ApiVersion()]), 0)
    meanings = {s.path: s.meaning for s in maps.byte_map(response, data, 0).spans}
    assert meanings["error_code"] == "UNSUPPORTED_VERSION"
    assert meanings["api_keys[0].api_key"] == "Produce"


# Record sets --------------------------------------------------------------------------


def record_values(spans):
    """Return one dict of values for each record in the spans, in order.

    The spans of batches, damaged bytes and truncated batches are ignored.
    """
    rows_by_path = {}
    for span in spans:
        if span.kind in ("structure", "damaged", "cut"):
            continue
        owner = re.match(r"(.*records\[\d+\]|messages\[\d+\])", span.path)
        if owner is not None:
            name = span.path[owner.end() + 1 :]
            row = rows_by_path.setdefault(owner[0], {})
            absolute = span.kind == "timestamp" or name == "offset_delta"
            row[name] = span.meaning if absolute else span.value
    return list(rows_by_path.values())


@pytest.mark.parametrize("kind", ["batches", "mutant"])
def test_record_sets_are_mapped_as_they_are_read(kwire, maps, kind):
    """The byte map of a record set contains the values or the error of the reader.

    The record sets are valid and damaged batches that Kafka wrote.
    """
    compared = refused = 0
    for row in golden_records.vectors(kind):
        data = golden_records.raw(row["bytes"])
        byte_map = maps.record_map(data)
        check_tiles(byte_map.spans, data)
        batches_read = []
        try:
            for batch in kwire.records.decode_batches(data):
                batches_read.append(batch)
        except kwire.KwireError as error:
            assert error_facts(byte_map.error) == error_facts(error), row["name"]
            refused += 1
            continue
        assert byte_map.error is None and byte_map.damage == ()
        if any(batch.compression != "none" for batch in batches_read):
            continue
        rows = record_values(byte_map.spans)
        records = [record for batch in batches_read for record in batch.records]
        assert len(rows) == len(records)
        for values, record in zip(rows, records, strict=True):
            assert (values["key"], values["value"]) == (record.key, record.value)
            if "offset_delta" in values:
                assert values["offset_delta"] == f"offset {record.offset}"
                assert values["timestamp_delta"] == record.timestamp
            else:
                assert values["offset"] == record.offset
                assert values.get("timestamp", -1) == record.timestamp
            headers = [v for name, v in values.items() if name.startswith("headers")]
            assert headers == [content for pair in record.headers for content in pair]
            compared += 1
    assert compared > 10 and (refused > 10) == (kind == "mutant")


def test_each_byte_of_a_record_set_is_as_strict_as_in_reading(kwire, maps):
    """If any byte changes, the byte map has the error that the reader raises.

    The test changes every byte in the first of two batches, and corrects the checksum
    if it includes the changed byte.
    """
    refused = 0
    first, second = batches(kwire, 2, 1)
    record_set = first + second
    for position in range(len(first)):
        for byte in {0, 1, 2, 3, 5, 0x7F, 0x80, 0xFF} - {first[position]}:
            data = bytearray(record_set)
            data[position] = byte
            if position >= 21:
                crc = crc32c(bytes(data[21 : len(first)]))
                data[17:21] = crc.to_bytes(4, "big")
            byte_map = maps.record_map(data)
            check_tiles(byte_map.spans, data)
            expected = catch_error(
                kwire, lambda d=data: list(kwire.records.decode_batches(d))
            )
            assert error_facts(byte_map.error) == error_facts(expected), (
                position,
                byte,
            )
            refused += expected is not None
    assert refused > 150


def batches(kwire, *sizes, **options):
    """Encode one batch for each number in ``sizes``, with that number of records."""
    return [
        kwire.records.encode_batch(
            [(b"key", b"value", 1000 + n, [("h", b"1")]) for n in range(size)],
            **options,
        )
        for size in sizes
    ]


def test_map_continues_after_a_wrong_checksum(kwire, maps):
    """A wrong checksum is reported, but it does not hide the records."""
    first, second = batches(kwire, 2, 1)
    data = bytearray(first + second)
    data[len(first) - 6] ^= 1  # Change the first batch's last value.
    byte_map = maps.record_map(bytes(data))
    check_tiles(byte_map.spans, data)
    assert type(byte_map.error) is kwire.CorruptBatch and len(byte_map.damage) == 1
    damaged = [span for span in byte_map.spans if span.kind == "damaged"]
    assert [span.path for span in damaged] == ["batches[0].crc"]
    assert "checksum" in damaged[0].meaning
    assert byte_map.spans[-1].path == "batches[1].records[0].headers[0].value"


def test_damaged_record_only_affects_its_batch(kwire, maps):
    first, second = batches(kwire, 2, 1)
    data = bytearray(first + second)
    # Change the size of the first record, which starts at byte 61.
    data[61] = 0xFF
    byte_map = maps.record_map(bytes(data))
    check_tiles(byte_map.spans, data)
    damaged = [span for span in byte_map.spans if span.kind == "damaged"]
    assert [span.path for span in damaged] == [
        "batches[0].crc",
        "batches[0].records[0]",
    ]
    assert damaged[1].end == len(first)
    assert byte_map.error is byte_map.damage[0] and len(byte_map.damage) == 2
    assert byte_map.spans[-1].path.startswith("batches[1]")


def test_truncated_batch_is_not_damage(kwire, maps):
    """If a record set ends within a batch, the map has no damage.

    A Fetch response may end within a batch.
    """
    first, second = batches(kwire, 1, 1)
    data = first + second[:-1]
    byte_map = maps.record_map(data)
    check_tiles(byte_map.spans, data)
    assert (byte_map.error, byte_map.damage, byte_map.spans[-1].kind) == (
        None,
        (),
        "cut",
    )
    assert byte_map.spans[-1].position == len(first)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_compressed_records_are_one_span_with_their_sizes(kwire, maps, magic):
    """Compressed records are one span.

    It shows the codec, the record count and the decompressed size.

    Compressed bytes contain no separate fields.
    """
    rows = [(b"k", b"v" * 100)] * 9
    data = kwire.records.encode_batch(rows, magic=magic, compression="gzip")
    byte_map = maps.record_map(data)
    check_tiles(byte_map.spans, data)
    (span,) = (span for span in byte_map.spans if span.kind == "compressed")
    assert byte_map.spans[-1] is span and span.value and span.value in data
    assert re.fullmatch(r"gzip: 9 records, \d+ bytes unpacked", span.meaning)


def test_control_records_are_named(kwire, maps):
    key, value = b"\0\0\0\1", b"\0\0\0\0\0\0"
    data = kwire.records.encode_batch(
        [(key, value, 0)],
        is_control=True,
        is_transactional=True,
        producer_id=1,
        producer_epoch=0,
    )
    meanings = {span.path: span.meaning for span in maps.record_map(data).spans}
    assert meanings["batches[0].records[0].key"] == "COMMIT"
    assert meanings["batches[0].attributes"] == "none, transactional, control"


def produce(kwire, data):
    """Encode a Produce request with one partition, whose record set is ``data``."""
    request = kwire.messages.ProduceRequest
    partition = request.PartitionProduceData(records=data)
    topic = request.TopicProduceData(name="t", partition_data=[partition])
    return kwire.encode(request(topic_data=[topic]), 9)


def test_batches_inside_a_message_are_mapped_under_their_field(kwire, maps):
    (batch,) = batches(kwire, 3)
    data = produce(kwire, batch)
    byte_map = maps.byte_map(kwire.messages.ProduceRequest, data, 9)
    check_tiles(byte_map.spans, data)
    field = "topic_data[0].partition_data[0].records"
    inner = [span for span in byte_map.spans if span.path.startswith(f"{field}.")]
    alone = maps.record_map(batch).spans
    assert [s.path for s in inner] == [f"{field}.{s.path}" for s in alone]
    assert [s.owner for s in inner] == [f"{field}.{s.owner}" for s in alone]
    assert [s[5:] for s in inner] == [s[5:] for s in alone]
    assert {span.part for span in inner} == {"ProduceRequest v9"}
    # The spans after the records belong to the enclosing structs.
    assert [s.path for s in byte_map.spans[-3:]] == [
        "topic_data[0].partition_data[0]._tagged_fields",
        "topic_data[0]._tagged_fields",
        "_tagged_fields",
    ]


def test_damaged_batch_is_not_an_error_of_its_message(kwire, maps):
    """A damaged batch is not an error of the message that contains it.

    The message can still be decoded.
    """
    (batch,) = batches(kwire, 3)
    for records, kind in (b"\xff" * 61, "damaged"), (batch[:-1], "cut"):
        data = produce(kwire, records)
        byte_map = maps.byte_map(kwire.messages.ProduceRequest, data, 9)
        check_tiles(byte_map.spans, data)
        assert byte_map.error is None
        assert [type(error) for error in byte_map.damage] == (
            [kwire.CorruptBatch] if kind == "damaged" else []
        )
        assert kind in {span.kind for span in byte_map.spans}
        assert byte_map.spans[-1].path == "_tagged_fields"


def test_records_that_begin_within_a_batch_are_bytes(kwire, maps):
    """In a snapshot, a record set that starts within a batch is a single bytes span.

    Snapshots are fetched in pieces of arbitrary size, so this is not damage.
    """
    response = kwire.messages.FetchSnapshotResponse
    partition = response.PartitionSnapshot(unaligned_records=b"\xff" * 61)
    topic = response.TopicSnapshot(partitions=[partition])
    data = kwire.encode(response(topics=[topic]), 0)
    byte_map = maps.byte_map(response, data, 0)
    check_tiles(byte_map.spans, data)
    (span,) = (s for s in byte_map.spans if s.name == "unaligned_records")
    assert (span.kind, span.value, byte_map.damage) == ("bytes", b"\xff" * 61, ())


def test_short_frame_of_an_unknown_api_has_the_error_of_decoding(kwire):
    """The reader checks the API key before it detects the truncated header."""
    for size in range(4, 9):
        data = b"\x7f\x00\x00\x00\x00\x00\x00\x00"[:size]
        with pytest.raises(kwire.UnsupportedVersion) as caught:
            kwire.messages.framing.decode_request(data)
        assert str(kwire.explain.frame_map(data).error) == str(caught.value)
