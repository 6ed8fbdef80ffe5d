# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-35, document 001: a list of versions for every API, in order of preference.

The document contradicts itself, and this is how kwire reads it. The response has four
columns, as in its example; ``columns=3`` leaves out the deprecated versions, as in its
grammar. The most preferred version is the last, as its text says, although its examples
look like the reverse: ``is_strictly_descending`` warns. Deprecated versions are for
information. It gives no API key, so the caller chooses one.
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
    """Decode the response that takes all of ``frame`` from byte ``start``.

    Shape: ARRAY of INT16 key, STRING name, ARRAY of INT16 versions and, with four
    columns, ARRAY of INT16 deprecated versions. Lists stay in the order received.
    ``DecodeError`` for all else.
    """
    cls = _response_class(columns)
    return exchange.read_body(cls, frame, start, VERSION, limits)


def by_preference(versions: Sequence[int], order: Order = "last") -> tuple[int, ...]:
    """Return a list of versions with the most preferred first.

    ``order`` says where the broker has put that one.
    """
    if order not in ("last", "first"):
        raise TypeError(f'order must be "last" or "first" (got {order!r:.40})')
    return tuple(versions if order == "first" else reversed(versions))


def preferred(versions: Sequence[int], order: Order = "last") -> int | None:
    """Return the most preferred version of a list, None if the list is empty."""
    return next(iter(by_preference(versions, order)), None)


def is_strictly_descending(versions: Sequence[int]) -> bool:
    """Return whether a list looks as if its first version were the most preferred.

    Lists of fewer than two versions look like nothing.
    """
    return len(versions) > 1 and all(high > low for high, low in pairwise(versions))


def supported_apis(
    versions: Mapping[int, Versions],
    deprecated: Mapping[int, Versions] | None = None,
    *,
    columns: Columns = 4,
) -> Any:
    """Make the response that offers these versions, in the order given.

    ``version_lists`` describes the forms of versions: a list, a pair of both ends, a
    text such as "0-3", or a ``VersionRange``. The names are those that kwire has: API
    key 2 is "ListOffsetsRequest", where the document has "OffsetRequest".
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
    """Make the table of a response of either form.

    A table has ranges, so what a list leaves out between its ends is excluded by the
    table's policy. An API with an empty list is not there.
    """
    return make_version_table(
        {row.api_key: row.api_versions for row in response.apis}, policy
    )


class ClientStrategy(exchange.Question):
    """Asks for the lists; ``response`` has them as received.

    ``order`` is where this broker puts the version it prefers. The table picks the
    highest version in common, ``preferred`` the one that the broker would like best.
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
        """Return the version that the broker prefers of those both sides can use.

        None if there is none, or the broker has not answered.
        """
        rows = self.response.apis if self.response is not None else ()
        for row in rows:
            if row.api_key == api_key and self.table is not None:
                usable = self.table.usable(api_key)
                liked = by_preference(row.api_versions, self._order)
                return next((version for version in liked if version in usable), None)
        return None

    def suspects(self) -> tuple[str, ...]:
        """Name the APIs whose list may mean the reverse of what the text says."""
        rows = self.response.apis if self.response is not None else ()
        return tuple(
            row.api_name for row in rows if is_strictly_descending(row.api_versions)
        )

    def _read_table(self, frame: bytes, start: int) -> ApiVersionTable:
        response = decode(frame, start, columns=self._columns, limits=self._limits)
        self.response = response
        return make_table(response, self._policy)


class Server(exchange.Answerer):
    """Answers ProtocolVersionRequest with ``response``, the same for every client.

    ``may_describe`` is asked with the client id whether the client may do Describe on
    the cluster, as the document wants it where authentication is on. It names no error
    for who may not, so the connection is closed.
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
