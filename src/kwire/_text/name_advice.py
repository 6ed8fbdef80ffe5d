# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Adds advice to the errors for names that kwire does not have.

``foreign_names`` has the advice for names of other Kafka clients. Other names get the
similar names of kwire. Nothing here runs before there is an error, except the call of
a function that ``explain_arguments`` decorates.
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
"""``inspect.CO_COROUTINE``; the module ``inspect`` is slow to import."""


def find_advice(table: Mapping[str, str], name: str) -> str:
    """Return ``; advice`` for a name of another client, or an empty string.

    "group.id" and "groupId" find the advice for "group_id".
    """
    by_name = {_normalize(each): advice for each, advice in table.items()}
    advice = by_name.get(_normalize(name))
    return "" if advice is None else f"; {advice}"


def _normalize(name: str) -> str:
    kept = name[:_LONGEST_NAME].replace("_", "").replace(".", "").replace("-", "")
    # Options of one letter have case: kcat has -c and -C.
    return kept if len(kept) == 1 else kept.lower()


def describe_missing(module: str, name: str, names: Iterable[str]) -> str:
    """Describe an attribute that a module does not have. ``names`` are those it has."""
    text = f"module {module!r} has no attribute {name!r:.100}"
    if name.startswith("_"):
        # The import system and inspect often look up private names such as __path__.
        return text
    from .foreign_names import ATTRIBUTES

    return text + (
        find_advice(ATTRIBUTES.get(module, {}), name) or suggest_names(name, names)
    )


class ForeignName:
    """Class attribute for a name of another Kafka client, which kwire does not have.

    Reading it raises an ``AttributeError`` with the advice. ``__getattr__`` would make
    all other attributes of the class slower.
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
    """Decorator of a class: a foreign name raises ``AttributeError`` with advice.

    ``owner`` is the key of ``foreign_names.ATTRIBUTES``. ``dir`` of an instance does
    not list the foreign names.
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
    """Decorator of a function: the ``TypeError`` for wrong arguments has advice.

    ``owner`` is the key of ``foreign_names.ARGUMENTS``. An argument without advice gets
    the similar parameters, or all of them. The decorator adds about 0.2 us to a call,
    so do not decorate functions that run for each record.
    """

    def decorate(function: F) -> F:
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                # If the function has started, the error has a frame of it.
                if error.__traceback__ is None or error.__traceback__.tb_next:
                    raise
                advice = _explain_call(owner, kwargs, parameters)
                raise TypeError(f"{error}{advice}") from None

        @wraps(function)
        async def call_coroutine(*args: Any, **kwargs: Any) -> Any:
            return await call(*args, **kwargs)

        # Callers may ask whether a method is a coroutine function.
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
