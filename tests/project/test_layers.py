# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of imports, and which module may import which.

``import kwire`` loads nothing heavy and no definitions. Every module imports alone. A
file imports from its own floor or a lower one, ``cimport`` included; the twins never
import each other, and a pure run loads nothing compiled of ours.
"""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kwire as installed

pytestmark = pytest.mark.slow

SOURCE = Path(installed.__file__).parent

HEAVY = {
    "dataclasses",
    "typing",
    "enum",
    "uuid",
    "json",
    "re",
    "asyncio",
    "inspect",
    "numpy",
    "base64",
    "decimal",
    "logging",
    "struct",
    "importlib.resources",
}

def run(code, backend="auto", *options):
    """Run code in a fresh interpreter; return what it prints, by lines."""
    environment = os.environ | {"KWIRE_BACKEND": backend}
    done = subprocess.run(
        [sys.executable, "-W", "error", *options, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


LOADED = "import sys; print(*sorted(sys.modules), sep='\\n')"
# Site packages may import what they like at start-up; that is not kwire's.
HERE = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n"


def loaded_by(code, backend="auto"):
    """List the modules that some code loads in an interpreter without site."""
    bare = set(run(HERE + LOADED, backend, "-S"))
    return set(run(f"{HERE}{code}\n{LOADED}", backend, "-S")) - bare


def modules():
    """List all modules of the package; of the compiled engine only where it is."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] == "_fast" and installed.backend != "fast":
            continue
        found.append(".".join(("kwire", *(p for p in parts if p != "__init__"))))
    return found


def test_import_loads_nothing_heavy():
    """One file of kwire's, and none of the standard library that it does not need."""
    loaded = loaded_by("import kwire")
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("kwire")} == {"kwire"}


@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_first_message_loads_no_heavy_modules(backend):
    """Encoding a message without uuids loads no slow module, such as ``uuid``."""
    code = (
        "import kwire\n"
        "from kwire.messages import HeartbeatRequest as H\n"
        "assert kwire.decode(H, kwire.encode(H(), 4), 4) == H()\n"
    )
    unneeded = {"uuid", "json", "asyncio", "inspect", "dataclasses", "numpy"}
    assert loaded_by(code, backend) & unneeded == set()


@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_messages_and_records_load_no_typing(backend):
    """Importing ``typing`` would make the import of messages about a sixth slower.

    So their modules set ``TYPE_CHECKING = False``; others take it from ``typing``.
    """
    code = "import kwire.messages, kwire.records, kwire.codec"
    assert "typing" not in loaded_by(code, backend)


REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
DOCUMENTED = sorted(
    {
        name
        for page in REFERENCE.glob("*.md")
        for name in (
            *re.findall(r"^\.\. (?:current)?module:: (\S+)$", page.read_text(), re.M),
            *re.findall(r"^\| \[`(kwire\.\w+)`", page.read_text(), re.M),
        )
    }
    - {"kwire"}
)
"""Every module that the reference documents, such as ``kwire.cluster``."""


def test_every_module_of_the_reference_is_an_attribute_after_import_kwire():
    """Users of ``kwire.cluster.TopicNotFound`` need no second import.

    Each name is resolved in an interpreter that has imported ``kwire`` alone, and in
    reverse order too, so that none depends on what another module has imported.
    """
    assert {"kwire.cluster", "kwire.partitioners", "kwire.compression"} <= {*DOCUMENTED}
    packages = [name for name in DOCUMENTED if name.count(".") == 1]
    assert len(packages) > 20
    assert {name.removeprefix("kwire.") for name in packages} == {*installed._MODULES}
    for names in (packages, packages[::-1]):
        code = "".join(f"print({name}.__name__)\n" for name in names)
        assert run(HERE + "import kwire\n" + code) == names


def test_type_checkers_see_the_same_modules_as_the_interpreter():
    """A module that resolves at run time is in the stub of the package, too."""
    stub = (SOURCE / "__init__.pyi").read_text()
    declared = re.findall(r"^from \. import (\w+) as \1$", stub, re.M)
    assert sorted(declared) == sorted(installed._MODULES)


def test_import_reads_no_definitions():
    """Definitions are read when a message is asked for, and only its own file."""
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args:"
        " event == 'open' and opened.append(str(args[0])))\n"
        "import kwire\n"
        "first = [name for name in opened if name.endswith('.txt')]\n"
        "from kwire.messages import HeartbeatRequest\n"
        "then = [name for name in opened if name.endswith('.txt')]\n"
        "print(len(first), *sorted(name.rpartition('/')[2] for name in set(then)))\n"
    )
    assert run(HERE + code) == ["0 012-Heartbeat.txt index.txt"]


ALONE = """
import importlib, sys
for name in {modules!r}:
    for loaded in list(sys.modules):
        if loaded.partition(".")[0] == "kwire" and ".{stays}" not in loaded:
            del sys.modules[loaded]
    importlib.import_module(name)
    print(name)
"""


@pytest.mark.gate
@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_every_module_imports_alone(backend):
    """None of kwire's loaded before it, and warnings are errors: no order is needed.

    One interpreter forgets all of kwire each time; but compiled modules load once. An
    order could be needed in a circle of imports alone, which tests below look for.
    """
    assert run(ALONE.format(modules=modules(), stays="_fast"), backend) == modules()


