# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits requests into items, and merges the responses to them.

An item is an element of an array, such as a partition of a topic. Its path has one
struct for each ``Level`` of the route: the topic, then the partition. The functions
treat all APIs alike; ``schema/destinations.py`` knows where their arrays are.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ....connection.negotiation import Constraint
from ....schema import registry
from ....schema.versions import VersionRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from ....schema.destinations import Level
    from ....schema.model import Struct

    Levels: TypeAlias = Sequence[Level]
    Path: TypeAlias = tuple[Any, ...]

_UNSET = None, "", UUID(int=0)


def iterate_paths(message: Any, levels: Levels) -> Iterator[Path]:
    """Iterate over the paths of the items of a message, in their order."""
    if not levels:
        yield ()
        return
    for element in getattr(message, levels[0].array) or ():
        for path in iterate_paths(element, levels[1:]):
            yield (element, *path)


def identify(path: Path, levels: Levels) -> tuple[Any, ...]:
    """Return the identity of an item: the keys of the elements of its path."""
    return tuple(map(_element_key, path, levels))


def _element_key(element: Any, level: Level) -> Any:
    if not level.keys:
        return element
    values = [getattr(element, key) for key in level.keys]
    if level.has_all_keys:
        return tuple(values)
    return next((value for value in values if value not in _UNSET), None)


def with_items(message: Any, levels: Levels, paths: Iterable[Path]) -> Any:
    """Return a copy of a message or struct that has only the items of some paths.

    Arrays above the items have one element for each key, in the order of the paths.
    """
    level, *rest = levels
    if not rest:
        return message.replace(**{level.array: [path[0] for path in paths]})
    groups: dict[Any, list[Path]] = {}
    for path in paths:
        groups.setdefault(_element_key(path[0], level), []).append(path)
    elements = [
        with_items(group[0][0], rest, [path[1:] for path in group])
        for group in groups.values()
    ]
    return message.replace(**{level.array: elements})


def merge_responses(
    responses: Sequence[Any], levels: Levels, paths: Iterable[Path]
) -> Any:
    """Return one response with the items of some paths, from several responses.

    The error code of the whole is the first one that is not 0, and the throttle time
    the longest. Elements of other arrays are kept once.
    """
    first = next((each for each in responses if _error_code(each)), responses[0])
    merged = with_items(first, levels, paths)
    changes: dict[str, Any] = {}
    for name in type(first).__match_args__:
        values = [getattr(each, name) for each in responses]
        if name == "throttle_time_ms":
            changes[name] = max(values)
        elif isinstance(values[0], tuple) and name != levels[0].array:
            changes[name] = list(dict.fromkeys(v for value in values for v in value))
    return merged.replace(**changes)


def _error_code(response: Any) -> int:
    code: int = getattr(response, "error_code", 0)
    return code


def error_codes(response: Any) -> set[int]:
    """Return all values of fields named ``error_code``, at any depth."""
    found: set[int] = set()
    waiting = [response.to_dict()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "error_code" in value:
                found.add(value["error_code"])
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
    return found


def limit_to_fields(request: Any) -> Constraint:
    """Return the newest versions in which no field of a request that is set is removed.

    A later version may drop the value silently, such as the topic names that Fetch
    replaced by ids. A field that a broker is too old for is an ``EncodeError``.
    """
    if request.api_key not in registry.keys("request"):
        # Nothing is known about the fields of an API that Kafka does not have.
        return Constraint("all versions", {})
    newest = min(
        (
            version
            for path, version in _removed_fields(type(request).__name__)
            if _is_set(request, path)
        ),
        default=request.valid_versions.max,
    )
    versions = VersionRange(request.valid_versions.min, newest)
    return Constraint("the fields that are set", {type(request): versions})


@cache
def _removed_fields(name: str) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Return the path of each field that newer versions lack, and its last version."""
    message = registry.load(name)
    newest = message.valid_versions.max
    found: list[tuple[tuple[str, ...], int]] = []

    def search(struct: Struct, path: tuple[str, ...]) -> None:
        for field in struct.fields:
            here = (*path, field.attribute)
            if field.versions.max < newest:
                found.append((here, field.versions.max))
            elif field.struct is not None:
                search(field.struct, here)

    search(message.struct, ())
    return tuple(found)


def _is_set(struct: Any, path: tuple[str, ...]) -> bool:
    """Whether a field has another value than its default, in any element."""
    value = getattr(struct, path[0])
    if len(path) == 1:
        return bool(value != getattr(type(struct)(), path[0]))
    elements = value if isinstance(value, tuple) else (value,)
    return any(_is_set(each, path[1:]) for each in elements if each is not None)
