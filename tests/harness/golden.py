# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the golden vectors: messages encoded by Kafka's own classes.

The vectors are read once and keep the order of the file, which is sorted by message and
then by version.
"""

import base64
import json
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "vectors"


class Vector(NamedTuple):
    """Message in one version, with the bytes and the JSON text that Kafka writes."""

    message: str
    version: int
    data: bytes
    json: object


@cache
def vectors() -> tuple[Vector, ...]:
    """Read all vectors."""
    with lzma.open(FOLDER / "messages.jsonl.xz") as lines:
        return tuple(_vector(json.loads(line)) for line in lines)


@cache
def by_pair() -> dict[tuple[str, int], tuple[Vector, ...]]:
    """Group the vectors by (message, version)."""
    pairs: dict[tuple[str, int], tuple[Vector, ...]] = {}
    for vector in vectors():
        key = vector.message, vector.version
        pairs[key] = (*pairs.get(key, ()), vector)
    return pairs


@cache
def manifest() -> dict:
    """Read the manifest, which describes the origin of the vectors."""
    return json.loads((FOLDER / "manifest.json").read_text())


def _vector(line: dict) -> Vector:
    data = base64.b64decode(line["bytes"], validate=True)
    return Vector(line["message"], line["version"], data, line["json"])
