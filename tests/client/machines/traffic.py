# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the requests of one client, and compares them with a maximum for each kind.

A request that makes progress is not limited: a Fetch that returns records, a Produce
whose batch is acknowledged, a commit that succeeds. All other requests are limited for
each broker and each kind, so that no sequence of answers makes a client send requests
without a pause.
"""

from __future__ import annotations

from collections import defaultdict

WINDOW_S = 5.0
"""Length of the time windows in which requests are counted."""

CONNECTION = "connection"
"""The kind of a new connection, whose first request is ApiVersions."""

MAX_IN_WINDOW = 45
"""Maximum number of fruitless requests of one kind that a broker receives in a window,
if brokers fail in the way of real brokers.
"""

MAX_HOSTILE_IN_WINDOW = 66
"""As above, for brokers that answer in the worst way. A backoff begins at 0.08 s, and a
``Pace`` allows 10 requests and then 10 a second.
"""


class Traffic:
    """The fruitless requests of one client, by kind and broker."""

    def __init__(self):
        """Begin without requests."""
        self.times: dict[tuple[str, int], list[float]] = defaultdict(list)

    def note(self, kind, node, now):
        """Count a request that made no progress."""
        self.times[kind, node].append(now)

    def maxima(self):
        """Return the maximum number of requests in a window, by kind."""
        maxima: dict[str, int] = defaultdict(int)
        for (kind, _), times in self.times.items():
            first = 0
            for last, now in enumerate(times):
                while times[first] < now - WINDOW_S:
                    first += 1
                maxima[kind] = max(maxima[kind], last - first + 1)
        return maxima

    def check(self, clients=1, maximum=MAX_HOSTILE_IN_WINDOW):
        """Raise ``AssertionError`` if ``clients`` send more than a maximum each."""
        for kind, count in self.maxima().items():
            assert count <= clients * maximum, (
                f"{count} fruitless requests {kind} within {WINDOW_S:g} s"
            )
