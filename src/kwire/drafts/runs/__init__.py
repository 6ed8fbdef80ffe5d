# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the five design documents on loopback sockets.

``DOCUMENTS`` lists the documents by number. Every document has a module in this
package, with the same name as the ``kwire.drafts`` module that implements it. It
contains the brokers and clients of the document, and one row per requirement. The
command ``kwire drafts`` prints the results.
"""

from __future__ import annotations

from . import (
    kip35_api_version,
    kip35_api_versions_query,
    kip35_protocol_version_request,
    kip87_tombstone_flag,
    kip951_leader_endpoints,
)
from .requirement import Document

DOCUMENTS = (
    kip35_api_version.DOCUMENT,
    kip35_protocol_version_request.DOCUMENT,
    kip951_leader_endpoints.DOCUMENT,
    kip87_tombstone_flag.DOCUMENT,
    kip35_api_versions_query.DOCUMENT,
)


def find_document(name: str) -> Document:
    """Find a document by its number (002), module, page, or KIP (KIP-951 or 951).

    Case, dashes and underscores are ignored, and a prefix of the name is sufficient.
    Raises ``LookupError`` if not exactly one document matches. The message lists the
    choices.
    """
    key = _simplify(name)
    keys: tuple[str, ...] = (key,)
    if key.isdigit():
        # The number of a document (002 or 2), or of a KIP (951). No KIP has one digit.
        keys = (key.zfill(3),) if len(key) == 1 else (key.zfill(3), f"kip{key}")
    documents = [document for document in DOCUMENTS if _has_name(document, keys)]
    if len(documents) != 1:
        choices = ", ".join(
            f"{document.number} ({document.module})"
            for document in documents or DOCUMENTS
        )
        problem = "several documents have" if documents else "no document has"
        raise LookupError(f"{problem} the name {name!r:.60}; use one of {choices}")
    return documents[0]


def _has_name(document: Document, keys: tuple[str, ...]) -> bool:
    names = _simplify(document.module), _simplify(document.page)
    return all(keys) and any(name.startswith(keys) for name in names)


def _simplify(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
