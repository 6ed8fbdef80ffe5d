# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of a test cluster: errors, delays, lost connections and custom answers.

A rule applies to the next ``times`` requests that match all of its conditions. Faults
from a seed are rules that are drawn at random for each request.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from ..schema import error_codes, registry

if TYPE_CHECKING:
    from ..messages import Request, Response
    from .state.topic import Topic

    Answerer: TypeAlias = Callable[[Request, int], Response | None]
    """Function of a test: request and version to response, or None for the default."""

NO_TOPIC_ID = UUID(int=0)

ANY = -1
"""Partition or broker of a rule that applies to all of them."""

FAULT_PROBABILITY = 0.05
"""Probability that a request of a cluster with ``faults`` fails."""

_MAX_DELAY_S = 0.2


class Rule:
    """Condition and effect. Create rules with the methods of a cluster.

    * ``remaining``: number of requests to which the rule still applies. None means
      that it applies until ``remove``.
    * ``hits``: number of requests to which the rule has been applied.

    A rule is a context manager, which removes the rule at the end of the block.
    """

    def __init__(
        self,
        rules: Rules,
        api: str,
        *,
        times: int | None,
        topic: str | None = None,
        partition: int = ANY,
        broker: int = ANY,
        client_id: str | None = None,
        error_code: int = 0,
        delay_s: float = 0.0,
        cuts: str = "",
        answer: Answerer | None = None,
    ) -> None:
        self.api = api
        self.topic = topic
        self.partition = partition
        self.broker = broker
        self.client_id = client_id
        self.remaining = times
        self.hits = 0
        self.error_code = error_code
        self.delay_s = delay_s
        self.cuts = cuts
        self.answer = answer
        self._rules = rules

    def remove(self) -> None:
        """Stop applying the rule. A second call has no effect."""
        self._rules.remove(self)

    def __enter__(self) -> Rule:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"Rule(api={self.api!r}, remaining={self.remaining}, hits={self.hits})"

    def note_hit(self) -> None:
        """Count a request, and remove the rule after the last one."""
        self.hits += 1
        if self.remaining is not None:
            self.remaining -= 1
            if self.remaining <= 0:
                self.remove()

    def matches(self, api: str, broker: int, client_id: str) -> bool:
        """Whether the rule applies to requests of a client to a broker."""
        return (
            self.api == api
            and self.broker in (ANY, broker)
            and self.client_id in (None, client_id)
        )

    def covers(self, topic: str, partition: int) -> bool:
        """Whether the rule applies to a topic or partition of a request."""
        return self.topic in (None, topic) and (
            self.partition == ANY or self.partition == partition
        )


class Rules:
    """Rules of a cluster in the order of their creation."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self.faults: random.Random | None = None

    def add(self, rule: Rule) -> Rule:
        """Add a rule after all others."""
        self._rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        """Remove a rule if it is still active."""
        if rule in self._rules:
            self._rules.remove(rule)

    def start_faults(self, seed: int) -> None:
        """Draw a fault for some of the following requests."""
        self.faults = random.Random(seed)

    def match(
        self, api: str, broker: int, client_id: str, places: list[tuple[str, int]]
    ) -> RuleMatcher | None:
        """Return the rules for a request, or None if there are none.

        * ``places``: topics and partitions of the request.
        """
        rules = [rule for rule in self._rules if rule.matches(api, broker, client_id)]
        return RuleMatcher(rules, places) if rules else None

    def draw_fault(self) -> tuple[str, float]:
        """Draw a fault for a request: "", "before", "after" or "delay", and a delay.

        "before" and "after" lose the connection before or after the request is
        processed.
        """
        source = self.faults
        if source is None or source.random() >= FAULT_PROBABILITY:
            return "", 0.0
        fault = source.choice(("before", "after", "delay"))
        return fault, source.uniform(0, _MAX_DELAY_S) if fault == "delay" else 0.0


class RuleMatcher:
    """Rules that apply to one request. Each rule counts the request only once.

    * ``places``: topics and partitions of the request.
    """

    def __init__(self, rules: list[Rule], places: list[tuple[str, int]]) -> None:
        self._rules = rules
        self._places = places
        self._counted: set[int] = set()

    def find_error(self, topic: str, partition: int) -> int:
        """Return the error code for a partition, topic or other resource, or 0."""
        for rule in self._rules:
            if rule.error_code and rule.covers(topic, partition):
                self._count(rule)
                return rule.error_code
        return 0

    def take(self, effect: str) -> Rule | None:
        """Return the first rule with an effect: "delay_s", "cuts" or "answer"."""
        for rule in self._rules:
            if getattr(rule, effect) and self._covers_request(rule):
                self._count(rule)
                return rule
        return None

    def _covers_request(self, rule: Rule) -> bool:
        if rule.topic is None and rule.partition == ANY:
            return True
        return any(rule.covers(topic, partition) for topic, partition in self._places)

    def _count(self, rule: Rule) -> None:
        if id(rule) not in self._counted:
            self._counted.add(id(rule))
            rule.note_hit()


def find_places(
    request: Request, topics_by_id: Mapping[UUID, Topic]
) -> list[tuple[str, int]]:
    """List the topics and partitions that a request names.

    Reads the structure of the message: an array of structs with a topic name or id that
    contain an array of partitions, or partition numbers. Unknown ids are skipped.
    """
    places = []
    for values in _struct_arrays(request):
        for entry in values:
            name = getattr(entry, "name", None) or getattr(entry, "topic", None)
            if not name:
                topic = topics_by_id.get(getattr(entry, "topic_id", NO_TOPIC_ID))
                name = topic.name if topic else None
            if not isinstance(name, str):
                continue
            partitions = _find_partitions(entry)
            places += [(name, partition) for partition in partitions] or [(name, ANY)]
    return places


def _struct_arrays(message: object) -> list[list[object]]:
    """Return the values of all fields of a message that are arrays of structs."""
    arrays = []
    for name in getattr(message, "__match_args__", ()):
        value = getattr(message, name)
        is_array = isinstance(value, (list, tuple)) and len(value) > 0
        if is_array and hasattr(value[0], "__match_args__"):
            arrays.append(list(value))
    return arrays


def _find_partitions(entry: object) -> list[int]:
    for name in ("partitions", "partition_data", "partition_indexes"):
        for part in getattr(entry, name, ()) or ():
            if isinstance(part, int):
                return [int(index) for index in getattr(entry, name)]
            break
    indexes = []
    for parts in _struct_arrays(entry):
        for part in parts:
            for name in ("partition_index", "partition", "index"):
                if isinstance(getattr(part, name, None), int):
                    indexes.append(int(getattr(part, name)))
                    break
    return indexes


def check_api(name: object) -> str:
    """Return the name of an API such as "Produce".

    Raises ``ValueError``, which lists all names, if there is no such API.
    """
    names = sorted(
        name.removesuffix("Request")
        for name in registry.names()
        if name.endswith("Request")
    )
    if name not in names:
        raise ValueError(f"api must be one of {', '.join(names)} (got {name!r:.80})")
    return str(name)


def check_error(error: object) -> int:
    """Return the code of an error: a name such as "NOT_COORDINATOR", or a number.

    Raises ``ValueError``, which lists all names, if there is no such error.
    """
    names = [name for name in vars(error_codes) if name.isupper() and name != "NONE"]
    codes = {name: int(getattr(error_codes, name)) for name in names}
    if isinstance(error, int) and error in codes.values():
        return error
    if not isinstance(error, str) or error not in codes:
        raise ValueError(
            f"error must be one of {', '.join(sorted(names))} (got {error!r:.80})"
        )
    return codes[error]
