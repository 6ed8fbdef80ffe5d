# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits input bytes into frames, message bodies and record sets, or detects them.

The options that ``decode`` and ``explain`` share are defined here. An input with
several frames has several pieces. Other inputs are decoded as one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ... import explain, messages, records
from ...errors import DecodeError, KwireError
from ...explain.apis import find_messages
from ...messages import framing
from ...messages.codec import decode
from ...schema import plan, registry
from .bytes import FORMS, read_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = TypeVar("Command", bound=Callable[..., Any])

_SIZE_BYTES = 4


def add_byte_options(command: Command) -> Command:
    """Add the input argument, and the options that describe the input, to a command."""
    for add in (
        click.option(
            "--input",
            "input_form",
            type=click.Choice(FORMS),
            default="auto",
            help="The encoding of the input; detected by default.",
        ),
        click.option(
            "--records", "is_records", is_flag=True, help="The input is a record set."
        ),
        click.option(
            "--prefixed", is_flag=True, help="The version precedes the message."
        ),
        click.option(
            "--version",
            "-v",
            type=int,
            metavar="N",
            help="The version of the message.",
        ),
        click.option(
            "--message",
            "-m",
            metavar="NAME",
            help="The input is this message, without a header.",
        ),
        click.option(
            "--response",
            "-r",
            metavar="API",
            help="The input is responses of this API: Fetch, or 1.",
        ),
        click.argument("data", metavar="[DATA|@FILE|-]", required=False),
    ):
        command = add(command)
    return command


class Reading(NamedTuple):
    """Decoded piece of an input.

    * ``header``: decoded header, or None if the piece has no header.
    * ``header_version``: version of the header.
    * ``message``: decoded message. For a record set, an iterator over its batches.
    * ``version``: version of the message. Negative for a record set.
    """

    header: Any
    header_version: int
    message: Any
    version: int


MOST_FAILURES = 20
"""Error count after which the remaining pieces are skipped, because the input probably
does not contain Kafka messages.
"""


class BytePiece(NamedTuple):
    """Input range that is decoded separately: ``data[start:end]``.

    * ``form``: "request", "response", "message", "prefixed" or "records".
    * ``sized``: whether the piece is a frame that begins with its size.
    * ``cls`` and ``version``: message class and version, if they are specified.
    """

    form: str
    data: bytes
    start: int
    end: int
    sized: bool = False
    cls: Any = None
    version: int = -1

    def map(self) -> explain.ByteMap:
        """Create the byte map for the piece."""
        if self.form == "records":
            return explain.record_map(self.data)
        if self.form == "prefixed":
            return explain.prefixed_map(self.cls, self.data)
        if self.form == "message":
            return explain.byte_map(self.cls, self.data, self.version)
        asked = () if self.form == "request" else (self.cls, self.version)
        place: Any = {"start": self.start, "end": self.end, "sized": self.sized}
        return explain.frame_map(self.data, *asked, **place)

    def read(self) -> Reading:
        """Decode the piece. Error offsets are relative to the input's first byte.

        Raises ``DecodeError`` if the bytes are not valid.
        """
        if self.form == "records":
            return Reading(None, -1, records.decode_batches(self.data), -1)
        start = self.start + (_SIZE_BYTES if self.sized else 0)
        if self.sized and self._size() != self.end - start:
            error = self.map().error
            assert error is not None
            raise error
        try:
            return self._read(self.data[start : self.end])
        except DecodeError as error:
            location = error.reason, error.offset + start, error.path
            raise type(error)(*location, error.message_name, error.version) from None

    def _size(self) -> int:
        head = self.data[self.start : self.start + _SIZE_BYTES]
        return int.from_bytes(head, "big", signed=True)

    def _read(self, body: bytes) -> Reading:
        if self.form == "prefixed":
            message = framing.decode_prefixed(self.cls, body)
            version = int.from_bytes(body[:2], "big")
            version = min(version, self.cls.valid_versions.max)
            return Reading(None, -1, message, version)
        if self.form == "message":
            message = decode(self.cls, body, self.version)
            return Reading(None, -1, message, self.version)
        if self.form == "request":
            header, message = framing.decode_request(body)
            version = header.request_api_version
            facts = registry.load(type(message).__name__)
            header_version = plan.request_header_version(facts, version)
            return Reading(header, header_version, message, version)
        number, message = framing.decode_response(self.cls, body, self.version)
        # ``decode_response`` does not return the response header's tagged fields, so
        # describe the header as version 0, which does not support tagged fields.
        head = messages.ResponseHeader(correlation_id=number)
        return Reading(head, 0, message, self.version)


class BytePieces(NamedTuple):
    """Pieces of an input.

    * ``pieces``: the pieces in the order of the input.
    * ``hint``: advice for the user that is appended to errors about the first piece.
    """

    pieces: list[BytePiece]
    hint: str = ""


