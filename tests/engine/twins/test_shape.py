# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The twins have the same files, functions, order and docstrings.

``pure`` is read by ``ast``, ``fast`` line by line at its ``def`` and ``cdef``. The
functions that count have a docstring and a name without an underscore at its front.
What only one side has is named in the head of either twin, in double backticks.
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
    """What the twins have to agree on."""

    doc: str
    parameters: list[str]
    is_entry: bool


def words(text):
    """Take text without its line breaks."""
    return " ".join(text.split())


def files(folder, stem):
    """Find the files of one name in one folder."""
    paths = [SOURCE / folder / f"{stem}{ending}" for ending in ENDINGS]
    return [path for path in paths if path.exists()]


def head(path):
    """Return the docstring at the head of a file."""
    return words(re.search(r'"""(.*?)"""', path.read_text(), re.DOTALL).group(1))


def pure_functions(path):
    """List the functions of a Python file in order."""
    return {
        node.name: Function(
            words(ast.get_docstring(node) or ""),
            [a.arg for a in (*node.args.args, *node.args.kwonlyargs)],
            True,
        )
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }


def fast_functions(path):
    """List the functions of a Cython file in order, without forward declarations."""
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
            re.findall(r"\w+", part.split("=")[0].removesuffix(" not None"))
            for part in arguments
        ]
        functions[start.group(2)] = Function(
            words(doc.strip('"')),
            [part[-1] for part in named if part],
            start.group(1) == "def",
        )
    return functions


def stems(folder):
    """List the names of the files of one engine, without endings."""
    return {
        path.stem
        for path in (SOURCE / folder).iterdir()
        if path.suffix in ENDINGS and path.stem != "__init__"
    }


def twin_functions(stem):
    """List the functions of both twins; code before declarations in ``fast``."""
    fast = {}
    for path in files("fast", stem):
        read = pure_functions if path.suffix == ".py" else fast_functions
        fast |= read(path)
    return pure_functions(SOURCE / "pure" / f"{stem}.py"), fast


TWINS = sorted(stems("pure") & stems("fast"))


def test_files_have_twins_or_say_that_they_have_none():
    """The same names in both folders, but for files that say that they are alone."""
    alone = [
        f"{folder}/{stem}"
        for folder, other in [("pure", "fast"), ("fast", "pure")]
        for stem in sorted(stems(folder) - stems(other))
        if not any("Without a twin" in head(path) for path in files(folder, stem))
    ]
    assert alone == []
    assert {"cursor", "decoder", "encoder", "primitives", "structs"} <= set(TWINS)


@pytest.mark.parametrize("stem", TWINS)
def test_heads_name_the_twin(stem):
    """A reader of one file learns where the other is, and what is different there."""
    for folder, other in [("pure", "fast"), ("fast", "pure")]:
        text = head(files(folder, stem)[0])
        assert re.search(rf"Twin: ``{other}/{stem}\.\w+``", text)
        assert stem == "engine" or "Differs from its twin in:" in text


@pytest.mark.parametrize("stem", TWINS)
def test_functions_of_one_side_are_named_in_a_head(stem):
    """A reader looks for no other half of a function in vain."""
    pure, fast = twin_functions(stem)
    heads = " ".join(map(head, files("pure", stem) + files("fast", stem)))
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
def test_functions_stand_in_the_same_order(stem):
    """One side is the table of contents of the other."""
    pure, fast = twin_functions(stem)
    both = [name for name in pure if name in fast and pure[name].doc]
    assert [name for name in fast if name in both] == both


@pytest.mark.parametrize("stem", TWINS)
def test_docstrings_are_the_same(stem):
    """Written once in meaning: what one side promises, the other keeps."""
    pure, fast = twin_functions(stem)
    both = [name for name in pure if name in fast and not name.startswith("_")]
    assert {name: pure[name].doc for name in both} == {
        name: fast[name].doc for name in both
    }


@pytest.mark.parametrize("stem", TWINS)
def test_entries_have_the_same_parameters(stem):
    """What is called from above takes the same arguments by the same names."""
    pure, fast = twin_functions(stem)
    both = [name for name in pure if name in fast and fast[name].is_entry]
    assert {name: pure[name].parameters for name in both} == {
        name: fast[name].parameters for name in both
    }


def numbers(file_name):
    """Read the numbered names of the enum in a Cython file."""
    text = (SOURCE / "fast" / file_name).read_text()
    body = re.search(r"^cdef enum:\n((?:    .*\n)+)", text, re.MULTILINE).group(1)
    found = re.findall(r"^    (\w+) = (-?\w+)$", body, re.MULTILINE)
    return {name: int(number, 0) for name, number in found}


def constants(module):
    """List the numbered names of a module."""
    return {
        name: value
        for name, value in vars(module).items()
        if type(value) is int and name.isupper() and not name.startswith("_")
    }


def test_fault_codes_are_those_of_errors(kwire):
    """The numbers that the compiled engine notes are the ones that errors.py words."""
    codes = constants(kwire.errors)
    decode, encode = numbers("cursor.pxd"), numbers("writer.pxd")
    assert (decode.pop("PYTHON_ERROR"), encode.pop("WRITE_ERROR")) == (-1, -1)
    encode = {name: number for name, number in encode.items() if number <= 200}
    assert decode | encode == codes
    assert len(decode) + len(encode) == len(codes) == len(set(codes.values())) > 20


def test_opcodes_of_fixed_sizes_are_the_codes_of_the_plan(kwire):
    """``program.pxd`` folds other types, but numbers these as ``plan.py`` does."""
    opcodes = numbers("program.pxd")
    fixed = {
        f"OP_{kind.upper()}": code
        for kind, code in kwire.schema.plan.CODES.items()
        if code <= kwire.schema.plan.UUID
    }
    assert len(fixed) == 9
    assert {name: opcodes[name] for name in fixed} == fixed
    others = [opcodes[name] for name in opcodes if name not in fixed]
    assert min(others) > kwire.schema.plan.UUID
    assert len(set(opcodes.values())) == len(opcodes)


def test_the_layout_of_batches_is_written_the_same_twice(kwire):
    """``batches.pxd`` has the numbers of ``batch_layout.py``, by the same names."""
    layout = importlib.import_module(f"{kwire.__name__}.schema.batch_layout")
    python = constants(layout)
    for name, pair in (
        ("MESSAGE_OVERHEAD", "MESSAGE_OVERHEADS"),
        ("KEY_AT", "KEYS_AT"),
    ):
        python |= {f"{name}_{magic}": getattr(layout, pair)[magic] for magic in (0, 1)}
    assert numbers("batches.pxd") == python
    assert len(python) > 20


def test_the_drawing_of_a_batch_is_its_layout(kwire):
    """Each offset of the drawing is one of the constants, and their order is that."""
    layout = importlib.import_module(f"{kwire.__name__}.schema.batch_layout")
    drawn = [int(at) for at in re.findall(r"^ +(\d+)  ", layout.__doc__, re.MULTILINE)]
    places = [value for name, value in constants(layout).items() if "_AT" in name]
    batch = places[: places.index(layout.COUNT_AT) + 1]
    assert drawn[: len(batch) + 1] == [*batch, layout.BATCH_OVERHEAD]
