# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the blocking and the asyncio consumer have in common: options, and the state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._text import escape_line
from .chunks import Chunk
from .descriptions import describe_cluster, describe_topics, warn_unclosed
from .machines import ConsumerMachine, GroupMetadata, GroupOptions
from .options import make_scan_options
from .position import Position

if TYPE_CHECKING:
    from .chunks import DecodingOptions
    from .machines import ClusterSettings, DataLost, ScanOptions
    from .machines.scan.options import Fetched
    from .options import Offsets
    from .runners.network import Network
    from .runners.protocols import ClusterAccess

ConsumedTopics: TypeAlias = "str | Iterable[str] | re.Pattern[str]"
Partitions: TypeAlias = (
    "Literal['all'] | Iterable[int] | Mapping[str, Iterable[int]] | None"
)

_JAVA_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


def make_consumer_options(
    topics: ConsumedTopics,
    *,
    group: str,
    partitions: Partitions,
    start: Offsets,
    isolation: Literal["read_uncommitted", "read_committed"],
    memory_bytes: int,
    on_data_loss: Literal["raise", "earliest", "latest"],
    rack: str | None,
    instance_id: str | None,
    server_assignor: str | None,
    session_timeout_s: float,
    max_poll_interval_s: float,
) -> tuple[ScanOptions, GroupOptions]:
    """Read the arguments of ``consumer``; ``ValueError`` names one that is wrong."""
    if not isinstance(group, str) or not group:
        raise ValueError(f"group must be a name (got {group!r:.40})")
    for name, value in (
        ("session_timeout_s", session_timeout_s),
        ("max_poll_interval_s", max_poll_interval_s),
    ):
        if not 0 < value < 1e6:
            raise ValueError(f"{name} must be positive seconds (got {value!r:.40})")
    if isinstance(topics, Mapping):
        raise TypeError(
            "topics must be a name, names, or a compiled pattern; choose partitions"
            f" with partitions= (got {topics!r:.60})"
        )
    chosen: Any = topics
    if partitions is not None:
        if instance_id is not None or server_assignor is not None:
            raise ValueError(
                "instance_id and server_assignor cannot be given with partitions: who"
                " chooses partitions does not join the group"
            )
        chosen = _choose(topics, partitions)
    scan = make_scan_options(
        chosen,
        start=start,
        end="latest",
        follow=True,
        isolation=isolation,
        memory_bytes=memory_bytes,
        on_data_loss=on_data_loss,
        rack=rack,
    )
    pattern = None
    if partitions is None and scan.pattern is not None:
        pattern = _java_pattern(scan.pattern)
    return scan, GroupOptions(
        group,
        joins=partitions is None,
        pattern=pattern,
        instance_id=instance_id,
        server_assignor=server_assignor,
        session_timeout_s=session_timeout_s,
        max_poll_interval_s=max_poll_interval_s,
    )


def _choose(topics: ConsumedTopics, partitions: Any) -> Any:
    """Return topics with their partitions, as ``scan`` takes them."""
    if partitions == "all":
        return topics
    if isinstance(partitions, Mapping):
        names = {topics} if isinstance(topics, str) else set(topics)  # type: ignore[arg-type]
        if names != set(partitions):
            raise ValueError(
                f"partitions must have a key for each topic (got {partitions!r:.60})"
            )
        return partitions
    if not isinstance(topics, str) or isinstance(partitions, str):
        raise ValueError(
            'partitions must be "all", numbers where there is a single topic, or'
            f" {{topic: [numbers]}} (got {partitions!r:.60})"
        )
    return {topics: partitions}


def _java_pattern(pattern: re.Pattern[str]) -> str:
    """Write a pattern for the broker, which has RE2/J: flags go to the front."""
    if pattern.flags & re.VERBOSE:
        raise ValueError(
            "topics cannot be a pattern with re.VERBOSE: brokers have none"
        )
    flags = "".join(f for flag, f in _JAVA_FLAGS.items() if pattern.flags & flag)
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern


