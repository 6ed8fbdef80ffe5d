# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``@sweep``: many small cases in one test, which pytest collects and reports once.

For each test pytest needs about 2 ms of two processes, which is often ten times what a
case of one message or one batch takes.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

MOST_ERRORS = 20
"""After so many a sweep ends."""


def sweep(names: str | tuple[str, ...], cases: Iterable[Any], ids: Any = repr) -> Any:
    """Run all cases of a test as one test, in their order.

    The arguments are those of ``pytest.mark.parametrize``; sweeps can be stacked. The
    errors are raised together, and each names its case. The cases share fixtures: one
    that each needs anew, such as ``tmp_path``, does not fit.
    """
    names = names if isinstance(names, tuple) else (names,)
    rows = [case if len(names) > 1 else (case,) for case in cases]
    assert rows, f"there is no {' or '.join(names)}"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            errors: list[BaseException] = []
            for row in rows:
                case = dict(zip(names, row, strict=True))
                try:
                    test(**fixtures, **case)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as error:
                    for name, value in case.items():
                        error.add_note(f"with {name}: {shorten(ids(value))}")
                    errors.append(error)
                    if len(errors) == MOST_ERRORS:
                        break
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} cases failed", errors)

        signature = inspect.signature(test)
        fixtures = [p for p in signature.parameters.values() if p.name not in names]
        assert len(fixtures) + len(names) == len(signature.parameters)
        run.__signature__ = signature.replace(parameters=fixtures)
        return run

    return decorate


def shorten(text: Any) -> str:
    """Cut the name of a case where it is too long to read."""
    text = str(text)
    return text if len(text) <= 60 else f"{text[:57]}..."
