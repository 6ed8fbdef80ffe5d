# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``CreationMachine``: creates one topic, and waits until it can be written to.

A topic that is there already is as good as one that was created: the request may have
been sent before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...connection.negotiation import TOPIC_DEFAULTS
from ...errors import KwireError
from ...messages import CreateTopicsRequest
from ...schema import error_codes as codes
from ..errors import BrokersUnreachable, NotAuthorized, RequestRefused
from . import faults
from .cluster import ClusterMachine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from ..errors import ClusterError
    from .metadata import TopicInfo
    from .settings import ClusterSettings

_DEFAULT = -1
"""Count of partitions or replicas that selects the default of the brokers."""


class NewTopic(NamedTuple):
    """A topic to create; a ``replication_factor`` of -1 is the brokers' default."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class CreationMachine:
    """Creates a topic; ``result`` is what metadata describes then.

    ``has_result`` once every partition has a leader, or ``failure`` is there.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        topic: NewTopic,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.cluster.topics = {topic.name}
        self.failure: KwireError | None = None
        self._settings = settings
        self._topic = topic
        self._is_sent = self._is_created = False
        self._tries = 0
        self._retry_at = now
        self._give_up_at = now + settings.timeout_s
        self._reason = ""

    @property
    def wake_at(self) -> float:
        """When ``advance`` has something to do, if nothing happens before."""
        return self.cluster.wake_at

    def has_result(self) -> bool:
        """Whether the topic can be written to, or will not be."""
        return self.failure is not None or self._find() is not None

    def result(self) -> TopicInfo:
        """Return the topic with its partitions."""
        found = self._find()
        assert found is not None, "there is a topic once there is a result"
        return found

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self.cluster.advance(now)
        self.failure = self.failure or self.cluster.failure
        if self.has_result():
            return
        if self._is_created:
            self.cluster.want_metadata()
            self.cluster.refresh_metadata(now)
        elif self.cluster.version and not self._is_sent:
            self._send(now)
        self.cluster.wake(self._give_up_at)
        if now >= self._give_up_at:
            self.failure = BrokersUnreachable(
                f"creating the topic {self._topic.name!r}: not done within"
                f" {self._settings.timeout_s:g} s;"
                f" {self._reason or self.cluster.reasons()}"
            )

    def close(self, now: float) -> None:
        """End all links."""
        self.cluster.close(now)

    def _find(self) -> TopicInfo | None:
        known = self.cluster.metadata.topics.get(self._topic.name)
        if not self._is_created or known is None or not known.partitions:
            return None
        return known if all(p.leader >= 0 for p in known.partitions.values()) else None

    def _send(self, now: float) -> None:
        if now < self._retry_at:
            self.cluster.wake(self._retry_at)
            return
        # With ZooKeeper it has to be the controller; with KRaft each broker forwards.
        controller = self.cluster.metadata.controller
        if controller in self.cluster.metadata.brokers:
            link = self.cluster.link_to(controller, now)
        else:
            link = self.cluster.any_link(now)
        if link is None:
            return
        topic = self._topic
        is_default = _DEFAULT in (topic.partitions, topic.replication_factor)
        constraints = (TOPIC_DEFAULTS,) if is_default else ()
        try:
            version = link.pick(CreateTopicsRequest, *constraints)
            link.send(self._request(), self._take_response, now, version=version)
        except KwireError as error:
            self.failure = error
            return
        self._is_sent = True

    def _request(self) -> CreateTopicsRequest:
        topic = self._topic
        config = CreateTopicsRequest.CreatableTopicConfig
        return CreateTopicsRequest(
            topics=[
                CreateTopicsRequest.CreatableTopic(
                    name=topic.name,
                    num_partitions=topic.partitions,
                    replication_factor=topic.replication_factor,
                    configs=[config(name=k, value=v) for k, v in topic.configs.items()],
                )
            ],
            timeout_ms=self._settings.broker_timeout_ms,
        )

    def _take_response(self, response: Any, now: float) -> None:
        self._is_sent = False
        if response is None or not response.topics:
            self._retry("the broker did not answer", now)
            return
        (answer,) = response.topics[:1]
        code = answer.error_code
        if code in (codes.NONE, codes.TOPIC_ALREADY_EXISTS):
            self._is_created = True
        elif faults.may_pass(code):
            self._retry(f"the broker answered {codes.name(code)}", now)
        else:
            self.failure = self._refusal(code, answer.error_message)

    def _retry(self, reason: str, now: float) -> None:
        self._reason = reason
        self._tries += 1
        jitter = self.cluster.random.random()
        self._retry_at = now + self._settings.backoff_s(self._tries, jitter)
        # There may be another controller by now.
        self.cluster.want_metadata()

    def _refusal(self, code: int, message: str | None) -> ClusterError:
        name = f"creating the topic {self._topic.name!r}"
        if code in (
            codes.TOPIC_AUTHORIZATION_FAILED,
            codes.CLUSTER_AUTHORIZATION_FAILED,
        ):
            return NotAuthorized(
                f"{name}: the user is not authorized; it needs the operation Create on"
                " the cluster or the topic"
            )
        answer = faults.describe_answer(code, message)
        return RequestRefused(f"{name}: {answer}", code)
