# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Admin``: the operations of ``Kafka`` and ``KafkaSync`` that manage a cluster.

``request`` sends any request; the other operations write a request, and turn errors in
its response into exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._text.name_advice import explain_arguments
from ..connection.negotiation import TOPIC_DEFAULTS
from ..errors import UnsupportedVersion
from ..schema import error_codes as codes
from .admin_results import (
    ConfigEntry,
    GroupDescription,
    GroupListing,
    describe_classic_group,
    describe_consumer_group,
    name_source,
    raise_errors,
)
from .errors import FeatureUnsupported
from .queries import ClusterQueries
from .runners.addresses import split_address
from .runners.operations import operation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..connection.negotiation import Constraint
    from ..messages import Request
    from .machines import BrokerVersions

ResourceType: TypeAlias = Literal[
    "topic", "broker", "broker_logger", "client_metrics", "group"
]

_RESOURCE_TYPES = {
    "topic": 2,
    "broker": 4,
    "broker_logger": 8,
    "client_metrics": 16,
    "group": 32,
}

_SET, _DELETE = 0, 1
"""Operations of IncrementalAlterConfigs."""


class Admin(ClusterQueries):
    """Operations that manage a cluster."""

    @operation
    async def request(self, message: Request, to: int | str | None = None) -> Any:
        """Send any request of Kafka's protocol; return the response.

        * ``message``: the request, such as ``kwire.messages.DescribeAclsRequest``. The
          client chooses its version.
        * ``to``: node id of a broker, or its address as "host:port". Default: the
          brokers that the API requires, such as the controller, the coordinator of a
          group, or the leaders of partitions.

        If the request is for several brokers, it is split, and the response has the
        items in the order of the request. The responses to ListGroups, DescribeLogDirs
        and ListTransactions are concatenated from all brokers in the order of their
        node ids. With ``to``, nothing is split, and the response is that of the broker.

        A part of the request is sent again if the broker answers that another one is
        responsible, or that it is not ready yet; and after a lost connection if a
        second copy has no effect of its own. All other errors are error codes in the
        response. After ``timeout_s``, the last answer of each broker counts.

        Raises ``BrokersUnreachable`` if a broker did not answer, ``OutcomeUnknown`` if
        a connection was lost after a request that must not be sent twice, and
        ``UnsupportedVersion``, ``FeatureUnsupported`` or ``EncodeError`` if a broker
        does not support the request or a field of it. Raises ``TypeError`` or
        ``ValueError`` if ``message`` cannot be sent as a request, or ``to`` is neither
        a node id nor an address.
        """
        return await self._request(message, _read_destination(to))

    @operation
    async def broker_versions(self) -> dict[int, BrokerVersions]:
        """Return the API versions that each broker supports, by node id.

        A broker that cannot be reached has an error in place of its versions. If the
        bootstrap addresses are those of KRaft controllers, the result describes the
        controllers. Raises ``BrokersUnreachable`` or ``AuthenticationFailed`` if no
        broker returns metadata. Sources: ApiVersions (KIP-35), Metadata,
        DescribeCluster (KIP-919).
        """
        from .machines import BrokerVersionsMachine

        return await self._run_query(BrokerVersionsMachine)

    @operation
    @explain_arguments("create_topics")
    async def create_topics(
        self,
        topics: Mapping[str, int] | Iterable[str],
        *,
        replication_factor: int = -1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        """Create topics.

        * ``topics``: {name: partition count}, or names. The count -1, and names without
          a count, mean the default of the brokers (Kafka 2.4).
        * ``replication_factor``: replicas of each partition. -1 means the default of
          the brokers.
        * ``configs``: properties of all these topics, such as "retention.ms".
        * ``validate_only``: check the request, and create nothing.

        Raises ``RequestRefused`` if a topic could not be created, for example because
        it exists; the others have been created. Source: CreateTopics.
        """
        from ..messages import CreateTopicsRequest as Create

        entries = [
            Create.CreatableTopicConfig(name=key, value=value)
            for key, value in (configs or {}).items()
        ]
        counts = _count_partitions(topics)
        request = Create(
            topics=[
                Create.CreatableTopic(
                    name=name,
                    num_partitions=count,
                    replication_factor=replication_factor,
                    configs=entries,
                )
                for name, count in counts.items()
            ],
            timeout_ms=self.settings.broker_timeout_ms,
            validate_only=validate_only,
        )
        has_defaults = -1 in (replication_factor, *counts.values())
        constraints = (TOPIC_DEFAULTS,) if has_defaults else ()
        response = await self._request(request, None, *constraints)
        raise_errors(
            "creating topics",
            [(repr(r.name), r.error_code, r.error_message) for r in response.topics],
        )

    @operation
    async def delete_topics(self, topics: str | Iterable[str]) -> None:
        """Delete topics by name.

        Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if a topic
        could not be deleted; the others have been deleted. Source: DeleteTopics.
        """
        from ..messages import DeleteTopicsRequest as Delete

        names = _list_names(topics)
        response = await self._request(
            Delete(
                topics=[Delete.DeleteTopicState(name=name) for name in names],
                timeout_ms=self.settings.broker_timeout_ms,
            )
        )
        raise_errors(
            "deleting topics",
            [(repr(r.name), r.error_code, r.error_message) for r in response.responses],
        )

    @operation
    async def add_partitions(self, counts: Mapping[str, int]) -> None:
        """Extend topics: ``counts`` is {name: partition count afterwards}.

        Records with a key may then be in another partition than older records with the
        same key. Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if a
        topic could not be extended; the others have been extended.
        Source: CreatePartitions (KIP-195).
        """
        from ..messages import CreatePartitionsRequest as Create

        topic = Create.CreatePartitionsTopic
        response = await self._request(
            Create(
                topics=[
                    topic(name=name, count=count, assignments=None)
                    for name, count in counts.items()
                ],
                timeout_ms=self.settings.broker_timeout_ms,
            )
        )
        raise_errors(
            "adding partitions",
            [(repr(r.name), r.error_code, r.error_message) for r in response.results],
        )

    @operation
    async def delete_records(
        self, offsets: Mapping[tuple[str, int], int]
    ) -> dict[tuple[str, int], int]:
        """Delete the records before an offset of each partition.

        ``offsets`` is {(topic, partition): offset}. The offset -1 is the high
        watermark, which deletes all records. Returns the new first offset of each
        partition. Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if
        records of a partition could not be deleted. Source: DeleteRecords (KIP-107).
        """
        from ..messages import DeleteRecordsRequest as Delete

        partition = Delete.DeleteRecordsPartition
        response = await self._request(
            Delete(
                topics=[
                    Delete.DeleteRecordsTopic(
                        name=name,
                        partitions=[
                            partition(partition_index=index, offset=offset)
                            for index, offset in values.items()
                        ],
                    )
                    for name, values in _group_by_topic(offsets).items()
                ],
                timeout_ms=self.settings.broker_timeout_ms,
            )
        )
        found = [(topic.name, p) for topic in response.topics for p in topic.partitions]
        raise_errors(
            "deleting records",
            [(f"{name}-{p.partition_index}", p.error_code, None) for name, p in found],
        )
        return {(name, p.partition_index): p.low_watermark for name, p in found}

    @operation
    async def configs(
        self, resource_type: ResourceType, name: str | int = ""
    ) -> dict[str, ConfigEntry]:
        """Return the configuration of a topic, a broker or another resource, by name.

        * ``resource_type``: "topic", "broker", "broker_logger", "client_metrics" or
          "group".
        * ``name``: the topic or group, or the node id of a broker. "" with "broker" is
          the configuration that all brokers share.

        Raises ``NotAuthorized``, ``TopicNotFound`` or ``RequestRefused``.
        Source: DescribeConfigs (KIP-133).
        """
        from ..messages import DescribeConfigsRequest as Describe

        resource = Describe.DescribeConfigsResource(
            resource_type=_number_resource_type(resource_type),
            resource_name=str(name),
            configuration_keys=None,
        )
        response = await self._request(Describe(resources=[resource]))
        results = response.results
        raise_errors(
            f"reading the configuration of the {resource_type}",
            [(repr(str(name)), r.error_code, r.error_message) for r in results],
        )
        return {
            each.name: ConfigEntry(
                each.name,
                each.value,
                name_source(each.config_source, each.is_default),
                each.read_only,
                each.is_sensitive,
            )
            for result in results
            for each in result.configs
        }

    @operation
    async def set_configs(
        self,
        resource_type: ResourceType,
        name: str | int,
        values: Mapping[str, str | None],
        *,
        validate_only: bool = False,
    ) -> None:
        """Change properties of a resource, which is named as in ``configs``.

        ``values`` are the new values. None removes a value, so that the default
        applies. All other properties keep their values. ``validate_only`` checks the
        values and changes nothing. Raises ``NotAuthorized``, ``TopicNotFound`` or
        ``RequestRefused``. Source: IncrementalAlterConfigs (KIP-339, Kafka 2.3).
        """
        from ..messages import IncrementalAlterConfigsRequest as Alter

        resource = Alter.AlterConfigsResource(
            resource_type=_number_resource_type(resource_type),
            resource_name=str(name),
            configs=[
                Alter.AlterableConfig(
                    name=key,
                    config_operation=_DELETE if value is None else _SET,
                    value=value,
                )
                for key, value in values.items()
            ],
        )
        response = await self._request(
            Alter(resources=[resource], validate_only=validate_only)
        )
        raise_errors(
            f"changing the configuration of the {resource_type}",
            [
                (repr(str(name)), r.error_code, r.error_message)
                for r in response.responses
            ],
        )

    @operation
    async def groups(
        self, *, states: Iterable[str] = (), group_types: Iterable[str] = ()
    ) -> dict[str, GroupListing]:
        """Return the groups of the cluster that the user may see, by group id.

        ``states`` ("Stable", "Empty", ...; Kafka 2.6) and ``group_types`` ("consumer",
        "classic", "share", "streams"; Kafka 3.8) select groups. Raises
        ``RequestRefused`` if a broker rejects the request. Source: ListGroups.
        """
        from ..messages import ListGroupsRequest

        response = await self._request(
            ListGroupsRequest(
                states_filter=_list_names(states), types_filter=_list_names(group_types)
            )
        )
        raise_errors("listing groups", [("brokers", response.error_code, None)])
        return {
            each.group_id: GroupListing(
                each.group_id, each.protocol_type, each.group_state, each.group_type
            )
            for each in sorted(response.groups, key=lambda each: each.group_id)
        }

    @operation
    async def describe_group(self, group_id: str) -> GroupDescription:
        """Return the state of a consumer group, and its members with their partitions.

        Raises ``NotAuthorized``, or ``RequestRefused`` with the error code
        ``GROUP_ID_NOT_FOUND`` if there is no such group, or it is a share or streams
        group. Source: ConsumerGroupDescribe (KIP-848), DescribeGroups.
        """
        from ..messages import ConsumerGroupDescribeRequest, DescribeGroupsRequest

        doing = f"describing the group {group_id!r}"
        try:
            response = await self._request(
                ConsumerGroupDescribeRequest(group_ids=[group_id])
            )
        except (FeatureUnsupported, UnsupportedVersion):
            # A broker before Kafka 4.0 only has classic groups.
            pass
        else:
            (group,) = response.groups
            if group.error_code not in (
                codes.GROUP_ID_NOT_FOUND,
                codes.UNSUPPORTED_VERSION,
            ):
                answer = ("the coordinator", group.error_code, group.error_message)
                raise_errors(doing, [answer])
                return describe_consumer_group(group)
        response = await self._request(DescribeGroupsRequest(groups=[group_id]))
        (group,) = response.groups
        code = group.error_code
        if not code and group.group_state == "Dead":
            # Before version 6, a group that does not exist is not an error.
            code = codes.GROUP_ID_NOT_FOUND
        raise_errors(doing, [("the coordinator", code, group.error_message)])
        return describe_classic_group(group)

    @operation
    async def delete_groups(self, group_ids: str | Iterable[str]) -> None:
        """Delete groups without members, together with their committed offsets.

        Raises ``NotAuthorized`` or ``RequestRefused`` if a group could not be deleted,
        for example because it has members; the others have been deleted.
        Source: DeleteGroups (KIP-229).
        """
        from ..messages import DeleteGroupsRequest

        request = DeleteGroupsRequest(groups_names=_list_names(group_ids))
        response = await self._request(request)
        raise_errors(
            "deleting groups",
            [
                (repr(r.group_id), r.error_code, r.error_message)
                for r in response.results
            ],
        )

    @operation
    async def group_offsets(self, group_id: str) -> dict[tuple[str, int], int]:
        """Return the committed offsets of a group: {(topic, partition): offset}.

        A partition without a committed offset is not in the result. Raises
        ``NotAuthorized`` or ``RequestRefused``. Source: OffsetFetch (Kafka 0.10.2).
        """
        from ..connection.negotiation import NO_TOPIC_IDS
        from ..messages import OffsetFetchRequest as Fetch

        group = Fetch.OffsetFetchRequestGroup(group_id=group_id, topics=None)
        # Newer versions return ids in place of topic names.
        response = await self._request(Fetch(groups=[group]), None, NO_TOPIC_IDS)
        (found,) = response.groups
        answers = [("the coordinator", found.error_code, None)]
        parts = [
            (topic.name, part) for topic in found.topics for part in topic.partitions
        ]
        answers += [
            (f"{name}-{part.partition_index}", part.error_code, None)
            for name, part in parts
        ]
        raise_errors(f"fetching the offsets of the group {group_id!r}", answers)
        return {
            (name, part.partition_index): part.committed_offset
            for name, part in parts
            if part.committed_offset >= 0
        }

    @operation
    async def set_group_offsets(
        self, group_id: str, offsets: Mapping[tuple[str, int], int]
    ) -> None:
        """Commit offsets for a group that has no members.

        ``offsets`` is {(topic, partition): offset}. A group that does not exist is
        created. Raises ``NotAuthorized``, ``TopicNotFound``, or ``RequestRefused``, for
        example with ``UNKNOWN_MEMBER_ID`` if the group has members: stop its consumers
        first. Source: OffsetCommit.
        """
        from ..messages import OffsetCommitRequest as Commit

        partition = Commit.OffsetCommitRequestPartition
        response = await self._request(
            Commit(
                group_id=group_id,
                topics=[
                    Commit.OffsetCommitRequestTopic(
                        name=name,
                        partitions=[
                            partition(
                                partition_index=index,
                                committed_offset=offset,
                                committed_metadata="",
                            )
                            for index, offset in values.items()
                        ],
                    )
                    for name, values in _group_by_topic(offsets).items()
                ],
            )
        )
        raise_errors(
            f"setting the offsets of the group {group_id!r}",
            [
                (f"{topic.name}-{part.partition_index}", part.error_code, None)
                for topic in response.topics
                for part in topic.partitions
            ],
        )

    async def _request(
        self,
        message: Request,
        to: int | tuple[str, int] | None = None,
        *constraints: Constraint,
    ) -> Any:
        from .machines import RequestMachine

        make = partial(RequestMachine, request=message, to=to, constraints=constraints)
        return await self._run_query(make)


def _read_destination(to: int | str | None) -> int | tuple[str, int] | None:
    if isinstance(to, str):
        try:
            return split_address(to)
        except ValueError as error:
            raise ValueError(f"to: {error}") from None
    if isinstance(to, bool) or not isinstance(to, (int, type(None))):
        raise TypeError(
            f"to must be a node id, HOST:PORT or None (got {type(to).__name__})"
        )
    return to


def _number_resource_type(name: str) -> int:
    if name not in _RESOURCE_TYPES:
        names = ", ".join(_RESOURCE_TYPES)
        raise ValueError(f"resource_type must be one of {names} (got {name!r:.60})")
    return _RESOURCE_TYPES[name]


def _count_partitions(topics: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    if isinstance(topics, str):
        return {topics: -1}
    return dict(topics) if isinstance(topics, Mapping) else dict.fromkeys(topics, -1)


def _list_names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _group_by_topic(
    offsets: Mapping[tuple[str, int], int],
) -> dict[str, dict[int, int]]:
    topics: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, {})[partition] = offset
    return topics