def find_pieces(
    data: str | None,
    input_form: str,
    response: str | None,
    message: str | None,
    version: int | None,
    prefixed: bool,
    is_records: bool,
) -> BytePieces:
    """Read the input, and split it according to the options or the detected content.

    Raises ``UsageError`` or ``ClickException`` if the options or the input are invalid.
    """
    if sum((response is not None, message is not None, is_records)) > 1:
        raise click.UsageError(
            "--response, --message and --records exclude each other; give one of them"
        )
    if prefixed and message is None:
        raise click.UsageError("--prefixed requires --message")
    if version is not None and (prefixed or (response is None and message is None)):
        raise click.UsageError(
            "--version requires --response or --message, and excludes --prefixed"
        )
    cls = None
    if response is not None or message is not None:
        cls = _find_class(response, message)
        if not prefixed:
            version = _choose_version(cls, version)
    content = read_input(data, input_form)
    whole = content, 0, len(content)
    if is_records:
        return BytePieces([BytePiece("records", *whole)])
    if prefixed:
        return BytePieces([BytePiece("prefixed", *whole, cls=cls)])
    asked: dict[str, Any] = {"cls": cls, "version": version}
    if message is not None:
        return BytePieces([BytePiece("message", *whole, **asked)])
    if response is not None:
        frames = list(_frames("response", content, **asked))
        return BytePieces(_choose([frames, [BytePiece("response", *whole, **asked)]]))
    return _guess_pieces(content)


def _find_class(response: str | None, message: str | None) -> Any:
    """Return the message class for a name or API key.

    Raises ``ClickException`` if the name is unknown or ambiguous.
    """
    try:
        names = find_messages(response or message or "")
    except KeyError as error:
        raise click.ClickException(error.args[0]) from None
    if response is not None:
        names = [name for name in names if name.endswith("Response")]
        if not names:
            raise click.ClickException(f"{response} has no response")
    elif len(names) > 1:
        raise click.ClickException(f"{message} is ambiguous; give {' or '.join(names)}")
    return getattr(messages, names[0])


def _choose_version(cls: Any, version: int | None) -> int:
    """Validate a version, or return the only valid version if none is specified."""
    versions = cls.valid_versions
    if version is None and versions.min == versions.max:
        return int(versions.min)
    if version is None:
        raise click.UsageError(
            f"{cls.__name__} has {versions.describe()}; choose one with --version"
        )
    if version not in versions:
        raise click.ClickException(
            f"{cls.__name__} has {versions.describe()} (got {version!s:.40})"
        )
    return version


def _guess_pieces(content: bytes) -> BytePieces:
    """Detect what the input contains, because no option specifies its type."""
    whole = content, 0, len(content)
    frames = list(_frames("request", content))
    candidates = []
    if frames and _is_request(content, _SIZE_BYTES):
        candidates.append(frames)
    if _is_request(content, 0):
        candidates.append([BytePiece("request", *whole)])
    if _is_record_set(content):
        candidates.append([BytePiece("records", *whole)])
    if not candidates:
        raise click.ClickException(
            "the input is neither requests nor record batches; name its type with"
            " --response or --message, and --version"
        )
    return BytePieces(
        _choose(candidates),
        "; if these are not requests, name their type with --response or --message",
    )


def _frames(form: str, content: bytes, **asked: Any) -> Iterator[BytePiece]:
    """Split bytes into frames with a size prefix. The last frame may be incomplete."""
    start = 0
    while start < len(content):
        size = int.from_bytes(content[start : start + _SIZE_BYTES], "big", signed=True)
        end = start + _SIZE_BYTES + size
        if size <= 0 or end > len(content):
            end = len(content)
        yield BytePiece(form, content, start, end, sized=True, **asked)
        start = end


def _is_request(content: bytes, at: int) -> bool:
    """Whether a request header with a known API key may begin at position ``at``."""
    key = int.from_bytes(content[at : at + 2], "big", signed=True)
    return len(content) >= at + 4 and key in registry.keys("request")


def _is_record_set(content: bytes) -> bool:
    try:
        return records.read_batch_header(content) is not None
    except DecodeError:
        return False


def _choose(candidates: list[list[BytePiece]]) -> list[BytePiece]:
    """Choose the first candidate that can be decoded completely.

    If there is none, choose the candidate whose byte map explains the most bytes.
    """
    if len(candidates) > 1:
        for pieces in candidates:
            try:
                for piece in pieces:
                    piece.read()
            except KwireError:
                continue
            return pieces
        return max(candidates, key=_explain)
    return candidates[0]


def _explain(pieces: list[BytePiece]) -> int:
    return sum(
        span.size
        for piece in pieces
        for span in piece.map().spans
        if span.kind != "unread"
    )
