# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats the results of a run: requirements and the observed behaviour.

A report covers one document. It is text with 80 columns, or one dictionary per
requirement.
"""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from . import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .requirement import Document, Result

_WIDTH = 80
_MARK_WIDTH = 3
_TEXT_WIDTH = 41
_GAP = "  "
_OBSERVED_WIDTH = _WIDTH - _MARK_WIDTH - _TEXT_WIDTH - len(_GAP)


def list_documents() -> Iterator[str]:
    """Yield a line with number and title for every document."""
    for document in DOCUMENTS:
        yield f"{document.number}  {document.title}"


def describe_documents() -> Iterator[dict[str, Any]]:
    """Yield a dictionary that describes every document."""
    for document in DOCUMENTS:
        yield {
            "document": document.number,
            "module": f"kwire.drafts.{document.module}",
            "page": f"docs/drafts/{document.page}.md",
            "title": document.title,
            "requirements": len(document.requirements),
        }


def format_report(document: Document, results: Sequence[Result]) -> Iterator[str]:
    """Yield a report's lines. The maximum line length is 80 columns."""
    yield document.title
    yield f"Document {document.number}: {document.summary}"
    yield f"kwire.drafts.{document.module}"
    yield f"docs/drafts/{document.page}.md"
    yield ""
    yield _format_row("", "requirement", "observed on loopback sockets")
    for result in results:
        texts = textwrap.wrap(result.requirement.text, _TEXT_WIDTH)
        observed = textwrap.wrap(str(result.observation), _OBSERVED_WIDTH)
        if not result.is_met:
            expected = f"required: {result.requirement.expected}"
            observed += textwrap.wrap(expected, _OBSERVED_WIDTH)
        mark = "ok" if result.is_met else "NO"
        for text, seen in zip_longest(texts, observed, fillvalue=""):
            yield _format_row(mark, text, seen)
            mark = ""
    met = sum(result.is_met for result in results)
    yield ""
    yield f"{met} of {len(results)} requirements met"
    if document.note:
        yield from textwrap.wrap(document.note, _WIDTH)


def describe_results(
    document: Document, results: Sequence[Result]
) -> Iterator[dict[str, Any]]:
    """Yield a dictionary that describes every result."""
    for requirement, observation in results:
        is_met = observation.value == requirement.expected
        yield {
            "document": document.number,
            "requirement": requirement.text,
            "required": requirement.expected,
            "observed": observation.value,
            "detail": observation.detail,
            "is_met": is_met,
            "function": f"kwire.drafts.{requirement.function}",
            "test": f"tests/drafts/{requirement.test}",
        }


def _format_row(mark: str, text: str, observed: str) -> str:
    return f"{mark:{_MARK_WIDTH}}{text:{_TEXT_WIDTH}}{_GAP}{observed}".rstrip()
