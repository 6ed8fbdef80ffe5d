# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ApiVersionsHandshake``: requests a broker's versions (KIP-35, KIP-511).

The client sends a request with its maximum version. If the broker does not support this
version, it responds with version 0, which all brokers support, and includes its
supported range. There are no sockets here: the handshake returns outgoing bytes and
accepts frames.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ... import __version__
from ..._limits import DEFAULT, Limits
from ...errors import (
    DecodeError,
    EncodeError,
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersion,
)
from ...messages import ApiVersionsRequest, ApiVersionsResponse, framing
from ...schema import error_codes
from ...schema.versions import VersionRange
from .facts import first_version
from .policy import DEFAULT_POLICY
from .tables import ApiVersionTable, fallback_table

if TYPE_CHECKING:
    from .policy import VersionPolicy

FIRST_WITH_NAMES = first_version("ApiVersionsRequest", "client_software_name")
"""Minimum ApiVersions version that contains the client's software name and version."""

SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Client software names and versions that brokers accept (KIP-511)."""

SILENCE_S = 2.0
"""Time in seconds without a response after which the fallback is used, if configured.

Kafka 0.9 neither responds to ApiVersions nor closes the connection.
"""

HEADER_BYTES = 4
"""Size in bytes of the correlation id. A response of this size contains nothing else
and is called an empty response (document 001, reading A).
"""


HIGHEST_ID = 0x7FFFFFFF
"""Maximum correlation id. The next id is 0."""


class ApiVersionsHandshake:
    """Requests a broker's API versions until there is a table or an error.

    Write the bytes from ``data_to_send``, pass the response frame (without its size) to
    ``receive_frame``, and repeat both steps until ``table`` is set.

    * ``newest``: maximum version for the first request.
    * ``fallback``: release to assume if the broker closes the connection instead of
      responding ("0.9.0").
    * ``client_name``, ``client_version``: name and version of the client software.
    * ``cluster_id``, ``node_id``: expected identity of the broker.

    Every response either completes the handshake or decreases the version, so the
    number of rounds is limited regardless of the peer's behavior.
    Raises ``EncodeError`` if the client's software name or version is invalid,
    ``ValueError`` or ``UnsupportedVersion`` if ``fallback`` is not a supported release,
    and ``LocalProtocolError`` if the policy does not allow any version up to
    ``newest``.
    """

    __slots__ = (
        "_client_id",
        "_correlation_id",
        "_fallback",
        "_identity",
        "_limits",
        "_outgoing",
        "_policy",
        "_software",
        "_version",
        "table",
    )

    def __init__(
        self,
        client_name: str = "kwire",
        client_version: str = __version__,
        *,
        client_id: str | None = "kwire",
        newest: int | None = None,
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        correlation_id: int = 0,
        cluster_id: str | None = None,
        node_id: int = -1,
        limits: Limits = DEFAULT,
    ) -> None:
        for parameter, text in (("name", client_name), ("version", client_version)):
            if not SOFTWARE_NAME.fullmatch(text):
                raise EncodeError(
                    f"client_{parameter} must be letters, digits, dots and dashes (got"
                    f" {text!r:.60})",
                    f"client_software_{parameter}",
                    "ApiVersionsRequest",
                )
        policy_versions = policy.versions(ApiVersionsRequest.api_key)
        allowed_versions = [v for v in policy_versions if newest is None or v <= newest]
        if not allowed_versions:
            raise LocalProtocolError("the policy allows no version of ApiVersions")
        self.table: ApiVersionTable | None = None
        self._software = (client_name, client_version)
        self._client_id = client_id
        self._fallback = None if fallback is None else fallback_table(fallback, policy)
        self._policy = policy
        self._identity = (cluster_id, node_id)
        self._limits = limits
        self._outgoing = b""
        self._request_versions(allowed_versions[-1], correlation_id)

    @property
    def correlation_id(self) -> int:
        """Correlation id of the request in flight."""
        return self._correlation_id

    def data_to_send(self) -> bytes:
        """Remove and return the bytes that must be written, or empty bytes."""
        outgoing, self._outgoing = self._outgoing, b""
        return outgoing

    def receive_frame(self, frame: bytes) -> ApiVersionTable | None:
        """Process a response.

        Return the table, or None if a second request is required.

        Raises ``RemoteProtocolError`` or ``UnsupportedVersion`` if the handshake cannot
        succeed, ``DecodeError`` if the frame cannot be decoded, and
        ``LocalProtocolError`` if the handshake is already complete.
        """
        if self.table is not None:
            raise LocalProtocolError("the handshake is complete; use its table")
        received_id = int.from_bytes(frame[:HEADER_BYTES], "big", signed=True)
        if len(frame) >= HEADER_BYTES and received_id != self._correlation_id:
            raise RemoteProtocolError(
                "the response to ApiVersions has another correlation id (expected"
                f" {self._correlation_id}, got {received_id})"
            )
        # Decode the error code first, because it determines the format of the remaining
        # response.
        error_code = int.from_bytes(frame[HEADER_BYTES : HEADER_BYTES + 2], "big")
        if len(frame) == HEADER_BYTES or error_code == error_codes.UNSUPPORTED_VERSION:
            self._request_versions(
                self._find_lower_version(frame), self._correlation_id + 1
            )
        elif (
            error_code == error_codes.INVALID_REQUEST
            and self._version >= FIRST_WITH_NAMES
        ):
            self._request_versions(
                self._find_nameless_version(), self._correlation_id + 1
            )
        else:
            _, response = framing.decode_response(
                ApiVersionsResponse, frame, self._version, limits=self._limits
            )
            self.table = ApiVersionTable.from_response(response, self._policy)
        return self.table

    def connection_lost(self) -> ApiVersionTable:
        """Return the fallback table after the broker closed the connection.

        The table belongs to the configured ``fallback`` release. Use it on the next
        connection, which must not send ApiVersions.
        Raises ``RemoteProtocolError`` if there is no fallback, or if the handshake was
        already complete.
        """
        if self.table is not None or self._fallback is None:
            raise RemoteProtocolError(
                "the broker closed the connection on the ApiVersions request: it is"
                " older than 0.10.0 (then set fallback to its release), or it"
                " expects TLS or another protocol on this port"
            )
        return self._fallback

    def _find_nameless_version(self) -> int:
        """Return the highest version whose request does not contain the software name.

        The broker has rejected the name. Raises ``RemoteProtocolError`` if the policy
        allows no version without it.
        """
        policy_versions = self._policy.versions(ApiVersionsRequest.api_key)
        nameless_versions = [
            version for version in policy_versions if version < FIRST_WITH_NAMES
        ]
        if not nameless_versions:
            name, software = self._software
            raise RemoteProtocolError(
                f"the broker rejects the client software {name} {software}, and the"
                " policy allows no version of ApiVersions without it"
            )
        return nameless_versions[-1]

    def _find_lower_version(self, frame: bytes) -> int:
        """Return the version of the next request, which is lower than the previous one.

        ``frame`` is the response that rejects the previous version.
        """
        rejected_version = self._version
        try:
            _, answer = framing.decode_response(
                ApiVersionsResponse, frame, 0, limits=self._limits
            )
        except DecodeError:
            # If the response is empty or mixes versions, use version 0, which all
            # brokers support.
            advertised = []
        else:
            key = ApiVersionsRequest.api_key
            advertised = [row for row in answer.api_keys if row.api_key == key]
        max_version = min((row.max_version for row in advertised), default=0)
        lower_versions = [
            version
            for version in self._policy.versions(ApiVersionsRequest.api_key)
            if version <= max_version
        ]
        if max_version >= rejected_version or not lower_versions:
            broker_range = (
                VersionRange(max(advertised[0].min_version, 0), max(max_version, 0))
                if advertised
                else None
            )
            offer = f", but offers {broker_range}" if broker_range else ""
            raise UnsupportedVersion(
                f"the broker does not answer version {rejected_version} of"
                f" ApiVersions{offer}: request not supported by server",
                ApiVersionsRequest.api_key,
                self._policy.range_of(ApiVersionsRequest.api_key),
                broker_range,
            )
        return lower_versions[-1]

    def _request_versions(self, version: int, correlation_id: int) -> None:
        correlation_id &= HIGHEST_ID
        name, software = self._software
        cluster_id, node_id = self._identity
        request = ApiVersionsRequest(
            client_software_name=name,
            client_software_version=software,
            cluster_id=cluster_id,
            node_id=node_id,
        )
        self._version = version
        self._correlation_id = correlation_id
        self._outgoing = framing.encode_request(
            request, version, correlation_id, self._client_id
        )
