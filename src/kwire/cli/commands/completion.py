# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire completion``: prints the script that completes ``kwire`` in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..main import EXIT_CODES, FINE
from ..output.tables import open_output

_VARIABLE = "_KWIRE_COMPLETE"
"""Environment variable with which the script calls ``kwire``. click derives this name
from the program name.
"""


@click.command(
    epilog=EXIT_CODES, short_help="Print a script for completion in a shell."
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> int:
    """Print the script that completes commands, options and files in a shell.

    \b
    bash  source <(kwire completion bash)      in ~/.bashrc
    zsh   source <(kwire completion zsh)       in ~/.zshrc, after compinit
    fish  kwire completion fish | source       in ~/.config/fish/config.fish

    The script calls kwire for each completion. It needs bash 4.4 or newer.
    """  # noqa: D301 - click reads the escape
    program = click.get_current_context().find_root().command
    completion = get_completion_class(shell)
    assert completion is not None, "click knows these shells"
    script = completion(program, {}, "kwire", _VARIABLE)
    with open_output() as output:
        output.write(script.source())
    return FINE
