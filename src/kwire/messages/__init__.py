# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A class for each of Kafka's messages, built on first use.

``ALL`` lists their names, ``by_key`` finds them by number, and ``message_class`` builds
a class from a schema. ``framing``, ``wire``, ``internal_topics`` and ``arrow`` are
public too. ``__init__.pyi`` declares every class for type checkers, and
``tools/generate/stubs.py`` writes it. Sockets and record batches do not belong here.
May import: ``errors``, ``_limits``, ``_text``, ``schema``, ``_engine``.
"""

from __future__ import annotations

from .._text import suggest_names
from ..schema import registry
from . import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def by_key(api_key: int, kind: str, family: str | None = None) -> type:
    """Find the class of an API key, record type or record id.

    ``kind`` is "request", "response", "metadata", "coordinator-key" or
    "coordinator-value". The numbers of requests and responses are unique; where
    another number is in use twice, ``family`` has to say which is meant
    (``group-coordinator``). ``KeyError`` where there is none, or a choice.
    """
    key = (api_key, kind, family)
    found = _by_key.get(key)
    if found is None:
        found = _by_key[key] = _build(registry.find_by_key(*key).name)
    return found


def message_class(text: str) -> type[Any]:
    """Build a message class from a schema in Kafka's JSON message language.

    Comments, coerced scalars and ``commonStructs`` are understood as Kafka's own
    generator understands them. Raises ``SchemaError`` with the position, the field
    and the rule for a text that the generator would refuse. The class belongs to the
    caller: it is in no registry, and two calls give two classes. On the compiled engine
    a class stays in memory until the process ends, some 5 kB of it: keep what you made.
    A version in which elements of an array would take no bytes cannot be read safely:
    using it raises ``SchemaError``, the rule being ``empty-element``. Structs within
    structs may make 65,536 fields of a message, each counted at each of its uses; more
    are refused by the rule ``layout-too-large``, as a default would hold them all.
    Time is linear in the text.
    Source: ``org.apache.kafka.message.MessageSpec``.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str (got {type(text).__name__})")
    from ..schema import language

    return codec.build_class(language.read_message(text))


_MODULES = ("arrow", "framing", "internal_topics", "wire")
"""The public modules of this package, which resolve on first use."""

_by_key: dict[tuple[int, str, str | None], type] = {}


def _build(name: str) -> type:
    found: type | None = globals().get(name)
    if found is None:
        made = codec.build_class(registry.load(name), __name__)
        found = globals().setdefault(name, made)
    return found


def __getattr__(name: str) -> object:
    if name in _MODULES:
        # Not by importlib, which is slow to import itself.
        return __import__(f"{__name__}.{name}", fromlist=[name])
    if name == "ALL":
        names = globals().setdefault("ALL", tuple(registry.names()))
        return names
    if name == "__all__":
        return __dir__()
    if name in registry.names():
        return _build(name)
    # Python itself looks for names with underscores, and often.
    near = "" if name.startswith("_") else suggest_names(name, registry.names())
    raise AttributeError(
        f"Kafka has no message {name!r:.100}{near or '; see kwire.messages.ALL'}"
    )


def __dir__() -> list[str]:
    return [*registry.names(), "ALL", "by_key", "message_class"]


def _restore(qualname: str, values: tuple[object, ...]) -> object:
    """Make the message or struct that a pickle describes, on the active engine."""
    name, _, inner = qualname.partition(".")
    cls: Any = globals().get(name) or __getattr__(name)
    if inner:
        cls = getattr(cls, inner)
    names = (*cls.__match_args__, "unknown_tagged_fields")
    return cls(**dict(zip(names, values, strict=True)))
