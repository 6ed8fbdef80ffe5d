# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: ``kwire versions``, ``schema``, ``decode``, ``ls`` and the others.

The command line uses public names of kwire only. click and rich are imported when a
command runs, never by ``import kwire``. The program is in ``main.py``, each command in
a file of ``commands/``.
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
