# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The program ``kwire``: its commands, their options and their output.

``main`` finds a command by its name in ``commands``. click and rich are imported when a
command runs, never by ``import kwire``. What a command computes belongs to the packages
below, so that Python programs can do the same. May import: every package of kwire.
Only ``kwire.__main__`` may import this package.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the program ``kwire`` with the arguments of the process, and exit."""
    try:
        # Most commands that write to a pipe never import rich.
        for name in ("click", "rich"):
            if find_spec(name) is None:
                raise ModuleNotFoundError(name=name)
        from .main import program

        program.main(prog_name="kwire")
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print(
            f"kwire: the command line requires {error.name}: pip install kwire[cli]",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
