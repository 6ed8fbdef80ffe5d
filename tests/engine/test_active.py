# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``KWIRE_BACKEND=auto|fast|pure`` selects the engine once, when kwire is imported."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kwire as installed

SHOW = "import kwire; print(kwire.backend, kwire.decode.__module__)"


def run(code, backend):
    """Run code in a new interpreter, and return the ``CompletedProcess``.

    ``backend`` is the value of ``KWIRE_BACKEND``. If it is None, the variable is unset.
    """
    environment = {k: v for k, v in os.environ.items() if k != "KWIRE_BACKEND"}
    if backend is not None:
        environment["KWIRE_BACKEND"] = backend
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("backend", ["fast", "pure"])
def test_requested_engine_is_active(twins, backend):
    """With "fast" or "pure", ``kwire.backend`` and ``decode`` are of this engine."""
    done = run(SHOW, backend)
    assert done.stdout == f"{backend} kwire._engine.{backend}.decoder\n", done.stderr


@pytest.mark.parametrize("backend", [None, "auto"])
def test_default_engine_is_the_compiled_engine_if_built(backend):
    """Without a setting or with "auto", the compiled engine is used if it was built."""
    done = run(SHOW, backend)
    # A compiled decoder is preferred, whichever engine this test run uses.
    built = importlib.util.find_spec("kwire._engine.fast.decoder") is not None
    best = "fast" if built else "pure"
    assert done.stdout == f"{best} kwire._engine.{best}.decoder\n", done.stderr


def test_compiled_engine_is_built(twins):
    """A build for the tests has the compiled engine.

    Many tests compare both engines, and would be skipped without it.
    """
    assert (twins.fast.backend, twins.pure.backend) == ("fast", "pure")
    assert type(twins.fast.decode) is not type(twins.pure.decode)


@pytest.mark.parametrize("setting", ["Fast", "cython", "", "0"])
def test_unknown_engine_setting_fails_in_one_line(setting):
    """An invalid value of ``KWIRE_BACKEND`` is an error when kwire is imported.

    The error is one line. It quotes the invalid value, lists the valid values, and says
    to change or unset the variable.
    """
    done = run(SHOW, setting)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == (
        "ImportError: KWIRE_BACKEND must be auto, fast or pure "
        f"(got {setting!r}); change or unset it"
    )


@pytest.fixture
def unbuilt(tmp_path):
    """Copy the package without its compiled extensions.

    Return the start of a program that imports this copy and prints the active engine.
    """
    copy = tmp_path / "kwire"
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(Path(installed.__file__).parent, copy, ignore=ignored)
    assert not list(copy.rglob("*.so"))
    return f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SHOW}"


def test_fast_fails_if_the_compiled_engine_is_missing(unbuilt):
    """KWIRE_BACKEND=fast never falls back to the Python engine silently."""
    done = run(unbuilt, "fast")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: KWIRE_BACKEND=fast, but this kwire has no")
    assert "install a wheel" in last


@pytest.mark.parametrize("backend", ["auto", "pure"])
def test_pure_engine_is_active_without_a_build(unbuilt, backend):
    """Without compiled extensions, "auto" and "pure" select the Python engine."""
    done = run(unbuilt, backend)
    assert done.stdout == "pure kwire._engine.pure.decoder\n", done.stderr


def test_broken_extension_is_reported(unbuilt, tmp_path):
    """An extension that exists but cannot be imported is an error, not a fallback."""
    broken = tmp_path / "kwire" / "_engine" / "fast" / "decoder.py"
    broken.write_text("import a_library_that_is_not_there\n")
    done = run(unbuilt, "auto")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == "ModuleNotFoundError: No module named 'a_library_that_is_not_there'"


def test_the_environment_is_read_once(kwire):
    """Changing ``KWIRE_BACKEND`` after the import has no effect on the active engine.

    Otherwise one process could mix objects of both engines.
    """
    done = run(
        "import os, kwire; first = kwire.backend\n"
        "os.environ['KWIRE_BACKEND'] = 'pure' if first == 'fast' else 'fast'\n"
        "from kwire import messages\n"
        "from kwire.messages import framing\n"
        "assert framing.encode_request(messages.HeartbeatRequest(), 4)\n"
        "print(first == kwire.backend)",
        kwire.backend,
    )
    assert done.stdout == "True\n", done.stderr


def test_python_m_kwire_prints_the_engine():
    """``python -m kwire`` prints the version and the engine, for bug reports."""
    import subprocess
    import sys

    import kwire as installed

    process = subprocess.run(
        [sys.executable, "-m", "kwire"], capture_output=True, text=True, check=True
    )
    assert process.stdout.startswith(f"kwire {installed.__version__}, ")
    assert f"{installed.backend} engine: " in process.stdout
