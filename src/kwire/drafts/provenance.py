# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Provenance``: the document and the revision that a draft comes from."""

from __future__ import annotations

from typing import NamedTuple


class Provenance(NamedTuple):
    """The document that a draft was taken from.

    ``kip`` is the number of the proposal, ``document`` what the page is about,
    ``revision`` which state of the page is meant. ``released`` is False for all: no
    Kafka release ever spoke a draft.
    """

    kip: int
    document: str
    revision: str
    released: bool = False

    def __str__(self) -> str:
        fate = "released" if self.released else "never released"
        return f"KIP-{self.kip}, {self.document} ({self.revision}), {fate}"
