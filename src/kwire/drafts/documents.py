# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Identifies the documents that drafts implement, and loads their message schemas.

A file in ``schemas/`` contains one message in Kafka's JSON message language.
``kwire.messages.message_class`` builds its class once, without registering it.
"""

from __future__ import annotations

from os.path import dirname
from typing import Any, NamedTuple

from .. import messages


class Provenance(NamedTuple):
    """Document that a draft implements.

    * ``kip``: number of the Kafka Improvement Proposal.
    * ``document``: subject of the page.
    * ``revision``: implemented revision of the page.
    * ``released``: False for all drafts, because no Kafka release has supported one.
    """

    kip: int
    document: str
    revision: str
    released: bool = False

    def __str__(self) -> str:
        fate = "released" if self.released else "never released"
        return f"KIP-{self.kip}, {self.document} ({self.revision}), {fate}"


def schema_text(name: str) -> str:
    """Read a schema file in this package, for example "kip951_fetch_response"."""
    path = f"{dirname(__file__)}/schemas/{name}.json"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()


def message_class(name: str) -> type[Any]:
    """Return the class for a schema file. Repeated calls return the same class."""
    message_type = _classes.get(name)
    if message_type is None:
        message_type = _classes.setdefault(
            name, messages.message_class(schema_text(name))
        )
    return message_type


_classes: dict[str, type[Any]] = {}
