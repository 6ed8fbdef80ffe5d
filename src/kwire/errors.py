# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire's exceptions, and the messages for errors that the engines detect.

The engines do not contain messages. When an engine detects an error, it reports an
error code (see below) with the byte offset and a number. ``decode_failure`` and
``encode_failure`` create the exception from these values, so that both engines raise
identical exceptions. ``TypeError`` indicates an error in the caller's code, and is
raised where it is detected.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .schema.versions import VersionRange


class KwireError(Exception):
    """Base class for errors in data, values, protocols, clusters and jobs."""


class DecodeError(KwireError, ValueError):
    """The bytes are invalid. Their writer caused the error, not the caller.

    * ``offset``: byte position in the input of the call.
    * ``path``: the field (``topics[3].name``), or empty for the whole message.
    * ``message_name``, ``version``: the message that was being decoded.
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
        subject = _format_subject(self.message_name, self.version, self.path)
        return f"{subject}byte {self.offset}: {self.reason}"


class Truncated(DecodeError):
    """The input ends inside a value. ``offset`` is the end of the input."""


class InvalidLength(DecodeError):
    """A length or count is not possible. ``offset`` is its first byte."""


class InvalidVarint(DecodeError):
    """A varint is too long or too large. ``offset`` is its first byte."""


class InvalidValue(DecodeError):
    """A value is not allowed: an unexpected null, invalid UTF-8, an unordered tag."""


class InvalidJson(InvalidValue):
    """A JSON object does not match the message.

    ``offset`` is 0, because there are no bytes.
    """

    def __str__(self) -> str:
        subject = _format_subject(self.message_name, self.version, self.path)
        return f"{subject}{self.reason}"


class TrailingBytes(DecodeError):
    """There are additional bytes after the message.

    ``offset`` is the first additional byte.
    """


class CorruptBatch(DecodeError):
    """A record batch is damaged. ``offset`` is the batch's first byte."""


class LimitExceeded(DecodeError):
    """The input exceeds a limit in ``kwire.Limits``, or a column exceeds 2 GiB."""


class EncodeError(KwireError, ValueError):
    """A value cannot be encoded. The caller caused the error.

    ``path`` is the field, and ``expected`` describes the expected value.
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
        subject = _format_subject(self.message_name, self.version, self.path)
        return f"{subject}{self.expected}"


class UnsupportedVersion(KwireError):
    """A message or API does not have the version, or there is no common version.

    * ``api_key``: number of the API.
    * ``ours``: versions that this side supports (``VersionRange``).
    * ``theirs``: versions that the peer supports (``VersionRange``).

    Unknown attributes are None.
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
    """A rule of the connection protocol was violated. ``reason`` describes it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LocalProtocolError(ProtocolError):
    """The caller performed an operation that the connection state does not allow."""


class RemoteProtocolError(ProtocolError):
    """The peer violated the protocol. The connection is no longer usable."""


class SchemaError(KwireError, ValueError):
    """A schema violates a rule of Kafka's message language.

    * ``rule``: short name of the rule.
    * ``path``: field in ``message_name``.
    * ``line``, ``column``: position in the text, counted from 1, or 0 if unknown.
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
        location = f"line {self.line}, column {self.column}: " if self.line else ""
        rule = f" [{self.rule}]" if self.rule else ""
        return f"{location}{subject}{': ' if subject else ''}{self.reason}{rule}"


def _format_subject(message_name: str, version: int | None, path: str) -> str:
    name = message_name if version is None else f"{message_name} v{version}".lstrip()
    return "".join(f"{part}: " for part in (name, path) if part)


# Error codes for invalid bytes. The engines use these numbers.
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
    TOO_MANY_ELEMENTS,
    TOO_MANY_TAGS,
    CALL_TOO_LARGE,
    BAD_RECORD,
) = range(1, 30)

