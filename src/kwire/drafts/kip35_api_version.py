# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 000: one number represents all versions that a broker supports.

Every protocol change increments the protocol version. Its documentation specifies the
versions of every API. A broker sends its protocol version in Metadata v1, and the
client looks up the API versions. The number is only valid for this connection.

The request has exactly the bytes of Kafka's Metadata v1 for all topics, including the
version. Therefore only configuration can specify which protocol a broker implements.
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
"""Version of Metadata that the draft defines and uses for its requests."""

MetadataRequest = message_class("kip35_api_version_metadata_request")
MetadataResponse = message_class("kip35_api_version_metadata_response")

_BUILD_DESCRIPTION = re.compile(r"\d+(\.\d+)+(\.X)?(-IV\d+)?", re.ASCII)
"""Valid build descriptions, for example "0.8.2.X", "0.10.0-IV0" and "0.10.1.1"."""

_DESCRIPTION_AT = 4
"""Position of the build description in a body, after an INT16 and a length (bytes)."""

_UNKNOWN_TOPIC_OR_PARTITION = 3


def decode(frame: bytes, start: int = 0, *, limits: Limits = DEFAULT) -> Any:
    """Decode a ``MetadataResponse`` from byte ``start`` to the end of ``frame``.

    The layout is INT16 protocol version, STRING build description, then brokers and
    topics as in Metadata v0. Raises ``DecodeError`` if the bytes do not match, or if
    the build description is not a release name. This name is validated because the
    draft hardly differs from Kafka's Metadata v1 otherwise.
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
    """Find the API versions for a protocol version.

    ``documents`` maps protocol versions to API keys and their versions, in any form
    that ``version_lists`` accepts: ``[0, 1]``, ``(0, 1)``, "0-1". The default
    documentation describes Kafka's releases.

    Raises ``UnsupportedVersion`` if the protocol version is not documented, because its
    versions cannot be derived from adjacent protocol versions.
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
    listed = {
        key: list_versions(api_versions) for key, api_versions in documented.items()
    }
    return make_version_table(listed, policy)


class ClientStrategy(exchange.Question):
    """Requests Metadata with null topics, and looks up the received protocol version.

    ``response`` is the decoded response after it has been received. Its build
    description is intended for messages and logs.
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
    """Answers Metadata v1 requests according to the draft.

    * ``protocol``: supported protocol version as number or name ("0.10.0-IV0").
    * ``build_description``: release name in the responses. Default: the name of
      ``protocol``.
    * ``documents``: documentation as in ``documented_table``.
    * ``topics``: a request with null topics receives no topics, and a request with an
      empty list receives all of them, as in Metadata v0. Otherwise, the requested
      topics are returned.
    * ``brokers``: brokers in every response.

    Raises ``KeyError`` if kwire does not know a name, or a number without
    ``build_description``. Raises ``UnsupportedVersion`` as ``documented_table`` does.
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
            known_version = releases.protocol_version(protocol)
            protocol = known_version.id
            build_description = build_description or known_version.name
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
