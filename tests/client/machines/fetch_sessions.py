# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch sessions of a simulated broker (KIP-227), as Kafka keeps them.

A request is resolved once, when it arrives: to all the partitions that it is about, or
to an error of the session. Which partitions its response may leave out is decided when
it is sent.
"""

from __future__ import annotations


class FetchSessions:
    """The sessions of one broker, which has room for a few."""

    ROOM = 2

    def __init__(self, kwire, random):
        """Begin with none."""
        self._codes = kwire.error_codes
        self._make = kwire.messages.FetchResponse
        self._random = random
        self._sessions: dict[int, Session] = {}

    def clear(self):
        """Forget all, as a broker does that is started again."""
        self._sessions.clear()

    def resolve(self, request, version):
        """Return what a request is about."""
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
    """What one session remembers: positions by partition, and what was sent last."""

    def __init__(self, number, has_ids):
        """Begin in epoch 1, which the next request has to have."""
        self.id = number
        self.has_ids = has_ids
        self.epoch = 1
        self.sent: dict[tuple, tuple] = {}
        self._parts: dict[tuple, object] = {}

    def name(self, request):
        """Take the partitions that a request names, and forget those it wants to."""
        for topic in request.topics:
            for part in topic.partitions:
                place = (topic.topic, topic.topic_id, part.partition)
                self._parts[place] = part
        # In this order, as Kafka's FetchSession: one that is in both is forgotten.
        for topic in request.forgotten_topics_data:
            for partition in topic.partitions:
                place = (topic.topic, topic.topic_id, partition)
                del self._parts[place]
                self.sent.pop(place, None)

    def topics(self, request):
        """Return all partitions as a request would name them."""
        make = type(request).FetchTopic
        return [
            make(topic=topic, topic_id=topic_id, partitions=[part])
            for (topic, topic_id, _), part in self._parts.items()
        ]

    def move_to_end(self, place):
        """Put a partition that got records after the others."""
        self._parts[place] = self._parts.pop(place)


class Fetch:
    """A Fetch request with all that it is about."""

    def __init__(self, request, topics, session, is_incremental, error_code):
        """Take the request, and what its session adds."""
        self.max_bytes = request.max_bytes
        self.max_wait_ms = request.max_wait_ms
        self.isolation_level = request.isolation_level
        self.topics = topics
        self.error_code = error_code
        self.session_id = 0 if session is None else session.id
        self._session = session
        self._is_incremental = is_incremental

    def note_answer(self, topic, part):
        """Note the answer for a partition; return whether it has to be sent."""
        session = self._session
        if session is None:
            return True
        place = (topic.topic, topic.topic_id, part.partition_index)
        state = (part.high_watermark, part.log_start_offset)
        has_news = bool(
            part.error_code
            or part.records
            or part.diverging_epoch.end_offset >= 0
            or session.sent.get(place) != state
        )
        session.sent[place] = state
        if part.records:
            session.move_to_end(place)
        return has_news or not self._is_incremental