_DECODE_FAULTS: dict[int, tuple[type[DecodeError], str]] = {
    TRUNCATED: (Truncated, "the input ends here, bytes still needed: {}"),
    BAD_LENGTH: (InvalidLength, "{} is not a valid length"),
    BAD_COUNT: (InvalidLength, "a count of {} cannot fit in the bytes that are left"),
    STRING_TOO_LONG: (
        InvalidLength,
        "a string of {} bytes exceeds Kafka's limit of 32767",
    ),
    BAD_VARINT: (InvalidVarint, "not a varint of at most 32 bits"),
    BAD_VARLONG: (InvalidVarint, "not a varint of at most 64 bits"),
    UNEXPECTED_NULL: (InvalidValue, "null is not allowed in this version"),
    BAD_UTF8: (InvalidValue, "not UTF-8"),
    BAD_MARKER: (InvalidValue, "{} does not mark a struct as null or present"),
    TAG_OUT_OF_ORDER: (InvalidValue, "tags must be in ascending order (got tag {})"),
    TAG_NOT_IN_VERSION: (InvalidValue, "tag {} is not valid in this version"),
    TRAILING_BYTES: (TrailingBytes, "bytes left over: {}"),
    FRAME_TOO_LARGE: (
        LimitExceeded,
        "{} bytes are over the limit; pass limits=kwire.Limits(frame_bytes=...)"
        " to allow more",
    ),
    BAD_BATCH_SIZE: (
        CorruptBatch,
        "a batch of {} bytes is smaller than its own header",
    ),
    BAD_MAGIC: (CorruptBatch, "magic must be 0, 1 or 2 (got {})"),
    BAD_CRC: (
        CorruptBatch,
        "the computed checksum is {:#010x}, but the header has another",
    ),
    BAD_RECORD_COUNT: (CorruptBatch, "{} records cannot fit in these bytes"),
    BAD_CODEC: (CorruptBatch, "compression codec {} does not exist in this magic"),
    NULL_WRAPPER: (CorruptBatch, "a compressed message without a value"),
    EMPTY_WRAPPER: (CorruptBatch, "a compressed message without inner messages"),
    BAD_INNER_MESSAGE: (
        CorruptBatch,
        "inner message {} of a compressed message is compressed or has another magic",
    ),
    BAD_WRAPPER_OFFSET: (
        CorruptBatch,
        "the offset of a compressed message is below its last inner offset, {}",
    ),
    TOO_MANY_RECORDS: (
        LimitExceeded,
        "{} records are over the limit; pass limits=kwire.Limits(records=...) to"
        " allow more",
    ),
    COLUMN_TOO_LARGE: (
        LimitExceeded,
        "a column over 2 GiB; decode fewer bytes in one call",
    ),
    CALL_TOO_LARGE: (
        LimitExceeded,
        "the batches of this call hold more than {} bytes after decompression (a"
        " record counts as 64 bytes or more); decode fewer batches in one call, or pass"
        " limits=kwire.Limits(total_decompressed_bytes=...) to allow more",
    ),
    BAD_RECORD: (
        CorruptBatch,
        "record {} has attributes over 127, an offset out of order or outside of its"
        " batch, or a timestamp over 64 bits",
    ),
    INPUT_CHANGED: (
        InvalidValue,
        "the input changed during decoding; pass bytes that no other code modifies",
    ),
    TOO_MANY_ELEMENTS: (
        LimitExceeded,
        "an array of {} elements is over the limit; pass"
        " limits=kwire.Limits(array_elements=...) to allow more",
    ),
    TOO_MANY_TAGS: (
        LimitExceeded,
        "{} tagged fields are over the limit; pass"
        " limits=kwire.Limits(tagged_fields=...) to allow more",
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
    """Create the exception for an error code that concerns the input bytes.

    * ``fault``: error code.
    * ``detail``: number for the message, for example the invalid length.
    * ``offset``: byte position in the input of the call.
    """
    error_class, template = _DECODE_FAULTS[fault]
    return error_class(template.format(detail), offset, path, message_name, version)


# Error codes for values that cannot be encoded.
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
    NULL_NOT_ALLOWED: "cannot be null in this version (expected {expected})",
    TEXT_TOO_LONG: "expected at most 32767 bytes of UTF-8, got a longer string",
    NOT_UTF8: "expected text that UTF-8 can encode, got a lone surrogate",
    NOT_IN_VERSION: "this version lacks the field; leave its default (got {value})",
    TAGS_NOT_IN_VERSION: "this version has no tagged fields; leave them empty",
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
    """Create the exception for an error code that concerns a value to encode.

    ``expected`` describes the valid values for the message. ``value`` is quoted with at
    most 80 characters.
    """
    text = _ENCODE_FAULTS[fault].format(
        expected=expected, got=type(value).__name__, value=quote(value, 80)
    )
    return EncodeError(text, path, message_name, version)


def version_failure(
    name: str, versions: VersionRange, version: object
) -> UnsupportedVersion:
    """Create the exception for a version that a message does not have."""
    text = f"{name} has {versions.describe()} (got {quote(version)})"
    if version is None:
        text += "; pass version=, the version that is on the wire"
    return UnsupportedVersion(text)


_BRACKETS: dict[type, tuple[str, str]] = {
    tuple: ("(", ")"),
    list: ("[", "]"),
    dict: ("{", "}"),
    set: ("{", "}"),
}


def quote(value: object, most: int = 40) -> str:
    """Format a value for an error message, with at most ``most`` characters.

    The format is identical to ``repr``. Strings and built-in containers are only
    formatted up to the limit, so the time does not depend on the element count. If
    ``repr`` fails, the result is the type name.
    """
    text = ""
    try:
        for piece in _format_parts(value, most):
            text += piece
            if len(text) > most:
                return f"{text[: most - 3]}..."
    except MemoryError:
        raise
    # ``repr`` fails for an int with thousands of digits, and may fail for an object of
    # a user's class.
    except Exception:
        return f"<{type(value).__name__}>"
    return text


def _format_parts(value: object, most: int) -> Iterator[str]:
    """Format a value in parts, so that the caller can stop early."""
    cls = type(value)
    if isinstance(value, (str, bytes, bytearray)):
        yield repr(value[: most + 1])
    elif isinstance(value, (tuple, list, dict, set)) and cls in _BRACKETS and value:
        opening, closing = _BRACKETS[cls]
        yield opening
        for index, element in enumerate(value):
            if index:
                yield ", "
            yield from _format_parts(element, most)
            if isinstance(value, dict):
                yield ": "
                yield from _format_parts(value[element], most)
        yield f",{closing}" if cls is tuple and len(value) == 1 else closing
    elif hasattr(cls, "__match_args__") and hasattr(cls, "to_dict"):
        yield f"{cls.__name__}(...)"
    else:
        yield repr(value)
