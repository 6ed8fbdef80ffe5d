# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 001: version lists for every API, ordered by preference.

The document contradicts itself. kwire interprets it as follows:

* The response has four columns, as in the document's example. ``columns=3`` omits the
  deprecated versions, as in its grammar.
* The most preferred version is the last one, as in its text. Its examples look
  reversed, and ``is_strictly_descending`` detects such lists.
* Deprecated versions are only informational.

The caller chooses the API key, because the document does not specify one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._limits import DEFAULT, Limits
from ..connection.negotiation import DEFAULT_POLICY
from ..messages import codec
from ..schema import registry
from . import exchange
from .documents import Provenance, message_class
from .version_lists import list_versions, make_version_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..connection.negotiation import ApiVersionTable, VersionPolicy
    from .version_lists import Versions

    Columns: TypeAlias = Literal[3, 4]
    Order: TypeAlias = Literal["last", "first"]

PROVENANCE = Provenance(
    35, "lists of versions in ProtocolVersionRequest", "document 001, page version 13"
)

VERSION = 0

ProtocolVersionRequest = message_class("kip35_protocol_version_request")
ProtocolVersionResponse = message_class("kip35_protocol_version_response_four_columns")
ThreeColumnResponse = message_class("kip35_protocol_version_response_three_columns")


def decode(
    frame: bytes, start: int = 0, *, columns: Columns = 4, limits: Limits = DEFAULT
) -> Any:
    """Decode a response from byte ``start`` to the end of ``frame``.

    The layout is an ARRAY of INT16 key, STRING name, ARRAY of INT16 versions and, with
    four columns, ARRAY of INT16 deprecated versions. Lists keep their received order.
    Raises ``DecodeError`` if the bytes do not match.
    """
    cls = _response_class(columns)
    return exchange.read_body(cls, frame, start, VERSION, limits)


def by_preference(versions: Sequence[int], order: Order = "last") -> tuple[int, ...]:
    """Return a version list that starts with the most preferred version.

    ``order`` specifies whether the broker puts this version "first" or "last".
    """
    if order not in ("last", "first"):
        raise TypeError(f'order must be "last" or "first" (got {order!r:.40})')
    return tuple(versions if order == "first" else reversed(versions))


def preferred(versions: Sequence[int], order: Order = "last") -> int | None:
    """Find the most preferred version in a list. Returns None if the list is empty."""
    return next(iter(by_preference(versions, order)), None)


def is_strictly_descending(versions: Sequence[int]) -> bool:
    """Return whether the first version in a list appears to be the most preferred one.

    This cannot be detected in lists with fewer than two versions, so the result is
    False.
    """
    return len(versions) > 1 and all(high > low for high, low in pairwise(versions))


def supported_apis(
    versions: Mapping[int, Versions],
    deprecated: Mapping[int, Versions] | None = None,
    *,
    columns: Columns = 4,
) -> Any:
    """Create a response that offers these versions in the specified order.

    ``version_lists`` describes the supported forms: a list, a pair (lowest, highest), a
    string such as "0-3", or a ``VersionRange``. API names are kwire's names: API key 2
    is "ListOffsetsRequest", although the document uses "OffsetRequest".
    """
    cls = _response_class(columns)
    rows = []
    for key, listed in versions.items():
        row = {
            "api_key": key,
            "api_name": _name(key),
            "api_versions": list_versions(listed),
        }
        if columns == 4:
            old = (deprecated or {}).get(key, ())
            row["api_deprecated_versions"] = list_versions(old)
        rows.append(cls.SupportedApi(**row))
    return cls(apis=rows)


def make_table(
    response: Any, policy: VersionPolicy = DEFAULT_POLICY
) -> ApiVersionTable:
    """Create the version table for a response with three or four columns.

    A table only supports ranges, so its policy excludes versions that a list omits
    between its ends. APIs with an empty list are omitted.
    """
    return make_version_table(
        {row.api_key: row.api_versions for row in response.apis}, policy
    )


class ClientStrategy(exchange.Question):
    """Requests version lists. ``response`` contains the received lists.

    ``order`` specifies whether this broker puts its preferred version "first" or
    "last". The table picks the highest common version, and ``preferred`` returns the
    common version that the broker prefers.
    """

    def __init__(
        self,
        api_key: int,
        *,
        columns: Columns = 4,
        order: Order = "last",
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        client_id: str | None = "kwire",
        correlation_id: int = 0,
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(
            api_key,
            VERSION,
            codec.encode(ProtocolVersionRequest(), VERSION),
            fallback=fallback,
            policy=policy,
            client_id=client_id,
            correlation_id=correlation_id,
            limits=limits,
        )
        self.response: Any = None
        self._columns = columns
        self._order = order

    def preferred(self, api_key: int) -> int | None:
        """Find the usable version that the broker prefers most.

        Returns None if there is no usable version, or the broker has not answered.
        """
        rows = self.response.apis if self.response is not None else ()
        for row in rows:
            if row.api_key == api_key and self.table is not None:
                usable = self.table.usable(api_key)
                liked = by_preference(row.api_versions, self._order)
                return next((version for version in liked if version in usable), None)
        return None

    def suspects(self) -> tuple[str, ...]:
        """Find the names of APIs whose lists may contradict the document's text."""
        rows = self.response.apis if self.response is not None else ()
        return tuple(
            row.api_name for row in rows if is_strictly_descending(row.api_versions)
        )

    def _read_table(self, frame: bytes, start: int) -> ApiVersionTable:
        response = decode(frame, start, columns=self._columns, limits=self._limits)
        self.response = response
        return make_table(response, self._policy)


class Server(exchange.Answerer):
    """Answers ProtocolVersionRequest with the same ``response`` for all clients.

    ``may_describe`` is called with the client id, and returns whether the client may
    perform Describe on the cluster. The document requires this permission if
    authentication is enabled. It specifies no error for unauthorized clients, so their
    connection is closed.
    """

    def __init__(
        self,
        api_key: int,
        response: Any,
        *,
        may_describe: Callable[[str | None], bool] = lambda client_id: True,
        on_unsupported: Literal["empty", "close"] = "empty",
        limits: Limits = DEFAULT,
    ) -> None:
        super().__init__(api_key, VERSION, on_unsupported=on_unsupported, limits=limits)
        self.table = make_table(response)
        self._body = codec.encode(response, VERSION)
        self._may_describe = may_describe

    def _answer_body(
        self, frame: bytes, start: int, client_id: str | None
    ) -> bytes | None:
        exchange.read_body(ProtocolVersionRequest, frame, start, VERSION, self._limits)
        return self._body if self._may_describe(client_id) else None


def _response_class(columns: Columns) -> type[Any]:
    if columns not in (3, 4):
        raise TypeError(f"columns must be 3 or 4 (got {columns!r:.40})")
    return ThreeColumnResponse if columns == 3 else ProtocolVersionResponse


def _name(api_key: int) -> str:
    try:
        return registry.find_by_key(api_key, "request").name
    except KeyError:
        return f"API key {api_key}"
