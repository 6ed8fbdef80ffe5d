# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The reference is complete: public names, their docstrings and their errors.

``make docs`` builds the site and treats warnings as errors. These tests check
everything that does not need Sphinx: listed names, their docstrings, and the targets of
links.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

import pytest

from tests.harness.sweeps import sweep

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
CODE = ("src", "tests", "tools", "benchmarks", "examples", "fuzz")
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
NOT_FOR_USERS = {
    "errors": {"decode_failure", "encode_failure", "quote", "version_failure"},
    "messages.internal_topics": {"read_frame"},
    "records": {"measure_run"},
}
"""Functions without an underscore that modules of kwire share, by module.

They are not part of the public interface, so the reference does not list them.
"""
LISTED = re.compile(
    r"^\.\. (module|currentmodule|autofunction|autoclass):: (.+?)(?:\(\))?$",
    re.M,
)


def listed():
    """Return (module, name) for all names in the reference, in page order."""
    names = []
    for page in sorted(REFERENCE.glob("*.md")):
        module = ""
        for kind, name in LISTED.findall(page.read_text(encoding="utf-8")):
            if "module" in kind:
                module = name.removeprefix("kwire").removeprefix(".")
            else:
                names.append((module, name))
    return names


NAMES = listed()


@pytest.fixture(scope="module")
def pure():
    """Return the package with the Python engine, whose functions have source code."""
    return sys.modules["kwire_pure"]


def module_of(package, name):
    """Import a module of a package by its public name."""
    home = package._MODULES.get(name, name)
    return importlib.import_module(f"{package.__name__}.{home}".rstrip("."))


def public_names(module):
    """Return the public names of a module.

    They are the names in ``__all__``, or else the functions and classes that the module
    defines.
    """
    if hasattr(module, "__all__"):
        return set(module.__all__)
    is_package = module.__file__.endswith("__init__.py")
    package = module.__name__.partition(".")[0]
    return {
        name
        for name, value in vars(module).items()
        if name[0] != "_"
        and (inspect.isfunction(value) or inspect.isclass(value) or is_package)
        and value.__class__.__name__ != "module"
        and getattr(value, "__module__", "").startswith(
            package if is_package else module.__name__
        )
    }


def test_every_public_name_is_in_the_reference(pure):
    """Every public function and class is listed in the reference.

    It is sufficient to mention constants in the text.
    """
    missing = []
    text = "".join(page.read_text("utf-8") for page in REFERENCE.glob("*.md"))
    modules = {*pure._MODULES, *(module for module, _ in NAMES)} - {"", "drafts"}
    for name in sorted(modules - {"messages"}):
        documented = {item for module, item in NAMES if module == name}
        if name == "spark":  # This module re-exports function names.
            documented |= {
                item for module, item in NAMES if module == "spark.functions"
            }
        offered = public_names(module_of(pure, name)) - NOT_FOR_USERS.get(name, set())
        missing += [
            f"{name}.{item}"
            for item in offered - documented
            if f"`{item}`" not in text and f".{item}`" not in text
        ]
    assert missing == []
    assert {name for name in pure._HOMES if name != "backend"} <= {
        item for _, item in NAMES
    }


def members(module, name):
    """Yield (title, function or class) for a name and the public members of a class."""
    value = getattr(module, name)
    yield name, value
    if not inspect.isclass(value):
        return
    for inner, member in vars(value).items():
        # Skip the attributes that a batch shares with its header, which documents them.
        is_borrowed = str(getattr(member, "__doc__", "")).startswith("The header's")
        if inner[0] != "_" and not is_borrowed:
            member = getattr(member, "fget", getattr(member, "__func__", member))
            if inspect.isfunction(member):
                yield f"{name}.{inner}", member


RAISED = re.compile("Error|Raises|raises|LimitExceeded|UnsupportedVersion|InvalidValue")
"""Matches words in a docstring that name the errors of a function."""
OWN_VERBS = ("decode", "encode", "from_json", "to_json", "convert_", "read_")
BY_THE_PAGE = {"messages.wire", "spark.functions"}
"""Modules with many similar functions.

Their reference page describes the errors once, so the docstrings need not.
"""


