# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``bundle``: packs kwire into an archive from which Spark's workers import it.

``--py-files`` cannot be used, because Spark imports directly from the zip file and
compiled modules cannot be imported from a zip file. Archives of ``spark.archives`` are
first extracted into a directory on the module path of the workers. If an archive is
extracted as ``kwire``, the statement ``import kwire`` loads the ``__init__.py`` at its
top level, which then imports the package next to it.
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
"""Directory name into which Spark must extract the archive."""

_LIBRARY = "cramjam"
"""Distribution that decompresses snappy, lz4 and zstd. Workers may not have it."""

_BUILT_FROM = (".pyx", ".pxd", ".h", ".c", ".pyi", ".pyc")
_OF_INSTALLERS = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")

_ALIAS_MODULE = b'''"""Imports the package kwire from the same directory."""

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
    """Write kwire as an archive for ``spark.archives``, and return its path.

    * ``path``: name of the archive, which must end with ``.zip``. The file is created
      completely or not at all. ``setting`` returns the corresponding Spark setting.
    * ``wheel``: one or several wheels. By default, the archive contains the installed
      kwire with its compiled engine, and only suits workers with the same Python
      version and platform. For other workers, pass a wheel of kwire that was built for
      them, and others such as cramjam's. The archive then contains only these wheels.
    * ``compression``: also include the installed cramjam, which decompresses snappy,
      lz4 and zstd.

    Raises ``ValueError`` if the suffix of ``path`` is not ``.zip``, if a file is not a
    wheel, or if none of the wheels contains kwire.
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
    files["__init__.py"] = _ALIAS_MODULE
    with (
        create_file(target, replaces=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in sorted(files):
            # Use a constant timestamp, so that the same files always produce the same
            # bytes.
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return target


def setting(path: str | os.PathLike[str]) -> str:
    """Return the value of ``spark.archives`` that adds an archive to the workers.

    ``SparkContext.addArchive`` accepts the same value.
    """
    return f"{os.fspath(path)}#{_ALIAS}"


def _find_installed(compression: bool) -> Iterator[Source]:
    package = Path(__file__).parents[2]
    for place in (package, *sorted(package.parent.glob("pyspark_kwire*"))):
        if place.is_file():
            yield place.name, place.read_bytes()
        else:
            yield from _list_files(place, place.parent)
    for name in ("kwire", *((_LIBRARY,) if compression else ())):
        try:
            files = metadata.files(name) or ()
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            top = file.parts[0]
            if top == _LIBRARY or top.endswith(".dist-info"):
                real = Path(str(file.locate()))
                if _is_needed(real):
                    yield file.as_posix(), real.read_bytes()


def _list_files(folder: Path, root: Path) -> Iterator[Source]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _is_needed(path):
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _is_needed(path: Path) -> bool:
    """Return whether a worker needs a file.

    Libraries for other Python versions are not needed.
    """
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
                # A ``.data`` directory contains several install schemes. Only purelib
                # and platlib contain modules.
                kind, _, rest = rest.partition("/")
                if kind in ("purelib", "platlib") and rest:
                    yield rest, opened.read(name)
            elif not name.endswith(("/", *_OF_INSTALLERS)):
                yield name, opened.read(name)
