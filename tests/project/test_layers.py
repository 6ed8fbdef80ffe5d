# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests which imports are allowed between packages, and how much an import loads.

``import kwire`` loads no slow modules and no definitions, and every module can be
imported first. A package only imports the packages that its row in the table of
DESIGN.md permits, including ``cimport``. The engines never import each other, and the
Python engine loads no compiled extension.
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
    """Run code in a new interpreter, and return the lines that it prints.

    ``options`` are additional options of the interpreter.
    """
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
# Site packages may import modules at startup, which do not count.
HERE = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n"


def loaded_by(code, backend="auto"):
    """Return the names of the modules that the code imports.

    The interpreter runs without ``site``, and modules that it imports itself do not
    count.
    """
    bare = set(run(HERE + LOADED, backend, "-S"))
    return set(run(f"{HERE}{code}\n{LOADED}", backend, "-S")) - bare


def modules():
    """Return the names of all modules in the package.

    The compiled engine is only included if it is active.
    """
    names = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[:2] == ("_engine", "fast") and installed.backend != "fast":
            continue
        names.append(".".join(("kwire", *(p for p in parts if p != "__init__"))))
    return names


def test_import_loads_nothing_heavy():
    """``import kwire`` loads one module of kwire, and no slow module of Python."""
    loaded = loaded_by("import kwire")
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("kwire")} == {"kwire"}


@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_first_message_loads_no_heavy_modules(backend):
    """Encoding a message without UUIDs loads no slow module, such as ``uuid``."""
    code = (
        "import kwire\n"
        "from kwire.messages import HeartbeatRequest as H\n"
        "assert kwire.decode(H, kwire.encode(H(), 4), 4) == H()\n"
    )
    unneeded = {"uuid", "json", "asyncio", "inspect", "dataclasses", "numpy"}
    assert loaded_by(code, backend) & unneeded == set()


@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_messages_and_records_load_no_typing(backend):
    """``typing`` would make importing messages about a sixth slower.

    The message modules therefore set ``TYPE_CHECKING = False``. Other modules import
    ``typing``.
    """
    code = "import kwire.messages, kwire.records, kwire.messages.codec"
    assert "typing" not in loaded_by(code, backend)


REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
DOCUMENTED = sorted(
    {
        name
        for page in REFERENCE.glob("*.md")
        for name in (
            *re.findall(r"^\.\. (?:current)?module:: (\S+)$", page.read_text(), re.M),
            *re.findall(r"^\| \[`(kwire\.[\w.]+)`", page.read_text(), re.M),
        )
    }
    - {"kwire"}
)
"""Names of all modules that the reference documents, without ``kwire`` itself."""


def test_every_module_of_the_reference_is_an_attribute_after_import_kwire():
    """Programs that use ``kwire.client.TopicNotFound`` need no second import.

    The names are resolved in an interpreter that has only imported ``kwire``, and also
    in reverse order, so that no name depends on what another module imports.
    """
    assert {"kwire.records.partitioners", "kwire.client.adapters"} <= {*DOCUMENTED}
    packages = [name for name in DOCUMENTED if name.count(".") == 1]
    assert len(packages) > 10
    assert {name.removeprefix("kwire.") for name in packages} == {*installed._MODULES}
    for names in (packages, packages[::-1]):
        code = "".join(f"print({name}.__name__)\n" for name in names)
        homes = [installed._MODULES[name.removeprefix("kwire.")] for name in names]
        expected = [f"kwire.{home}" for home in homes]
        assert run(HERE + "import kwire\n" + code) == expected
    # Modules within packages must resolve too. ``kwire.spark.functions`` requires
    # pyspark.
    for name in {*DOCUMENTED} - {*packages, "kwire.spark.functions"}:
        assert run(f"{HERE}import kwire\nprint({name}.__name__)") == [name]


