# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requirements of the documents, and what a run observes of each.

``Document`` has the requirements of one document in the words of kwire. Each names the
function that implements it, the test that shows it, and the observation that the text
of the document leads to. ``run_document`` compares these with what the sockets carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import KwireError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


class Observation(NamedTuple):
    """What a run saw: ``value`` is compared, ``detail`` is for the reader."""

    value: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.value} ({self.detail})" if self.detail else self.value


class Requirement(NamedTuple):
    """One requirement of a document.

    ``expected`` is what the sockets have to carry, with the numbers of the document.
    ``function`` is the name of the implementation in ``kwire.drafts``, and ``test``
    that of a test in ``tests/drafts`` (file, then function). ``observe`` receives the
    brokers of the document and returns what happened.
    """

    text: str
    expected: str
    function: str
    test: str
    observe: Callable[[Any], str | Observation]


class Document(NamedTuple):
    """A design document: its number, module, page and requirements.

    ``title`` and ``summary`` are one line each, and ``note`` is text for the end of a
    report. ``start_brokers`` starts the brokers of the text on
    loopback sockets, and stops them at the end of its ``with`` block.
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
    """A requirement and what a run observed of it."""

    requirement: Requirement
    observation: Observation

    @property
    def is_met(self) -> bool:
        """Whether the observed behaviour is the required one."""
        return self.observation.value == self.requirement.expected


def run_document(document: Document) -> list[Result]:
    """Run a document on loopback sockets; return a result for each requirement.

    An error of kwire or of a socket is an observation like any other.
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
