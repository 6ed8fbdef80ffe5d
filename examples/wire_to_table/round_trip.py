# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes recorded frames, encodes them again, compares the bytes and counts.

What is compared is ``Recorded.sent``: the bytes that the client or the mock really
sent. Frames that the relay rewrote are compared a second time as they were passed on.
No sockets and no Spark here.
"""

import collections
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import kwire
from kwire import framing, messages

from .recording import Recorded

UNSUPPORTED_VERSION = b"\x00\x23"

# Base offset, length of what follows, leader epoch, magic, crc, attributes, 34 bytes on
# offsets, times and producer, record count.
BATCH_HEADER = struct.Struct(">qiibIh34xi")
LENGTH_END = 12
CONTROL = 0x20
BYTES_SHOWN = 12


class Report(NamedTuple):
    """What was found in the frames.

    ``odd`` holds the mock's answers to an ApiVersions version that it does not know:
    error 35 over a body of no version. ``failures`` are sentences; empty is good.
    """

    round_trips: int
    rewritten: int
    odd: list[Recorded]
    failures: list[str]
    produced_records: int
    fetched_records: int


def check(frames: Iterable[Recorded]) -> Report:
    """Decode, encode and compare every frame, both directions."""
    round_trips = rewritten = produced = 0
    odd: list[Recorded] = []
    failures: list[str] = []
    fetched: dict[tuple, int] = {}
    for recorded in frames:
        if is_odd(recorded):
            odd.append(recorded)
            continue
        try:
            message = round_trip(recorded, recorded.sent)
            if recorded.passed != recorded.sent:
                round_trip(recorded, recorded.passed)
                rewritten += 1
        except FrameError as failure:
            failures.append(str(failure))
            continue
        round_trips += 1
        if isinstance(message, messages.ProduceRequest):
            produced += sum(count for _, count in produced_batches(message))
        elif isinstance(message, messages.FetchResponse):
            fetched.update(fetched_batches(message))
    return Report(
        round_trips, rewritten, odd, failures, produced, sum(fetched.values())
    )


class FrameError(Exception):
    """A frame that does not decode, or does not encode to the same bytes."""

    def __init__(self, recorded: Recorded, frame: bytes, offset: int, why: str) -> None:
        """Say which frame it is, where it differs, and show the bytes around."""
        start = max(0, offset - BYTES_SHOWN)
        before, after = frame[start:offset], frame[offset : offset + BYTES_SHOWN]
        super().__init__(
            f"{title(recorded)}, connection {recorded.connection}, frame"
            f" {recorded.sequence}: {why}, at byte {offset} of {len(frame)}:"
            f" {before.hex(' ')} > {after.hex(' ')}"
        )


def round_trip(recorded: Recorded, frame: bytes):
    """Return the decoded message of ``frame``.

    Raises ``FrameError`` unless its encoding is ``frame`` again.
    """
    correlation_id, message = decode(recorded, frame)
    again = encode(recorded, correlation_id, message)
    if again != frame:
        same = sum(1 for _ in common_prefix(frame, again))
        why = f"encoded again it differs: {again[same : same + BYTES_SHOWN].hex(' ')}"
        raise FrameError(recorded, frame, same, why)
    return message


def decode(recorded: Recorded, frame: bytes):
    """Return the correlation id and the message of a frame."""
    try:
        if recorded.direction == "request":
            header, message = framing.decode_request(frame)
            return header.correlation_id, message
        cls = messages.by_key(recorded.api_key, "response")
        return framing.decode_response(cls, frame, recorded.api_version)
    except kwire.DecodeError as error:
        why = f"{error.path or 'frame'}: {error.reason}"
        raise FrameError(recorded, frame, error.offset, why) from error
    except kwire.UnsupportedVersion as error:
        raise FrameError(recorded, frame, 0, str(error)) from error


def encode(recorded: Recorded, correlation_id: int, message) -> bytes:
    """Return the frame that kwire makes of a message, in the place of ``recorded``."""
    version = recorded.api_version
    try:
        if recorded.direction == "request":
            client_id = recorded.client_id
            data = framing.encode_request(message, version, correlation_id, client_id)
        else:
            data = framing.encode_response(message, version, correlation_id)
    except kwire.EncodeError as error:
        why = f"{error.path or 'message'}: {error.expected}"
        raise FrameError(recorded, recorded.sent, 0, why) from error
    return data[4:]


def common_prefix(one: bytes, other: bytes) -> Iterator[int]:
    """Give the bytes that both begin with."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield a


def is_odd(recorded: Recorded) -> bool:
    """Tell the mock's answer to an ApiVersions version that it does not know.

    A broker answers in the form of version 0 then; the mock mixes two versions.
    """
    return (
        recorded.direction == "response"
        and recorded.api_key == messages.ApiVersionsResponse.api_key
        and recorded.api_version > 0
        and recorded.sent[4:6] == UNSUPPORTED_VERSION
    )


def title(recorded: Recorded) -> str:
    """Name the message and version, as in ``FetchResponse v12``."""
    cls = messages.by_key(recorded.api_key, recorded.direction)
    return f"{cls.__name__} v{recorded.api_version}"


def counts(frames: Iterable[Recorded]) -> dict[str, int]:
    """Count the frames per message and version, by title."""
    return dict(sorted(collections.Counter(map(title, frames)).items()))


def produced_batches(request) -> Iterator[tuple[int, int]]:
    """Give (base offset, record count) of each batch in a Produce request."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            yield from batches(partition.records)


def fetched_batches(response) -> Iterator[tuple[tuple, int]]:
    """Give (topic, partition, base offset) and record count of each fetched batch.

    A batch may be fetched twice; its place in the log tells.
    """
    for answer in response.responses:
        topic = answer.topic or answer.topic_id
        for partition in answer.partitions:
            for base_offset, count in batches(partition.records):
                yield (topic, partition.partition_index, base_offset), count


def batches(records: bytes | None) -> Iterator[tuple[int, int]]:
    """Give (base offset, record count) of each whole batch, from its header alone.

    Control batches (the end of a transaction) hold no message and are left out.
    """
    records = records or b""
    position = 0
    while len(records) - position >= BATCH_HEADER.size:
        base_offset, length, _, magic, _, attributes, count = BATCH_HEADER.unpack_from(
            records, position
        )
        position += LENGTH_END + length
        if position > len(records):
            return  # Fetch may cut the last batch
        if magic != 2:
            raise ValueError(f"a record batch of magic {magic}, expected 2")
        if not attributes & CONTROL:
            yield base_offset, count
