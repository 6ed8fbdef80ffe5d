# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits a stream at different positions, which must result in the same frames.

An input consists of two bytes for the piece sizes, a byte for the frame size limit, and
the stream.
"""

from fuzz import engines, guided

MODULES = ("messages.framing",)


def frames_of(package, pieces, ceiling):
    """Pass pieces to a splitter whose frames are limited to ``ceiling`` bytes.

    Returns the frames, the error or None, and the pending bytes.
    """
    limits = package.Limits(frame_bytes=ceiling)
    splitter = package.messages.framing.FrameSplitter(limits)
    frames = []
    try:
        for piece in pieces:
            frames += splitter.feed(piece)
    except package.errors.KwireError as error:
        return frames, engines.facts(package, error), None
    return frames, None, splitter.pending


def cut(data, sizes):
    """Split data into pieces, whose sizes alternate between the values of ``sizes``."""
    pieces = []
    at = turn = 0
    while at < len(data):
        end = at + sizes[turn % len(sizes)]
        pieces.append(data[at:end])
        at, turn = end, turn + 1
    return pieces


def TestOneInput(data):
    """Split one input at different positions, and compare the frames."""
    if len(data) < 3:
        return
    sizes = (data[0] % 64 + 1, data[1] + 1)
    ceiling, data = (None, 16, 200, 70_000)[data[2] % 4], data[3:]
    whole = engines.agree(frames_of, [data], ceiling)
    apart = engines.agree(frames_of, cut(data, sizes), ceiling)
    views = [memoryview(bytearray(piece)) for piece in cut(data, sizes[::-1])]
    engines.equal("however it is split", apart, whole)
    engines.equal("in views", engines.agree(frames_of, views, ceiling), whole)
    frames, error, pending = whole[1]
    if error == ("NoneType", None):
        rest = len(data) - pending[1]
        again = b"".join(len(frame).to_bytes(4, "big") + frame for _, frame in frames)
        engines.equal("the frames and their sizes", again, data[:rest])


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
