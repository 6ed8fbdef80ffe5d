# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lists every error text in kwire's source, in one file to read side by side.

    error_texts.py            exit 1 where tests/error_texts.txt and the source differ
    error_texts.py --record   write the table anew

A text is a template: ``{name}`` is what the error fills in. In Python, the arguments of
exceptions are followed back to their strings: through variables, tables, attributes and
parameters, and through the functions that return them. This finds a little more than
errors, such as names for values within a text. In Cython, where strings are few, each
one with a space is listed, except docstrings.
"""

import argparse
import ast
import builtins
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "kwire"
TABLE = ROOT / "tests" / "error_texts.txt"

NOT_RAISED = {
    "BadLine",
    "Problem",
    "ConnectionClosed",
    "Constraint",
    "BytePieces",
    "warn",
    "say",
    "say_usage",
    "tell",
    "_tell_once",
}
"""Classes and functions that take texts of errors, besides exceptions."""

WRITES_CODE = "_pure/emitter.py"
"""Its strings are lines of Python, and some of them raise."""

_CLICK = ("ClickException", "UsageError", "BadParameter")
_LITERAL = r"""[rfb]*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_IN_CYTHON = re.compile(
    rf'"""[\s\S]*?"""|#[^\n]*|(?P<texts>{_LITERAL}(?:\s+{_LITERAL})*)'
)
_FILLED_IN = re.compile(r"\{[^{}]*\}")
_NOT_PYTHON = re.compile(r"<[^<>]*>|&")

