# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Feeds frames to the handshake, and makes tables of the responses.

An input is a byte of options, one for the first question's version, and frames, each
after a byte for its size (255: all that is left).
"""

from fuzz import engines, guided

MODULES = ("connection.negotiation", "messages.framing", "messages", "schema.registry")
FALLBACK, RIGHT_ID, LOST = 1, 2, 4


def handshake(package, mode, newest, frames):
    """Answer the questions of a handshake with these frames."""
    asked = package.connection.negotiation.ApiVersionsHandshake(
        "fuzz",
        "1",
        newest=newest,
        fallback="0.9.0" if mode & FALLBACK else None,
    )
    said = [asked.data_to_send()]
    for frame in frames:
        if mode & RIGHT_ID and len(frame) >= 4:
            frame = asked.correlation_id.to_bytes(4, "big") + frame[4:]
        table = asked.receive_frame(frame)
        said.append(asked.data_to_send())
        if table is not None:
            return said, described(package, table)
    if mode & LOST:
        return said, described(package, asked.connection_lost())
    return said, None


def described(package, table):
    """Use a table: what it picks of each API, and what a cluster with it has."""
    negotiation = package.connection.negotiation
    picked = []
    for name in package.messages.ALL:
        cls = getattr(package.messages, name)
        if cls.kind == "request":
            try:
                picked.append((name, table.pick(cls), table.usable(cls)))
            except package.errors.UnsupportedVersion as error:
                picked.append((name, str(error)))
    cluster = negotiation.ClusterVersions({"B1": table, "B2": table.copy()})
    ranges = {str(key): str(each) for key, each in cluster.ranges().items()}
    return picked, ranges, table.features(), repr(table)


def TestOneInput(data):
    """Judge one input."""
    if len(data) < 2:
        return
    mode, newest, rest = data[0], data[1] % 6, data[2:]
    frames = []
    while rest and len(frames) < 8:
        size = rest[0]
        end = len(rest) if size == 255 else 1 + size
        frames.append(rest[1:end])
        rest = rest[end:]
    engines.agree(handshake, mode, None if newest == 5 else newest, frames)


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
