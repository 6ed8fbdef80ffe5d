# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch sessions of one broker (KIP-227).

Source: ``FetchManager.newContext``, ``FetchSession`` and ``FetchSessionCache``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ...schema import error_codes

if TYPE_CHECKING:
    from ...messages import FetchRequest, FetchResponse

MAX_SESSIONS = 1000
"""Default of the broker property ``max.incremental.fetch.session.cache.slots``."""

_WITH_IDS = 13
_MAX_EPOCH = 0x7FFFFFFF


class PartitionKey(NamedTuple):
    """Topic name or topic id, and partition."""

    topic: str
    topic_id: UUID
    partition: int


class FetchSession:
    """Partitions of one session, and what the client knows about them."""

    def __init__(self, session_id: int, has_ids: bool) -> None:
        self.session_id = session_id
        self.has_ids = has_ids
        self.epoch = 1
        self.partitions: dict[PartitionKey, FetchRequest.FetchPartition] = {}
        self.sent: dict[PartitionKey, tuple[int, int]] = {}
        """High watermark and log start offset of the last response."""

    def update(self, request: FetchRequest) -> None:
        """Add and remove the partitions that a request names.

        Partitions are removed last, so that a partition in both lists is removed.
        """
        for topic in request.topics:
            for part in topic.partitions:
                key = PartitionKey(topic.topic, topic.topic_id, part.partition)
                self.partitions[key] = part
        for forgotten in request.forgotten_topics_data:
            for index in forgotten.partitions:
                key = PartitionKey(forgotten.topic, forgotten.topic_id, index)
                self.partitions.pop(key, None)
                self.sent.pop(key, None)


class SessionContext:
    """Partitions of one Fetch request, including those of its session.

    * ``error_code``: error of the session, or 0.
    * ``is_incremental``: whether the response omits partitions without news.
    """

    def __init__(
        self,
        partitions: dict[PartitionKey, FetchRequest.FetchPartition],
        session: FetchSession | None = None,
        is_incremental: bool = False,
        error_code: int = 0,
    ) -> None:
        self.partitions = partitions
        self.error_code = error_code
        self.session_id = session.session_id if session else 0
        self._session = session
        self._is_incremental = is_incremental

    def note_sent(self, key: PartitionKey, data: FetchResponse.PartitionData) -> bool:
        """Record the data of a partition; return whether the response contains it."""
        session = self._session
        if session is None:
            return True
        state = (data.high_watermark, data.log_start_offset)
        has_news = bool(
            data.error_code
            or data.records
            or data.diverging_epoch.end_offset >= 0
            or session.sent.get(key) != state
        )
        session.sent[key] = state
        if data.records and key in session.partitions:
            # Partitions with records move to the end, so that others follow first.
            session.partitions[key] = session.partitions.pop(key)
        return has_news or not self._is_incremental


class FetchSessions:
    """Session cache of one broker."""

    def __init__(self, source: random.Random) -> None:
        self._random = source
        self._sessions: dict[int, FetchSession] = {}

    def clear(self) -> None:
        """Forget all sessions, as a restart does."""
        self._sessions.clear()

    def resolve(self, request: FetchRequest, version: int) -> SessionContext:
        """Return the partitions of a request, or the error of its session."""
        if request.session_epoch == -1:
            if request.session_id:
                self._sessions.pop(request.session_id, None)
            return SessionContext(_list_partitions(request))
        if request.session_epoch == 0:
            self._sessions.pop(request.session_id, None)
            return SessionContext(
                _list_partitions(request), self._create(request, version)
            )
        session = self._sessions.get(request.session_id)
        if session is None:
            return SessionContext({}, error_code=error_codes.FETCH_SESSION_ID_NOT_FOUND)
        if session.has_ids != (version >= _WITH_IDS):
            code = error_codes.FETCH_SESSION_TOPIC_ID_ERROR
            return SessionContext({}, error_code=code)
        if session.epoch != request.session_epoch:
            code = error_codes.INVALID_FETCH_SESSION_EPOCH
            return SessionContext({}, error_code=code)
        session.epoch = session.epoch + 1 if session.epoch < _MAX_EPOCH else 1
        session.update(request)
        return SessionContext(dict(session.partitions), session, is_incremental=True)

    def _create(self, request: FetchRequest, version: int) -> FetchSession | None:
        """Create a session, unless the cache is full."""
        if len(self._sessions) >= MAX_SESSIONS:
            return None
        session_id = self._random.randint(1, _MAX_EPOCH)
        while session_id in self._sessions:
            session_id = self._random.randint(1, _MAX_EPOCH)
        session = FetchSession(session_id, version >= _WITH_IDS)
        session.update(request)
        self._sessions[session_id] = session
        return session


def _list_partitions(
    request: FetchRequest,
) -> dict[PartitionKey, FetchRequest.FetchPartition]:
    return {
        PartitionKey(topic.topic, topic.topic_id, part.partition): part
        for topic in request.topics
        for part in topic.partitions
    }
