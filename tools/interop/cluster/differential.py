# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Send the same random requests to a test cluster and to a real broker.

A script is a generator that yields requests and receives responses. Both sides run the
script with the same seed, so that all random choices are equal. Values that the broker
chooses, such as topic ids, come from the responses of each side.

Responses are compared as JSON. ``IGNORED`` and ``NUMBERED`` list all differences that
are allowed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import kwire
from kwire import error_codes
from kwire.connection import ClientConnection, ConnectionClosed, ResponseReceived

SECONDS_TO_RETRY = 20
"""Time during which retriable errors are sent again. A new topic needs a moment."""

IGNORED = {
    "throttleTimeMs": "real brokers have quotas",
    "clusterId": "chosen at random",
    "host": "both are loopback addresses",
    "port": "chosen by the system",
    "nodeId": "depends on the order of the brokers",
    "controllerId": "KRaft brokers return a random broker",
    "documentation": "texts for people differ",
    "logDir": "chosen by the configuration",
    "totalBytes": "size of the disk",
    "usableBytes": "size of the disk",
    "errorMessage": "texts for people differ",
    "logAppendTimeMs": "current time",
    "rack": "not configured",
    "lastTimestamp": "current time",
    "transactionStartTimeMs": "current time",
}
"""Names of JSON fields whose values may differ, with the reason."""

NUMBERED = ("topicId", "producerId", "sessionId", "memberId", "leader")
"""Fields whose values are chosen by a broker. They are replaced by numbers in the order
of their first appearance, so that equal values remain equal."""


class Call(NamedTuple):
    """Request of a script.

    * ``is_compared``: whether both responses must be equal. Preparations of a script
      are not compared.
    * ``is_repeated``: whether any error is repeated, because a preparation takes time.
    """

    request: Any
    version: int
    is_compared: bool = True
    is_repeated: bool = False


Script = Generator[Call, Any, None]


class Step(NamedTuple):
    """Request as text, and the response as comparable JSON."""

    request: str
    response: Any


class Peer:
    """Connection to one of both sides.

    * ``exchange``: sends bytes and returns received bytes, which may be empty at the
      end of the connection.
    """

    def __init__(self, exchange: Callable[[bytes], bytes]) -> None:
        self._exchange = exchange
        self._connection = ClientConnection()
        self._numbers: dict[str, dict[Any, str]] = {}
        self.table = self._next_event().table

    def run(self, script: Script) -> Iterator[Step]:
        """Run a script, and yield its requests and responses."""
        response = None
        try:
            while True:
                call = script.send(response)
                response = self.send(call)
                text = f"{type(call.request).__name__} v{call.version} {call.request!r}"
                if response is None:
                    yield Step(text, "the connection was closed")
                    return
                if call.is_compared:
                    result = self.simplify(kwire.to_json(response, call.version))
                    yield Step(text, result)
                else:
                    yield Step(text, "")
        except StopIteration:
            return

    def send(self, call: Call) -> Any:
        """Send a request until its response has no transient error; return it.

        Returns None if the broker has closed the connection.
        """
        deadline_s = time.monotonic() + SECONDS_TO_RETRY
        while True:
            self._connection.send(call.request, call.version)
            event = self._next_event()
            if isinstance(event, ConnectionClosed):
                return None
            assert isinstance(event, ResponseReceived), event
            codes = set(list_codes(kwire.to_json(event.response, call.version))) - {0}
            is_transient = bool(codes if call.is_repeated else codes & TRANSIENT)
            is_transient |= any(state in repr(event.response) for state in ENDING)
            if not is_transient or time.monotonic() > deadline_s:
                return event.response
            time.sleep(0.05)

    def simplify(self, value: Any, name: str = "") -> Any:
        """Remove ignored fields, and replace the values that brokers choose."""
        if isinstance(value, dict):
            if value.get("topic") == OFFSETS_TOPIC:
                value = {**value, "partitions": []}
            return {
                key: self.simplify(entry, key)
                for key, entry in value.items()
                if key not in IGNORED
            }
        if isinstance(value, list):
            entries = [self.simplify(entry, name) for entry in value]
            return sorted(entries, key=repr) if name in UNORDERED else entries
        for prefix in NUMBERED:
            if name == prefix and value not in NOT_CHOSEN:
                numbers = self._numbers.setdefault(prefix, {})
                return numbers.setdefault(value, f"{prefix} {len(numbers) + 1}")
        return value

    def _next_event(self) -> Any:
        events: list[Any] = []
        while not events:
            data = self._exchange(self._connection.data_to_send())
            events = list(self._connection.receive_data(data))
        return events[0]


NOT_CHOSEN = (None, 0, -1, "", str(UUID(int=0)))
"""Values of these fields that mean that there is no id."""

OFFSETS_TOPIC = "__consumer_offsets"
"""Topic whose partition count is configured. Its partitions are not compared."""

UNORDERED = (
    "apiKeys",
    "brokers",
    "configs",
    "groups",
    "partitions",
    "responses",
    "topics",
)
"""Arrays whose order has no meaning. They are sorted."""

ENDING = ("'PrepareCommit'", "'PrepareAbort'")
"""States of a transaction whose markers are not written yet."""

TRANSIENT = {
    error_codes.COORDINATOR_LOAD_IN_PROGRESS,
    error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.LEADER_NOT_AVAILABLE,
    error_codes.CONCURRENT_TRANSACTIONS,
    error_codes.NOT_ENOUGH_REPLICAS,
    error_codes.REQUEST_TIMED_OUT,
}
"""Errors that disappear after some time. Both sides send the request again."""


def list_codes(value: Any) -> Iterator[int]:
    """Yield all error codes of a JSON response."""
    if isinstance(value, dict):
        for name, entry in value.items():
            if name.endswith("rrorCode") and isinstance(entry, int):
                yield entry
            else:
                yield from list_codes(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from list_codes(entry)


def compare(
    name: str, seed: int, real: Peer, tested: Peer, make_script: Callable[..., Script]
) -> list[str]:
    """Run a script on both sides; return descriptions of the differences.

    The names of topics start with ``name`` and the seed, because all scripts of a run
    share the real broker. The comparison ends at the first difference, because later
    requests depend on it.
    """
    scripts = [
        make_script(random.Random(seed), peer.table, f"{name}-{seed}")
        for peer in (real, tested)
    ]
    steps = zip(real.run(scripts[0]), tested.run(scripts[1]), strict=False)
    for number, (expected, actual) in enumerate(steps, start=1):
        if expected.response != actual.response:
            return [
                f"seed {seed}, request {number}: {expected.request:.1200}\n"
                + "\n".join(describe(expected.response, actual.response))
            ]
    return []


def describe(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Yield one line for each value that differs."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in {**expected, **actual}:
            left, right = expected.get(name), actual.get(name)
            if left != right:
                yield from describe(left, right, f"{path}.{name}")
        return
    is_array = isinstance(expected, list) and isinstance(actual, list)
    if is_array and len(expected) == len(actual):
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            if left != right:
                yield from describe(left, right, f"{path}[{index}]")
        return
    yield f"  {path}: broker {expected!r:.300}, cluster {actual!r:.300}"


def choose_version(source: random.Random, table: Any, request: type) -> int:
    """Choose one of the versions that both sides support."""
    versions: tuple[int, ...] = table.usable(request)
    return source.choice(versions)
