# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the adapters with every supported client version.

    python -m tools.interop.adapters.versions                   # all versions
    python -m tools.interop.adapters.versions aiokafka          # those of one client
    python -m tools.interop.adapters.versions aiokafka==0.13.0  # some versions
    python -m tools.interop.adapters.versions --newest          # newest patches

Every version is installed into a temporary directory without its dependencies, and the
tests in ``tests/client/adapters`` run with it. To support a new version, add it to
``src/kwire/client/adapters/__init__.py`` and run this program.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kwire.client import adapters

ROOT = Path(__file__).resolve().parents[3]
TESTED = {
    "kafka-python": adapters.kafka_python.tested_versions,
    "aiokafka": adapters.aiokafka.tested_versions,
}
TIMEOUT_S = 600


def find_versions(names: list[str], newest: bool) -> list[str]:
    """List the requirements ``client==version`` that the command line selects.

    * ``names``: clients or requirements. An empty list selects all of them.
    * ``newest``: only select the last patch of each minor version.
    """
    found = []
    for client, versions in TESTED.items():
        last = {version.rpartition(".")[0]: version for version in versions}
        for version in last.values() if newest else versions:
            requirement = f"{client}=={version}"
            if not names or client in names or requirement in names:
                found.append(requirement)
    return found


def install(requirement: str, directory: Path) -> None:
    """Install a client version into a directory, without its dependencies."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "--no-compile",
            "--target",
            str(directory),
            requirement,
        ],
        check=True,
        timeout=TIMEOUT_S,
    )


def check_version(requirement: str) -> bool:
    """Install a client version and run the adapter tests. Returns True if they pass."""
    with tempfile.TemporaryDirectory() as directory:
        install(requirement, Path(directory))
        client = requirement.partition("==")[0]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--no-header",
                "-m",
                "not gate and not night",
                "-p",
                "no:cacheprovider",
                "-k",
                f"not {(TESTED.keys() - {client}).pop()}",
                "tests/client/adapters",
            ],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": directory},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    lines = done.stdout.splitlines() or done.stderr.splitlines()
    print(f"{requirement}: {lines[-1]}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr)
    return done.returncode == 0


def main() -> int:
    """Test the selected client versions.

    Returns the exit code: 1 if the tests fail with one of the versions.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--newest", action="store_true")
    options = parser.parse_args()
    versions = find_versions(options.names, options.newest)
    if not versions:
        parser.error("no such version is named by an adapter")
    failed = [each for each in versions if not check_version(each)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
