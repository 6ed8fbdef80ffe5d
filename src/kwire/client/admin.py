# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Admin``: the operations of ``Kafka`` and ``KafkaSync`` that manage a cluster.

``request`` sends any request of the protocol, and leaves error codes in the response to
the caller. All other operations build their requests, and convert error codes to
exceptions.
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
"""Values of ``config_operation`` in IncrementalAlterConfigs requests.

* ``_SET``: set a property.
* ``_DELETE``: delete the property, so that its default applies.
"""


class Admin(ClusterQueries):
    """Operations that manage topics, configurations, groups and offsets.

    An operation on several topics, partitions or groups is executed for each of them
    separately. If the operation fails for some items, it still takes effect for the
    other items. The message of the exception then lists all failures, and the first
    failure determines its class.

    In addition to the exceptions in its own description, each operation raises the
    exceptions of ``request``.
    """

    @operation
    async def request(self, message: Request, to: int | str | None = None) -> Any:
        """Send any request of the Kafka protocol, and return the response.

        * ``message``: the request, for example a
          ``kwire.messages.DescribeAclsRequest``. The client chooses its version.
        * ``to``: node id of a broker, or its address as "host:port". Default: the
          brokers that the API requires, for example the controller, a group's
          coordinator, or the leaders of partitions.

        By default, a request for several brokers is split into one request for each of
        them. Their responses are merged, with the items in the order of the request.
        ListGroups, DescribeLogDirs and ListTransactions are sent to all brokers, and
        the results are concatenated in the order of the node ids. If ``to`` is set, the
        request is not split, and the broker's response is returned unchanged.

        A part of the request is sent again if its broker answers that it is not ready
        yet or that another broker is responsible, unless ``to`` is set. After a lost
        connection, it is sent again only if executing it twice has the same effect as
        executing it once. All other errors are returned as error codes in the response.
        If a part is still rejected after ``timeout_s``, its last error is returned too.
        If ``message`` has a ``timeout_ms`` or ``max_wait_ms``, that time is added to
        ``timeout_s``.

        Raises ``BrokersUnreachable`` if a broker does not answer in time, or if there
        is no broker with the node id ``to``.
        Raises ``AuthenticationFailed`` if a broker rejects the credentials.
        Raises ``OutcomeUnknown`` if a connection is lost after a request that must not
        be sent twice.
        Raises ``UnsupportedVersion``, ``FeatureUnsupported`` or ``EncodeError`` if a
        broker does not support the request, or a field that is set in it.
        Raises ``TypeError`` or ``ValueError`` if ``message`` is not a request that can
        be sent, or if ``to`` is neither a node id nor an address.
        """
        return await self._request(message, _read_destination(to))

    @operation
    async def broker_versions(self) -> dict[int, BrokerVersions]:
        """Return the API versions that each broker supports, by node id.

        If a broker cannot be reached, its ``table`` of versions is None, and ``error``
        is the reason. If the bootstrap addresses belong to KRaft controllers, the
        result describes the controllers instead of the brokers.

        Raises ``BrokersUnreachable`` or ``AuthenticationFailed`` if no broker returns
        metadata.
        Source: ApiVersions (KIP-35), Metadata, DescribeCluster (KIP-919).
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
        """Create one or more topics with the same settings.

        * ``topics``: {name: partition count}, or one or more names without a partition
          count. In the latter case, or if the count is -1, the brokers use their
          default, which requires Kafka 2.4.
        * ``replication_factor``: number of replicas per partition. Default: the default
          of the brokers, which requires Kafka 2.4.
        * ``configs``: topic properties, such as {"retention.ms": "86400000"}. They
          apply to all of these topics.
        * ``validate_only``: check the request without creating the topics.

        Raises ``RequestRefused`` or ``NotAuthorized`` if a topic cannot be created, for
        example because it already exists. The other topics are created nevertheless.
        Source: CreateTopics.
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
        """Delete topics. ``topics`` is a topic name or several topic names.

        Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if a topic
        cannot be deleted. The other topics are deleted nevertheless.
        Source: DeleteTopics.
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
        """Add partitions to topics.

        ``counts`` is {topic name: new partition count}, including the existing
        partitions.

        Existing records are not moved. New records may be written to a different
        partition than older records with the same key, because the partition of a key
        usually depends on the partition count.

        Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if partitions
        cannot be added to a topic. They are added to the other topics nevertheless.
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
        """Delete all records before the specified offset of every partition.

        ``offsets`` is {(topic, partition): offset}. The offset -1 stands for the high
        watermark, so that all current records are deleted. This cannot be undone.

        Returns the new log start offset by (topic, partition).

        Raises ``TopicNotFound``, ``NotAuthorized`` or ``RequestRefused`` if the records
        of a partition cannot be deleted.
        Source: DeleteRecords (KIP-107).
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
        parts = [
            (topic.name, part) for topic in response.topics for part in topic.partitions
        ]
        raise_errors(
            "deleting records",
            [
                (f"{name}-{part.partition_index}", part.error_code, None)
                for name, part in parts
            ],
        )
        return {
            (name, part.partition_index): part.low_watermark for name, part in parts
        }

    @operation
    async def configs(
        self, resource_type: ResourceType, name: str | int = ""
    ) -> dict[str, ConfigEntry]:
        """Return the configuration of a topic, a broker or another resource.

        * ``resource_type``: "topic", "broker", "broker_logger", "client_metrics" or
          "group".
        * ``name``: name of the resource, or a broker's node id. If it is empty and
          ``resource_type`` is "broker", the result is the dynamic configuration that
          all brokers share.

        Returns the properties by name.

        Raises ``NotAuthorized``, ``TopicNotFound`` or ``RequestRefused`` if the
        configuration cannot be read. Raises ``ValueError`` if ``resource_type`` is
        unknown.
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
            config.name: ConfigEntry(
                config.name,
                config.value,
                name_source(config.config_source, config.is_default),
                config.read_only,
                config.is_sensitive,
            )
            for result in results
            for config in result.configs
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
        """Change configuration properties of a topic, a broker or another resource.

        * ``resource_type``, ``name``: the resource, as in ``configs``.
        * ``values``: new values by property name. None removes the value of a property,
          so that its default applies. All other properties keep their values.
        * ``validate_only``: check the values without changing the configuration.

        Raises ``NotAuthorized``, ``TopicNotFound`` or ``RequestRefused`` if the
        configuration cannot be changed. Raises ``ValueError`` if ``resource_type`` is
        unknown.
        Source: IncrementalAlterConfigs (KIP-339, Kafka 2.3).
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
        """Return all groups that the user is permitted to describe, by group id.

        * ``states``: return only groups in these states, such as "Stable" or "Empty".
          Requires Kafka 2.6.
        * ``group_types``: return only groups of these types: "consumer", "classic",
          "share" or "streams". Requires Kafka 3.8.

        Raises ``NotAuthorized`` or ``RequestRefused`` if a broker rejects the request.
        Source: ListGroups.
        """
        from ..messages import ListGroupsRequest

        response = await self._request(
            ListGroupsRequest(
                states_filter=_list_names(states), types_filter=_list_names(group_types)
            )
        )
        raise_errors("listing groups", [("brokers", response.error_code, None)])
        return {
            group.group_id: GroupListing(
                group.group_id, group.protocol_type, group.group_state, group.group_type
            )
            for group in sorted(response.groups, key=lambda group: group.group_id)
        }

    @operation
    async def describe_group(self, group_id: str) -> GroupDescription:
        """Return the state and the members of a consumer group.

        The group may use the consumer protocol (KIP-848) or the classic protocol.

        Raises ``NotAuthorized`` if the user lacks a permission.
        Raises ``RequestRefused`` with the error code ``GROUP_ID_NOT_FOUND`` if the
        group does not exist, or if it is a share or streams group.
        Raises ``DecodeError`` if the assignment of a classic member is malformed.
        Source: ConsumerGroupDescribe (KIP-848), DescribeGroups.
        """
        from ..messages import ConsumerGroupDescribeRequest, DescribeGroupsRequest

        doing = f"describing the group {group_id!r}"
        try:
            response = await self._request(
                ConsumerGroupDescribeRequest(group_ids=[group_id])
            )
        except (FeatureUnsupported, UnsupportedVersion):
            # Brokers before Kafka 4.0 have only classic groups, which DescribeGroups
            # describes.
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
            # Before version 6, DescribeGroups returns a group that does not exist as
            # dead, without an error code.
            code = codes.GROUP_ID_NOT_FOUND
        raise_errors(doing, [("the coordinator", code, group.error_message)])
        return describe_classic_group(group)

    @operation
    async def delete_groups(self, group_ids: str | Iterable[str]) -> None:
        """Delete groups and their committed offsets.

        ``group_ids`` is one group id or several group ids. A group must not have any
        members.

        Raises ``NotAuthorized`` or ``RequestRefused`` if a group cannot be deleted, for
        example because it has members. The other groups are deleted nevertheless.
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
        """Return a group's committed offsets as {(topic, partition): offset}.

        Partitions without a committed offset are omitted.

        Raises ``NotAuthorized`` or ``RequestRefused`` if the offsets cannot be fetched.
        Source: OffsetFetch (Kafka 0.10.2).
        """
        from ..connection.negotiation import NO_TOPIC_IDS
        from ..messages import OffsetFetchRequest as Fetch

        group = Fetch.OffsetFetchRequestGroup(group_id=group_id, topics=None)
        # Newer versions of OffsetFetch return topic ids instead of topic names.
        response = await self._request(Fetch(groups=[group]), None, NO_TOPIC_IDS)
        (fetched,) = response.groups
        answers = [("the coordinator", fetched.error_code, None)]
        parts = [
            (topic.name, part) for topic in fetched.topics for part in topic.partitions
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

        ``offsets`` is {(topic, partition): next offset to read}. If the group does not
        exist, it is created.

        Raises ``NotAuthorized``, ``TopicNotFound`` or ``RequestRefused`` if an offset
        cannot be committed. The error code is ``UNKNOWN_MEMBER_ID`` if the group has
        members. Stop its consumers first.
        Source: OffsetCommit.
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
        """Send a request, and return the response.

        ``constraints`` limit its version further, for example to versions that contain
        topic names.
        """
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
