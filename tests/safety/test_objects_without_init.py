# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of the compiled engine that skip ``__init__`` cause no crash.

Their fields are null. A method that assumes initialized fields would write to arbitrary
memory. The tests find the types by inspection.
"""

import importlib
import pkgutil

import pytest

import kwire
from kwire._engine import fast as engine
from tests.harness.guard_pages import check

pytestmark = pytest.mark.skipif(
    kwire.backend != "fast",
    reason="this build has one engine, which has no memory of its own to write to",
)

ARGUMENTS = {"import_with": (print, None), "append": (b"key", b"value")}
"""Arguments for methods that require arguments."""

LEAST_TYPES = 5


def types_of_the_engine():
    """Return all classes that modules of the compiled engine define, by name."""
    types = {}
    for module in pkgutil.iter_modules(engine.__path__):
        names = vars(importlib.import_module(f"{engine.__name__}.{module.name}"))
        for value in names.values():
            if isinstance(value, type) and value.__module__.startswith(engine.__name__):
                types[value.__qualname__] = value
    return types


def methods_of(cls):
    """Return the public methods of a type, including the Arrow protocol methods."""
    return [
        name
        for name, value in vars(cls).items()
        if callable(value) and (name[0] != "_" or name.startswith("__arrow"))
    ]


def test_methods_of_uninitialized_objects_raise():
    """An uninitialized object raises an error and returns no result or capsule."""
    types = types_of_the_engine()
    assert len(types) >= LEAST_TYPES
    assert methods_of(types["Array"]) and methods_of(types["RecordList"])

    def work(note):
        for name, cls in types.items():
            try:
                empty = cls.__new__(cls)
            except TypeError:
                continue
            for method in methods_of(cls):
                note((name, method))
                with pytest.raises((TypeError, AttributeError)):
                    getattr(empty, method)(*ARGUMENTS.get(method, ()))

    check(work)


def test_an_empty_array_is_no_child():
    """A parent with an uninitialized child would calculate its memory incorrectly."""
    array = types_of_the_engine()["Array"]
    with pytest.raises(TypeError, match="has no content"):
        array("+s", "", 0, 0, (None,), (array.__new__(array),))


def test_uninitialized_memory_is_an_empty_buffer():
    """Uninitialized memory is an empty buffer, which can be part of an array."""
    types = types_of_the_engine()
    memory = types["Memory"].__new__(types["Memory"])
    assert bytes(memory) == b"" and len(memory) == 0
    array = types["Array"]("c", "", 0, 0, (None, memory))
    assert array.__arrow_c_array__()
