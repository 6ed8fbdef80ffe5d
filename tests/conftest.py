# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The fixtures of all tests: a test runs on both engines.

``kwire`` is the package on one engine, and every test that takes it runs once on
each; ``twins`` is the package on both, for tests that compare them. The pure engine
is the same source imported a second time as ``kwire_pure``, so both live in one
process and share no module. Where the code under test is the same on both, and where a
test is marked ``gate_on_pure``, the second run is marked ``gate``.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import kwire as kwire_fast
from tests.harness.other_pythons import replace_missing
from tools.generate.promises import Figure, record

replace_missing()


def _load_pure() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "kwire_pure",
        kwire_fast.__file__,
        submodule_search_locations=list(kwire_fast.__path__),
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["kwire_pure"] = package
    spec.loader.exec_module(package)
    before = os.environ.get("KWIRE_BACKEND")
    os.environ["KWIRE_BACKEND"] = "pure"
    try:
        importlib.import_module("kwire_pure._engine.active")
    finally:
        if before is None:
            del os.environ["KWIRE_BACKEND"]
        else:
            os.environ["KWIRE_BACKEND"] = before
    return package


PACKAGES = {"pure": _load_pure()}
if kwire_fast.backend == "fast":
    PACKAGES["fast"] = kwire_fast


SAME_ON_BOTH = (
    "cli/",
    "client/",
    "connection/",
    "drafts/",
    "explain/",
    "jobs/",
    "log/",
    "spark/",
    "records/compression/",
    "messages/test_kio.py",
    "project/test_demo_pipeline.py",
    "project/test_docs.py",
    "records/test_clients.py",
    "records/test_peers.py",
    "schema/test_releases.py",
)
"""Folders and files whose subject is not in an engine, but above or below both."""


class Twins(NamedTuple):
    """The package on both engines."""

    fast: ModuleType
    pure: ModuleType


@pytest.fixture(scope="session", params=sorted(PACKAGES))
def kwire(request: pytest.FixtureRequest) -> ModuleType:
    """The package on one engine; the test runs once on each."""
    return PACKAGES[request.param]


@pytest.fixture(scope="session")
def plain_kwire() -> ModuleType:
    """The package in plain Python, which every build has."""
    return PACKAGES["pure"]


@pytest.fixture(scope="session")
def twins() -> Twins:
    """Both engines at once. Only a pure build, which has none to compare, lacks it."""
    if "fast" not in PACKAGES:
        pytest.skip("this build has one engine, there is nothing to compare")
    return Twins(PACKAGES["fast"], PACKAGES["pure"])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what ``make promises`` and ``make quick`` need.

    The one keeps the figures of the tests that show a promise, the other runs the
    files that ``quick_lane`` takes.
    """
    parser.addoption("--figures", metavar="SOURCE", help="record figures reached")
    parser.addoption("--quick", action="store_true", help="run the files of make quick")
    parser.addoption(
        "--without",
        default="",
        metavar="NAMES",
        help="with --quick: leave out what imports these libraries (a,b)",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is no part of ``make quick``."""
    if not config.getoption("--quick"):
        return None
    from tests.harness.quick_lane import is_left_out

    without = frozenset(config.getoption("--without").split(","))
    return is_left_out(collection_path, without) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the second run of what is the same on both engines, or slow, to the gate.

    A name with an address differs between processes, which share the tests by name.
    """
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"give ids to the parameters of {unstable[0]}")
    if len(PACKAGES) == 1:
        return
    tests = Path(__file__).parent
    for item in items:
        call = getattr(item, "callspec", None)
        is_second = call is not None and call.params.get("kwire") == "pure"
        if is_second and (
            item.get_closest_marker("gate_on_pure")
            or item.path.relative_to(tests).as_posix().startswith(SAME_ON_BOTH)
        ):
            item.add_marker(pytest.mark.gate)


@pytest.fixture
def figure(request: pytest.FixtureRequest):
    """Note a figure of a promise, and fail if it breaks its bound."""

    def note(promise, what, value, *, least=None, most=None, unit=""):
        test = request.node.nodeid.partition("[")[0]
        row = Figure(promise, what, value, test, least, most, unit)
        assert row.is_kept(), row.text()
        request.node.user_properties.append(("figure", row._asdict()))
        print(f"{promise}: {row.text()}")

    return note


class Figures:
    """What the tests of a run reached; the worst of a figure's engines counts."""

    def __init__(self) -> None:
        """Begin with none."""
        self.rows: dict[tuple[str, str, str], Figure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the figures of one test that passed."""
        if report.when != "call" or not report.passed:
            return
        for kind, row in report.user_properties:
            if kind == "figure":
                new = Figure(**row)
                old = self.rows.setdefault((new.promise, new.what, new.test), new)
                worse = min if new.least is not None else max
                self.rows[new.promise, new.what, new.test] = worse(
                    old, new, key=lambda one: one.figure
                )

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write them down if the run passed."""
        if exitstatus == 0 and self.rows:
            record(session.config.getoption("--figures"), self.rows.values())


def pytest_configure(config: pytest.Config) -> None:
    """Set hypothesis up, and collect figures in the process that sees all reports."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As a shell has it for what runs in the background; programs of tests get it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A wheel without extras is tested without hypothesis.
    if importlib.util.find_spec("hypothesis"):
        import tests.harness.hypothesis_profile  # noqa: F401
    if config.getoption("--figures") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Figures())


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Have hypothesis ready before anything is frozen, and after it started itself."""
    if profile := sys.modules.get("tests.harness.hypothesis_profile"):
        profile.make_generator()


@pytest.fixture(scope="module", autouse=True)
def freeze_garbage() -> None:
    """Spare what is alive before a file each look for garbage in its tests.

    A collected suite is many objects, and tests that count objects look often.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Collect tests without looking for garbage, which takes as long as the tests do.

    Nothing is frozen when the interpreter ends: libraries count objects then. Before,
    pytest looks for garbage itself.
    """
    atexit.register(gc.unfreeze)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share files out whole, once xdist is there to share them."""
    from tests.harness.shares import Shares

    return Shares(config, log)
