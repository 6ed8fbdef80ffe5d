# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Codec error handler ``kwire-java``: replaces invalid UTF-8 in the same way as Java.

Java and Python differ in one case: for an encoded surrogate (ED A0 80 to ED BF BF),
Java writes one U+FFFD and Python writes three. The handler is used only for
``compat="java"``.

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
