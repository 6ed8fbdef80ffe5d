# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire's exception tree, and the one place where failures get their words.

An engine never writes a sentence. It notes a fault (one of the numbers below) with
the byte offset and one number of detail, and ``decode_failure`` or
``encode_failure`` turns that into the exception, so that both engines say the same
in the same words. ``TypeError`` is for programming mistakes and has no place here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .versions import VersionRange


class KwireError(Exception):
    """The root: every exception that kwire raises on purpose about data."""


class DecodeError(KwireError, ValueError):
    """The bytes are wrong, and the peer that wrote them is to blame.

    ``offset`` is a position in the input of the call, in bytes; ``path`` names the
    field (``topics[3].name``, empty for the message as a whole); ``message_name``
    and ``version`` say what was being read.
    """

    def __init__(
        self,
        reason: str,
        offset: int = 0,
        path: str = "",
        message_name: str = "",
        version: int | None = None,
    ) -> None:
        super().__init__(reason, offset, path, message_name, version)
        self.reason = reason
        self.offset = offset
        self.path = path
        self.message_name = message_name
        self.version = version

    def __str__(self) -> str:
        subject = _subject(self.message_name, self.version, self.path)
        return f"{subject}byte {self.offset}: {self.reason}"


class Truncated(DecodeError):
    """The input ends inside a value; ``offset`` is the end of what was searched."""


class InvalidLength(DecodeError):
    """A length or count cannot be right; ``offset`` is its first byte."""


class InvalidVarint(DecodeError):
    """A varint is too long or too large; ``offset`` is its first byte."""


class InvalidValue(DecodeError):
    """A value breaks a rule: an unexpected null, bad UTF-8, a tag out of order."""


class InvalidJson(InvalidValue):
    """A JSON form is not that of the message; it has no bytes, so ``offset`` is 0."""

    def __str__(self) -> str:
        return f"{_subject(self.message_name, self.version, self.path)}{self.reason}"


class TrailingBytes(DecodeError):
    """Bytes are left over; ``offset`` is the first spare one."""


class CorruptBatch(DecodeError):
    """A record batch is damaged; ``offset`` is the first byte of the batch."""


class LimitExceeded(DecodeError):
    """The input is over a ceiling of ``kwire.Limits``."""


class EncodeError(KwireError, ValueError):
    """The value is wrong, and the caller is to blame.

    ``path`` names the field, ``expected`` says what would have been right.
    """

    def __init__(
        self,
        expected: str,
        path: str = "",
        message_name: str = "",
        version: int | None = None,
    ) -> None:
        super().__init__(expected, path, message_name, version)
        self.expected = expected
        self.path = path
        self.message_name = message_name
        self.version = version

    def __str__(self) -> str:
        subject = _subject(self.message_name, self.version, self.path)
        return f"{subject}{self.expected}"


class UnsupportedVersion(KwireError):
    """No version fits: the text names what was asked for and what there is.

    ``api_key`` is the API's number, ``ours`` what this side speaks of it and
    ``theirs`` what the peer does (``VersionRange``); None where that is not known.
    """

    def __init__(
        self,
        reason: str,
        api_key: int | None = None,
        ours: VersionRange | None = None,
        theirs: VersionRange | None = None,
    ) -> None:
        super().__init__(reason, api_key, ours, theirs)
        self.reason = reason
        self.api_key = api_key
        self.ours = ours
        self.theirs = theirs

    def __str__(self) -> str:
        return self.reason


