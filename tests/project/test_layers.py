# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of imports, and which module may import which.

``import kwire`` loads nothing heavy and no definitions. Every module imports alone. A
file imports from its own floor or a lower one, ``cimport`` included; the twins never
import each other, and a pure run loads nothing compiled of ours.
"""

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
        if parts[:2] == ("_engine", "fast") and installed.backend != "fast":
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
"""Every module that the reference documents, such as ``kwire.client.adapters``."""


def test_every_module_of_the_reference_is_an_attribute_after_import_kwire():
    """Users of ``kwire.client.TopicNotFound`` need no second import.

    Each name is resolved in an interpreter that has imported ``kwire`` alone, and in
    reverse order too, so that none depends on what another module has imported.
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
    # Modules within packages too, but for the one that requires pyspark.
    for name in {*DOCUMENTED} - {*packages, "kwire.spark.functions"}:
        assert run(f"{HERE}import kwire\nprint({name}.__name__)") == [name]


def test_type_checkers_see_the_same_modules_as_the_interpreter():
    """A module that resolves at run time is in the stub of the package, too."""
    stub = (SOURCE / "__init__.pyi").read_text()
    declared = re.findall(r"^from \.(?:schema)? import (\w+) as \1$", stub, re.M)
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
    assert (
        run(ALONE.format(modules=modules(), stays="_engine.fast"), backend) == modules()
    )


def test_pure_run_loads_nothing_compiled():
    """The pure engine never calls compiled code of ours, all its modules included."""
    code = (
        "import sys, importlib, kwire\n"
        f"for name in {[m for m in modules() if '.fast' not in m]!r}:\n"
        "    importlib.import_module(name)\n"
        "from kwire.messages import MetadataRequest as M\n"
        "assert kwire.decode(M, kwire.encode(M(), 12), 12) == M()\n"
        "print(*[n for n in sys.modules if n.startswith('kwire._engine.fast')])\n"
    )
    assert run(code, "pure") == [""]
