# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare ``kwire versions`` with Kafka's own tool.

The output of ``-o compat`` must be identical to the output of
``kafka-broker-api-versions`` from the newest release for the same broker. The guessed
release must be the broker's release. ``test_security.py`` runs the command with TLS and
SASL.
"""

from __future__ import annotations

import json
import re

import pytest

from kwire.schema import releases
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import Broker
from tools.interop.broker.command import kwire_versions


def lines_by_key(text: str) -> dict[int, str]:
    """Return the output lines for one broker by API key. Key -1 is the header line."""
    head, *lines, tail = text.splitlines()
    assert head.endswith(" -> (")
    assert tail == ")"
    has_comma = [line.endswith(",") for line in lines]
    assert has_comma == [True] * (len(lines) - 1) + [False]
    line_by_key = {-1: head}
    for line in lines:
        key = re.match(r"\t\w+\((\d+)\): ", line)
        assert key is not None, line
        line_by_key[int(key[1])] = line.rstrip(",")
    assert list(line_by_key) == sorted(line_by_key)
    return line_by_key


def expected_lines(kafka: Broker) -> dict[int, str]:
    """Return the output that kwire must print, by API key.

    It is the output of Kafka's tool, and lines for the APIs that only kwire's newest
    release supports, which the tool does not list.
    """
    tool = brokers.find_release("4.x")
    output = brokers.tool(
        tool, "BrokerApiVersionsCommand", "--bootstrap-server", kafka.address
    )
    expected = lines_by_key(output)
    newer = releases.changes(line_of(tool), releases.NAMES[-1]).added
    for key in releases.ranges(releases.NAMES[-1], "broker"):
        if key not in releases.ranges(line_of(tool), "broker") and key in newer:
            name = releases.name_of(key)
            expected.setdefault(key, f"\t{name}({key}): UNSUPPORTED")
    return dict(sorted(expected.items()))


def line_of(release: str) -> str:
    """Return the release line of a release: "4.3" for "4.3.1"."""
    return ".".join(release.split(".")[:2])


@pytest.mark.releases("4.x", "3.9", "2.8")
def test_lines_are_those_of_kafkas_tool(kafka: Broker) -> None:
    expected = expected_lines(kafka)
    lines = lines_by_key(kwire_versions(kafka.address, "-o", "compat"))
    assert lines == expected
    row = json.loads(kwire_versions(kafka.address, "-o", "jsonl").splitlines()[0])
    assert row["release"] == line_of(kafka.release)
    print(f"{len(lines)} lines as in Kafka's tool; guessed {row['release']}")
