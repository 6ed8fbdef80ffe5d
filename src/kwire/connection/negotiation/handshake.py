# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ApiVersionsHandshake``: finds the versions of a broker (KIP-35, KIP-511).

The client asks in the newest version it knows; a broker that does not know it answers
in version 0, which every broker can write, and names the versions that it does know.
No sockets: bytes to send come out, frames go in.
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
"""The version of ApiVersions from which on clients say what software they are."""

SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""What brokers accept as the name and version of a client's software (KIP-511)."""

SILENCE_S = 2.0
"""Time in seconds after which a broker counts as one that does not answer ApiVersions,
if there is a fallback. Kafka 0.9 neither answers nor closes the connection.
"""

HEADER_BYTES = 4
"""The correlation id: all that an empty response has (document 001, reading A)."""


HIGHEST_ID = 0x7FFFFFFF
"""The correlation id after which they begin at 0 again."""


class ApiVersionsHandshake:
    """Requests a broker's API versions, until there is a table or an error.

    Write what ``data_to_send`` gives, pass each frame (without its size) to
    ``receive_frame``, and both again until ``table`` is there. ``newest`` caps the
    version of the first question; ``fallback`` names the release to assume of a broker
    that hangs up on it ("0.9.0"). Each answer either ends it or lowers the version, so
    it ends after a few rounds whatever the peer says.
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
        for what, text in (("name", client_name), ("version", client_version)):
            if not SOFTWARE_NAME.fullmatch(text):
                raise EncodeError(
                    f"client_{what} must be letters, digits, dots and dashes (got"
                    f" {text!r:.60})",
                    f"client_software_{what}",
                    "ApiVersionsRequest",
                )
        ours = policy.versions(ApiVersionsRequest.api_key)
        allowed = [v for v in ours if newest is None or v <= newest]
        if not allowed:
            raise LocalProtocolError("the policy allows no version of ApiVersions")
        self.table: ApiVersionTable | None = None
        self._software = (client_name, client_version)
        self._client_id = client_id
        self._fallback = None if fallback is None else fallback_table(fallback, policy)
        self._policy = policy
        self._identity = (cluster_id, node_id)
        self._limits = limits
        self._outgoing = b""
        self._ask(allowed[-1], correlation_id)

    @property
    def correlation_id(self) -> int:
        """The correlation id of the request in flight."""
        return self._correlation_id

    def data_to_send(self) -> bytes:
        """Return the bytes to write now, once; empty if there are none."""
        outgoing, self._outgoing = self._outgoing, b""
        return outgoing

    def receive_frame(self, frame: bytes) -> ApiVersionTable | None:
        """Take the response; return the table, or None if another request follows.

        ``RemoteProtocolError`` or ``UnsupportedVersion`` if the broker leaves no way,
        ``DecodeError`` if its bytes are wrong.
        """
        if self.table is not None:
            raise LocalProtocolError("the handshake is complete; use its table")
        came = int.from_bytes(frame[:HEADER_BYTES], "big", signed=True)
        if len(frame) >= HEADER_BYTES and came != self._correlation_id:
            raise RemoteProtocolError(
                "the response to ApiVersions has another correlation id (expected"
                f" {self._correlation_id}, got {came})"
            )
        # How to read what comes after the error depends on it, so it is read first.
        error = int.from_bytes(frame[HEADER_BYTES : HEADER_BYTES + 2], "big")
        if len(frame) == HEADER_BYTES or error == error_codes.UNSUPPORTED_VERSION:
            self._ask(self._lower_version(frame), self._correlation_id + 1)
        elif error == error_codes.INVALID_REQUEST and self._version >= FIRST_WITH_NAMES:
            self._ask(self._nameless_version(), self._correlation_id + 1)
        else:
            _, response = framing.decode_response(
                ApiVersionsResponse, frame, self._version, limits=self._limits
            )
            self.table = ApiVersionTable.from_response(response, self._policy)
        return self.table

    def connection_lost(self) -> ApiVersionTable:
        """Handle a connection closed on the request; return the table to assume.

        The table is that of the release given as ``fallback``, and meant for the next
        connection, which does not ask. Without one: ``RemoteProtocolError``.
        """
        if self.table is not None or self._fallback is None:
            raise RemoteProtocolError(
                "the broker closed the connection on the ApiVersions request: it is"
                " older than 0.10.0 (then set fallback to its release), or it"
                " expects TLS or another protocol on this port"
            )
        return self._fallback

    def _nameless_version(self) -> int:
        """Find a version without the client software, which the broker rejected."""
        ours = self._policy.versions(ApiVersionsRequest.api_key)
        nameless = [version for version in ours if version < FIRST_WITH_NAMES]
        if not nameless:
            name, software = self._software
            raise RemoteProtocolError(
                f"the broker rejects the client software {name} {software}, and the"
                " policy allows no version of ApiVersions without it"
            )
        return nameless[-1]

    def _lower_version(self, frame: bytes) -> int:
        """Find the next version to try; it is lower than the last one."""
        asked = self._version
        try:
            _, answer = framing.decode_response(
                ApiVersionsResponse, frame, 0, limits=self._limits
            )
        except DecodeError:
            # Empty, or some mix of versions: version 0 is what all can write.
            listed = []
        else:
            key = ApiVersionsRequest.api_key
            listed = [each for each in answer.api_keys if each.api_key == key]
        newest = min((each.max_version for each in listed), default=0)
        ours = [
            version
            for version in self._policy.versions(ApiVersionsRequest.api_key)
            if version <= newest
        ]
        if newest >= asked or not ours:
            theirs = (
                VersionRange(max(listed[0].min_version, 0), max(newest, 0))
                if listed
                else None
            )
            offer = f", but offers {theirs}" if theirs else ""
            raise UnsupportedVersion(
                f"the broker does not answer version {asked} of ApiVersions{offer}:"
                " request not supported by server",
                ApiVersionsRequest.api_key,
                self._policy.range_of(ApiVersionsRequest.api_key),
                theirs,
            )
        return ours[-1]

    def _ask(self, version: int, correlation_id: int) -> None:
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
