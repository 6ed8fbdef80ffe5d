# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decides how to react to an error code of a topic or a partition.

All machines share one table from error code to reaction. Other error codes are retried
if Kafka defines them as retriable. Otherwise, they end the task.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from ..._text import quote_text
from ...schema import error_codes as codes
from ..errors import NotAuthorized, RequestRefused, TopicNotFound

if TYPE_CHECKING:
    from ..errors import ClusterError


class Reaction(Enum):
    """How a machine reacts to the error code of a topic or a partition."""

    RETRY = auto()
    """Repeat the request after a pause."""
    NEW_LEADER = auto()
    """Use the response's leader hint, or request new metadata after a pause."""
    CATCH_UP = auto()
    """Repeat the request after a short pause, because the broker has not processed a
    decision of the cluster yet.
    """
    OUT_OF_RANGE = auto()
    """Handle a data loss, because the log does not contain the offset."""
    FAIL = auto()
    """End the task, because the client cannot solve the problem."""


_REACTIONS = {
    codes.OFFSET_OUT_OF_RANGE: Reaction.OUT_OF_RANGE,
    codes.NOT_LEADER_OR_FOLLOWER: Reaction.NEW_LEADER,
    codes.FENCED_LEADER_EPOCH: Reaction.NEW_LEADER,
    codes.UNKNOWN_LEADER_EPOCH: Reaction.CATCH_UP,
    codes.LEADER_NOT_AVAILABLE: Reaction.NEW_LEADER,
    codes.REPLICA_NOT_AVAILABLE: Reaction.NEW_LEADER,
    codes.KAFKA_STORAGE_ERROR: Reaction.NEW_LEADER,
    codes.UNKNOWN_TOPIC_OR_PARTITION: Reaction.NEW_LEADER,
    codes.UNKNOWN_TOPIC_ID: Reaction.NEW_LEADER,
    codes.INCONSISTENT_TOPIC_ID: Reaction.NEW_LEADER,
    codes.OFFSET_NOT_AVAILABLE: Reaction.RETRY,
    codes.UNKNOWN_SERVER_ERROR: Reaction.RETRY,
}


NOT_THERE = codes.UNKNOWN_TOPIC_OR_PARTITION
"""Error code for a topic that a response does not contain."""


def describe_answer(error_code: int, message: str | None) -> str:
    """Describe the error code that a broker has returned, with its message if any."""
    words = f" ({quote_text(message)})" if message else ""
    return f"the broker answered {codes.name(error_code)}{words}"


def refusal(
    operation: str, error_code: int, permission: str, message: str | None = None
) -> ClusterError:
    """Build the exception for an error that ends an operation.

    ``permission`` describes the permission that the operation requires. The exception
    is ``NotAuthorized`` if the user lacks it, and ``RequestRefused`` otherwise.
    """
    if codes.name(error_code).endswith("AUTHORIZATION_FAILED"):
        return NotAuthorized(
            f"{operation}: the user is not authorized; it needs {permission}"
        )
    answer = describe_answer(error_code, message)
    return RequestRefused(f"{operation}: {answer}", error_code)


def choose_reaction(error_code: int) -> Reaction:
    """Return the reaction to the error code of a partition."""
    reaction = _REACTIONS.get(error_code)
    if reaction is None:
        reaction = Reaction.RETRY if codes.retriable(error_code) else Reaction.FAIL
    return reaction


def is_of_session(error_code: int) -> bool:
    """Return whether an error code rejects the fetch session of a Fetch request.

    The broker does not know the session, or expects another session epoch or topic id.
    """
    return error_code in (
        codes.FETCH_SESSION_ID_NOT_FOUND,
        codes.INVALID_FETCH_SESSION_EPOCH,
        codes.FETCH_SESSION_TOPIC_ID_ERROR,
    )


def may_pass(error_code: int) -> bool:
    """Return whether an error is temporary, for example until metadata is updated."""
    passing = Reaction.RETRY, Reaction.NEW_LEADER, Reaction.CATCH_UP
    return choose_reaction(error_code) in passing


def failure(name: str, error_code: int) -> ClusterError:
    """Build the exception for an error of a partition that ends the task."""
    return refusal(f"reading {name}", error_code, "the operations Read and Describe")


def topic_failure(topic: str, error_code: int) -> ClusterError | None:
    """Build the exception for a topic without metadata.

    Returns None if the error is temporary.
    """
    if error_code in (codes.UNKNOWN_TOPIC_OR_PARTITION, codes.INVALID_TOPIC_EXCEPTION):
        return TopicNotFound(
            f"topic {topic!r} does not exist; kwire topics lists those that do"
        )
    if may_pass(error_code) or not error_code:
        return None
    return refusal(f"topic {topic!r}", error_code, "the operation Describe")
