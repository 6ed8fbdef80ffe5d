# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Document requirements, and the behaviour that a run observes.

``Document`` contains a document's requirements in kwire's own words. A requirement
names the function that implements it, the test that verifies it, and the observation
that the document predicts. ``run_document`` compares the predictions with the actual
traffic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import KwireError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


class Observation(NamedTuple):
    """Observed behaviour.

    * ``value``: text that is compared with the expected observation.
    * ``detail``: additional information for the reader of the report.
    """

    value: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.value} ({self.detail})" if self.detail else self.value


class Requirement(NamedTuple):
    """Requirement in a document.

    * ``expected``: observation that the document requires, with its numbers.
    * ``function``: name of the implementation in ``kwire.drafts``.
    * ``test``: file and function of a test in ``tests/drafts``.
    * ``observe``: receives the document's brokers, and returns the observation.
    """

    text: str
    expected: str
    function: str
    test: str
    observe: Callable[[Any], str | Observation]


class Document(NamedTuple):
    """Design document: its number, module, page and requirements.

    * ``title``, ``summary``: one line of text each.
    * ``start_brokers``: function that returns a context manager. It starts the brokers
      of the document on loopback sockets, and stops them at the end of the block.
    * ``note``: text that is printed at the end of a report.
    """

    number: str
    module: str
    page: str
    title: str
    summary: str
    start_brokers: Callable[[], AbstractContextManager[Any]]
    requirements: tuple[Requirement, ...]
    note: str = ""


class Result(NamedTuple):
    """Result of a run for one requirement.

    * ``requirement``: the requirement of the document.
    * ``observation``: the behaviour that the run has observed.
    """

    requirement: Requirement
    observation: Observation

    @property
    def is_met(self) -> bool:
        """Whether the observed behaviour is the required behaviour."""
        return self.observation.value == self.requirement.expected


def run_document(document: Document) -> list[Result]:
    """Run a document on loopback sockets. Returns one result per requirement.

    ``KwireError``, ``OSError``, ``LookupError`` and ``ValueError`` are recorded as
    observations. Raises ``OSError`` if the sockets of the brokers cannot be opened.
    """
    results = []
    with document.start_brokers() as brokers:
        for requirement in document.requirements:
            try:
                observed = requirement.observe(brokers)
            except (KwireError, OSError, LookupError, ValueError) as error:
                observed = f"{type(error).__name__}: {error}"
            if isinstance(observed, str):
                observed = Observation(observed)
            results.append(Result(requirement, observed))
    return results
