# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Versions by release, for brokers that do not support ApiVersions.

The expected rows are copied from librdkafka's ``broker.version.fallback``.
"""

import pytest

V090 = {
    **{0: (0, 1), 1: (0, 1), 2: (0, 0), 3: (0, 0), 8: (0, 2), 9: (0, 1), 10: (0, 0)},
    **{11: (0, 0), 12: (0, 0), 13: (0, 0), 14: (0, 0), 15: (0, 0), 16: (0, 0)},
}
FIRST_FOUR = {0: (0, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0)}
V082 = {**FIRST_FOUR, 8: (0, 1), 9: (0, 1), 10: (0, 0)}
V081 = {**FIRST_FOUR, 8: (0, 1), 9: (0, 0)}


@pytest.mark.parametrize(
    ("release", "rows"),
    [
        ("0.9.0", V090),
        ("0.9.0.0", V090),
        ("0.9.0.1", V090),
        ("0.8.2", V082),
        ("0.8.2.2", V082),
        ("0.8.1", V081),
        ("0.8.1.1", V081),
        ("0.8.0", FIRST_FOUR),
    ],
)
def test_fallback_table_has_the_rows_of_its_release(kwire, release, rows):
    """The rows are complete, also if the release has a patch number."""
    table = kwire.connection.negotiation.fallback_table(release)
    assert table.advertised == rows
    assert table.is_alive
    assert "ApiVersion" not in table.features()
    with pytest.raises(kwire.UnsupportedVersion, match="broker supports no version"):
        table.pick(kwire.messages.ApiVersionsRequest)


@pytest.mark.parametrize("release", ["0.10.0", "0.10.2.1", "1.0", "2.8", "4.1"])
def test_releases_with_api_versions_have_no_fallback_table(kwire, release):
    """The result is None, because these releases support ApiVersions."""
    assert kwire.connection.negotiation.fallback_table(release) is None


@pytest.mark.parametrize("release", ["0.8.20", "0.9.01"])
def test_release_prefix_ends_at_a_dot(kwire, release):
    """Neither 0.8.20 nor 0.9.01 is a release of the lines 0.8.2 and 0.9.0."""
    assert kwire.connection.negotiation.fallback_table(release) is None


@pytest.mark.parametrize("release", ["0.8.1x", "x0.9.0", "", "9", "nonsense", "0.9."])
def test_fallback_for_an_unknown_release_is_rejected(kwire, release):
    """A misspelled release is an error.

    If it were accepted, the fallback would never apply.
    """
    with pytest.raises(ValueError, match="is not a release of Kafka"):
        kwire.connection.negotiation.fallback_table(release)
    with pytest.raises(ValueError, match="is not a release of Kafka"):
        kwire.connection.negotiation.ApiVersionsHandshake(fallback=release)


@pytest.mark.parametrize("release", ["0.9", "0.8"])
def test_a_line_of_several_releases_is_refused(kwire, release):
    """A release line is rejected, because its releases support different versions."""
    with pytest.raises(ValueError, match=r"is ambiguous; give one such as 0\."):
        kwire.connection.negotiation.fallback_table(release)


@pytest.mark.parametrize("release", ["0.7", "0.7.2", "0.6", "0.6.1"])
def test_releases_older_than_the_protocol_are_refused(kwire, release):
    """Releases without the protocol that kwire uses are rejected."""
    with pytest.raises(kwire.UnsupportedVersion, match=f"protocol of Kafka {release}"):
        kwire.connection.negotiation.fallback_table(release)


def test_closed_fallback_table_does_not_close_others(kwire):
    """If a connection's table is closed, other connections keep their tables."""
    first = kwire.connection.negotiation.fallback_table("0.9.0")
    first.expire()
    assert kwire.connection.negotiation.fallback_table("0.9.0").is_alive


def test_the_policy_holds_for_fallbacks_too(kwire):
    """The policy requires Fetch 1, which 0.8.0 does not support."""
    policy = kwire.connection.negotiation.VersionPolicy({1: "1+"}, {0: [1]})
    table = kwire.connection.negotiation.fallback_table("0.9.0", policy)
    assert (table.pick(1), table.pick(0)) == (1, 0)
    with pytest.raises(kwire.UnsupportedVersion, match="too old"):
        kwire.connection.negotiation.fallback_table("0.8.0", policy).pick(1)


def test_fallback_versions_are_within_the_table_of_the_release(kwire):
    """All versions except one are within the table of the release."""
    too_much = []
    for release in ("0.8.0", "0.8.1", "0.8.2", "0.9.0"):
        whole = kwire.connection.negotiation.ApiVersionTable.of_release(release)
        table = kwire.connection.negotiation.fallback_table(release)
        for key, versions in table.ranges().items():
            if not whole.range_of(key).contains(versions):
                too_much.append((release, key, str(versions)))
    # OffsetCommit 1 was introduced in 0.8.2, but librdkafka assumes it for 0.8.1.
    assert too_much == [("0.8.1", 8, "0-1")]