_VALUES = {*dir(builtins)} - {"str", "sorted", "list", "tuple", "next"}
_OF_TEXT = {*dir(str), "get", "pop", "items", "values"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Texts = dict[str, list[str]]


class _Place(NamedTuple):
    """An expression, the functions around it from the inside out, and its file."""

    expression: ast.expr
    around: tuple[Function, ...]
    file: str


class _Search:
    """Follows what exceptions are made of back to strings, in all files at once."""

    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self.found: dict[str, dict[tuple[int, int], str]] = defaultdict(dict)
        self._waiting: list[_Place] = []
        self._known: set[ast.expr] = set()
        self._parameters: set[tuple[str, str]] = set()
        self._calls: dict[str, list[tuple[ast.Call, _Place]]] = defaultdict(list)
        self._functions: dict[str, list[tuple[Function, _Place]]] = defaultdict(list)
        self._results: dict[Function, list[_Place]] = defaultdict(list)
        self._values: dict[tuple[object, str], list[_Place]] = defaultdict(list)
        self._classes = {
            *NOT_RAISED,
            *_CLICK,
            *(name for name in dir(builtins) if name.endswith(("Error", "Exception"))),
        }
        for file, tree in trees.items():
            self._index(tree, (), file)
        self._add_derived_classes(trees)

    def run(self) -> None:
        """Find all texts."""
        for name in self._classes:
            for call, place in self._calls[name]:
                for argument in (*call.args, *(one.value for one in call.keywords)):
                    self._follow(place._replace(expression=argument))
        while self._waiting:
            self._visit(self._waiting.pop())

    def _add_derived_classes(self, trees: dict[str, ast.Module]) -> None:
        classes = [
            (node.name, {_last_name(base) for base in node.bases})
            for tree in trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        ]
        while (
            more := {name for name, bases in classes if bases & self._classes}
            - self._classes
        ):
            self._classes |= more

    def _index(self, node: ast.AST, around: tuple[Function, ...], file: str) -> None:
        """Note the calls, functions, assignments and raised values below a node."""
        place = _Place(ast.Constant(None), around, file)
        if isinstance(node, Function):
            self._functions[node.name].append((node, place))
            around = (node, *around)
        elif isinstance(node, ast.Call):
            self._calls[_last_name(node.func)].append((node, place))
            for keyword in node.keywords:
                self._note(
                    ("", f".{keyword.arg}"), place._replace(expression=keyword.value)
                )
        elif isinstance(node, ast.Raise) and node.exc is not None:
            self._waiting.append(place._replace(expression=node.exc))
        elif isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            if node.value is not None and around:
                result = place._replace(expression=node.value)
                self._results[around[0]].append(result)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, place)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None:
                self._assign(node.target, node.value, place)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assign(node.target, node.iter, place)
        for child in ast.iter_child_nodes(node):
            self._index(child, around, file)

    def _assign(self, target: ast.expr, value: ast.expr, place: _Place) -> None:
        place = place._replace(expression=value)
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple) else []
            same = len(values) == len(target.elts)
            for index, one in enumerate(target.elts):
                self._assign(one, values[index] if same else value, place)
        elif isinstance(target, ast.Name):
            scope = place.around[0] if place.around else place.file
            self._note((scope, target.id), place)
            if not place.around:
                self._note(("", target.id), place)
        elif isinstance(target, ast.Attribute):
            for file in (place.file, ""):
                self._note((file, f".{target.attr}"), place)

    def _note(self, key: tuple[object, str], place: _Place) -> None:
        self._values[key].append(place)

    def _follow_first(self, *keys: tuple[object, str]) -> None:
        """Follow the values of the first name that has any."""
        for key in keys:
            if key in self._values:
                for value in self._values[key]:
                    self._follow(value)
                return

    def _follow(self, place: _Place) -> None:
        if place.expression not in self._known:
            self._known.add(place.expression)
            self._waiting.append(place)

    def _visit(self, place: _Place) -> None:
        node = place.expression
        inner: list[ast.expr | None] = []
        if isinstance(node, ast.Constant | ast.JoinedStr):
            self._add(node, place.file)
            if isinstance(node, ast.JoinedStr):
                filled = (
                    one for one in node.values if isinstance(one, ast.FormattedValue)
                )
                inner = [one.value for one in filled if one.conversion == -1]
        elif isinstance(node, ast.Name):
            self._visit_name(node.id, place)
        elif isinstance(node, ast.Attribute):
            self._follow_first(
                (place.file, f".{node.attr}"), ("", f".{node.attr}"), ("", node.attr)
            )
        elif isinstance(node, ast.Call):
            self._visit_call(node, place)
        elif isinstance(node, ast.BinOp):
            inner = [node.left, node.right]
        elif isinstance(node, ast.IfExp):
            inner = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp | ast.Dict):
            inner = [*node.values]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            inner = [*node.elts]
        elif isinstance(node, ast.Subscript | ast.Starred | ast.NamedExpr | ast.Await):
            inner = [node.value]
        elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            inner = [node.elt]
        for expression in inner:
            if expression is not None:
                self._follow(place._replace(expression=expression))

    def _visit_name(self, name: str, place: _Place) -> None:
        for function in place.around:
            if name in _parameters_of(function):
                if self._may_be_text(_annotation_of(function, name)):
                    self._visit_parameter(function.name, name)
                return
            if (function, name) in self._values:
                self._follow_first((function, name))
                return
        self._follow_first((place.file, name), ("", name))

    def _visit_parameter(self, function: str, name: str) -> None:
        """Follow what all callers of a function pass for one of its parameters."""
        if (function, name) in self._parameters:
            return
        self._parameters.add((function, name))
        positions = {
            _parameters_of(one).index(name)
            for one, _ in self._functions[function]
            if name in _parameters_of(one)
        }
        for call, place in self._calls[function]:
            passed = [one.value for one in call.keywords if one.arg == name]
            passed += [call.args[at] for at in positions if at < len(call.args)]
            for argument in passed:
                self._follow(place._replace(expression=argument))

    def _visit_call(self, call: ast.Call, place: _Place) -> None:
        name = _last_name(call.func)
        functions = [function for function, _ in self._functions[name]]
        texts = [one for one in functions if self._may_be_text(one.returns)]
        for function in texts:
            for result in self._results[function]:
                self._follow(result)
        is_method = isinstance(call.func, ast.Attribute)
        if not (texts or is_method) and (functions or name in _VALUES):
            return
        for argument in (*call.args, *(one.value for one in call.keywords)):
            self._follow(place._replace(expression=argument))
        if isinstance(call.func, ast.Attribute) and name in _OF_TEXT:
            self._follow(place._replace(expression=call.func.value))

    def _may_be_text(self, annotation: ast.expr | None) -> bool:
        """Whether something of a type can be, or have within, a text or an error."""
        if annotation is None:
            return True
        names = {*re.findall(r"\w+", ast.unparse(annotation))}
        return bool(names & (self._classes | {"str", "CursorFault"}))

    def _add(self, node: ast.Constant | ast.JoinedStr, file: str) -> None:
        if text := write_template(node):
            self.found[file][node.lineno, node.col_offset] = text