class ProtocolError(KwireError):
    """A rule of connections is broken; ``reason`` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LocalProtocolError(ProtocolError):
    """The caller asked for what the connection cannot do, and is to blame."""


class RemoteProtocolError(ProtocolError):
    """The peer did what no broker or client does: the connection is of no more use."""


class SchemaError(KwireError, ValueError):
    """A schema breaks a rule of Kafka's message language.

    ``rule`` is a short name of the rule, ``path`` the field within ``message_name``,
    ``line`` and ``column`` (from 1; 0 where unknown) the position in the text.
    """

    def __init__(
        self,
        reason: str,
        rule: str = "",
        path: str = "",
        message_name: str = "",
        line: int = 0,
        column: int = 0,
    ) -> None:
        super().__init__(reason, rule, path, message_name, line, column)
        self.reason = reason
        self.rule = rule
        self.path = path
        self.message_name = message_name
        self.line = line
        self.column = column

    def __str__(self) -> str:
        subject = ": ".join(part for part in (self.message_name, self.path) if part)
        where = f"line {self.line}, column {self.column}: " if self.line else ""
        rule = f" [{self.rule}]" if self.rule else ""
        return f"{where}{subject}{': ' if subject else ''}{self.reason}{rule}"


def _subject(message_name: str, version: int | None, path: str) -> str:
    name = message_name if version is None else f"{message_name} v{version}".lstrip()
    return "".join(f"{part}: " for part in (name, path) if part)


# What can be wrong with bytes. The engines know these by number.
(
    TRUNCATED,
    BAD_LENGTH,
    BAD_COUNT,
    STRING_TOO_LONG,
    BAD_VARINT,
    BAD_VARLONG,
    UNEXPECTED_NULL,
    BAD_UTF8,
    BAD_MARKER,
    TAG_OUT_OF_ORDER,
    TAG_NOT_IN_VERSION,
    TRAILING_BYTES,
    FRAME_TOO_LARGE,
    BAD_BATCH_SIZE,
    BAD_MAGIC,
    BAD_CRC,
    BAD_RECORD_COUNT,
    BAD_CODEC,
    NULL_WRAPPER,
    EMPTY_WRAPPER,
    BAD_INNER_MESSAGE,
    BAD_WRAPPER_OFFSET,
    TOO_MANY_RECORDS,
    COLUMN_TOO_LARGE,
    INPUT_CHANGED,
) = range(1, 26)

_DECODE_FAULTS: dict[int, tuple[type[DecodeError], str]] = {
    TRUNCATED: (Truncated, "the input ends here, bytes still needed: {}"),
    BAD_LENGTH: (InvalidLength, "{} is not a valid length"),
    BAD_COUNT: (InvalidLength, "a count of {} cannot fit in the bytes that are left"),
    STRING_TOO_LONG: (InvalidLength, "a string of {} bytes is over Kafka's 32767"),
    BAD_VARINT: (InvalidVarint, "not a varint of at most 32 bits"),
    BAD_VARLONG: (InvalidVarint, "not a varint of at most 64 bits"),
    UNEXPECTED_NULL: (InvalidValue, "null where this version allows none"),
    BAD_UTF8: (InvalidValue, "not UTF-8"),
    BAD_MARKER: (InvalidValue, "{} does not mark a struct as null or present"),
    TAG_OUT_OF_ORDER: (InvalidValue, "tag {} does not follow in ascending order"),
    TAG_NOT_IN_VERSION: (InvalidValue, "tag {} is not valid in this version"),
    TRAILING_BYTES: (TrailingBytes, "bytes left over: {}"),
    FRAME_TOO_LARGE: (
        LimitExceeded,
        "{} bytes are over the ceiling; pass limits=kwire.Limits(frame_bytes=...)"
        " to allow more",
    ),
    BAD_BATCH_SIZE: (CorruptBatch, "{} bytes are too few for an entry of its format"),
    BAD_MAGIC: (CorruptBatch, "magic {} is none of 0, 1 and 2"),
    BAD_CRC: (CorruptBatch, "the bytes have the checksum {:#010x}, not the one stored"),
    BAD_RECORD_COUNT: (CorruptBatch, "{} records cannot stand in these bytes"),
    BAD_CODEC: (CorruptBatch, "no compression has the number {} in this format"),
    NULL_WRAPPER: (CorruptBatch, "a compressed message without a value"),
    EMPTY_WRAPPER: (CorruptBatch, "a compressed message that holds no message"),
    BAD_INNER_MESSAGE: (
        CorruptBatch,
        "message {} within a compressed one is compressed itself or of another magic",
    ),
    BAD_WRAPPER_OFFSET: (
        CorruptBatch,
        "the offset of a compressed message is below {}, the last one within it",
    ),
    TOO_MANY_RECORDS: (
        LimitExceeded,
        "{} records are over the ceiling; pass limits=kwire.Limits(records=...) to"
        " allow more",
    ),
    COLUMN_TOO_LARGE: (
        LimitExceeded,
        "a column over 2 GiB; decode fewer bytes in one call",
    ),
    INPUT_CHANGED: (
        InvalidValue,
        "the input changed while it was read; pass bytes that nothing writes to",
    ),
}


def decode_failure(
    fault: int,
    detail: int,
    offset: int,
    path: str,
    message_name: str = "",
    version: int | None = None,
) -> DecodeError:
    """Build the exception for one of the decode faults above."""
    kind, words = _DECODE_FAULTS[fault]
    return kind(words.format(detail), offset, path, message_name, version)


# What can be wrong with values.
(
    WRONG_TYPE,
    OUT_OF_RANGE,
    NULL_NOT_ALLOWED,
    TEXT_TOO_LONG,
    NOT_UTF8,
    NOT_IN_VERSION,
    TAGS_NOT_IN_VERSION,
    TAGS_NOT_PAIRS,
    TAGS_OUT_OF_ORDER,
    TOO_LARGE,
) = range(101, 111)

_ENCODE_FAULTS: dict[int, str] = {
    WRONG_TYPE: "expected {expected}, got {got}",
    OUT_OF_RANGE: "expected {expected}, got {value}",
    NULL_NOT_ALLOWED: "expected {expected}, got None, which this version cannot carry",
    TEXT_TOO_LONG: "expected at most 32767 bytes of UTF-8, got a longer string",
    NOT_UTF8: "expected text that UTF-8 can carry, got a lone surrogate",
    NOT_IN_VERSION: ("this version lacks the field; expected its default, got {value}"),
    TAGS_NOT_IN_VERSION: "expected no tagged fields, this version cannot carry them",
    TAGS_NOT_PAIRS: "expected a tuple of (tag, bytes) pairs, got {value}",
    TAGS_OUT_OF_ORDER: (
        "expected ascending tags that the schema does not use, got {value}"
    ),
    TOO_LARGE: "expected less than 2 GiB",
}


def encode_failure(
    fault: int,
    expected: str,
    value: object,
    path: str,
    message_name: str = "",
    version: int | None = None,
) -> EncodeError:
    """Build the exception for one of the encode faults above."""
    words = _ENCODE_FAULTS[fault].format(
        expected=expected, got=type(value).__name__, value=quote(value, 80)
    )
    return EncodeError(words, path, message_name, version)


_BRACKETS: dict[type, tuple[str, str]] = {
    tuple: ("(", ")"),
    list: ("[", "]"),
    dict: ("{", "}"),
    set: ("{", "}"),
}


def quote(value: object, most: int = 40) -> str:
    """Write a value of the caller's into an error: as ``repr`` does, but cut.

    Of strings and of Python's own containers, at any depth, no more is written than is
    shown, so a tuple of a million elements costs no more than one of a hundred.
    """
    text = ""
    try:
        for piece in _pieces(value, most):
            text += piece
            if len(text) > most:
                return f"{text[: most - 3]}..."
    except MemoryError:
        raise
    except Exception:  # an int of 5000 digits, or an object with a mind of its own
        return f"<{type(value).__name__}>"
    return text


def _pieces(value: object, most: int) -> Iterator[str]:
    """Write a value piece by piece, so that the rest may be left away."""
    kind = type(value)
    if isinstance(value, (str, bytes, bytearray)):
        yield repr(value[: most + 1])
    elif isinstance(value, (tuple, list, dict, set)) and kind in _BRACKETS and value:
        first, last = _BRACKETS[kind]
        yield first
        for index, element in enumerate(value):
            if index:
                yield ", "
            yield from _pieces(element, most)
            if isinstance(value, dict):
                yield ": "
                yield from _pieces(value[element], most)
        yield f",{last}" if kind is tuple and len(value) == 1 else last
    elif hasattr(kind, "__match_args__") and hasattr(kind, "to_dict"):
        yield f"{kind.__name__}(...)"
    else:
        yield repr(value)
