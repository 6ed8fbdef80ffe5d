# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Declarations of all message classes and their structs for type checkers.
# tools/generate/stubs.py generates this file from the message definitions. Change the
# definitions, and then run the tool again.
#
# The comment of a field contains the versions that have the field. "null" is followed
# by the versions in which it may be null, and "tag" by the tag and the versions in
# which the field is in the tag section. If a message is decoded with zero_copy=True,
# fields of type bytes contain memoryviews.

from collections.abc import Iterable, Sequence
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypeAlias,
    final,
    overload,
    type_check_only,
)
from uuid import UUID

from typing_extensions import Buffer

from ..schema.versions import VersionRange
from . import arrow as arrow
from . import framing as framing
from . import internal_topics as internal_topics
from . import wire as wire

_Tags: TypeAlias = Iterable[tuple[int, bytes]]

ALL: tuple[str, ...]

@overload
def by_key(
    api_key: int, kind: Literal["request"], family: str | None = None
) -> type[Request]: ...
@overload
def by_key(
    api_key: int, kind: Literal["response"], family: str | None = None
) -> type[Response]: ...
@overload
def by_key(api_key: int, kind: str, family: str | None = None) -> type[Message]: ...

def message_class(text: str) -> type[Any]: ...
def _restore(qualname: str, values: tuple[object, ...]) -> object: ...

# The following four classes only exist for annotations, not at run time.

@type_check_only
class Struct:
    """Base of all messages, and of all structs within messages."""

    unknown_tagged_fields: Final[tuple[tuple[int, bytes], ...]]

    def __init__(self, **fields: Any) -> None: ...
    # Accepts only keyword arguments. The subclasses declare them.
    def replace(self, *args: Any, **changes: Any) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __hash__(self) -> int: ...

@type_check_only
class Message(Struct):
    """Base of all messages."""

    api_key: ClassVar[int | None]
    kind: ClassVar[str]
    valid_versions: ClassVar[VersionRange]
    flexible_versions: ClassVar[VersionRange]

@type_check_only
class Request(Message):
    """Base of all requests."""

    api_key: ClassVar[int]  # pyright: ignore[reportIncompatibleVariableOverride]

@type_check_only
class Response(Message):
    """Base of all responses."""

    api_key: ClassVar[int]  # pyright: ignore[reportIncompatibleVariableOverride]

