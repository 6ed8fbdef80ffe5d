# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch sessions of a simulated broker (KIP-227), with the behavior of Kafka.

A request is resolved once, when it arrives, to all of its partitions or to a session
error. The partitions that the response omits are chosen when it is sent.
"""

from __future__ import annotations


class FetchSessions:
    """Fetch session cache of one broker. It stores up to ``ROOM`` sessions."""

    ROOM = 2

    def __init__(self, kwire, random):
        """Start without sessions. New session ids are drawn from ``random``."""
        self._codes = kwire.error_codes
        self._make = kwire.messages.FetchResponse
        self._random = random
        self._sessions: dict[int, Session] = {}

    def clear(self):
        """Delete all sessions, as a broker restart does."""
        self._sessions.clear()

    def resolve(self, request, version):
        """Return the partitions of a request, including those from its session."""
        if version < 7 or request.session_epoch < 0:
            return Fetch(request, request.topics, None, False, 0)
        if request.session_epoch == 0:
            self._sessions.pop(request.session_id, None)
            session = None
            if len(self._sessions) < self.ROOM:
                session = Session(self._random.randint(1, 1 << 30), version >= 13)
                session.name(request)
                self._sessions[session.id] = session
            return Fetch(request, request.topics, session, False, 0)
        codes = self._codes
        session = self._sessions.get(request.session_id)
        if session is None:
            return Fetch(request, (), None, True, codes.FETCH_SESSION_ID_NOT_FOUND)
        if session.has_ids != (version >= 13):
            return Fetch(request, (), None, True, codes.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.epoch != request.session_epoch:
            return Fetch(request, (), None, True, codes.INVALID_FETCH_SESSION_EPOCH)
        session.epoch += 1
        session.name(request)
        return Fetch(request, session.topics(request), session, True, 0)


class Session:
    """Partitions of one session, with their positions and last states."""

    def __init__(self, number, has_ids):
        """Start in epoch 1, which the next request must have."""
        self.id = number
        self.has_ids = has_ids
        self.epoch = 1
        self.sent: dict[tuple, tuple] = {}
        self._parts: dict[tuple, object] = {}

    def name(self, request):
        """Add the partitions of a request, and remove its forgotten partitions."""
        for topic in request.topics:
            for part in topic.partitions:
                partition_key = (topic.topic, topic.topic_id, part.partition)
                self._parts[partition_key] = part
        # As in Kafka's FetchSession, partitions are removed last. A partition in both
        # lists is therefore removed.
        for topic in request.forgotten_topics_data:
            for partition in topic.partitions:
                partition_key = (topic.topic, topic.topic_id, partition)
                del self._parts[partition_key]
                self.sent.pop(partition_key, None)

    def topics(self, request):
        """Return all partitions of the session in the format of a request."""
        make = type(request).FetchTopic
        return [
            make(topic=topic, topic_id=topic_id, partitions=[part])
            for (topic, topic_id, _), part in self._parts.items()
        ]

    def move_to_end(self, partition_key):
        """Move a partition to the end, because its response had records.

        The next Fetch reads the other partitions first, as in Kafka.
        """
        self._parts[partition_key] = self._parts.pop(partition_key)


class Fetch:
    """Fetch request with all partitions from the request and its session."""

    def __init__(self, request, topics, session, is_incremental, error_code):
        """Copy the limits of the request, and the id of its session."""
        self.max_bytes = request.max_bytes
        self.max_wait_ms = request.max_wait_ms
        self.isolation_level = request.isolation_level
        self.topics = topics
        self.error_code = error_code
        self.session_id = 0 if session is None else session.id
        self._session = session
        self._is_incremental = is_incremental

    def note_answer(self, topic, part):
        """Store the state of a partition's response in the session.

        Return whether the response must contain the partition.
        """
        session = self._session
        if session is None:
            return True
        partition_key = (topic.topic, topic.topic_id, part.partition_index)
        state = (part.high_watermark, part.log_start_offset)
        has_news = bool(
            part.error_code
            or part.records
            or part.diverging_epoch.end_offset >= 0
            or session.sent.get(partition_key) != state
        )
        session.sent[partition_key] = state
        if part.records:
            session.move_to_end(partition_key)
        return has_news or not self._is_incremental
