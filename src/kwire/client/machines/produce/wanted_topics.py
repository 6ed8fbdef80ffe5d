# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``WantedTopics``: the topics that a producer writes to, and which do not exist.

A topic is added when it is first written to. One that the cluster does not describe is
waited for, as news of a new topic takes a while; then it has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import BrokersUnreachable
from .. import faults

if TYPE_CHECKING:
    from ...errors import ClusterError
    from ..cluster import ClusterMachine
    from ..metadata import TopicInfo

_UNKNOWN_TOPIC_S = 3.0
"""How long a topic may be unknown before that is believed."""


class WantedTopics:
    """Looks for topics in the metadata of ``cluster``, which fetches that of ``names``.

    ``find`` returns one that is known. A topic that failed is looked for again when it
    is wanted again.
    """

    def __init__(self, cluster: ClusterMachine, timeout_s: float) -> None:
        self._cluster = cluster
        self._timeout_s = timeout_s
        self.names: set[str] = set()
        cluster.topics = self.names
        # Since when they are looked for, and since when a broker says that they are
        # not there.
        self._wanted_since: dict[str, float] = {}
        self._missing_since: dict[str, float] = {}
        self._failures: dict[str, ClusterError] = {}

    def want(self, name: str, now: float) -> None:
        """Look for a topic, unless it is known; ``advance`` comes next."""
        if name not in self.names:
            self.names.add(name)
            self._failures.pop(name, None)
            self._wanted_since[name] = now
            self._cluster.want_metadata()
            self._cluster.wake(now)

    def is_settled(self, name: str) -> bool:
        """Whether a wanted topic is known, or will not be: ``find`` reports which."""
        return name not in self._wanted_since

    def find(self, name: str) -> TopicInfo | None:
        """Return a topic; None while it is looked for. Raises what is wrong with it."""
        failure = self._failures.get(name)
        if failure is not None:
            raise failure
        if name in self._wanted_since or name not in self.names:
            return None
        return self._cluster.metadata.topics.get(name)

    def advance(self, now: float) -> None:
        """Find out which topics are there by now, and which will not be."""
        for name, since in list(self._wanted_since.items()):
            known = self._cluster.metadata.topics.get(name)
            if known is not None and known.partitions and not known.error_code:
                del self._wanted_since[name]
                self._missing_since.pop(name, None)
                continue
            failure = self._judge(name, now) if self._cluster.version else None
            give_up_at = since + self._timeout_s
            self._cluster.wake(give_up_at)
            if failure is None and now >= give_up_at:
                failure = BrokersUnreachable(
                    f"writing {name}: no broker described the topic within"
                    f" {self._timeout_s:g} s; {self._cluster.reasons()}"
                )
            if failure is not None:
                del self._wanted_since[name]
                self._missing_since.pop(name, None)
                self.names.discard(name)
                self._failures[name] = failure

    def _judge(self, name: str, now: float) -> ClusterError | None:
        """Return what is wrong with a topic that is not described; None to wait."""
        known = self._cluster.metadata.topics.get(name)
        if known is None:
            # No response has named it yet.
            return None
        code = known.error_code
        failure = faults.topic_failure(name, code)
        if failure is not None and not faults.may_pass(code):
            return failure
        self._cluster.want_metadata()
        give_up_at = self._missing_since.setdefault(name, now) + _UNKNOWN_TOPIC_S
        if failure is not None and now >= give_up_at:
            return failure
        self._cluster.wake(give_up_at if now < give_up_at else now + _UNKNOWN_TOPIC_S)
        return None
