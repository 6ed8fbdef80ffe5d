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
"""Arguments of the methods that require arguments, by method name."""

LEAST_TYPES = 5


def types_of_the_engine():
    """Return all classes of the compiled engine by name."""
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
    """Methods of an object without ``__init__`` raise an error.

    They return no result and no Arrow capsule.
    """
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
    """An array without ``__init__`` cannot be the child of another array.

    Otherwise, the parent would compute a wrong size of its memory.
    """
    array = types_of_the_engine()["Array"]
    with pytest.raises(TypeError, match="has no content"):
        array("+s", "", 0, 0, (None,), (array.__new__(array),))


def test_uninitialized_memory_is_an_empty_buffer():
    """Memory without ``__init__`` is an empty buffer, which an array accepts."""
    types = types_of_the_engine()
    memory = types["Memory"].__new__(types["Memory"])
    assert bytes(memory) == b"" and len(memory) == 0
    array = types["Array"]("c", "", 0, 0, (None, memory))
    assert array.__arrow_c_array__()
