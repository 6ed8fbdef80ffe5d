# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The stubs declare the fields, keywords and defaults of all classes at run time.

The stubs are parsed and compared with the classes that an engine creates. Type checkers
are tested in ``typing/test_checkers.py``.
"""

import ast
import inspect
import uuid
from pathlib import Path

import pytest

from tests.harness import golden

ROOT = Path(__file__).parents[2]
STUB = ROOT / "src" / "kwire" / "messages" / "__init__.pyi"
PLAIN = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes,
    "UUID": uuid.UUID,
}
ABSTRACT = {"Struct", "Message", "Request", "Response"}


@pytest.fixture(scope="module")
def stub_classes():
    """Return the syntax trees of the classes in the stub, by message name."""
    tree = ast.parse(STUB.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return {name: node for name, node in classes.items() if name not in ABSTRACT}


def test_every_message_is_declared(kwire, stub_classes):
    """The declared classes equal ``ALL``, in the same order."""
    assert tuple(stub_classes) == kwire.messages.ALL


def test_every_class_has_the_structs_and_fields_that_are_declared(kwire, stub_classes):
    """Nested classes, the order of fields and ``__match_args__`` are equal."""
    for name, node in stub_classes.items():
        cls = getattr(kwire.messages, name)
        structs = {part.name for part in node.body if isinstance(part, ast.ClassDef)}
        # Names of other codecs are listed in dir(), but raise AttributeError with
        # advice.
        nested_classes = {
            name for name in dir(cls) if inspect.isclass(getattr(cls, name, None))
        }
        assert structs == {
            name for name in nested_classes if not name.startswith("_")
        }, name
        for at_run_time, class_node in pairs(cls, node):
            fields = [
                part.target.id
                for part in class_node.body
                if isinstance(part, ast.AnnAssign)
            ]
            matched = next(p for p in class_node.body if isinstance(p, ast.Assign))
            assert at_run_time.__match_args__ == tuple(fields), class_node.name
            assert ast.literal_eval(matched.value) == tuple(fields), class_node.name


def test_constructors_take_the_keywords_and_defaults_that_are_declared(
    kwire, stub_classes
):
    """The stub declares the keywords and defaults of every constructor.

    A default that is an object is declared as ``...``.
    """
    for name, node in stub_classes.items():
        for cls, class_node in pairs(getattr(kwire.messages, name), node):
            declared = keywords(class_node, "__init__")
            parameters = inspect.signature(cls).parameters
            assert list(declared) == list(parameters), class_node.name
            assert {p.kind for p in parameters.values()} == {
                inspect.Parameter.KEYWORD_ONLY
            }
            assert list(keywords(class_node, "replace")) == list(parameters)
            message = cls()
            for keyword, default in declared.items():
                value = getattr(message, keyword)
                if default is ...:
                    assert not isinstance(value, (int, str, bytes, tuple, float))
                else:
                    assert (type(value), value) == (type(default), default)


def test_vectors_decode_to_the_declared_types(kwire, stub_classes):
    """No field contains a value that its declared type excludes.

    In particular, no vector contains a null for a field whose type excludes None.
    """
    types = {
        (name, part.name): fields_of(part)
        for name, node in stub_classes.items()
        for part in (node, *(p for p in node.body if isinstance(p, ast.ClassDef)))
    }
    for vector in golden.vectors():
        name = vector.message
        cls = getattr(kwire.messages, name)
        waiting = [kwire.decode(cls, vector.data, vector.version)]
        while waiting:
            struct = waiting.pop()
            for field, (type_name, is_array, nullable) in types[
                name, type(struct).__name__
            ].items():
                value = getattr(struct, field)
                if value is None:
                    assert nullable, f"{name}: {field}"
                    continue
                assert not is_array or type(value) is tuple, f"{name}: {field}"
                for element in value if is_array else (value,):
                    if type_name in PLAIN:
                        assert type(element) is PLAIN[type_name], f"{name}: {field}"
                    else:
                        assert type(element).__qualname__ == type_name, (
                            f"{name}: {field}"
                        )
                        waiting.append(element)


def test_every_name_at_the_top_is_declared(kwire):
    """``kwire/__init__.pyi`` declares exactly the names of the package."""
    tree = ast.parse((ROOT / "src" / "kwire" / "__init__.pyi").read_text())
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    assert names == set(kwire.__all__)


def pairs(cls, node):
    """Yield (class, syntax tree of its declaration) for a message and its structs."""
    yield cls, node
    for part in node.body:
        if isinstance(part, ast.ClassDef):
            yield getattr(cls, part.name), part


def fields_of(class_node):
    """Return the declared fields as a dict.

    It maps the name to (type, whether it is an array, whether it is nullable).
    """
    fields = {}
    for part in class_node.body:
        if isinstance(part, ast.AnnAssign):
            annotation = ast.unparse(part.annotation.slice)
            plain = annotation.removesuffix(" | None")
            is_array = plain.startswith("tuple[")
            type_name = plain.removeprefix("tuple[").removesuffix(", ...]")
            fields[part.target.id] = type_name, is_array, plain != annotation
    return fields


def keywords(class_node, name):
    """Return the keyword parameters of a declared method with their defaults."""
    method = next(
        part
        for part in class_node.body
        if isinstance(part, ast.FunctionDef) and part.name == name
    )
    assert [argument.arg for argument in method.args.args] == ["self"]
    names = [argument.arg for argument in method.args.kwonlyargs]
    defaults = [ast.literal_eval(default) for default in method.args.kw_defaults]
    return dict(zip(names, defaults, strict=True))
