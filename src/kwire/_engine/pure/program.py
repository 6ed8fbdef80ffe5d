# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Returns the program of a message version. A program is created on first use.

Twin: ``fast/program.pyx``. Differs from its twin in: a program contains Python code
that ``emitter.py`` generates from the plan. In ``fast``, it contains C tables.
"""

from __future__ import annotations

from .structs import binding_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .emitter import Program


def find_program(cls: Any, version: int) -> Program:
    """Return the program for one version of a message class, or create it.

    Raises ``TypeError`` if ``cls`` is not a message class, and ``UnsupportedVersion``
    if the message does not have this version.
    """
    binding = binding_of(cls)
    number = version if type(version) is int else binding.number(version)
    program: Program | None = binding.programs.get(number)
    if program is None:
        from .emitter import Program

        made = Program(binding.plan(number), binding)
        program = binding.programs.setdefault(number, made)
    if binding.classes[binding.message.name] is not cls:
        raise TypeError(f"{cls.__qualname__} is a struct of a message, not a message")
    return program
