# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Adds advice to errors about names that kwire does not have.

``foreign_names`` contains the advice for names from other Kafka clients. For all other
names, the errors suggest similar names in kwire. This code only runs after an error,
except for the wrapper that ``explain_arguments`` puts around each call.
"""

from __future__ import annotations

from functools import wraps

from . import suggest_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    T = TypeVar("T", bound=type)

_LONGEST_NAME = 80
_CO_COROUTINE = 0x80
"""Value of ``inspect.CO_COROUTINE``, because importing ``inspect`` takes long."""


def find_advice(table: Mapping[str, str], name: str) -> str:
    """Return ``; advice`` for a name from another client, or an empty string.

    Case and separators are ignored, so "group.id" and "groupId" match the table entry
    for "group_id". Only names with a single letter are case-sensitive.
    """
    by_name = {_normalize(each): advice for each, advice in table.items()}
    advice = by_name.get(_normalize(name))
    return "" if advice is None else f"; {advice}"


def _normalize(name: str) -> str:
    kept = name[:_LONGEST_NAME].replace("_", "").replace(".", "").replace("-", "")
    # Single-letter options are case-sensitive, for example -c and -C in kcat.
    return kept if len(kept) == 1 else kept.lower()


def describe_missing(module: str, name: str, names: Iterable[str]) -> str:
    """Return the error text for an attribute that a module does not have.

    The text includes advice for a name from another client, or otherwise suggests
    similar names. ``names`` are the existing attributes of the module.
    """
    text = f"module {module!r} has no attribute {name!r:.100}"
    if name.startswith("_"):
        # The import system and inspect often look up private names such as __path__.
        return text
    from .foreign_names import ATTRIBUTES

    return text + (
        find_advice(ATTRIBUTES.get(module, {}), name) or suggest_names(name, names)
    )


class ForeignName:
    """Class attribute for a name from another Kafka client, which kwire does not have.

    Reading the attribute raises ``AttributeError`` with advice. This is a descriptor,
    because a ``__getattr__`` method would slow down all other attributes of the class.
    """

    __slots__ = ("_advice", "_name")

    def __init__(self, name: str, advice: str) -> None:
        self._name = name
        self._advice = advice

    def __get__(self, instance: object, owner: type) -> object:
        raise AttributeError(
            f"{owner.__qualname__} has no attribute {self._name!r}; {self._advice}"
        )


def advise_on_attributes(owner: str) -> Callable[[T], T]:
    """Create a class decorator that adds a ``ForeignName`` for each foreign name.

    ``owner`` is a key in ``foreign_names.ATTRIBUTES``. ``dir(instance)`` does not list
    the foreign names.
    """
    from .foreign_names import ATTRIBUTES

    table = ATTRIBUTES[owner]

    def list_own_names(self: object) -> list[str]:
        return sorted(set(object.__dir__(self)).difference(table))

    def decorate(cls: T) -> T:
        for name, advice in table.items():
            if not hasattr(cls, name):
                setattr(cls, name, ForeignName(name, advice))
        cls.__dir__ = list_own_names  # type: ignore[method-assign,assignment]
        return cls

    return decorate


def explain_arguments(owner: str) -> Callable[[F], F]:
    """Create a function decorator that adds advice to errors about wrong arguments.

    ``owner`` is a key in ``foreign_names.ARGUMENTS``. If a wrong argument has no advice
    there, the ``TypeError`` suggests similar parameters, or lists all parameters. The
    decorator adds about 0.2 us per call, so do not decorate functions that are called
    for every record.
    """

    def decorate(function: F) -> F:
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                # If the traceback also contains a frame of the function itself, the
                # arguments were accepted and the error has another cause.
                if error.__traceback__ is None or error.__traceback__.tb_next:
                    raise
                advice = _explain_call(owner, kwargs, parameters)
                raise TypeError(f"{error}{advice}") from None

        @wraps(function)
        async def call_coroutine(*args: Any, **kwargs: Any) -> Any:
            return await call(*args, **kwargs)

        # Wrap a coroutine function in a coroutine function, because callers may check
        # it with ``inspect.iscoroutinefunction``.
        is_coroutine = code.co_flags & _CO_COROUTINE
        return call_coroutine if is_coroutine else call  # type: ignore[return-value]

    return decorate


def _explain_call(owner: str, kwargs: Iterable[str], parameters: Iterable[str]) -> str:
    from .foreign_names import ALL_ARGUMENTS, ARGUMENTS

    table = ALL_ARGUMENTS | ARGUMENTS.get(owner, {})
    names = [name for name in parameters if name != "self"]
    for name in kwargs:
        if name in names:
            continue
        seconds = name.removesuffix("_ms") + "_s"
        if advice := find_advice(table, name):
            return advice
        if seconds in names:
            return f"; use {seconds}=, in seconds"
        return suggest_names(name, names) or f"; the names are {', '.join(names)}"
    return find_advice(table, "")
