# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces broker addresses in responses, so that clients stay connected to the relay.

A response is decoded, its broker addresses are replaced with relay addresses, and it is
encoded again. In ApiVersions responses, versions of the rewritten APIs that kwire
cannot decode are removed. Responses without changes keep their original bytes. This
module uses no sockets.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

from ..connection.negotiation import name_of
from ..connection.negotiation.facts import first_version
from ..messages import (
    ApiVersionsResponse,
    DescribeClusterResponse,
    FetchResponse,
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceResponse,
    ShareAcknowledgeResponse,
    ShareFetchResponse,
    by_key,
    framing,
)
from ..schema import error_codes
from .pairing import NO_LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..messages.frame_splitter import Frame
    from .pairing import Header

    Address = tuple[str, int]

_ADDRESS_FIELDS: dict[Any, str] = {
    MetadataResponse: "brokers",
    DescribeClusterResponse: "brokers",
    FindCoordinatorResponse: "coordinators",
    ProduceResponse: "node_endpoints",
    FetchResponse: "node_endpoints",
    ShareFetchResponse: "node_endpoints",
    ShareAcknowledgeResponse: "node_endpoints",
}
"""Field with the broker addresses, by response class.

Old FindCoordinator versions contain one broker in the message itself. DescribeQuorum
also contains controller addresses, but clients do not connect to them.
"""


_REWRITTEN = {
    cls.api_key: (cls, attribute, first_version(cls.__name__, attribute))
    for cls, attribute in _ADDRESS_FIELDS.items()
}
"""(Response class, field with addresses, first version with this field) by API key."""

# Versions without the list contain one coordinator in the message itself, so all
# versions must be rewritten.
_REWRITTEN[FindCoordinatorResponse.api_key] = FindCoordinatorResponse, "coordinators", 0


class Answer:
    """Decoded response that may need to be changed.

    ``addresses`` are the broker addresses in the response.
    """

    __slots__ = ("_attribute", "_correlation_id", "_message", "_version", "addresses")

    def __init__(
        self, message: Any, version: int, correlation_id: int, attribute: str
    ) -> None:
        self._message = message
        self._version = version
        self._correlation_id = correlation_id
        self._attribute = attribute
        nodes = (message, *getattr(message, attribute))
        self.addresses = {a for a in map(_get_address, nodes) if a is not None}

    def write(self, listeners: Mapping[Address, Address]) -> bytes | None:
        """Encode the response with listener addresses, as a frame with its size field.

        Returns None if no address changes. Raises ``EncodeError`` if the response
        version cannot represent the new addresses.
        """
        nodes = getattr(self._message, self._attribute)
        moved = [_replace_address(node, listeners) for node in nodes]
        changed = _replace_address(self._message, listeners)
        if changed is self._message and all(map(is_, nodes, moved)):
            return None
        if moved:
            changed = changed.replace(**{self._attribute: moved})
        return framing.encode_response(changed, self._version, self._correlation_id)


def read_answer(header: Header, frame: Frame) -> Answer | None:
    """Decode a response if it may contain broker addresses, and return None otherwise.

    Raises ``DecodeError`` if the response is invalid, and ``UnsupportedVersion`` if
    kwire does not support its version.
    """
    entry = _REWRITTEN.get(-1 if header.api_key is None else header.api_key)
    version = header.api_version
    if entry is None or version is None or version < entry[2]:
        return None
    cls, attribute, _ = entry
    message: Any
    # Mock brokers write extra bytes at the end. Java clients ignore these bytes, so
    # accept them here as well.
    correlation_id, message = framing.decode_response(
        cls, frame, version, compat="java", zero_copy=True, limits=NO_LIMITS
    )
    return Answer(message, version, correlation_id, attribute)


def limit_versions(header: Header, frame: Frame) -> tuple[bytes, list[str]] | None:
    """Remove versions that kwire cannot rewrite from an ApiVersions response.

    Returns the frame with its size field and descriptions for all removed version
    ranges, or None if the response needs no change. Raises ``DecodeError`` if the
    response is invalid, and ``UnsupportedVersion`` if kwire does not support its
    version.
    """
    version = header.api_version
    is_refusal = int.from_bytes(frame[4:6], "big") == error_codes.UNSUPPORTED_VERSION
    if header.api_key != ApiVersionsResponse.api_key or version is None or is_refusal:
        return None
    correlation_id, message = framing.decode_response(
        ApiVersionsResponse, frame, version, compat="java", limits=NO_LIMITS
    )
    limited = list(map(_limit_range, message.api_keys))
    removed_versions = [
        f"{name_of(old.api_key)} {new.max_version + 1}-{old.max_version}"
        for old, new in zip(message.api_keys, limited, strict=True)
        if new is not old
    ]
    if not removed_versions:
        return None
    changed = message.replace(api_keys=limited)
    return framing.encode_response(changed, version, correlation_id), removed_versions


def _limit_range(api: Any) -> Any:
    """Limit the version range for one rewritten API to versions that kwire supports.

    Returns ``api`` itself if the range needs no change, or if it contains no supported
    version.
    """
    if api.api_key not in _REWRITTEN:
        return api
    newest = by_key(api.api_key, "response").valid_versions.max
    if not api.min_version <= newest < api.max_version:
        return api
    return api.replace(max_version=newest)


def _get_address(node: Any) -> Address | None:
    """Return the broker address in a struct, or None if it has no valid address."""
    host, port = getattr(node, "host", ""), getattr(node, "port", -1)
    return (host, port) if host and 0 < port < 1 << 16 else None


def _replace_address(node: Any, listeners: Mapping[Address, Address]) -> Any:
    """Replace the broker address in a struct with the address of its listener.

    Returns the same object if there is no address or no listener for it.
    """
    address = _get_address(node)
    if address is None or listeners.get(address, address) == address:
        return node
    host, port = listeners[address]
    return node.replace(host=host, port=port)
