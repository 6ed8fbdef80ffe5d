# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find Kafka's JSON schemas in directories, in jars, and in the jars of a release.

A directory can be a complete or partial Kafka checkout, or any tree with schemas or
jars. JSON files that are not schemas are ignored, and so are samples and copies below
``test`` and ``build`` in a checkout. ``schema_merge.py`` processes the schemas.
"""

from __future__ import annotations

import textwrap
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kwire.errors import SchemaError
from kwire.schema import json_text, language
from kwire.schema.model import Message

_PASSED_OVER = frozenset(("test", "build", "bin", "target"))


class ImportRefused(Exception):
    """The definitions cannot represent a source. The message contains the reason."""


class Found(NamedTuple):
    """Schema that was found in a source, with its location."""

    message: Message
    origin: str


def read_schemas(paths: Iterable[Path]) -> dict[str, Found]:
    """Read all schemas below the paths, which must belong to one Kafka release.

    Every JSON file is read once, and jars are not extracted to disk.

    Raises ``ImportRefused`` if a schema violates a rule, if two schemas have the same
    name, or if no schema is found.
    """
    schemas: dict[str, Found] = {}
    texts: dict[str, str] = {}
    paths = list(paths)
    for path in paths:
        for origin, text in _texts(path):
            if '"validVersions"' not in text:
                continue
            try:
                root = json_text.read_value(text)
                if not {"name", "validVersions"} <= root.members.keys():
                    continue
                message = language.read_message(text)
            except SchemaError as error:
                raise ImportRefused(f"{origin}: {error}") from None
            first = schemas.setdefault(message.name, Found(message, origin))
            if texts.setdefault(message.name, text) != text:
                raise ImportRefused(
                    f"{first.origin} and {origin} both define {message.name}, and not"
                    " alike; give a source that holds one release"
                )
    if not schemas:
        where = ", ".join(str(path) for path in paths)
        raise ImportRefused(f"{where}: no Kafka schema there")
    return schemas


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            place = file.relative_to(path)
            if file.is_file() and not _PASSED_OVER.intersection(place.parts):
                yield from _file_texts(file, str(place))
    elif path.is_file():
        yield from _file_texts(path, path.name)
    else:
        raise ImportRefused(f"{path} does not exist")


def _file_texts(file: Path, origin: str) -> Iterator[tuple[str, str]]:
    if file.suffix == ".json":
        yield origin, file.read_text(encoding="utf-8")
    elif file.suffix == ".jar":
        with zipfile.ZipFile(file) as jar:
            for name in sorted(jar.namelist()):
                if name.endswith(".json"):
                    yield f"{origin}: {name}", jar.read(name).decode()


def release_jars(release: str) -> list[Path]:
    """Return the jars of a Kafka release. Maven downloads them if necessary.

    If the oracle does not list the release, Maven resolves the same jars as for the
    newest listed release. Raises ``ImportRefused`` if Maven fails.
    """
    # Import the oracle here, because only this function requires it.
    from tools.interop.oracle import oracle

    try:
        releases = oracle.releases()
        if release in releases:
            jars = oracle.jars(release)
        else:
            listing = oracle.TARGET / f"classpath-{release}"
            command = ["mvn", "-q", "-B", "-Dstyle.color=never"]
            command += ["-f", str(oracle.HERE / "pom.xml"), "-P", releases[0]]
            command += [f"-Dkafka.version={release}", f"-Dmdep.outputFile={listing}"]
            oracle.run([*command, "dependency:build-classpath"])
            jars = [Path(path) for path in listing.read_text().strip().split(":")]
    except oracle.OracleError as error:
        said = textwrap.shorten(str(error).partition("[ERROR]")[2] or str(error), 120)
        raise ImportRefused(
            f"the jars of Kafka {release} cannot be had; check its number and the"
            f" network. {said}"
        ) from None
    return [jar for jar in jars if jar.name.startswith("kafka-")]