def _parameters_of(function: Function) -> list[str]:
    """List the names of parameters, without that of the instance."""
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if names and names[0] in ("self", "cls"):
        del names[0]
    return names + [one.arg for one in arguments.kwonlyargs]


def _annotation_of(function: Function, name: str) -> ast.expr | None:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return next(one.annotation for one in every if one.arg == name)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def write_template(node: ast.expr) -> str:
    """Write a string with names in place of what is filled in; "" for a mere word."""
    if isinstance(node, ast.JoinedStr):
        parts = [
            str(one.value) if isinstance(one, ast.Constant) else f"{{{_name(one)}}}"
            for one in node.values
        ]
        words = [str(one.value) for one in node.values if isinstance(one, ast.Constant)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = words = [node.value]
    else:
        return ""
    said = " ".join(words)
    is_text = len(re.findall("[A-Za-z]+", said)) > 1 and re.search("[a-z]", said)
    # Errors are one line; what has several, or a pattern, is not for people.
    is_code = "\n" in said or "(?" in said
    return "".join(parts) if is_text and " " in "".join(words) and not is_code else ""


def _name(node: ast.expr) -> str:
    """Find the name of what is filled in: ``x`` for ``quote(x.name, 80)`` and so on."""
    if isinstance(node, ast.FormattedValue):
        return _name(node.value)
    if isinstance(node, ast.Call) and node.args:
        return _name(node.args[0])
    if isinstance(node, ast.Subscript | ast.Starred):
        return _name(node.value)
    if isinstance(node, ast.Call):
        return _name(node.func)
    return _last_name(node) or "..."


def _find_cython_texts(text: str) -> Iterator[str]:
    for match in _IN_CYTHON.finditer(text):
        if match["texts"]:
            literals = _FILLED_IN.sub(
                lambda found: _NOT_PYTHON.sub("", found[0]), match["texts"]
            )
            template = write_template(ast.parse(f"({literals})", mode="eval").body)
            if template:
                yield template


def find_texts(source: Path) -> Texts:
    """Find the texts of each file, in the order of the source."""
    files = {str(file.relative_to(source)): file for file in source.rglob("*.py")}
    files.pop(WRITES_CODE, None)
    search = _Search(
        {name: ast.parse(file.read_text("utf-8")) for name, file in files.items()}
    )
    search.run()
    texts = {
        file: [text for _, text in sorted(found.items())]
        for file, found in search.found.items()
    }
    for file in (*source.rglob("*.pyx"), *source.rglob("*.pxd")):
        texts[str(file.relative_to(source))] = [
            *_find_cython_texts(file.read_text("utf-8"))
        ]
    return {
        file: list(dict.fromkeys(texts[file])) for file in sorted(texts) if texts[file]
    }


def write_table(texts: Texts) -> str:
    """Write the table: a line for a file, and one for each of its texts."""
    # In two parts, so that this is not taken for the licence of this file.
    spdx = "# SPDX-"
    lines = [
        f"{spdx}FileCopyrightText: 2026 The kwire authors",
        f"{spdx}License-Identifier: Apache-2.0",
        "# Every text of an error in src/kwire, by file, in the order of the source.",
        "# Written by tools/error_texts.py --record; read it when a text changes.",
    ]
    for file, found in texts.items():
        lines += ["", file, *(f"    {text}" for text in found)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Compare or record; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    table = write_table(find_texts(SOURCE))
    if options.record:
        TABLE.write_text(table, "utf-8")
    elif table != TABLE.read_text("utf-8"):
        print("tests/error_texts.txt: run tools/error_texts.py --record, and read it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
