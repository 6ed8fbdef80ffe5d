# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Verify the files of a release: ``python -m tools.release.contents [--all] dist/*``.

The files in each archive are compared with the source tree, so that missing modules and
unexpected files are errors. The software bill of materials in a wheel must be valid
CycloneDX and list the build tools. With ``--all``, a wheel must exist for every
published Python and platform.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools import ROOT
from tools.release import install_lines

META = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "top_level.txt")
LICENSES = ("licenses/LICENSE", "licenses/NOTICE")
BILL = "sboms/kwire.cdx.json"
# Suffixes of engine sources, which wheels contain in compiled form.
ENGINE = {".pyx", ".pxd", ".h"}
PACKAGE = {".py", ".pyi", ".txt", ".json", ".typed", ".html", ".css", ".js"}
LOOSE = (
    "CHANGELOG.md",
    "DESIGN.md",
    "LICENSE",
    "MANIFEST.in",
    "NOTICE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tools/__init__.py",
    "tools/release/__init__.py",
    "tools/release/smoke.py",
    "tools/release/software_bill.py",
)
PYTHONS = (
    "cp311-cp311",
    "cp312-cp312",
    "cp313-cp313",
    "cp314-cp314",
    "cp314-cp314t",
    "cp315-cp315",
    "cp315-cp315t",
)
PLATFORMS = (
    "manylinux.*_x86_64",
    "manylinux.*_aarch64",
    "musllinux.*_x86_64",
    "musllinux.*_aarch64",
    "macosx.*_x86_64",
    "macosx.*_arm64",
    "win_amd64",
    "win_arm64",
)
PUBLISHED = ("py3-none-any", *(f"{p}-{on}" for p in PYTHONS for on in PLATFORMS))


def sources(kinds: set[str]) -> set[str]:
    """Return the paths of the package's files that have one of the suffixes."""
    home = ROOT / "src"
    return {
        path.relative_to(home).as_posix()
        for path in home.rglob("*")
        if path.suffix in kinds and "egg-info" not in path.parts[len(home.parts)]
    }


def compare(found: set[str], expected: set[str]) -> list[str]:
    """Describe each missing file and each unexpected file of an archive."""
    return [f"{name} is missing" for name in sorted(expected - found)] + [
        f"{name} should not be there" for name in sorted(found - expected)
    ]


def sdist_faults(path: Path) -> list[str]:
    """Return the errors of an sdist: missing or unexpected files, a wrong README."""
    with tarfile.open(path) as archive:
        names = {item.name.partition("/")[2] for item in archive if item.isfile()}
        folder = archive.getnames()[0].partition("/")[0]
        readme = archive.extractfile(f"{folder}/README.md")
        text = readme.read().decode("utf-8") if readme else ""
    files = {name for name in names if not name.startswith("src/kwire.egg-info/")}
    expected = {f"src/{name}" for name in sources(PACKAGE | ENGINE)} | set(LOOSE)
    faults = compare(files, expected)
    if install_lines.README_FROM_PYPI not in text:
        faults.append("README.md does not install kwire from PyPI")
    return faults


def wheel_faults(path: Path) -> list[str]:
    """Return the errors of a wheel.

    It must have a published tag, exactly the expected files, one extension for each
    engine source unless it is pure, and a valid bill of materials.
    """
    name, version, tags = path.stem.split("-", 2)
    pure = tags == "py3-none-any"
    info = f"{name}-{version}.dist-info"
    is_published = any(re.fullmatch(pattern, tags) for pattern in PUBLISHED)
    faults = [] if is_published else [f"no wheel of {tags} is published"]
    with zipfile.ZipFile(path) as archive:
        files = {one for one in archive.namelist() if not one.endswith("/")}
        try:
            bill = json.loads(archive.read(f"{info}/{BILL}"))
            faults += bill_faults(bill, version, pure)
        except (KeyError, ValueError) as error:
            faults.append(f"there is no bill of materials: {error}")
    extensions = {one for one in files if one.endswith((".so", ".pyd"))}
    compiled = {one.partition(".")[0] + ".pyx" for one in extensions}
    expected = set() if pure else sources({".pyx"})
    faults += compare(compiled, expected)
    metadata = {f"{info}/{one}" for one in (*META, *LICENSES, BILL)}
    return faults + compare(files - extensions, sources(PACKAGE) | metadata)


def bill_faults(bill: Any, version: str, pure: bool) -> list[str]:
    """Return the errors of a bill of materials: its format, version and build tools."""
    invalid = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill))
    # The first line of the error names the invalid value. The other lines quote the
    # schema.
    reason = str(invalid).partition("\n")[0]
    checks = {
        f"the format: {reason}": invalid is None,
        "kwire": bill["metadata"]["component"]["version"] == version,
        "the package's address": bill["metadata"]["component"]["purl"]
        == f"pkg:pypi/kwire@{version}",
    }
    tools = {
        one["name"]: one["version"] for one in bill["metadata"]["tools"]["components"]
    }
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    cython = re.findall(r"^cython==(.+)$", pins, re.MULTILINE)
    checks["the tools"] = tools.keys() == (set() if pure else {"Cython", "C compiler"})
    checks["Cython's version"] = pure or [tools.get("Cython")] == cython
    facts = (ROOT / "src/kwire/schema/facts/releases.txt").read_text(encoding="utf-8")
    newest = re.findall(r"^release (\S+)", facts, re.MULTILINE)[-1]
    checks["the source of the messages"] = [
        (one["type"], one["version"]) for one in bill["components"]
    ] == [("data", newest)]
    return [
        f"the bill of materials is wrong on {what}"
        for what, is_right in checks.items()
        if not is_right
    ]


def absent(paths: list[Path]) -> list[str]:
    """Describe the published wheels that are missing among the files of a release."""
    tags = [path.stem.split("-", 2)[2] for path in paths if path.suffix == ".whl"]
    return [
        f"there is no wheel of {pattern}"
        for pattern in PUBLISHED
        if not any(re.fullmatch(pattern, tag) for tag in tags)
    ]


def main() -> None:
    """Verify the files that the command line names. Exits with a message on errors."""
    parser = argparse.ArgumentParser(description="What is in the files of a release")
    parser.add_argument("--all", action="store_true", help="is each wheel there, too?")
    parser.add_argument("files", type=Path, nargs="+")
    asked = parser.parse_args()
    wrong = absent(asked.files) if asked.all else []
    for path in asked.files:
        check = wheel_faults if path.suffix == ".whl" else sdist_faults
        wrong += [f"{path.name}: {fault}" for fault in check(path)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(asked.files)} files hold what they should, and nothing else")


if __name__ == "__main__":
    main()
