# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 004: version ranges for all APIs or for selected APIs.

This draft resembles ApiVersions, which Kafka 0.10.0 released, with two differences. The
request may contain API keys: null requests all APIs, and an empty list requests none,
although the document does not specify this. The response has no error code. The caller
chooses the API key of the request, because the document does not specify one.
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
    """Decode an ``ApiVersionResponse`` from byte ``start`` to the end of ``frame``.

    The layout is an ARRAY of INT16 key, INT16 lowest and INT16 highest version. Raises
    ``DecodeError`` for all other bytes. Kafka's ApiVersions v0 is rejected as well: it
    begins with an error code, which decodes as an empty array with trailing bytes.
    """
    return exchange.read_body(ApiVersionResponse, frame, start, VERSION, limits)


def to_api_versions(response: Any) -> ApiVersionsResponse:
    """Convert a response to Kafka's ApiVersions, with identical ranges and no error."""
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
    """Requests the version ranges of all APIs, or only of ``api_keys``.

    If versions within a range must not be used, because the document calls them
    deprecated, exclude them with ``policy``.
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
    """Answers ApiVersionRequest with the requested ranges in ``served``.

    ``served`` is a table, or maps API keys to versions in any form that
    ``version_lists`` accepts: ``(0, 3)``, "0-3", ``[0, 1, 2, 3]``. Raises
    ``ValueError`` if a list omits a version between its ends, because the document only
    supports ranges. The response omits API keys that are not served.
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
