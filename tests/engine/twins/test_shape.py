# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both engines have the same files, functions, function order and docstrings.

``pure`` is parsed with ``ast``, ``fast`` by searching lines for ``def`` and ``cdef``.
The tests compare functions with a docstring and a public name. Functions that only
exist in one engine are named in the module docstring of either twin, in double
backticks.
"""

import ast
import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import kwire as installed

SOURCE = Path(installed.__file__).parent / "_engine"
ENDINGS = (".pyx", ".pxd", ".py")
TOP_LEVEL = re.compile(r"(def|cdef|cpdef) .*?(\w+)\(")


class Function(NamedTuple):
    """Function properties that both twins must share."""

    doc: str
    parameters: list[str]
    is_entry: bool


def normalize_spaces(text):
    """Replace every sequence of whitespace by one space."""
    return " ".join(text.split())


def files(folder, stem):
    """Return the source files of a module: ``stem`` with all suffixes that exist."""
    paths = [SOURCE / folder / f"{stem}{ending}" for ending in ENDINGS]
    return [path for path in paths if path.exists()]


def read_module_docstring(path):
    """Return the module docstring of a file, with normalized whitespace."""
    return normalize_spaces(
        re.search(r'"""(.*?)"""', path.read_text(), re.DOTALL).group(1)
    )


def pure_functions(path):
    """Return the functions of a Python file in source order."""
    return {
        node.name: Function(
            normalize_spaces(ast.get_docstring(node) or ""),
            [a.arg for a in (*node.args.args, *node.args.kwonlyargs)],
            True,
        )
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }


def fast_functions(path):
    """Return the functions of a Cython file in source order, without declarations."""
    functions = {}
    lines = iter(path.read_text().splitlines())
    for line in lines:
        start = TOP_LEVEL.match(line)
        if start is None or " extern " in line:
            continue
        signature = line
        while signature.count("(") > signature.count(")"):
            signature += next(lines)
        if not signature.endswith(":"):
            continue
        doc = next(lines).strip()
        if doc.startswith('"""'):
            while doc.count('"""') < 2:
                doc += f" {next(lines).strip()}"
        else:
            doc = ""
        arguments = signature[start.end() : signature.rindex(")")].split(",")
        named = [
            re.findall(r"\w+", argument.split("=")[0].removesuffix(" not None"))
            for argument in arguments
        ]
        functions[start.group(2)] = Function(
            normalize_spaces(doc.strip('"')),
            [argument[-1] for argument in named if argument],
            start.group(1) == "def",
        )
    return functions


def stems(folder):
    """Return the names of all modules in one engine's directory."""
    return {
        path.stem
        for path in (SOURCE / folder).iterdir()
        if path.suffix in ENDINGS and path.stem != "__init__"
    }


def twin_functions(stem):
    """Return the functions of a module as (Python engine, compiled engine).

    In ``fast``, the functions in the .pyx file precede those in the .pxd file.
    """
    fast = {}
    for path in files("fast", stem):
        read_functions = pure_functions if path.suffix == ".py" else fast_functions
        fast |= read_functions(path)
    return pure_functions(SOURCE / "pure" / f"{stem}.py"), fast


TWINS = sorted(stems("pure") & stems("fast"))


def test_modules_have_a_twin_or_declare_none():
    """A module exists in both directories, or its docstring says "Without a twin"."""
    alone = [
        f"{folder}/{stem}"
        for folder, other in [("pure", "fast"), ("fast", "pure")]
        for stem in sorted(stems(folder) - stems(other))
        if not any(
            "Without a twin" in read_module_docstring(path)
            for path in files(folder, stem)
        )
    ]
    assert alone == []
    assert {"cursor", "decoder", "encoder", "primitives", "structs"} <= set(TWINS)


@pytest.mark.parametrize("stem", TWINS)
def test_module_docstrings_name_the_twin(stem):
    """Every module docstring names the twin module, and lists the differences to it."""
    for folder, other in [("pure", "fast"), ("fast", "pure")]:
        text = read_module_docstring(files(folder, stem)[0])
        assert re.search(rf"Twin: ``{other}/{stem}\.\w+``", text)
        assert stem == "engine" or "Differs from its twin in:" in text


@pytest.mark.parametrize("stem", TWINS)
def test_functions_without_a_twin_are_in_a_module_docstring(stem):
    """Every function without a twin is named in the docstring of its module."""
    pure, fast = twin_functions(stem)
    heads = " ".join(
        map(read_module_docstring, files("pure", stem) + files("fast", stem))
    )
    unnamed = [
        name
        for name, function in (pure | fast).items()
        if function.doc
        and not name.startswith("_")
        and (name not in pure or name not in fast)
        and f"``{name}``" not in heads
    ]
    assert unnamed == []


