# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ApiRegistry``: the request and response classes of Kafka's APIs and of others.

Frames contain an API key, not the name of a class. ``framing`` and ``connection`` find
the class of a frame here. ``messages.message_class`` makes classes for APIs that Kafka
does not have.
"""

from __future__ import annotations

from .. import messages
from ..schema import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = ("request", "response")


class ApiRegistry:
    """Request and response classes by API key: your own, and all of Kafka.

        registry = ApiRegistry(PingRequest, PingResponse)
        framing.decode_request(frame, registry=registry)

    ``classes`` are made by ``messages.message_class``, a request and a response for
    each API key. A registry does not change, and can be shared by connections and
    threads.
    Raises ``TypeError`` for anything but a request or response class. Raises
    ``ValueError`` for a class without an API key, for an API key that Kafka uses, for a
    second class of the same API key and kind, and for a request without its response or
    a response without its request.
    """

    __slots__ = ("_classes",)

    def __init__(self, *classes: type[Any]) -> None:
        self._classes: dict[tuple[int, str], type[Any]] = {}
        for cls in classes:
            self._add(cls)
        for api_key, kind in self._classes:
            other = _KINDS[kind == "request"]
            if (api_key, other) not in self._classes:
                raise ValueError(
                    f"API key {api_key} has a {kind} class but no {other} class; pass"
                    " both"
                )

    def by_key(self, api_key: int, kind: str) -> type[Any]:
        """Return the class of an API key; ``kind`` is "request" or "response".

        Raises ``KeyError`` if there is no such class.
        """
        found = self._classes.get((api_key, kind))
        return messages.by_key(api_key, kind) if found is None else found

    def __repr__(self) -> str:
        names = [cls.__name__ for cls in self._classes.values()]
        return f"ApiRegistry({', '.join(names)})"

    def _add(self, cls: type[Any]) -> None:
        kind = getattr(cls, "kind", "")
        if not isinstance(cls, type) or kind not in _KINDS:
            raise TypeError(
                "classes must be request and response classes, such as those of"
                f" messages.message_class (got {cls!r:.60})"
            )
        api_key = cls.api_key
        if api_key is None:
            raise ValueError(f"{cls.__name__} has no apiKey; add it to its schema")
        if api_key in registry.keys("request"):
            raise ValueError(
                f"{cls.__name__} has the API key {api_key}, which is that of Kafka's"
                f" {messages.by_key(api_key, kind).__name__}; use another apiKey"
            )
        if (api_key, kind) in self._classes:
            raise ValueError(
                f"{cls.__name__} is a second {kind} class of API key {api_key}; pass"
                " one"
            )
        self._classes[api_key, kind] = cls


KAFKA = ApiRegistry()
"""The classes of Kafka alone."""
