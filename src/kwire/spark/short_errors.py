# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reduces errors that Spark reports to kwire's message, without a traceback.

Spark's workers send an exception to the driver as a string with its complete traceback.
Errors that kwire raises deliberately do not need the traceback, but defects of kwire
do. ``shorten_errors`` wraps every function that Spark calls.
"""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Iterator
from functools import wraps

from ..errors import KwireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, ParamSpec, TypeVar

    Arguments = ParamSpec("Arguments")
    Result = TypeVar("Result")

_RAISE = dis.opmap["RAISE_VARARGS"]
_WORKERS = "pyspark.daemon", "pyspark.worker", "pyspark.sql."
_PACKAGE = __name__.partition(".")[0]


class SparkEntry:
    """Base class that applies ``shorten_errors`` to all public methods."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name, method in list(vars(cls).items()):
            if not name.startswith("_") and callable(method):
                setattr(cls, name, shorten_errors(method))


def shorten_errors(
    function: Callable[Arguments, Result],
) -> Callable[Arguments, Result]:
    """Wrap a function so that Spark shows only the message of documented errors.

    Documented errors lose their traceback and their cause, so that Spark receives only
    the message from a worker. The worker process ends with the first error. All other
    errors remain unchanged. If the function returns an iterator, errors during the
    iteration are treated in the same way.
    """

    @wraps(function)
    def entry(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            result = function(*arguments, **named)
        except Exception as error:
            if not _is_documented(error):
                raise
            raise _shorten(error) from None
        return _shorten_iterator(result) if isinstance(result, Iterator) else result

    return entry


def _shorten_iterator(items: Any) -> Any:
    try:
        yield from items
    except Exception as error:
        if not _is_documented(error):
            raise
        raise _shorten(error) from None


def _is_documented(error: Exception) -> bool:
    """Return whether an error is documented: an error of kwire or the operating system.

    ``ValueError`` and ``TypeError`` are documented only if a ``raise`` statement in
    kwire raised them. If they come from ``int("x")`` or from a library, they are
    defects.
    """
    if isinstance(error, (KwireError, OSError)):
        return True
    if not isinstance(error, (ValueError, TypeError)):
        return False
    last = _last_frame(error.__traceback__)
    name = last.tb_frame.f_globals.get("__name__", "")
    code = last.tb_frame.f_code.co_code
    return name.partition(".")[0] == _PACKAGE and code[last.tb_lasti] == _RAISE


def _last_frame(traceback: TracebackType | None) -> TracebackType:
    assert traceback is not None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _shorten(error: Exception) -> Exception:
    if _is_worker():
        # Spark checks this variable when it formats the error. The worker then ends, so
        # the variable affects no other task.
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
    return error.with_traceback(None)


def _is_worker() -> bool:
    """Return whether Spark started this process to run Python code of a query."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and str(spec.name).startswith(_WORKERS)
