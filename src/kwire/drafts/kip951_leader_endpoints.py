# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-951, the draft: an error response names the new leader.

The schemas are in ``schemas/`` as they were proposed, and as such no generator takes
them: two fields share tag 2, and a rack is null by default but not nullable.
``repaired`` changes the least that makes them legal. ``leader_changes`` reads the
leaders from the draft's responses and from those that Kafka released in its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..errors import RemoteProtocolError
from ..messages import message_class
from ..schema import releases
from ..schema.error_codes import FENCED_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER
from .documents import Provenance, schema_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

PROVENANCE = Provenance(
    951,
    "leader endpoints in Fetch and Produce responses",
    "draft with an address in each partition, document 002",
)

LEADER_ERRORS = (NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH)
"""The errors of a partition beside which a broker names the leader."""

_FETCH, _PRODUCE = map(releases.key_of, ("Fetch", "Produce"))
_SHARED_TAG, _FREE_TAG = 2, 3
_RACK = re.compile(
    r'("name": "LeaderRack", "type": "string", "versions": ("\d+\+"))'
    r"(?!.*nullableVersions)"
)


def repaired(
    text: str,
    moved: Literal["CurrentLeaderBroker", "SnapshotId"] = "CurrentLeaderBroker",
) -> str:
    """Return a schema text of this draft with the least change that makes it legal.

    ``LeaderRack`` becomes nullable in all its versions. Where two fields have tag 2,
    ``moved`` is the one that goes to tag 3: the draft's own, or for bytes with the
    number that the draft wrote, Kafka's ``SnapshotId``.
    """
    text = _RACK.sub(r'\1, "nullableVersions": \2', text)
    if '"name": "SnapshotId"' not in text:
        return text
    tag = rf'("name": "{moved}"[^{{}}]*?"tag": ){_SHARED_TAG}\b'
    return re.sub(tag, rf"\g<1>{_FREE_TAG}", text)


_FETCH_TEXT = schema_text("kip951_fetch_response")

FetchResponse = message_class(repaired(_FETCH_TEXT))
"""The draft's FetchResponse, its own field at tag 3."""

FetchResponseTag2 = message_class(repaired(_FETCH_TEXT, moved="SnapshotId"))
"""The draft's FetchResponse, its own field at tag 2 as written."""

ProduceResponse = message_class(repaired(schema_text("kip951_produce_response")))
"""The draft's ProduceResponse."""


class LeaderChange(NamedTuple):
    """A partition that is led elsewhere.

    ``topic`` is the name, or the id where the version has no name. ``host``, ``port``
    and ``rack`` are None where the response names the leader without an address: it
    is one that the client knows already, or has to ask the metadata for.
    """

    topic: str | UUID
    partition: int
    error_code: int
    leader_id: int
    leader_epoch: int
    host: str | None = None
    port: int | None = None
    rack: str | None = None


def leader_changes(response: Any) -> tuple[LeaderChange, ...]:
    """List the leaders that a Fetch or Produce response names beside an error.

    Takes the draft's classes and those of ``kwire.messages``, of any version: the
    draft keeps an address in each partition, Kafka from Fetch 16 and Produce 10 on one
    for each broker. A leader counts where the error is one of ``LEADER_ERRORS`` and
    both its id and its epoch are known.
    Raises ``RemoteProtocolError`` where Kafka's FetchResponse has a snapshot id beside
    such an error: no broker sends that, but bytes of this draft with tag 2 may read so.
    """
    if getattr(response, "kind", "") != "response" or response.api_key not in (
        _FETCH,
        _PRODUCE,
    ):
        name = type(response).__name__
        raise TypeError(
            f"response must be a FetchResponse or ProduceResponse (got {name})"
        )
    return tuple(_changes(response))


def _changes(response: Any) -> Iterator[LeaderChange]:
    is_draft = not hasattr(response, "node_endpoints")
    nodes = {} if is_draft else {node.node_id: node for node in response.node_endpoints}
    for path, topic, index, partition in _partitions(response):
        if partition.error_code not in LEADER_ERRORS:
            continue
        if response.api_key == _FETCH and not is_draft:
            _check_snapshot(path, partition.snapshot_id)
        leader = partition.current_leader
        if leader.leader_id < 0 or leader.leader_epoch < 0:
            continue
        address: tuple[Any, ...] = ()
        if is_draft:
            broker = partition.current_leader_broker
            if broker.leader_host:
                address = broker.leader_host, broker.leader_port, broker.leader_rack
        elif leader.leader_id in nodes:
            node = nodes[leader.leader_id]
            address = node.host, node.port, node.rack
        yield LeaderChange(
            topic,
            index,
            partition.error_code,
            leader.leader_id,
            leader.leader_epoch,
            *address,
        )


def _partitions(response: Any) -> Iterator[tuple[str, str | UUID, int, Any]]:
    is_fetch = response.api_key == _FETCH
    for at, topic in enumerate(response.responses):
        name = topic.topic if is_fetch else topic.name
        # Only one of them is there, and of the draft's ProduceResponse only the name.
        name = name or getattr(topic, "topic_id", name)
        inner = "partitions" if is_fetch else "partition_responses"
        for place, partition in enumerate(getattr(topic, inner)):
            index = partition.partition_index if is_fetch else partition.index
            yield f"responses[{at}].{inner}[{place}]", name, index, partition


def _check_snapshot(path: str, snapshot_id: Any) -> None:
    if snapshot_id == type(snapshot_id)():
        return
    raise RemoteProtocolError(
        f"{path} has a snapshot id beside an error of the leader, which no broker"
        " sends; bytes of the KIP-951 draft read so: decode them with"
        " kwire.drafts.kip951_leader_endpoints.FetchResponseTag2"
    )
