# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Count one client's requests, and compare the counts with a maximum.

Requests that make progress are not limited: a Fetch that returns records, a Produce
request with an acknowledged batch, a successful commit. All other requests are limited
by broker and request type, so that no response sequence makes a client send requests
without a pause.
"""

from __future__ import annotations

from collections import defaultdict

WINDOW_S = 5.0
"""Time window in seconds in which requests are counted."""

CONNECTION = "connection"
"""Pseudo request type of a new connection, whose first request is ApiVersions."""

MAX_IN_WINDOW = 45
"""Maximum number of requests without progress per type, broker and window.

Applies if brokers fail in the same way as real brokers.
"""

MAX_HOSTILE_IN_WINDOW = 66
"""The same maximum if brokers respond in the worst possible way.

A backoff starts at 0.08 s, and a ``Pace`` allows 10 requests followed by 10 requests
per second.
"""


class Traffic:
    """Times of one client's requests without progress, by request type and broker."""

    def __init__(self):
        """Start without requests."""
        self.times: dict[tuple[str, int], list[float]] = defaultdict(list)

    def note(self, kind, node, now):
        """Record a request that did not make progress."""
        self.times[kind, node].append(now)

    def maxima(self):
        """Return the maximum request count in a window by request type."""
        maxima: dict[str, int] = defaultdict(int)
        for (kind, _), times in self.times.items():
            first = 0
            for last, now in enumerate(times):
                while times[first] < now - WINDOW_S:
                    first += 1
                maxima[kind] = max(maxima[kind], last - first + 1)
        return maxima

    def check(self, clients=1, maximum=MAX_HOSTILE_IN_WINDOW):
        """Raise ``AssertionError`` if a count exceeds ``clients`` times ``maximum``."""
        for kind, count in self.maxima().items():
            assert count <= clients * maximum, (
                f"{count} fruitless requests {kind} within {WINDOW_S:g} s"
            )
