# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``WantedTopics``: looks up the topics to which a producer sends records.

A lookup starts with the first record for a topic. The brokers receive the metadata of a
new topic with a delay. Therefore, the lookup fails only if the topic has been unknown
for ``MAX_UNKNOWN_TOPIC_S``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import BrokersUnreachable
from .. import faults
from ..settings import MAX_UNKNOWN_TOPIC_S

if TYPE_CHECKING:
    from ...errors import ClusterError
    from ..cluster import ClusterMachine
    from ..metadata import TopicInfo


class WantedTopics:
    """Looks up topics in the metadata of ``cluster``.

    Call ``want`` for a topic, call ``advance`` after every event until ``is_settled``
    is True, and then call ``find``. After a failure, the next call of ``want`` starts
    another lookup.

    ``names`` contains the topics that are known or being looked up. The cluster
    requests the metadata of these topics.
    """

    def __init__(self, cluster: ClusterMachine) -> None:
        self.names: set[str] = set()
        self._cluster = cluster
        cluster.topics = self.names
        # Start time of each lookup that has not ended, by topic name.
        self._wanted_since: dict[str, float] = {}
        # Time at which a broker first reported that the topic does not exist, by name.
        self._missing_since: dict[str, float] = {}
        self._failures: dict[str, ClusterError] = {}

    def want(self, name: str, now: float) -> None:
        """Start a topic's lookup, unless it is known or being looked up."""
        if name not in self.names:
            self.names.add(name)
            self._failures.pop(name, None)
            self._wanted_since[name] = now
            self._cluster.want_metadata()
            self._cluster.wake(now)

    def is_settled(self, name: str) -> bool:
        """Return whether a topic's lookup has succeeded or failed."""
        return name not in self._wanted_since

    def find(self, name: str) -> TopicInfo | None:
        """Return a topic, or None until its lookup has ended.

        Raises the failure of the lookup.
        """
        failure = self._failures.get(name)
        if failure is not None:
            raise failure
        if name in self._wanted_since or name not in self.names:
            return None
        return self._cluster.metadata.topics.get(name)

    def advance(self, now: float) -> None:
        """End the lookups that have succeeded, failed or timed out."""
        timeout_s = self._cluster.settings.timeout_s
        for name, since in list(self._wanted_since.items()):
            info = self._cluster.metadata.topics.get(name)
            if info is not None and info.partitions and not info.error_code:
                self._settle(name)
                continue
            failure = self._find_failure(name, now) if self._cluster.version else None
            self._cluster.wake(since + timeout_s)
            if failure is None and now >= since + timeout_s:
                failure = BrokersUnreachable(
                    f"writing {name}: no broker described the topic within"
                    f" {timeout_s:g} s; {self._cluster.reasons()}"
                )
            if failure is not None:
                self._settle(name)
                self.names.discard(name)
                self._failures[name] = failure

    def _settle(self, name: str) -> None:
        del self._wanted_since[name]
        self._missing_since.pop(name, None)

    def _find_failure(self, name: str, now: float) -> ClusterError | None:
        """Return the error that ends the lookup of a topic without partitions.

        Returns None if the error may be temporary, so that the lookup continues.
        """
        info = self._cluster.metadata.topics.get(name)
        if info is None:
            # The last metadata response does not contain the topic, because the lookup
            # began after its request was sent. Wait for the next response.
            return None
        failure = faults.topic_failure(name, info.error_code)
        if failure is not None and not faults.may_pass(info.error_code):
            return failure
        self._cluster.want_metadata()
        give_up_at = self._missing_since.setdefault(name, now) + MAX_UNKNOWN_TOPIC_S
        if failure is not None and now >= give_up_at:
            return failure
        self._cluster.wake(
            give_up_at if now < give_up_at else now + MAX_UNKNOWN_TOPIC_S
        )
        return None
