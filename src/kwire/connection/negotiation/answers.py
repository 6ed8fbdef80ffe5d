# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Creates a server's response to ApiVersions requests with any version.

If the server does not support the request's version, it responds with version 0 and
ignores the request body, so that every client can continue (KIP-511).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._limits import DEFAULT, Limits
from ...errors import RemoteProtocolError
from ...messages import ApiVersionsRequest, ApiVersionsResponse, framing
from ...schema import error_codes
from .handshake import FIRST_WITH_NAMES, SOFTWARE_NAME
from .tables import ApiVersionTable

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEY = ApiVersionsRequest.api_key
_FIRST_WITH_FEATURES_FROM_0 = 4


class ApiVersionsAnswer(NamedTuple):
    """Response frame with information about its request.

    * ``client_id``: client id of the request, or None if the client does not send one,
      or if the server does not support the request's version.
    * ``software_name``, ``software_version``: empty if the client does not send them,
      or if the server does not support the request's version.
    """

    frame: bytes
    version: int
    error_code: int
    correlation_id: int
    client_id: str | None = None
    software_name: str = ""
    software_version: str = ""


def answer_api_versions(
    frame: bytes,
    served: ApiVersionTable,
    *,
    cluster_id: str | None = None,
    node_id: int = -1,
    limits: Limits = DEFAULT,
) -> ApiVersionsAnswer:
    """Create the response to an ApiVersions request frame.

    * ``served``: versions that the server advertises.
    * ``cluster_id``, ``node_id``: identity of the server. If the client expects a
      different identity, the error is REBOOTSTRAP_REQUIRED (KIP-1242). If
      ``cluster_id`` is None, the identity is not checked.

    The response has the error UNSUPPORTED_VERSION if the version is not supported. It
    then has version 0 and only contains the ApiVersions range, or no range at all if
    ``served`` does not contain ApiVersions version 3 (KIP-511). The error is
    INVALID_REQUEST if the client's software name or version is invalid, or if the
    request contains only one of cluster id and node id.
    Raises ``DecodeError`` if the frame cannot be decoded, and ``RemoteProtocolError``
    if it is a request for a different API.
    """
    if len(frame) >= 2 and int.from_bytes(frame[:2], "big") != _KEY:
        raise RemoteProtocolError(
            "answering ApiVersions: the frame is a request of another API"
        )
    version = int.from_bytes(frame[2:4], "big", signed=True)
    correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
    supported_versions = served.range_of(_KEY) & ApiVersionsRequest.valid_versions
    if version not in supported_versions and len(frame) >= 8:
        # Servers without KIP-511 respond with an empty list.
        listed_keys = [_KEY] if supported_versions.max >= FIRST_WITH_NAMES else []
        response = ApiVersionsResponse(
            error_code=error_codes.UNSUPPORTED_VERSION,
            api_keys=_list_apis(served, listed_keys),
        )
        answer = framing.encode_response(response, 0, correlation_id)
        error = response.error_code
        return ApiVersionsAnswer(answer, version, error, correlation_id)
    header, request = framing.decode_request(frame, limits=limits)
    assert isinstance(request, ApiVersionsRequest)
    error = _check_request(request, version, cluster_id, node_id)
    response = (
        ApiVersionsResponse(error_code=error)
        if error
        else _make_response(served, version)
    )
    return ApiVersionsAnswer(
        framing.encode_response(response, version, correlation_id),
        version,
        error,
        correlation_id,
        header.client_id,
        request.client_software_name,
        request.client_software_version,
    )


def _check_request(
    request: ApiVersionsRequest, version: int, cluster_id: str | None, node_id: int
) -> int:
    names = (request.client_software_name, request.client_software_version)
    if version >= FIRST_WITH_NAMES and not all(map(SOFTWARE_NAME.fullmatch, names)):
        return error_codes.INVALID_REQUEST
    if (request.cluster_id is None) != (request.node_id == -1):
        return error_codes.INVALID_REQUEST
    is_different = request.cluster_id is not None and (
        (request.cluster_id, request.node_id) != (cluster_id, node_id)
    )
    if cluster_id is not None and is_different:
        return error_codes.REBOOTSTRAP_REQUIRED
    return error_codes.NONE


def _make_response(served: ApiVersionTable, version: int) -> ApiVersionsResponse:
    supported = [
        ApiVersionsResponse.SupportedFeatureKey(
            name=name, min_version=levels.min, max_version=levels.max
        )
        for name, levels in served.supported_features.items()
        # Clients before version 4 fail if the minimum version of a feature is 0.
        if levels.min > 0 or version >= _FIRST_WITH_FEATURES_FROM_0
    ]
    finalized = [
        ApiVersionsResponse.FinalizedFeatureKey(
            name=name, min_version_level=levels.min, max_version_level=levels.max
        )
        for name, levels in served.finalized_features.items()
    ]
    return ApiVersionsResponse(
        api_keys=_list_apis(served, served.advertised),
        throttle_time_ms=round(served.throttle_time_s * 1000),
        supported_features=supported,
        finalized_features=finalized,
        finalized_features_epoch=served.finalized_features_epoch,
        zk_migration_ready=served.zk_migration_ready,
    )


def _list_apis(
    served: ApiVersionTable, keys: Iterable[int]
) -> list[ApiVersionsResponse.ApiVersion]:
    return [
        ApiVersionsResponse.ApiVersion(
            api_key=key,
            min_version=served.advertised[key][0],
            max_version=served.advertised[key][1],
        )
        for key in keys
    ]
