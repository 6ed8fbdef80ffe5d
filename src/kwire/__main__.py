# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m kwire``: prints the version, the active engine, and why it is active.

With arguments, it runs the program ``kwire`` with these arguments.
"""

from __future__ import annotations

import sys

from . import __version__
from ._engine.active import backend, reason

if __name__ == "__main__":
    if len(sys.argv) > 1:
        from .cli import main

        main()
    print(f"kwire {__version__}, {backend} engine: {reason}")
