# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads ``facts/destinations.txt``: the brokers that a request of each API goes to.

The first lines of that file explain the destinations and the notation of the items.
``client/machines/request`` sends requests by these routes.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from . import registry
from .model import snake_case


class Destination(Enum):
    """The brokers of a request; ``facts/destinations.txt`` describes each of them."""

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
    """An array on the way to the items of a message, by the attribute of its struct.

    ``keys`` are the attributes that identify an element; without them the elements
    identify themselves. ``has_all_keys`` if an element is identified by all of them
    together, and not by the one that is set.
    """

    array: str
    keys: tuple[str, ...] = ()
    has_all_keys: bool = False


class Route(NamedTuple):
    """The destination of an API, and the parts of its messages that matter for it.

    ``key`` is the attribute with the group or transactional id, or None. ``items`` are
    the arrays of a request that is split, from the outermost to the array of items, and
    ``answers`` those of the response. ``is_repeatable`` if a request may be sent again
    after a lost connection.
    """

    destination: Destination
    is_repeatable: bool = False
    key: str | None = None
    items: tuple[Level, ...] = ()
    answers: tuple[Level, ...] = ()


_routes: dict[str, Route] = {}


def find_route(api_key: int) -> Route:
    """Return the route of an API. Raises ``KeyError`` for an unknown API key."""
    if not _routes:
        # In one step: another thread must see all of it or nothing.
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
