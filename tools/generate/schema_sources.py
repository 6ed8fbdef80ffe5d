# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds Kafka's JSON schemas: in folders, in jars, and in the jars of a release.

A folder may be a Kafka checkout, a part of one, or any tree with schemas or jars in
it. JSON that is no schema is passed over, and so are the samples and copies that a
checkout keeps under ``test`` and ``build``. What is done with the schemas is the
business of ``schema_merge.py``.
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
    """The definitions cannot take what the source says; the text says why."""


class Found(NamedTuple):
    """One schema of a source, and where in the source it stands."""

    message: Message
    origin: str


def read_schemas(paths: Iterable[Path]) -> dict[str, Found]:
    """Read every schema below the paths; together they are one release of Kafka.

    Cost: a folder's JSON is read once, a jar is not unpacked.
    Raises ``ImportRefused`` for a schema that breaks a rule, for two schemas that
    claim one name, and if there is none at all.
    """
    found: dict[str, Found] = {}
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
            known = found.setdefault(message.name, Found(message, origin))
            if texts.setdefault(message.name, text) != text:
                raise ImportRefused(
                    f"{known.origin} and {origin} both define {message.name}, and not"
                    " alike; give a source that holds one release"
                )
    if not found:
        where = ", ".join(str(path) for path in paths)
        raise ImportRefused(f"{where}: no Kafka schema there")
    return found


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
    """Let Maven find the jars of a Kafka release.

    A release that the oracle does not name has the same jars as the newest that it
    names. Raises ``ImportRefused`` if Maven fails.
    """
    # The oracle is only needed here.
    from tools.interop.oracle import oracle

    try:
        known = oracle.releases()
        if release in known:
            jars = oracle.jars(release)
        else:
            listing = oracle.TARGET / f"classpath-{release}"
            command = ["mvn", "-q", "-B", "-Dstyle.color=never"]
            command += ["-f", str(oracle.HERE / "pom.xml"), "-P", known[0]]
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
