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
    """Message in one version.

    * ``data``: the bytes that Kafka's own class encodes.
    * ``json``: the JSON value of the message that Kafka writes.
    """

    message: str
    version: int
    data: bytes
    json: object


@cache
def vectors() -> tuple[Vector, ...]:
    """Return all vectors in the order of the file."""
    with lzma.open(FOLDER / "messages.jsonl.xz") as lines:
        return tuple(_vector(json.loads(line)) for line in lines)


@cache
def by_pair() -> dict[tuple[str, int], tuple[Vector, ...]]:
    """Return {(message name, version): vectors}."""
    pairs: dict[tuple[str, int], tuple[Vector, ...]] = {}
    for vector in vectors():
        key = vector.message, vector.version
        pairs[key] = (*pairs.get(key, ()), vector)
    return pairs


@cache
def manifest() -> dict:
    """Return the manifest, which describes the origin of the vectors."""
    return json.loads((FOLDER / "manifest.json").read_text())


def _vector(line: dict) -> Vector:
    data = base64.b64decode(line["bytes"], validate=True)
    return Vector(line["message"], line["version"], data, line["json"])
