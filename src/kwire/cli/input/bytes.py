# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses bytes that users pass: hex, hex dumps, escapes, base64 and files.

``read_input`` detects the encoding. ``pieces.py`` detects what the bytes contain.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import sys
from typing import BinaryIO

import click

from ..._limits import MIB

_MOST_BYTES = 256 * MIB
"""Maximum input size in bytes. This is enough for the largest frame as hex digits, with
two digits per byte, and some space for separators.
"""

FORMS = ("auto", "hex", "base64", "binary")

_PRINTABLE = re.compile(rb"[\t\n\r -~]*")
_SPACING = re.compile(r"0[xX]|[\s,:;_{}()\[\]-]+")
_NO_HEX = re.compile(r"[^0-9a-fA-F]")
_LITERAL = re.compile(r"[bB]?([\"'])(.*)\1", re.DOTALL)
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\([0-7]{1,3})|\\([^x0-7])|([^\\])")
_LETTERS = dict(zip("abtnvfr", "\a\b\t\n\v\f\r", strict=True))
_DUMP_LINE = re.compile(r"\s*(?:0x)?([0-9a-fA-F]{4,16})(:?)(?:\s+(.*))?")
_ASCII_COLUMN = {":": re.compile(r"\s\s.*"), "": re.compile(r"\s*\|.*|\s{3}.*|\s\s>.*")}


def read_input(text: str | None, form: str = "auto") -> bytes:
    """Read the input bytes from an argument, a file or stdin.

    ``text`` is "@FILE", "-" or None for stdin, or the encoded bytes themselves. Files
    and stdin contain raw bytes, or the same encodings as an argument.

    Raises ``click.ClickException`` if the input is empty, too large, or does not have
    the encoding ``form``. Raises ``OSError`` if a file cannot be read.
    """
    if text is None and sys.stdin.isatty():
        raise click.UsageError(
            "an input is required: hex, base64, @FILE, or - for stdin"
        )
    if text is None or text == "-":
        data = _of_content(_whole(sys.stdin.buffer), form)
    elif text.startswith("@"):
        with open(text[1:], "rb") as file:
            data = _of_content(_whole(file), form)
    elif form == "binary":
        raise click.UsageError("binary input must come from @FILE or stdin")
    else:
        try:
            data = _of_text(text, form)
        except click.ClickException:
            if not os.path.isfile(text):
                raise
            raise click.ClickException(
                f"{text} is a file; write @{text} to read it"
            ) from None
    if not data:
        raise click.ClickException(
            "the input is empty; give hex, base64, @FILE, or - for stdin"
        )
    return data


def _whole(file: BinaryIO) -> bytes:
    """Read a complete file or stdin.

    Raises ``ClickException`` if it contains more than ``_MOST_BYTES`` bytes.
    """
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise click.ClickException(
            f"the input must be {_MOST_BYTES // MIB} MiB or less (got more); shorten"
            " it, or use kwire dump for log files"
        )
    return content


def _of_content(content: bytes, form: str) -> bytes:
    """Decode the content of a file or stdin.

    With the form "binary", or with "auto" if the content is not printable, the content
    is returned unchanged. Otherwise, it is decoded as text.
    """
    if form == "binary" or (form == "auto" and not _PRINTABLE.fullmatch(content)):
        return content
    return _of_text(content.decode(errors="replace"), form)


def _of_text(text: str, form: str) -> bytes:
    """Decode text that contains a hex dump, hex, escapes or base64.

    The first of these encodings that matches the text is used.
    """
    if form == "base64":
        return _of_base64("".join(text.split()).rstrip("="))
    dump = _of_dump([line for line in text.splitlines() if line.strip()])
    if dump is not None:
        return dump
    digits = _SPACING.sub("", text)
    wrong = _NO_HEX.search(digits)
    if wrong is None:
        if len(digits) % 2:
            raise click.ClickException(
                f"hex must have an even number of digits (got {len(digits)})"
            )
        return bytes.fromhex(digits)
    if "\\x" in text:
        return _of_literal(text.strip())
    if form == "hex":
        raise click.ClickException(f"hex input has an invalid digit (got {wrong[0]!r})")
    # Without padding or with spaces, many plain words would be valid base64. Such input
    # requires ``--input base64``.
    letters = "".join(text.strip().splitlines())
    if len(letters) % 4 == 0:
        return _of_base64(letters.rstrip("="))
    raise _reject(text)


