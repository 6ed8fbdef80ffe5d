# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses ``facts/destinations.txt``: destination brokers by API.

The header of that file explains the destinations and the item notation.
``client/machines/request`` sends requests according to these routes.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from . import registry
from .model import snake_case


class Destination(Enum):
    """Destination of a request. ``facts/destinations.txt`` describes the values."""

    ANY = "any"
    CONTROLLER = "controller"
    EVERY = "every"
    LEADER = "leader"
    GROUP = "group"
    TRANSACTION = "transaction"
    SHARE = "share"
    RESOURCE = "resource"
    NODE = "node"
    CONNECTION = "connection"


class Level(NamedTuple):
    """One array level on the path to the items in a message.

    * ``array``: attribute of the array in its parent struct.
    * ``keys``: attributes that identify an element. If there are no keys, the elements
      identify themselves.
    * ``has_all_keys``: True if all keys together identify an element, False if only the
      key that is set identifies it.
    """

    array: str
    keys: tuple[str, ...] = ()
    has_all_keys: bool = False


class Route(NamedTuple):
    """Destination of an API, and the parts of its messages that affect routing.

    * ``is_repeatable``: whether a request may be sent again after its connection was
      lost.
    * ``key``: attribute with the group id or transactional id, or None.
    * ``items``: arrays in a request that must be split, from the outermost array to the
      item array.
    * ``answers``: the corresponding arrays of the response.
    """

    destination: Destination
    is_repeatable: bool = False
    key: str | None = None
    items: tuple[Level, ...] = ()
    answers: tuple[Level, ...] = ()


_routes: dict[str, Route] = {}


def find_route(api_key: int) -> Route:
    """Return an API's route. Raises ``KeyError`` if the API key is unknown."""
    if not _routes:
        # Insert all routes with one ``update``, so that other threads see either an
        # empty or a complete table.
        _routes.update(_read_routes(registry.fact_text("destinations")))
    name = registry.find_by_key(api_key, "request").name
    return _routes[name.removesuffix("Request")]


def _read_routes(text: str) -> dict[str, Route]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {line.split()[0]: _read_route(line) for line in lines}


def _read_route(line: str) -> Route:
    left, _, right = line.partition("=")
    _, destination, *words = left.split()
    is_repeatable = words[:1] == ["repeat"]
    words = words[is_repeatable:]
    answers = tuple(map(_read_level, right.split()))
    has_key = "or" in words or not answers
    return Route(
        Destination(destination),
        is_repeatable,
        snake_case(words[0]) if has_key and words else None,
        tuple(map(_read_level, words[2:] if "or" in words else words))
        if answers
        else (),
        answers,
    )


def _read_level(word: str) -> Level:
    array, _, keys = word.partition(":")
    names = keys.replace("+", "/").split("/") if keys else ()
    return Level(snake_case(array), tuple(map(snake_case, names)), "+" in keys)