@final
class AbortTransactionRecord(Message):
    """Metadata 25, versions 0, flexible 0."""

    __match_args__ = ("reason",)
    reason: Final[str | None]  # 0+, null 0+, tag 0 0+

    def __init__(
        self,
        *,
        reason: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        reason: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AbortedTxn(Message):
    """Data, versions 0, flexible none."""

    __match_args__ = ("producer_id", "first_offset", "last_offset", "last_stable_offset",)
    producer_id: Final[int]  # 0+
    first_offset: Final[int]  # 0+
    last_offset: Final[int]  # 0+
    last_stable_offset: Final[int]  # 0+

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        producer_id: int = ...,
        first_offset: int = ...,
        last_offset: int = ...,
        last_stable_offset: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AccessControlEntryRecord(Message):
    """Metadata 18, versions 0, flexible 0."""

    __match_args__ = ("id", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type",)
    id: Final[UUID]  # 0+
    resource_type: Final[int]  # 0+
    resource_name: Final[str]  # 0+
    pattern_type: Final[int]  # 0+
    principal: Final[str]  # 0+
    host: Final[str]  # 0+
    operation: Final[int]  # 0+
    permission_type: Final[int]  # 0+

    def __init__(
        self,
        *,
        id: UUID = ...,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        id: UUID = ...,
        resource_type: int = ...,
        resource_name: str = ...,
        pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AccessControlRecord(Message):
    """Metadata 6, versions 0, flexible 0."""

    __match_args__ = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type",)
    resource_type: Final[int]  # 0+
    resource_name: Final[str | None]  # 0+, null 0+
    pattern_type: Final[int]  # 0+
    principal: Final[str]  # 0+
    host: Final[str]  # 0+
    operation: Final[int]  # 0+
    permission_type: Final[int]  # 0+

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str | None = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resource_type: int = ...,
        resource_name: str | None = ...,
        pattern_type: int = ...,
        principal: str = ...,
        host: str = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AddOffsetsToTxnRequest(Request):
    """Request 25, versions 0-4, flexible 3-4."""

    __match_args__ = ("transactional_id", "producer_id", "producer_epoch", "group_id",)
    transactional_id: Final[str]  # 0+
    producer_id: Final[int]  # 0+
    producer_epoch: Final[int]  # 0+
    group_id: Final[str]  # 0+

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AddOffsetsToTxnResponse(Response):
    """Response 25, versions 0-4, flexible 3-4."""

    __match_args__ = ("throttle_time_ms", "error_code",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AddPartitionsToTxnRequest(Request):
    """Request 24, versions 0-5, flexible 3-5."""

    __match_args__ = ("transactions", "v3_and_below_transactional_id", "v3_and_below_producer_id", "v3_and_below_producer_epoch", "v3_and_below_topics",)
    transactions: Final[tuple[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction, ...]]  # 4+
    v3_and_below_transactional_id: Final[str]  # 0-3
    v3_and_below_producer_id: Final[int]  # 0-3
    v3_and_below_producer_epoch: Final[int]  # 0-3
    v3_and_below_topics: Final[tuple[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic, ...]]  # 0-3

    def __init__(
        self,
        *,
        transactions: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactions: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction] = ...,
        v3_and_below_transactional_id: str = ...,
        v3_and_below_producer_id: int = ...,
        v3_and_below_producer_epoch: int = ...,
        v3_and_below_topics: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AddPartitionsToTxnTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AddPartitionsToTxnTransaction(Struct):
        __match_args__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics",)
        transactional_id: Final[str]  # 4+
        producer_id: Final[int]  # 4+
        producer_epoch: Final[int]  # 4+
        verify_only: Final[bool]  # 4+
        topics: Final[tuple[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic, ...]]  # 4+

        def __init__(
            self,
            *,
            transactional_id: str = "",
            producer_id: int = 0,
            producer_epoch: int = 0,
            verify_only: bool = False,
            topics: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            transactional_id: str = ...,
            producer_id: int = ...,
            producer_epoch: int = ...,
            verify_only: bool = ...,
            topics: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AddPartitionsToTxnResponse(Response):
    """Response 24, versions 0-5, flexible 3-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 4+
    results_by_transaction: Final[tuple[AddPartitionsToTxnResponse.AddPartitionsToTxnResult, ...]]  # 4+
    results_by_topic_v3_and_below: Final[tuple[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult, ...]]  # 0-3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = (),
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        results_by_transaction: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnResult] = ...,
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AddPartitionsToTxnPartitionResult(Struct):
        __match_args__ = ("partition_index", "partition_error_code",)
        partition_index: Final[int]  # 0+
        partition_error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            partition_error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            partition_error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AddPartitionsToTxnTopicResult(Struct):
        __match_args__ = ("name", "results_by_partition",)
        name: Final[str]  # 0+
        results_by_partition: Final[tuple[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            results_by_partition: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            results_by_partition: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AddPartitionsToTxnResult(Struct):
        __match_args__ = ("transactional_id", "topic_results",)
        transactional_id: Final[str]  # 4+
        topic_results: Final[tuple[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult, ...]]  # 4+

        def __init__(
            self,
            *,
            transactional_id: str = "",
            topic_results: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            transactional_id: str = ...,
            topic_results: Sequence[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AddRaftVoterRequest(Request):
    """Request 80, versions 0-1, flexible 0-1."""

    __match_args__ = ("cluster_id", "timeout_ms", "voter_id", "voter_directory_id", "listeners", "ack_when_committed",)
    cluster_id: Final[str | None]  # 0+, null 0+
    timeout_ms: Final[int]  # 0+
    voter_id: Final[int]  # 0+
    voter_directory_id: Final[UUID]  # 0+
    listeners: Final[tuple[AddRaftVoterRequest.Listener, ...]]  # 0+
    ack_when_committed: Final[bool]  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: UUID = ...,
        listeners: Sequence[AddRaftVoterRequest.Listener] = (),
        ack_when_committed: bool = True,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        timeout_ms: int = ...,
        voter_id: int = ...,
        voter_directory_id: UUID = ...,
        listeners: Sequence[AddRaftVoterRequest.Listener] = ...,
        ack_when_committed: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Listener(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AddRaftVoterResponse(Response):
    """Response 80, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AllocateProducerIdsRequest(Request):
    """Request 67, versions 0, flexible 0."""

    __match_args__ = ("broker_id", "broker_epoch",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AllocateProducerIdsResponse(Response):
    """Response 67, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    producer_id_start: Final[int]  # 0+
    producer_id_len: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        producer_id_start: int = ...,
        producer_id_len: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class AlterClientQuotasRequest(Request):
    """Request 49, versions 0-1, flexible 1."""

    __match_args__ = ("entries", "validate_only",)
    entries: Final[tuple[AlterClientQuotasRequest.EntryData, ...]]  # 0+
    validate_only: Final[bool]  # 0+

    def __init__(
        self,
        *,
        entries: Sequence[AlterClientQuotasRequest.EntryData] = (),
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        entries: Sequence[AlterClientQuotasRequest.EntryData] = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EntityData(Struct):
        __match_args__ = ("entity_type", "entity_name",)
        entity_type: Final[str]  # 0+
        entity_name: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            entity_name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            entity_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OpData(Struct):
        __match_args__ = ("key", "value", "remove",)
        key: Final[str]  # 0+
        value: Final[float]  # 0+
        remove: Final[bool]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: float = 0.0,
            remove: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: float = ...,
            remove: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class EntryData(Struct):
        __match_args__ = ("entity", "ops",)
        entity: Final[tuple[AlterClientQuotasRequest.EntityData, ...]]  # 0+
        ops: Final[tuple[AlterClientQuotasRequest.OpData, ...]]  # 0+

        def __init__(
            self,
            *,
            entity: Sequence[AlterClientQuotasRequest.EntityData] = (),
            ops: Sequence[AlterClientQuotasRequest.OpData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity: Sequence[AlterClientQuotasRequest.EntityData] = ...,
            ops: Sequence[AlterClientQuotasRequest.OpData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterClientQuotasResponse(Response):
    """Response 49, versions 0-1, flexible 1."""

    __match_args__ = ("throttle_time_ms", "entries",)
    throttle_time_ms: Final[int]  # 0+
    entries: Final[tuple[AlterClientQuotasResponse.EntryData, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: Sequence[AlterClientQuotasResponse.EntryData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        entries: Sequence[AlterClientQuotasResponse.EntryData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EntityData(Struct):
        __match_args__ = ("entity_type", "entity_name",)
        entity_type: Final[str]  # 0+
        entity_name: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            entity_name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            entity_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class EntryData(Struct):
        __match_args__ = ("error_code", "error_message", "entity",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        entity: Final[tuple[AlterClientQuotasResponse.EntityData, ...]]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            entity: Sequence[AlterClientQuotasResponse.EntityData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            entity: Sequence[AlterClientQuotasResponse.EntityData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterConfigsRequest(Request):
    """Request 33, versions 0-2, flexible 2."""

    __match_args__ = ("resources", "validate_only",)
    resources: Final[tuple[AlterConfigsRequest.AlterConfigsResource, ...]]  # 0+
    validate_only: Final[bool]  # 0+

    def __init__(
        self,
        *,
        resources: Sequence[AlterConfigsRequest.AlterConfigsResource] = (),
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resources: Sequence[AlterConfigsRequest.AlterConfigsResource] = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterableConfig(Struct):
        __match_args__ = ("name", "value",)
        name: Final[str]  # 0+
        value: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterConfigsResource(Struct):
        __match_args__ = ("resource_type", "resource_name", "configs",)
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        configs: Final[tuple[AlterConfigsRequest.AlterableConfig, ...]]  # 0+

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            configs: Sequence[AlterConfigsRequest.AlterableConfig] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: Sequence[AlterConfigsRequest.AlterableConfig] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterConfigsResponse(Response):
    """Response 33, versions 0-2, flexible 2."""

    __match_args__ = ("throttle_time_ms", "responses",)
    throttle_time_ms: Final[int]  # 0+
    responses: Final[tuple[AlterConfigsResponse.AlterConfigsResourceResponse, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: Sequence[AlterConfigsResponse.AlterConfigsResourceResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: Sequence[AlterConfigsResponse.AlterConfigsResourceResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterConfigsResourceResponse(Struct):
        __match_args__ = ("error_code", "error_message", "resource_type", "resource_name",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            resource_type: int = 0,
            resource_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterPartitionReassignmentsRequest(Request):
    """Request 45, versions 0-1, flexible 0-1."""

    __match_args__ = ("timeout_ms", "allow_replication_factor_change", "topics",)
    timeout_ms: Final[int]  # 0+
    allow_replication_factor_change: Final[bool]  # 1+
    topics: Final[tuple[AlterPartitionReassignmentsRequest.ReassignableTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: Sequence[AlterPartitionReassignmentsRequest.ReassignableTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        timeout_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        topics: Sequence[AlterPartitionReassignmentsRequest.ReassignableTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ReassignablePartition(Struct):
        __match_args__ = ("partition_index", "replicas",)
        partition_index: Final[int]  # 0+
        replicas: Final[tuple[int, ...] | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replicas: Sequence[int] | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            replicas: Sequence[int] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReassignableTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[AlterPartitionReassignmentsRequest.ReassignablePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[AlterPartitionReassignmentsRequest.ReassignablePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[AlterPartitionReassignmentsRequest.ReassignablePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterPartitionReassignmentsResponse(Response):
    """Response 45, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "allow_replication_factor_change", "error_code", "error_message", "responses",)
    throttle_time_ms: Final[int]  # 0+
    allow_replication_factor_change: Final[bool]  # 1+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    responses: Final[tuple[AlterPartitionReassignmentsResponse.ReassignableTopicResponse, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: Sequence[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        allow_replication_factor_change: bool = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        responses: Sequence[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ReassignablePartitionResponse(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReassignableTopicResponse(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterPartitionRequest(Request):
    """Request 56, versions 0-3, flexible 0-3."""

    __match_args__ = ("broker_id", "broker_epoch", "topics",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+
    topics: Final[tuple[AlterPartitionRequest.TopicData, ...]]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: Sequence[AlterPartitionRequest.TopicData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        topics: Sequence[AlterPartitionRequest.TopicData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class BrokerState(Struct):
        __match_args__ = ("broker_id", "broker_epoch",)
        broker_id: Final[int]  # 3+
        broker_epoch: Final[int]  # 3+

        def __init__(
            self,
            *,
            broker_id: int = 0,
            broker_epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            broker_id: int = ...,
            broker_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "leader_epoch", "new_isr", "new_isr_with_epochs", "leader_recovery_state", "partition_epoch",)
        partition_index: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        new_isr: Final[tuple[int, ...]]  # 0-2
        new_isr_with_epochs: Final[tuple[AlterPartitionRequest.BrokerState, ...]]  # 3+
        leader_recovery_state: Final[int]  # 1+
        partition_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_epoch: int = 0,
            new_isr: Sequence[int] = (),
            new_isr_with_epochs: Sequence[AlterPartitionRequest.BrokerState] = (),
            leader_recovery_state: int = 0,
            partition_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            leader_epoch: int = ...,
            new_isr: Sequence[int] = ...,
            new_isr_with_epochs: Sequence[AlterPartitionRequest.BrokerState] = ...,
            leader_recovery_state: int = ...,
            partition_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "topic_id", "partitions",)
        topic_name: Final[str]  # 0-1
        topic_id: Final[UUID]  # 2+
        partitions: Final[tuple[AlterPartitionRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[AlterPartitionRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[AlterPartitionRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterPartitionResponse(Response):
    """Response 56, versions 0-3, flexible 0-3."""

    __match_args__ = ("throttle_time_ms", "error_code", "topics",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    topics: Final[tuple[AlterPartitionResponse.TopicData, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[AlterPartitionResponse.TopicData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        topics: Sequence[AlterPartitionResponse.TopicData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "isr", "leader_recovery_state", "partition_epoch",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        isr: Final[tuple[int, ...]]  # 0+
        leader_recovery_state: Final[int]  # 1+
        partition_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            isr: Sequence[int] = (),
            leader_recovery_state: int = 0,
            partition_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            isr: Sequence[int] = ...,
            leader_recovery_state: int = ...,
            partition_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "topic_id", "partitions",)
        topic_name: Final[str]  # 0-1
        topic_id: Final[UUID]  # 2+
        partitions: Final[tuple[AlterPartitionResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[AlterPartitionResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[AlterPartitionResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterReplicaLogDirsRequest(Request):
    """Request 34, versions 0-2, flexible 2."""

    __match_args__ = ("dirs",)
    dirs: Final[tuple[AlterReplicaLogDirsRequest.AlterReplicaLogDir, ...]]  # 0+

    def __init__(
        self,
        *,
        dirs: Sequence[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        dirs: Sequence[AlterReplicaLogDirsRequest.AlterReplicaLogDir] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterReplicaLogDirTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterReplicaLogDir(Struct):
        __match_args__ = ("path", "topics",)
        path: Final[str]  # 0+
        topics: Final[tuple[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic, ...]]  # 0+

        def __init__(
            self,
            *,
            path: str = "",
            topics: Sequence[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            path: str = ...,
            topics: Sequence[AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterReplicaLogDirsResponse(Response):
    """Response 34, versions 0-2, flexible 2."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterReplicaLogDirPartitionResult(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterReplicaLogDirTopicResult(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterShareGroupOffsetsRequest(Request):
    """Request 91, versions 0, flexible 0."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterShareGroupOffsetsRequestPartition(Struct):
        __match_args__ = ("partition_index", "start_offset",)
        partition_index: Final[int]  # 0+
        start_offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            start_offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            start_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterShareGroupOffsetsRequestTopic(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterShareGroupOffsetsResponse(Response):
    """Response 91, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "responses",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    responses: Final[tuple[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        responses: Sequence[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterShareGroupOffsetsResponsePartition(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterShareGroupOffsetsResponseTopic(Struct):
        __match_args__ = ("topic_name", "topic_id", "partitions",)
        topic_name: Final[str]  # 0+
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterUserScramCredentialsRequest(Request):
    """Request 51, versions 0, flexible 0."""

    __match_args__ = ("deletions", "upsertions",)
    deletions: Final[tuple[AlterUserScramCredentialsRequest.ScramCredentialDeletion, ...]]  # 0+
    upsertions: Final[tuple[AlterUserScramCredentialsRequest.ScramCredentialUpsertion, ...]]  # 0+

    def __init__(
        self,
        *,
        deletions: Sequence[AlterUserScramCredentialsRequest.ScramCredentialDeletion] = (),
        upsertions: Sequence[AlterUserScramCredentialsRequest.ScramCredentialUpsertion] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        deletions: Sequence[AlterUserScramCredentialsRequest.ScramCredentialDeletion] = ...,
        upsertions: Sequence[AlterUserScramCredentialsRequest.ScramCredentialUpsertion] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ScramCredentialDeletion(Struct):
        __match_args__ = ("name", "mechanism",)
        name: Final[str]  # 0+
        mechanism: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            mechanism: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            mechanism: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ScramCredentialUpsertion(Struct):
        __match_args__ = ("name", "mechanism", "iterations", "salt", "salted_password",)
        name: Final[str]  # 0+
        mechanism: Final[int]  # 0+
        iterations: Final[int]  # 0+
        salt: Final[bytes]  # 0+
        salted_password: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            mechanism: int = 0,
            iterations: int = 0,
            salt: Buffer = b"",
            salted_password: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            mechanism: int = ...,
            iterations: int = ...,
            salt: Buffer = ...,
            salted_password: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AlterUserScramCredentialsResponse(Response):
    """Response 51, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterUserScramCredentialsResult(Struct):
        __match_args__ = ("user", "error_code", "error_message",)
        user: Final[str]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            user: str = "",
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            user: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ApiVersionsRequest(Request):
    """Request 18, versions 0-5, flexible 3-5."""

    __match_args__ = ("client_software_name", "client_software_version", "cluster_id", "node_id",)
    client_software_name: Final[str]  # 3+
    client_software_version: Final[str]  # 3+
    cluster_id: Final[str | None]  # 5+, null 5+
    node_id: Final[int]  # 5+

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        client_software_name: str = ...,
        client_software_version: str = ...,
        cluster_id: str | None = ...,
        node_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ApiVersionsResponse(Response):
    """Response 18, versions 0-5, flexible 3-5."""

    __match_args__ = ("error_code", "api_keys", "throttle_time_ms", "supported_features", "finalized_features_epoch", "finalized_features", "zk_migration_ready",)
    error_code: Final[int]  # 0+
    api_keys: Final[tuple[ApiVersionsResponse.ApiVersion, ...]]  # 0+
    throttle_time_ms: Final[int]  # 1+
    supported_features: Final[tuple[ApiVersionsResponse.SupportedFeatureKey, ...]]  # 3+, tag 0 3+
    finalized_features_epoch: Final[int]  # 3+, tag 1 3+
    finalized_features: Final[tuple[ApiVersionsResponse.FinalizedFeatureKey, ...]]  # 3+, tag 2 3+
    zk_migration_ready: Final[bool]  # 3+, tag 3 3+

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: Sequence[ApiVersionsResponse.ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Sequence[ApiVersionsResponse.SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Sequence[ApiVersionsResponse.FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        api_keys: Sequence[ApiVersionsResponse.ApiVersion] = ...,
        throttle_time_ms: int = ...,
        supported_features: Sequence[ApiVersionsResponse.SupportedFeatureKey] = ...,
        finalized_features_epoch: int = ...,
        finalized_features: Sequence[ApiVersionsResponse.FinalizedFeatureKey] = ...,
        zk_migration_ready: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ApiVersion(Struct):
        __match_args__ = ("api_key", "min_version", "max_version",)
        api_key: Final[int]  # 0+
        min_version: Final[int]  # 0+
        max_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            api_key: int = 0,
            min_version: int = 0,
            max_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            api_key: int = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class SupportedFeatureKey(Struct):
        __match_args__ = ("name", "min_version", "max_version",)
        name: Final[str]  # 3+
        min_version: Final[int]  # 3+
        max_version: Final[int]  # 3+

        def __init__(
            self,
            *,
            name: str = "",
            min_version: int = 0,
            max_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            min_version: int = ...,
            max_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FinalizedFeatureKey(Struct):
        __match_args__ = ("name", "max_version_level", "min_version_level",)
        name: Final[str]  # 3+
        max_version_level: Final[int]  # 3+
        min_version_level: Final[int]  # 3+

        def __init__(
            self,
            *,
            name: str = "",
            max_version_level: int = 0,
            min_version_level: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            max_version_level: int = ...,
            min_version_level: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AssignReplicasToDirsRequest(Request):
    """Request 73, versions 0, flexible 0."""

    __match_args__ = ("broker_id", "broker_epoch", "directories",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+
    directories: Final[tuple[AssignReplicasToDirsRequest.DirectoryData, ...]]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: Sequence[AssignReplicasToDirsRequest.DirectoryData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        directories: Sequence[AssignReplicasToDirsRequest.DirectoryData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index",)
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[AssignReplicasToDirsRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[AssignReplicasToDirsRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[AssignReplicasToDirsRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DirectoryData(Struct):
        __match_args__ = ("id", "topics",)
        id: Final[UUID]  # 0+
        topics: Final[tuple[AssignReplicasToDirsRequest.TopicData, ...]]  # 0+

        def __init__(
            self,
            *,
            id: UUID = ...,
            topics: Sequence[AssignReplicasToDirsRequest.TopicData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            id: UUID = ...,
            topics: Sequence[AssignReplicasToDirsRequest.TopicData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class AssignReplicasToDirsResponse(Response):
    """Response 73, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "directories",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    directories: Final[tuple[AssignReplicasToDirsResponse.DirectoryData, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: Sequence[AssignReplicasToDirsResponse.DirectoryData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        directories: Sequence[AssignReplicasToDirsResponse.DirectoryData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[AssignReplicasToDirsResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[AssignReplicasToDirsResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[AssignReplicasToDirsResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DirectoryData(Struct):
        __match_args__ = ("id", "topics",)
        id: Final[UUID]  # 0+
        topics: Final[tuple[AssignReplicasToDirsResponse.TopicData, ...]]  # 0+

        def __init__(
            self,
            *,
            id: UUID = ...,
            topics: Sequence[AssignReplicasToDirsResponse.TopicData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            id: UUID = ...,
            topics: Sequence[AssignReplicasToDirsResponse.TopicData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class BeginQuorumEpochRequest(Request):
    """Request 53, versions 0-1, flexible 1."""

    __match_args__ = ("cluster_id", "voter_id", "topics", "leader_endpoints",)
    cluster_id: Final[str | None]  # 0+, null 0+
    voter_id: Final[int]  # 1+
    topics: Final[tuple[BeginQuorumEpochRequest.TopicData, ...]]  # 0+
    leader_endpoints: Final[tuple[BeginQuorumEpochRequest.LeaderEndpoint, ...]]  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Sequence[BeginQuorumEpochRequest.TopicData] = (),
        leader_endpoints: Sequence[BeginQuorumEpochRequest.LeaderEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        topics: Sequence[BeginQuorumEpochRequest.TopicData] = ...,
        leader_endpoints: Sequence[BeginQuorumEpochRequest.LeaderEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch",)
        partition_index: Final[int]  # 0+
        voter_directory_id: Final[UUID]  # 1+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            voter_directory_id: UUID = ...,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            voter_directory_id: UUID = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[BeginQuorumEpochRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[BeginQuorumEpochRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[BeginQuorumEpochRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderEndpoint(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class BeginQuorumEpochResponse(Response):
    """Response 53, versions 0-1, flexible 1."""

    __match_args__ = ("error_code", "topics", "node_endpoints",)
    error_code: Final[int]  # 0+
    topics: Final[tuple[BeginQuorumEpochResponse.TopicData, ...]]  # 0+
    node_endpoints: Final[tuple[BeginQuorumEpochResponse.NodeEndpoint, ...]]  # 1+, tag 0 1+

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: Sequence[BeginQuorumEpochResponse.TopicData] = (),
        node_endpoints: Sequence[BeginQuorumEpochResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        topics: Sequence[BeginQuorumEpochResponse.TopicData] = ...,
        node_endpoints: Sequence[BeginQuorumEpochResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "leader_id", "leader_epoch",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[BeginQuorumEpochResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[BeginQuorumEpochResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[BeginQuorumEpochResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port",)
        node_id: Final[int]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class BeginTransactionRecord(Message):
    """Metadata 23, versions 0, flexible 0."""

    __match_args__ = ("name",)
    name: Final[str | None]  # 0+, null 0+, tag 0 0+

    def __init__(
        self,
        *,
        name: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class BrokerHeartbeatRequest(Request):
    """Request 63, versions 0-2, flexible 0-2."""

    __match_args__ = ("broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down", "offline_log_dirs", "cordoned_log_dirs",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+
    current_metadata_offset: Final[int]  # 0+
    want_fence: Final[bool]  # 0+
    want_shut_down: Final[bool]  # 0+
    offline_log_dirs: Final[tuple[UUID, ...]]  # 1+, tag 0 1+
    cordoned_log_dirs: Final[tuple[UUID, ...] | None]  # 2+, null 2+, tag 1 2+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: Sequence[UUID] = (),
        cordoned_log_dirs: Sequence[UUID] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        current_metadata_offset: int = ...,
        want_fence: bool = ...,
        want_shut_down: bool = ...,
        offline_log_dirs: Sequence[UUID] = ...,
        cordoned_log_dirs: Sequence[UUID] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class BrokerHeartbeatResponse(Response):
    """Response 63, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    is_caught_up: Final[bool]  # 0+
    is_fenced: Final[bool]  # 0+
    should_shut_down: Final[bool]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        is_caught_up: bool = ...,
        is_fenced: bool = ...,
        should_shut_down: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class BrokerRegistrationChangeRecord(Message):
    """Metadata 17, versions 0-3, flexible 0-3."""

    __match_args__ = ("broker_id", "broker_epoch", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+
    fenced: Final[int]  # 0+, tag 0 0+
    in_controlled_shutdown: Final[int]  # 1+, tag 1 1+
    log_dirs: Final[tuple[UUID, ...]]  # 2+, tag 2 2+
    cordoned_log_dirs: Final[tuple[UUID, ...] | None]  # 3+, null 3+, tag 3 3+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: Sequence[UUID] = (),
        cordoned_log_dirs: Sequence[UUID] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        fenced: int = ...,
        in_controlled_shutdown: int = ...,
        log_dirs: Sequence[UUID] = ...,
        cordoned_log_dirs: Sequence[UUID] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class BrokerRegistrationRequest(Request):
    """Request 62, versions 0-4, flexible 0-4."""

    __match_args__ = ("broker_id", "cluster_id", "incarnation_id", "listeners", "features", "rack", "is_migrating_zk_broker", "log_dirs", "previous_broker_epoch",)
    broker_id: Final[int]  # 0+
    cluster_id: Final[str]  # 0+
    incarnation_id: Final[UUID]  # 0+
    listeners: Final[tuple[BrokerRegistrationRequest.Listener, ...]]  # 0+
    features: Final[tuple[BrokerRegistrationRequest.Feature, ...]]  # 0+
    rack: Final[str | None]  # 0+, null 0+
    is_migrating_zk_broker: Final[bool]  # 1+
    log_dirs: Final[tuple[UUID, ...]]  # 2+
    previous_broker_epoch: Final[int]  # 3+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: UUID = ...,
        listeners: Sequence[BrokerRegistrationRequest.Listener] = (),
        features: Sequence[BrokerRegistrationRequest.Feature] = (),
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: Sequence[UUID] = (),
        previous_broker_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        cluster_id: str = ...,
        incarnation_id: UUID = ...,
        listeners: Sequence[BrokerRegistrationRequest.Listener] = ...,
        features: Sequence[BrokerRegistrationRequest.Feature] = ...,
        rack: str | None = ...,
        is_migrating_zk_broker: bool = ...,
        log_dirs: Sequence[UUID] = ...,
        previous_broker_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Listener(Struct):
        __match_args__ = ("name", "host", "port", "security_protocol",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        security_protocol: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Feature(Struct):
        __match_args__ = ("name", "min_supported_version", "max_supported_version",)
        name: Final[str]  # 0+
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class BrokerRegistrationResponse(Response):
    """Response 62, versions 0-4, flexible 0-4."""

    __match_args__ = ("throttle_time_ms", "error_code", "broker_epoch",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        broker_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ClearElrRecord(Message):
    """Metadata 28, versions 0, flexible 0."""

    __match_args__ = ("topic_name",)
    topic_name: Final[str]  # 0+

    def __init__(
        self,
        *,
        topic_name: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topic_name: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ClientQuotaRecord(Message):
    """Metadata 14, versions 0, flexible 0."""

    __match_args__ = ("entity", "key", "value", "remove",)
    entity: Final[tuple[ClientQuotaRecord.EntityData, ...]]  # 0+
    key: Final[str]  # 0+
    value: Final[float]  # 0+
    remove: Final[bool]  # 0+

    def __init__(
        self,
        *,
        entity: Sequence[ClientQuotaRecord.EntityData] = (),
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        entity: Sequence[ClientQuotaRecord.EntityData] = ...,
        key: str = ...,
        value: float = ...,
        remove: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EntityData(Struct):
        __match_args__ = ("entity_type", "entity_name",)
        entity_type: Final[str]  # 0+
        entity_name: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            entity_name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            entity_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConfigRecord(Message):
    """Metadata 4, versions 0, flexible 0."""

    __match_args__ = ("resource_type", "resource_name", "name", "value",)
    resource_type: Final[int]  # 0+
    resource_name: Final[str]  # 0+
    name: Final[str]  # 0+
    value: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resource_type: int = ...,
        resource_name: str = ...,
        name: str = ...,
        value: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupCurrentMemberAssignmentKey(Message):
    """Coordinator-key 8, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupCurrentMemberAssignmentValue(Message):
    """Coordinator-value 8, versions 0, flexible 0."""

    __match_args__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions", "partitions_pending_revocation",)
    member_epoch: Final[int]  # 0+
    previous_member_epoch: Final[int]  # 0+
    state: Final[int]  # 0+
    assigned_partitions: Final[tuple[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions, ...]]  # 0+
    partitions_pending_revocation: Final[tuple[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions, ...]]  # 0+

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Sequence[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = (),
        partitions_pending_revocation: Sequence[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        member_epoch: int = ...,
        previous_member_epoch: int = ...,
        state: int = ...,
        assigned_partitions: Sequence[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        partitions_pending_revocation: Sequence[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "partitions", "assignment_epochs",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+
        assignment_epochs: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 0 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            assignment_epochs: Sequence[int] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            assignment_epochs: Sequence[int] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupDescribeRequest(Request):
    """Request 69, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_ids", "include_authorized_operations",)
    group_ids: Final[tuple[str, ...]]  # 0+
    include_authorized_operations: Final[bool]  # 0+

    def __init__(
        self,
        *,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_ids: Sequence[str] = ...,
        include_authorized_operations: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupDescribeResponse(Response):
    """Response 69, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "groups",)
    throttle_time_ms: Final[int]  # 0+
    groups: Final[tuple[ConsumerGroupDescribeResponse.DescribedGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Sequence[ConsumerGroupDescribeResponse.DescribedGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: Sequence[ConsumerGroupDescribeResponse.DescribedGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "topic_name", "partitions",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Assignment(Struct):
        __match_args__ = ("topic_partitions",)
        topic_partitions: Final[tuple[ConsumerGroupDescribeResponse.TopicPartitions, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_partitions: Sequence[ConsumerGroupDescribeResponse.TopicPartitions] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_partitions: Sequence[ConsumerGroupDescribeResponse.TopicPartitions] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Member(Struct):
        __match_args__ = ("member_id", "instance_id", "rack_id", "member_epoch", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "assignment", "target_assignment", "member_type",)
        member_id: Final[str]  # 0+
        instance_id: Final[str | None]  # 0+, null 0+
        rack_id: Final[str | None]  # 0+, null 0+
        member_epoch: Final[int]  # 0+
        client_id: Final[str]  # 0+
        client_host: Final[str]  # 0+
        subscribed_topic_names: Final[tuple[str, ...]]  # 0+
        subscribed_topic_regex: Final[str | None]  # 0+, null 0+
        assignment: Final[ConsumerGroupDescribeResponse.Assignment]  # 0+
        target_assignment: Final[ConsumerGroupDescribeResponse.Assignment]  # 0+
        member_type: Final[int]  # 1+

        def __init__(
            self,
            *,
            member_id: str = "",
            instance_id: str | None = None,
            rack_id: str | None = None,
            member_epoch: int = 0,
            client_id: str = "",
            client_host: str = "",
            subscribed_topic_names: Sequence[str] = (),
            subscribed_topic_regex: str | None = None,
            assignment: ConsumerGroupDescribeResponse.Assignment = ...,
            target_assignment: ConsumerGroupDescribeResponse.Assignment = ...,
            member_type: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            instance_id: str | None = ...,
            rack_id: str | None = ...,
            member_epoch: int = ...,
            client_id: str = ...,
            client_host: str = ...,
            subscribed_topic_names: Sequence[str] = ...,
            subscribed_topic_regex: str | None = ...,
            assignment: ConsumerGroupDescribeResponse.Assignment = ...,
            target_assignment: ConsumerGroupDescribeResponse.Assignment = ...,
            member_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribedGroup(Struct):
        __match_args__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "assignor_name", "members", "authorized_operations",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        group_id: Final[str]  # 0+
        group_state: Final[str]  # 0+
        group_epoch: Final[int]  # 0+
        assignment_epoch: Final[int]  # 0+
        assignor_name: Final[str]  # 0+
        members: Final[tuple[ConsumerGroupDescribeResponse.Member, ...]]  # 0+
        authorized_operations: Final[int]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            group_epoch: int = 0,
            assignment_epoch: int = 0,
            assignor_name: str = "",
            members: Sequence[ConsumerGroupDescribeResponse.Member] = (),
            authorized_operations: int = -2147483648,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            group_id: str = ...,
            group_state: str = ...,
            group_epoch: int = ...,
            assignment_epoch: int = ...,
            assignor_name: str = ...,
            members: Sequence[ConsumerGroupDescribeResponse.Member] = ...,
            authorized_operations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupHeartbeatRequest(Request):
    """Request 68, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_id", "member_id", "member_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "subscribed_topic_names", "subscribed_topic_regex", "server_assignor", "topic_partitions",)
    group_id: Final[str]  # 0+
    member_id: Final[str]  # 0+
    member_epoch: Final[int]  # 0+
    instance_id: Final[str | None]  # 0+, null 0+
    rack_id: Final[str | None]  # 0+, null 0+
    rebalance_timeout_ms: Final[int]  # 0+
    subscribed_topic_names: Final[tuple[str, ...] | None]  # 0+, null 0+
    subscribed_topic_regex: Final[str | None]  # 1+, null 1+
    server_assignor: Final[str | None]  # 0+, null 0+
    topic_partitions: Final[tuple[ConsumerGroupHeartbeatRequest.TopicPartitions, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Sequence[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Sequence[ConsumerGroupHeartbeatRequest.TopicPartitions] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        member_epoch: int = ...,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        rebalance_timeout_ms: int = ...,
        subscribed_topic_names: Sequence[str] | None = ...,
        subscribed_topic_regex: str | None = ...,
        server_assignor: str | None = ...,
        topic_partitions: Sequence[ConsumerGroupHeartbeatRequest.TopicPartitions] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupHeartbeatResponse(Response):
    """Response 68, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "assignment",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    member_id: Final[str | None]  # 0+, null 0+
    member_epoch: Final[int]  # 0+
    heartbeat_interval_ms: Final[int]  # 0+
    assignment: Final[ConsumerGroupHeartbeatResponse.Assignment | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: ConsumerGroupHeartbeatResponse.Assignment | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        member_id: str | None = ...,
        member_epoch: int = ...,
        heartbeat_interval_ms: int = ...,
        assignment: ConsumerGroupHeartbeatResponse.Assignment | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Assignment(Struct):
        __match_args__ = ("topic_partitions",)
        topic_partitions: Final[tuple[ConsumerGroupHeartbeatResponse.TopicPartitions, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_partitions: Sequence[ConsumerGroupHeartbeatResponse.TopicPartitions] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_partitions: Sequence[ConsumerGroupHeartbeatResponse.TopicPartitions] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupMemberMetadataKey(Message):
    """Coordinator-key 5, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupMemberMetadataValue(Message):
    """Coordinator-value 5, versions 0, flexible 0."""

    __match_args__ = ("instance_id", "rack_id", "client_id", "client_host", "subscribed_topic_names", "subscribed_topic_regex", "rebalance_timeout_ms", "server_assignor", "classic_member_metadata",)
    instance_id: Final[str | None]  # 0+, null 0+
    rack_id: Final[str | None]  # 0+, null 0+
    client_id: Final[str]  # 0+
    client_host: Final[str]  # 0+
    subscribed_topic_names: Final[tuple[str, ...]]  # 0+
    subscribed_topic_regex: Final[str | None]  # 0+, null 0+
    rebalance_timeout_ms: Final[int]  # 0+
    server_assignor: Final[str | None]  # 0+, null 0+
    classic_member_metadata: Final[ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None]  # 0+, null 0+, tag 0 0+

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        client_id: str = ...,
        client_host: str = ...,
        subscribed_topic_names: Sequence[str] = ...,
        subscribed_topic_regex: str | None = ...,
        rebalance_timeout_ms: int = ...,
        server_assignor: str | None = ...,
        classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ClassicProtocol(Struct):
        __match_args__ = ("name", "metadata",)
        name: Final[str]  # 0+
        metadata: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            metadata: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            metadata: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ClassicMemberMetadata(Struct):
        __match_args__ = ("session_timeout_ms", "supported_protocols",)
        session_timeout_ms: Final[int]  # 0+
        supported_protocols: Final[tuple[ConsumerGroupMemberMetadataValue.ClassicProtocol, ...]]  # 0+

        def __init__(
            self,
            *,
            session_timeout_ms: int = 0,
            supported_protocols: Sequence[ConsumerGroupMemberMetadataValue.ClassicProtocol] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            session_timeout_ms: int = ...,
            supported_protocols: Sequence[ConsumerGroupMemberMetadataValue.ClassicProtocol] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupMetadataKey(Message):
    """Coordinator-key 3, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupMetadataValue(Message):
    """Coordinator-value 3, versions 0, flexible 0."""

    __match_args__ = ("epoch", "metadata_hash",)
    epoch: Final[int]  # 0+
    metadata_hash: Final[int]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        epoch: int = ...,
        metadata_hash: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupPartitionMetadataKey(Message):
    """Coordinator-key 4, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupPartitionMetadataValue(Message):
    """Coordinator-value 4, versions 0, flexible 0."""

    __match_args__ = ("topics",)
    topics: Final[tuple[ConsumerGroupPartitionMetadataValue.TopicMetadata, ...]]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[ConsumerGroupPartitionMetadataValue.TopicMetadata] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[ConsumerGroupPartitionMetadataValue.TopicMetadata] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionMetadata(Struct):
        __match_args__ = ("partition", "racks",)
        partition: Final[int]  # 0+
        racks: Final[tuple[str, ...]]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            racks: Sequence[str] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            racks: Sequence[str] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicMetadata(Struct):
        __match_args__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+
        num_partitions: Final[int]  # 0+
        partition_metadata: Final[tuple[ConsumerGroupPartitionMetadataValue.PartitionMetadata, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            num_partitions: int = 0,
            partition_metadata: Sequence[ConsumerGroupPartitionMetadataValue.PartitionMetadata] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            num_partitions: int = ...,
            partition_metadata: Sequence[ConsumerGroupPartitionMetadataValue.PartitionMetadata] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupRegularExpressionKey(Message):
    """Coordinator-key 16, versions 0, flexible none."""

    __match_args__ = ("group_id", "regular_expression",)
    group_id: Final[str]  # 0
    regular_expression: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        regular_expression: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        regular_expression: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupRegularExpressionValue(Message):
    """Coordinator-value 16, versions 0, flexible 0."""

    __match_args__ = ("topics", "version", "timestamp",)
    topics: Final[tuple[str, ...]]  # 0+
    version: Final[int]  # 0+
    timestamp: Final[int]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[str] = (),
        version: int = 0,
        timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[str] = ...,
        version: int = ...,
        timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupTargetAssignmentMemberKey(Message):
    """Coordinator-key 7, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupTargetAssignmentMemberValue(Message):
    """Coordinator-value 7, versions 0, flexible 0."""

    __match_args__ = ("topic_partitions",)
    topic_partitions: Final[tuple[ConsumerGroupTargetAssignmentMemberValue.TopicPartition, ...]]  # 0+

    def __init__(
        self,
        *,
        topic_partitions: Sequence[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topic_partitions: Sequence[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartition(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerGroupTargetAssignmentMetadataKey(Message):
    """Coordinator-key 6, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerGroupTargetAssignmentMetadataValue(Message):
    """Coordinator-value 6, versions 0, flexible 0."""

    __match_args__ = ("assignment_epoch", "assignment_timestamp",)
    assignment_epoch: Final[int]  # 0+
    assignment_timestamp: Final[int]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        assignment_epoch: int = ...,
        assignment_timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ConsumerProtocolAssignment(Message):
    """Data, versions 0-3, flexible none."""

    __match_args__ = ("assigned_partitions", "user_data",)
    assigned_partitions: Final[tuple[ConsumerProtocolAssignment.TopicPartition, ...]]  # 0+
    user_data: Final[bytes | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        assigned_partitions: Sequence[ConsumerProtocolAssignment.TopicPartition] = (),
        user_data: Buffer | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        assigned_partitions: Sequence[ConsumerProtocolAssignment.TopicPartition] = ...,
        user_data: Buffer | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartition(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ConsumerProtocolSubscription(Message):
    """Data, versions 0-3, flexible none."""

    __match_args__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id",)
    topics: Final[tuple[str, ...]]  # 0+
    user_data: Final[bytes | None]  # 0+, null 0+
    owned_partitions: Final[tuple[ConsumerProtocolSubscription.TopicPartition, ...]]  # 1+
    generation_id: Final[int]  # 2+
    rack_id: Final[str | None]  # 3+, null 3+

    def __init__(
        self,
        *,
        topics: Sequence[str] = (),
        user_data: Buffer | None = None,
        owned_partitions: Sequence[ConsumerProtocolSubscription.TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[str] = ...,
        user_data: Buffer | None = ...,
        owned_partitions: Sequence[ConsumerProtocolSubscription.TopicPartition] = ...,
        generation_id: int = ...,
        rack_id: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartition(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 1+
        partitions: Final[tuple[int, ...]]  # 1+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ControlRecordTypeSchema(Message):
    """Data, versions 0, flexible none."""

    __match_args__ = ("type",)
    type: Final[int]  # 0+

    def __init__(
        self,
        *,
        type: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        type: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ControlledShutdownRequest(Request):
    """Request 7, versions 0-3, flexible 3."""

    __match_args__ = ("broker_id", "broker_epoch",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 2+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ControlledShutdownResponse(Response):
    """Response 7, versions 0-3, flexible 3."""

    __match_args__ = ("error_code", "remaining_partitions",)
    error_code: Final[int]  # 0+
    remaining_partitions: Final[tuple[ControlledShutdownResponse.RemainingPartition, ...]]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        remaining_partitions: Sequence[ControlledShutdownResponse.RemainingPartition] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        remaining_partitions: Sequence[ControlledShutdownResponse.RemainingPartition] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class RemainingPartition(Struct):
        __match_args__ = ("topic_name", "partition_index",)
        topic_name: Final[str]  # 0+
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ControllerRegistrationRequest(Request):
    """Request 70, versions 0, flexible 0."""

    __match_args__ = ("controller_id", "incarnation_id", "zk_migration_ready", "listeners", "features",)
    controller_id: Final[int]  # 0+
    incarnation_id: Final[UUID]  # 0+
    zk_migration_ready: Final[bool]  # 0+
    listeners: Final[tuple[ControllerRegistrationRequest.Listener, ...]]  # 0+
    features: Final[tuple[ControllerRegistrationRequest.Feature, ...]]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: UUID = ...,
        zk_migration_ready: bool = False,
        listeners: Sequence[ControllerRegistrationRequest.Listener] = (),
        features: Sequence[ControllerRegistrationRequest.Feature] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        incarnation_id: UUID = ...,
        zk_migration_ready: bool = ...,
        listeners: Sequence[ControllerRegistrationRequest.Listener] = ...,
        features: Sequence[ControllerRegistrationRequest.Feature] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Listener(Struct):
        __match_args__ = ("name", "host", "port", "security_protocol",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        security_protocol: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Feature(Struct):
        __match_args__ = ("name", "min_supported_version", "max_supported_version",)
        name: Final[str]  # 0+
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ControllerRegistrationResponse(Response):
    """Response 70, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class CreateAclsRequest(Request):
    """Request 30, versions 0-3, flexible 2-3."""

    __match_args__ = ("creations",)
    creations: Final[tuple[CreateAclsRequest.AclCreation, ...]]  # 0+

    def __init__(
        self,
        *,
        creations: Sequence[CreateAclsRequest.AclCreation] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        creations: Sequence[CreateAclsRequest.AclCreation] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AclCreation(Struct):
        __match_args__ = ("resource_type", "resource_name", "resource_pattern_type", "principal", "host", "operation", "permission_type",)
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        resource_pattern_type: Final[int]  # 1+
        principal: Final[str]  # 0+
        host: Final[str]  # 0+
        operation: Final[int]  # 0+
        permission_type: Final[int]  # 0+

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            resource_pattern_type: int = 3,
            principal: str = "",
            host: str = "",
            operation: int = 0,
            permission_type: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            resource_pattern_type: int = ...,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreateAclsResponse(Response):
    """Response 30, versions 0-3, flexible 2-3."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[CreateAclsResponse.AclCreationResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[CreateAclsResponse.AclCreationResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[CreateAclsResponse.AclCreationResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AclCreationResult(Struct):
        __match_args__ = ("error_code", "error_message",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreateDelegationTokenRequest(Request):
    """Request 38, versions 0-3, flexible 2-3."""

    __match_args__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms",)
    owner_principal_type: Final[str | None]  # 3+, null 3+
    owner_principal_name: Final[str | None]  # 3+, null 3+
    renewers: Final[tuple[CreateDelegationTokenRequest.CreatableRenewers, ...]]  # 0+
    max_lifetime_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: Sequence[CreateDelegationTokenRequest.CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        owner_principal_type: str | None = ...,
        owner_principal_name: str | None = ...,
        renewers: Sequence[CreateDelegationTokenRequest.CreatableRenewers] = ...,
        max_lifetime_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CreatableRenewers(Struct):
        __match_args__ = ("principal_type", "principal_name",)
        principal_type: Final[str]  # 0+
        principal_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            principal_type: str = "",
            principal_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            principal_type: str = ...,
            principal_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreateDelegationTokenResponse(Response):
    """Response 38, versions 0-3, flexible 2-3."""

    __match_args__ = ("error_code", "principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp_ms", "expiry_timestamp_ms", "max_timestamp_ms", "token_id", "hmac", "throttle_time_ms",)
    error_code: Final[int]  # 0+
    principal_type: Final[str]  # 0+
    principal_name: Final[str]  # 0+
    token_requester_principal_type: Final[str]  # 3+
    token_requester_principal_name: Final[str]  # 3+
    issue_timestamp_ms: Final[int]  # 0+
    expiry_timestamp_ms: Final[int]  # 0+
    max_timestamp_ms: Final[int]  # 0+
    token_id: Final[str]  # 0+
    hmac: Final[bytes]  # 0+
    throttle_time_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: Buffer = b"",
        throttle_time_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        principal_type: str = ...,
        principal_name: str = ...,
        token_requester_principal_type: str = ...,
        token_requester_principal_name: str = ...,
        issue_timestamp_ms: int = ...,
        expiry_timestamp_ms: int = ...,
        max_timestamp_ms: int = ...,
        token_id: str = ...,
        hmac: Buffer = ...,
        throttle_time_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class CreatePartitionsRequest(Request):
    """Request 37, versions 0-3, flexible 2-3."""

    __match_args__ = ("topics", "timeout_ms", "validate_only",)
    topics: Final[tuple[CreatePartitionsRequest.CreatePartitionsTopic, ...]]  # 0+
    timeout_ms: Final[int]  # 0+
    validate_only: Final[bool]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[CreatePartitionsRequest.CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[CreatePartitionsRequest.CreatePartitionsTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CreatePartitionsAssignment(Struct):
        __match_args__ = ("broker_ids",)
        broker_ids: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            broker_ids: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            broker_ids: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CreatePartitionsTopic(Struct):
        __match_args__ = ("name", "count", "assignments",)
        name: Final[str]  # 0+
        count: Final[int]  # 0+
        assignments: Final[tuple[CreatePartitionsRequest.CreatePartitionsAssignment, ...] | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            count: int = 0,
            assignments: Sequence[CreatePartitionsRequest.CreatePartitionsAssignment] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            count: int = ...,
            assignments: Sequence[CreatePartitionsRequest.CreatePartitionsAssignment] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreatePartitionsResponse(Response):
    """Response 37, versions 0-3, flexible 2-3."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[CreatePartitionsResponse.CreatePartitionsTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[CreatePartitionsResponse.CreatePartitionsTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[CreatePartitionsResponse.CreatePartitionsTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CreatePartitionsTopicResult(Struct):
        __match_args__ = ("name", "error_code", "error_message",)
        name: Final[str]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreateTopicsRequest(Request):
    """Request 19, versions 0-7, flexible 5-7."""

    __match_args__ = ("topics", "timeout_ms", "validate_only",)
    topics: Final[tuple[CreateTopicsRequest.CreatableTopic, ...]]  # 0+
    timeout_ms: Final[int]  # 0+
    validate_only: Final[bool]  # 1+

    def __init__(
        self,
        *,
        topics: Sequence[CreateTopicsRequest.CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[CreateTopicsRequest.CreatableTopic] = ...,
        timeout_ms: int = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CreatableReplicaAssignment(Struct):
        __match_args__ = ("partition_index", "broker_ids",)
        partition_index: Final[int]  # 0+
        broker_ids: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            broker_ids: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            broker_ids: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CreatableTopicConfig(Struct):
        __match_args__ = ("name", "value",)
        name: Final[str]  # 0+
        value: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CreatableTopic(Struct):
        __match_args__ = ("name", "num_partitions", "replication_factor", "assignments", "configs",)
        name: Final[str]  # 0+
        num_partitions: Final[int]  # 0+
        replication_factor: Final[int]  # 0+
        assignments: Final[tuple[CreateTopicsRequest.CreatableReplicaAssignment, ...]]  # 0+
        configs: Final[tuple[CreateTopicsRequest.CreatableTopicConfig, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            num_partitions: int = 0,
            replication_factor: int = 0,
            assignments: Sequence[CreateTopicsRequest.CreatableReplicaAssignment] = (),
            configs: Sequence[CreateTopicsRequest.CreatableTopicConfig] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            num_partitions: int = ...,
            replication_factor: int = ...,
            assignments: Sequence[CreateTopicsRequest.CreatableReplicaAssignment] = ...,
            configs: Sequence[CreateTopicsRequest.CreatableTopicConfig] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class CreateTopicsResponse(Response):
    """Response 19, versions 0-7, flexible 5-7."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 2+
    topics: Final[tuple[CreateTopicsResponse.CreatableTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[CreateTopicsResponse.CreatableTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[CreateTopicsResponse.CreatableTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CreatableTopicConfigs(Struct):
        __match_args__ = ("name", "value", "read_only", "config_source", "is_sensitive",)
        name: Final[str]  # 5+
        value: Final[str | None]  # 5+, null 5+
        read_only: Final[bool]  # 5+
        config_source: Final[int]  # 5+
        is_sensitive: Final[bool]  # 5+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            read_only: bool = False,
            config_source: int = -1,
            is_sensitive: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            read_only: bool = ...,
            config_source: int = ...,
            is_sensitive: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CreatableTopicResult(Struct):
        __match_args__ = ("name", "topic_id", "error_code", "error_message", "topic_config_error_code", "num_partitions", "replication_factor", "configs",)
        name: Final[str]  # 0+
        topic_id: Final[UUID]  # 7+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 1+, null 0+
        topic_config_error_code: Final[int]  # 5+, tag 0 5+
        num_partitions: Final[int]  # 5+
        replication_factor: Final[int]  # 5+
        configs: Final[tuple[CreateTopicsResponse.CreatableTopicConfigs, ...] | None]  # 5+, null 5+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            error_code: int = 0,
            error_message: str | None = "",
            topic_config_error_code: int = 0,
            num_partitions: int = -1,
            replication_factor: int = -1,
            configs: Sequence[CreateTopicsResponse.CreatableTopicConfigs] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            topic_config_error_code: int = ...,
            num_partitions: int = ...,
            replication_factor: int = ...,
            configs: Sequence[CreateTopicsResponse.CreatableTopicConfigs] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DefaultPrincipalData(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("type", "name", "token_authenticated",)
    type: Final[str]  # 0+
    name: Final[str]  # 0+
    token_authenticated: Final[bool]  # 0+

    def __init__(
        self,
        *,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        type: str = ...,
        name: str = ...,
        token_authenticated: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DelegationTokenRecord(Message):
    """Metadata 10, versions 0, flexible 0."""

    __match_args__ = ("owner", "requester", "renewers", "issue_timestamp", "max_timestamp", "expiration_timestamp", "token_id",)
    owner: Final[str]  # 0+
    requester: Final[str]  # 0+
    renewers: Final[tuple[str, ...]]  # 0+
    issue_timestamp: Final[int]  # 0+
    max_timestamp: Final[int]  # 0+
    expiration_timestamp: Final[int]  # 0+
    token_id: Final[str]  # 0+

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: Sequence[str] = (),
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        owner: str = ...,
        requester: str = ...,
        renewers: Sequence[str] = ...,
        issue_timestamp: int = ...,
        max_timestamp: int = ...,
        expiration_timestamp: int = ...,
        token_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DeleteAclsRequest(Request):
    """Request 31, versions 0-3, flexible 2-3."""

    __match_args__ = ("filters",)
    filters: Final[tuple[DeleteAclsRequest.DeleteAclsFilter, ...]]  # 0+

    def __init__(
        self,
        *,
        filters: Sequence[DeleteAclsRequest.DeleteAclsFilter] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        filters: Sequence[DeleteAclsRequest.DeleteAclsFilter] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteAclsFilter(Struct):
        __match_args__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type",)
        resource_type_filter: Final[int]  # 0+
        resource_name_filter: Final[str | None]  # 0+, null 0+
        pattern_type_filter: Final[int]  # 1+
        principal_filter: Final[str | None]  # 0+, null 0+
        host_filter: Final[str | None]  # 0+, null 0+
        operation: Final[int]  # 0+
        permission_type: Final[int]  # 0+

        def __init__(
            self,
            *,
            resource_type_filter: int = 0,
            resource_name_filter: str | None = "",
            pattern_type_filter: int = 3,
            principal_filter: str | None = "",
            host_filter: str | None = "",
            operation: int = 0,
            permission_type: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type_filter: int = ...,
            resource_name_filter: str | None = ...,
            pattern_type_filter: int = ...,
            principal_filter: str | None = ...,
            host_filter: str | None = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteAclsResponse(Response):
    """Response 31, versions 0-3, flexible 2-3."""

    __match_args__ = ("throttle_time_ms", "filter_results",)
    throttle_time_ms: Final[int]  # 0+
    filter_results: Final[tuple[DeleteAclsResponse.DeleteAclsFilterResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: Sequence[DeleteAclsResponse.DeleteAclsFilterResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        filter_results: Sequence[DeleteAclsResponse.DeleteAclsFilterResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteAclsMatchingAcl(Struct):
        __match_args__ = ("error_code", "error_message", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        pattern_type: Final[int]  # 1+
        principal: Final[str]  # 0+
        host: Final[str]  # 0+
        operation: Final[int]  # 0+
        permission_type: Final[int]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            resource_type: int = 0,
            resource_name: str = "",
            pattern_type: int = 3,
            principal: str = "",
            host: str = "",
            operation: int = 0,
            permission_type: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            pattern_type: int = ...,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DeleteAclsFilterResult(Struct):
        __match_args__ = ("error_code", "error_message", "matching_acls",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        matching_acls: Final[tuple[DeleteAclsResponse.DeleteAclsMatchingAcl, ...]]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            matching_acls: Sequence[DeleteAclsResponse.DeleteAclsMatchingAcl] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            matching_acls: Sequence[DeleteAclsResponse.DeleteAclsMatchingAcl] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteGroupsRequest(Request):
    """Request 42, versions 0-3, flexible 2-3."""

    __match_args__ = ("groups_names",)
    groups_names: Final[tuple[str, ...]]  # 0+

    def __init__(
        self,
        *,
        groups_names: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        groups_names: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DeleteGroupsResponse(Response):
    """Response 42, versions 0-3, flexible 2-3."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[DeleteGroupsResponse.DeletableGroupResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[DeleteGroupsResponse.DeletableGroupResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[DeleteGroupsResponse.DeletableGroupResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeletableGroupResult(Struct):
        __match_args__ = ("group_id", "error_code", "error_message",)
        group_id: Final[str]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 3+, null 3+

        def __init__(
            self,
            *,
            group_id: str = "",
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteRecordsRequest(Request):
    """Request 21, versions 0-2, flexible 2."""

    __match_args__ = ("topics", "timeout_ms",)
    topics: Final[tuple[DeleteRecordsRequest.DeleteRecordsTopic, ...]]  # 0+
    timeout_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[DeleteRecordsRequest.DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DeleteRecordsRequest.DeleteRecordsTopic] = ...,
        timeout_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteRecordsPartition(Struct):
        __match_args__ = ("partition_index", "offset",)
        partition_index: Final[int]  # 0+
        offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DeleteRecordsTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[DeleteRecordsRequest.DeleteRecordsPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[DeleteRecordsRequest.DeleteRecordsPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[DeleteRecordsRequest.DeleteRecordsPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteRecordsResponse(Response):
    """Response 21, versions 0-2, flexible 2."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 0+
    topics: Final[tuple[DeleteRecordsResponse.DeleteRecordsTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[DeleteRecordsResponse.DeleteRecordsTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[DeleteRecordsResponse.DeleteRecordsTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteRecordsPartitionResult(Struct):
        __match_args__ = ("partition_index", "low_watermark", "error_code",)
        partition_index: Final[int]  # 0+
        low_watermark: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            low_watermark: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            low_watermark: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DeleteRecordsTopicResult(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[DeleteRecordsResponse.DeleteRecordsPartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[DeleteRecordsResponse.DeleteRecordsPartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[DeleteRecordsResponse.DeleteRecordsPartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteShareGroupOffsetsRequest(Request):
    """Request 92, versions 0, flexible 0."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteShareGroupOffsetsRequestTopic(Struct):
        __match_args__ = ("topic_name",)
        topic_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteShareGroupOffsetsResponse(Response):
    """Response 92, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "responses",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    responses: Final[tuple[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        responses: Sequence[DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteShareGroupOffsetsResponseTopic(Struct):
        __match_args__ = ("topic_name", "topic_id", "error_code", "error_message",)
        topic_name: Final[str]  # 0+
        topic_id: Final[UUID]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteShareGroupStateRequest(Request):
    """Request 86, versions 0, flexible 0."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[DeleteShareGroupStateRequest.DeleteStateData, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[DeleteShareGroupStateRequest.DeleteStateData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[DeleteShareGroupStateRequest.DeleteStateData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition",)
        partition: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DeleteStateData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[DeleteShareGroupStateRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[DeleteShareGroupStateRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[DeleteShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteShareGroupStateResponse(Response):
    """Response 86, versions 0, flexible 0."""

    __match_args__ = ("results",)
    results: Final[tuple[DeleteShareGroupStateResponse.DeleteStateResult, ...]]  # 0+

    def __init__(
        self,
        *,
        results: Sequence[DeleteShareGroupStateResponse.DeleteStateResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        results: Sequence[DeleteShareGroupStateResponse.DeleteStateResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition", "error_code", "error_message",)
        partition: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DeleteStateResult(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[DeleteShareGroupStateResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[DeleteShareGroupStateResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[DeleteShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteTopicsRequest(Request):
    """Request 20, versions 0-6, flexible 4-6."""

    __match_args__ = ("topics", "topic_names", "timeout_ms",)
    topics: Final[tuple[DeleteTopicsRequest.DeleteTopicState, ...]]  # 6+
    topic_names: Final[tuple[str, ...]]  # 0-5
    timeout_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[DeleteTopicsRequest.DeleteTopicState] = (),
        topic_names: Sequence[str] = (),
        timeout_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DeleteTopicsRequest.DeleteTopicState] = ...,
        topic_names: Sequence[str] = ...,
        timeout_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeleteTopicState(Struct):
        __match_args__ = ("name", "topic_id",)
        name: Final[str | None]  # 6+, null 6+
        topic_id: Final[UUID]  # 6+

        def __init__(
            self,
            *,
            name: str | None = None,
            topic_id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str | None = ...,
            topic_id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DeleteTopicsResponse(Response):
    """Response 20, versions 0-6, flexible 4-6."""

    __match_args__ = ("throttle_time_ms", "responses",)
    throttle_time_ms: Final[int]  # 1+
    responses: Final[tuple[DeleteTopicsResponse.DeletableTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: Sequence[DeleteTopicsResponse.DeletableTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: Sequence[DeleteTopicsResponse.DeletableTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DeletableTopicResult(Struct):
        __match_args__ = ("name", "topic_id", "error_code", "error_message",)
        name: Final[str | None]  # 0+, null 6+
        topic_id: Final[UUID]  # 6+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 5+, null 5+

        def __init__(
            self,
            *,
            name: str | None = "",
            topic_id: UUID = ...,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str | None = ...,
            topic_id: UUID = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeAclsRequest(Request):
    """Request 29, versions 0-3, flexible 2-3."""

    __match_args__ = ("resource_type_filter", "resource_name_filter", "pattern_type_filter", "principal_filter", "host_filter", "operation", "permission_type",)
    resource_type_filter: Final[int]  # 0+
    resource_name_filter: Final[str | None]  # 0+, null 0+
    pattern_type_filter: Final[int]  # 1+
    principal_filter: Final[str | None]  # 0+, null 0+
    host_filter: Final[str | None]  # 0+, null 0+
    operation: Final[int]  # 0+
    permission_type: Final[int]  # 0+

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resource_type_filter: int = ...,
        resource_name_filter: str | None = ...,
        pattern_type_filter: int = ...,
        principal_filter: str | None = ...,
        host_filter: str | None = ...,
        operation: int = ...,
        permission_type: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DescribeAclsResponse(Response):
    """Response 29, versions 0-3, flexible 2-3."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "resources",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    resources: Final[tuple[DescribeAclsResponse.DescribeAclsResource, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: Sequence[DescribeAclsResponse.DescribeAclsResource] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        resources: Sequence[DescribeAclsResponse.DescribeAclsResource] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AclDescription(Struct):
        __match_args__ = ("principal", "host", "operation", "permission_type",)
        principal: Final[str]  # 0+
        host: Final[str]  # 0+
        operation: Final[int]  # 0+
        permission_type: Final[int]  # 0+

        def __init__(
            self,
            *,
            principal: str = "",
            host: str = "",
            operation: int = 0,
            permission_type: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            principal: str = ...,
            host: str = ...,
            operation: int = ...,
            permission_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeAclsResource(Struct):
        __match_args__ = ("resource_type", "resource_name", "pattern_type", "acls",)
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        pattern_type: Final[int]  # 1+
        acls: Final[tuple[DescribeAclsResponse.AclDescription, ...]]  # 0+

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            pattern_type: int = 3,
            acls: Sequence[DescribeAclsResponse.AclDescription] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            pattern_type: int = ...,
            acls: Sequence[DescribeAclsResponse.AclDescription] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeClientQuotasRequest(Request):
    """Request 48, versions 0-1, flexible 1."""

    __match_args__ = ("components", "strict",)
    components: Final[tuple[DescribeClientQuotasRequest.ComponentData, ...]]  # 0+
    strict: Final[bool]  # 0+

    def __init__(
        self,
        *,
        components: Sequence[DescribeClientQuotasRequest.ComponentData] = (),
        strict: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        components: Sequence[DescribeClientQuotasRequest.ComponentData] = ...,
        strict: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ComponentData(Struct):
        __match_args__ = ("entity_type", "match_type", "match",)
        entity_type: Final[str]  # 0+
        match_type: Final[int]  # 0+
        match: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            match_type: int = 0,
            match: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            match_type: int = ...,
            match: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeClientQuotasResponse(Response):
    """Response 48, versions 0-1, flexible 1."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "entries",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    entries: Final[tuple[DescribeClientQuotasResponse.EntryData, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: Sequence[DescribeClientQuotasResponse.EntryData] | None = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        entries: Sequence[DescribeClientQuotasResponse.EntryData] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EntityData(Struct):
        __match_args__ = ("entity_type", "entity_name",)
        entity_type: Final[str]  # 0+
        entity_name: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            entity_name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            entity_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ValueData(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[float]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: float = 0.0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: float = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class EntryData(Struct):
        __match_args__ = ("entity", "values",)
        entity: Final[tuple[DescribeClientQuotasResponse.EntityData, ...]]  # 0+
        values: Final[tuple[DescribeClientQuotasResponse.ValueData, ...]]  # 0+

        def __init__(
            self,
            *,
            entity: Sequence[DescribeClientQuotasResponse.EntityData] = (),
            values: Sequence[DescribeClientQuotasResponse.ValueData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity: Sequence[DescribeClientQuotasResponse.EntityData] = ...,
            values: Sequence[DescribeClientQuotasResponse.ValueData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeClusterRequest(Request):
    """Request 60, versions 0-2, flexible 0-2."""

    __match_args__ = ("include_cluster_authorized_operations", "endpoint_type", "include_fenced_brokers",)
    include_cluster_authorized_operations: Final[bool]  # 0+
    endpoint_type: Final[int]  # 1+
    include_fenced_brokers: Final[bool]  # 2+

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        include_cluster_authorized_operations: bool = ...,
        endpoint_type: int = ...,
        include_fenced_brokers: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DescribeClusterResponse(Response):
    """Response 60, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "endpoint_type", "cluster_id", "controller_id", "brokers", "cluster_authorized_operations",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    endpoint_type: Final[int]  # 1+
    cluster_id: Final[str]  # 0+
    controller_id: Final[int]  # 0+
    brokers: Final[tuple[DescribeClusterResponse.DescribeClusterBroker, ...]]  # 0+
    cluster_authorized_operations: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: Sequence[DescribeClusterResponse.DescribeClusterBroker] = (),
        cluster_authorized_operations: int = -2147483648,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        endpoint_type: int = ...,
        cluster_id: str = ...,
        controller_id: int = ...,
        brokers: Sequence[DescribeClusterResponse.DescribeClusterBroker] = ...,
        cluster_authorized_operations: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeClusterBroker(Struct):
        __match_args__ = ("broker_id", "host", "port", "rack", "is_fenced",)
        broker_id: Final[int]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        rack: Final[str | None]  # 0+, null 0+
        is_fenced: Final[bool]  # 2+

        def __init__(
            self,
            *,
            broker_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            is_fenced: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            broker_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            is_fenced: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeConfigsRequest(Request):
    """Request 32, versions 0-4, flexible 4."""

    __match_args__ = ("resources", "include_synonyms", "include_documentation",)
    resources: Final[tuple[DescribeConfigsRequest.DescribeConfigsResource, ...]]  # 0+
    include_synonyms: Final[bool]  # 1+
    include_documentation: Final[bool]  # 3+

    def __init__(
        self,
        *,
        resources: Sequence[DescribeConfigsRequest.DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resources: Sequence[DescribeConfigsRequest.DescribeConfigsResource] = ...,
        include_synonyms: bool = ...,
        include_documentation: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeConfigsResource(Struct):
        __match_args__ = ("resource_type", "resource_name", "configuration_keys",)
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        configuration_keys: Final[tuple[str, ...] | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            configuration_keys: Sequence[str] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configuration_keys: Sequence[str] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeConfigsResponse(Response):
    """Response 32, versions 0-4, flexible 4."""

    __match_args__ = ("throttle_time_ms", "results",)
    throttle_time_ms: Final[int]  # 0+
    results: Final[tuple[DescribeConfigsResponse.DescribeConfigsResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: Sequence[DescribeConfigsResponse.DescribeConfigsResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        results: Sequence[DescribeConfigsResponse.DescribeConfigsResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeConfigsSynonym(Struct):
        __match_args__ = ("name", "value", "source",)
        name: Final[str]  # 1+
        value: Final[str | None]  # 1+, null 0+
        source: Final[int]  # 1+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            source: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            source: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeConfigsResourceResult(Struct):
        __match_args__ = ("name", "value", "read_only", "is_default", "config_source", "is_sensitive", "synonyms", "config_type", "documentation",)
        name: Final[str]  # 0+
        value: Final[str | None]  # 0+, null 0+
        read_only: Final[bool]  # 0+
        is_default: Final[bool]  # 0
        config_source: Final[int]  # 1+
        is_sensitive: Final[bool]  # 0+
        synonyms: Final[tuple[DescribeConfigsResponse.DescribeConfigsSynonym, ...]]  # 1+
        config_type: Final[int]  # 3+
        documentation: Final[str | None]  # 3+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            value: str | None = "",
            read_only: bool = False,
            is_default: bool = False,
            config_source: int = -1,
            is_sensitive: bool = False,
            synonyms: Sequence[DescribeConfigsResponse.DescribeConfigsSynonym] = (),
            config_type: int = 0,
            documentation: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            value: str | None = ...,
            read_only: bool = ...,
            is_default: bool = ...,
            config_source: int = ...,
            is_sensitive: bool = ...,
            synonyms: Sequence[DescribeConfigsResponse.DescribeConfigsSynonym] = ...,
            config_type: int = ...,
            documentation: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeConfigsResult(Struct):
        __match_args__ = ("error_code", "error_message", "resource_type", "resource_name", "configs",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        configs: Final[tuple[DescribeConfigsResponse.DescribeConfigsResourceResult, ...]]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            resource_type: int = 0,
            resource_name: str = "",
            configs: Sequence[DescribeConfigsResponse.DescribeConfigsResourceResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: Sequence[DescribeConfigsResponse.DescribeConfigsResourceResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeDelegationTokenRequest(Request):
    """Request 41, versions 0-3, flexible 2-3."""

    __match_args__ = ("owners",)
    owners: Final[tuple[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        owners: Sequence[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        owners: Sequence[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeDelegationTokenOwner(Struct):
        __match_args__ = ("principal_type", "principal_name",)
        principal_type: Final[str]  # 0+
        principal_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            principal_type: str = "",
            principal_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            principal_type: str = ...,
            principal_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeDelegationTokenResponse(Response):
    """Response 41, versions 0-3, flexible 2-3."""

    __match_args__ = ("error_code", "tokens", "throttle_time_ms",)
    error_code: Final[int]  # 0+
    tokens: Final[tuple[DescribeDelegationTokenResponse.DescribedDelegationToken, ...]]  # 0+
    throttle_time_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: Sequence[DescribeDelegationTokenResponse.DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        tokens: Sequence[DescribeDelegationTokenResponse.DescribedDelegationToken] = ...,
        throttle_time_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribedDelegationTokenRenewer(Struct):
        __match_args__ = ("principal_type", "principal_name",)
        principal_type: Final[str]  # 0+
        principal_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            principal_type: str = "",
            principal_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            principal_type: str = ...,
            principal_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribedDelegationToken(Struct):
        __match_args__ = ("principal_type", "principal_name", "token_requester_principal_type", "token_requester_principal_name", "issue_timestamp", "expiry_timestamp", "max_timestamp", "token_id", "hmac", "renewers",)
        principal_type: Final[str]  # 0+
        principal_name: Final[str]  # 0+
        token_requester_principal_type: Final[str]  # 3+
        token_requester_principal_name: Final[str]  # 3+
        issue_timestamp: Final[int]  # 0+
        expiry_timestamp: Final[int]  # 0+
        max_timestamp: Final[int]  # 0+
        token_id: Final[str]  # 0+
        hmac: Final[bytes]  # 0+
        renewers: Final[tuple[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer, ...]]  # 0+

        def __init__(
            self,
            *,
            principal_type: str = "",
            principal_name: str = "",
            token_requester_principal_type: str = "",
            token_requester_principal_name: str = "",
            issue_timestamp: int = 0,
            expiry_timestamp: int = 0,
            max_timestamp: int = 0,
            token_id: str = "",
            hmac: Buffer = b"",
            renewers: Sequence[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            principal_type: str = ...,
            principal_name: str = ...,
            token_requester_principal_type: str = ...,
            token_requester_principal_name: str = ...,
            issue_timestamp: int = ...,
            expiry_timestamp: int = ...,
            max_timestamp: int = ...,
            token_id: str = ...,
            hmac: Buffer = ...,
            renewers: Sequence[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeGroupsRequest(Request):
    """Request 15, versions 0-6, flexible 5-6."""

    __match_args__ = ("groups", "include_authorized_operations",)
    groups: Final[tuple[str, ...]]  # 0+
    include_authorized_operations: Final[bool]  # 3+

    def __init__(
        self,
        *,
        groups: Sequence[str] = (),
        include_authorized_operations: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        groups: Sequence[str] = ...,
        include_authorized_operations: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DescribeGroupsResponse(Response):
    """Response 15, versions 0-6, flexible 5-6."""

    __match_args__ = ("throttle_time_ms", "groups",)
    throttle_time_ms: Final[int]  # 1+
    groups: Final[tuple[DescribeGroupsResponse.DescribedGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribeGroupsResponse.DescribedGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: Sequence[DescribeGroupsResponse.DescribedGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribedGroupMember(Struct):
        __match_args__ = ("member_id", "group_instance_id", "client_id", "client_host", "member_metadata", "member_assignment",)
        member_id: Final[str]  # 0+
        group_instance_id: Final[str | None]  # 4+, null 4+
        client_id: Final[str]  # 0+
        client_host: Final[str]  # 0+
        member_metadata: Final[bytes]  # 0+
        member_assignment: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            member_metadata: Buffer = b"",
            member_assignment: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            client_id: str = ...,
            client_host: str = ...,
            member_metadata: Buffer = ...,
            member_assignment: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribedGroup(Struct):
        __match_args__ = ("error_code", "error_message", "group_id", "group_state", "protocol_type", "protocol_data", "members", "authorized_operations",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 6+, null 6+
        group_id: Final[str]  # 0+
        group_state: Final[str]  # 0+
        protocol_type: Final[str]  # 0+
        protocol_data: Final[str]  # 0+
        members: Final[tuple[DescribeGroupsResponse.DescribedGroupMember, ...]]  # 0+
        authorized_operations: Final[int]  # 3+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            protocol_type: str = "",
            protocol_data: str = "",
            members: Sequence[DescribeGroupsResponse.DescribedGroupMember] = (),
            authorized_operations: int = -2147483648,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            group_id: str = ...,
            group_state: str = ...,
            protocol_type: str = ...,
            protocol_data: str = ...,
            members: Sequence[DescribeGroupsResponse.DescribedGroupMember] = ...,
            authorized_operations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeLogDirsRequest(Request):
    """Request 35, versions 0-5, flexible 2-5."""

    __match_args__ = ("topics",)
    topics: Final[tuple[DescribeLogDirsRequest.DescribableLogDirTopic, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        topics: Sequence[DescribeLogDirsRequest.DescribableLogDirTopic] | None = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DescribeLogDirsRequest.DescribableLogDirTopic] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribableLogDirTopic(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeLogDirsResponse(Response):
    """Response 35, versions 0-5, flexible 2-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "results",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 3+
    results: Final[tuple[DescribeLogDirsResponse.DescribeLogDirsResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Sequence[DescribeLogDirsResponse.DescribeLogDirsResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        results: Sequence[DescribeLogDirsResponse.DescribeLogDirsResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeLogDirsPartition(Struct):
        __match_args__ = ("partition_index", "partition_size", "offset_lag", "is_future_key",)
        partition_index: Final[int]  # 0+
        partition_size: Final[int]  # 0+
        offset_lag: Final[int]  # 0+
        is_future_key: Final[bool]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            partition_size: int = 0,
            offset_lag: int = 0,
            is_future_key: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            partition_size: int = ...,
            offset_lag: int = ...,
            is_future_key: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeLogDirsTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[DescribeLogDirsResponse.DescribeLogDirsPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[DescribeLogDirsResponse.DescribeLogDirsPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[DescribeLogDirsResponse.DescribeLogDirsPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeLogDirsResult(Struct):
        __match_args__ = ("error_code", "log_dir", "topics", "total_bytes", "usable_bytes", "is_cordoned",)
        error_code: Final[int]  # 0+
        log_dir: Final[str]  # 0+
        topics: Final[tuple[DescribeLogDirsResponse.DescribeLogDirsTopic, ...]]  # 0+
        total_bytes: Final[int]  # 4+
        usable_bytes: Final[int]  # 4+
        is_cordoned: Final[bool]  # 5+

        def __init__(
            self,
            *,
            error_code: int = 0,
            log_dir: str = "",
            topics: Sequence[DescribeLogDirsResponse.DescribeLogDirsTopic] = (),
            total_bytes: int = -1,
            usable_bytes: int = -1,
            is_cordoned: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            log_dir: str = ...,
            topics: Sequence[DescribeLogDirsResponse.DescribeLogDirsTopic] = ...,
            total_bytes: int = ...,
            usable_bytes: int = ...,
            is_cordoned: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeProducersRequest(Request):
    """Request 61, versions 0, flexible 0."""

    __match_args__ = ("topics",)
    topics: Final[tuple[DescribeProducersRequest.TopicRequest, ...]]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[DescribeProducersRequest.TopicRequest] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DescribeProducersRequest.TopicRequest] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicRequest(Struct):
        __match_args__ = ("name", "partition_indexes",)
        name: Final[str]  # 0+
        partition_indexes: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeProducersResponse(Response):
    """Response 61, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 0+
    topics: Final[tuple[DescribeProducersResponse.TopicResponse, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[DescribeProducersResponse.TopicResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[DescribeProducersResponse.TopicResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ProducerState(Struct):
        __match_args__ = ("producer_id", "producer_epoch", "last_sequence", "last_timestamp", "coordinator_epoch", "current_txn_start_offset",)
        producer_id: Final[int]  # 0+
        producer_epoch: Final[int]  # 0+
        last_sequence: Final[int]  # 0+
        last_timestamp: Final[int]  # 0+
        coordinator_epoch: Final[int]  # 0+
        current_txn_start_offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            producer_id: int = 0,
            producer_epoch: int = 0,
            last_sequence: int = -1,
            last_timestamp: int = -1,
            coordinator_epoch: int = 0,
            current_txn_start_offset: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            producer_id: int = ...,
            producer_epoch: int = ...,
            last_sequence: int = ...,
            last_timestamp: int = ...,
            coordinator_epoch: int = ...,
            current_txn_start_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionResponse(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message", "active_producers",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        active_producers: Final[tuple[DescribeProducersResponse.ProducerState, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            active_producers: Sequence[DescribeProducersResponse.ProducerState] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            active_producers: Sequence[DescribeProducersResponse.ProducerState] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicResponse(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[DescribeProducersResponse.PartitionResponse, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[DescribeProducersResponse.PartitionResponse] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[DescribeProducersResponse.PartitionResponse] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeQuorumRequest(Request):
    """Request 55, versions 0-2, flexible 0-2."""

    __match_args__ = ("topics",)
    topics: Final[tuple[DescribeQuorumRequest.TopicData, ...]]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[DescribeQuorumRequest.TopicData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DescribeQuorumRequest.TopicData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index",)
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[DescribeQuorumRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[DescribeQuorumRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[DescribeQuorumRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeQuorumResponse(Response):
    """Response 55, versions 0-2, flexible 0-2."""

    __match_args__ = ("error_code", "error_message", "topics", "nodes",)
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 2+, null 2+
    topics: Final[tuple[DescribeQuorumResponse.TopicData, ...]]  # 0+
    nodes: Final[tuple[DescribeQuorumResponse.Node, ...]]  # 2+

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[DescribeQuorumResponse.TopicData] = (),
        nodes: Sequence[DescribeQuorumResponse.Node] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: Sequence[DescribeQuorumResponse.TopicData] = ...,
        nodes: Sequence[DescribeQuorumResponse.Node] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ReplicaState(Struct):
        __match_args__ = ("replica_id", "replica_directory_id", "log_end_offset", "last_fetch_timestamp", "last_caught_up_timestamp",)
        replica_id: Final[int]  # 0+
        replica_directory_id: Final[UUID]  # 2+
        log_end_offset: Final[int]  # 0+
        last_fetch_timestamp: Final[int]  # 1+
        last_caught_up_timestamp: Final[int]  # 1+

        def __init__(
            self,
            *,
            replica_id: int = 0,
            replica_directory_id: UUID = ...,
            log_end_offset: int = 0,
            last_fetch_timestamp: int = -1,
            last_caught_up_timestamp: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            replica_id: int = ...,
            replica_directory_id: UUID = ...,
            log_end_offset: int = ...,
            last_fetch_timestamp: int = ...,
            last_caught_up_timestamp: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message", "leader_id", "leader_epoch", "high_watermark", "current_voters", "observers",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 2+, null 2+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        high_watermark: Final[int]  # 0+
        current_voters: Final[tuple[DescribeQuorumResponse.ReplicaState, ...]]  # 0+
        observers: Final[tuple[DescribeQuorumResponse.ReplicaState, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            leader_id: int = 0,
            leader_epoch: int = 0,
            high_watermark: int = 0,
            current_voters: Sequence[DescribeQuorumResponse.ReplicaState] = (),
            observers: Sequence[DescribeQuorumResponse.ReplicaState] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            high_watermark: int = ...,
            current_voters: Sequence[DescribeQuorumResponse.ReplicaState] = ...,
            observers: Sequence[DescribeQuorumResponse.ReplicaState] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[DescribeQuorumResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[DescribeQuorumResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[DescribeQuorumResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Listener(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 2+
        host: Final[str]  # 2+
        port: Final[int]  # 2+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Node(Struct):
        __match_args__ = ("node_id", "listeners",)
        node_id: Final[int]  # 2+
        listeners: Final[tuple[DescribeQuorumResponse.Listener, ...]]  # 2+

        def __init__(
            self,
            *,
            node_id: int = 0,
            listeners: Sequence[DescribeQuorumResponse.Listener] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            listeners: Sequence[DescribeQuorumResponse.Listener] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeShareGroupOffsetsRequest(Request):
    """Request 90, versions 0-1, flexible 0-1."""

    __match_args__ = ("groups",)
    groups: Final[tuple[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        groups: Sequence[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        groups: Sequence[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeShareGroupOffsetsRequestTopic(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeShareGroupOffsetsRequestGroup(Struct):
        __match_args__ = ("group_id", "topics",)
        group_id: Final[str]  # 0+
        topics: Final[tuple[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic, ...] | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            group_id: str = "",
            topics: Sequence[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            topics: Sequence[DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeShareGroupOffsetsResponse(Response):
    """Response 90, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "groups",)
    throttle_time_ms: Final[int]  # 0+
    groups: Final[tuple[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeShareGroupOffsetsResponsePartition(Struct):
        __match_args__ = ("partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message",)
        partition_index: Final[int]  # 0+
        start_offset: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        lag: Final[int]  # 1+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            start_offset: int = 0,
            leader_epoch: int = 0,
            lag: int = -1,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            start_offset: int = ...,
            leader_epoch: int = ...,
            lag: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeShareGroupOffsetsResponseTopic(Struct):
        __match_args__ = ("topic_name", "topic_id", "partitions",)
        topic_name: Final[str]  # 0+
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeShareGroupOffsetsResponseGroup(Struct):
        __match_args__ = ("group_id", "topics", "error_code", "error_message",)
        group_id: Final[str]  # 0+
        topics: Final[tuple[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic, ...]]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            group_id: str = "",
            topics: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic] = (),
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            topics: Sequence[DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic] = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeTopicPartitionsRequest(Request):
    """Request 75, versions 0, flexible 0."""

    __match_args__ = ("topics", "response_partition_limit", "cursor",)
    topics: Final[tuple[DescribeTopicPartitionsRequest.TopicRequest, ...]]  # 0+
    response_partition_limit: Final[int]  # 0+
    cursor: Final[DescribeTopicPartitionsRequest.Cursor | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        topics: Sequence[DescribeTopicPartitionsRequest.TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: DescribeTopicPartitionsRequest.Cursor | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[DescribeTopicPartitionsRequest.TopicRequest] = ...,
        response_partition_limit: int = ...,
        cursor: DescribeTopicPartitionsRequest.Cursor | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicRequest(Struct):
        __match_args__ = ("name",)
        name: Final[str]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Cursor(Struct):
        __match_args__ = ("topic_name", "partition_index",)
        topic_name: Final[str]  # 0+
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeTopicPartitionsResponse(Response):
    """Response 75, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "topics", "next_cursor",)
    throttle_time_ms: Final[int]  # 0+
    topics: Final[tuple[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic, ...]]  # 0+
    next_cursor: Final[DescribeTopicPartitionsResponse.Cursor | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = (),
        next_cursor: DescribeTopicPartitionsResponse.Cursor | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic] = ...,
        next_cursor: DescribeTopicPartitionsResponse.Cursor | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class DescribeTopicPartitionsResponsePartition(Struct):
        __match_args__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "eligible_leader_replicas", "last_known_elr", "offline_replicas",)
        error_code: Final[int]  # 0+
        partition_index: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        replica_nodes: Final[tuple[int, ...]]  # 0+
        isr_nodes: Final[tuple[int, ...]]  # 0+
        eligible_leader_replicas: Final[tuple[int, ...] | None]  # 0+, null 0+
        last_known_elr: Final[tuple[int, ...] | None]  # 0+, null 0+
        offline_replicas: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = -1,
            replica_nodes: Sequence[int] = (),
            isr_nodes: Sequence[int] = (),
            eligible_leader_replicas: Sequence[int] | None = None,
            last_known_elr: Sequence[int] | None = None,
            offline_replicas: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            partition_index: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            replica_nodes: Sequence[int] = ...,
            isr_nodes: Sequence[int] = ...,
            eligible_leader_replicas: Sequence[int] | None = ...,
            last_known_elr: Sequence[int] | None = ...,
            offline_replicas: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeTopicPartitionsResponseTopic(Struct):
        __match_args__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations",)
        error_code: Final[int]  # 0+
        name: Final[str | None]  # 0+, null 0+
        topic_id: Final[UUID]  # 0+
        is_internal: Final[bool]  # 0+
        partitions: Final[tuple[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition, ...]]  # 0+
        topic_authorized_operations: Final[int]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            name: str | None = "",
            topic_id: UUID = ...,
            is_internal: bool = False,
            partitions: Sequence[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition] = (),
            topic_authorized_operations: int = -2147483648,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            name: str | None = ...,
            topic_id: UUID = ...,
            is_internal: bool = ...,
            partitions: Sequence[DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition] = ...,
            topic_authorized_operations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Cursor(Struct):
        __match_args__ = ("topic_name", "partition_index",)
        topic_name: Final[str]  # 0+
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeTransactionsRequest(Request):
    """Request 65, versions 0, flexible 0."""

    __match_args__ = ("transactional_ids",)
    transactional_ids: Final[tuple[str, ...]]  # 0+

    def __init__(
        self,
        *,
        transactional_ids: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_ids: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class DescribeTransactionsResponse(Response):
    """Response 65, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "transaction_states",)
    throttle_time_ms: Final[int]  # 0+
    transaction_states: Final[tuple[DescribeTransactionsResponse.TransactionState, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: Sequence[DescribeTransactionsResponse.TransactionState] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        transaction_states: Sequence[DescribeTransactionsResponse.TransactionState] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TransactionState(Struct):
        __match_args__ = ("error_code", "transactional_id", "transaction_state", "transaction_timeout_ms", "transaction_start_time_ms", "producer_id", "producer_epoch", "topics",)
        error_code: Final[int]  # 0+
        transactional_id: Final[str]  # 0+
        transaction_state: Final[str]  # 0+
        transaction_timeout_ms: Final[int]  # 0+
        transaction_start_time_ms: Final[int]  # 0+
        producer_id: Final[int]  # 0+
        producer_epoch: Final[int]  # 0+
        topics: Final[tuple[DescribeTransactionsResponse.TopicData, ...]]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            transactional_id: str = "",
            transaction_state: str = "",
            transaction_timeout_ms: int = 0,
            transaction_start_time_ms: int = 0,
            producer_id: int = 0,
            producer_epoch: int = 0,
            topics: Sequence[DescribeTransactionsResponse.TopicData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            transactional_id: str = ...,
            transaction_state: str = ...,
            transaction_timeout_ms: int = ...,
            transaction_start_time_ms: int = ...,
            producer_id: int = ...,
            producer_epoch: int = ...,
            topics: Sequence[DescribeTransactionsResponse.TopicData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeUserScramCredentialsRequest(Request):
    """Request 50, versions 0, flexible 0."""

    __match_args__ = ("users",)
    users: Final[tuple[DescribeUserScramCredentialsRequest.UserName, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        users: Sequence[DescribeUserScramCredentialsRequest.UserName] | None = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        users: Sequence[DescribeUserScramCredentialsRequest.UserName] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class UserName(Struct):
        __match_args__ = ("name",)
        name: Final[str]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class DescribeUserScramCredentialsResponse(Response):
    """Response 50, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "results",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    results: Final[tuple[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        results: Sequence[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CredentialInfo(Struct):
        __match_args__ = ("mechanism", "iterations",)
        mechanism: Final[int]  # 0+
        iterations: Final[int]  # 0+

        def __init__(
            self,
            *,
            mechanism: int = 0,
            iterations: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            mechanism: int = ...,
            iterations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribeUserScramCredentialsResult(Struct):
        __match_args__ = ("user", "error_code", "error_message", "credential_infos",)
        user: Final[str]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        credential_infos: Final[tuple[DescribeUserScramCredentialsResponse.CredentialInfo, ...]]  # 0+

        def __init__(
            self,
            *,
            user: str = "",
            error_code: int = 0,
            error_message: str | None = "",
            credential_infos: Sequence[DescribeUserScramCredentialsResponse.CredentialInfo] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            user: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            credential_infos: Sequence[DescribeUserScramCredentialsResponse.CredentialInfo] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ElectLeadersRequest(Request):
    """Request 43, versions 0-2, flexible 2."""

    __match_args__ = ("election_type", "topic_partitions", "timeout_ms",)
    election_type: Final[int]  # 1+
    topic_partitions: Final[tuple[ElectLeadersRequest.TopicPartitions, ...] | None]  # 0+, null 0+
    timeout_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: Sequence[ElectLeadersRequest.TopicPartitions] | None = (),
        timeout_ms: int = 60000,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        election_type: int = ...,
        topic_partitions: Sequence[ElectLeadersRequest.TopicPartitions] | None = ...,
        timeout_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ElectLeadersResponse(Response):
    """Response 43, versions 0-2, flexible 2."""

    __match_args__ = ("throttle_time_ms", "error_code", "replica_election_results",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 1+
    replica_election_results: Final[tuple[ElectLeadersResponse.ReplicaElectionResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Sequence[ElectLeadersResponse.ReplicaElectionResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        replica_election_results: Sequence[ElectLeadersResponse.ReplicaElectionResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition_id", "error_code", "error_message",)
        partition_id: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_id: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_id: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReplicaElectionResult(Struct):
        __match_args__ = ("topic", "partition_result",)
        topic: Final[str]  # 0+
        partition_result: Final[tuple[ElectLeadersResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partition_result: Sequence[ElectLeadersResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partition_result: Sequence[ElectLeadersResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class EndQuorumEpochRequest(Request):
    """Request 54, versions 0-1, flexible 1."""

    __match_args__ = ("cluster_id", "topics", "leader_endpoints",)
    cluster_id: Final[str | None]  # 0+, null 0+
    topics: Final[tuple[EndQuorumEpochRequest.TopicData, ...]]  # 0+
    leader_endpoints: Final[tuple[EndQuorumEpochRequest.LeaderEndpoint, ...]]  # 1+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        topics: Sequence[EndQuorumEpochRequest.TopicData] = (),
        leader_endpoints: Sequence[EndQuorumEpochRequest.LeaderEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        topics: Sequence[EndQuorumEpochRequest.TopicData] = ...,
        leader_endpoints: Sequence[EndQuorumEpochRequest.LeaderEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ReplicaInfo(Struct):
        __match_args__ = ("candidate_id", "candidate_directory_id",)
        candidate_id: Final[int]  # 1+
        candidate_directory_id: Final[UUID]  # 1+

        def __init__(
            self,
            *,
            candidate_id: int = 0,
            candidate_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            candidate_id: int = ...,
            candidate_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "leader_id", "leader_epoch", "preferred_successors", "preferred_candidates",)
        partition_index: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        preferred_successors: Final[tuple[int, ...]]  # 0
        preferred_candidates: Final[tuple[EndQuorumEpochRequest.ReplicaInfo, ...]]  # 1+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            preferred_successors: Sequence[int] = (),
            preferred_candidates: Sequence[EndQuorumEpochRequest.ReplicaInfo] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            preferred_successors: Sequence[int] = ...,
            preferred_candidates: Sequence[EndQuorumEpochRequest.ReplicaInfo] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[EndQuorumEpochRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[EndQuorumEpochRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[EndQuorumEpochRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderEndpoint(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class EndQuorumEpochResponse(Response):
    """Response 54, versions 0-1, flexible 1."""

    __match_args__ = ("error_code", "topics", "node_endpoints",)
    error_code: Final[int]  # 0+
    topics: Final[tuple[EndQuorumEpochResponse.TopicData, ...]]  # 0+
    node_endpoints: Final[tuple[EndQuorumEpochResponse.NodeEndpoint, ...]]  # 1+, tag 0 1+

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: Sequence[EndQuorumEpochResponse.TopicData] = (),
        node_endpoints: Sequence[EndQuorumEpochResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        topics: Sequence[EndQuorumEpochResponse.TopicData] = ...,
        node_endpoints: Sequence[EndQuorumEpochResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "leader_id", "leader_epoch",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[EndQuorumEpochResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[EndQuorumEpochResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[EndQuorumEpochResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port",)
        node_id: Final[int]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class EndTransactionRecord(Message):
    """Metadata 24, versions 0, flexible 0."""

    __match_args__ = ()

    def __init__(
        self,
        *,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class EndTxnMarker(Message):
    """Data, versions 0, flexible none."""

    __match_args__ = ("coordinator_epoch",)
    coordinator_epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        coordinator_epoch: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        coordinator_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class EndTxnRequest(Request):
    """Request 26, versions 0-5, flexible 3-5."""

    __match_args__ = ("transactional_id", "producer_id", "producer_epoch", "committed",)
    transactional_id: Final[str]  # 0+
    producer_id: Final[int]  # 0+
    producer_epoch: Final[int]  # 0+
    committed: Final[bool]  # 0+

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        committed: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class EndTxnResponse(Response):
    """Response 26, versions 0-5, flexible 3-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    producer_id: Final[int]  # 5+
    producer_epoch: Final[int]  # 5+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class EnvelopeRequest(Request):
    """Request 58, versions 0, flexible 0."""

    __match_args__ = ("request_data", "request_principal", "client_host_address",)
    request_data: Final[bytes]  # 0+
    request_principal: Final[bytes | None]  # 0+, null 0+
    client_host_address: Final[bytes]  # 0+

    def __init__(
        self,
        *,
        request_data: Buffer = b"",
        request_principal: Buffer | None = b"",
        client_host_address: Buffer = b"",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        request_data: Buffer = ...,
        request_principal: Buffer | None = ...,
        client_host_address: Buffer = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class EnvelopeResponse(Response):
    """Response 58, versions 0, flexible 0."""

    __match_args__ = ("response_data", "error_code",)
    response_data: Final[bytes | None]  # 0+, null 0+
    error_code: Final[int]  # 0+

    def __init__(
        self,
        *,
        response_data: Buffer | None = None,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        response_data: Buffer | None = ...,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ExpireDelegationTokenRequest(Request):
    """Request 40, versions 0-2, flexible 2."""

    __match_args__ = ("hmac", "expiry_time_period_ms",)
    hmac: Final[bytes]  # 0+
    expiry_time_period_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        hmac: Buffer = b"",
        expiry_time_period_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        hmac: Buffer = ...,
        expiry_time_period_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ExpireDelegationTokenResponse(Response):
    """Response 40, versions 0-2, flexible 2."""

    __match_args__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms",)
    error_code: Final[int]  # 0+
    expiry_timestamp_ms: Final[int]  # 0+
    throttle_time_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        expiry_timestamp_ms: int = ...,
        throttle_time_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class FeatureLevelRecord(Message):
    """Metadata 12, versions 0, flexible 0."""

    __match_args__ = ("name", "feature_level",)
    name: Final[str]  # 0+
    feature_level: Final[int]  # 0+

    def __init__(
        self,
        *,
        name: str = "",
        feature_level: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str = ...,
        feature_level: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class FenceBrokerRecord(Message):
    """Metadata 7, versions 0, flexible 0."""

    __match_args__ = ("id", "epoch",)
    id: Final[int]  # 0+
    epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        id: int = ...,
        epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class FetchRequest(Request):
    """Request 1, versions 0-18, flexible 12-18."""

    __match_args__ = ("cluster_id", "replica_id", "replica_state", "max_wait_ms", "min_bytes", "max_bytes", "isolation_level", "session_id", "session_epoch", "topics", "forgotten_topics_data", "rack_id",)
    cluster_id: Final[str | None]  # 12+, null 12+, tag 0 12+
    replica_id: Final[int]  # 0-14
    replica_state: Final[FetchRequest.ReplicaState]  # 15+, tag 1 15+
    max_wait_ms: Final[int]  # 0+
    min_bytes: Final[int]  # 0+
    max_bytes: Final[int]  # 3+
    isolation_level: Final[int]  # 4+
    session_id: Final[int]  # 7+
    session_epoch: Final[int]  # 7+
    topics: Final[tuple[FetchRequest.FetchTopic, ...]]  # 0+
    forgotten_topics_data: Final[tuple[FetchRequest.ForgottenTopic, ...]]  # 7+
    rack_id: Final[str]  # 11+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: FetchRequest.ReplicaState = ...,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Sequence[FetchRequest.FetchTopic] = (),
        forgotten_topics_data: Sequence[FetchRequest.ForgottenTopic] = (),
        rack_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        replica_id: int = ...,
        replica_state: FetchRequest.ReplicaState = ...,
        max_wait_ms: int = ...,
        min_bytes: int = ...,
        max_bytes: int = ...,
        isolation_level: int = ...,
        session_id: int = ...,
        session_epoch: int = ...,
        topics: Sequence[FetchRequest.FetchTopic] = ...,
        forgotten_topics_data: Sequence[FetchRequest.ForgottenTopic] = ...,
        rack_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ReplicaState(Struct):
        __match_args__ = ("replica_id", "replica_epoch",)
        replica_id: Final[int]  # 15+
        replica_epoch: Final[int]  # 15+

        def __init__(
            self,
            *,
            replica_id: int = -1,
            replica_epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            replica_id: int = ...,
            replica_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FetchPartition(Struct):
        __match_args__ = ("partition", "current_leader_epoch", "fetch_offset", "last_fetched_epoch", "log_start_offset", "partition_max_bytes", "replica_directory_id", "high_watermark",)
        partition: Final[int]  # 0+
        current_leader_epoch: Final[int]  # 9+
        fetch_offset: Final[int]  # 0+
        last_fetched_epoch: Final[int]  # 12+
        log_start_offset: Final[int]  # 5+
        partition_max_bytes: Final[int]  # 0+
        replica_directory_id: Final[UUID]  # 17+, tag 0 17+
        high_watermark: Final[int]  # 18+, tag 1 18+

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = -1,
            fetch_offset: int = 0,
            last_fetched_epoch: int = -1,
            log_start_offset: int = -1,
            partition_max_bytes: int = 0,
            replica_directory_id: UUID = ...,
            high_watermark: int = 9223372036854775807,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            fetch_offset: int = ...,
            last_fetched_epoch: int = ...,
            log_start_offset: int = ...,
            partition_max_bytes: int = ...,
            replica_directory_id: UUID = ...,
            high_watermark: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FetchTopic(Struct):
        __match_args__ = ("topic", "topic_id", "partitions",)
        topic: Final[str]  # 0-12
        topic_id: Final[UUID]  # 13+
        partitions: Final[tuple[FetchRequest.FetchPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[FetchRequest.FetchPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[FetchRequest.FetchPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ForgottenTopic(Struct):
        __match_args__ = ("topic", "topic_id", "partitions",)
        topic: Final[str]  # 7-12
        topic_id: Final[UUID]  # 13+
        partitions: Final[tuple[int, ...]]  # 7+

        def __init__(
            self,
            *,
            topic: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class FetchResponse(Response):
    """Response 1, versions 0-18, flexible 12-18."""

    __match_args__ = ("throttle_time_ms", "error_code", "session_id", "responses", "node_endpoints",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 7+
    session_id: Final[int]  # 7+
    responses: Final[tuple[FetchResponse.FetchableTopicResponse, ...]]  # 0+
    node_endpoints: Final[tuple[FetchResponse.NodeEndpoint, ...]]  # 16+, tag 0 16+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: Sequence[FetchResponse.FetchableTopicResponse] = (),
        node_endpoints: Sequence[FetchResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        session_id: int = ...,
        responses: Sequence[FetchResponse.FetchableTopicResponse] = ...,
        node_endpoints: Sequence[FetchResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EpochEndOffset(Struct):
        __match_args__ = ("epoch", "end_offset",)
        epoch: Final[int]  # 12+
        end_offset: Final[int]  # 12+

        def __init__(
            self,
            *,
            epoch: int = -1,
            end_offset: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            epoch: int = ...,
            end_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderIdAndEpoch(Struct):
        __match_args__ = ("leader_id", "leader_epoch",)
        leader_id: Final[int]  # 12+
        leader_epoch: Final[int]  # 12+

        def __init__(
            self,
            *,
            leader_id: int = -1,
            leader_epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class SnapshotId(Struct):
        __match_args__ = ("end_offset", "epoch",)
        end_offset: Final[int]  # 0+
        epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            end_offset: int = -1,
            epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AbortedTransaction(Struct):
        __match_args__ = ("producer_id", "first_offset",)
        producer_id: Final[int]  # 4+
        first_offset: Final[int]  # 4+

        def __init__(
            self,
            *,
            producer_id: int = 0,
            first_offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            producer_id: int = ...,
            first_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "high_watermark", "last_stable_offset", "log_start_offset", "diverging_epoch", "current_leader", "snapshot_id", "aborted_transactions", "preferred_read_replica", "records",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        high_watermark: Final[int]  # 0+
        last_stable_offset: Final[int]  # 4+
        log_start_offset: Final[int]  # 5+
        diverging_epoch: Final[FetchResponse.EpochEndOffset]  # 12+, tag 0 12+
        current_leader: Final[FetchResponse.LeaderIdAndEpoch]  # 12+, tag 1 12+
        snapshot_id: Final[FetchResponse.SnapshotId]  # 12+, tag 2 12+
        aborted_transactions: Final[tuple[FetchResponse.AbortedTransaction, ...] | None]  # 4+, null 4+
        preferred_read_replica: Final[int]  # 11+
        records: Final[bytes | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            high_watermark: int = 0,
            last_stable_offset: int = -1,
            log_start_offset: int = -1,
            diverging_epoch: FetchResponse.EpochEndOffset = ...,
            current_leader: FetchResponse.LeaderIdAndEpoch = ...,
            snapshot_id: FetchResponse.SnapshotId = ...,
            aborted_transactions: Sequence[FetchResponse.AbortedTransaction] | None = (),
            preferred_read_replica: int = -1,
            records: Buffer | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            high_watermark: int = ...,
            last_stable_offset: int = ...,
            log_start_offset: int = ...,
            diverging_epoch: FetchResponse.EpochEndOffset = ...,
            current_leader: FetchResponse.LeaderIdAndEpoch = ...,
            snapshot_id: FetchResponse.SnapshotId = ...,
            aborted_transactions: Sequence[FetchResponse.AbortedTransaction] | None = ...,
            preferred_read_replica: int = ...,
            records: Buffer | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FetchableTopicResponse(Struct):
        __match_args__ = ("topic", "topic_id", "partitions",)
        topic: Final[str]  # 0-12
        topic_id: Final[UUID]  # 13+
        partitions: Final[tuple[FetchResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[FetchResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[FetchResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port", "rack",)
        node_id: Final[int]  # 16+
        host: Final[str]  # 16+
        port: Final[int]  # 16+
        rack: Final[str | None]  # 16+, null 16+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class FetchSnapshotRequest(Request):
    """Request 59, versions 0-1, flexible 0-1."""

    __match_args__ = ("cluster_id", "replica_id", "max_bytes", "topics",)
    cluster_id: Final[str | None]  # 0+, null 0+, tag 0 0+
    replica_id: Final[int]  # 0+
    max_bytes: Final[int]  # 0+
    topics: Final[tuple[FetchSnapshotRequest.TopicSnapshot, ...]]  # 0+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: Sequence[FetchSnapshotRequest.TopicSnapshot] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        replica_id: int = ...,
        max_bytes: int = ...,
        topics: Sequence[FetchSnapshotRequest.TopicSnapshot] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class SnapshotId(Struct):
        __match_args__ = ("end_offset", "epoch",)
        end_offset: Final[int]  # 0+
        epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            end_offset: int = 0,
            epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionSnapshot(Struct):
        __match_args__ = ("partition", "current_leader_epoch", "snapshot_id", "position", "replica_directory_id",)
        partition: Final[int]  # 0+
        current_leader_epoch: Final[int]  # 0+
        snapshot_id: Final[FetchSnapshotRequest.SnapshotId]  # 0+
        position: Final[int]  # 0+
        replica_directory_id: Final[UUID]  # 1+, tag 0 1+

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = 0,
            snapshot_id: FetchSnapshotRequest.SnapshotId = ...,
            position: int = 0,
            replica_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            snapshot_id: FetchSnapshotRequest.SnapshotId = ...,
            position: int = ...,
            replica_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicSnapshot(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[FetchSnapshotRequest.PartitionSnapshot, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[FetchSnapshotRequest.PartitionSnapshot] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[FetchSnapshotRequest.PartitionSnapshot] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class FetchSnapshotResponse(Response):
    """Response 59, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "topics", "node_endpoints",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    topics: Final[tuple[FetchSnapshotResponse.TopicSnapshot, ...]]  # 0+
    node_endpoints: Final[tuple[FetchSnapshotResponse.NodeEndpoint, ...]]  # 1+, tag 0 1+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: Sequence[FetchSnapshotResponse.TopicSnapshot] = (),
        node_endpoints: Sequence[FetchSnapshotResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        topics: Sequence[FetchSnapshotResponse.TopicSnapshot] = ...,
        node_endpoints: Sequence[FetchSnapshotResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class SnapshotId(Struct):
        __match_args__ = ("end_offset", "epoch",)
        end_offset: Final[int]  # 0+
        epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            end_offset: int = 0,
            epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            end_offset: int = ...,
            epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderIdAndEpoch(Struct):
        __match_args__ = ("leader_id", "leader_epoch",)
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionSnapshot(Struct):
        __match_args__ = ("index", "error_code", "snapshot_id", "current_leader", "size", "position", "unaligned_records",)
        index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        snapshot_id: Final[FetchSnapshotResponse.SnapshotId]  # 0+
        current_leader: Final[FetchSnapshotResponse.LeaderIdAndEpoch]  # 0+, tag 0 0+
        size: Final[int]  # 0+
        position: Final[int]  # 0+
        unaligned_records: Final[bytes | None]  # 0+

        def __init__(
            self,
            *,
            index: int = 0,
            error_code: int = 0,
            snapshot_id: FetchSnapshotResponse.SnapshotId = ...,
            current_leader: FetchSnapshotResponse.LeaderIdAndEpoch = ...,
            size: int = 0,
            position: int = 0,
            unaligned_records: Buffer | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            index: int = ...,
            error_code: int = ...,
            snapshot_id: FetchSnapshotResponse.SnapshotId = ...,
            current_leader: FetchSnapshotResponse.LeaderIdAndEpoch = ...,
            size: int = ...,
            position: int = ...,
            unaligned_records: Buffer | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicSnapshot(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[FetchSnapshotResponse.PartitionSnapshot, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[FetchSnapshotResponse.PartitionSnapshot] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[FetchSnapshotResponse.PartitionSnapshot] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port",)
        node_id: Final[int]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class FindCoordinatorRequest(Request):
    """Request 10, versions 0-6, flexible 3-6."""

    __match_args__ = ("key", "key_type", "coordinator_keys",)
    key: Final[str]  # 0-3
    key_type: Final[int]  # 1+
    coordinator_keys: Final[tuple[str, ...]]  # 4+

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        key: str = ...,
        key_type: int = ...,
        coordinator_keys: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class FindCoordinatorResponse(Response):
    """Response 10, versions 0-6, flexible 3-6."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 0-3
    error_message: Final[str | None]  # 1-3, null 1-3
    node_id: Final[int]  # 0-3
    host: Final[str]  # 0-3
    port: Final[int]  # 0-3
    coordinators: Final[tuple[FindCoordinatorResponse.Coordinator, ...]]  # 4+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: Sequence[FindCoordinatorResponse.Coordinator] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        node_id: int = ...,
        host: str = ...,
        port: int = ...,
        coordinators: Sequence[FindCoordinatorResponse.Coordinator] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Coordinator(Struct):
        __match_args__ = ("key", "node_id", "host", "port", "error_code", "error_message",)
        key: Final[str]  # 4+
        node_id: Final[int]  # 4+
        host: Final[str]  # 4+
        port: Final[int]  # 4+
        error_code: Final[int]  # 4+
        error_message: Final[str | None]  # 4+, null 4+

        def __init__(
            self,
            *,
            key: str = "",
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class GetTelemetrySubscriptionsRequest(Request):
    """Request 71, versions 0, flexible 0."""

    __match_args__ = ("client_instance_id",)
    client_instance_id: Final[UUID]  # 0+

    def __init__(
        self,
        *,
        client_instance_id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        client_instance_id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class GetTelemetrySubscriptionsResponse(Response):
    """Response 71, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "client_instance_id", "subscription_id", "accepted_compression_types", "push_interval_ms", "telemetry_max_bytes", "delta_temporality", "requested_metrics",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    client_instance_id: Final[UUID]  # 0+
    subscription_id: Final[int]  # 0+
    accepted_compression_types: Final[tuple[int, ...]]  # 0+
    push_interval_ms: Final[int]  # 0+
    telemetry_max_bytes: Final[int]  # 0+
    delta_temporality: Final[bool]  # 0+
    requested_metrics: Final[tuple[str, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: UUID = ...,
        subscription_id: int = 0,
        accepted_compression_types: Sequence[int] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        client_instance_id: UUID = ...,
        subscription_id: int = ...,
        accepted_compression_types: Sequence[int] = ...,
        push_interval_ms: int = ...,
        telemetry_max_bytes: int = ...,
        delta_temporality: bool = ...,
        requested_metrics: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class GroupMetadataKey(Message):
    """Coordinator-key 2, versions 0, flexible none."""

    __match_args__ = ("group",)
    group: Final[str]  # 0

    def __init__(
        self,
        *,
        group: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class GroupMetadataValue(Message):
    """Coordinator-value 2, versions 0-4, flexible 4."""

    __match_args__ = ("protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members",)
    protocol_type: Final[str]  # 0+
    generation: Final[int]  # 0+
    protocol: Final[str | None]  # 0+, null 0+
    leader: Final[str | None]  # 0+, null 0+
    current_state_timestamp: Final[int]  # 2+
    members: Final[tuple[GroupMetadataValue.MemberMetadata, ...]]  # 0+

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: Sequence[GroupMetadataValue.MemberMetadata] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        protocol_type: str = ...,
        generation: int = ...,
        protocol: str | None = ...,
        leader: str | None = ...,
        current_state_timestamp: int = ...,
        members: Sequence[GroupMetadataValue.MemberMetadata] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class MemberMetadata(Struct):
        __match_args__ = ("member_id", "group_instance_id", "client_id", "client_host", "rebalance_timeout", "session_timeout", "subscription", "assignment",)
        member_id: Final[str]  # 0+
        group_instance_id: Final[str | None]  # 3+, null 3+
        client_id: Final[str]  # 0+
        client_host: Final[str]  # 0+
        rebalance_timeout: Final[int]  # 1+
        session_timeout: Final[int]  # 0+
        subscription: Final[bytes]  # 0+
        assignment: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            rebalance_timeout: int = -1,
            session_timeout: int = 0,
            subscription: Buffer = b"",
            assignment: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            client_id: str = ...,
            client_host: str = ...,
            rebalance_timeout: int = ...,
            session_timeout: int = ...,
            subscription: Buffer = ...,
            assignment: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class HeartbeatRequest(Request):
    """Request 12, versions 0-4, flexible 4."""

    __match_args__ = ("group_id", "generation_id", "member_id", "group_instance_id",)
    group_id: Final[str]  # 0+
    generation_id: Final[int]  # 0+
    member_id: Final[str]  # 0+
    group_instance_id: Final[str | None]  # 3+, null 3+

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class HeartbeatResponse(Response):
    """Response 12, versions 0-4, flexible 4."""

    __match_args__ = ("throttle_time_ms", "error_code",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class IncrementalAlterConfigsRequest(Request):
    """Request 44, versions 0-1, flexible 1."""

    __match_args__ = ("resources", "validate_only",)
    resources: Final[tuple[IncrementalAlterConfigsRequest.AlterConfigsResource, ...]]  # 0+
    validate_only: Final[bool]  # 0+

    def __init__(
        self,
        *,
        resources: Sequence[IncrementalAlterConfigsRequest.AlterConfigsResource] = (),
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resources: Sequence[IncrementalAlterConfigsRequest.AlterConfigsResource] = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterableConfig(Struct):
        __match_args__ = ("name", "config_operation", "value",)
        name: Final[str]  # 0+
        config_operation: Final[int]  # 0+
        value: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            name: str = "",
            config_operation: int = 0,
            value: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            config_operation: int = ...,
            value: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AlterConfigsResource(Struct):
        __match_args__ = ("resource_type", "resource_name", "configs",)
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+
        configs: Final[tuple[IncrementalAlterConfigsRequest.AlterableConfig, ...]]  # 0+

        def __init__(
            self,
            *,
            resource_type: int = 0,
            resource_name: str = "",
            configs: Sequence[IncrementalAlterConfigsRequest.AlterableConfig] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_type: int = ...,
            resource_name: str = ...,
            configs: Sequence[IncrementalAlterConfigsRequest.AlterableConfig] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class IncrementalAlterConfigsResponse(Response):
    """Response 44, versions 0-1, flexible 1."""

    __match_args__ = ("throttle_time_ms", "responses",)
    throttle_time_ms: Final[int]  # 0+
    responses: Final[tuple[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: Sequence[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        responses: Sequence[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AlterConfigsResourceResponse(Struct):
        __match_args__ = ("error_code", "error_message", "resource_type", "resource_name",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        resource_type: Final[int]  # 0+
        resource_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = "",
            resource_type: int = 0,
            resource_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            resource_type: int = ...,
            resource_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class InitProducerIdRequest(Request):
    """Request 22, versions 0-6, flexible 2-6."""

    __match_args__ = ("transactional_id", "transaction_timeout_ms", "producer_id", "producer_epoch", "enable2_pc", "keep_prepared_txn",)
    transactional_id: Final[str | None]  # 0+, null 0+
    transaction_timeout_ms: Final[int]  # 0+
    producer_id: Final[int]  # 3+
    producer_epoch: Final[int]  # 3+
    enable2_pc: Final[bool]  # 6+
    keep_prepared_txn: Final[bool]  # 6+

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str | None = ...,
        transaction_timeout_ms: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        enable2_pc: bool = ...,
        keep_prepared_txn: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class InitProducerIdResponse(Response):
    """Response 22, versions 0-6, flexible 2-6."""

    __match_args__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    producer_id: Final[int]  # 0+
    producer_epoch: Final[int]  # 0+
    ongoing_txn_producer_id: Final[int]  # 6+
    ongoing_txn_producer_epoch: Final[int]  # 6+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        ongoing_txn_producer_id: int = ...,
        ongoing_txn_producer_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class InitializeShareGroupStateRequest(Request):
    """Request 83, versions 0, flexible 0."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[InitializeShareGroupStateRequest.InitializeStateData, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[InitializeShareGroupStateRequest.InitializeStateData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[InitializeShareGroupStateRequest.InitializeStateData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition", "state_epoch", "start_offset",)
        partition: Final[int]  # 0+
        state_epoch: Final[int]  # 0+
        start_offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            state_epoch: int = 0,
            start_offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            state_epoch: int = ...,
            start_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class InitializeStateData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[InitializeShareGroupStateRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[InitializeShareGroupStateRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[InitializeShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class InitializeShareGroupStateResponse(Response):
    """Response 83, versions 0, flexible 0."""

    __match_args__ = ("results",)
    results: Final[tuple[InitializeShareGroupStateResponse.InitializeStateResult, ...]]  # 0+

    def __init__(
        self,
        *,
        results: Sequence[InitializeShareGroupStateResponse.InitializeStateResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        results: Sequence[InitializeShareGroupStateResponse.InitializeStateResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition", "error_code", "error_message",)
        partition: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class InitializeStateResult(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[InitializeShareGroupStateResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[InitializeShareGroupStateResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[InitializeShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class JoinGroupRequest(Request):
    """Request 11, versions 0-9, flexible 6-9."""

    __match_args__ = ("group_id", "session_timeout_ms", "rebalance_timeout_ms", "member_id", "group_instance_id", "protocol_type", "protocols", "reason",)
    group_id: Final[str]  # 0+
    session_timeout_ms: Final[int]  # 0+
    rebalance_timeout_ms: Final[int]  # 1+
    member_id: Final[str]  # 0+
    group_instance_id: Final[str | None]  # 5+, null 5+
    protocol_type: Final[str]  # 0+
    protocols: Final[tuple[JoinGroupRequest.JoinGroupRequestProtocol, ...]]  # 0+
    reason: Final[str | None]  # 8+, null 8+

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: Sequence[JoinGroupRequest.JoinGroupRequestProtocol] = (),
        reason: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        session_timeout_ms: int = ...,
        rebalance_timeout_ms: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str = ...,
        protocols: Sequence[JoinGroupRequest.JoinGroupRequestProtocol] = ...,
        reason: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class JoinGroupRequestProtocol(Struct):
        __match_args__ = ("name", "metadata",)
        name: Final[str]  # 0+
        metadata: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            metadata: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            metadata: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class JoinGroupResponse(Response):
    """Response 11, versions 0-9, flexible 6-9."""

    __match_args__ = ("throttle_time_ms", "error_code", "generation_id", "protocol_type", "protocol_name", "leader", "skip_assignment", "member_id", "members",)
    throttle_time_ms: Final[int]  # 2+
    error_code: Final[int]  # 0+
    generation_id: Final[int]  # 0+
    protocol_type: Final[str | None]  # 7+, null 7+
    protocol_name: Final[str | None]  # 0+, null 7+
    leader: Final[str]  # 0+
    skip_assignment: Final[bool]  # 9+
    member_id: Final[str]  # 0+
    members: Final[tuple[JoinGroupResponse.JoinGroupResponseMember, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: Sequence[JoinGroupResponse.JoinGroupResponseMember] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        generation_id: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        leader: str = ...,
        skip_assignment: bool = ...,
        member_id: str = ...,
        members: Sequence[JoinGroupResponse.JoinGroupResponseMember] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class JoinGroupResponseMember(Struct):
        __match_args__ = ("member_id", "group_instance_id", "metadata",)
        member_id: Final[str]  # 0+
        group_instance_id: Final[str | None]  # 5+, null 5+
        metadata: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            metadata: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            metadata: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class KRaftVersionRecord(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("version", "k_raft_version",)
    version: Final[int]  # 0+
    k_raft_version: Final[int]  # 0+

    def __init__(
        self,
        *,
        version: int = 0,
        k_raft_version: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        k_raft_version: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class LeaderAndIsrRequest(Request):
    """Request 4, versions 0-7, flexible 4-7."""

    __match_args__ = ("controller_id", "is_k_raft_controller", "controller_epoch", "broker_epoch", "type", "ungrouped_partition_states", "topic_states", "live_leaders",)
    controller_id: Final[int]  # 0+
    is_k_raft_controller: Final[bool]  # 7+
    controller_epoch: Final[int]  # 0+
    broker_epoch: Final[int]  # 2+
    type: Final[int]  # 5+
    ungrouped_partition_states: Final[tuple[LeaderAndIsrRequest.LeaderAndIsrPartitionState, ...]]  # 0-1
    topic_states: Final[tuple[LeaderAndIsrRequest.LeaderAndIsrTopicState, ...]]  # 2+
    live_leaders: Final[tuple[LeaderAndIsrRequest.LeaderAndIsrLiveLeader, ...]]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        type: int = 0,
        ungrouped_partition_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = (),
        topic_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrTopicState] = (),
        live_leaders: Sequence[LeaderAndIsrRequest.LeaderAndIsrLiveLeader] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        is_k_raft_controller: bool = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        type: int = ...,
        ungrouped_partition_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
        topic_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrTopicState] = ...,
        live_leaders: Sequence[LeaderAndIsrRequest.LeaderAndIsrLiveLeader] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class LeaderAndIsrPartitionState(Struct):
        __match_args__ = ("topic_name", "partition_index", "controller_epoch", "leader", "leader_epoch", "isr", "partition_epoch", "replicas", "adding_replicas", "removing_replicas", "is_new", "leader_recovery_state",)
        topic_name: Final[str]  # 0-1
        partition_index: Final[int]  # 0+
        controller_epoch: Final[int]  # 0+
        leader: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        isr: Final[tuple[int, ...]]  # 0+
        partition_epoch: Final[int]  # 0+
        replicas: Final[tuple[int, ...]]  # 0+
        adding_replicas: Final[tuple[int, ...]]  # 3+
        removing_replicas: Final[tuple[int, ...]]  # 3+
        is_new: Final[bool]  # 1+
        leader_recovery_state: Final[int]  # 6+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            controller_epoch: int = 0,
            leader: int = 0,
            leader_epoch: int = 0,
            isr: Sequence[int] = (),
            partition_epoch: int = 0,
            replicas: Sequence[int] = (),
            adding_replicas: Sequence[int] = (),
            removing_replicas: Sequence[int] = (),
            is_new: bool = False,
            leader_recovery_state: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            controller_epoch: int = ...,
            leader: int = ...,
            leader_epoch: int = ...,
            isr: Sequence[int] = ...,
            partition_epoch: int = ...,
            replicas: Sequence[int] = ...,
            adding_replicas: Sequence[int] = ...,
            removing_replicas: Sequence[int] = ...,
            is_new: bool = ...,
            leader_recovery_state: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderAndIsrTopicState(Struct):
        __match_args__ = ("topic_name", "topic_id", "partition_states",)
        topic_name: Final[str]  # 2+
        topic_id: Final[UUID]  # 5+
        partition_states: Final[tuple[LeaderAndIsrRequest.LeaderAndIsrPartitionState, ...]]  # 2+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partition_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partition_states: Sequence[LeaderAndIsrRequest.LeaderAndIsrPartitionState] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderAndIsrLiveLeader(Struct):
        __match_args__ = ("broker_id", "host_name", "port",)
        broker_id: Final[int]  # 0+
        host_name: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            broker_id: int = 0,
            host_name: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            broker_id: int = ...,
            host_name: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class LeaderAndIsrResponse(Response):
    """Response 4, versions 0-7, flexible 4-7."""

    __match_args__ = ("error_code", "partition_errors", "topics",)
    error_code: Final[int]  # 0+
    partition_errors: Final[tuple[LeaderAndIsrResponse.LeaderAndIsrPartitionError, ...]]  # 0-4
    topics: Final[tuple[LeaderAndIsrResponse.LeaderAndIsrTopicError, ...]]  # 5+

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_errors: Sequence[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = (),
        topics: Sequence[LeaderAndIsrResponse.LeaderAndIsrTopicError] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        partition_errors: Sequence[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
        topics: Sequence[LeaderAndIsrResponse.LeaderAndIsrTopicError] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class LeaderAndIsrPartitionError(Struct):
        __match_args__ = ("topic_name", "partition_index", "error_code",)
        topic_name: Final[str]  # 0-4
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderAndIsrTopicError(Struct):
        __match_args__ = ("topic_id", "partition_errors",)
        topic_id: Final[UUID]  # 5+
        partition_errors: Final[tuple[LeaderAndIsrResponse.LeaderAndIsrPartitionError, ...]]  # 5+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partition_errors: Sequence[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partition_errors: Sequence[LeaderAndIsrResponse.LeaderAndIsrPartitionError] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class LeaderChangeMessage(Message):
    """Data, versions 0-1, flexible 0-1."""

    __match_args__ = ("version", "leader_id", "voters", "granting_voters",)
    version: Final[int]  # 0+
    leader_id: Final[int]  # 0+
    voters: Final[tuple[LeaderChangeMessage.Voter, ...]]  # 0+
    granting_voters: Final[tuple[LeaderChangeMessage.Voter, ...]]  # 0+

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: Sequence[LeaderChangeMessage.Voter] = (),
        granting_voters: Sequence[LeaderChangeMessage.Voter] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        leader_id: int = ...,
        voters: Sequence[LeaderChangeMessage.Voter] = ...,
        granting_voters: Sequence[LeaderChangeMessage.Voter] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Voter(Struct):
        __match_args__ = ("voter_id", "voter_directory_id",)
        voter_id: Final[int]  # 0+
        voter_directory_id: Final[UUID]  # 1+

        def __init__(
            self,
            *,
            voter_id: int = 0,
            voter_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            voter_id: int = ...,
            voter_directory_id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class LeaveGroupRequest(Request):
    """Request 13, versions 0-5, flexible 4-5."""

    __match_args__ = ("group_id", "member_id", "members",)
    group_id: Final[str]  # 0+
    member_id: Final[str]  # 0-2
    members: Final[tuple[LeaveGroupRequest.MemberIdentity, ...]]  # 3+

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        members: Sequence[LeaveGroupRequest.MemberIdentity] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        members: Sequence[LeaveGroupRequest.MemberIdentity] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class MemberIdentity(Struct):
        __match_args__ = ("member_id", "group_instance_id", "reason",)
        member_id: Final[str]  # 3+
        group_instance_id: Final[str | None]  # 3+, null 3+
        reason: Final[str | None]  # 5+, null 5+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            reason: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            reason: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class LeaveGroupResponse(Response):
    """Response 13, versions 0-5, flexible 4-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "members",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 0+
    members: Final[tuple[LeaveGroupResponse.MemberResponse, ...]]  # 3+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Sequence[LeaveGroupResponse.MemberResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        members: Sequence[LeaveGroupResponse.MemberResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class MemberResponse(Struct):
        __match_args__ = ("member_id", "group_instance_id", "error_code",)
        member_id: Final[str]  # 3+
        group_instance_id: Final[str | None]  # 3+, null 3+
        error_code: Final[int]  # 3+

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            group_instance_id: str | None = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class LegacyOffsetCommitKey(Message):
    """Coordinator-key 0, versions 0, flexible none."""

    __match_args__ = ("group", "topic", "partition",)
    group: Final[str]  # 0
    topic: Final[str]  # 0
    partition: Final[int]  # 0

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group: str = ...,
        topic: str = ...,
        partition: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class LegacyOffsetCommitValue(Message):
    """Coordinator-value 0, versions 0, flexible none."""

    __match_args__ = ("offset", "metadata", "commit_timestamp",)
    offset: Final[int]  # 0
    metadata: Final[str]  # 0
    commit_timestamp: Final[int]  # 0

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        offset: int = ...,
        metadata: str = ...,
        commit_timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ListConfigResourcesRequest(Request):
    """Request 74, versions 0-1, flexible 0-1."""

    __match_args__ = ("resource_types",)
    resource_types: Final[tuple[int, ...]]  # 1+

    def __init__(
        self,
        *,
        resource_types: Sequence[int] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        resource_types: Sequence[int] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ListConfigResourcesResponse(Response):
    """Response 74, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "config_resources",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    config_resources: Final[tuple[ListConfigResourcesResponse.ConfigResource, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: Sequence[ListConfigResourcesResponse.ConfigResource] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        config_resources: Sequence[ListConfigResourcesResponse.ConfigResource] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ConfigResource(Struct):
        __match_args__ = ("resource_name", "resource_type",)
        resource_name: Final[str]  # 0+
        resource_type: Final[int]  # 1+

        def __init__(
            self,
            *,
            resource_name: str = "",
            resource_type: int = 16,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            resource_name: str = ...,
            resource_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListGroupsRequest(Request):
    """Request 16, versions 0-5, flexible 3-5."""

    __match_args__ = ("states_filter", "types_filter",)
    states_filter: Final[tuple[str, ...]]  # 4+
    types_filter: Final[tuple[str, ...]]  # 5+

    def __init__(
        self,
        *,
        states_filter: Sequence[str] = (),
        types_filter: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        states_filter: Sequence[str] = ...,
        types_filter: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ListGroupsResponse(Response):
    """Response 16, versions 0-5, flexible 3-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "groups",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 0+
    groups: Final[tuple[ListGroupsResponse.ListedGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Sequence[ListGroupsResponse.ListedGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        groups: Sequence[ListGroupsResponse.ListedGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ListedGroup(Struct):
        __match_args__ = ("group_id", "protocol_type", "group_state", "group_type",)
        group_id: Final[str]  # 0+
        protocol_type: Final[str]  # 0+
        group_state: Final[str]  # 4+
        group_type: Final[str]  # 5+

        def __init__(
            self,
            *,
            group_id: str = "",
            protocol_type: str = "",
            group_state: str = "",
            group_type: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            protocol_type: str = ...,
            group_state: str = ...,
            group_type: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListOffsetsRequest(Request):
    """Request 2, versions 0-11, flexible 6-11."""

    __match_args__ = ("replica_id", "isolation_level", "topics", "timeout_ms",)
    replica_id: Final[int]  # 0+
    isolation_level: Final[int]  # 2+
    topics: Final[tuple[ListOffsetsRequest.ListOffsetsTopic, ...]]  # 0+
    timeout_ms: Final[int]  # 10+

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Sequence[ListOffsetsRequest.ListOffsetsTopic] = (),
        timeout_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        replica_id: int = ...,
        isolation_level: int = ...,
        topics: Sequence[ListOffsetsRequest.ListOffsetsTopic] = ...,
        timeout_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ListOffsetsPartition(Struct):
        __match_args__ = ("partition_index", "current_leader_epoch", "timestamp", "max_num_offsets",)
        partition_index: Final[int]  # 0+
        current_leader_epoch: Final[int]  # 4+
        timestamp: Final[int]  # 0+
        max_num_offsets: Final[int]  # 0

        def __init__(
            self,
            *,
            partition_index: int = 0,
            current_leader_epoch: int = -1,
            timestamp: int = 0,
            max_num_offsets: int = 1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            current_leader_epoch: int = ...,
            timestamp: int = ...,
            max_num_offsets: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ListOffsetsTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[ListOffsetsRequest.ListOffsetsPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[ListOffsetsRequest.ListOffsetsPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[ListOffsetsRequest.ListOffsetsPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListOffsetsResponse(Response):
    """Response 2, versions 0-11, flexible 6-11."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 2+
    topics: Final[tuple[ListOffsetsResponse.ListOffsetsTopicResponse, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[ListOffsetsResponse.ListOffsetsTopicResponse] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[ListOffsetsResponse.ListOffsetsTopicResponse] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ListOffsetsPartitionResponse(Struct):
        __match_args__ = ("partition_index", "error_code", "old_style_offsets", "timestamp", "offset", "leader_epoch",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        old_style_offsets: Final[tuple[int, ...]]  # 0
        timestamp: Final[int]  # 1+
        offset: Final[int]  # 1+
        leader_epoch: Final[int]  # 4+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            old_style_offsets: Sequence[int] = (),
            timestamp: int = -1,
            offset: int = -1,
            leader_epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            old_style_offsets: Sequence[int] = ...,
            timestamp: int = ...,
            offset: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ListOffsetsTopicResponse(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[ListOffsetsResponse.ListOffsetsPartitionResponse, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[ListOffsetsResponse.ListOffsetsPartitionResponse] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[ListOffsetsResponse.ListOffsetsPartitionResponse] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListPartitionReassignmentsRequest(Request):
    """Request 46, versions 0, flexible 0."""

    __match_args__ = ("timeout_ms", "topics",)
    timeout_ms: Final[int]  # 0+
    topics: Final[tuple[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        topics: Sequence[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        timeout_ms: int = ...,
        topics: Sequence[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ListPartitionReassignmentsTopics(Struct):
        __match_args__ = ("name", "partition_indexes",)
        name: Final[str]  # 0+
        partition_indexes: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListPartitionReassignmentsResponse(Response):
    """Response 46, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "topics",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    topics: Final[tuple[ListPartitionReassignmentsResponse.OngoingTopicReassignment, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        topics: Sequence[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OngoingPartitionReassignment(Struct):
        __match_args__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas",)
        partition_index: Final[int]  # 0+
        replicas: Final[tuple[int, ...]]  # 0+
        adding_replicas: Final[tuple[int, ...]]  # 0+
        removing_replicas: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replicas: Sequence[int] = (),
            adding_replicas: Sequence[int] = (),
            removing_replicas: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            replicas: Sequence[int] = ...,
            adding_replicas: Sequence[int] = ...,
            removing_replicas: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OngoingTopicReassignment(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[ListPartitionReassignmentsResponse.OngoingPartitionReassignment, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[ListPartitionReassignmentsResponse.OngoingPartitionReassignment] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[ListPartitionReassignmentsResponse.OngoingPartitionReassignment] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ListTransactionsRequest(Request):
    """Request 66, versions 0-2, flexible 0-2."""

    __match_args__ = ("state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern",)
    state_filters: Final[tuple[str, ...]]  # 0+
    producer_id_filters: Final[tuple[int, ...]]  # 0+
    duration_filter: Final[int]  # 1+
    transactional_id_pattern: Final[str | None]  # 2+, null 2+

    def __init__(
        self,
        *,
        state_filters: Sequence[str] = (),
        producer_id_filters: Sequence[int] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        state_filters: Sequence[str] = ...,
        producer_id_filters: Sequence[int] = ...,
        duration_filter: int = ...,
        transactional_id_pattern: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ListTransactionsResponse(Response):
    """Response 66, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    unknown_state_filters: Final[tuple[str, ...]]  # 0+
    transaction_states: Final[tuple[ListTransactionsResponse.TransactionState, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: Sequence[str] = (),
        transaction_states: Sequence[ListTransactionsResponse.TransactionState] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_state_filters: Sequence[str] = ...,
        transaction_states: Sequence[ListTransactionsResponse.TransactionState] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TransactionState(Struct):
        __match_args__ = ("transactional_id", "producer_id", "transaction_state",)
        transactional_id: Final[str]  # 0+
        producer_id: Final[int]  # 0+
        transaction_state: Final[str]  # 0+

        def __init__(
            self,
            *,
            transactional_id: str = "",
            producer_id: int = 0,
            transaction_state: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            transactional_id: str = ...,
            producer_id: int = ...,
            transaction_state: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class MetadataRequest(Request):
    """Request 3, versions 0-13, flexible 9-13."""

    __match_args__ = ("topics", "allow_auto_topic_creation", "include_cluster_authorized_operations", "include_topic_authorized_operations",)
    topics: Final[tuple[MetadataRequest.MetadataRequestTopic, ...] | None]  # 0+, null 1+
    allow_auto_topic_creation: Final[bool]  # 4+
    include_cluster_authorized_operations: Final[bool]  # 8-10
    include_topic_authorized_operations: Final[bool]  # 8+

    def __init__(
        self,
        *,
        topics: Sequence[MetadataRequest.MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[MetadataRequest.MetadataRequestTopic] | None = ...,
        allow_auto_topic_creation: bool = ...,
        include_cluster_authorized_operations: bool = ...,
        include_topic_authorized_operations: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class MetadataRequestTopic(Struct):
        __match_args__ = ("topic_id", "name",)
        topic_id: Final[UUID]  # 10+
        name: Final[str | None]  # 0+, null 10+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class MetadataResponse(Response):
    """Response 3, versions 0-13, flexible 9-13."""

    __match_args__ = ("throttle_time_ms", "brokers", "cluster_id", "controller_id", "topics", "cluster_authorized_operations", "error_code",)
    throttle_time_ms: Final[int]  # 3+
    brokers: Final[tuple[MetadataResponse.MetadataResponseBroker, ...]]  # 0+
    cluster_id: Final[str | None]  # 2+, null 2+
    controller_id: Final[int]  # 1+
    topics: Final[tuple[MetadataResponse.MetadataResponseTopic, ...]]  # 0+
    cluster_authorized_operations: Final[int]  # 8-10
    error_code: Final[int]  # 13+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: Sequence[MetadataResponse.MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Sequence[MetadataResponse.MetadataResponseTopic] = (),
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        brokers: Sequence[MetadataResponse.MetadataResponseBroker] = ...,
        cluster_id: str | None = ...,
        controller_id: int = ...,
        topics: Sequence[MetadataResponse.MetadataResponseTopic] = ...,
        cluster_authorized_operations: int = ...,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class MetadataResponseBroker(Struct):
        __match_args__ = ("node_id", "host", "port", "rack",)
        node_id: Final[int]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        rack: Final[str | None]  # 1+, null 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class MetadataResponsePartition(Struct):
        __match_args__ = ("error_code", "partition_index", "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas",)
        error_code: Final[int]  # 0+
        partition_index: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 7+
        replica_nodes: Final[tuple[int, ...]]  # 0+
        isr_nodes: Final[tuple[int, ...]]  # 0+
        offline_replicas: Final[tuple[int, ...]]  # 5+

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition_index: int = 0,
            leader_id: int = 0,
            leader_epoch: int = -1,
            replica_nodes: Sequence[int] = (),
            isr_nodes: Sequence[int] = (),
            offline_replicas: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            partition_index: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            replica_nodes: Sequence[int] = ...,
            isr_nodes: Sequence[int] = ...,
            offline_replicas: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class MetadataResponseTopic(Struct):
        __match_args__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations",)
        error_code: Final[int]  # 0+
        name: Final[str | None]  # 0+, null 12+
        topic_id: Final[UUID]  # 10+
        is_internal: Final[bool]  # 1+
        partitions: Final[tuple[MetadataResponse.MetadataResponsePartition, ...]]  # 0+
        topic_authorized_operations: Final[int]  # 8+

        def __init__(
            self,
            *,
            error_code: int = 0,
            name: str | None = "",
            topic_id: UUID = ...,
            is_internal: bool = False,
            partitions: Sequence[MetadataResponse.MetadataResponsePartition] = (),
            topic_authorized_operations: int = -2147483648,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            name: str | None = ...,
            topic_id: UUID = ...,
            is_internal: bool = ...,
            partitions: Sequence[MetadataResponse.MetadataResponsePartition] = ...,
            topic_authorized_operations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class NoOpRecord(Message):
    """Metadata 20, versions 0, flexible 0."""

    __match_args__ = ()

    def __init__(
        self,
        *,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class OffsetCommitKey(Message):
    """Coordinator-key 1, versions 0, flexible none."""

    __match_args__ = ("group", "topic", "partition",)
    group: Final[str]  # 0
    topic: Final[str]  # 0
    partition: Final[int]  # 0

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group: str = ...,
        topic: str = ...,
        partition: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class OffsetCommitRequest(Request):
    """Request 8, versions 0-10, flexible 8-10."""

    __match_args__ = ("group_id", "generation_id_or_member_epoch", "member_id", "group_instance_id", "retention_time_ms", "topics",)
    group_id: Final[str]  # 0+
    generation_id_or_member_epoch: Final[int]  # 1+
    member_id: Final[str]  # 1+
    group_instance_id: Final[str | None]  # 7+, null 7+
    retention_time_ms: Final[int]  # 2-4
    topics: Final[tuple[OffsetCommitRequest.OffsetCommitRequestTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Sequence[OffsetCommitRequest.OffsetCommitRequestTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        generation_id_or_member_epoch: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        retention_time_ms: int = ...,
        topics: Sequence[OffsetCommitRequest.OffsetCommitRequestTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetCommitRequestPartition(Struct):
        __match_args__ = ("partition_index", "committed_offset", "committed_leader_epoch", "commit_timestamp", "committed_metadata",)
        partition_index: Final[int]  # 0+
        committed_offset: Final[int]  # 0+
        committed_leader_epoch: Final[int]  # 6+
        commit_timestamp: Final[int]  # 1
        committed_metadata: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            commit_timestamp: int = -1,
            committed_metadata: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            commit_timestamp: int = ...,
            committed_metadata: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetCommitRequestTopic(Struct):
        __match_args__ = ("name", "topic_id", "partitions",)
        name: Final[str]  # 0-9
        topic_id: Final[UUID]  # 10+
        partitions: Final[tuple[OffsetCommitRequest.OffsetCommitRequestPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[OffsetCommitRequest.OffsetCommitRequestPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[OffsetCommitRequest.OffsetCommitRequestPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetCommitResponse(Response):
    """Response 8, versions 0-10, flexible 8-10."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 3+
    topics: Final[tuple[OffsetCommitResponse.OffsetCommitResponseTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetCommitResponse.OffsetCommitResponseTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[OffsetCommitResponse.OffsetCommitResponseTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetCommitResponsePartition(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetCommitResponseTopic(Struct):
        __match_args__ = ("name", "topic_id", "partitions",)
        name: Final[str]  # 0-9
        topic_id: Final[UUID]  # 10+
        partitions: Final[tuple[OffsetCommitResponse.OffsetCommitResponsePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[OffsetCommitResponse.OffsetCommitResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[OffsetCommitResponse.OffsetCommitResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetCommitValue(Message):
    """Coordinator-value 1, versions 0-4, flexible 4."""

    __match_args__ = ("offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id",)
    offset: Final[int]  # 0+
    leader_epoch: Final[int]  # 3+
    metadata: Final[str]  # 0+
    commit_timestamp: Final[int]  # 0+
    expire_timestamp: Final[int]  # 1
    topic_id: Final[UUID]  # 4+, tag 0 4+

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        offset: int = ...,
        leader_epoch: int = ...,
        metadata: str = ...,
        commit_timestamp: int = ...,
        expire_timestamp: int = ...,
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class OffsetDeleteRequest(Request):
    """Request 47, versions 0, flexible none."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[OffsetDeleteRequest.OffsetDeleteRequestTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[OffsetDeleteRequest.OffsetDeleteRequestTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[OffsetDeleteRequest.OffsetDeleteRequestTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetDeleteRequestPartition(Struct):
        __match_args__ = ("partition_index",)
        partition_index: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetDeleteRequestTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[OffsetDeleteRequest.OffsetDeleteRequestPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[OffsetDeleteRequest.OffsetDeleteRequestPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[OffsetDeleteRequest.OffsetDeleteRequestPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetDeleteResponse(Response):
    """Response 47, versions 0, flexible none."""

    __match_args__ = ("error_code", "throttle_time_ms", "topics",)
    error_code: Final[int]  # 0+
    throttle_time_ms: Final[int]  # 0+
    topics: Final[tuple[OffsetDeleteResponse.OffsetDeleteResponseTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetDeleteResponse.OffsetDeleteResponseTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        throttle_time_ms: int = ...,
        topics: Sequence[OffsetDeleteResponse.OffsetDeleteResponseTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetDeleteResponsePartition(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetDeleteResponseTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[OffsetDeleteResponse.OffsetDeleteResponsePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[OffsetDeleteResponse.OffsetDeleteResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[OffsetDeleteResponse.OffsetDeleteResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetFetchRequest(Request):
    """Request 9, versions 0-10, flexible 6-10."""

    __match_args__ = ("group_id", "topics", "groups", "require_stable",)
    group_id: Final[str]  # 0-7
    topics: Final[tuple[OffsetFetchRequest.OffsetFetchRequestTopic, ...] | None]  # 0-7, null 2-7
    groups: Final[tuple[OffsetFetchRequest.OffsetFetchRequestGroup, ...]]  # 8+
    require_stable: Final[bool]  # 7+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[OffsetFetchRequest.OffsetFetchRequestTopic] | None = (),
        groups: Sequence[OffsetFetchRequest.OffsetFetchRequestGroup] = (),
        require_stable: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[OffsetFetchRequest.OffsetFetchRequestTopic] | None = ...,
        groups: Sequence[OffsetFetchRequest.OffsetFetchRequestGroup] = ...,
        require_stable: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetFetchRequestTopic(Struct):
        __match_args__ = ("name", "partition_indexes",)
        name: Final[str]  # 0-7
        partition_indexes: Final[tuple[int, ...]]  # 0-7

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchRequestTopics(Struct):
        __match_args__ = ("name", "topic_id", "partition_indexes",)
        name: Final[str]  # 8-9
        topic_id: Final[UUID]  # 10+
        partition_indexes: Final[tuple[int, ...]]  # 8+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchRequestGroup(Struct):
        __match_args__ = ("group_id", "member_id", "member_epoch", "topics",)
        group_id: Final[str]  # 8+
        member_id: Final[str | None]  # 9+, null 9+
        member_epoch: Final[int]  # 9+
        topics: Final[tuple[OffsetFetchRequest.OffsetFetchRequestTopics, ...] | None]  # 8+, null 8+

        def __init__(
            self,
            *,
            group_id: str = "",
            member_id: str | None = None,
            member_epoch: int = -1,
            topics: Sequence[OffsetFetchRequest.OffsetFetchRequestTopics] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            member_id: str | None = ...,
            member_epoch: int = ...,
            topics: Sequence[OffsetFetchRequest.OffsetFetchRequestTopics] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetFetchResponse(Response):
    """Response 9, versions 0-10, flexible 6-10."""

    __match_args__ = ("throttle_time_ms", "topics", "error_code", "groups",)
    throttle_time_ms: Final[int]  # 3+
    topics: Final[tuple[OffsetFetchResponse.OffsetFetchResponseTopic, ...]]  # 0-7
    error_code: Final[int]  # 2-7
    groups: Final[tuple[OffsetFetchResponse.OffsetFetchResponseGroup, ...]]  # 8+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetFetchResponse.OffsetFetchResponseTopic] = (),
        error_code: int = 0,
        groups: Sequence[OffsetFetchResponse.OffsetFetchResponseGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[OffsetFetchResponse.OffsetFetchResponseTopic] = ...,
        error_code: int = ...,
        groups: Sequence[OffsetFetchResponse.OffsetFetchResponseGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetFetchResponsePartition(Struct):
        __match_args__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",)
        partition_index: Final[int]  # 0-7
        committed_offset: Final[int]  # 0-7
        committed_leader_epoch: Final[int]  # 5-7
        metadata: Final[str | None]  # 0-7, null 0-7
        error_code: Final[int]  # 0-7

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            metadata: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            metadata: str | None = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchResponseTopic(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0-7
        partitions: Final[tuple[OffsetFetchResponse.OffsetFetchResponsePartition, ...]]  # 0-7

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[OffsetFetchResponse.OffsetFetchResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[OffsetFetchResponse.OffsetFetchResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchResponsePartitions(Struct):
        __match_args__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code",)
        partition_index: Final[int]  # 8+
        committed_offset: Final[int]  # 8+
        committed_leader_epoch: Final[int]  # 8+
        metadata: Final[str | None]  # 8+, null 8+
        error_code: Final[int]  # 8+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            metadata: str | None = "",
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            metadata: str | None = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchResponseTopics(Struct):
        __match_args__ = ("name", "topic_id", "partitions",)
        name: Final[str]  # 8-9
        topic_id: Final[UUID]  # 10+
        partitions: Final[tuple[OffsetFetchResponse.OffsetFetchResponsePartitions, ...]]  # 8+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[OffsetFetchResponse.OffsetFetchResponsePartitions] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[OffsetFetchResponse.OffsetFetchResponsePartitions] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetFetchResponseGroup(Struct):
        __match_args__ = ("group_id", "topics", "error_code",)
        group_id: Final[str]  # 8+
        topics: Final[tuple[OffsetFetchResponse.OffsetFetchResponseTopics, ...]]  # 8+
        error_code: Final[int]  # 8+

        def __init__(
            self,
            *,
            group_id: str = "",
            topics: Sequence[OffsetFetchResponse.OffsetFetchResponseTopics] = (),
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            group_id: str = ...,
            topics: Sequence[OffsetFetchResponse.OffsetFetchResponseTopics] = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetForLeaderEpochRequest(Request):
    """Request 23, versions 0-4, flexible 4."""

    __match_args__ = ("replica_id", "topics",)
    replica_id: Final[int]  # 3+
    topics: Final[tuple[OffsetForLeaderEpochRequest.OffsetForLeaderTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        replica_id: int = -2,
        topics: Sequence[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        replica_id: int = ...,
        topics: Sequence[OffsetForLeaderEpochRequest.OffsetForLeaderTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class OffsetForLeaderPartition(Struct):
        __match_args__ = ("partition", "current_leader_epoch", "leader_epoch",)
        partition: Final[int]  # 0+
        current_leader_epoch: Final[int]  # 2+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            current_leader_epoch: int = -1,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            current_leader_epoch: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetForLeaderTopic(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[OffsetForLeaderEpochRequest.OffsetForLeaderPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[OffsetForLeaderEpochRequest.OffsetForLeaderPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[OffsetForLeaderEpochRequest.OffsetForLeaderPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class OffsetForLeaderEpochResponse(Response):
    """Response 23, versions 0-4, flexible 4."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 2+
    topics: Final[tuple[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EpochEndOffset(Struct):
        __match_args__ = ("error_code", "partition", "leader_epoch", "end_offset",)
        error_code: Final[int]  # 0+
        partition: Final[int]  # 0+
        leader_epoch: Final[int]  # 1+
        end_offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            partition: int = 0,
            leader_epoch: int = -1,
            end_offset: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            partition: int = ...,
            leader_epoch: int = ...,
            end_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class OffsetForLeaderTopicResult(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[OffsetForLeaderEpochResponse.EpochEndOffset, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[OffsetForLeaderEpochResponse.EpochEndOffset] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[OffsetForLeaderEpochResponse.EpochEndOffset] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class PartitionChangeRecord(Message):
    """Metadata 5, versions 0-2, flexible 0-2."""

    __match_args__ = ("partition_id", "topic_id", "isr", "leader", "replicas", "removing_replicas", "adding_replicas", "leader_recovery_state", "directories", "eligible_leader_replicas", "last_known_elr",)
    partition_id: Final[int]  # 0+
    topic_id: Final[UUID]  # 0+
    isr: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 0 0+
    leader: Final[int]  # 0+, tag 1 0+
    replicas: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 2 0+
    removing_replicas: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 3 0+
    adding_replicas: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 4 0+
    leader_recovery_state: Final[int]  # 0+, tag 5 0+
    directories: Final[tuple[UUID, ...] | None]  # 1+, null 1+, tag 8 1+
    eligible_leader_replicas: Final[tuple[int, ...] | None]  # 2+, null 2+, tag 6 2+
    last_known_elr: Final[tuple[int, ...] | None]  # 2+, null 2+, tag 7 2+

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: UUID = ...,
        isr: Sequence[int] | None = None,
        leader: int = -2,
        replicas: Sequence[int] | None = None,
        removing_replicas: Sequence[int] | None = None,
        adding_replicas: Sequence[int] | None = None,
        leader_recovery_state: int = -1,
        directories: Sequence[UUID] | None = None,
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        partition_id: int = ...,
        topic_id: UUID = ...,
        isr: Sequence[int] | None = ...,
        leader: int = ...,
        replicas: Sequence[int] | None = ...,
        removing_replicas: Sequence[int] | None = ...,
        adding_replicas: Sequence[int] | None = ...,
        leader_recovery_state: int = ...,
        directories: Sequence[UUID] | None = ...,
        eligible_leader_replicas: Sequence[int] | None = ...,
        last_known_elr: Sequence[int] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class PartitionRecord(Message):
    """Metadata 3, versions 0-2, flexible 0-2."""

    __match_args__ = ("partition_id", "topic_id", "replicas", "isr", "removing_replicas", "adding_replicas", "leader", "leader_recovery_state", "leader_epoch", "partition_epoch", "directories", "eligible_leader_replicas", "last_known_elr",)
    partition_id: Final[int]  # 0+
    topic_id: Final[UUID]  # 0+
    replicas: Final[tuple[int, ...]]  # 0+
    isr: Final[tuple[int, ...]]  # 0+
    removing_replicas: Final[tuple[int, ...]]  # 0+
    adding_replicas: Final[tuple[int, ...]]  # 0+
    leader: Final[int]  # 0+
    leader_recovery_state: Final[int]  # 0+, tag 0 0+
    leader_epoch: Final[int]  # 0+
    partition_epoch: Final[int]  # 0+
    directories: Final[tuple[UUID, ...]]  # 1+
    eligible_leader_replicas: Final[tuple[int, ...] | None]  # 2+, null 2+, tag 1 2+
    last_known_elr: Final[tuple[int, ...] | None]  # 2+, null 2+, tag 2 2+

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: UUID = ...,
        replicas: Sequence[int] = (),
        isr: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
        adding_replicas: Sequence[int] = (),
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: Sequence[UUID] = (),
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        partition_id: int = ...,
        topic_id: UUID = ...,
        replicas: Sequence[int] = ...,
        isr: Sequence[int] = ...,
        removing_replicas: Sequence[int] = ...,
        adding_replicas: Sequence[int] = ...,
        leader: int = ...,
        leader_recovery_state: int = ...,
        leader_epoch: int = ...,
        partition_epoch: int = ...,
        directories: Sequence[UUID] = ...,
        eligible_leader_replicas: Sequence[int] | None = ...,
        last_known_elr: Sequence[int] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ProduceRequest(Request):
    """Request 0, versions 0-13, flexible 9-13."""

    __match_args__ = ("transactional_id", "acks", "timeout_ms", "topic_data",)
    transactional_id: Final[str | None]  # 3+, null 3+
    acks: Final[int]  # 0+
    timeout_ms: Final[int]  # 0+
    topic_data: Final[tuple[ProduceRequest.TopicProduceData, ...]]  # 0+

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Sequence[ProduceRequest.TopicProduceData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str | None = ...,
        acks: int = ...,
        timeout_ms: int = ...,
        topic_data: Sequence[ProduceRequest.TopicProduceData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionProduceData(Struct):
        __match_args__ = ("index", "records",)
        index: Final[int]  # 0+
        records: Final[bytes | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            index: int = 0,
            records: Buffer | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            index: int = ...,
            records: Buffer | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicProduceData(Struct):
        __match_args__ = ("name", "topic_id", "partition_data",)
        name: Final[str]  # 0-12
        topic_id: Final[UUID]  # 13+
        partition_data: Final[tuple[ProduceRequest.PartitionProduceData, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partition_data: Sequence[ProduceRequest.PartitionProduceData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partition_data: Sequence[ProduceRequest.PartitionProduceData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ProduceResponse(Response):
    """Response 0, versions 0-13, flexible 9-13."""

    __match_args__ = ("responses", "throttle_time_ms", "node_endpoints",)
    responses: Final[tuple[ProduceResponse.TopicProduceResponse, ...]]  # 0+
    throttle_time_ms: Final[int]  # 1+
    node_endpoints: Final[tuple[ProduceResponse.NodeEndpoint, ...]]  # 10+, tag 0 10+

    def __init__(
        self,
        *,
        responses: Sequence[ProduceResponse.TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Sequence[ProduceResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        responses: Sequence[ProduceResponse.TopicProduceResponse] = ...,
        throttle_time_ms: int = ...,
        node_endpoints: Sequence[ProduceResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class BatchIndexAndErrorMessage(Struct):
        __match_args__ = ("batch_index", "batch_index_error_message",)
        batch_index: Final[int]  # 8+
        batch_index_error_message: Final[str | None]  # 8+, null 8+

        def __init__(
            self,
            *,
            batch_index: int = 0,
            batch_index_error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            batch_index: int = ...,
            batch_index_error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class LeaderIdAndEpoch(Struct):
        __match_args__ = ("leader_id", "leader_epoch",)
        leader_id: Final[int]  # 10+
        leader_epoch: Final[int]  # 10+

        def __init__(
            self,
            *,
            leader_id: int = -1,
            leader_epoch: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionProduceResponse(Struct):
        __match_args__ = ("index", "error_code", "base_offset", "log_append_time_ms", "log_start_offset", "record_errors", "error_message", "current_leader",)
        index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        base_offset: Final[int]  # 0+
        log_append_time_ms: Final[int]  # 2+
        log_start_offset: Final[int]  # 5+
        record_errors: Final[tuple[ProduceResponse.BatchIndexAndErrorMessage, ...]]  # 8+
        error_message: Final[str | None]  # 8+, null 8+
        current_leader: Final[ProduceResponse.LeaderIdAndEpoch]  # 10+, tag 0 10+

        def __init__(
            self,
            *,
            index: int = 0,
            error_code: int = 0,
            base_offset: int = 0,
            log_append_time_ms: int = -1,
            log_start_offset: int = -1,
            record_errors: Sequence[ProduceResponse.BatchIndexAndErrorMessage] = (),
            error_message: str | None = None,
            current_leader: ProduceResponse.LeaderIdAndEpoch = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            index: int = ...,
            error_code: int = ...,
            base_offset: int = ...,
            log_append_time_ms: int = ...,
            log_start_offset: int = ...,
            record_errors: Sequence[ProduceResponse.BatchIndexAndErrorMessage] = ...,
            error_message: str | None = ...,
            current_leader: ProduceResponse.LeaderIdAndEpoch = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicProduceResponse(Struct):
        __match_args__ = ("name", "topic_id", "partition_responses",)
        name: Final[str]  # 0-12
        topic_id: Final[UUID]  # 13+
        partition_responses: Final[tuple[ProduceResponse.PartitionProduceResponse, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partition_responses: Sequence[ProduceResponse.PartitionProduceResponse] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partition_responses: Sequence[ProduceResponse.PartitionProduceResponse] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port", "rack",)
        node_id: Final[int]  # 10+
        host: Final[str]  # 10+
        port: Final[int]  # 10+
        rack: Final[str | None]  # 10+, null 10+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ProducerIdsRecord(Message):
    """Metadata 15, versions 0, flexible 0."""

    __match_args__ = ("broker_id", "broker_epoch", "next_producer_id",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+
    next_producer_id: Final[int]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        next_producer_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ProducerSnapshot(Message):
    """Data, versions 1, flexible none."""

    __match_args__ = ("crc", "producer_entries",)
    crc: Final[int]  # 1
    producer_entries: Final[tuple[ProducerSnapshot.ProducerEntry, ...]]  # 1

    def __init__(
        self,
        *,
        crc: int = 0,
        producer_entries: Sequence[ProducerSnapshot.ProducerEntry] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        crc: int = ...,
        producer_entries: Sequence[ProducerSnapshot.ProducerEntry] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ProducerEntry(Struct):
        __match_args__ = ("producer_id", "epoch", "last_sequence", "last_offset", "offset_delta", "timestamp", "coordinator_epoch", "current_txn_first_offset",)
        producer_id: Final[int]  # 1
        epoch: Final[int]  # 1
        last_sequence: Final[int]  # 1
        last_offset: Final[int]  # 1
        offset_delta: Final[int]  # 1
        timestamp: Final[int]  # 1
        coordinator_epoch: Final[int]  # 1
        current_txn_first_offset: Final[int]  # 1

        def __init__(
            self,
            *,
            producer_id: int = 0,
            epoch: int = 0,
            last_sequence: int = 0,
            last_offset: int = 0,
            offset_delta: int = 0,
            timestamp: int = 0,
            coordinator_epoch: int = 0,
            current_txn_first_offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            producer_id: int = ...,
            epoch: int = ...,
            last_sequence: int = ...,
            last_offset: int = ...,
            offset_delta: int = ...,
            timestamp: int = ...,
            coordinator_epoch: int = ...,
            current_txn_first_offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class PushTelemetryRequest(Request):
    """Request 72, versions 0, flexible 0."""

    __match_args__ = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics",)
    client_instance_id: Final[UUID]  # 0+
    subscription_id: Final[int]  # 0+
    terminating: Final[bool]  # 0+
    compression_type: Final[int]  # 0+
    metrics: Final[bytes]  # 0+

    def __init__(
        self,
        *,
        client_instance_id: UUID = ...,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: Buffer = b"",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        client_instance_id: UUID = ...,
        subscription_id: int = ...,
        terminating: bool = ...,
        compression_type: int = ...,
        metrics: Buffer = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class PushTelemetryResponse(Response):
    """Response 72, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class QuorumStateData(Message):
    """Data, versions 0-1, flexible 0-1."""

    __match_args__ = ("cluster_id", "leader_id", "leader_epoch", "voted_id", "voted_directory_id", "applied_offset", "current_voters",)
    cluster_id: Final[str]  # 0
    leader_id: Final[int]  # 0+
    leader_epoch: Final[int]  # 0+
    voted_id: Final[int]  # 0+
    voted_directory_id: Final[UUID]  # 1+
    applied_offset: Final[int]  # 0
    current_voters: Final[tuple[QuorumStateData.Voter, ...] | None]  # 0, null 0

    def __init__(
        self,
        *,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: UUID = ...,
        applied_offset: int = 0,
        current_voters: Sequence[QuorumStateData.Voter] | None = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str = ...,
        leader_id: int = ...,
        leader_epoch: int = ...,
        voted_id: int = ...,
        voted_directory_id: UUID = ...,
        applied_offset: int = ...,
        current_voters: Sequence[QuorumStateData.Voter] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Voter(Struct):
        __match_args__ = ("voter_id",)
        voter_id: Final[int]  # 0

        def __init__(
            self,
            *,
            voter_id: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            voter_id: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class QuotaRecord(Message):
    """Metadata 14, versions 0, flexible none."""

    __match_args__ = ("entity", "key", "value", "remove",)
    entity: Final[tuple[QuotaRecord.EntityData, ...]]  # 0+
    key: Final[str]  # 0+
    value: Final[float]  # 0+
    remove: Final[bool]  # 0+

    def __init__(
        self,
        *,
        entity: Sequence[QuotaRecord.EntityData] = (),
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        entity: Sequence[QuotaRecord.EntityData] = ...,
        key: str = ...,
        value: float = ...,
        remove: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class EntityData(Struct):
        __match_args__ = ("entity_type", "entity_name",)
        entity_type: Final[str]  # 0+
        entity_name: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            entity_type: str = "",
            entity_name: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            entity_type: str = ...,
            entity_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ReadShareGroupStateRequest(Request):
    """Request 84, versions 0, flexible 0."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[ReadShareGroupStateRequest.ReadStateData, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[ReadShareGroupStateRequest.ReadStateData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[ReadShareGroupStateRequest.ReadStateData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition", "leader_epoch",)
        partition: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReadStateData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ReadShareGroupStateRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ReadShareGroupStateResponse(Response):
    """Response 84, versions 0, flexible 0."""

    __match_args__ = ("results",)
    results: Final[tuple[ReadShareGroupStateResponse.ReadStateResult, ...]]  # 0+

    def __init__(
        self,
        *,
        results: Sequence[ReadShareGroupStateResponse.ReadStateResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        results: Sequence[ReadShareGroupStateResponse.ReadStateResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StateBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        delivery_state: Final[int]  # 0+
        delivery_count: Final[int]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            delivery_state: int = ...,
            delivery_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches",)
        partition: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        state_epoch: Final[int]  # 0+
        start_offset: Final[int]  # 0+
        state_batches: Final[tuple[ReadShareGroupStateResponse.StateBatch, ...]]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            state_epoch: int = 0,
            start_offset: int = 0,
            state_batches: Sequence[ReadShareGroupStateResponse.StateBatch] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            state_epoch: int = ...,
            start_offset: int = ...,
            state_batches: Sequence[ReadShareGroupStateResponse.StateBatch] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReadStateResult(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ReadShareGroupStateResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ReadShareGroupStateSummaryRequest(Request):
    """Request 87, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[ReadShareGroupStateSummaryRequest.ReadStateSummaryData, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[ReadShareGroupStateSummaryRequest.ReadStateSummaryData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[ReadShareGroupStateSummaryRequest.ReadStateSummaryData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition", "leader_epoch",)
        partition: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReadStateSummaryData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ReadShareGroupStateSummaryRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateSummaryRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateSummaryRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ReadShareGroupStateSummaryResponse(Response):
    """Response 87, versions 0-1, flexible 0-1."""

    __match_args__ = ("results",)
    results: Final[tuple[ReadShareGroupStateSummaryResponse.ReadStateSummaryResult, ...]]  # 0+

    def __init__(
        self,
        *,
        results: Sequence[ReadShareGroupStateSummaryResponse.ReadStateSummaryResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        results: Sequence[ReadShareGroupStateSummaryResponse.ReadStateSummaryResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition", "error_code", "error_message", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count",)
        partition: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        state_epoch: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        start_offset: Final[int]  # 0+
        delivery_complete_count: Final[int]  # 1+

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            state_epoch: int = 0,
            leader_epoch: int = 0,
            start_offset: int = 0,
            delivery_complete_count: int = -1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            state_epoch: int = ...,
            leader_epoch: int = ...,
            start_offset: int = ...,
            delivery_complete_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ReadStateSummaryResult(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ReadShareGroupStateSummaryResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateSummaryResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ReadShareGroupStateSummaryResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RegisterBrokerRecord(Message):
    """Metadata 0, versions 0-4, flexible 0-4."""

    __match_args__ = ("broker_id", "is_migrating_zk_broker", "incarnation_id", "broker_epoch", "end_points", "features", "rack", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs",)
    broker_id: Final[int]  # 0+
    is_migrating_zk_broker: Final[bool]  # 2+
    incarnation_id: Final[UUID]  # 0+
    broker_epoch: Final[int]  # 0+
    end_points: Final[tuple[RegisterBrokerRecord.BrokerEndpoint, ...]]  # 0+
    features: Final[tuple[RegisterBrokerRecord.BrokerFeature, ...]]  # 0+
    rack: Final[str | None]  # 0+, null 0+
    fenced: Final[bool]  # 0+
    in_controlled_shutdown: Final[bool]  # 1+
    log_dirs: Final[tuple[UUID, ...]]  # 3+, tag 0 3+
    cordoned_log_dirs: Final[tuple[UUID, ...] | None]  # 4+, null 4+, tag 1 4+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: UUID = ...,
        broker_epoch: int = 0,
        end_points: Sequence[RegisterBrokerRecord.BrokerEndpoint] = (),
        features: Sequence[RegisterBrokerRecord.BrokerFeature] = (),
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: Sequence[UUID] = (),
        cordoned_log_dirs: Sequence[UUID] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        is_migrating_zk_broker: bool = ...,
        incarnation_id: UUID = ...,
        broker_epoch: int = ...,
        end_points: Sequence[RegisterBrokerRecord.BrokerEndpoint] = ...,
        features: Sequence[RegisterBrokerRecord.BrokerFeature] = ...,
        rack: str | None = ...,
        fenced: bool = ...,
        in_controlled_shutdown: bool = ...,
        log_dirs: Sequence[UUID] = ...,
        cordoned_log_dirs: Sequence[UUID] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class BrokerEndpoint(Struct):
        __match_args__ = ("name", "host", "port", "security_protocol",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        security_protocol: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class BrokerFeature(Struct):
        __match_args__ = ("name", "min_supported_version", "max_supported_version",)
        name: Final[str]  # 0+
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RegisterControllerRecord(Message):
    """Metadata 27, versions 0, flexible 0."""

    __match_args__ = ("controller_id", "incarnation_id", "zk_migration_ready", "end_points", "features",)
    controller_id: Final[int]  # 0+
    incarnation_id: Final[UUID]  # 0+
    zk_migration_ready: Final[bool]  # 0+
    end_points: Final[tuple[RegisterControllerRecord.ControllerEndpoint, ...]]  # 0+
    features: Final[tuple[RegisterControllerRecord.ControllerFeature, ...]]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: UUID = ...,
        zk_migration_ready: bool = False,
        end_points: Sequence[RegisterControllerRecord.ControllerEndpoint] = (),
        features: Sequence[RegisterControllerRecord.ControllerFeature] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        incarnation_id: UUID = ...,
        zk_migration_ready: bool = ...,
        end_points: Sequence[RegisterControllerRecord.ControllerEndpoint] = ...,
        features: Sequence[RegisterControllerRecord.ControllerFeature] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class ControllerEndpoint(Struct):
        __match_args__ = ("name", "host", "port", "security_protocol",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        security_protocol: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            security_protocol: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            security_protocol: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ControllerFeature(Struct):
        __match_args__ = ("name", "min_supported_version", "max_supported_version",)
        name: Final[str]  # 0+
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RemoteLogSegmentMetadataRecord(Message):
    """Metadata 0, versions 0, flexible 0."""

    __match_args__ = ("remote_log_segment_id", "start_offset", "end_offset", "broker_id", "max_timestamp_ms", "event_timestamp_ms", "segment_leader_epochs", "segment_size_in_bytes", "custom_metadata", "remote_log_segment_state", "txn_index_empty",)
    remote_log_segment_id: Final[RemoteLogSegmentMetadataRecord.RemoteLogSegmentIdEntry]  # 0+
    start_offset: Final[int]  # 0+
    end_offset: Final[int]  # 0+
    broker_id: Final[int]  # 0+
    max_timestamp_ms: Final[int]  # 0+
    event_timestamp_ms: Final[int]  # 0+
    segment_leader_epochs: Final[tuple[RemoteLogSegmentMetadataRecord.SegmentLeaderEpochEntry, ...]]  # 0+
    segment_size_in_bytes: Final[int]  # 0+
    custom_metadata: Final[bytes | None]  # 0+, null 0+
    remote_log_segment_state: Final[int]  # 0+
    txn_index_empty: Final[bool]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataRecord.RemoteLogSegmentIdEntry = ...,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: Sequence[RemoteLogSegmentMetadataRecord.SegmentLeaderEpochEntry] = (),
        segment_size_in_bytes: int = 0,
        custom_metadata: Buffer | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataRecord.RemoteLogSegmentIdEntry = ...,
        start_offset: int = ...,
        end_offset: int = ...,
        broker_id: int = ...,
        max_timestamp_ms: int = ...,
        event_timestamp_ms: int = ...,
        segment_leader_epochs: Sequence[RemoteLogSegmentMetadataRecord.SegmentLeaderEpochEntry] = ...,
        segment_size_in_bytes: int = ...,
        custom_metadata: Buffer | None = ...,
        remote_log_segment_state: int = ...,
        txn_index_empty: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicIdPartitionEntry(Struct):
        __match_args__ = ("name", "id", "partition",)
        name: Final[str]  # 0+
        id: Final[UUID]  # 0+
        partition: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            id: UUID = ...,
            partition: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            id: UUID = ...,
            partition: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class RemoteLogSegmentIdEntry(Struct):
        __match_args__ = ("topic_id_partition", "id",)
        topic_id_partition: Final[RemoteLogSegmentMetadataRecord.TopicIdPartitionEntry]  # 0+
        id: Final[UUID]  # 0+

        def __init__(
            self,
            *,
            topic_id_partition: RemoteLogSegmentMetadataRecord.TopicIdPartitionEntry = ...,
            id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id_partition: RemoteLogSegmentMetadataRecord.TopicIdPartitionEntry = ...,
            id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class SegmentLeaderEpochEntry(Struct):
        __match_args__ = ("leader_epoch", "offset",)
        leader_epoch: Final[int]  # 0+
        offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_epoch: int = 0,
            offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_epoch: int = ...,
            offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RemoteLogSegmentMetadataSnapshotRecord(Message):
    """Metadata 3, versions 0, flexible 0."""

    __match_args__ = ("segment_id", "start_offset", "end_offset", "broker_id", "max_timestamp_ms", "event_timestamp_ms", "segment_leader_epochs", "segment_size_in_bytes", "custom_metadata", "remote_log_segment_state", "txn_index_empty",)
    segment_id: Final[UUID]  # 0+
    start_offset: Final[int]  # 0+
    end_offset: Final[int]  # 0+
    broker_id: Final[int]  # 0+
    max_timestamp_ms: Final[int]  # 0+
    event_timestamp_ms: Final[int]  # 0+
    segment_leader_epochs: Final[tuple[RemoteLogSegmentMetadataSnapshotRecord.SegmentLeaderEpochEntry, ...]]  # 0+
    segment_size_in_bytes: Final[int]  # 0+
    custom_metadata: Final[bytes | None]  # 0+, null 0+
    remote_log_segment_state: Final[int]  # 0+
    txn_index_empty: Final[bool]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        segment_id: UUID = ...,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: Sequence[RemoteLogSegmentMetadataSnapshotRecord.SegmentLeaderEpochEntry] = (),
        segment_size_in_bytes: int = 0,
        custom_metadata: Buffer | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        segment_id: UUID = ...,
        start_offset: int = ...,
        end_offset: int = ...,
        broker_id: int = ...,
        max_timestamp_ms: int = ...,
        event_timestamp_ms: int = ...,
        segment_leader_epochs: Sequence[RemoteLogSegmentMetadataSnapshotRecord.SegmentLeaderEpochEntry] = ...,
        segment_size_in_bytes: int = ...,
        custom_metadata: Buffer | None = ...,
        remote_log_segment_state: int = ...,
        txn_index_empty: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class SegmentLeaderEpochEntry(Struct):
        __match_args__ = ("leader_epoch", "offset",)
        leader_epoch: Final[int]  # 0+
        offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_epoch: int = 0,
            offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_epoch: int = ...,
            offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RemoteLogSegmentMetadataUpdateRecord(Message):
    """Metadata 1, versions 0, flexible 0."""

    __match_args__ = ("remote_log_segment_id", "broker_id", "event_timestamp_ms", "custom_metadata", "remote_log_segment_state",)
    remote_log_segment_id: Final[RemoteLogSegmentMetadataUpdateRecord.RemoteLogSegmentIdEntry]  # 0+
    broker_id: Final[int]  # 0+
    event_timestamp_ms: Final[int]  # 0+
    custom_metadata: Final[bytes | None]  # 0+, null 0+
    remote_log_segment_state: Final[int]  # 0+

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecord.RemoteLogSegmentIdEntry = ...,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        custom_metadata: Buffer | None = None,
        remote_log_segment_state: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentMetadataUpdateRecord.RemoteLogSegmentIdEntry = ...,
        broker_id: int = ...,
        event_timestamp_ms: int = ...,
        custom_metadata: Buffer | None = ...,
        remote_log_segment_state: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicIdPartitionEntry(Struct):
        __match_args__ = ("name", "id", "partition",)
        name: Final[str]  # 0+
        id: Final[UUID]  # 0+
        partition: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            id: UUID = ...,
            partition: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            id: UUID = ...,
            partition: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class RemoteLogSegmentIdEntry(Struct):
        __match_args__ = ("topic_id_partition", "id",)
        topic_id_partition: Final[RemoteLogSegmentMetadataUpdateRecord.TopicIdPartitionEntry]  # 0+
        id: Final[UUID]  # 0+

        def __init__(
            self,
            *,
            topic_id_partition: RemoteLogSegmentMetadataUpdateRecord.TopicIdPartitionEntry = ...,
            id: UUID = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id_partition: RemoteLogSegmentMetadataUpdateRecord.TopicIdPartitionEntry = ...,
            id: UUID = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RemotePartitionDeleteMetadataRecord(Message):
    """Metadata 2, versions 0, flexible 0."""

    __match_args__ = ("topic_id_partition", "broker_id", "event_timestamp_ms", "remote_partition_delete_state",)
    topic_id_partition: Final[RemotePartitionDeleteMetadataRecord.TopicIdPartitionEntry]  # 0+
    broker_id: Final[int]  # 0+
    event_timestamp_ms: Final[int]  # 0+
    remote_partition_delete_state: Final[int]  # 0+

    def __init__(
        self,
        *,
        topic_id_partition: RemotePartitionDeleteMetadataRecord.TopicIdPartitionEntry = ...,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topic_id_partition: RemotePartitionDeleteMetadataRecord.TopicIdPartitionEntry = ...,
        broker_id: int = ...,
        event_timestamp_ms: int = ...,
        remote_partition_delete_state: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicIdPartitionEntry(Struct):
        __match_args__ = ("name", "id", "partition",)
        name: Final[str]  # 0+
        id: Final[UUID]  # 0+
        partition: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            id: UUID = ...,
            partition: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            id: UUID = ...,
            partition: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class RemoveAccessControlEntryRecord(Message):
    """Metadata 19, versions 0, flexible 0."""

    __match_args__ = ("id",)
    id: Final[UUID]  # 0+

    def __init__(
        self,
        *,
        id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveDelegationTokenRecord(Message):
    """Metadata 26, versions 0, flexible 0."""

    __match_args__ = ("token_id",)
    token_id: Final[str]  # 0+

    def __init__(
        self,
        *,
        token_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        token_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveFeatureLevelRecord(Message):
    """Metadata 16, versions 0, flexible 0."""

    __match_args__ = ("name",)
    name: Final[str]  # 0+

    def __init__(
        self,
        *,
        name: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveRaftVoterRequest(Request):
    """Request 81, versions 0, flexible 0."""

    __match_args__ = ("cluster_id", "voter_id", "voter_directory_id",)
    cluster_id: Final[str | None]  # 0+, null 0+
    voter_id: Final[int]  # 0+
    voter_directory_id: Final[UUID]  # 0+

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        voter_directory_id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveRaftVoterResponse(Response):
    """Response 81, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveTopicRecord(Message):
    """Metadata 9, versions 0, flexible 0."""

    __match_args__ = ("topic_id",)
    topic_id: Final[UUID]  # 0+

    def __init__(
        self,
        *,
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RemoveUserScramCredentialRecord(Message):
    """Metadata 22, versions 0, flexible 0."""

    __match_args__ = ("name", "mechanism",)
    name: Final[str]  # 0+
    mechanism: Final[int]  # 0+

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str = ...,
        mechanism: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RenewDelegationTokenRequest(Request):
    """Request 39, versions 0-2, flexible 2."""

    __match_args__ = ("hmac", "renew_period_ms",)
    hmac: Final[bytes]  # 0+
    renew_period_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        hmac: Buffer = b"",
        renew_period_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        hmac: Buffer = ...,
        renew_period_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RenewDelegationTokenResponse(Response):
    """Response 39, versions 0-2, flexible 2."""

    __match_args__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms",)
    error_code: Final[int]  # 0+
    expiry_timestamp_ms: Final[int]  # 0+
    throttle_time_ms: Final[int]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        expiry_timestamp_ms: int = ...,
        throttle_time_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class RequestHeader(Message):
    """Header, versions 0-2, flexible 2."""

    __match_args__ = ("request_api_key", "request_api_version", "correlation_id", "client_id",)
    request_api_key: Final[int]  # 0+
    request_api_version: Final[int]  # 0+
    correlation_id: Final[int]  # 0+
    client_id: Final[str | None]  # 1+, null 1+

    def __init__(
        self,
        *,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        request_api_key: int = ...,
        request_api_version: int = ...,
        correlation_id: int = ...,
        client_id: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ResponseHeader(Message):
    """Header, versions 0-1, flexible 1."""

    __match_args__ = ("correlation_id",)
    correlation_id: Final[int]  # 0+

    def __init__(
        self,
        *,
        correlation_id: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        correlation_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class SaslAuthenticateRequest(Request):
    """Request 36, versions 0-2, flexible 2."""

    __match_args__ = ("auth_bytes",)
    auth_bytes: Final[bytes]  # 0+

    def __init__(
        self,
        *,
        auth_bytes: Buffer = b"",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        auth_bytes: Buffer = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class SaslAuthenticateResponse(Response):
    """Response 36, versions 0-2, flexible 2."""

    __match_args__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms",)
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    auth_bytes: Final[bytes]  # 0+
    session_lifetime_ms: Final[int]  # 1+

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: Buffer = b"",
        session_lifetime_ms: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        error_message: str | None = ...,
        auth_bytes: Buffer = ...,
        session_lifetime_ms: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class SaslHandshakeRequest(Request):
    """Request 17, versions 0-1, flexible none."""

    __match_args__ = ("mechanism",)
    mechanism: Final[str]  # 0+

    def __init__(
        self,
        *,
        mechanism: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        mechanism: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class SaslHandshakeResponse(Response):
    """Response 17, versions 0-1, flexible none."""

    __match_args__ = ("error_code", "mechanisms",)
    error_code: Final[int]  # 0+
    mechanisms: Final[tuple[str, ...]]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        mechanisms: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareAcknowledgeRequest(Request):
    """Request 79, versions 0-2, flexible 0-2."""

    __match_args__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics",)
    group_id: Final[str | None]  # 0+, null 0+
    member_id: Final[str | None]  # 0+, null 0+
    share_session_epoch: Final[int]  # 0+
    is_renew_ack: Final[bool]  # 2+
    topics: Final[tuple[ShareAcknowledgeRequest.AcknowledgeTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[ShareAcknowledgeRequest.AcknowledgeTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str | None = ...,
        member_id: str | None = ...,
        share_session_epoch: int = ...,
        is_renew_ack: bool = ...,
        topics: Sequence[ShareAcknowledgeRequest.AcknowledgeTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AcknowledgementBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "acknowledge_types",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        acknowledge_types: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            acknowledge_types: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            acknowledge_types: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AcknowledgePartition(Struct):
        __match_args__ = ("partition_index", "acknowledgement_batches",)
        partition_index: Final[int]  # 0+
        acknowledgement_batches: Final[tuple[ShareAcknowledgeRequest.AcknowledgementBatch, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            acknowledgement_batches: Sequence[ShareAcknowledgeRequest.AcknowledgementBatch] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            acknowledgement_batches: Sequence[ShareAcknowledgeRequest.AcknowledgementBatch] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AcknowledgeTopic(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ShareAcknowledgeRequest.AcknowledgePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareAcknowledgeRequest.AcknowledgePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareAcknowledgeRequest.AcknowledgePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareAcknowledgeResponse(Response):
    """Response 79, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    acquisition_lock_timeout_ms: Final[int]  # 2+
    responses: Final[tuple[ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse, ...]]  # 0+
    node_endpoints: Final[tuple[ShareAcknowledgeResponse.NodeEndpoint, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Sequence[ShareAcknowledgeResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        acquisition_lock_timeout_ms: int = ...,
        responses: Sequence[ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse] = ...,
        node_endpoints: Sequence[ShareAcknowledgeResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class LeaderIdAndEpoch(Struct):
        __match_args__ = ("leader_id", "leader_epoch",)
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message", "current_leader",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        current_leader: Final[ShareAcknowledgeResponse.LeaderIdAndEpoch]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            current_leader: ShareAcknowledgeResponse.LeaderIdAndEpoch = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            current_leader: ShareAcknowledgeResponse.LeaderIdAndEpoch = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ShareAcknowledgeTopicResponse(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ShareAcknowledgeResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareAcknowledgeResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareAcknowledgeResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port", "rack",)
        node_id: Final[int]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        rack: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareFetchRequest(Request):
    """Request 78, versions 0-2, flexible 0-2."""

    __match_args__ = ("group_id", "member_id", "share_session_epoch", "max_wait_ms", "min_bytes", "max_bytes", "max_records", "batch_size", "share_acquire_mode", "is_renew_ack", "topics", "forgotten_topics_data",)
    group_id: Final[str | None]  # 0+, null 0+
    member_id: Final[str | None]  # 0+, null 0+
    share_session_epoch: Final[int]  # 0+
    max_wait_ms: Final[int]  # 0+
    min_bytes: Final[int]  # 0+
    max_bytes: Final[int]  # 0+
    max_records: Final[int]  # 1+
    batch_size: Final[int]  # 1+
    share_acquire_mode: Final[int]  # 2+
    is_renew_ack: Final[bool]  # 2+
    topics: Final[tuple[ShareFetchRequest.FetchTopic, ...]]  # 0+
    forgotten_topics_data: Final[tuple[ShareFetchRequest.ForgottenTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[ShareFetchRequest.FetchTopic] = (),
        forgotten_topics_data: Sequence[ShareFetchRequest.ForgottenTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str | None = ...,
        member_id: str | None = ...,
        share_session_epoch: int = ...,
        max_wait_ms: int = ...,
        min_bytes: int = ...,
        max_bytes: int = ...,
        max_records: int = ...,
        batch_size: int = ...,
        share_acquire_mode: int = ...,
        is_renew_ack: bool = ...,
        topics: Sequence[ShareFetchRequest.FetchTopic] = ...,
        forgotten_topics_data: Sequence[ShareFetchRequest.ForgottenTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class AcknowledgementBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "acknowledge_types",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        acknowledge_types: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            acknowledge_types: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            acknowledge_types: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FetchPartition(Struct):
        __match_args__ = ("partition_index", "partition_max_bytes", "acknowledgement_batches",)
        partition_index: Final[int]  # 0+
        partition_max_bytes: Final[int]  # 0
        acknowledgement_batches: Final[tuple[ShareFetchRequest.AcknowledgementBatch, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            partition_max_bytes: int = 0,
            acknowledgement_batches: Sequence[ShareFetchRequest.AcknowledgementBatch] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            partition_max_bytes: int = ...,
            acknowledgement_batches: Sequence[ShareFetchRequest.AcknowledgementBatch] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class FetchTopic(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ShareFetchRequest.FetchPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareFetchRequest.FetchPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareFetchRequest.FetchPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ForgottenTopic(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareFetchResponse(Response):
    """Response 78, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "acquisition_lock_timeout_ms", "responses", "node_endpoints",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    acquisition_lock_timeout_ms: Final[int]  # 1+
    responses: Final[tuple[ShareFetchResponse.ShareFetchableTopicResponse, ...]]  # 0+
    node_endpoints: Final[tuple[ShareFetchResponse.NodeEndpoint, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareFetchResponse.ShareFetchableTopicResponse] = (),
        node_endpoints: Sequence[ShareFetchResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        acquisition_lock_timeout_ms: int = ...,
        responses: Sequence[ShareFetchResponse.ShareFetchableTopicResponse] = ...,
        node_endpoints: Sequence[ShareFetchResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class LeaderIdAndEpoch(Struct):
        __match_args__ = ("leader_id", "leader_epoch",)
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_id: int = 0,
            leader_epoch: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class AcquiredRecords(Struct):
        __match_args__ = ("first_offset", "last_offset", "delivery_count",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        delivery_count: Final[int]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            delivery_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "error_message", "acknowledge_error_code", "acknowledge_error_message", "current_leader", "records", "acquired_records",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        acknowledge_error_code: Final[int]  # 0+
        acknowledge_error_message: Final[str | None]  # 0+, null 0+
        current_leader: Final[ShareFetchResponse.LeaderIdAndEpoch]  # 0+
        records: Final[bytes | None]  # 0+, null 0
        acquired_records: Final[tuple[ShareFetchResponse.AcquiredRecords, ...]]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            acknowledge_error_code: int = 0,
            acknowledge_error_message: str | None = None,
            current_leader: ShareFetchResponse.LeaderIdAndEpoch = ...,
            records: Buffer | None = None,
            acquired_records: Sequence[ShareFetchResponse.AcquiredRecords] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            acknowledge_error_code: int = ...,
            acknowledge_error_message: str | None = ...,
            current_leader: ShareFetchResponse.LeaderIdAndEpoch = ...,
            records: Buffer | None = ...,
            acquired_records: Sequence[ShareFetchResponse.AcquiredRecords] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ShareFetchableTopicResponse(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[ShareFetchResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareFetchResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[ShareFetchResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port", "rack",)
        node_id: Final[int]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+
        rack: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupCurrentMemberAssignmentKey(Message):
    """Coordinator-key 14, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupCurrentMemberAssignmentValue(Message):
    """Coordinator-value 14, versions 0, flexible 0."""

    __match_args__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions",)
    member_epoch: Final[int]  # 0+
    previous_member_epoch: Final[int]  # 0+
    state: Final[int]  # 0+
    assigned_partitions: Final[tuple[ShareGroupCurrentMemberAssignmentValue.TopicPartitions, ...]]  # 0+

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: Sequence[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        member_epoch: int = ...,
        previous_member_epoch: int = ...,
        state: int = ...,
        assigned_partitions: Sequence[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupDescribeRequest(Request):
    """Request 77, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_ids", "include_authorized_operations",)
    group_ids: Final[tuple[str, ...]]  # 0+
    include_authorized_operations: Final[bool]  # 0+

    def __init__(
        self,
        *,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_ids: Sequence[str] = ...,
        include_authorized_operations: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupDescribeResponse(Response):
    """Response 77, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "groups",)
    throttle_time_ms: Final[int]  # 0+
    groups: Final[tuple[ShareGroupDescribeResponse.DescribedGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Sequence[ShareGroupDescribeResponse.DescribedGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: Sequence[ShareGroupDescribeResponse.DescribedGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "topic_name", "partitions",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Assignment(Struct):
        __match_args__ = ("topic_partitions",)
        topic_partitions: Final[tuple[ShareGroupDescribeResponse.TopicPartitions, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_partitions: Sequence[ShareGroupDescribeResponse.TopicPartitions] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_partitions: Sequence[ShareGroupDescribeResponse.TopicPartitions] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Member(Struct):
        __match_args__ = ("member_id", "rack_id", "member_epoch", "client_id", "client_host", "subscribed_topic_names", "assignment",)
        member_id: Final[str]  # 0+
        rack_id: Final[str | None]  # 0+, null 0+
        member_epoch: Final[int]  # 0+
        client_id: Final[str]  # 0+
        client_host: Final[str]  # 0+
        subscribed_topic_names: Final[tuple[str, ...]]  # 0+
        assignment: Final[ShareGroupDescribeResponse.Assignment]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            rack_id: str | None = None,
            member_epoch: int = 0,
            client_id: str = "",
            client_host: str = "",
            subscribed_topic_names: Sequence[str] = (),
            assignment: ShareGroupDescribeResponse.Assignment = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            rack_id: str | None = ...,
            member_epoch: int = ...,
            client_id: str = ...,
            client_host: str = ...,
            subscribed_topic_names: Sequence[str] = ...,
            assignment: ShareGroupDescribeResponse.Assignment = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribedGroup(Struct):
        __match_args__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "assignor_name", "members", "authorized_operations",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        group_id: Final[str]  # 0+
        group_state: Final[str]  # 0+
        group_epoch: Final[int]  # 0+
        assignment_epoch: Final[int]  # 0+
        assignor_name: Final[str]  # 0+
        members: Final[tuple[ShareGroupDescribeResponse.Member, ...]]  # 0+
        authorized_operations: Final[int]  # 0+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            group_epoch: int = 0,
            assignment_epoch: int = 0,
            assignor_name: str = "",
            members: Sequence[ShareGroupDescribeResponse.Member] = (),
            authorized_operations: int = -2147483648,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            group_id: str = ...,
            group_state: str = ...,
            group_epoch: int = ...,
            assignment_epoch: int = ...,
            assignor_name: str = ...,
            members: Sequence[ShareGroupDescribeResponse.Member] = ...,
            authorized_operations: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupHeartbeatRequest(Request):
    """Request 76, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names",)
    group_id: Final[str]  # 0+
    member_id: Final[str]  # 0+
    member_epoch: Final[int]  # 0+
    rack_id: Final[str | None]  # 0+, null 0+
    subscribed_topic_names: Final[tuple[str, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Sequence[str] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        member_epoch: int = ...,
        rack_id: str | None = ...,
        subscribed_topic_names: Sequence[str] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupHeartbeatResponse(Response):
    """Response 76, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "assignment",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    member_id: Final[str | None]  # 0+, null 0+
    member_epoch: Final[int]  # 0+
    heartbeat_interval_ms: Final[int]  # 0+
    assignment: Final[ShareGroupHeartbeatResponse.Assignment | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: ShareGroupHeartbeatResponse.Assignment | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        member_id: str | None = ...,
        member_epoch: int = ...,
        heartbeat_interval_ms: int = ...,
        assignment: ShareGroupHeartbeatResponse.Assignment | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitions(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Assignment(Struct):
        __match_args__ = ("topic_partitions",)
        topic_partitions: Final[tuple[ShareGroupHeartbeatResponse.TopicPartitions, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_partitions: Sequence[ShareGroupHeartbeatResponse.TopicPartitions] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_partitions: Sequence[ShareGroupHeartbeatResponse.TopicPartitions] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupMemberMetadataKey(Message):
    """Coordinator-key 10, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupMemberMetadataValue(Message):
    """Coordinator-value 10, versions 0, flexible 0."""

    __match_args__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names",)
    rack_id: Final[str | None]  # 0+, null 0+
    client_id: Final[str]  # 0+
    client_host: Final[str]  # 0+
    subscribed_topic_names: Final[tuple[str, ...]]  # 0+

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        rack_id: str | None = ...,
        client_id: str = ...,
        client_host: str = ...,
        subscribed_topic_names: Sequence[str] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupMetadataKey(Message):
    """Coordinator-key 11, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupMetadataValue(Message):
    """Coordinator-value 11, versions 0, flexible 0."""

    __match_args__ = ("epoch", "metadata_hash",)
    epoch: Final[int]  # 0+
    metadata_hash: Final[int]  # 0+

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        epoch: int = ...,
        metadata_hash: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupPartitionMetadataKey(Message):
    """Data, versions 9, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 9

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupPartitionMetadataValue(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("topics",)
    topics: Final[tuple[ShareGroupPartitionMetadataValue.TopicMetadata, ...]]  # 0+

    def __init__(
        self,
        *,
        topics: Sequence[ShareGroupPartitionMetadataValue.TopicMetadata] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topics: Sequence[ShareGroupPartitionMetadataValue.TopicMetadata] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionMetadata(Struct):
        __match_args__ = ("partition", "racks",)
        partition: Final[int]  # 0+
        racks: Final[tuple[str, ...]]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            racks: Sequence[str] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            racks: Sequence[str] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicMetadata(Struct):
        __match_args__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+
        num_partitions: Final[int]  # 0+
        partition_metadata: Final[tuple[ShareGroupPartitionMetadataValue.PartitionMetadata, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            num_partitions: int = 0,
            partition_metadata: Sequence[ShareGroupPartitionMetadataValue.PartitionMetadata] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            num_partitions: int = ...,
            partition_metadata: Sequence[ShareGroupPartitionMetadataValue.PartitionMetadata] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupStatePartitionMetadataKey(Message):
    """Coordinator-key 15, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupStatePartitionMetadataValue(Message):
    """Coordinator-value 15, versions 0, flexible 0."""

    __match_args__ = ("initializing_topics", "initialized_topics", "deleting_topics",)
    initializing_topics: Final[tuple[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo, ...]]  # 0+
    initialized_topics: Final[tuple[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo, ...]]  # 0+
    deleting_topics: Final[tuple[ShareGroupStatePartitionMetadataValue.TopicInfo, ...]]  # 0+

    def __init__(
        self,
        *,
        initializing_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = (),
        initialized_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = (),
        deleting_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicInfo] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        initializing_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...,
        initialized_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = ...,
        deleting_topics: Sequence[ShareGroupStatePartitionMetadataValue.TopicInfo] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartitionsInfo(Struct):
        __match_args__ = ("topic_id", "topic_name", "partitions",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicInfo(Struct):
        __match_args__ = ("topic_id", "topic_name",)
        topic_id: Final[UUID]  # 0+
        topic_name: Final[str]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            topic_name: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupTargetAssignmentMemberKey(Message):
    """Coordinator-key 13, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupTargetAssignmentMemberValue(Message):
    """Coordinator-value 13, versions 0, flexible 0."""

    __match_args__ = ("topic_partitions",)
    topic_partitions: Final[tuple[ShareGroupTargetAssignmentMemberValue.TopicPartition, ...]]  # 0+

    def __init__(
        self,
        *,
        topic_partitions: Sequence[ShareGroupTargetAssignmentMemberValue.TopicPartition] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        topic_partitions: Sequence[ShareGroupTargetAssignmentMemberValue.TopicPartition] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicPartition(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareGroupTargetAssignmentMetadataKey(Message):
    """Coordinator-key 12, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareGroupTargetAssignmentMetadataValue(Message):
    """Coordinator-value 12, versions 0, flexible 0."""

    __match_args__ = ("assignment_epoch", "assignment_timestamp",)
    assignment_epoch: Final[int]  # 0+
    assignment_timestamp: Final[int]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        assignment_epoch: int = ...,
        assignment_timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareSnapshotKey(Message):
    """Coordinator-key 0, versions 0, flexible none."""

    __match_args__ = ("group_id", "topic_id", "partition",)
    group_id: Final[str]  # 0
    topic_id: Final[UUID]  # 0
    partition: Final[int]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: UUID = ...,
        partition: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topic_id: UUID = ...,
        partition: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareSnapshotValue(Message):
    """Coordinator-value 0, versions 0, flexible 0."""

    __match_args__ = ("snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "create_timestamp", "write_timestamp", "state_batches",)
    snapshot_epoch: Final[int]  # 0+
    state_epoch: Final[int]  # 0+
    leader_epoch: Final[int]  # 0+
    start_offset: Final[int]  # 0+
    delivery_complete_count: Final[int]  # 0+, tag 0 0+
    create_timestamp: Final[int]  # 0+
    write_timestamp: Final[int]  # 0+
    state_batches: Final[tuple[ShareSnapshotValue.StateBatch, ...]]  # 0+

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: Sequence[ShareSnapshotValue.StateBatch] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        snapshot_epoch: int = ...,
        state_epoch: int = ...,
        leader_epoch: int = ...,
        start_offset: int = ...,
        delivery_complete_count: int = ...,
        create_timestamp: int = ...,
        write_timestamp: int = ...,
        state_batches: Sequence[ShareSnapshotValue.StateBatch] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StateBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        delivery_state: Final[int]  # 0+
        delivery_count: Final[int]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            delivery_state: int = ...,
            delivery_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ShareUpdateKey(Message):
    """Coordinator-key 1, versions 0, flexible none."""

    __match_args__ = ("group_id", "topic_id", "partition",)
    group_id: Final[str]  # 0
    topic_id: Final[UUID]  # 0
    partition: Final[int]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        topic_id: UUID = ...,
        partition: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topic_id: UUID = ...,
        partition: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class ShareUpdateValue(Message):
    """Coordinator-value 1, versions 0, flexible 0."""

    __match_args__ = ("snapshot_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches",)
    snapshot_epoch: Final[int]  # 0+
    leader_epoch: Final[int]  # 0+
    start_offset: Final[int]  # 0+
    delivery_complete_count: Final[int]  # 0+, tag 0 0+
    state_batches: Final[tuple[ShareUpdateValue.StateBatch, ...]]  # 0+

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: Sequence[ShareUpdateValue.StateBatch] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        snapshot_epoch: int = ...,
        leader_epoch: int = ...,
        start_offset: int = ...,
        delivery_complete_count: int = ...,
        state_batches: Sequence[ShareUpdateValue.StateBatch] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StateBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        delivery_state: Final[int]  # 0+
        delivery_count: Final[int]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            delivery_state: int = ...,
            delivery_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class SnapshotFooterRecord(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("version",)
    version: Final[int]  # 0+

    def __init__(
        self,
        *,
        version: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class SnapshotHeaderRecord(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("version", "last_contained_log_timestamp",)
    version: Final[int]  # 0+
    last_contained_log_timestamp: Final[int]  # 0+

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        last_contained_log_timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StopReplicaRequest(Request):
    """Request 5, versions 0-4, flexible 2-4."""

    __match_args__ = ("controller_id", "is_k_raft_controller", "controller_epoch", "broker_epoch", "delete_partitions", "ungrouped_partitions", "topics", "topic_states",)
    controller_id: Final[int]  # 0+
    is_k_raft_controller: Final[bool]  # 4+
    controller_epoch: Final[int]  # 0+
    broker_epoch: Final[int]  # 1+
    delete_partitions: Final[bool]  # 0-2
    ungrouped_partitions: Final[tuple[StopReplicaRequest.StopReplicaPartitionV0, ...]]  # 0
    topics: Final[tuple[StopReplicaRequest.StopReplicaTopicV1, ...]]  # 1-2
    topic_states: Final[tuple[StopReplicaRequest.StopReplicaTopicState, ...]]  # 3+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        delete_partitions: bool = False,
        ungrouped_partitions: Sequence[StopReplicaRequest.StopReplicaPartitionV0] = (),
        topics: Sequence[StopReplicaRequest.StopReplicaTopicV1] = (),
        topic_states: Sequence[StopReplicaRequest.StopReplicaTopicState] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        is_k_raft_controller: bool = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        delete_partitions: bool = ...,
        ungrouped_partitions: Sequence[StopReplicaRequest.StopReplicaPartitionV0] = ...,
        topics: Sequence[StopReplicaRequest.StopReplicaTopicV1] = ...,
        topic_states: Sequence[StopReplicaRequest.StopReplicaTopicState] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StopReplicaPartitionV0(Struct):
        __match_args__ = ("topic_name", "partition_index",)
        topic_name: Final[str]  # 0
        partition_index: Final[int]  # 0

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class StopReplicaTopicV1(Struct):
        __match_args__ = ("name", "partition_indexes",)
        name: Final[str]  # 1-2
        partition_indexes: Final[tuple[int, ...]]  # 1-2

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class StopReplicaPartitionState(Struct):
        __match_args__ = ("partition_index", "leader_epoch", "delete_partition",)
        partition_index: Final[int]  # 3+
        leader_epoch: Final[int]  # 3+
        delete_partition: Final[bool]  # 3+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            leader_epoch: int = -1,
            delete_partition: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            leader_epoch: int = ...,
            delete_partition: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class StopReplicaTopicState(Struct):
        __match_args__ = ("topic_name", "partition_states",)
        topic_name: Final[str]  # 3+
        partition_states: Final[tuple[StopReplicaRequest.StopReplicaPartitionState, ...]]  # 3+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_states: Sequence[StopReplicaRequest.StopReplicaPartitionState] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_states: Sequence[StopReplicaRequest.StopReplicaPartitionState] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StopReplicaResponse(Response):
    """Response 5, versions 0-4, flexible 2-4."""

    __match_args__ = ("error_code", "partition_errors",)
    error_code: Final[int]  # 0+
    partition_errors: Final[tuple[StopReplicaResponse.StopReplicaPartitionError, ...]]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_errors: Sequence[StopReplicaResponse.StopReplicaPartitionError] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        partition_errors: Sequence[StopReplicaResponse.StopReplicaPartitionError] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StopReplicaPartitionError(Struct):
        __match_args__ = ("topic_name", "partition_index", "error_code",)
        topic_name: Final[str]  # 0+
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupCurrentMemberAssignmentKey(Message):
    """Coordinator-key 22, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupCurrentMemberAssignmentValue(Message):
    """Coordinator-value 22, versions 0, flexible 0."""

    __match_args__ = ("member_epoch", "previous_member_epoch", "state", "active_tasks", "standby_tasks", "warmup_tasks", "active_tasks_pending_revocation", "standby_tasks_pending_revocation", "warmup_tasks_pending_revocation",)
    member_epoch: Final[int]  # 0+
    previous_member_epoch: Final[int]  # 0+
    state: Final[int]  # 0+
    active_tasks: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+
    standby_tasks: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+
    warmup_tasks: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+
    active_tasks_pending_revocation: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+
    standby_tasks_pending_revocation: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+
    warmup_tasks_pending_revocation: Final[tuple[StreamsGroupCurrentMemberAssignmentValue.TaskIds, ...]]  # 0+

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        standby_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        warmup_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        active_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        standby_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        warmup_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        member_epoch: int = ...,
        previous_member_epoch: int = ...,
        state: int = ...,
        active_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        standby_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        warmup_tasks: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        active_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        standby_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        warmup_tasks_pending_revocation: Sequence[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TaskIds(Struct):
        __match_args__ = ("subtopology_id", "partitions", "assignment_epochs",)
        subtopology_id: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+
        assignment_epochs: Final[tuple[int, ...] | None]  # 0+, null 0+, tag 0 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: Sequence[int] = (),
            assignment_epochs: Sequence[int] | None = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partitions: Sequence[int] = ...,
            assignment_epochs: Sequence[int] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupDescribeRequest(Request):
    """Request 89, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_ids", "include_authorized_operations", "include_topology_description",)
    group_ids: Final[tuple[str, ...]]  # 0+
    include_authorized_operations: Final[bool]  # 0+
    include_topology_description: Final[bool]  # 1+

    def __init__(
        self,
        *,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_ids: Sequence[str] = ...,
        include_authorized_operations: bool = ...,
        include_topology_description: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupDescribeResponse(Response):
    """Response 89, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "groups",)
    throttle_time_ms: Final[int]  # 0+
    groups: Final[tuple[StreamsGroupDescribeResponse.DescribedGroup, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: Sequence[StreamsGroupDescribeResponse.DescribedGroup] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        groups: Sequence[StreamsGroupDescribeResponse.DescribedGroup] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class KeyValue(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[str]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicInfo(Struct):
        __match_args__ = ("name", "partitions", "replication_factor", "topic_configs",)
        name: Final[str]  # 0+
        partitions: Final[int]  # 0+
        replication_factor: Final[int]  # 0+
        topic_configs: Final[tuple[StreamsGroupDescribeResponse.KeyValue, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: int = 0,
            replication_factor: int = 0,
            topic_configs: Sequence[StreamsGroupDescribeResponse.KeyValue] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: int = ...,
            replication_factor: int = ...,
            topic_configs: Sequence[StreamsGroupDescribeResponse.KeyValue] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Subtopology(Struct):
        __match_args__ = ("subtopology_id", "source_topics", "repartition_sink_topics", "state_changelog_topics", "repartition_source_topics",)
        subtopology_id: Final[str]  # 0+
        source_topics: Final[tuple[str, ...]]  # 0+
        repartition_sink_topics: Final[tuple[str, ...]]  # 0+
        state_changelog_topics: Final[tuple[StreamsGroupDescribeResponse.TopicInfo, ...]]  # 0+
        repartition_source_topics: Final[tuple[StreamsGroupDescribeResponse.TopicInfo, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            source_topics: Sequence[str] = (),
            repartition_sink_topics: Sequence[str] = (),
            state_changelog_topics: Sequence[StreamsGroupDescribeResponse.TopicInfo] = (),
            repartition_source_topics: Sequence[StreamsGroupDescribeResponse.TopicInfo] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            source_topics: Sequence[str] = ...,
            repartition_sink_topics: Sequence[str] = ...,
            state_changelog_topics: Sequence[StreamsGroupDescribeResponse.TopicInfo] = ...,
            repartition_source_topics: Sequence[StreamsGroupDescribeResponse.TopicInfo] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Topology(Struct):
        __match_args__ = ("epoch", "subtopologies",)
        epoch: Final[int]  # 0+
        subtopologies: Final[tuple[StreamsGroupDescribeResponse.Subtopology, ...] | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            epoch: int = 0,
            subtopologies: Sequence[StreamsGroupDescribeResponse.Subtopology] | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            epoch: int = ...,
            subtopologies: Sequence[StreamsGroupDescribeResponse.Subtopology] | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Endpoint(Struct):
        __match_args__ = ("host", "port",)
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskOffset(Struct):
        __match_args__ = ("subtopology_id", "partition", "offset",)
        subtopology_id: Final[str]  # 0+
        partition: Final[int]  # 0+
        offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partition: int = 0,
            offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partition: int = ...,
            offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskIds(Struct):
        __match_args__ = ("subtopology_id", "partitions",)
        subtopology_id: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Assignment(Struct):
        __match_args__ = ("active_tasks", "standby_tasks", "warmup_tasks",)
        active_tasks: Final[tuple[StreamsGroupDescribeResponse.TaskIds, ...]]  # 0+
        standby_tasks: Final[tuple[StreamsGroupDescribeResponse.TaskIds, ...]]  # 0+
        warmup_tasks: Final[tuple[StreamsGroupDescribeResponse.TaskIds, ...]]  # 0+

        def __init__(
            self,
            *,
            active_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = (),
            standby_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = (),
            warmup_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            active_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = ...,
            standby_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = ...,
            warmup_tasks: Sequence[StreamsGroupDescribeResponse.TaskIds] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Member(Struct):
        __match_args__ = ("member_id", "member_epoch", "instance_id", "rack_id", "client_id", "client_host", "topology_epoch", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "assignment", "target_assignment", "is_classic",)
        member_id: Final[str]  # 0+
        member_epoch: Final[int]  # 0+
        instance_id: Final[str | None]  # 0+, null 0+
        rack_id: Final[str | None]  # 0+, null 0+
        client_id: Final[str]  # 0+
        client_host: Final[str]  # 0+
        topology_epoch: Final[int]  # 0+
        process_id: Final[str]  # 0+
        user_endpoint: Final[StreamsGroupDescribeResponse.Endpoint | None]  # 0+, null 0+
        client_tags: Final[tuple[StreamsGroupDescribeResponse.KeyValue, ...]]  # 0+
        task_offsets: Final[tuple[StreamsGroupDescribeResponse.TaskOffset, ...]]  # 0+
        task_end_offsets: Final[tuple[StreamsGroupDescribeResponse.TaskOffset, ...]]  # 0+
        assignment: Final[StreamsGroupDescribeResponse.Assignment]  # 0+
        target_assignment: Final[StreamsGroupDescribeResponse.Assignment]  # 0+
        is_classic: Final[bool]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            member_epoch: int = 0,
            instance_id: str | None = None,
            rack_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            topology_epoch: int = 0,
            process_id: str = "",
            user_endpoint: StreamsGroupDescribeResponse.Endpoint | None = None,
            client_tags: Sequence[StreamsGroupDescribeResponse.KeyValue] = (),
            task_offsets: Sequence[StreamsGroupDescribeResponse.TaskOffset] = (),
            task_end_offsets: Sequence[StreamsGroupDescribeResponse.TaskOffset] = (),
            assignment: StreamsGroupDescribeResponse.Assignment = ...,
            target_assignment: StreamsGroupDescribeResponse.Assignment = ...,
            is_classic: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            member_epoch: int = ...,
            instance_id: str | None = ...,
            rack_id: str | None = ...,
            client_id: str = ...,
            client_host: str = ...,
            topology_epoch: int = ...,
            process_id: str = ...,
            user_endpoint: StreamsGroupDescribeResponse.Endpoint | None = ...,
            client_tags: Sequence[StreamsGroupDescribeResponse.KeyValue] = ...,
            task_offsets: Sequence[StreamsGroupDescribeResponse.TaskOffset] = ...,
            task_end_offsets: Sequence[StreamsGroupDescribeResponse.TaskOffset] = ...,
            assignment: StreamsGroupDescribeResponse.Assignment = ...,
            target_assignment: StreamsGroupDescribeResponse.Assignment = ...,
            is_classic: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescriptionNode(Struct):
        __match_args__ = ("name", "node_type", "source_topics", "sink_topic", "stores", "successors",)
        name: Final[str]  # 1+
        node_type: Final[int]  # 1+
        source_topics: Final[tuple[str, ...]]  # 1+
        sink_topic: Final[str | None]  # 1+, null 1+
        stores: Final[tuple[str, ...]]  # 1+
        successors: Final[tuple[str, ...]]  # 1+

        def __init__(
            self,
            *,
            name: str = "",
            node_type: int = 0,
            source_topics: Sequence[str] = (),
            sink_topic: str | None = None,
            stores: Sequence[str] = (),
            successors: Sequence[str] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            node_type: int = ...,
            source_topics: Sequence[str] = ...,
            sink_topic: str | None = ...,
            stores: Sequence[str] = ...,
            successors: Sequence[str] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescriptionSubtopology(Struct):
        __match_args__ = ("subtopology_id", "nodes",)
        subtopology_id: Final[str]  # 1+
        nodes: Final[tuple[StreamsGroupDescribeResponse.TopologyDescriptionNode, ...]]  # 1+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            nodes: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionNode] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            nodes: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionNode] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescriptionGlobalStore(Struct):
        __match_args__ = ("source", "processor",)
        source: Final[StreamsGroupDescribeResponse.TopologyDescriptionNode]  # 1+
        processor: Final[StreamsGroupDescribeResponse.TopologyDescriptionNode]  # 1+

        def __init__(
            self,
            *,
            source: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            processor: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            source: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            processor: StreamsGroupDescribeResponse.TopologyDescriptionNode = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescription(Struct):
        __match_args__ = ("subtopologies", "global_stores",)
        subtopologies: Final[tuple[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology, ...]]  # 1+
        global_stores: Final[tuple[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore, ...]]  # 1+

        def __init__(
            self,
            *,
            subtopologies: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology] = (),
            global_stores: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopologies: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionSubtopology] = ...,
            global_stores: Sequence[StreamsGroupDescribeResponse.TopologyDescriptionGlobalStore] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class DescribedGroup(Struct):
        __match_args__ = ("error_code", "error_message", "group_id", "group_state", "group_epoch", "assignment_epoch", "topology", "members", "authorized_operations", "topology_description", "topology_description_status", "assignor_name",)
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+
        group_id: Final[str]  # 0+
        group_state: Final[str]  # 0+
        group_epoch: Final[int]  # 0+
        assignment_epoch: Final[int]  # 0+
        topology: Final[StreamsGroupDescribeResponse.Topology | None]  # 0+, null 0+
        members: Final[tuple[StreamsGroupDescribeResponse.Member, ...]]  # 0+
        authorized_operations: Final[int]  # 0+
        topology_description: Final[StreamsGroupDescribeResponse.TopologyDescription | None]  # 1+, null 1+
        topology_description_status: Final[int]  # 1+
        assignor_name: Final[str | None]  # 1+, null 1+

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            group_epoch: int = 0,
            assignment_epoch: int = 0,
            topology: StreamsGroupDescribeResponse.Topology | None = None,
            members: Sequence[StreamsGroupDescribeResponse.Member] = (),
            authorized_operations: int = -2147483648,
            topology_description: StreamsGroupDescribeResponse.TopologyDescription | None = None,
            topology_description_status: int = 0,
            assignor_name: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            error_code: int = ...,
            error_message: str | None = ...,
            group_id: str = ...,
            group_state: str = ...,
            group_epoch: int = ...,
            assignment_epoch: int = ...,
            topology: StreamsGroupDescribeResponse.Topology | None = ...,
            members: Sequence[StreamsGroupDescribeResponse.Member] = ...,
            authorized_operations: int = ...,
            topology_description: StreamsGroupDescribeResponse.TopologyDescription | None = ...,
            topology_description_status: int = ...,
            assignor_name: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupHeartbeatRequest(Request):
    """Request 88, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_id", "member_id", "member_epoch", "endpoint_information_epoch", "instance_id", "rack_id", "rebalance_timeout_ms", "topology", "active_tasks", "standby_tasks", "warmup_tasks", "process_id", "user_endpoint", "client_tags", "task_offsets", "task_end_offsets", "shutdown_application",)
    group_id: Final[str]  # 0+
    member_id: Final[str]  # 0+
    member_epoch: Final[int]  # 0+
    endpoint_information_epoch: Final[int]  # 0+
    instance_id: Final[str | None]  # 0+, null 0+
    rack_id: Final[str | None]  # 0+, null 0+
    rebalance_timeout_ms: Final[int]  # 0+
    topology: Final[StreamsGroupHeartbeatRequest.Topology | None]  # 0+, null 0+
    active_tasks: Final[tuple[StreamsGroupHeartbeatRequest.TaskIds, ...] | None]  # 0+, null 0+
    standby_tasks: Final[tuple[StreamsGroupHeartbeatRequest.TaskIds, ...] | None]  # 0+, null 0+
    warmup_tasks: Final[tuple[StreamsGroupHeartbeatRequest.TaskIds, ...] | None]  # 0+, null 0+
    process_id: Final[str | None]  # 0+, null 0+
    user_endpoint: Final[StreamsGroupHeartbeatRequest.Endpoint | None]  # 0+, null 0+
    client_tags: Final[tuple[StreamsGroupHeartbeatRequest.KeyValue, ...] | None]  # 0+, null 0+
    task_offsets: Final[tuple[StreamsGroupHeartbeatRequest.TaskOffset, ...] | None]  # 0+, null 0+
    task_end_offsets: Final[tuple[StreamsGroupHeartbeatRequest.TaskOffset, ...] | None]  # 0+, null 0+
    shutdown_application: Final[bool]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: StreamsGroupHeartbeatRequest.Topology | None = None,
        active_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = None,
        standby_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = None,
        warmup_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: StreamsGroupHeartbeatRequest.Endpoint | None = None,
        client_tags: Sequence[StreamsGroupHeartbeatRequest.KeyValue] | None = None,
        task_offsets: Sequence[StreamsGroupHeartbeatRequest.TaskOffset] | None = None,
        task_end_offsets: Sequence[StreamsGroupHeartbeatRequest.TaskOffset] | None = None,
        shutdown_application: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        member_epoch: int = ...,
        endpoint_information_epoch: int = ...,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        rebalance_timeout_ms: int = ...,
        topology: StreamsGroupHeartbeatRequest.Topology | None = ...,
        active_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = ...,
        standby_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = ...,
        warmup_tasks: Sequence[StreamsGroupHeartbeatRequest.TaskIds] | None = ...,
        process_id: str | None = ...,
        user_endpoint: StreamsGroupHeartbeatRequest.Endpoint | None = ...,
        client_tags: Sequence[StreamsGroupHeartbeatRequest.KeyValue] | None = ...,
        task_offsets: Sequence[StreamsGroupHeartbeatRequest.TaskOffset] | None = ...,
        task_end_offsets: Sequence[StreamsGroupHeartbeatRequest.TaskOffset] | None = ...,
        shutdown_application: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class KeyValue(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[str]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicInfo(Struct):
        __match_args__ = ("name", "partitions", "replication_factor", "topic_configs",)
        name: Final[str]  # 0+
        partitions: Final[int]  # 0+
        replication_factor: Final[int]  # 0+
        topic_configs: Final[tuple[StreamsGroupHeartbeatRequest.KeyValue, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: int = 0,
            replication_factor: int = 0,
            topic_configs: Sequence[StreamsGroupHeartbeatRequest.KeyValue] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: int = ...,
            replication_factor: int = ...,
            topic_configs: Sequence[StreamsGroupHeartbeatRequest.KeyValue] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CopartitionGroup(Struct):
        __match_args__ = ("source_topics", "source_topic_regex", "repartition_source_topics",)
        source_topics: Final[tuple[int, ...]]  # 0+
        source_topic_regex: Final[tuple[int, ...]]  # 0+
        repartition_source_topics: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            source_topics: Sequence[int] = (),
            source_topic_regex: Sequence[int] = (),
            repartition_source_topics: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            source_topics: Sequence[int] = ...,
            source_topic_regex: Sequence[int] = ...,
            repartition_source_topics: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Subtopology(Struct):
        __match_args__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups",)
        subtopology_id: Final[str]  # 0+
        source_topics: Final[tuple[str, ...]]  # 0+
        source_topic_regex: Final[tuple[str, ...]]  # 0+
        state_changelog_topics: Final[tuple[StreamsGroupHeartbeatRequest.TopicInfo, ...]]  # 0+
        repartition_sink_topics: Final[tuple[str, ...]]  # 0+
        repartition_source_topics: Final[tuple[StreamsGroupHeartbeatRequest.TopicInfo, ...]]  # 0+
        copartition_groups: Final[tuple[StreamsGroupHeartbeatRequest.CopartitionGroup, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            source_topics: Sequence[str] = (),
            source_topic_regex: Sequence[str] = (),
            state_changelog_topics: Sequence[StreamsGroupHeartbeatRequest.TopicInfo] = (),
            repartition_sink_topics: Sequence[str] = (),
            repartition_source_topics: Sequence[StreamsGroupHeartbeatRequest.TopicInfo] = (),
            copartition_groups: Sequence[StreamsGroupHeartbeatRequest.CopartitionGroup] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            source_topics: Sequence[str] = ...,
            source_topic_regex: Sequence[str] = ...,
            state_changelog_topics: Sequence[StreamsGroupHeartbeatRequest.TopicInfo] = ...,
            repartition_sink_topics: Sequence[str] = ...,
            repartition_source_topics: Sequence[StreamsGroupHeartbeatRequest.TopicInfo] = ...,
            copartition_groups: Sequence[StreamsGroupHeartbeatRequest.CopartitionGroup] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Topology(Struct):
        __match_args__ = ("epoch", "subtopologies",)
        epoch: Final[int]  # 0+
        subtopologies: Final[tuple[StreamsGroupHeartbeatRequest.Subtopology, ...]]  # 0+

        def __init__(
            self,
            *,
            epoch: int = 0,
            subtopologies: Sequence[StreamsGroupHeartbeatRequest.Subtopology] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            epoch: int = ...,
            subtopologies: Sequence[StreamsGroupHeartbeatRequest.Subtopology] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskIds(Struct):
        __match_args__ = ("subtopology_id", "partitions",)
        subtopology_id: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Endpoint(Struct):
        __match_args__ = ("host", "port",)
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskOffset(Struct):
        __match_args__ = ("subtopology_id", "partition", "offset",)
        subtopology_id: Final[str]  # 0+
        partition: Final[int]  # 0+
        offset: Final[int]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partition: int = 0,
            offset: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partition: int = ...,
            offset: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupHeartbeatResponse(Response):
    """Response 88, versions 0-1, flexible 0-1."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "member_id", "member_epoch", "heartbeat_interval_ms", "acceptable_recovery_lag_legacy", "task_offset_interval_ms", "acceptable_recovery_lag", "status", "active_tasks", "standby_tasks", "warmup_tasks", "topology_description_required", "endpoint_information_epoch", "partitions_by_user_endpoint",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    member_id: Final[str]  # 0+
    member_epoch: Final[int]  # 0+
    heartbeat_interval_ms: Final[int]  # 0+
    acceptable_recovery_lag_legacy: Final[int]  # 0
    task_offset_interval_ms: Final[int]  # 0+
    acceptable_recovery_lag: Final[int]  # 1+
    status: Final[tuple[StreamsGroupHeartbeatResponse.Status, ...] | None]  # 0+, null 0+
    active_tasks: Final[tuple[StreamsGroupHeartbeatResponse.TaskIds, ...] | None]  # 0+, null 0+
    standby_tasks: Final[tuple[StreamsGroupHeartbeatResponse.TaskIds, ...] | None]  # 0+, null 0+
    warmup_tasks: Final[tuple[StreamsGroupHeartbeatResponse.TaskIds, ...] | None]  # 0+, null 0+
    topology_description_required: Final[bool]  # 1+
    endpoint_information_epoch: Final[int]  # 0+
    partitions_by_user_endpoint: Final[tuple[StreamsGroupHeartbeatResponse.EndpointToPartitions, ...] | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag_legacy: int = 0,
        task_offset_interval_ms: int = 0,
        acceptable_recovery_lag: int = -1,
        status: Sequence[StreamsGroupHeartbeatResponse.Status] | None = (),
        active_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = None,
        standby_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = None,
        warmup_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = None,
        topology_description_required: bool = False,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: Sequence[StreamsGroupHeartbeatResponse.EndpointToPartitions] | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        member_id: str = ...,
        member_epoch: int = ...,
        heartbeat_interval_ms: int = ...,
        acceptable_recovery_lag_legacy: int = ...,
        task_offset_interval_ms: int = ...,
        acceptable_recovery_lag: int = ...,
        status: Sequence[StreamsGroupHeartbeatResponse.Status] | None = ...,
        active_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = ...,
        standby_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = ...,
        warmup_tasks: Sequence[StreamsGroupHeartbeatResponse.TaskIds] | None = ...,
        topology_description_required: bool = ...,
        endpoint_information_epoch: int = ...,
        partitions_by_user_endpoint: Sequence[StreamsGroupHeartbeatResponse.EndpointToPartitions] | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Status(Struct):
        __match_args__ = ("status_code", "status_detail",)
        status_code: Final[int]  # 0+
        status_detail: Final[str]  # 0+

        def __init__(
            self,
            *,
            status_code: int = 0,
            status_detail: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            status_code: int = ...,
            status_detail: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskIds(Struct):
        __match_args__ = ("subtopology_id", "partitions",)
        subtopology_id: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Endpoint(Struct):
        __match_args__ = ("host", "port",)
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicPartition(Struct):
        __match_args__ = ("topic", "partitions",)
        topic: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class EndpointToPartitions(Struct):
        __match_args__ = ("user_endpoint", "active_partitions", "standby_partitions",)
        user_endpoint: Final[StreamsGroupHeartbeatResponse.Endpoint]  # 0+
        active_partitions: Final[tuple[StreamsGroupHeartbeatResponse.TopicPartition, ...]]  # 0+
        standby_partitions: Final[tuple[StreamsGroupHeartbeatResponse.TopicPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            user_endpoint: StreamsGroupHeartbeatResponse.Endpoint = ...,
            active_partitions: Sequence[StreamsGroupHeartbeatResponse.TopicPartition] = (),
            standby_partitions: Sequence[StreamsGroupHeartbeatResponse.TopicPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            user_endpoint: StreamsGroupHeartbeatResponse.Endpoint = ...,
            active_partitions: Sequence[StreamsGroupHeartbeatResponse.TopicPartition] = ...,
            standby_partitions: Sequence[StreamsGroupHeartbeatResponse.TopicPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupMemberMetadataKey(Message):
    """Coordinator-key 19, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupMemberMetadataValue(Message):
    """Coordinator-value 19, versions 0, flexible 0."""

    __match_args__ = ("instance_id", "rack_id", "client_id", "client_host", "rebalance_timeout_ms", "topology_epoch", "process_id", "user_endpoint", "client_tags",)
    instance_id: Final[str | None]  # 0+, null 0+
    rack_id: Final[str | None]  # 0+, null 0+
    client_id: Final[str]  # 0+
    client_host: Final[str]  # 0+
    rebalance_timeout_ms: Final[int]  # 0+
    topology_epoch: Final[int]  # 0+
    process_id: Final[str]  # 0+
    user_endpoint: Final[StreamsGroupMemberMetadataValue.Endpoint | None]  # 0+, null 0+
    client_tags: Final[tuple[StreamsGroupMemberMetadataValue.KeyValue, ...]]  # 0+

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None = None,
        client_tags: Sequence[StreamsGroupMemberMetadataValue.KeyValue] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        instance_id: str | None = ...,
        rack_id: str | None = ...,
        client_id: str = ...,
        client_host: str = ...,
        rebalance_timeout_ms: int = ...,
        topology_epoch: int = ...,
        process_id: str = ...,
        user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None = ...,
        client_tags: Sequence[StreamsGroupMemberMetadataValue.KeyValue] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Endpoint(Struct):
        __match_args__ = ("host", "port",)
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class KeyValue(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[str]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupMetadataKey(Message):
    """Coordinator-key 17, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupMetadataValue(Message):
    """Coordinator-value 17, versions 0, flexible 0."""

    __match_args__ = ("epoch", "metadata_hash", "validated_topology_epoch", "last_assignment_configs", "stored_description_topology_epoch", "failed_description_topology_epoch",)
    epoch: Final[int]  # 0+
    metadata_hash: Final[int]  # 0+
    validated_topology_epoch: Final[int]  # 0+, tag 0 0+
    last_assignment_configs: Final[tuple[StreamsGroupMetadataValue.LastAssignmentConfig, ...] | None]  # 0+, null 0+, tag 1 0+
    stored_description_topology_epoch: Final[int]  # 0+, tag 2 0+
    failed_description_topology_epoch: Final[int]  # 0+, tag 3 0+

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: Sequence[StreamsGroupMetadataValue.LastAssignmentConfig] | None = (),
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        epoch: int = ...,
        metadata_hash: int = ...,
        validated_topology_epoch: int = ...,
        last_assignment_configs: Sequence[StreamsGroupMetadataValue.LastAssignmentConfig] | None = ...,
        stored_description_topology_epoch: int = ...,
        failed_description_topology_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class LastAssignmentConfig(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[str]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupTargetAssignmentMemberKey(Message):
    """Coordinator-key 21, versions 0, flexible none."""

    __match_args__ = ("group_id", "member_id",)
    group_id: Final[str]  # 0
    member_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupTargetAssignmentMemberValue(Message):
    """Coordinator-value 21, versions 0, flexible 0."""

    __match_args__ = ("active_tasks", "standby_tasks", "warmup_tasks",)
    active_tasks: Final[tuple[StreamsGroupTargetAssignmentMemberValue.TaskIds, ...]]  # 0+
    standby_tasks: Final[tuple[StreamsGroupTargetAssignmentMemberValue.TaskIds, ...]]  # 0+
    warmup_tasks: Final[tuple[StreamsGroupTargetAssignmentMemberValue.TaskIds, ...]]  # 0+

    def __init__(
        self,
        *,
        active_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = (),
        standby_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = (),
        warmup_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        active_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        standby_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        warmup_tasks: Sequence[StreamsGroupTargetAssignmentMemberValue.TaskIds] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TaskIds(Struct):
        __match_args__ = ("subtopology_id", "partitions",)
        subtopology_id: Final[str]  # 0+
        partitions: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            partitions: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            partitions: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupTargetAssignmentMetadataKey(Message):
    """Coordinator-key 20, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupTargetAssignmentMetadataValue(Message):
    """Coordinator-value 20, versions 0, flexible 0."""

    __match_args__ = ("assignment_epoch", "assignment_timestamp",)
    assignment_epoch: Final[int]  # 0+
    assignment_timestamp: Final[int]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        assignment_epoch: int = ...,
        assignment_timestamp: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupTopologyDescriptionUpdateRequest(Request):
    """Request 93, versions 0, flexible 0."""

    __match_args__ = ("group_id", "member_id", "topology_epoch", "topology_description",)
    group_id: Final[str]  # 0+
    member_id: Final[str]  # 0+
    topology_epoch: Final[int]  # 0+
    topology_description: Final[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescription]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        topology_epoch: int = 0,
        topology_description: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescription = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        member_id: str = ...,
        topology_epoch: int = ...,
        topology_description: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescription = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopologyDescriptionNode(Struct):
        __match_args__ = ("name", "node_type", "source_topics", "sink_topic", "stores", "successors",)
        name: Final[str]  # 0+
        node_type: Final[int]  # 0+
        source_topics: Final[tuple[str, ...]]  # 0+
        sink_topic: Final[str | None]  # 0+, null 0+
        stores: Final[tuple[str, ...]]  # 0+
        successors: Final[tuple[str, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            node_type: int = 0,
            source_topics: Sequence[str] = (),
            sink_topic: str | None = None,
            stores: Sequence[str] = (),
            successors: Sequence[str] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            node_type: int = ...,
            source_topics: Sequence[str] = ...,
            sink_topic: str | None = ...,
            stores: Sequence[str] = ...,
            successors: Sequence[str] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescriptionSubtopology(Struct):
        __match_args__ = ("subtopology_id", "nodes",)
        subtopology_id: Final[str]  # 0+
        nodes: Final[tuple[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            nodes: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            nodes: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescriptionGlobalStore(Struct):
        __match_args__ = ("source", "processor",)
        source: Final[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode]  # 0+
        processor: Final[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode]  # 0+

        def __init__(
            self,
            *,
            source: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...,
            processor: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            source: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...,
            processor: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopologyDescription(Struct):
        __match_args__ = ("subtopologies", "global_stores",)
        subtopologies: Final[tuple[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionSubtopology, ...]]  # 0+
        global_stores: Final[tuple[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionGlobalStore, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopologies: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionSubtopology] = (),
            global_stores: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionGlobalStore] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopologies: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionSubtopology] = ...,
            global_stores: Sequence[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionGlobalStore] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class StreamsGroupTopologyDescriptionUpdateResponse(Response):
    """Response 93, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupTopologyKey(Message):
    """Coordinator-key 23, versions 0, flexible none."""

    __match_args__ = ("group_id",)
    group_id: Final[str]  # 0

    def __init__(
        self,
        *,
        group_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class StreamsGroupTopologyValue(Message):
    """Coordinator-value 23, versions 0, flexible 0."""

    __match_args__ = ("epoch", "subtopologies",)
    epoch: Final[int]  # 0+
    subtopologies: Final[tuple[StreamsGroupTopologyValue.Subtopology, ...]]  # 0+

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: Sequence[StreamsGroupTopologyValue.Subtopology] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        epoch: int = ...,
        subtopologies: Sequence[StreamsGroupTopologyValue.Subtopology] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TopicConfig(Struct):
        __match_args__ = ("key", "value",)
        key: Final[str]  # 0+
        value: Final[str]  # 0+

        def __init__(
            self,
            *,
            key: str = "",
            value: str = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: str = ...,
            value: str = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicInfo(Struct):
        __match_args__ = ("name", "partitions", "replication_factor", "topic_configs",)
        name: Final[str]  # 0+
        partitions: Final[int]  # 0+
        replication_factor: Final[int]  # 0+
        topic_configs: Final[tuple[StreamsGroupTopologyValue.TopicConfig, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: int = 0,
            replication_factor: int = 0,
            topic_configs: Sequence[StreamsGroupTopologyValue.TopicConfig] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: int = ...,
            replication_factor: int = ...,
            topic_configs: Sequence[StreamsGroupTopologyValue.TopicConfig] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class CopartitionGroup(Struct):
        __match_args__ = ("source_topics", "source_topic_regex", "repartition_source_topics",)
        source_topics: Final[tuple[int, ...]]  # 0+
        source_topic_regex: Final[tuple[int, ...]]  # 0+
        repartition_source_topics: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            source_topics: Sequence[int] = (),
            source_topic_regex: Sequence[int] = (),
            repartition_source_topics: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            source_topics: Sequence[int] = ...,
            source_topic_regex: Sequence[int] = ...,
            repartition_source_topics: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Subtopology(Struct):
        __match_args__ = ("subtopology_id", "source_topics", "source_topic_regex", "state_changelog_topics", "repartition_sink_topics", "repartition_source_topics", "copartition_groups",)
        subtopology_id: Final[str]  # 0+
        source_topics: Final[tuple[str, ...]]  # 0+
        source_topic_regex: Final[tuple[str, ...]]  # 0+
        state_changelog_topics: Final[tuple[StreamsGroupTopologyValue.TopicInfo, ...]]  # 0+
        repartition_sink_topics: Final[tuple[str, ...]]  # 0+
        repartition_source_topics: Final[tuple[StreamsGroupTopologyValue.TopicInfo, ...]]  # 0+
        copartition_groups: Final[tuple[StreamsGroupTopologyValue.CopartitionGroup, ...]]  # 0+

        def __init__(
            self,
            *,
            subtopology_id: str = "",
            source_topics: Sequence[str] = (),
            source_topic_regex: Sequence[str] = (),
            state_changelog_topics: Sequence[StreamsGroupTopologyValue.TopicInfo] = (),
            repartition_sink_topics: Sequence[str] = (),
            repartition_source_topics: Sequence[StreamsGroupTopologyValue.TopicInfo] = (),
            copartition_groups: Sequence[StreamsGroupTopologyValue.CopartitionGroup] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            subtopology_id: str = ...,
            source_topics: Sequence[str] = ...,
            source_topic_regex: Sequence[str] = ...,
            state_changelog_topics: Sequence[StreamsGroupTopologyValue.TopicInfo] = ...,
            repartition_sink_topics: Sequence[str] = ...,
            repartition_source_topics: Sequence[StreamsGroupTopologyValue.TopicInfo] = ...,
            copartition_groups: Sequence[StreamsGroupTopologyValue.CopartitionGroup] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class SubscriptionInfoData(Message):
    """Data, versions 1-11, flexible none."""

    __match_args__ = ("version", "latest_supported_version", "process_id", "prev_tasks", "standby_tasks", "user_end_point", "task_offset_sums", "unique_field", "error_code", "client_tags",)
    version: Final[int]  # 1+
    latest_supported_version: Final[int]  # 3+
    process_id: Final[UUID]  # 1+
    prev_tasks: Final[tuple[SubscriptionInfoData.TaskId, ...]]  # 1-6
    standby_tasks: Final[tuple[SubscriptionInfoData.TaskId, ...]]  # 1-6
    user_end_point: Final[bytes]  # 2+
    task_offset_sums: Final[tuple[SubscriptionInfoData.TaskOffsetSum, ...]]  # 7+
    unique_field: Final[int]  # 8+
    error_code: Final[int]  # 9+
    client_tags: Final[tuple[SubscriptionInfoData.ClientTag, ...]]  # 11+

    def __init__(
        self,
        *,
        version: int = 0,
        latest_supported_version: int = -1,
        process_id: UUID = ...,
        prev_tasks: Sequence[SubscriptionInfoData.TaskId] = (),
        standby_tasks: Sequence[SubscriptionInfoData.TaskId] = (),
        user_end_point: Buffer = b"",
        task_offset_sums: Sequence[SubscriptionInfoData.TaskOffsetSum] = (),
        unique_field: int = 0,
        error_code: int = 0,
        client_tags: Sequence[SubscriptionInfoData.ClientTag] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        latest_supported_version: int = ...,
        process_id: UUID = ...,
        prev_tasks: Sequence[SubscriptionInfoData.TaskId] = ...,
        standby_tasks: Sequence[SubscriptionInfoData.TaskId] = ...,
        user_end_point: Buffer = ...,
        task_offset_sums: Sequence[SubscriptionInfoData.TaskOffsetSum] = ...,
        unique_field: int = ...,
        error_code: int = ...,
        client_tags: Sequence[SubscriptionInfoData.ClientTag] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TaskId(Struct):
        __match_args__ = ("topic_group_id", "partition",)
        topic_group_id: Final[int]  # 1-6
        partition: Final[int]  # 1-6

        def __init__(
            self,
            *,
            topic_group_id: int = 0,
            partition: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_group_id: int = ...,
            partition: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionToOffsetSum(Struct):
        __match_args__ = ("partition", "offset_sum",)
        partition: Final[int]  # 7-9
        offset_sum: Final[int]  # 7-9

        def __init__(
            self,
            *,
            partition: int = 0,
            offset_sum: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            offset_sum: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TaskOffsetSum(Struct):
        __match_args__ = ("topic_group_id", "partition", "offset_sum", "named_topology", "partition_to_offset_sum",)
        topic_group_id: Final[int]  # 7+
        partition: Final[int]  # 10+
        offset_sum: Final[int]  # 10+
        named_topology: Final[str | None]  # 10+, null 10+
        partition_to_offset_sum: Final[tuple[SubscriptionInfoData.PartitionToOffsetSum, ...]]  # 7-9

        def __init__(
            self,
            *,
            topic_group_id: int = 0,
            partition: int = 0,
            offset_sum: int = 0,
            named_topology: str | None = "",
            partition_to_offset_sum: Sequence[SubscriptionInfoData.PartitionToOffsetSum] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_group_id: int = ...,
            partition: int = ...,
            offset_sum: int = ...,
            named_topology: str | None = ...,
            partition_to_offset_sum: Sequence[SubscriptionInfoData.PartitionToOffsetSum] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class ClientTag(Struct):
        __match_args__ = ("key", "value",)
        key: Final[bytes]  # 11+
        value: Final[bytes]  # 11+

        def __init__(
            self,
            *,
            key: Buffer = b"",
            value: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            key: Buffer = ...,
            value: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class SyncGroupRequest(Request):
    """Request 14, versions 0-5, flexible 4-5."""

    __match_args__ = ("group_id", "generation_id", "member_id", "group_instance_id", "protocol_type", "protocol_name", "assignments",)
    group_id: Final[str]  # 0+
    generation_id: Final[int]  # 0+
    member_id: Final[str]  # 0+
    group_instance_id: Final[str | None]  # 3+, null 3+
    protocol_type: Final[str | None]  # 5+, null 5+
    protocol_name: Final[str | None]  # 5+, null 5+
    assignments: Final[tuple[SyncGroupRequest.SyncGroupRequestAssignment, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Sequence[SyncGroupRequest.SyncGroupRequestAssignment] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        generation_id: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignments: Sequence[SyncGroupRequest.SyncGroupRequestAssignment] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class SyncGroupRequestAssignment(Struct):
        __match_args__ = ("member_id", "assignment",)
        member_id: Final[str]  # 0+
        assignment: Final[bytes]  # 0+

        def __init__(
            self,
            *,
            member_id: str = "",
            assignment: Buffer = b"",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            member_id: str = ...,
            assignment: Buffer = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class SyncGroupResponse(Response):
    """Response 14, versions 0-5, flexible 4-5."""

    __match_args__ = ("throttle_time_ms", "error_code", "protocol_type", "protocol_name", "assignment",)
    throttle_time_ms: Final[int]  # 1+
    error_code: Final[int]  # 0+
    protocol_type: Final[str | None]  # 5+, null 5+
    protocol_name: Final[str | None]  # 5+, null 5+
    assignment: Final[bytes]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: Buffer = b"",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        protocol_type: str | None = ...,
        protocol_name: str | None = ...,
        assignment: Buffer = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class TopicRecord(Message):
    """Metadata 2, versions 0, flexible 0."""

    __match_args__ = ("name", "topic_id",)
    name: Final[str]  # 0+
    topic_id: Final[UUID]  # 0+

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str = ...,
        topic_id: UUID = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class TransactionLogKey(Message):
    """Coordinator-key 0, versions 0, flexible none."""

    __match_args__ = ("transactional_id",)
    transactional_id: Final[str]  # 0

    def __init__(
        self,
        *,
        transactional_id: str = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class TransactionLogValue(Message):
    """Coordinator-value 0, versions 0-1, flexible 1."""

    __match_args__ = ("producer_id", "previous_producer_id", "next_producer_id", "producer_epoch", "next_producer_epoch", "transaction_timeout_ms", "transaction_status", "transaction_partitions", "transaction_last_update_timestamp_ms", "transaction_start_timestamp_ms", "client_transaction_version",)
    producer_id: Final[int]  # 0+
    previous_producer_id: Final[int]  # 1+, tag 0 1+
    next_producer_id: Final[int]  # 1+, tag 1 1+
    producer_epoch: Final[int]  # 0+
    next_producer_epoch: Final[int]  # 1+, tag 3 1+
    transaction_timeout_ms: Final[int]  # 0+
    transaction_status: Final[int]  # 0+
    transaction_partitions: Final[tuple[TransactionLogValue.PartitionsSchema, ...] | None]  # 0+, null 0+
    transaction_last_update_timestamp_ms: Final[int]  # 0+
    transaction_start_timestamp_ms: Final[int]  # 0+
    client_transaction_version: Final[int]  # 1+, tag 2 1+

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: Sequence[TransactionLogValue.PartitionsSchema] | None = (),
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        producer_id: int = ...,
        previous_producer_id: int = ...,
        next_producer_id: int = ...,
        producer_epoch: int = ...,
        next_producer_epoch: int = ...,
        transaction_timeout_ms: int = ...,
        transaction_status: int = ...,
        transaction_partitions: Sequence[TransactionLogValue.PartitionsSchema] | None = ...,
        transaction_last_update_timestamp_ms: int = ...,
        transaction_start_timestamp_ms: int = ...,
        client_transaction_version: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionsSchema(Struct):
        __match_args__ = ("topic", "partition_ids",)
        topic: Final[str]  # 0+
        partition_ids: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            topic: str = "",
            partition_ids: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic: str = ...,
            partition_ids: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class TxnOffsetCommitRequest(Request):
    """Request 28, versions 0-6, flexible 3-6."""

    __match_args__ = ("transactional_id", "group_id", "producer_id", "producer_epoch", "generation_id_or_member_epoch", "member_id", "group_instance_id", "topics",)
    transactional_id: Final[str]  # 0+
    group_id: Final[str]  # 0+
    producer_id: Final[int]  # 0+
    producer_epoch: Final[int]  # 0+
    generation_id_or_member_epoch: Final[int]  # 3+
    member_id: Final[str]  # 3+
    group_instance_id: Final[str | None]  # 3+, null 3+
    topics: Final[tuple[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: Sequence[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        transactional_id: str = ...,
        group_id: str = ...,
        producer_id: int = ...,
        producer_epoch: int = ...,
        generation_id_or_member_epoch: int = ...,
        member_id: str = ...,
        group_instance_id: str | None = ...,
        topics: Sequence[TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TxnOffsetCommitRequestPartition(Struct):
        __match_args__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata",)
        partition_index: Final[int]  # 0+
        committed_offset: Final[int]  # 0+
        committed_leader_epoch: Final[int]  # 2+
        committed_metadata: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            committed_offset: int = 0,
            committed_leader_epoch: int = -1,
            committed_metadata: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            committed_offset: int = ...,
            committed_leader_epoch: int = ...,
            committed_metadata: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TxnOffsetCommitRequestTopic(Struct):
        __match_args__ = ("name", "topic_id", "partitions",)
        name: Final[str]  # 0-5
        topic_id: Final[UUID]  # 6+
        partitions: Final[tuple[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class TxnOffsetCommitResponse(Response):
    """Response 28, versions 0-6, flexible 3-6."""

    __match_args__ = ("throttle_time_ms", "topics",)
    throttle_time_ms: Final[int]  # 0+
    topics: Final[tuple[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic, ...]]  # 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: Sequence[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        topics: Sequence[TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class TxnOffsetCommitResponsePartition(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TxnOffsetCommitResponseTopic(Struct):
        __match_args__ = ("name", "topic_id", "partitions",)
        name: Final[str]  # 0-5
        topic_id: Final[UUID]  # 6+
        partitions: Final[tuple[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            topic_id: UUID = ...,
            partitions: Sequence[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            topic_id: UUID = ...,
            partitions: Sequence[TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UnfenceBrokerRecord(Message):
    """Metadata 8, versions 0, flexible 0."""

    __match_args__ = ("id", "epoch",)
    id: Final[int]  # 0+
    epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        id: int = ...,
        epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterBrokerRecord(Message):
    """Metadata 1, versions 0, flexible 0."""

    __match_args__ = ("broker_id", "broker_epoch",)
    broker_id: Final[int]  # 0+
    broker_epoch: Final[int]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        broker_epoch: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterBrokerRequest(Request):
    """Request 64, versions 0, flexible 0."""

    __match_args__ = ("broker_id",)
    broker_id: Final[int]  # 0+

    def __init__(
        self,
        *,
        broker_id: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        broker_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterBrokerResponse(Response):
    """Response 64, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterControllerRecord(Message):
    """Metadata 29, versions 0, flexible 0."""

    __match_args__ = ("controller_id",)
    controller_id: Final[int]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterControllerRequest(Request):
    """Request 94, versions 0, flexible 0."""

    __match_args__ = ("controller_id",)
    controller_id: Final[int]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UnregisterControllerResponse(Response):
    """Response 94, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UpdateFeaturesRequest(Request):
    """Request 57, versions 0-2, flexible 0-2."""

    __match_args__ = ("timeout_ms", "feature_updates", "validate_only",)
    timeout_ms: Final[int]  # 0+
    feature_updates: Final[tuple[UpdateFeaturesRequest.FeatureUpdateKey, ...]]  # 0+
    validate_only: Final[bool]  # 1+

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: Sequence[UpdateFeaturesRequest.FeatureUpdateKey] = (),
        validate_only: bool = False,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        timeout_ms: int = ...,
        feature_updates: Sequence[UpdateFeaturesRequest.FeatureUpdateKey] = ...,
        validate_only: bool = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class FeatureUpdateKey(Struct):
        __match_args__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type",)
        feature: Final[str]  # 0+
        max_version_level: Final[int]  # 0+
        allow_downgrade: Final[bool]  # 0
        upgrade_type: Final[int]  # 1+

        def __init__(
            self,
            *,
            feature: str = "",
            max_version_level: int = 0,
            allow_downgrade: bool = False,
            upgrade_type: int = 1,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            feature: str = ...,
            max_version_level: int = ...,
            allow_downgrade: bool = ...,
            upgrade_type: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UpdateFeaturesResponse(Response):
    """Response 57, versions 0-2, flexible 0-2."""

    __match_args__ = ("throttle_time_ms", "error_code", "error_message", "results",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    error_message: Final[str | None]  # 0+, null 0+
    results: Final[tuple[UpdateFeaturesResponse.UpdatableFeatureResult, ...]]  # 0-1

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[UpdateFeaturesResponse.UpdatableFeatureResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        error_message: str | None = ...,
        results: Sequence[UpdateFeaturesResponse.UpdatableFeatureResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class UpdatableFeatureResult(Struct):
        __match_args__ = ("feature", "error_code", "error_message",)
        feature: Final[str]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            feature: str = "",
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            feature: str = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UpdateMetadataRequest(Request):
    """Request 6, versions 0-8, flexible 6-8."""

    __match_args__ = ("controller_id", "is_k_raft_controller", "type", "controller_epoch", "broker_epoch", "ungrouped_partition_states", "topic_states", "live_brokers",)
    controller_id: Final[int]  # 0+
    is_k_raft_controller: Final[bool]  # 8+
    type: Final[int]  # 8+, tag 0 8+
    controller_epoch: Final[int]  # 0+
    broker_epoch: Final[int]  # 5+
    ungrouped_partition_states: Final[tuple[UpdateMetadataRequest.UpdateMetadataPartitionState, ...]]  # 0-4
    topic_states: Final[tuple[UpdateMetadataRequest.UpdateMetadataTopicState, ...]]  # 5+
    live_brokers: Final[tuple[UpdateMetadataRequest.UpdateMetadataBroker, ...]]  # 0+

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_k_raft_controller: bool = False,
        type: int = 0,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        ungrouped_partition_states: Sequence[UpdateMetadataRequest.UpdateMetadataPartitionState] = (),
        topic_states: Sequence[UpdateMetadataRequest.UpdateMetadataTopicState] = (),
        live_brokers: Sequence[UpdateMetadataRequest.UpdateMetadataBroker] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        controller_id: int = ...,
        is_k_raft_controller: bool = ...,
        type: int = ...,
        controller_epoch: int = ...,
        broker_epoch: int = ...,
        ungrouped_partition_states: Sequence[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
        topic_states: Sequence[UpdateMetadataRequest.UpdateMetadataTopicState] = ...,
        live_brokers: Sequence[UpdateMetadataRequest.UpdateMetadataBroker] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class UpdateMetadataPartitionState(Struct):
        __match_args__ = ("topic_name", "partition_index", "controller_epoch", "leader", "leader_epoch", "isr", "zk_version", "replicas", "offline_replicas",)
        topic_name: Final[str]  # 0-4
        partition_index: Final[int]  # 0+
        controller_epoch: Final[int]  # 0+
        leader: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        isr: Final[tuple[int, ...]]  # 0+
        zk_version: Final[int]  # 0+
        replicas: Final[tuple[int, ...]]  # 0+
        offline_replicas: Final[tuple[int, ...]]  # 4+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partition_index: int = 0,
            controller_epoch: int = 0,
            leader: int = 0,
            leader_epoch: int = 0,
            isr: Sequence[int] = (),
            zk_version: int = 0,
            replicas: Sequence[int] = (),
            offline_replicas: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partition_index: int = ...,
            controller_epoch: int = ...,
            leader: int = ...,
            leader_epoch: int = ...,
            isr: Sequence[int] = ...,
            zk_version: int = ...,
            replicas: Sequence[int] = ...,
            offline_replicas: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class UpdateMetadataTopicState(Struct):
        __match_args__ = ("topic_name", "topic_id", "partition_states",)
        topic_name: Final[str]  # 5+
        topic_id: Final[UUID]  # 7+
        partition_states: Final[tuple[UpdateMetadataRequest.UpdateMetadataPartitionState, ...]]  # 5+

        def __init__(
            self,
            *,
            topic_name: str = "",
            topic_id: UUID = ...,
            partition_states: Sequence[UpdateMetadataRequest.UpdateMetadataPartitionState] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            topic_id: UUID = ...,
            partition_states: Sequence[UpdateMetadataRequest.UpdateMetadataPartitionState] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class UpdateMetadataEndpoint(Struct):
        __match_args__ = ("port", "host", "listener", "security_protocol",)
        port: Final[int]  # 1+
        host: Final[str]  # 1+
        listener: Final[str]  # 3+
        security_protocol: Final[int]  # 1+

        def __init__(
            self,
            *,
            port: int = 0,
            host: str = "",
            listener: str = "",
            security_protocol: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            port: int = ...,
            host: str = ...,
            listener: str = ...,
            security_protocol: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class UpdateMetadataBroker(Struct):
        __match_args__ = ("id", "v0_host", "v0_port", "endpoints", "rack",)
        id: Final[int]  # 0+
        v0_host: Final[str]  # 0
        v0_port: Final[int]  # 0
        endpoints: Final[tuple[UpdateMetadataRequest.UpdateMetadataEndpoint, ...]]  # 1+
        rack: Final[str | None]  # 2+, null 0+

        def __init__(
            self,
            *,
            id: int = 0,
            v0_host: str = "",
            v0_port: int = 0,
            endpoints: Sequence[UpdateMetadataRequest.UpdateMetadataEndpoint] = (),
            rack: str | None = "",
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            id: int = ...,
            v0_host: str = ...,
            v0_port: int = ...,
            endpoints: Sequence[UpdateMetadataRequest.UpdateMetadataEndpoint] = ...,
            rack: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UpdateMetadataResponse(Response):
    """Response 6, versions 0-8, flexible 6-8."""

    __match_args__ = ("error_code",)
    error_code: Final[int]  # 0+

    def __init__(
        self,
        *,
        error_code: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class UpdateRaftVoterRequest(Request):
    """Request 82, versions 0, flexible 0."""

    __match_args__ = ("cluster_id", "current_leader_epoch", "voter_id", "voter_directory_id", "listeners", "k_raft_version_feature",)
    cluster_id: Final[str | None]  # 0+, null 0+
    current_leader_epoch: Final[int]  # 0+
    voter_id: Final[int]  # 0+
    voter_directory_id: Final[UUID]  # 0+
    listeners: Final[tuple[UpdateRaftVoterRequest.Listener, ...]]  # 0+
    k_raft_version_feature: Final[UpdateRaftVoterRequest.KRaftVersionFeature]  # 0+

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: UUID = ...,
        listeners: Sequence[UpdateRaftVoterRequest.Listener] = (),
        k_raft_version_feature: UpdateRaftVoterRequest.KRaftVersionFeature = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        current_leader_epoch: int = ...,
        voter_id: int = ...,
        voter_directory_id: UUID = ...,
        listeners: Sequence[UpdateRaftVoterRequest.Listener] = ...,
        k_raft_version_feature: UpdateRaftVoterRequest.KRaftVersionFeature = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Listener(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class KRaftVersionFeature(Struct):
        __match_args__ = ("min_supported_version", "max_supported_version",)
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UpdateRaftVoterResponse(Response):
    """Response 82, versions 0, flexible 0."""

    __match_args__ = ("throttle_time_ms", "error_code", "current_leader",)
    throttle_time_ms: Final[int]  # 0+
    error_code: Final[int]  # 0+
    current_leader: Final[UpdateRaftVoterResponse.CurrentLeader]  # 0+, tag 0 0+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: UpdateRaftVoterResponse.CurrentLeader = ...,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        throttle_time_ms: int = ...,
        error_code: int = ...,
        current_leader: UpdateRaftVoterResponse.CurrentLeader = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class CurrentLeader(Struct):
        __match_args__ = ("leader_id", "leader_epoch", "host", "port",)
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            leader_id: int = -1,
            leader_epoch: int = -1,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            leader_id: int = ...,
            leader_epoch: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class UserScramCredentialRecord(Message):
    """Metadata 11, versions 0, flexible 0."""

    __match_args__ = ("name", "mechanism", "salt", "stored_key", "server_key", "iterations",)
    name: Final[str]  # 0+
    mechanism: Final[int]  # 0+
    salt: Final[bytes]  # 0+
    stored_key: Final[bytes]  # 0+
    server_key: Final[bytes]  # 0+
    iterations: Final[int]  # 0+

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: Buffer = b"",
        stored_key: Buffer = b"",
        server_key: Buffer = b"",
        iterations: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        name: str = ...,
        mechanism: int = ...,
        salt: Buffer = ...,
        stored_key: Buffer = ...,
        server_key: Buffer = ...,
        iterations: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

@final
class VoteRequest(Request):
    """Request 52, versions 0-2, flexible 0-2."""

    __match_args__ = ("cluster_id", "voter_id", "topics",)
    cluster_id: Final[str | None]  # 0+, null 0+
    voter_id: Final[int]  # 1+
    topics: Final[tuple[VoteRequest.TopicData, ...]]  # 0+

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: Sequence[VoteRequest.TopicData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        cluster_id: str | None = ...,
        voter_id: int = ...,
        topics: Sequence[VoteRequest.TopicData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "replica_epoch", "replica_id", "replica_directory_id", "voter_directory_id", "last_offset_epoch", "last_offset", "pre_vote",)
        partition_index: Final[int]  # 0+
        replica_epoch: Final[int]  # 0+
        replica_id: Final[int]  # 0+
        replica_directory_id: Final[UUID]  # 1+
        voter_directory_id: Final[UUID]  # 1+
        last_offset_epoch: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        pre_vote: Final[bool]  # 2+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            replica_epoch: int = 0,
            replica_id: int = 0,
            replica_directory_id: UUID = ...,
            voter_directory_id: UUID = ...,
            last_offset_epoch: int = 0,
            last_offset: int = 0,
            pre_vote: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            replica_epoch: int = ...,
            replica_id: int = ...,
            replica_directory_id: UUID = ...,
            voter_directory_id: UUID = ...,
            last_offset_epoch: int = ...,
            last_offset: int = ...,
            pre_vote: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[VoteRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[VoteRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[VoteRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class VoteResponse(Response):
    """Response 52, versions 0-2, flexible 0-2."""

    __match_args__ = ("error_code", "topics", "node_endpoints",)
    error_code: Final[int]  # 0+
    topics: Final[tuple[VoteResponse.TopicData, ...]]  # 0+
    node_endpoints: Final[tuple[VoteResponse.NodeEndpoint, ...]]  # 1+, tag 0 1+

    def __init__(
        self,
        *,
        error_code: int = 0,
        topics: Sequence[VoteResponse.TopicData] = (),
        node_endpoints: Sequence[VoteResponse.NodeEndpoint] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        error_code: int = ...,
        topics: Sequence[VoteResponse.TopicData] = ...,
        node_endpoints: Sequence[VoteResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition_index", "error_code", "leader_id", "leader_epoch", "vote_granted",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+
        leader_id: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        vote_granted: Final[bool]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            leader_id: int = 0,
            leader_epoch: int = 0,
            vote_granted: bool = False,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            leader_id: int = ...,
            leader_epoch: int = ...,
            vote_granted: bool = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class TopicData(Struct):
        __match_args__ = ("topic_name", "partitions",)
        topic_name: Final[str]  # 0+
        partitions: Final[tuple[VoteResponse.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_name: str = "",
            partitions: Sequence[VoteResponse.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_name: str = ...,
            partitions: Sequence[VoteResponse.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class NodeEndpoint(Struct):
        __match_args__ = ("node_id", "host", "port",)
        node_id: Final[int]  # 1+
        host: Final[str]  # 1+
        port: Final[int]  # 1+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            node_id: int = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class VotersRecord(Message):
    """Data, versions 0, flexible 0."""

    __match_args__ = ("version", "voters",)
    version: Final[int]  # 0+
    voters: Final[tuple[VotersRecord.Voter, ...]]  # 0+

    def __init__(
        self,
        *,
        version: int = 0,
        voters: Sequence[VotersRecord.Voter] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        version: int = ...,
        voters: Sequence[VotersRecord.Voter] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class Endpoint(Struct):
        __match_args__ = ("name", "host", "port",)
        name: Final[str]  # 0+
        host: Final[str]  # 0+
        port: Final[int]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            host: str = "",
            port: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            host: str = ...,
            port: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class KRaftVersionFeature(Struct):
        __match_args__ = ("min_supported_version", "max_supported_version",)
        min_supported_version: Final[int]  # 0+
        max_supported_version: Final[int]  # 0+

        def __init__(
            self,
            *,
            min_supported_version: int = 0,
            max_supported_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            min_supported_version: int = ...,
            max_supported_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class Voter(Struct):
        __match_args__ = ("voter_id", "voter_directory_id", "endpoints", "k_raft_version_feature",)
        voter_id: Final[int]  # 0+
        voter_directory_id: Final[UUID]  # 0+
        endpoints: Final[tuple[VotersRecord.Endpoint, ...]]  # 0+
        k_raft_version_feature: Final[VotersRecord.KRaftVersionFeature]  # 0+

        def __init__(
            self,
            *,
            voter_id: int = 0,
            voter_directory_id: UUID = ...,
            endpoints: Sequence[VotersRecord.Endpoint] = (),
            k_raft_version_feature: VotersRecord.KRaftVersionFeature = ...,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            voter_id: int = ...,
            voter_directory_id: UUID = ...,
            endpoints: Sequence[VotersRecord.Endpoint] = ...,
            k_raft_version_feature: VotersRecord.KRaftVersionFeature = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class WriteShareGroupStateRequest(Request):
    """Request 85, versions 0-1, flexible 0-1."""

    __match_args__ = ("group_id", "topics",)
    group_id: Final[str]  # 0+
    topics: Final[tuple[WriteShareGroupStateRequest.WriteStateData, ...]]  # 0+

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: Sequence[WriteShareGroupStateRequest.WriteStateData] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        group_id: str = ...,
        topics: Sequence[WriteShareGroupStateRequest.WriteStateData] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class StateBatch(Struct):
        __match_args__ = ("first_offset", "last_offset", "delivery_state", "delivery_count",)
        first_offset: Final[int]  # 0+
        last_offset: Final[int]  # 0+
        delivery_state: Final[int]  # 0+
        delivery_count: Final[int]  # 0+

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            first_offset: int = ...,
            last_offset: int = ...,
            delivery_state: int = ...,
            delivery_count: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class PartitionData(Struct):
        __match_args__ = ("partition", "state_epoch", "leader_epoch", "start_offset", "delivery_complete_count", "state_batches",)
        partition: Final[int]  # 0+
        state_epoch: Final[int]  # 0+
        leader_epoch: Final[int]  # 0+
        start_offset: Final[int]  # 0+
        delivery_complete_count: Final[int]  # 1+
        state_batches: Final[tuple[WriteShareGroupStateRequest.StateBatch, ...]]  # 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            state_epoch: int = 0,
            leader_epoch: int = 0,
            start_offset: int = 0,
            delivery_complete_count: int = -1,
            state_batches: Sequence[WriteShareGroupStateRequest.StateBatch] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            state_epoch: int = ...,
            leader_epoch: int = ...,
            start_offset: int = ...,
            delivery_complete_count: int = ...,
            state_batches: Sequence[WriteShareGroupStateRequest.StateBatch] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class WriteStateData(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[WriteShareGroupStateRequest.PartitionData, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[WriteShareGroupStateRequest.PartitionData] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[WriteShareGroupStateRequest.PartitionData] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class WriteShareGroupStateResponse(Response):
    """Response 85, versions 0-1, flexible 0-1."""

    __match_args__ = ("results",)
    results: Final[tuple[WriteShareGroupStateResponse.WriteStateResult, ...]]  # 0+

    def __init__(
        self,
        *,
        results: Sequence[WriteShareGroupStateResponse.WriteStateResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        results: Sequence[WriteShareGroupStateResponse.WriteStateResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class PartitionResult(Struct):
        __match_args__ = ("partition", "error_code", "error_message",)
        partition: Final[int]  # 0+
        error_code: Final[int]  # 0+
        error_message: Final[str | None]  # 0+, null 0+

        def __init__(
            self,
            *,
            partition: int = 0,
            error_code: int = 0,
            error_message: str | None = None,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition: int = ...,
            error_code: int = ...,
            error_message: str | None = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class WriteStateResult(Struct):
        __match_args__ = ("topic_id", "partitions",)
        topic_id: Final[UUID]  # 0+
        partitions: Final[tuple[WriteShareGroupStateResponse.PartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[WriteShareGroupStateResponse.PartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            topic_id: UUID = ...,
            partitions: Sequence[WriteShareGroupStateResponse.PartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class WriteTxnMarkersRequest(Request):
    """Request 27, versions 0-2, flexible 1-2."""

    __match_args__ = ("markers",)
    markers: Final[tuple[WriteTxnMarkersRequest.WritableTxnMarker, ...]]  # 0+

    def __init__(
        self,
        *,
        markers: Sequence[WriteTxnMarkersRequest.WritableTxnMarker] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        markers: Sequence[WriteTxnMarkersRequest.WritableTxnMarker] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class WritableTxnMarkerTopic(Struct):
        __match_args__ = ("name", "partition_indexes",)
        name: Final[str]  # 0+
        partition_indexes: Final[tuple[int, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partition_indexes: Sequence[int] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partition_indexes: Sequence[int] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class WritableTxnMarker(Struct):
        __match_args__ = ("producer_id", "producer_epoch", "transaction_result", "topics", "coordinator_epoch", "transaction_version",)
        producer_id: Final[int]  # 0+
        producer_epoch: Final[int]  # 0+
        transaction_result: Final[bool]  # 0+
        topics: Final[tuple[WriteTxnMarkersRequest.WritableTxnMarkerTopic, ...]]  # 0+
        coordinator_epoch: Final[int]  # 0+
        transaction_version: Final[int]  # 2+

        def __init__(
            self,
            *,
            producer_id: int = 0,
            producer_epoch: int = 0,
            transaction_result: bool = False,
            topics: Sequence[WriteTxnMarkersRequest.WritableTxnMarkerTopic] = (),
            coordinator_epoch: int = 0,
            transaction_version: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            producer_id: int = ...,
            producer_epoch: int = ...,
            transaction_result: bool = ...,
            topics: Sequence[WriteTxnMarkersRequest.WritableTxnMarkerTopic] = ...,
            coordinator_epoch: int = ...,
            transaction_version: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class WriteTxnMarkersResponse(Response):
    """Response 27, versions 0-2, flexible 1-2."""

    __match_args__ = ("markers",)
    markers: Final[tuple[WriteTxnMarkersResponse.WritableTxnMarkerResult, ...]]  # 0+

    def __init__(
        self,
        *,
        markers: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerResult] = (),
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        markers: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerResult] = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...

    @final
    class WritableTxnMarkerPartitionResult(Struct):
        __match_args__ = ("partition_index", "error_code",)
        partition_index: Final[int]  # 0+
        error_code: Final[int]  # 0+

        def __init__(
            self,
            *,
            partition_index: int = 0,
            error_code: int = 0,
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            partition_index: int = ...,
            error_code: int = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class WritableTxnMarkerTopicResult(Struct):
        __match_args__ = ("name", "partitions",)
        name: Final[str]  # 0+
        partitions: Final[tuple[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult, ...]]  # 0+

        def __init__(
            self,
            *,
            name: str = "",
            partitions: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            name: str = ...,
            partitions: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

    @final
    class WritableTxnMarkerResult(Struct):
        __match_args__ = ("producer_id", "topics",)
        producer_id: Final[int]  # 0+
        topics: Final[tuple[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult, ...]]  # 0+

        def __init__(
            self,
            *,
            producer_id: int = 0,
            topics: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult] = (),
            unknown_tagged_fields: _Tags = (),
        ) -> None: ...
        def replace(
            self,
            *,
            producer_id: int = ...,
            topics: Sequence[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult] = ...,
            unknown_tagged_fields: _Tags = ...,
        ) -> Self: ...

@final
class ZkMigrationStateRecord(Message):
    """Metadata 21, versions 0, flexible 0."""

    __match_args__ = ("zk_migration_state",)
    zk_migration_state: Final[int]  # 0+

    def __init__(
        self,
        *,
        zk_migration_state: int = 0,
        unknown_tagged_fields: _Tags = (),
    ) -> None: ...
    def replace(
        self,
        *,
        zk_migration_state: int = ...,
        unknown_tagged_fields: _Tags = ...,
    ) -> Self: ...
