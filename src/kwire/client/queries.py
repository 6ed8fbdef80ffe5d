# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a state machine that has one result over connections of its own."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from .admin import Admin
    from .machines import ClusterSettings
    from .runners.protocols import Query

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class QueryMaker(Protocol[R_co]):
    """Makes the machine of a query, for example the class of the machine."""

    def __call__(
        self,
        bootstrap: list[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> Query[R_co]: ...


async def run_query(kafka: Admin, make: QueryMaker[R]) -> R:
    """Run a machine over connections of its own; return its result or raise.

    This is a body for operations; ``run_blocking`` runs it for other blocking code.
    """
    kafka.has_connected = True
    query, runner = kafka._start(
        lambda now: make(kafka.addresses, kafka.settings, now=now, random=Random()),
        kafka.network,
    )
    try:
        await runner.wait(query.has_result)
        if query.failure is not None:
            raise query.failure
        return query.result()
    finally:
        query.close(runner.now())
        await runner.end()