def test_type_checkers_see_the_same_modules_as_the_interpreter():
    """Modules that resolve at run time are also declared in the stub of the package."""
    stub = (SOURCE / "__init__.pyi").read_text()
    declared = re.findall(r"^from \.(?:schema)? import (\w+) as \1$", stub, re.M)
    assert sorted(declared) == sorted(installed._MODULES)


def test_import_reads_no_definitions():
    """The definition file of a message is read when the message is first used."""
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
    """No module depends on another module's import, with warnings as errors.

    A single interpreter removes all kwire modules before every import, except compiled
    modules, which can only be loaded once. The import order could only matter in an
    import cycle, which the tests below detect.
    """
    assert (
        run(ALONE.format(modules=modules(), stays="_engine.fast"), backend) == modules()
    )


def test_pure_run_loads_nothing_compiled():
    """With the Python engine, no module of the compiled engine is loaded."""
    code = (
        "import sys, importlib, kwire\n"
        f"for name in {[m for m in modules() if '.fast' not in m]!r}:\n"
        "    importlib.import_module(name)\n"
        "from kwire.messages import MetadataRequest as M\n"
        "assert kwire.decode(M, kwire.encode(M(), 12), 12) == M()\n"
        "print(*[n for n in sys.modules if n.startswith('kwire._engine.fast')])\n"
    )
    assert run(code, "pure") == [""]


DESIGN = Path(__file__).parents[2] / "DESIGN.md"
TABLE_HEAD = "| package | may import |"


def read_table():
    """Parse the table in DESIGN.md. Return the permitted imports by package."""
    rows = {}
    for line in DESIGN.read_text("utf-8").partition(TABLE_HEAD)[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        package, *permitted = re.findall(r"`(\w+)`", line)
        rows[package] = set(permitted)
    return rows


def is_for_type_checkers(node):
    """Return whether a node is an ``if TYPE_CHECKING:`` block."""
    test = getattr(node, "test", None)
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(test)


def executed_nodes(node):
    """Yield all nodes of a syntax tree that are executed at run time.

    This includes function bodies, and excludes blocks for type checkers.
    """
    for child in ast.iter_child_nodes(node):
        if is_for_type_checkers(child) and "not" not in ast.unparse(child.test):
            for statement in child.orelse:
                yield statement
                yield from executed_nodes(statement)
        else:
            yield child
            yield from executed_nodes(child)


def python_imports(path, nodes):
    """Yield the modules and names of kwire that Python nodes import."""
    package = ("kwire", *path.relative_to(SOURCE).parts[:-1])
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) + 1 - node.level] if node.level else ()
            home = [*parts, *([node.module] if node.module else [])]
            yield from (".".join((*home, alias.name)) for alias in node.names)


def cython_imports(path):
    """Yield the modules of kwire that a Cython file imports or cimports."""
    pattern = r"^ *(?:from|c?import) (kwire[\w.]*)(?: c?import (\w+))?"
    for home, name in re.findall(pattern, path.read_text(), re.MULTILINE):
        yield f"{home}.{name}" if name else home


