# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that ``tools/check/prose.py`` finds poor sentences, words and names."""

import shutil
import subprocess

import pytest

from tools.check import prose

LIGHT = "What is not given is that of the other one."
PAGE = f"""# Title

```python
as it is
```

| at once |

{LIGHT}
Read it
anew.
"""
PYTHON = f'''"""Fetch at once."""
ceiling = "at once"  # {LIGHT}
x = 1
"""Any more."""
'''
CYTHON = f'''cdef int ceiling  # at once
x = "anew"
"""{LIGHT}"""
# It goes
# on.
'''
FILES = {"page.md": PAGE, "code.py": PYTHON, "code.pyx": CYTHON}
LINES = {
    "page.md": [(9, "'anew': write"), (9, "without content: 'What")],
    "code.py": [(1, "'at once'"), (2, "without content"), (4, "'Any more'")],
    "code.pyx": [(1, "'at once'"), (3, "without content"), (4, "'goes on'")],
}


@pytest.mark.parametrize("name", FILES)
def test_check_prose_reads_docstrings_comments_and_pages(tmp_path, name):
    """Code, tables, string literals and names of variables are not prose."""
    path = tmp_path / name
    path.write_text(FILES[name])
    findings = sorted(prose.check_prose(path))
    assert [finding.line for finding in findings] == [line for line, _ in LINES[name]]
    for finding, (_, problem) in zip(findings, LINES[name], strict=True):
        assert problem in finding.problem


@pytest.mark.parametrize(
    ("sentence", "light"),
    [
        (LIGHT, True),
        ("This is one of those that are there.", True),
        ("Return the offset.", False),
        ("It is not.", False),
        ("Maximum number of rows between two checks of the memory limit.", False),
    ],
)
def test_is_light_counts_the_words_with_content(sentence, light):
    """A sentence of three words is never light. It is too short for a judgement."""
    assert prose.is_light(sentence) == light


def test_check_names_reports_assigned_names_on_added_lines(tmp_path):
    """Vague names in assignments, loops and parameters are reported.

    The later uses of such a name are not reported.
    """
    path = tmp_path / "code.py"
    path.write_text(
        "found = 1\n"
        "print(found)\n"
        "for each in (): pass\n"
        "def read(given): pass\n"
        "kept = 2\n"
    )
    findings = prose.check_names(path, {1, 2, 3, 4})
    assert {finding.line for finding in findings} == {1, 3, 4}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_main_checks_prose_everywhere_and_names_on_added_lines(
    tmp_path, monkeypatch, capsys
):
    """Vague names on old lines are accepted. A shallow clone checks no names at all."""

    def git(*arguments):
        identity = ("-c", "user.name=kwire", "-c", "user.email=kwire@localhost")
        command = ["git", *identity, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    path = tmp_path / "src" / "code.py"
    path.parent.mkdir()
    path.write_text("found = 1\n")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose.sys, "argv", ["prose.py"])
    git("init")
    git("add", ".")
    git("commit", "--message", "Add a file")
    assert prose.main() == 0
    assert "not checked" in capsys.readouterr().out
    monkeypatch.setattr(prose, "NAMES_SINCE", git("rev-parse", "HEAD"))
    assert prose.main() == 0
    path.write_text("found = 1\nmade = 2  # at once\n")
    assert prose.main() == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "src/code.py:2: 'at once': write immediately, or at the same time",
        "src/code.py:2: 'made': name the content of the variable",
        "prose: 2 findings",
    ]