def test_pure_run_loads_nothing_compiled():
    """The pure engine never calls compiled code of ours, all its modules included."""
    code = (
        "import sys, importlib, kwire\n"
        f"for name in {[m for m in modules() if '._fast' not in m]!r}:\n"
        "    importlib.import_module(name)\n"
        "from kwire.messages import MetadataRequest as M\n"
        "assert kwire.decode(M, kwire.encode(M(), 12), 12) == M()\n"
        "print(*[name for name in sys.modules if name.startswith('kwire._fast')])\n"
    )
    assert run(code, "pure") == [""]


def python_imports(path):
    """Go through the imports of a Python file: (name within kwire, is at the top)."""
    tree = ast.parse(path.read_text())
    package = path.relative_to(SOURCE).parts[:-1]
    at_top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(("kwire", *package[: len(package) + 1 - node.level]))
            home = f"{base}.{node.module}" if node.module else base
            names = [f"{home}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("kwire."):
                yield name.split(".")[1], id(node) in at_top


def cython_imports(path):
    """Go through the imports and cimports of a Cython file, as above."""
    pattern = r"^( *)(?:from|c?import) (kwire[\w.]*)(?: c?import (\w+))?"
    for indent, home, name in re.findall(pattern, path.read_text(), re.MULTILINE):
        yield (home if "." in home else f"{home}.{name}").split(".")[1], not indent


@functools.cache
def all_imports():
    """List all imports within kwire: (file, its name, target, is at top)."""
    listed = []
    for path in sorted(SOURCE.rglob("*")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if path.suffix == ".py" and parts != ("__init__",):
            found = python_imports(path)
        elif path.suffix in (".pyx", ".pxd"):
            found = cython_imports(path)
        else:
            continue
        listed += [(path, parts[0], target, at_top) for target, at_top in found]
    return listed


def test_only_two_modules_import_an_engine():
    """Everything else works on the active engine, through ``_backend`` or ``wire``."""
    homes = {
        home
        for _, home, target, _ in all_imports()
        if target in ("_pure", "_fast") and home not in ("_pure", "_fast")
    }
    # The splitter takes a type alone, for type checkers.
    assert homes == {"_backend", "wire", "frame_splitter"}


def test_imports_are_really_found():
    """The two tests above have something to read, in Python and in Cython."""
    found = {(path.suffix, target) for path, _, target, _ in all_imports()}
    assert {(".py", "errors"), (".py", "plan"), (".pyx", "_fast")} <= found
    assert {(".pxd", "_fast"), (".pyx", "errors"), (".pyx", "plan")} <= found


def test_twins_do_not_import_each_other():
    """Each engine stands alone."""
    crossing = [
        path.name
        for path, home, target, _ in all_imports()
        if {home, target} == {"_pure", "_fast"}
    ]
    assert crossing == []


def test_no_cycles_at_import():
    """What is imported while a module loads never leads back to it."""
    edges = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        home = parts[0]
        for target, at_top in python_imports(path):
            if at_top and target != home:
                edges.setdefault(home, set()).add(target)
    done, path_ = set(), []

    def visit(name):
        assert name not in path_, " -> ".join([*path_, name])
        if name in done:
            return
        path_.append(name)
        for target in sorted(edges.get(name, ())):
            visit(target)
        path_.pop()
        done.add(name)

    for name in sorted(edges):
        visit(name)
    assert len(done) >= 10


CIRCLES = [
    ({"_pure.arrays", "_pure.arrow_interface"}, "an array is its own C interface"),
    ({"conversion", "records"}, "records passes on what converts batches"),
    ({"spark.layout", "spark.options"}, "types of each other's arguments"),
]
"""Files that import each other, and why. The engine is one by its plan and codec."""

_ENGINE = {"_backend", "_pure", "codec", "messages"}


def find_circles(graph):
    """Find the sets of nodes from which each one leads to each other one."""

    def reach(node):
        seen, waiting = set(), [node]
        while waiting:
            for target in graph[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        return seen

    reached = {node: reach(node) for node in graph}
    circles = []
    for node in graph:
        circle = {each for each in reached[node] if node in reached[each]} | {node}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)
    return circles


def test_files_import_each_other_only_where_it_has_a_reason():
    """For type checkers and within functions, too: a result is below its page."""
    names = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {}
    for name, path in names.items():
        package = name.split(".")[:-1]
        targets = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                home = [*package[: len(package) + 1 - node.level]]
                home += node.module.split(".") if node.module else []
                for alias in node.names:
                    for parts in ([*home, alias.name], home):
                        if (target := ".".join(parts)) in names:
                            targets.add(target)
                            break
        graph[name] = targets - {name}
    known = [circle for circle, _ in CIRCLES]
    assert find_circles({"a": {"b"}, "b": {"a", "c"}, "c": set()}) == [{"a", "b"}]
    for circle in find_circles(graph):
        is_engine = {name.split(".")[0] for name in circle} <= _ENGINE
        assert is_engine or circle in known, sorted(circle)
