# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire spark-bundle``: packs kwire as an archive for Spark workers."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import click

from ..._text import format_size
from ...spark.shipping.bundle import bundle, setting
from ..main import EXIT_CODES
from ..output.tables import open_output, output_option
from ..output.terminal import say

_ENGINE = re.compile(r"kwire/_engine/fast/decoder\.(.+)\.(?:so|pyd)")


@click.command(
    epilog=EXIT_CODES, short_help="Pack kwire for the workers of a Spark cluster."
)
@output_option(required=True)
@click.option(
    "--wheel",
    "wheels",
    metavar="FILE",
    multiple=True,
    help="Pack this wheel instead, for workers of another platform; repeatable.",
)
@click.option(
    "--no-compression",
    is_flag=True,
    help="Leave out cramjam, which reads snappy, lz4 and zstd.",
)
def command(output_path: str, wheels: tuple[str, ...], no_compression: bool) -> None:
    """Write the installed kwire as an archive for spark.archives.

    --output is a .zip file; an existing one is replaced.
    It is for workers without kwire that have the Python version and platform of this
    machine; for others give --wheel. The setting for Spark is printed on stdout.
    """
    try:
        path = bundle(output_path, wheel=wheels or None, compression=not no_compression)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    say(f"wrote {output_path}, {format_size(os.path.getsize(path))}: {_content(path)}")
    with open_output() as output:
        output.write(f"spark.archives={setting(output_path)}\n")


def _content(path: Path) -> str:
    """Describe an archive: its distributions, and its engine's Python version."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    packed = [top.removesuffix(".dist-info") for top in tops if "-" in top]
    if not any(name.startswith("kwire-") for name in packed):
        packed.append("kwire")
    engines = [match[1] for name in names if (match := _ENGINE.fullmatch(name))]
    fits = f"engine for {engines[0]}" if engines else "no compiled engine"
    return f"{', '.join(sorted(packed, reverse=True))}; {fits}"
