# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The document of a draft: ``Provenance`` names it, ``schemas/`` has its messages.

A file in ``schemas/`` is one message in Kafka's JSON message language. Its class is
built once, by ``kwire.messages.message_class``, and stays outside the registry.
"""

from __future__ import annotations

from os.path import dirname
from typing import Any, NamedTuple

from .. import messages


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


def schema_text(name: str) -> str:
    """Read a schema file of this package (``kip951_fetch_response``)."""
    path = f"{dirname(__file__)}/schemas/{name}.json"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()


def message_class(name: str) -> type[Any]:
    """Return the class of a schema file; every call gives the same one."""
    made = _classes.get(name)
    if made is None:
        made = _classes.setdefault(name, messages.message_class(schema_text(name)))
    return made


_classes: dict[str, type[Any]] = {}