def _of_base64(letters: str) -> bytes:
    letters = letters.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise _reject(letters) from None


def _reject(text: str) -> click.ClickException:
    shown = text.strip()
    shown = f"{shown[:20]}..." if len(shown) > 20 else shown
    return click.ClickException(
        f"the input is neither hex nor base64 (got {shown!r}); write @FILE to read a"
        " file"
    )


def _of_literal(text: str) -> bytes:
    r"""Parse bytes as programs print them: ``b'\x00\x12abc'``, also without quotes.

    Raises ``ClickException`` for an unknown escape.
    """
    literal = _LITERAL.fullmatch(text)
    content = text if literal is None else literal[2]
    data = bytearray()
    end = 0
    for match in _ESCAPE.finditer(content):
        digits, octal, letter, itself = match.groups()
        if digits or octal:
            data.append((int(digits, 16) if digits else int(octal, 8)) & 0xFF)
        else:
            data += (itself or _LETTERS.get(letter, letter)).encode()
        if match.start() != end:
            break
        end = match.end()
    if end != len(content):
        raise click.ClickException(
            f"unknown escape {content[end : end + 4]!r}; write \\xNN for a byte"
        )
    return bytes(data)


def _of_dump(lines: list[str]) -> bytes | None:
    """Parse a dump of ``xxd``, ``hexdump -C``, ``od`` or a network tool.

    Every line must begin with its offset, and the offsets must match the byte counts.
    Returns None if the lines are not a dump. Raises ``ClickException`` if lines are
    missing, or if the dump swaps the bytes in every pair.
    """
    matches = [_DUMP_LINE.fullmatch(line) for line in lines if line.strip() != "*"]
    rows = []
    for match in matches:
        if match is None:
            return None
        offset, colon, rest = match.groups()
        tokens = _ASCII_COLUMN[colon].sub("", rest or "").split()
        if any(_NO_HEX.search(token) or len(token) % 2 for token in tokens):
            return None
        rows.append((offset, colon, tokens))
    if not rows or not rows[0][2]:
        return None
    if len(rows[0][0]) == 7 and len(rows[0][2][0]) > 2 and len(lines) > 1:
        raise click.ClickException(
            "the dump swaps the bytes of each pair; use xxd or hexdump -C"
        )
    has_colons = all(colon for _, colon, _ in rows)
    if not has_colons and not _is_plain_dump(lines, rows):
        return None
    content = [bytes.fromhex("".join(tokens)) for _, _, tokens in rows]
    for base in (16, 8):
        if _offsets_fit([offset for offset, _, _ in rows], content, base):
            break
    else:
        if not has_colons and len(lines) == len(rows):
            return None
        raise click.ClickException(
            "the offsets of the dump do not match its bytes: lines are missing"
        )
    return b"".join(content)


def _is_plain_dump(lines: list[str], rows: list[tuple[str, str, list[str]]]) -> bool:
    """Whether lines are a dump without colons after the offsets, as opposed to hex."""
    if any(colon for _, colon, _ in rows) or int(rows[0][0], 16):
        return False
    return len(rows) > 1 or (len(rows[0][2][0]) == 2 and "  " in lines[0].strip())


def _offsets_fit(offsets: list[str], content: list[bytes], base: int) -> bool:
    """Whether the offset of each dump line matches the byte count of the lines before.

    ``base`` is the number base of the offsets.
    """
    try:
        expected_offset = int(offsets[0], base)
        for offset, row_bytes in zip(offsets, content, strict=True):
            if int(offset, base) != expected_offset:
                return False
            expected_offset += len(row_bytes)
    except ValueError:  # a digit that is not valid in this base, for example 8 in octal
        return False
    return True
