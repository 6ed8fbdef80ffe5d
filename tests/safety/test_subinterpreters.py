# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests kwire in several interpreters in one process, and repeated imports.

The Python engine works in every interpreter. The compiled engine belongs to the
interpreter that imported it first, and raises ``ImportError`` in all others. CPython
refuses to load it in isolated interpreters, which have their own GIL. The tests run in
new processes and verify that the engine neither crashes nor affects the first
interpreter.
"""

import json
import os
import subprocess
import sys

import pytest

# CPython 3.12 introduced isolated interpreters, but crashes if they import datetime.
DATETIME_WORKS = sys.version_info >= (3, 13)

PROGRAM = """
import json, sys
sys.path[:0] = {path!r}
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = '''
import json, os, sys
sys.path[:0] = {path!r}
found = []
for _ in range(3):
    try:
        import kwire
        from kwire.messages import MetadataRequest as cls
        bad = False
        try:
            kwire.decode(cls, b"?", 12)
        except kwire.DecodeError:
            bad = True
        good = kwire.decode(cls, kwire.encode(cls(), 12), 12) == cls()
        found.append(["works" if good and bad else "is wrong", ""])
    except ImportError as error:
        found.append(["refused", str(error)])
with open({pipe}, "w", closefd=False) as file:
    print(json.dumps(found), file=file)
'''

def use():
    import kwire
    from kwire.messages import MetadataRequest as cls
    assert kwire.decode(cls, kwire.encode(cls(), 12), 12) == cls()

def create():
    if {isolated}:
        return interpreters.create()
    if sys.version_info >= (3, 13):
        return interpreters.create("legacy")
    return interpreters.create(isolated=False)

{before}
for _ in range(4):
    one = create()
    problem = interpreters.run_string(one, CODE)
    assert problem is None, problem
    interpreters.destroy(one)
    {after}
"""


def outcomes(backend, *, is_first, isolated=False):
    """Import kwire in four consecutive interpreters. Return the import results.

    * ``is_first``: the main interpreter imports kwire before the other interpreters,
      and uses it after every import.
    * ``isolated``: the interpreters have their own GIL (CPython 3.12 and newer).
    """
    reading, writing = os.pipe()
    code = PROGRAM.format(
        path=sys.path,
        pipe=writing,
        isolated=isolated,
        before="use()" if is_first else "",
        after="use()" if is_first else "",
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"KWIRE_BACKEND": backend},
            pass_fds=[writing],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    with open(reading) as file:
        lines = file.read().splitlines()
    assert done.returncode == 0, done.stderr
    assert len(lines) == 4
    return [tuple(outcome) for line in lines for outcome in json.loads(line)]


def test_plain_python_works_in_every_interpreter(figure):
    """With the Python engine, kwire works in every interpreter.

    The main interpreter has imported it before, or not.
    """
    results = [
        one
        for is_first, isolated in ((True, False), (False, DATETIME_WORKS))
        for one in outcomes("pure", is_first=is_first, isolated=isolated)
    ]
    wrong = [one for one in results if one != ("works", "")]
    figure("P14", "imports in subinterpreters, plain Python", len(results), least=24)
    figure("P14", "of which failed", len(wrong), most=0)


def test_the_compiled_engine_works_or_refuses_by_one_error(kwire, figure):
    """With the compiled engine, an import works or raises one documented error.

    The main interpreter still works after a failed import.
    """
    results = outcomes(kwire.backend, is_first=True)
    assert {kind for kind, _ in results} <= {"works", "refused"}
    texts = {text for kind, text in results if kind == "refused"}
    assert all("KWIRE_BACKEND=pure" in text for text in texts)
    figure("P14", "kinds of error in subinterpreters", len(texts), most=1)


def test_the_first_interpreter_to_import_has_the_engine(kwire):
    """The first interpreter that imports the engine may be any interpreter.

    In the other interpreters, the import works or raises the documented error.
    """
    results = outcomes(kwire.backend, is_first=False)
    assert results[:3] == [("works", "")] * 3
    assert {kind for kind, _ in results} <= {"works", "refused"}


@pytest.mark.skipif(
    not DATETIME_WORKS, reason="isolated interpreters work from CPython 3.13 on"
)
def test_isolated_interpreters_are_refused_by_the_true_reason(kwire):
    """In an isolated interpreter, the error does not blame another interpreter.

    No interpreter has imported the engine in this case.
    """
    results = outcomes(kwire.backend, is_first=False, isolated=True)
    if kwire.backend == "pure":
        assert results == [("works", "")] * 12
        return
    text = (
        "kwire's compiled engine works in one interpreter of a process, and this one is"
        " an isolated subinterpreter, which it does not support; set KWIRE_BACKEND=pure"
        " before this one imports kwire"
    )
    assert results == [("refused", text)] * 12


AGAIN = """
import sys
sys.path[:0] = {path!r}
kept = []
for _ in range(5):
    import kwire
    from kwire.messages import FetchRequest as cls
    import kwire.records.columns, kwire.records, kwire.connection
    kept.append(kwire)
    data = kwire.encode(cls(), 12)
    assert kwire.decode(cls, data, 12) == cls()
    batch = kwire.records.encode_batch([(b"k", b"v")])
    (read,) = kwire.records.decode_batches(batch)
    assert read.records[0].value == b"v"
    for name in [name for name in sys.modules if name.split(".")[0] == "kwire"]:
        del sys.modules[name]
print(len(set(map(id, kept))))
"""


def test_import_may_happen_again(kwire, figure):
    """Modules that were removed from ``sys.modules`` can be imported again."""
    done = subprocess.run(
        [sys.executable, "-c", AGAIN.format(path=sys.path)],
        env=os.environ | {"KWIRE_BACKEND": kwire.backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figure("P14", "imports anew", int(done.stdout), least=5)
