# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Bad UTF-8 as Java replaces it: the codec error handler ``kwire-java``.

Java and Python put U+FFFD in the same places but one: an encoded surrogate, which is
one replacement character to Java and three to Python. Only ``compat="java"`` reads
this way. Source: ``sun.nio.cs.UTF_8``, by its behaviour.
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
