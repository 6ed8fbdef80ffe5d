# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``bundle``: packs kwire as an archive that Spark's workers import from.

Spark's ``--py-files`` imports from within a zip, which compiled modules cannot do;
archives of ``spark.archives`` are unpacked first, into a folder where workers look for
modules. So an archive that is unpacked as ``kwire`` is what ``import kwire`` finds: the
file at its top leads to the packages beside it.
"""

from __future__ import annotations

import os
import zipfile
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from ..._files import create_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Source = tuple[str, bytes]

_ALIAS = "kwire"
"""What the archive has to be unpacked as."""

_LIBRARY = "cramjam"
"""The distribution that reads snappy, lz4 and zstd, which workers may lack."""

_BUILT_FROM = (".pyx", ".pxd", ".h", ".c", ".pyi", ".pyc")
_OF_INSTALLERS = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")

_DOOR = b'''"""Leads from the folder of the archive to the package kwire within it."""

import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
del sys.modules[__name__]
importlib.import_module(__name__)
'''


def bundle(
    path: str | os.PathLike[str],
    *,
    wheel: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    compression: bool = True,
) -> Path:
    """Write kwire as an archive for ``spark.archives``; return its path.

    What is installed here goes in: kwire with its compiled engine, and cramjam, which
    reads snappy, lz4 and zstd, unless ``compression`` is false. It fits workers of the
    same Python version and platform; for others give a ``wheel`` of kwire that was
    built for them, or several, such as cramjam's: then only those go in.
    ``path`` ends with ``.zip`` and appears complete or not at all. ``setting`` is what
    to set in Spark.
    """
    target = Path(path)
    if target.suffix != ".zip":
        raise ValueError(f"{target}: Spark unpacks archives whose names end with .zip")
    if wheel is None:
        files = dict(_find_installed(compression))
    elif isinstance(wheel, (str, os.PathLike)):
        files = dict(_of_wheel(wheel))
    else:
        files = dict(file for each in wheel for file in _of_wheel(each))
    if "kwire/__init__.py" not in files:
        raise ValueError("no wheel of kwire is among those that were given")
    files["__init__.py"] = _DOOR
    with (
        create_file(target, replaces=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in sorted(files):
            # The same files give the same bytes, whenever they are packed.
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return target


def setting(path: str | os.PathLike[str]) -> str:
    """Return the value of ``spark.archives`` that adds an archive to the workers.

    ``SparkContext.addArchive`` takes the same.
    """
    return f"{os.fspath(path)}#{_ALIAS}"


def _find_installed(compression: bool) -> Iterator[Source]:
    package = Path(__file__).parents[2]
    for place in (package, *sorted(package.parent.glob("pyspark_kwire*"))):
        if place.is_file():
            yield place.name, place.read_bytes()
        else:
            yield from _below(place, place.parent)
    for name in ("kwire", *((_LIBRARY,) if compression else ())):
        try:
            files = metadata.files(name) or ()
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            top = file.parts[0]
            if top == _LIBRARY or top.endswith(".dist-info"):
                real = Path(str(file.locate()))
                if _belongs(real):
                    yield file.as_posix(), real.read_bytes()


def _below(folder: Path, root: Path) -> Iterator[Source]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _belongs(path):
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _belongs(path: Path) -> bool:
    """Whether a worker has a use for a file; not if it is another Python's."""
    if path.suffix in (".so", ".pyd"):
        return path.name.endswith(tuple(EXTENSION_SUFFIXES))
    return path.suffix not in _BUILT_FROM and path.name not in _OF_INSTALLERS


def _of_wheel(wheel: str | os.PathLike[str]) -> Iterator[Source]:
    try:
        opened = zipfile.ZipFile(wheel)
    except zipfile.BadZipFile:
        raise ValueError(f"{os.fspath(wheel)} is not a wheel") from None
    with opened:
        for name in opened.namelist():
            top, _, rest = name.partition("/")
            if top.endswith(".data"):
                # What a wheel keeps apart: of its kinds, two are to be imported.
                kind, _, rest = rest.partition("/")
                if kind in ("purelib", "platlib") and rest:
                    yield rest, opened.read(name)
            elif not name.endswith(("/", *_OF_INSTALLERS)):
                yield name, opened.read(name)