@functools.cache
def all_imports():
    """Return all imports within kwire as tuples.

    A tuple is (file, package of the file, imported package, full imported name).
    """
    listed = []
    for path in sorted(SOURCE.rglob("*")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if path.suffix == ".py" and parts != ("__init__",):
            names = python_imports(path, executed_nodes(ast.parse(path.read_text())))
        elif path.suffix in (".pyx", ".pxd"):
            names = cython_imports(path)
        else:
            continue
        for name in names:
            if name.startswith("kwire.") and name != "kwire.__version__":
                target = name.split(".")[1]
                target = installed._HOMES.get(target, target).split(".")[0]
                listed.append((path, parts[0], target, name))
    return listed


def test_a_package_imports_only_what_its_row_permits():
    """To permit an import, add the package to the row of the table in DESIGN.md."""
    table = read_table()
    wrong = {
        f"{path.relative_to(SOURCE)} imports {name}"
        for path, home, target, name in all_imports()
        if target not in (home, *table.get(home, ())) and home != "__main__"
    }
    assert wrong == set()


def test_the_table_has_each_package_and_only_earlier_ones():
    """A row only permits packages of previous rows, so there are no cycles."""
    table = read_table()
    packages = {
        path.stem
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert table.keys() == packages - {"__init__", "__main__"}
    earlier = set()
    for package, permitted in table.items():
        assert permitted <= earlier, package
        earlier.add(package)


def test_the_top_has_at_most_20_packages_and_modules():
    """``src/kwire`` contains at most 20 packages and modules.

    Readers have to know all of them, so a new one must be worth it.
    """
    assert len(read_table()) <= 20


def test_every_permitted_import_is_used():
    """An unused permission would allow a wrong import in the future."""
    used = {(home, target) for _, home, target, _ in all_imports()}
    unused = {
        (home, target)
        for home, permitted in read_table().items()
        for target in permitted
        if (home, target) not in used
    }
    assert unused == set()


def test_only_the_choice_and_wire_import_an_engine():
    """Only ``_engine/active.py`` and ``messages/wire.py`` import an engine directly.

    All other modules use the active engine.
    """
    homes = {
        path.relative_to(SOURCE).as_posix()
        for path, _, _, name in all_imports()
        if re.match(r"kwire\._engine\.(pure|fast)\b", name)
        and not re.match(r"_engine/(pure|fast)/", path.relative_to(SOURCE).as_posix())
    }
    assert homes == {"_engine/active.py", "messages/wire.py"}


def test_imports_are_really_found():
    """The parsers find imports of every kind.

    If they found none, the other tests would pass.
    """
    targets = {(path.suffix, target) for path, _, target, _ in all_imports()}
    assert {(".py", "errors"), (".py", "schema"), (".pyx", "_engine")} <= targets
    assert {(".pxd", "_engine"), (".pyx", "errors"), (".pyx", "schema")} <= targets
    assert len(all_imports()) > 2000


def test_twins_do_not_import_each_other():
    """The engines only depend on shared packages."""
    crossing = [
        (path.name, name)
        for path, home, target, name in all_imports()
        if home == target == "_engine"
        and {"pure", "fast"} <= {path.parent.name, name.split(".")[2]}
    ]
    assert crossing == []


CIRCLES = [
    (
        {"_engine.pure.arrays", "_engine.pure.arrow_interface"},
        "an array is its own C interface",
    ),
    ({"spark.topics.layout", "spark.log.options"}, "types of each other's arguments"),
    (
        {"recording.relay", "recording.relay_connections"},
        "a connection reports to its relay",
    ),
    (
        {"testing.machine", "testing.broker_connection"},
        "a connection reports to its cluster",
    ),
    (
        {
            "testing.state.cluster",
            "testing.state.configs",
            "testing.state.telemetry",
            "testing.state.transactions",
        },
        "parts of a cluster use its clock and its topics",
    ),
]
"""Files that import each other, as (set of files, reason).

The engine counts as one file.
"""

_ENGINE = {"_engine"}


def find_circles(graph):
    """Return the sets of nodes that can all reach each other.

    ``graph`` maps to sets.
    """

    def reach(node):
        visited, waiting = set(), [node]
        while waiting:
            for target in graph[waiting.pop()] - visited:
                visited.add(target)
                waiting.append(target)
        return visited

    reached = {node: reach(node) for node in graph}
    circles = []
    for node in graph:
        circle = {other for other in reached[node] if node in reached[other]} | {node}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)
    return circles


def test_circular_imports_have_a_reason():
    """Every import cycle between files is listed in the table with a reason.

    Imports within functions and imports for type checkers also count.
    """
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
    circles_with_reason = [circle for circle, _ in CIRCLES]
    assert find_circles({"a": {"b"}, "b": {"a", "c"}, "c": set()}) == [{"a", "b"}]
    for circle in find_circles(graph):
        is_engine = {name.split(".")[0] for name in circle} <= _ENGINE
        assert is_engine or circle in circles_with_reason, sorted(circle)
