# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""API versions in the different notations of the documents.

Document 000 uses pairs, document 001 uses lists, and document 004 uses a lowest and a
highest version. The drafts accept all of these: a list of versions, a pair (lowest,
highest), a string such as "0-3", or a ``VersionRange``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from ..connection.negotiation import DEFAULT_POLICY, ApiVersionTable, VersionPolicy
from ..schema.versions import HIGHEST, VersionRange

Versions: TypeAlias = VersionRange | tuple[int, int] | Iterable[int] | str

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def list_versions(versions: Versions) -> tuple[int, ...]:
    """Convert any supported notation to a list of versions. Lists keep their order.

    A tuple with two numbers is a pair (lowest, highest): ``(0, 3)`` has four versions,
    and ``[0, 3]`` has two.

    Raises ``ValueError`` if the lowest version exceeds the highest version, or if a
    version is not an integer from 0 to 32767. Raises ``TypeError`` if ``versions`` has
    an unsupported type.
    """
    if isinstance(versions, str):
        return tuple(VersionRange.from_text(versions))
    if isinstance(versions, tuple) and len(versions) == 2:
        low, high = versions
        if low > high:
            raise ValueError(
                "a pair of versions must be the lowest and the highest one (got"
                f" {versions}); pass a list for any other order"
            )
        return tuple(VersionRange(low, high))
    if not isinstance(versions, Iterable):
        raise TypeError(
            'versions must be a list, a pair of both ends, a text such as "0-3", or a'
            f" VersionRange (got {versions!r:.40})"
        )
    listed = tuple(versions)
    for version in listed:
        if not isinstance(version, int) or not 0 <= version <= HIGHEST:
            raise ValueError(f"versions must be 0 to {HIGHEST} (got {version!r:.40})")
    return listed


def make_version_table(
    listed: Mapping[int, Collection[int]], policy: VersionPolicy = DEFAULT_POLICY
) -> ApiVersionTable:
    """Create a version table from listed versions by API key.

    A table only supports ranges, so its policy excludes versions that a list omits
    between its ends. APIs without versions are omitted.
    """
    ranges = {
        key: (min(api_versions), max(api_versions))
        for key, api_versions in listed.items()
        if api_versions
    }
    # Compare the sizes first, because a policy has to load an API's schema when it
    # lists its versions.
    holes = {
        key: {v for v in policy.versions(key) if low < v < high} - set(listed[key])
        for key, (low, high) in ranges.items()
        if len(set(listed[key])) <= high - low
    }
    if holes:
        policy = VersionPolicy(
            {key: policy.range_of(key) for key in ranges},
            {key: policy.excluded(key) | holes.get(key, set()) for key in ranges},
            unstable=policy.unstable,
        )
    return ApiVersionTable(ranges, policy)
