# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits requests into items, and merges the responses to them.

An item is an element of an array, for example a partition of a topic. Its path contains
one struct for each ``Level`` of the route: first the topic, then the partition. The
functions support all APIs, because ``schema/destinations.py`` defines the levels of
every API.
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
    """Iterate over the paths of all items in a message, in order."""
    if not levels:
        yield ()
        return
    for element in getattr(message, levels[0].array) or ():
        for path in iterate_paths(element, levels[1:]):
            yield (element, *path)


def identify(path: Path, levels: Levels) -> tuple[Any, ...]:
    """Return the keys of the elements in the path, which identify an item."""
    return tuple(map(_element_key, path, levels))


def _element_key(element: Any, level: Level) -> Any:
    if not level.keys:
        return element
    values = [getattr(element, key) for key in level.keys]
    if level.has_all_keys:
        return tuple(values)
    return next((value for value in values if value not in _UNSET), None)


def with_items(message: Any, levels: Levels, paths: Iterable[Path]) -> Any:
    """Return a copy of a message or struct that contains only the items in ``paths``.

    Arrays above the items contain one element per key, in the order of the paths.
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
    """Merge several responses into one response with the items in ``paths``.

    The top-level error code is the first one that is not 0. The throttle time is the
    maximum. Other arrays are concatenated without duplicates.
    """
    first = next(
        (response for response in responses if _error_code(response)), responses[0]
    )
    merged = with_items(first, levels, paths)
    changes: dict[str, Any] = {}
    for name in type(first).__match_args__:
        values = [getattr(response, name) for response in responses]
        if name == "throttle_time_ms":
            changes[name] = max(values)
        elif isinstance(values[0], tuple) and name != levels[0].array:
            changes[name] = list(dict.fromkeys(v for value in values for v in value))
    return merged.replace(**changes)


def _error_code(response: Any) -> int:
    code: int = getattr(response, "error_code", 0)
    return code


def error_codes(response: Any) -> set[int]:
    """Return the values of all fields named ``error_code`` in a response."""
    codes: set[int] = set()
    waiting = [response.to_dict()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "error_code" in value:
                codes.add(value["error_code"])
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)
    return codes


def limit_to_fields(request: Any) -> Constraint:
    """Return a constraint that excludes versions without a field that is set.

    A newer version may omit the value silently: for example, Fetch has replaced topic
    names by ids. Versions that are too old for a field need no constraint, because
    encoding raises ``EncodeError``.
    """
    if request.api_key not in registry.keys("request"):
        # The schema of an API that Kafka does not have is unknown.
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
    """Return (path, last version) of every field that newer versions have removed.

    A path contains the field names from the request to the field.
    """
    message = registry.load(name)
    newest = message.valid_versions.max
    removed: list[tuple[tuple[str, ...], int]] = []

    def search(struct: Struct, path: tuple[str, ...]) -> None:
        for field in struct.fields:
            field_path = (*path, field.attribute)
            if field.versions.max < newest:
                removed.append((field_path, field.versions.max))
            elif field.struct is not None:
                search(field.struct, field_path)

    search(message.struct, ())
    return tuple(removed)


def _is_set(struct: Any, path: tuple[str, ...]) -> bool:
    """Return whether a field has another value than its default.

    ``path`` contains the field names from ``struct`` to the field. If one of these
    fields is an array, the field is set if it is set in any element of the array.
    """
    value = getattr(struct, path[0])
    if len(path) == 1:
        return bool(value != getattr(type(struct)(), path[0]))
    elements = value if isinstance(value, tuple) else (value,)
    return any(
        _is_set(element, path[1:]) for element in elements if element is not None
    )
