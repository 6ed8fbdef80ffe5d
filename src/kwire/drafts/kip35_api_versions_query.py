# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 004: ranges of versions, of all APIs or of some.

Close to what Kafka 0.10.0 released as ApiVersions. What differs: the request may name
API keys (null asks for all; an empty list, of which the document says nothing, for
none), and the response has no error code. The document gives no API key, so the caller
chooses one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._limits import DEFAULT, Limits
from ..connection.negotiation import DEFAULT_POLICY, ApiVersionTable
from ..errors import RemoteProtocolError
from ..messages import ApiVersionsResponse, codec
from ..schema.versions import NONE, VersionRange
from . import exchange
from .documents import Provenance, message_class
from .version_lists import list_versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..connection.negotiation import VersionPolicy
    from .version_lists import Versions

PROVENANCE = Provenance(35, "ranges of versions in ApiVersionRequest", "document 004")

VERSION = 0

ApiVersionRequest = message_class("kip35_api_versions_query_request")
ApiVersionResponse = message_class("kip35_api_versions_query_response")


def decode(frame: bytes, start: int = 0, *, limits: Limits = DEFAULT) -> Any:
    """Decode an ``ApiVersionResponse`` that takes all of ``frame`` from ``start``.

    Shape: ARRAY of INT16 key, INT16 lowest and INT16 highest version. ``DecodeError``
    for all else: Kafka's ApiVersions v0, which begins with an error code, reads as an
    empty array with bytes left over.
    """
    return exchange.read_body(ApiVersionResponse, frame, start, VERSION, limits)


def to_api_versions(response: Any) -> ApiVersionsResponse:
    """Turn a response into Kafka's own, which has the same ranges and no error."""
    return ApiVersionsResponse(
        api_keys=[
            ApiVersionsResponse.ApiVersion(
                api_key=row.api_key,
                min_version=row.min_version,
                max_version=row.max_version,
            )
            for row in response.api_versions
        ]
    )


class ClientStrategy(exchange.Question):
    """Asks for the ranges of all APIs, or of ``api_keys`` alone.

    Versions that must not be used although they are in the range, as the document has
    it for deprecated ones, are the policy's to exclude.
    """

    def __init__(
        self,
        api_key: int,
        api_keys: Iterable[int] | None = None,
        *,
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        client_id: str | None = "kwire",
        correlation_id: int = 0,
        limits: Limits = DEFAULT,
    ) -> None:
        self._asked = None if api_keys is None else tuple(api_keys)
        super().__init__(
            api_key,
            VERSION,
            codec.encode(ApiVersionRequest(api_keys=self._asked), VERSION),
            fallback=fallback,
            policy=policy,
            client_id=client_id,
            correlation_id=correlation_id,
            limits=limits,
        )

    def _read_table(self, frame: bytes, start: int) -> ApiVersionTable:
        response = decode(frame, start, limits=self._limits)
        for row in response.api_versions:
            if self._asked is not None and row.api_key not in self._asked:
                raise RemoteProtocolError(
                    f"the response has versions of API key {row.api_key}, which was"
                    " not requested"
                )
        return ApiVersionTable.from_response(to_api_versions(response), self._policy)


class Server(exchange.Answerer):
    """Answers ApiVersionRequest with what ``served`` offers, as far as asked for.

    ``served`` is a table, or maps API keys to versions in any form that
    ``version_lists`` describes: ``(0, 3)``, "0-3", ``[0, 1, 2, 3]``. The document has
    ranges only, so a list that omits a version between its ends is a ``ValueError``.
    A key that it does not serve is left out of the answer.
    """

    def __init__(
        self,
        api_key: int,
        served: ApiVersionTable | Mapping[int, Versions],
        *,
        on_unsupported: Literal["empty", "close"] = "close",
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(api_key, VERSION, on_unsupported=on_unsupported, limits=limits)
        if not isinstance(served, ApiVersionTable):
            served = ApiVersionTable.from_ranges(
                {key: _find_ends(key, versions) for key, versions in served.items()}
            )
        self.table = served

    def _answer_body(self, frame: bytes, start: int, client_id: str | None) -> bytes:
        request = exchange.read_body(
            ApiVersionRequest, frame, start, VERSION, self._limits
        )
        asked = None if request.api_keys is None else frozenset(request.api_keys)
        rows = [
            ApiVersionResponse.ApiVersion(
                api_key=key, min_version=low, max_version=high
            )
            for key, (low, high) in self.table.advertised.items()
            if asked is None or key in asked
        ]
        return codec.encode(ApiVersionResponse(api_versions=rows), VERSION)


def _find_ends(api_key: int, versions: Versions) -> VersionRange:
    listed = sorted(set(list_versions(versions)))
    if not listed:
        return NONE
    ends = VersionRange(listed[0], listed[-1])
    if len(ends) != len(listed):
        raise ValueError(
            f"the versions of API key {api_key} must have no gaps, because document 004"
            f" has ranges only (got {listed})"
        )
    return ends
