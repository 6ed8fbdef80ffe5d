# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks ``kwire versions`` against live brokers and Kafka's own tool.

    python -m tools.interop.broker.versions_check  # 4.x, 3.9 and 2.8

What ``-o compat`` prints has to be what ``kafka-broker-api-versions`` of the newest
release prints about the same broker; the guess has to be the broker's release. The
newest broker is asked through TLS and each SASL mechanism as well.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kwire.sasl import MECHANISMS
from kwire.schema import releases
from tools.interop.broker import broker as brokers
from tools.interop.broker import security
from tools.interop.broker.broker import Broker, BrokerError

RELEASES = ("4.x", "3.9", "2.8")
SECONDS = 180


def kwire_versions(address: str, *options: str, code: int = 0) -> str:
    """Run ``kwire versions`` and return what it printed; stderr if it has to fail."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "kwire",
            "versions",
            address,
            "--timeout",
            str(SECONDS),
            *options,
        ],
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode != code:
        raise BrokerError(
            f"kwire versions ended with {done.returncode}, not {code}: {done.stderr}"
        )
    return done.stderr if code else done.stdout


def lines_by_key(text: str) -> dict[int, str]:
    """Split what either tool printed about one broker by API key; -1 is the head."""
    head, *lines, tail = text.splitlines()
    if not head.endswith(" -> (") or tail != ")":
        raise BrokerError(f"no block of one broker: {head!r} ... {tail!r}")
    if [line.endswith(",") for line in lines] != [True] * (len(lines) - 1) + [False]:
        raise BrokerError("lines without a comma at the end, or the last one with it")
    found = {-1: head}
    for line in lines:
        key = re.match(r"\t\w+\((\d+)\): ", line)
        if key is None:
            raise BrokerError(f"no line about an API: {line!r}")
        found[int(key[1])] = line.rstrip(",")
    if list(found) != sorted(found):
        raise BrokerError("the lines are not sorted by API key")
    return found


def expected_lines(kafka: Broker) -> dict[int, str]:
    """Ask Kafka's tool; add the APIs that only kwire's newest release knows."""
    tool = brokers.find_release("4.x")
    said = brokers.tool(
        tool, "BrokerApiVersionsCommand", "--bootstrap-server", kafka.address
    )
    expected = lines_by_key(said)
    newer = releases.changes(line_of(tool), releases.NAMES[-1]).added
    for key in releases.ranges(releases.NAMES[-1], "broker"):
        if key not in releases.ranges(line_of(tool), "broker") and key in newer:
            name = releases.name_of(key)
            expected.setdefault(key, f"\t{name}({key}): UNSUPPORTED")
    return dict(sorted(expected.items()))


def line_of(release: str) -> str:
    """Name the line of a release: "4.3" of "4.3.1"."""
    return ".".join(release.split(".")[:2])


def check_versions(kafka: Broker) -> None:
    """Compare line by line, and look at the guess."""
    expected = expected_lines(kafka)
    found = lines_by_key(kwire_versions(kafka.address, "-o", "compat"))
    for key in sorted({*expected, *found}):
        if expected.get(key) != found.get(key):
            raise BrokerError(
                f"Kafka's tool says {expected.get(key)!r}, kwire {found.get(key)!r}"
            )
    row = json.loads(kwire_versions(kafka.address, "-o", "jsonl").splitlines()[0])
    if row["release"] != line_of(kafka.release):
        raise BrokerError(f"guessed {row['release']} of Kafka {kafka.release}")
    print(
        f"Kafka {kafka.release}: {len(found)} lines as in Kafka's tool; guessed"
        f" {row['release']}"
    )


def check_security(release: str) -> None:
    """Connect through TLS with each mechanism, and with a wrong password."""
    with tempfile.TemporaryDirectory(prefix="kwire-broker-") as name:
        folder = Path(name)
        kafka = Broker(release, folder)
        port = brokers.free_ports(1)[0]
        certificate = security.make_certificate(folder)
        security.add_listener(kafka, port, certificate)
        password = folder / "password"
        password.write_text(f"{security.PASSWORD}\n", encoding="utf-8")
        wrong = folder / "wrong"
        wrong.write_text("open sesame\n", encoding="utf-8")
        try:
            kafka.start()
            security.add_user(kafka)
            secure = f"{brokers.LOOPBACK}:{port}"
            known = kwire_versions(kafka.address, "-o", "jsonl").splitlines()
            apis = json.loads(known[0])["apis"]
            for mechanism in MECHANISMS:
                options = [
                    "--tls",
                    "--ca",
                    str(certificate),
                    "--username",
                    security.USER,
                    "--sasl-mechanism",
                    mechanism,
                    "--password-file",
                ]
                with_password = *options, str(password), "-o", "jsonl"
                said = once_known(secure, *with_password)
                row = json.loads(said.splitlines()[0])
                if row["address"] != secure or row["apis"] != apis:
                    raise BrokerError(f"{mechanism}: another answer through TLS")
                error = kwire_versions(secure, *options, str(wrong), code=2)
                if secure not in error or mechanism not in error:
                    raise BrokerError(f"{mechanism}: a wrong password got {error!r}")
            error = kwire_versions(secure, code=2)
            if "TLS" not in error:
                raise BrokerError(f"plaintext at a TLS port got {error!r}")
        finally:
            kafka.stop()
    print(f"Kafka {release}: TLS with {', '.join(MECHANISMS)}; wrong passwords refused")


def once_known(address: str, *options: str) -> str:
    """Ask again while a user is refused: the broker gets to know a new one later."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return kwire_versions(address, *options)
        except BrokerError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def check(wanted: Sequence[str] = RELEASES) -> None:
    """Check against one broker of each release."""
    for version in wanted:
        with brokers.running(version) as kafka:
            check_versions(kafka)
    check_security(brokers.find_release(wanted[0]))


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--version", action="append", help=f"repeatable; else {', '.join(RELEASES)}"
    )
    arguments = parser.parse_args()
    try:
        check(arguments.version or RELEASES)
    except BrokerError as error:
        sys.exit(f"versions: {error}")


if __name__ == "__main__":
    main()
