# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 000: one number for all versions that a broker supports.

Every change of the protocol makes a new protocol version, and each has documentation
that says which versions of which API belong to it. A broker sends its number in
Metadata v1, and the client looks the rest up. The number means something on this
connection only.

The request is the same bytes as Kafka's Metadata v1 for all topics, and the version is
the same: only configuration can tell which of the two a broker speaks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._limits import DEFAULT, Limits
from ..connection.negotiation import DEFAULT_POLICY
from ..errors import InvalidValue, UnsupportedVersion
from ..messages import codec
from ..schema import releases
from . import exchange
from .documents import Provenance, message_class
from .version_lists import list_versions, make_version_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..connection.negotiation import ApiVersionTable, VersionPolicy
    from .version_lists import Versions

    Documents: TypeAlias = Mapping[int, Mapping[int, Versions]]

PROVENANCE = Provenance(
    35, "one protocol version per broker, in Metadata v1", "document 000"
)

VERSION = 1
"""The version of Metadata that the draft takes."""

MetadataRequest = message_class("kip35_api_version_metadata_request")
MetadataResponse = message_class("kip35_api_version_metadata_response")

_BUILD_DESCRIPTION = re.compile(r"\d+(\.\d+)+(\.X)?(-IV\d+)?", re.ASCII)
"""What builds are called: "0.8.2.X", "0.10.0-IV0", "0.10.1.1"."""

_DESCRIPTION_AT = 4
"""Bytes from the start of a body to the text: after an INT16 and a length."""

_UNKNOWN_TOPIC_OR_PARTITION = 3


def decode(frame: bytes, start: int = 0, *, limits: Limits = DEFAULT) -> Any:
    """Decode a ``MetadataResponse`` that takes all of ``frame`` from byte ``start``.

    Shape: INT16 protocol version, STRING build description, then brokers and topics as
    in Metadata v0. ``DecodeError`` for all else; the build description has to be the
    name of a release, as little else differs between the draft and Kafka's Metadata v1.
    """
    response = exchange.read_body(MetadataResponse, frame, start, VERSION, limits)
    described = response.api_version.build_description
    if not _BUILD_DESCRIPTION.fullmatch(described):
        raise InvalidValue(
            "the build description must be the name of a release (got"
            f" {described!r:.60}); a broker of released Kafka does not speak this"
            " draft",
            start + _DESCRIPTION_AT,
            "api_version.build_description",
            "MetadataResponse",
            VERSION,
        )
    return response


def documented_table(
    protocol_version: int,
    documents: Documents | None = None,
    policy: VersionPolicy = DEFAULT_POLICY,
) -> ApiVersionTable:
    """Look up the API versions that a protocol version means.

    ``documents`` maps protocol versions to API keys and the versions of each, in any
    form that ``version_lists`` describes: ``[0, 1]``, ``(0, 1)``, "0-1". Without it,
    the documentation is that of the releases of Kafka. ``UnsupportedVersion`` for a
    number that has no documentation: nothing can be guessed from its neighbours.
    """
    try:
        if documents is not None:
            documented = documents[protocol_version]
        else:
            release = releases.protocol_version(protocol_version).release
            documented = releases.ranges(release)
    except KeyError:
        raise UnsupportedVersion(
            f"kwire has no documentation of protocol version {protocol_version}; a"
            " newer client may have it"
        ) from None
    listed = {key: list_versions(each) for key, each in documented.items()}
    return make_version_table(listed, policy)


class ClientStrategy(exchange.Question):
    """Asks with null topics, and looks up the protocol version that comes back.

    ``response`` is what the broker said, once it has: its build description is for
    messages and logs.
    """

    def __init__(
        self,
        *,
        documents: Documents | None = None,
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        client_id: str | None = "kwire",
        correlation_id: int = 0,
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(
            MetadataRequest.api_key,
            VERSION,
            codec.encode(MetadataRequest(topics=None), VERSION),
            fallback=fallback,
            policy=policy,
            client_id=client_id,
            correlation_id=correlation_id,
            limits=limits,
        )
        self.response: Any = None
        self._documents = documents

    def _read_table(self, frame: bytes, start: int) -> ApiVersionTable:
        response = decode(frame, start, limits=self._limits)
        number = response.api_version.protocol_version
        table = documented_table(number, self._documents, self._policy)
        self.response = response
        return table


class Server(exchange.Answerer):
    """Answers Metadata v1 of the draft.

    ``protocol`` is the number or the name ("0.10.0-IV0") of what it speaks,
    ``documents`` as for ``documented_table``. With null topics a client gets no topics;
    with an empty list all of ``topics``, as in Metadata v0; else those that it names.
    """

    def __init__(
        self,
        protocol: int | str,
        build_description: str | None = None,
        *,
        documents: Documents | None = None,
        brokers: Iterable[Any] = (),
        topics: Iterable[Any] = (),
        on_unsupported: Literal["empty", "close"] = "empty",
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(
            MetadataRequest.api_key,
            VERSION,
            on_unsupported=on_unsupported,
            limits=limits,
        )
        if build_description is None or isinstance(protocol, str):
            known = releases.protocol_version(protocol)
            protocol = known.id
            build_description = build_description or known.name
        self.table = documented_table(protocol, documents)
        self._api_version = MetadataResponse.ApiVersion(
            protocol_version=protocol, build_description=build_description
        )
        self._brokers = tuple(brokers)
        self._topics = {topic.name: topic for topic in topics}

    def _answer_body(self, frame: bytes, start: int, client_id: str | None) -> bytes:
        request = exchange.read_body(
            MetadataRequest, frame, start, VERSION, self._limits
        )
        response = MetadataResponse(
            api_version=self._api_version,
            brokers=self._brokers,
            topics=self._choose(request.topics),
        )
        return codec.encode(response, VERSION)

    def _choose(self, names: tuple[str, ...] | None) -> list[Any]:
        if names is None:
            return []
        if not names:
            return list(self._topics.values())
        return [
            self._topics.get(name)
            or MetadataResponse.TopicMetadata(
                error_code=_UNKNOWN_TOPIC_OR_PARTITION, name=name
            )
            for name in dict.fromkeys(names)
        ]
