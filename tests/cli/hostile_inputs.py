# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Valid inputs with terminal control characters in names from external sources.

Contains logs, groups, request logs and frames. The tests check that no control
characters are printed.
"""

import json

from kwire import encode, messages, records
from kwire.messages import framing, internal_topics
from tests.cli.made_logs import START, write_log

NAME = "\x1b]52;c;cHduZWQ=\x07\x1b[2J\x1b[7A\x9b5m\x85\u202e\u2066\b\rx"
"""For file names: clipboard, screen, cursor, C1, writing direction, backspace and CR.
"""

TEXT = f"\0=1+1{NAME}\nFORGED \ufeff\x7f\N{LINE SEPARATOR}"
"""For all other fields. Also contains NUL and a forged line."""

LONE = TEXT + "\udc9b"
"""For JSON, which can contain a lone surrogate."""


def write_topic(root):
    """Write a log with a hostile topic name, keys, values and headers.

    Return the path of the segment.
    """
    rows = [
        (TEXT.encode(), b"=1+1", START, [(TEXT, TEXT.encode())]),
        (b"\x1b[2J\xff", TEXT.encode(), START, [("\x9b5m", b"\x9b")]),
        (b"-1", b"=cmd|'/c calc'!A0", START, [("@x", b"\t=1")]),
    ]
    return write_log(root / f"{NAME}-0", [rows])


def write_damaged(root):
    """Write the same topic with one changed byte and additional bytes at its end.

    Return the path of the segment.
    """
    path = write_topic(root)
    data = bytearray(path.read_bytes())
    data[70] ^= 1
    path.write_bytes(data + b"\x1b[2J")
    return path


def write_groups(root):
    """Write offset commits, a classic group and a group of a newer type."""
    subscription = messages.ConsumerProtocolSubscription(topics=[TEXT])
    member = messages.GroupMetadataValue.MemberMetadata(
        member_id=TEXT,
        client_id=TEXT,
        client_host=TEXT,
        subscription=b"\0\0" + encode(subscription, 0),
        assignment=TEXT.encode(),
    )
    group = messages.GroupMetadataValue(
        protocol_type="consumer",
        generation=1,
        protocol=TEXT,
        leader=TEXT,
        members=[member],
    )
    commit = messages.OffsetCommitValue(offset=1, metadata=TEXT, commit_timestamp=START)
    pairs = [
        (messages.OffsetCommitKey(group=TEXT, topic=TEXT, partition=0), commit, 3),
        (messages.OffsetCommitKey(group="\n=g", topic=NAME, partition=0), commit, 3),
        (messages.GroupMetadataKey(group=TEXT), group, 3),
        (
            messages.ConsumerGroupMemberMetadataKey(group_id=TEXT, member_id=TEXT),
            messages.ConsumerGroupMemberMetadataValue(
                client_id=TEXT,
                client_host=TEXT,
                subscribed_topic_names=[TEXT],
            ),
            0,
        ),
    ]
    rows = [
        (*internal_topics.encode("__consumer_offsets", *pair), START, [])
        for pair in pairs
    ]
    return write_log(root / "__consumer_offsets-0", [rows])


def write_request_log(path):
    """Write a broker request log with hostile client ids."""
    lines = []
    for number, name in enumerate((TEXT, LONE, None)):
        request = {
            "isForwarded": False,
            "requestHeader": {
                "requestApiKey": 18,
                "requestApiVersion": 3,
                "correlationId": number,
                "clientId": name,
                "requestApiKeyName": "API_VERSIONS",
            },
            "request": {
                "clientSoftwareName": name or TEXT,
                "clientSoftwareVersion": name or TEXT,
            },
            "response": {"errorCode": 0, "apiKeys": []},
            "connection": f"10.0.0.1:9092-10.0.0.{number + 2}:4000-0",
            "clientInformation": {
                "softwareName": name or TEXT,
                "softwareVersion": name or TEXT,
            },
        }
        old = request | {
            "requestHeader": request["requestHeader"]
            | {
                "requestApiKey": 1,
                "requestApiVersion": 1,
                "requestApiKeyName": "FETCH",
            },
            "request": {},
            "response": {},
        }
        for line in (request, old):
            lines.append(
                "[2026-11-21 04:28:48,127] DEBUG Completed request:"
                f"{json.dumps(line)} (kafka.request.logger)\n"
            )
    lines.append(f"[2026-11-21 04:28:49,127] DEBUG Completed request:{{{NAME}\n")
    path.write_text("".join(lines))
    return path


def write_frames(path):
    """Write requests with hostile texts in header and body, and a record set."""
    request = messages.MetadataRequest(
        topics=[messages.MetadataRequest.MetadataRequestTopic(name=TEXT)]
    )
    frame = framing.encode_request(request, 5, correlation_id=1, client_id=TEXT)
    produce = messages.ProduceRequest(
        transactional_id=TEXT,
        acks=1,
        timeout_ms=1,
        topic_data=[
            messages.ProduceRequest.TopicProduceData(
                name=TEXT,
                partition_data=[
                    messages.ProduceRequest.PartitionProduceData(
                        index=0,
                        records=records.encode_batch(
                            [(TEXT.encode(), TEXT.encode(), START, [(TEXT, b"\x9b")])]
                        ),
                    )
                ],
            )
        ],
    )
    path.write_bytes(
        frame + framing.encode_request(produce, 9, correlation_id=2, client_id=TEXT)
    )
    return path
