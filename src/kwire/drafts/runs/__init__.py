# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the five design documents on loopback sockets.

``DOCUMENTS`` has the documents in the order of their numbers. Each has a module here,
named as the module of ``kwire.drafts`` that implements it, with the brokers and clients
of its text and one row for each requirement. The command ``kwire drafts`` prints them.
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
    """Find a document by its number (002), its module, its page, or its KIP.

    Upper and lower case, dashes and underscores do not matter, and the beginning of a
    name is enough. Raises ``LookupError`` with the documents to choose from if no
    document or more than one has the name.
    """
    key = _simplify(name)
    if key.isdigit():
        key = key.zfill(3)
    found = [document for document in DOCUMENTS if _has_name(document, key)]
    if len(found) != 1:
        choices = ", ".join(
            f"{document.number} ({document.module})" for document in found or DOCUMENTS
        )
        problem = "several documents have" if found else "no document has"
        raise LookupError(f"{problem} the name {name!r:.60}; use one of {choices}")
    return found[0]


def _has_name(document: Document, key: str) -> bool:
    names = _simplify(document.module), _simplify(document.page)
    return bool(key) and any(name.startswith(key) for name in names)


def _simplify(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
