# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All documentation examples run and print the documented output.

``doctest`` runs a page from top to bottom in a new interpreter, with warnings as
errors. Only lines after ``>>>`` are executed, so a page with Python code must contain
such lines.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kwire.cli.main import program
from tests.harness.sweeps import sweep

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SHOWING_PYTHON = [page for page in PAGES if "```py" in page.read_text("utf-8")]


def page_name(page):
    """Return the path of a page relative to the documentation directory."""
    return str(page.relative_to(DOCS).with_suffix(""))


RUNNER = """
import doctest, sys
import kwire
assert kwire.backend == sys.argv[2]
lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")
# The fence below an example would count as its output.
text = "\\n".join("" if line.startswith("```") else line for line in lines)
test = doctest.DocTestParser().get_doctest(text, {}, sys.argv[1], sys.argv[1], 0)
failed, attempted = doctest.DocTestRunner().run(test)
print("examples:", attempted, "failed:", failed)
"""


def run_examples(page, backend, monkeypatch, folder):
    """Run the examples of a page in a new interpreter.

    Return the completed process. Its output contains the examples that failed.
    """
    monkeypatch.setenv("KWIRE_BACKEND", backend)
    # Write temporary files below the test's directory, because examples do not delete
    # them.
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", RUNNER, str(page), backend],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_draft_has_a_page():
    """The directory ``drafts`` contains the five drafts.

    If it were empty, the tests for its pages would pass without testing anything.
    """
    numbers = {page.name[:3] for page in (DOCS / "drafts").glob("0*.md")}
    assert numbers == {f"00{number}" for number in range(5)}


@pytest.mark.parametrize("page", SHOWING_PYTHON, ids=page_name)
def test_every_example_of_a_page_is_true(kwire, page, monkeypatch, tmp_path):
    printed = run_examples(page, kwire.backend, monkeypatch, tmp_path)
    last = printed.splitlines()[-1]
    assert last.endswith("failed: 0"), printed
    assert not last.startswith("examples: 0 "), "the page has no example that runs"


@sweep("page", PAGES, ids=page_name)
def test_the_text_of_a_page_fits_a_terminal(page):
    """Lines have at most 88 columns, except tables, links and program output."""
    parts = page.read_text("utf-8").split("\n```")
    lines = [line for text in parts[::2] for line in text.splitlines()]
    long = [line for line in lines if len(line) > 88 and line[:1] != "|"]
    assert [line for line in long if "](" not in line] == []


COMMAND = re.compile(r"^(?:    |\$ )?kwire +((?:.*\\\n)*.*)$", re.MULTILINE)
"""Matches a ``kwire`` command in a code block, with its continuation lines."""


def shown_commands(text):
    """Yield every command in the code blocks of a page as a list of words."""
    names = program.list_commands(None)
    for command in COMMAND.findall(text):
        line = re.split(r" {2,}", re.sub(r"\s*\\\n\s*", " ", command))[0]
        if line.partition(" ")[0] in names:
            yield shlex.split(line)


@sweep("page", [*PAGES, *DOCS.parent.glob("*.md")], ids=str)
def test_a_command_that_a_page_shows_has_its_options(page):
    """Every command on a page has valid options with a valid number of values."""
    for name, *words in shown_commands(page.read_text("utf-8")):
        command = program.get_command(click.Context(program), name)
        parser = command.make_parser(click.Context(command))
        parser.parse_args(words)


def test_commands_are_found_and_wrong_ones_fail():
    """``shown_commands`` finds the commands, and a wrong option is an error.

    The text contains a continued line, a comment after a command, and other text.
    """
    text = "    kwire ls x --deep   what it is\n$ kwire dump \\\n  --tail 3\nkwire is\n"
    commands = list(shown_commands(text))
    assert commands == [["ls", "x", "--deep"], ["dump", "--tail", "3"]]
    command = program.get_command(click.Context(program), "ls")
    with pytest.raises(click.NoSuchOption):
        command.make_parser(click.Context(command)).parse_args(commands[0][1:])


@pytest.mark.parametrize(
    ("text", "failures"),
    [
        ("```python\n>>> 1 + 1\n2\n```\n", 0),
        ("```python\n>>> 1 + 1\n3\n```\n", 1),
        ("    >>> import kwire\n    >>> kwire.no_such_name\n", 1),
        ("    >>> import warnings\n    >>> warnings.warn('old')\n", 1),
    ],
)
def test_an_example_that_is_wrong_is_found(
    kwire, tmp_path, monkeypatch, text, failures
):
    """If an example prints another output than the page shows, it is reported.

    Without this test, the tests of the pages could pass because of a broken runner.
    """
    page = tmp_path / "page.md"
    page.write_text(text)
    printed = run_examples(page, kwire.backend, monkeypatch, tmp_path)
    assert printed.splitlines()[-1].endswith(f"failed: {failures}")
