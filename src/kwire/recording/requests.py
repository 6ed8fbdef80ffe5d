# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Request table, the common format for captures and request logs.

This module defines the columns and their types. It also determines when Kafka
deprecated or removed an API version, from the release facts in
``kwire.schema.releases``. ``request_log.py`` and the upgrade audit read the requests.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..messages.arrow_types import make_arrow_schema
from ..schema import releases
from ..schema.versions import NONE, VersionRange

if TYPE_CHECKING:
    from collections.abc import Iterable

REQUEST_TYPES = {
    "timestamp": "timestamp",
    "client_address": "string",
    "broker_address": "string",
    "listener": "string",
    "principal": "string",
    "api_key": "int",
    "api": "string",
    "api_version": "int",
    "client_id": "string",
    "software_name": "string",
    "software_version": "string",
    "size": "int",
    "correlation_id": "int",
    "latency_ms": "double",
    "deprecated": "boolean",
    "removed_in": "string",
}
"""SQL types of the request columns by name. All columns are nullable."""


class Request(NamedTuple):
    """Table row for one request. The fields are the columns.

    * ``timestamp``: microseconds since 1970.
    * ``size``: frame size in bytes, without the size field. None for requests from
      request logs, which do not contain the size.
    """

    timestamp: int | None = None
    client_address: str | None = None
    broker_address: str | None = None
    listener: str | None = None
    principal: str | None = None
    api_key: int | None = None
    api: str | None = None
    api_version: int | None = None
    client_id: str | None = None
    software_name: str | None = None
    software_version: str | None = None
    size: int | None = None
    correlation_id: int | None = None
    latency_ms: float | None = None
    deprecated: bool | None = None
    removed_in: str | None = None


def make_request(
    api_key: int | None, api_version: int | None, **columns: Any
) -> Request:
    """Create a ``Request`` and fill the columns that depend on its API version."""
    fate = Fate(None, None, None)
    if api_key is not None and api_version is not None:
        fate = find_fate(api_key, api_version)
    return Request(
        api_key=api_key, api_version=api_version, **fate._asdict(), **columns
    )


class Fate(NamedTuple):
    """Status of an API version in Kafka's releases.

    * ``api``: API name.
    * ``deprecated``: whether the newest release that supports the version has
      deprecated it.
    * ``removed_in``: first release that no longer supports the version. None if the
      newest release supports the version, or if no release has ever supported it.
    """

    api: str | None
    deprecated: bool | None
    removed_in: str | None


@cache
def find_fate(api_key: int, api_version: int) -> Fate:
    """Determine the status for an API version.

    If the API is unknown, all fields are None.
    """
    try:
        name = releases.name_of(api_key)
    except KeyError:
        return Fate(None, None, None)
    deprecated = False
    removed_in = None
    was_spoken = False
    for release in releases.NAMES:
        is_spoken = api_version in _load_ranges(release).get(api_key, NONE)
        if is_spoken:
            removed_in = None
            deprecated = api_version in _load_deprecated(release).get(api_key, NONE)
        elif was_spoken:
            removed_in = release
        was_spoken = is_spoken
    return Fate(name, deprecated, removed_in)


@cache
def _load_ranges(release: str) -> dict[int, VersionRange]:
    return releases.ranges(release)


@cache
def _load_deprecated(release: str) -> dict[int, VersionRange]:
    return releases.deprecated(release)


def requests_schema() -> Any:
    """Return the request columns as a ``pyarrow.Schema``."""
    return make_arrow_schema(REQUEST_TYPES)


def requests_batch(requests: Iterable[Request]) -> Any:
    """Convert requests to a ``pyarrow.RecordBatch`` with ``requests_schema``."""
    import pyarrow as pa

    schema = requests_schema()
    columns = list(zip(*requests, strict=True)) or [()] * len(schema)
    arrays = [pa.array(*pair) for pair in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
