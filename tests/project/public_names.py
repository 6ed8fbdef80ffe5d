# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the public names of functions, methods, parameters and attributes.

A name is public if the reference documents it: the pages in ``docs/reference`` list
modules, functions, classes and members. Parameters and attributes are inspected at run
time, because stub sources have no annotations for compiled functions.
"""

import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

from kwire._text.name_advice import ForeignName

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
_DIRECTIVE = re.compile(
    r"^\.\. (module|currentmodule|autofunction|autoclass|automethod|autodata)::"
    r" ([\w.]+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class PublicName:
    """Public name of a function, method, parameter or attribute.

    * ``module``: module in which the reference documents the name.
    * ``owner``: full path of the function or class that has the name.
    * ``name``: the name itself.
    * ``annotation``: type as text, or "".
    * ``kind``: "function", "parameter" or "attribute".
    """

    module: str
    owner: str
    name: str
    annotation: str = ""
    kind: str = "parameter"

    def __str__(self) -> str:
        return f"{self.owner}: {self.name}"


def list_public_names() -> list[PublicName]:
    """Return a PublicName for every name that the reference documents."""
    names: list[PublicName] = []
    for page in sorted(REFERENCE.glob("*.md")):
        module = ""
        for kind, name in _DIRECTIVE.findall(page.read_text()):
            if kind.endswith("module"):
                module = name
            else:
                names += describe(module, name)
    return names


def describe(module: str, name: str) -> list[PublicName]:
    """Return the names of a function or class, of its parameters and its attributes."""
    # Some modules, such as ``kwire.error_codes``, are attributes of ``kwire``, although
    # they are stored elsewhere.
    value: object = importlib.import_module("kwire")
    for part in (*module.split(".")[1:], *name.split(".")):
        if not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")  # type: ignore[attr-defined]
        value = getattr(value, part)
    path = f"{module}.{name}"
    descriptions = [PublicName(module, path, name.rpartition(".")[2], "", "function")]
    if isinstance(value, type):
        return descriptions + _describe_class(module, path, value)
    return descriptions + _describe_function(module, path, value)


def _describe_class(module: str, path: str, cls: type) -> list[PublicName]:
    members: list[PublicName] = []
    attributes: dict[str, str] = {}
    methods: set[str] = set()
    for base in reversed(cls.__mro__[:-1]):
        if not base.__module__.startswith("kwire"):
            continue
        for name, annotation in vars(base).get("__annotations__", {}).items():
            attributes[name] = str(annotation)
        for name, value in vars(base).items():
            if isinstance(value, ForeignName):
                # The name belongs to another client library. It only raises an error
                # with advice, so it is not public.
                continue
            attributes.setdefault(name, "")
            function = getattr(value, "__func__", value)
            if isinstance(value, property):
                returned = getattr(value.fget, "__annotations__", {}).get("return", "")
                attributes[name] = str(returned)
            elif callable(function) and (
                not name.startswith("_") or name == "__init__"
            ):
                owner = path if name == "__init__" else f"{path}.{name}"
                members += _describe_function(module, owner, function)
                methods.add(name)
    members += [
        PublicName(
            module,
            path,
            name,
            annotation,
            "function" if name in methods else "attribute",
        )
        for name, annotation in attributes.items()
        if not name.startswith("_")
    ]
    return members


def _describe_function(module: str, path: str, function: object) -> list[PublicName]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    return [
        PublicName(module, path, parameter.name, _text(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls") and not parameter.name.startswith("_")
    ]


def _text(annotation: object) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else str(annotation)
