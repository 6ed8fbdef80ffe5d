# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run a client's own tests with and without kwire's adapter, and compare the results.

    python -m tools.interop.adapters.client_tests REQUIREMENT CHECKOUT TESTS...

REQUIREMENT is the client with its version, for example aiokafka==0.14.0. CHECKOUT is
the client's repository at that version. TESTS are paths in the checkout, for example
tests/test_fetcher.py or test/consumer.

Only the tests of the checkout are used. The client itself is installed into a temporary
directory. The exit code is 1 if a test result changes with the adapter and the test is
not listed in ``DIFFERS``. Install the dependencies of the tests, for example
pytest-asyncio, or add their directory to PYTHONPATH.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from tools.interop.adapters.versions import TIMEOUT_S, install

PLUGIN = """
from kwire.client import adapters

def pytest_configure(config):
    assert adapters.{adapter}.install()
"""
DIFFERS = {
    "test_fetcher.test__unpack_records_corrupted": "it mocks a method of the class "
    "that kafka-python decodes records into, which kwire does not make",
}
"""Reasons for expected differences, indexed by the end of the test name."""

ADAPTERS = {"aiokafka": "aiokafka", "kafka-python": "kafka_python"}


def run(folder: Path, tests: list[str], client: Path, plugin: str) -> dict[str, str]:
    """Run tests of the client and return their results by test name.

    * ``folder``: copy of the tests, in which pytest runs.
    * ``client``: directory that contains the installed client.
    * ``plugin``: pytest plugin that installs the adapter, or "" to run without it.
    """
    report = folder / "report.xml"
    # Tests may need packages that the user has installed in directories on PYTHONPATH.
    paths = client, folder, os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            f"--junitxml={report}",
            *(("-p", plugin) if plugin else ()),
            *tests,
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if not report.exists():
        sys.exit(done.stdout + done.stderr)
    outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        bad = [each.tag for each in case if each.tag in ("failure", "error", "skipped")]
        outcomes[f"{case.get('classname')}.{case.get('name')}"] = (bad or ["passed"])[0]
    report.unlink()
    return outcomes


def main() -> int:
    """Run the tests with and without the adapter.

    Returns the exit code: 1 if a result differs and ``DIFFERS`` does not list the test.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("requirement", metavar="CLIENT==VERSION")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder, client = Path(directory, "tests"), Path(directory, "client")
        install(options.requirement, client)
        for top in {test.partition("/")[0] for test in options.tests}:
            shutil.copytree(options.checkout / top, folder / top)
        adapter = ADAPTERS[options.requirement.partition("==")[0]]
        (folder / "kwire_plugin.py").write_text(PLUGIN.format(adapter=adapter))
        own = run(folder, options.tests, client, "")
        adapted = run(folder, options.tests, client, "kwire_plugin")
    differing = {
        name: (own.get(name), adapted.get(name))
        for name in own | adapted
        if own.get(name) != adapted.get(name) and not name.endswith(tuple(DIFFERS))
    }
    print(f"{options.requirement} without the adapter: {dict(Counter(own.values()))}")
    print(f"with it: {dict(Counter(adapted.values()))}")
    for name, (before, after) in differing.items():
        print(f"  {name}: {before}, with the adapter {after}")
    return int(bool(differing) or "passed" not in own.values())


if __name__ == "__main__":
    sys.exit(main())
