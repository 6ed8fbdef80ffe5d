# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``@sweep`` runs many small cases in one test.

pytest needs about 2 ms of processor time per test in two processes. A case with one
message or one batch often takes only a tenth of that time.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

MOST_ERRORS = 20
"""A sweep stops after this number of errors."""


def sweep(names: str | tuple[str, ...], cases: Iterable[Any], ids: Any = repr) -> Any:
    """Run all cases as one test, in order.

    The parameters are those of ``pytest.mark.parametrize``, and sweeps can be stacked.
    All errors are raised together, with a note that names the case. The cases share
    their fixtures. Therefore the test cannot use a fixture that must be new for every
    case, such as ``tmp_path``.
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
    """Truncate a case name to 60 characters."""
    text = str(text)
    return text if len(text) <= 60 else f"{text[:57]}..."
