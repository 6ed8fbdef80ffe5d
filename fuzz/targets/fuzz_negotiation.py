# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Passes frames to the version handshake, and uses the resulting version tables.

An input consists of a byte with options, a byte for the version of the first request,
and frames. Each frame follows a byte with its size (255: all remaining bytes).
"""

from fuzz import engines, guided

MODULES = ("connection.negotiation", "messages.framing", "messages", "schema.registry")
FALLBACK, RIGHT_ID, LOST = 1, 2, 4


def handshake(package, mode, newest, frames):
    """Run a handshake in which the broker responds with the specified frames.

    Returns the bytes that the client has sent, and the described version table or None.
    """
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
    """Return the selected versions of all requests, the ranges, features and ``repr``.

    The ranges are those of a cluster in which two brokers have this version table.
    """
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
    """Pass the frames of one input to a handshake, and compare both engines."""
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
