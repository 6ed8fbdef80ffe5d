# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What one recorded frame is, and the file that hands a recording to another process.

Nothing is decoded here. The file is a pickle: for the demo's own processes alone.
"""

import pickle
from pathlib import Path
from typing import NamedTuple


class Recorded(NamedTuple):
    """One frame, without its size.

    ``sent`` is what the client or the cluster really sent; ``passed`` is what the relay
    passed on. They differ in rewritten answers only. For a response, ``api_key``,
    ``api_version`` and ``client_id`` are those of the request that it answers.
    """

    connection: int
    direction: str
    sequence: int
    api_key: int
    api_version: int
    client_id: str | None
    sent: bytes
    passed: bytes


def write(frames: list[Recorded], path: Path) -> None:
    """Write the frames to a file."""
    path.write_bytes(pickle.dumps([tuple(frame) for frame in frames]))


def read(path: Path) -> list[Recorded]:
    """Read the frames of a file that ``write`` wrote."""
    return [Recorded(*frame) for frame in pickle.loads(path.read_bytes())]
