# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ProducerIdentity``: producer id and epoch of a producer without transactions.

Any broker can assign a producer id to an idempotent producer. A transactional producer
gets its id from a transaction coordinator (``transactions.py``).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from ....errors import KwireError
from ....messages import InitProducerIdRequest
from ....schema import error_codes as codes
from .. import faults
from ..backoff import Backoff
from .requests import fatal_failure

if TYPE_CHECKING:
    from ..cluster import ClusterMachine
    from ..link import Link


_UNUSED_TIMEOUT_MS = 60_000
"""Transaction timeout in InitProducerId requests, in milliseconds. The field is
required, but brokers ignore it if the request has no transactional id.
"""


class IdentityState(Enum):
    """Whether the producer id is known, and whether it has been requested."""

    UNKNOWN = auto()
    """The next call of ``find`` requests a producer id."""
    REQUESTED = auto()
    """An InitProducerId request is in flight."""
    KNOWN = auto()
    """``find`` returns the producer id and the epoch."""
    FAILED = auto()
    """Final state: no broker assigns an id, because of ``failure``."""


class ProducerIdentity:
    """Producer id and epoch, requested on the first call of ``find``.

    Call ``find`` after every event until it returns a producer. ``failure`` is the
    error after which no further request is sent, or None.
    """

    def __init__(self, cluster: ClusterMachine) -> None:
        self.state = IdentityState.UNKNOWN
        self.failure: KwireError | None = None
        self._producer: tuple[int, int] | None = None
        self._cluster = cluster
        self._backoff = Backoff(cluster)

    def find(self, now: float) -> tuple[int, int] | None:
        """Return the producer id and epoch, or request them and return None."""
        if self.state is IdentityState.UNKNOWN and not self._backoff.must_wait(now):
            link = self._cluster.any_link(now)
            if link is not None:
                self._send_request(link, now)
        return self._producer

    def replace(self, producer_id: int) -> None:
        """Request another producer id during the next ``find``.

        ``producer_id`` is the id that has no epochs left. This method has no effect if
        it was replaced already.
        """
        if self._producer is not None and self._producer[0] == producer_id:
            self.state = IdentityState.UNKNOWN
            self._producer = None

    def _send_request(self, link: Link, now: float) -> None:
        request = InitProducerIdRequest(
            transactional_id=None, transaction_timeout_ms=_UNUSED_TIMEOUT_MS
        )
        try:
            link.send(request, self._process_response, now)
        except KwireError as error:
            self._fail(error)
        else:
            self.state = IdentityState.REQUESTED

    def _process_response(self, response: Any, now: float) -> None:
        if response is not None and not response.error_code:
            self.state = IdentityState.KNOWN
            self._producer = response.producer_id, response.producer_epoch
            self._backoff.reset()
        elif response is None or faults.may_pass(response.error_code):
            self.state = IdentityState.UNKNOWN
            code = codes.NETWORK_EXCEPTION if response is None else response.error_code
            self._backoff.fail(now, "requesting a producer id", codes.name(code))
        else:
            self._fail(fatal_failure("records", response.error_code))

    def _fail(self, failure: KwireError) -> None:
        self.state = IdentityState.FAILED
        self.failure = failure
