# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces bad UTF-8 as Java does: the codec error handler ``kwire-java``.

Java and Python differ in one case: Java replaces an encoded surrogate by one U+FFFD,
Python by three. Only ``compat="java"`` reads in this way.
Source: the behaviour of ``sun.nio.cs.UTF_8``.
"""

from __future__ import annotations

import codecs


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    first, *rest = error.object[error.start : error.start + 3]
    end = error.end
    if first == 0xED and rest and 0xA0 <= rest[0] <= 0xBF:
        end = error.start + 2
        if len(rest) == 2 and 0x80 <= rest[1] <= 0xBF:
            end += 1
    return "\ufffd", end


HANDLER = "kwire-java"
codecs.register_error(HANDLER, _replace)
