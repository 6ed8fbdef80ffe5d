# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The program ``kwire``: its commands, their options and their output.

``main`` looks up a command by its name in the package ``commands``. click and rich are
imported when a command runs, never by ``import kwire``. A command's computations are
implemented in the packages below this one, so that Python programs can use them without
the command line.

This package may import every package of kwire. Only ``kwire.__main__`` may import this
package.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the program ``kwire`` with the process arguments, and exit."""
    try:
        # Check for both packages first. Most commands that write to a pipe never import
        # rich, so a missing rich would otherwise only be reported for some outputs.
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
