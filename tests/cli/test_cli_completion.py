# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire completion``: the scripts run in their shells and complete commands."""

import importlib
import os
import shutil
import stat
import subprocess
import sys

import click
import pytest

from tests.cli.test_cli_process import SOURCE

# Shell code that calls the script's function as the shell does, and prints the
# completions.
CALLS = {
    "bash": """
source <(kwire completion bash) || exit 3
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_kwire_completion kwire
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "zsh": """
compdef() {{ : }}
_describe() {{ print -l -- ${{(P)3}} }}
compadd() {{ print -l -- ${{(P)@[-1]}} }}
source <(kwire completion zsh) || exit 3
words=({words}); CURRENT=${{#words}}
_kwire_completion
""",
    "fish": """
kwire completion fish | source; or exit 3
complete -C '{words}'
""",
}


@pytest.fixture
def shell_environment(tmp_path):
    """Environment variables with which a shell finds the program ``kwire``."""
    program = tmp_path / "bin" / "kwire"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom kwire.cli import main\nmain()\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return os.environ | {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE),
        "HOME": str(tmp_path),
    }


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("kwire re", ["read", "record", "repair", "restore"]),
        ("kwire gr", ["groups"]),
        ("kwire conf", ["configs"]),
        ("kwire groups broker:9092 etl --re", ["--reset"]),
        ("kwire topics broker:9092 --de", ["--delete"]),
        ("kwire read broker:9092 --on", ["--on-data-loss"]),
        ("kwire read broker:9092 orders --isolation-level read_c", ["read_committed"]),
        ("kwire completion f", ["fish"]),
    ],
)
@pytest.mark.parametrize("shell", CALLS)
def test_a_shell_completes_commands_options_and_values(
    shell, words, offered, shell_environment
):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"requires {shell}")
    ran = subprocess.run(
        [program, "-c", CALLS[shell].format(words=words)],
        env=shell_environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    # zsh and fish add the help text of a command or option, after a colon and a tab
    # respectively.
    names = [line.split("\t")[0].split(":")[0] for line in ran.stdout.splitlines()]
    assert sorted(name for name in names if name) == offered


def test_help_shows_the_line_of_each_shell(run):
    lines = run("completion", "--help").out.splitlines()
    starts = [line.split()[:2] for line in lines if "completion" in line]
    assert ["bash", "source"] in starts and ["zsh", "source"] in starts
    assert ["fish", "kwire"] in starts


def test_overview_names_each_command(run, kwire):
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    names = program.list_commands(click.Context(program))
    overview, _, _ = run("--help").out.partition("PATH of log files")
    words = overview.replace(",", " ").split()
    assert [name for name in names if name not in words] == []


def test_an_unknown_shell_is_named(run):
    ran = run("completion", "tcsh")
    assert ran.code == 2 and "'tcsh' is not one of 'bash', 'zsh', 'fish'" in ran.err
