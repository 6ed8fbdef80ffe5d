# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the limits ``array_elements`` and ``tagged_fields``, and Kafka's boundaries.

Every function that decodes messages rejects a count over the limit at the first byte of
the count. ``tools/interop/oracle/boundaries.txt`` contains the counts at which Kafka's
classes reject a message. With the limits that ``docs/project/deviations.md`` documents,
kwire accepts and rejects the same counts.
"""

import importlib
import pickle

import pyarrow
import pytest

from kwire.schema import releases
from tools.interop.oracle import boundary_shapes
from tools.interop.oracle.boundary_shapes import (
    RECORD_SHAPES,
    RECORDED,
    SHAPES,
    read_boundaries,
)

ALL_BOUNDARIES = read_boundaries(RECORDED.read_text(encoding="utf-8"))
BOUNDARIES = ALL_BOUNDARIES[: 2 * len(SHAPES)]
RECORD_BOUNDARIES = ALL_BOUNDARIES[2 * len(SHAPES) :]
NEWEST, OLDER = dict.fromkeys(row.release for row in BOUNDARIES)
KAFKA_44 = {"array_elements": 1_000_000, "tagged_fields": 10_000}
"""Limits that the documentation recommends for a Kafka 4.4 broker."""


@pytest.fixture
def request_data(kwire):
    """Return an encoded Metadata request with three topics.

    One topic has two unknown tags.
    """
    m = kwire.messages.MetadataRequest
    topics = [m.MetadataRequestTopic(name=name) for name in "abc"]
    topics[1] = topics[1].replace(unknown_tagged_fields=((7, b"x"), (9, b"")))
    return kwire.encode(m(topics=topics), 12)


@pytest.mark.parametrize("options", [{}, {"compat": "java"}, {"zero_copy": True}])
def test_array_over_the_limit_is_rejected_at_its_count(kwire, request_data, options):
    """An array whose count equals the limit is accepted.

    If the count is higher, the error has the offset of the count and the path.
    """
    cls = kwire.messages.MetadataRequest
    at_limit = kwire.Limits(array_elements=3)
    kwire.decode(cls, request_data, 12, limits=at_limit, **options)
    with pytest.raises(kwire.LimitExceeded) as caught:
        limits = kwire.Limits(array_elements=2)
        kwire.decode(cls, request_data, 12, limits=limits, **options)
    assert (caught.value.offset, caught.value.path) == (0, "topics")
    assert "an array of 3 elements" in caught.value.reason
    assert "array_elements=" in caught.value.reason


@pytest.mark.parametrize("options", [{}, {"compat": "java"}, {"zero_copy": True}])
def test_tags_over_the_limit_are_rejected_at_their_count(kwire, request_data, options):
    """``tagged_fields`` limits the number of unknown tags in one tag section.

    The sections of a message are not added up.
    """
    cls = kwire.messages.MetadataRequest
    kwire.decode(cls, request_data, 12, limits=kwire.Limits(tagged_fields=2), **options)
    with pytest.raises(kwire.LimitExceeded) as caught:
        limits = kwire.Limits(tagged_fields=1)
        kwire.decode(cls, request_data, 12, limits=limits, **options)
    assert caught.value.path == "topics[1].unknown_tagged_fields"
    assert request_data[caught.value.offset] == 2
    assert "2 tagged fields" in caught.value.reason


def test_array_of_integers_over_the_limit_is_rejected(kwire):
    """The limit applies to integer arrays, which have separate decoding loops."""
    m = kwire.messages.DescribeLogDirsRequest
    topic = m.DescribableLogDirTopic(topic="a", partitions=(1, 2, 3))
    for version in (1, 2):
        data = kwire.encode(m(topics=[topic]), version)
        kwire.decode(m, data, version, limits=kwire.Limits(array_elements=3))
        with pytest.raises(kwire.LimitExceeded) as caught:
            kwire.decode(m, data, version, limits=kwire.Limits(array_elements=2))
        assert caught.value.path == "topics[0].partitions"


def test_frames_columns_and_byte_maps_have_the_same_limits(kwire, request_data):
    """All functions with ``limits`` reject the same counts.

    They decode frames, columns and byte maps.
    """
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    byte_map = importlib.import_module(f"{kwire.__name__}.explain")
    cls = kwire.messages.MetadataRequest
    frame = kwire.messages.framing.encode_request(
        kwire.decode(cls, request_data, 12), 12, 1
    )
    response = kwire.messages.MetadataResponse(
        brokers=[kwire.messages.MetadataResponse.MetadataResponseBroker()] * 3,
        unknown_tagged_fields=((7, b"x"), (9, b"")),
    )
    reply = kwire.messages.framing.encode_response(response, 12, 1)
    rows = pyarrow.array([request_data])

    def map_bytes(limits):
        mapped = byte_map.byte_map(cls, request_data, 12, limits=limits)
        if mapped.error:
            raise mapped.error

    calls = [
        lambda limits: kwire.messages.framing.decode_request(frame[4:], limits=limits),
        lambda limits: kwire.messages.framing.decode_response(
            type(response), reply[4:], 12, limits=limits
        ),
        lambda limits: kwire.messages.framing.decode_prefixed(
            cls, b"\0\x0c" + request_data, limits=limits
        ),
        lambda limits: arrow.messages_to_arrow(rows, cls, 12, limits=limits),
        map_bytes,
    ]
    for call in calls:
        call(kwire.Limits(array_elements=3, tagged_fields=2))
        for limits in (kwire.Limits(array_elements=2), kwire.Limits(tagged_fields=1)):
            with pytest.raises(kwire.LimitExceeded):
                call(limits)


def test_tags_of_headers_have_the_same_limit(kwire):
    """``tagged_fields`` applies to the tags of a request header.

    Header columns and ``decode_request`` raise the same error.
    """
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    header = kwire.messages.RequestHeader(
        request_api_key=3,
        request_api_version=12,
        unknown_tagged_fields=((7, b"x"), (9, b"")),
    )
    frame = kwire.encode(header, 2) + kwire.encode(kwire.messages.MetadataRequest(), 12)
    rows = pyarrow.array([frame])
    at_limit, below = (kwire.Limits(tagged_fields=count) for count in (2, 1))
    kwire.messages.framing.decode_request(frame, limits=at_limit)
    arrow.request_headers_to_arrow(rows, limits=at_limit)
    with pytest.raises(kwire.LimitExceeded):
        kwire.messages.framing.decode_request(frame, limits=below)
    with pytest.raises(kwire.LimitExceeded):
        arrow.request_headers_to_arrow(rows, limits=below)


def test_count_limits_affect_equality(kwire):
    """Two Limits objects with different count limits are not equal.

    Hash, pickles and repr include the count limits.
    """
    limits = kwire.Limits(**KAFKA_44)
    assert limits == kwire.Limits(**KAFKA_44) != kwire.Limits()
    assert pickle.loads(pickle.dumps(limits)) == limits
    assert "array_elements=1000000" in repr(limits)
    for name in KAFKA_44:
        with pytest.raises(ValueError, match=name):
            kwire.Limits(**{name: -1})


def test_boundaries_are_those_of_the_newest_releases():
    """The recorded boundaries are those of the newest releases.

    For a new release, run ``tools/interop/oracle/boundaries.py`` again.
    """
    newest = list(releases.NAMES[-2:])
    assert [OLDER.rpartition(".")[0], NEWEST.rpartition(".")[0]] == newest
    assert [row.shape for row in BOUNDARIES[::2]] == [shape.name for shape in SHAPES]
    recorded = [row.shape for row in RECORD_BOUNDARIES[::2]]
    assert recorded == [shape.name for shape in RECORD_SHAPES]
    assert RECORD_BOUNDARIES[0].release == NEWEST


def test_every_changed_boundary_is_documented():
    """``deviations.md`` lists every count that only the newest release rejects."""
    page = (RECORDED.parents[3] / "docs" / "project" / "deviations.md").read_text()
    changed = boundary_shapes.changes(ALL_BOUNDARIES)
    assert changed
    for row in ALL_BOUNDARIES:
        if row.release == NEWEST and any(row.shape in line for line in changed):
            assert f"{row.accepted:,}" in page, row


@pytest.mark.slow
@pytest.mark.gate_on_pure
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_kwire_has_the_boundaries_of_both_releases(kwire, shape):
    """The counts that kwire accepts are those of both Kafka releases.

    By default, these are the counts of the older release. With ``KAFKA_44``, they are
    those of the newest one.
    """
    cls = getattr(kwire.messages, shape.message)
    rows = [row for row in BOUNDARIES if row.shape == shape.name]
    assert {row.release for row in rows} == {NEWEST, OLDER}
    for row in rows:
        limits = kwire.Limits(**KAFKA_44) if row.release == NEWEST else kwire.Limits()
        for count, is_accepted in ((row.accepted, True), (row.rejected, False)):
            # Higher counts would mainly test the memory of the machine.
            if not 0 < count <= 1_000_001:
                continue
            data = shape.encode(count)
            try:
                kwire.decode(cls, data, shape.version, limits=limits)
            except kwire.DecodeError as error:
                assert not is_accepted, (row, str(error))
            else:
                assert is_accepted, row


@pytest.mark.slow
@pytest.mark.gate_on_pure
@pytest.mark.parametrize("shape", RECORD_SHAPES, ids=lambda shape: shape.name)
def test_kwire_reads_the_records_that_both_releases_read(kwire, shape):
    """Record counts that both Kafka releases accept are accepted."""
    rows = [row for row in RECORD_BOUNDARIES if row.shape == shape.name]
    assert len({(row.accepted, row.rejected) for row in rows}) == 1
    assert rows[0].rejected == 0
    data = shape.encode(rows[0].accepted)
    (batch,) = kwire.records.decode_batches(data)
    assert len(batch.records) == len(shape.make_rows(rows[0].accepted))