@pytest.mark.parametrize("stem", TWINS)
def test_functions_have_the_same_order(stem):
    """Both twins define their functions in the same order.

    Readers can then compare the files from top to bottom.
    """
    pure, fast = twin_functions(stem)
    shared = [name for name in pure if name in fast and pure[name].doc]
    assert [name for name in fast if name in shared] == shared


@pytest.mark.parametrize("stem", TWINS)
def test_docstrings_are_the_same(stem):
    """A function has the same docstring in both engines."""
    pure, fast = twin_functions(stem)
    shared = [name for name in pure if name in fast and not name.startswith("_")]
    assert {name: pure[name].doc for name in shared} == {
        name: fast[name].doc for name in shared
    }


@pytest.mark.parametrize("stem", TWINS)
def test_entries_have_the_same_parameters(stem):
    """Python-level functions have the same parameter names in both engines."""
    pure, fast = twin_functions(stem)
    shared = [name for name in pure if name in fast and fast[name].is_entry]
    assert {name: pure[name].parameters for name in shared} == {
        name: fast[name].parameters for name in shared
    }


def parse_enum(file_name):
    """Return the enum constants of a Cython file as a dict from name to value."""
    text = (SOURCE / "fast" / file_name).read_text()
    body = re.search(r"^cdef enum:\n((?:    .*\n)+)", text, re.MULTILINE).group(1)
    lines = re.findall(r"^    (\w+) = (-?\w+)$", body, re.MULTILINE)
    return {name: int(number, 0) for name, number in lines}


def constants(module):
    """Return the integer constants of a module as a dict from name to value."""
    return {
        name: value
        for name, value in vars(module).items()
        if type(value) is int and name.isupper() and not name.startswith("_")
    }


def test_fault_codes_are_those_of_errors(kwire):
    """The fault codes of the compiled engine equal the constants in ``errors.py``."""
    codes = constants(kwire.errors)
    decode, encode = parse_enum("cursor.pxd"), parse_enum("writer.pxd")
    assert (decode.pop("PYTHON_ERROR"), encode.pop("WRITE_ERROR")) == (-1, -1)
    encode = {name: number for name, number in encode.items() if number <= 200}
    assert decode | encode == codes
    assert len(decode) + len(encode) == len(codes) == len(set(codes.values())) > 20


def test_opcodes_of_fixed_sizes_are_the_codes_of_the_plan(kwire):
    """The opcodes for fixed-size types in ``program.pxd`` equal those in ``plan.py``.

    ``program.pxd`` has additional opcodes, which ``plan.py`` does not need.
    """
    opcodes = parse_enum("program.pxd")
    fixed = {
        f"OP_{kind.upper()}": code
        for kind, code in kwire.schema.plan.CODES.items()
        if code <= kwire.schema.plan.UUID
    }
    assert len(fixed) == 9
    assert {name: opcodes[name] for name in fixed} == fixed
    variable_opcodes = [opcodes[name] for name in opcodes if name not in fixed]
    assert min(variable_opcodes) > kwire.schema.plan.UUID
    assert len(set(opcodes.values())) == len(opcodes)


def test_the_layout_of_batches_is_written_the_same_twice(kwire):
    """``batches.pxd`` repeats the constants of ``batch_layout.py`` by name."""
    layout = importlib.import_module(f"{kwire.__name__}.schema.batch_layout")
    python = constants(layout)
    for name, pair in (
        ("MESSAGE_OVERHEAD", "MESSAGE_OVERHEADS"),
        ("KEY_AT", "KEYS_AT"),
    ):
        python |= {f"{name}_{magic}": getattr(layout, pair)[magic] for magic in (0, 1)}
    assert parse_enum("batches.pxd") == python
    assert len(python) > 20


def test_the_drawing_of_a_batch_is_its_layout(kwire):
    """The diagram in the docstring of ``batch_layout`` shows the real field offsets.

    The offsets are equal to the constants of the module, in the same order.
    """
    layout = importlib.import_module(f"{kwire.__name__}.schema.batch_layout")
    drawn = [
        int(position)
        for position in re.findall(r"^ +(\d+)  ", layout.__doc__, re.MULTILINE)
    ]
    places = [value for name, value in constants(layout).items() if "_AT" in name]
    batch = places[: places.index(layout.COUNT_AT) + 1]
    assert drawn[: len(batch) + 1] == [*batch, layout.BATCH_OVERHEAD]
