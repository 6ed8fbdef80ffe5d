# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the schema files of the drafts and makes their message classes.

A file in ``schemas/`` is one message in Kafka's JSON message language. Its class is
built once, by ``kwire.messages.message_class``, and stays outside the registry.
"""

from __future__ import annotations

from .. import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def schema_text(name: str) -> str:
    """Read a schema file of this package (``kip35_c_request``), wherever it lives."""
    path = f"{__file__.removesuffix('.py')}/{name}.json"
    data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
    return data.decode()


def message_class(name: str) -> type[Any]:
    """Return the class of a schema file; every call gives the same one."""
    made = _classes.get(name)
    if made is None:
        made = _classes.setdefault(name, messages.message_class(schema_text(name)))
    return made


_classes: dict[str, type[Any]] = {}
