# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shortens errors that Spark reports to kwire's sentence, without a traceback.

Spark's workers send an exception to the driver as text, with every frame it went
through. An error that kwire raises on purpose needs none of them; a defect of kwire
needs all. Everything that Spark calls goes through ``shorten_errors``.
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
    """A base of the classes whose public methods Spark calls: all get short errors."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name, method in list(vars(cls).items()):
            if not name.startswith("_") and callable(method):
                setattr(cls, name, shorten_errors(method))


def shorten_errors(
    function: Callable[Arguments, Result],
) -> Callable[Arguments, Result]:
    """Wrap a function so that Spark shows its errors as one sentence.

    Documented errors lose their traceback and their cause; in a worker of Spark, which
    ends with the first error, the text that Spark gets is the error alone. All other
    errors stay as they are. An iterator that is returned is treated the same.
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
    """Whether an error is one of kwire's own, or of the operating system.

    ``ValueError`` and ``TypeError`` are where a ``raise`` in kwire made them; those of
    ``int("x")`` or of a library are defects.
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
        # Spark looks at this when it writes the text, after which the worker ends.
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
    return error.with_traceback(None)


def _is_worker() -> bool:
    """Whether Spark started this process to run Python code of a job or a plan."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and str(spec.name).startswith(_WORKERS)
