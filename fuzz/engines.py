# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loads both engines in one process, and compares their results.

The package is imported a second time as ``kwire_pure``, which uses the Python engine.
The fuzzer can observe which Python lines run, so the Python engine guides it, while
both engines are checked. The targets determine how an input is used.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import struct
import sys
import zlib
from bisect import bisect_right
from functools import cache
from pathlib import Path

PURE = "kwire_pure"
_LEAVES = frozenset((int, str, bytes, bool, type(None)))


class Finding(AssertionError):
    """An input violates a condition that must hold for every input."""


@cache
def pure():
    """Return the package with the Python engine, and import it on first use."""
    import kwire

    if kwire.backend == "pure":
        return kwire
    if PURE in sys.modules:
        return sys.modules[PURE]
    folder = Path(kwire.__path__[0])
    spec = importlib.util.spec_from_file_location(
        PURE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[PURE] = package
    spec.loader.exec_module(package)
    before = os.environ.get("KWIRE_BACKEND")
    os.environ["KWIRE_BACKEND"] = "pure"
    try:
        importlib.import_module(f"{PURE}._engine.active")
    finally:
        if before is None:
            del os.environ["KWIRE_BACKEND"]
        else:
            os.environ["KWIRE_BACKEND"] = before
    return package


@cache
def packages():
    """Return the packages of both engines, or only the one of the Python engine."""
    import kwire

    return (kwire, pure()) if kwire.backend == "fast" else (pure(),)


def module(package, name):
    """Return a submodule of a package by its relative name."""
    return importlib.import_module(f"{package.__name__}.{name}")


def neutral(value):
    """Convert a value so that it can be compared with a value of the other engine.

    Types are compared as well: ``True`` differs from 1, and bytes differ from a
    memoryview. A NaN equals itself.
    """
    kind = type(value)
    if kind in _LEAVES:
        return kind.__name__, value
    if kind is tuple or kind is list:
        return tuple(map(neutral, value))
    if kind is float:
        return "float", struct.pack(">d", value)
    if kind is memoryview:
        return "memoryview", value.tobytes()
    if kind is dict:
        return "dict", *((neutral(key), neutral(value[key])) for key in value)
    if isinstance(value, Exception):
        return "exception", kind.__name__, str(value)
    names = getattr(kind, "__match_args__", None)
    if kind.__name__ == "ApiVersionTable":
        features = value.supported_features, value.finalized_features
        return kind.__name__, neutral(value.ranges()), neutral(features), repr(value)
    if names is None:
        return kind.__name__, value
    fields = [neutral(getattr(value, name)) for name in names]
    tags = getattr(value, "unknown_tagged_fields", None)
    return kind.__qualname__, *fields, neutral(tags)


def facts(package, error, size=None):
    """Return the class, the message and the attributes of an error as a tuple.

    Raises ``Finding`` if the offset of a ``DecodeError`` is not a position in the
    input, which has ``size`` bytes.
    """
    said = [type(error).__name__, str(error)]
    if isinstance(error, package.errors.DecodeError):
        if type(error.offset) is not int or error.offset < 0:
            raise Finding(f"{error!r} has the offset {error.offset!r}")
        if size is not None and error.offset > size:
            raise Finding(f"{error!r}: byte {error.offset} of {size}")
        said += [error.offset, error.path, error.message_name, error.version]
    return tuple(said)


def outcome(package, call, *arguments, size=None):
    """Call a function with one engine.

    Returns ("value", the result) or ("error", the details of the error).
    """
    try:
        return "value", neutral(call(package, *arguments))
    except package.errors.KwireError as error:
        return "error", facts(package, error, size)


def agree(call, *arguments, size=None):
    """Call a function with both engines, and return their common outcome.

    Raises ``Finding`` if the outcomes differ.
    """
    said = [outcome(each, call, *arguments, size=size) for each in packages()]
    for other in said[1:]:
        if other != said[0]:
            differ(call.__name__, said[0], other)
    return said[0]


def differ(what, fast, other):
    """Raise a ``Finding`` that shows the different outcomes of ``what``."""
    raise Finding(f"{what}: the engines differ:\n  {fast!r:.2000}\n  {other!r:.2000}")


def equal(what, one, other):
    """Raise ``Finding`` if two values differ."""
    if one != other:
        raise Finding(f"{what}:\n  {one!r:.2000}\n  {other!r:.2000}")


# Two bytes of an input select a message. New messages must not change the selection,
# because otherwise the corpus would become useless with every release. Therefore
# message names are hashed to positions on a circle of 65,536 values (consistent
# hashing). A message is selected by all values from its position to the next position.


@cache
def _circle():
    names = packages()[0].messages.ALL
    places = {zlib.crc32(name.encode()) & 0xFFFF: name for name in reversed(names)}
    return sorted(places), places


def place_of(name):
    """Return the two bytes at which the range of a message starts."""
    return (zlib.crc32(name.encode()) & 0xFFFF).to_bytes(2, "big")


def message_at(head):
    """Return the name of the message that two bytes select."""
    places, names = _circle()
    return names[places[bisect_right(places, int.from_bytes(head, "big")) - 1]]


def version_at(package, name, byte):
    """Return the version that a byte selects, counted from the minimum version."""
    versions = getattr(package.messages, name).valid_versions
    return versions.min + byte % (versions.max - versions.min + 1)