def raises(function, errors):
    """Return whether the source of a function raises an error of kwire.

    ``errors`` are the names of the error classes. Functions with a name such as
    ``decode...`` always count, because they raise errors indirectly.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = getattr(called, "id", getattr(called, "attr", ""))
            if name in errors or name in ("decode_failure", "encode_failure"):
                return True
    return function.__name__.startswith(OWN_VERBS)


@sweep(("module", "name"), NAMES, ids=str)
def test_public_docstrings_describe_results_and_errors(pure, module, name):
    """Every public object has a docstring, which names the errors that it raises.

    A method may be covered by the docstring of its class.
    """
    errors = {
        kind.__name__
        for home in ("errors", "client.errors", "connection.sasl", "recording")
        for kind in vars(module_of(pure, home)).values()
        if inspect.isclass(kind) and issubclass(kind, Exception)
    }
    home = module_of(pure, module)
    for title, value in members(home, name):
        text = inspect.getdoc(value) or ""
        assert text.strip(), f"{title} has no docstring"
        if inspect.isfunction(value) and module not in BY_THE_PAGE:
            text += f"\n{inspect.getdoc(getattr(home, name))}"
            assert RAISED.search(text) or not raises(value, errors), (
                f"{title} raises errors that its docstring does not name"
            )


def test_reference_lists_names():
    """The reference lists many names and all important modules.

    If its format changed, no names would be found, and the other tests would pass.
    """
    assert len(NAMES) > 150
    expected = {"", "records", "messages.wire", "log", "client", "spark"}
    assert expected <= {name for name, _ in NAMES}


def test_a_public_name_has_one_import_path(pure):
    """No object is listed with two different import paths."""
    paths = {}
    for module, name in NAMES:
        value = getattr(module_of(pure, module), name)
        paths.setdefault(id(value), []).append(f"{module}.{name}")
    assert [names for names in paths.values() if len(names) > 1] == []


def test_each_public_package_has_a_page_and_no_private_module():
    """A name at the top of ``src/kwire`` is public unless it has an underscore."""
    source = ROOT / "src" / "kwire"
    documented = {path.stem for path in source.iterdir() if path.suffix in ("", ".py")}
    # The command line has a page for its commands, but no public names.
    public = {name for name in documented - {"cli"} if name[0] != "_"}
    index = (REFERENCE / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| \[`kwire\.([\w.]+)`\]\(", index, re.M)
    assert len(rows) == len(set(rows))
    assert {name.partition(".")[0] for name in rows} == public | {"error_codes"}
    assert {module for module, _ in NAMES} - {""} <= set(rows)
    assert [row for row in rows if re.search(r"(^|\.)_", row)] == []


LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.M | re.S)


def anchors(page):
    """Return the link anchors of all headings on a page."""
    text = FENCED.sub("", page.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


@sweep("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_existing_targets(page):
    """Links refer to existing files and headings of the repository."""
    for link in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


PATH = re.compile(r"`([\w./-]+\.(?:py|pyx|pxd|h|txt|md|json|xml))`")
NOT_OURS = {"tshark_capture.py"}
"""Files that do not exist in the repository, because the reader creates them."""


@sweep("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_file_that_a_page_names_exists(page):
    """Every file that a page mentions exists.

    The path is relative to the root, to src/kwire or to the page. A name without a
    directory may be in any directory.
    """
    for name in PATH.findall(FENCED.sub("", page.read_text("utf-8"))):
        homes = (ROOT, ROOT / "src" / "kwire", page.parent)
        exists = any((home / name).exists() for home in homes)
        if "/" not in name and not exists:
            exists = any(True for top in CODE for _ in (ROOT / top).rglob(name))
        assert exists or name in NOT_OURS, name


def test_the_design_describes_each_package_of_its_table():
    """Both tables of DESIGN.md list the same packages in the same order."""
    text = (ROOT / "DESIGN.md").read_text("utf-8")
    contents, _, imports = text.partition("| package | may import |")
    imports = imports.partition("\n\n")[0]
    first_cells = [
        re.findall(r"^\| (`[^|]+) \|", table, re.M) for table in (contents, imports)
    ]
    described, ranked = (
        [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
        for cells in first_cells
    )
    assert len(ranked) > 10
    assert described == ranked


def test_package_docstring_lists_its_imports():
    """The docstring of a package lists the imports that DESIGN.md permits.

    It has at most ten lines.
    """
    text = (ROOT / "DESIGN.md").read_text("utf-8")
    table = text.partition("| package | may import |")[2]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.M))
    checked = 0
    for name, permitted in rows.items():
        path = ROOT / "src" / "kwire" / name / "__init__.py"
        if not path.exists():
            continue
        head = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        assert len(head.splitlines()) <= 10, name
        imports = head.partition("May import:")[2].partition("\n\n")[0]
        # _text is a module without a package docstring, and cli may import every
        # package.
        if name not in ("_text", "cli"):
            listed_names = re.findall(r"``(\w+)``", imports)
            assert listed_names == re.findall(r"`(\w+)`", permitted), name
            checked += 1
    assert checked > 10
