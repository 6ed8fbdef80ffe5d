# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-951 draft: an error response contains the new leader.

``schemas/`` contains the proposed schemas, which no generator accepts: two fields have
tag 2, and a rack is null by default although it is not nullable. ``repaired`` applies
the minimum changes that make the schemas valid. ``leader_changes`` reads the leaders
from the draft's responses, and from the responses that Kafka released instead.
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
"""Partition errors for which a broker includes the leader."""

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
    """Return a schema of this draft with the minimum changes that make it valid.

    ``LeaderRack`` becomes nullable in all its versions. If two fields have tag 2,
    ``moved`` receives tag 3. By default, this is the draft's own field. To decode bytes
    with the draft's original tag, move Kafka's ``SnapshotId`` instead.
    """
    text = _RACK.sub(r'\1, "nullableVersions": \2', text)
    if '"name": "SnapshotId"' not in text:
        return text
    tag = rf'("name": "{moved}"[^{{}}]*?"tag": ){_SHARED_TAG}\b'
    return re.sub(tag, rf"\g<1>{_FREE_TAG}", text)


_FETCH_TEXT = schema_text("kip951_fetch_response")

FetchResponse = message_class(repaired(_FETCH_TEXT))
"""FetchResponse of the draft, whose own field has tag 3."""

FetchResponseTag2 = message_class(repaired(_FETCH_TEXT, moved="SnapshotId"))
"""FetchResponse of the draft, whose own field has the original tag 2."""

ProduceResponse = message_class(repaired(schema_text("kip951_produce_response")))
"""ProduceResponse of the draft."""


class LeaderChange(NamedTuple):
    """Partition whose leader has changed.

    * ``topic``: topic name, or topic id if the response version contains no names.
    * ``host``, ``port``, ``rack``: address and rack of the leader. They are None if the
      response does not contain the address. The client then either knows the address
      already, or has to request metadata.
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
    """List the leaders that a Fetch or Produce response includes for partition errors.

    Supports the draft's classes and all versions of the ``kwire.messages`` classes. The
    draft has an address per partition. Kafka has an address per broker, since Fetch 16
    and Produce 10. A leader is only returned if the error is one of ``LEADER_ERRORS``,
    and its id and epoch are known.

    Raises ``TypeError`` for other messages. Raises ``RemoteProtocolError`` if Kafka's
    FetchResponse has a snapshot id together with such an error. Brokers never send
    this, but bytes of this draft with tag 2 may be decoded in this way.
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
    for topic_number, topic in enumerate(response.responses):
        name = topic.topic if is_fetch else topic.name
        # Only the name or the id is present. The draft's ProduceResponse has no id.
        name = name or getattr(topic, "topic_id", name)
        inner = "partitions" if is_fetch else "partition_responses"
        for partition_number, partition in enumerate(getattr(topic, inner)):
            index = partition.partition_index if is_fetch else partition.index
            yield (
                f"responses[{topic_number}].{inner}[{partition_number}]",
                name,
                index,
                partition,
            )


def _check_snapshot(path: str, snapshot_id: Any) -> None:
    if snapshot_id == type(snapshot_id)():
        return
    raise RemoteProtocolError(
        f"{path} has a snapshot id beside an error of the leader, which no broker"
        " sends; bytes of the KIP-951 draft read so: decode them with"
        " kwire.drafts.kip951_leader_endpoints.FetchResponseTag2"
    )