class ConsumerBase:
    """A consumer: what to read, and in which group."""

    _machine: ConsumerMachine | None = None
    _is_closing = False

    def __init__(
        self,
        kafka: ClusterAccess,
        options: tuple[ScanOptions, GroupOptions],
        decoding: DecodingOptions,
    ) -> None:
        self._kafka = kafka
        self._addresses: list[tuple[str, int]] = kafka.addresses
        self._settings: ClusterSettings = kafka.settings
        self._network: Network = kafka.network
        self._options = options
        self._decoding = decoding
        self._held: Fetched | None = None
        self._is_closed = False

    @property
    def losses(self) -> list[DataLost]:
        """Records that were lost, if ``on_data_loss`` let the consumer continue."""
        return [] if self._machine is None else self._machine.losses

    def assignment(self) -> set[tuple[str, int]]:
        """Return the (topic, partition) pairs that this consumer reads now."""
        return set() if self._machine is None else self._machine.assignment()

    def position(self) -> Position:
        """Return the next offset of each (topic, partition), after the last chunk."""
        return Position({} if self._machine is None else self._machine.position())

    @property
    def group_metadata(self) -> GroupMetadata:
        """The group, and who this consumer was in it when it returned a chunk."""
        if self._machine is not None:
            return self._machine.metadata
        return GroupMetadata(self._options[1].group, "", -1, None)

    def __repr__(self) -> str:
        scan, group = self._options
        topics = describe_topics(scan.topics, scan.pattern)
        cluster = describe_cluster(self._addresses)
        state = self._describe_state()
        return (
            f"<{type(self).__name__} of {topics} on {cluster}, group"
            f" {escape_line(group.group)}, {state}>"
        )

    def _describe_state(self) -> str:
        if self._is_closing:
            return "closed"
        if self._machine is None:
            return "not started"
        return f"at {self.position().describe() or 'no offset yet'}"

    def __del__(self) -> None:
        if self._machine is not None and not self._is_closing:
            warn_unclosed(self)
            self._abandon()

    def _abandon(self) -> None:
        """Close the connections of a consumer that has no owner left."""
        raise NotImplementedError

    def _check_unclosed(self) -> None:
        """Reject an iteration that would look like topics without records."""
        if self._is_closing:
            raise ValueError(
                "the consumer is closed; make another with kafka.consumer()"
            )

    def _has_result(self) -> bool:
        """Whether a wait is over: there is a chunk, or there will be none."""
        assert self._machine is not None
        return self._is_closing or self._machine.has_result()

    def _let_go(self, machine: ConsumerMachine) -> None:
        """Give back the memory of the chunk that the caller had."""
        held, self._held = self._held, None
        if held is not None:
            machine.release(held)

    def _take(self, machine: ConsumerMachine) -> Chunk | None:
        if self._is_closing:
            return None
        self._held = machine.take()
        return None if self._held is None else Chunk(self._held, self._decoding)

    def _find_offsets(
        self, chunks: Any
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        """Return who commits, and the offsets after chunks of this consumer."""
        chunks = [chunks] if isinstance(chunks, Chunk) else list(chunks)
        for each in chunks:
            if not isinstance(each, Chunk):
                raise ValueError(
                    "offsets must be chunks where group is a consumer"
                    f" (got {each!r:.60})"
                )
        if self._machine is None or self._is_closing:
            self._commit_nothing()
            return self.group_metadata, {}
        return self._machine.offsets_to_send(each.fetched for each in chunks)

    def _commit_nothing(self) -> dict[tuple[str, int], int]:
        """Commit before anything was read; or refuse it after the end."""
        if self._is_closing:
            raise ValueError("the consumer is closed: commit before leaving its block")
        return {}

    def _begin(self, now: float) -> ConsumerMachine:
        self._kafka.has_connected = True
        scan, group = self._options
        return ConsumerMachine(
            self._addresses, self._settings, scan, group, now=now, random=Random()
        )
