# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check all features with brokers of all releases since 0.8.

    python -m pytest tools/interop/broker/test_releases.py  # a sample, for CI
    make interop-releases  # all releases, into docs/guides/live.md

For every release, a feature must either work, or kwire must report the feature and the
required release. librdkafka reads the records written by kwire, and kwire reads the
records written by librdkafka, so that two errors in kwire cannot cancel out. With
``--document``, the results are written to the table in docs/guides/live.md.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka
import pytest

from kwire import client
from kwire.client import BrokersUnreachable, FeatureUnsupported, RequestRefused
from kwire.schema import releases
from tools.interop.broker import broker as brokers
from tools.interop.broker import workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import Row
from tools.interop.broker.wire import expect

SAMPLE = ("2.3.1", "0.10.2.2", "0.8.2.2")
"""Releases of the short check: one for each record format."""
SECONDS = 180
"""Timeout for one operation in seconds. Operations are normally much faster."""
CODECS = ("none", "gzip", "snappy")
"""Codecs that all releases support. Other codecs are separate features."""
LATER_CODECS = {"lz4": "0.8.2", "zstd": "2.1"}
COUNT = 40
START = 1_700_000_000_000
PAGE = brokers.HERE.parents[2] / "docs" / "guides" / "live.md"
BEGIN, END = "<!-- releases: begin -->", "<!-- releases: end -->"


class Setting(NamedTuple):
    """Running broker, and a kwire client that is connected to it."""

    kafka: Broker
    client: client.KafkaSync

    @property
    def line(self) -> str:
        """Release line of the broker, for example "2.8", as named in
        ``schema.releases``.
        """
        names = [name for name in releases.NAMES if is_of_line(self.kafka, name)]
        return names[-1]

    @property
    def fallback(self) -> str | None:
        """Release that kwire has to assume, or None.

        Brokers before 0.10 do not report their versions.
        """
        return self.line if self.line in before("0.10.0") else None

    @property
    def codecs(self) -> list[str]:
        """Names of the codecs that the broker supports."""
        later = (x for x, y in LATER_CODECS.items() if self.line not in before(y))
        return [*CODECS, *later]

    @property
    def written(self) -> int:
        """Number of records that librdkafka has written to the topic ``to-kwire``."""
        return COUNT * len(self.codecs)


def is_of_line(kafka: Broker, name: str) -> bool:
    """Return whether a broker is a patch release of a release line."""
    return f"{kafka.release}.".startswith(f"{name}.")


def before(release: str) -> tuple[str, ...]:
    """Return the names of all release lines before a release, oldest first."""
    return releases.NAMES[: releases.NAMES.index(release)]


def create_topic(kafka: Broker, topic: str, partitions: int = 2) -> None:
    """Create a topic with the tool of the release.

    Old brokers do not support a request that creates topics.
    """
    count = ("--partitions", str(partitions), "--replication-factor", "1")
    if kafka.has_zookeeper:
        zookeeper = ("--zookeeper", f"{brokers.LOOPBACK}:{kafka.other_port}")
        if kafka.release.startswith("0.8.0"):
            sizes = ("--partition", str(partitions), "--replica", "1")
            command = "kafka.admin.CreateTopicCommand"
            kafka.run_class(command, "--topic", topic, *sizes, *zookeeper)
        else:
            command = "kafka.admin.TopicCommand"
            kafka.run_class(command, "--create", "--topic", topic, *count, *zookeeper)
    else:
        workloads.create_topic(kafka, topic, partitions=partitions)


def make_rows(name: str, count: int = COUNT) -> list[Row]:
    """Create ``count`` rows without headers. Their timestamps increase by 1 ms."""
    return [
        Row(b"key-%d" % (n % 5), f"{name} {n}".encode(), [], START + n)
        for n in range(count)
    ]


def peer(setting: Setting) -> dict[str, Any]:
    """Return the librdkafka settings for the release of the broker."""
    settings: dict[str, Any] = {
        "bootstrap.servers": setting.kafka.address,
        # librdkafka would warn that the settings below are deprecated.
        "log_level": 0,
    }
    if setting.fallback is not None:
        settings["api.version.request"] = "false"
        settings["broker.version.fallback"] = setting.kafka.release
    return settings


def read_with_peer(setting: Setting, topic: str, count: int) -> list[tuple[Any, ...]]:
    """Read ``count`` records with librdkafka.

    Returns (partition, offset, key, value) tuples, sorted by partition and offset.
    Raises ``BrokerError`` if that takes more than ``SECONDS``.
    """
    # Kafka 0.8.1 and earlier have no group coordinator. With them, closing the consumer
    # takes as long as the session timeout, in milliseconds.
    options = {"group.id": "peer", "session.timeout.ms": 1000}
    consumer = confluent_kafka.Consumer({**options, **peer(setting)})
    named = confluent_kafka.TopicPartition
    beginning = confluent_kafka.OFFSET_BEGINNING
    consumer.assign([named(topic, partition, beginning) for partition in range(2)])
    records: list[tuple[Any, ...]] = []
    deadline = time.monotonic() + SECONDS
    while len(records) < count:
        message = consumer.poll(1)
        if time.monotonic() > deadline:
            raise BrokerError(f"librdkafka read {len(records)} of {count} records")
        if message is not None and message.error():
            raise BrokerError(f"librdkafka: {message.error()}")
        if message is not None:
            position = message.partition(), message.offset()
            records.append((*position, message.key(), message.value()))
    consumer.close()
    return sorted(records)


def scanned(scan: Any) -> list[tuple[Any, ...]]:
    """Return (partition, offset, key, value) for all records of a scan, sorted."""
    return sorted(
        (record.partition, record.offset, record.key, record.value)
        for record in scan.records()
    )


# Each of the following functions checks one feature. It returns normally if the feature
# works, and raises FeatureUnsupported if the broker does not support it.


def check_topics(setting: Setting) -> None:
    """List the topics. Listing must not create a missing topic on old brokers."""
    topics = setting.client.topics()
    expect("the partitions", sorted(topics["to-kwire"].partitions), [0, 1])
    expect("topics", "missing" in topics, False)


def check_scan(setting: Setting) -> None:
    """A scan reads the records of each codec, with both isolation levels."""
    expected = read_with_peer(setting, "to-kwire", setting.written)
    for isolation in ("read_uncommitted", "read_committed"):
        records = scanned(setting.client.scan("to-kwire", isolation_level=isolation))
        expect(f"a scan, {isolation}", records, expected)


def check_small_fetches(setting: Setting) -> None:
    """A scan with 100 bytes of memory reads batches that one response cannot hold."""
    expected = read_with_peer(setting, "to-kwire", setting.written)
    records = scanned(setting.client.scan("to-kwire", memory_bytes=100))
    expect("a scan with little memory", records, expected)


def check_follow(setting: Setting) -> None:
    """A scan that follows a topic reads records that are written while it waits."""
    with setting.client.scan("followed", follow=True) as scan:
        messages = scan.records()
        for number in range(3):
            write_with_peer(setting, "followed", make_rows(f"f{number}", 1), "none")
            expect("a followed record", next(messages).value, f"f{number} 0".encode())


def check_offsets(setting: Setting) -> None:
    """The start offsets and the end offsets of partitions are correct."""
    kafka = setting.client
    rows = read_with_peer(setting, "to-kwire", setting.written)
    ends = {part: sum(row[0] == part for row in rows) for part in (0, 1)}
    expect("the end", kafka.offsets("to-kwire", at="latest"), ends)
    start = kafka.offsets("to-kwire", at="earliest")
    expect("the start", start, {0: 0, 1: 0})


def check_offsets_by_time(setting: Setting) -> None:
    """Look up the offset of the first record at or after a timestamp.

    Records without timestamp (magic 0) are ignored.
    """
    timestamp = datetime.datetime.fromtimestamp(
        (START + COUNT // 2) / 1000, datetime.UTC
    )
    offsets = setting.client.offsets("to-kwire", at=timestamp)
    expected: dict[int, int] = {}
    for record in setting.client.scan("to-kwire").records():
        if record.timestamp >= START + COUNT // 2:
            expected.setdefault(record.partition, record.offset)
    expect("offsets by time", offsets, dict(sorted(expected.items())))


def write(setting: Setting, topic: str, codecs: Sequence[str], **options: Any) -> None:
    """Write records to a topic with kwire, and read them with librdkafka.

    * ``codecs``: codecs of the batches, one after the other.
    * ``options``: options of the producer.
    """
    written: list[Row] = []
    for codec in codecs:
        rows = make_rows(codec)
        with setting.client.producer(compression=codec, **options) as producer:
            receipts = producer.send_many(
                topic, [(row.key, row.value, row.timestamp) for row in rows]
            )
        expect("receipts", sum(receipt.record_count for receipt in receipts), COUNT)
        written += rows
    values = [row[2:] for row in read_with_peer(setting, topic, len(written))]
    expect(topic, sorted(values), sorted((row.key, row.value) for row in written))


def check_producer(setting: Setting) -> None:
    """Write with an idempotent producer, which writes every record exactly once."""
    write(setting, "idempotent", ["gzip"])


def check_plain_producer(setting: Setting) -> None:
    """Write with a producer that is not idempotent, in each codec of ``CODECS``."""
    write(setting, "from-kwire", CODECS, idempotent=False)


def check_codec(codec: str, setting: Setting) -> None:
    """Write with a codec that was added in a later release."""
    write(setting, codec, [codec], idempotent=False)


def check_headers(setting: Setting) -> None:
    """Write a record with a header, and read the header with a scan."""
    with setting.client.producer(idempotent=False) as producer:
        producer.send_many("headers", [(None, b"value", START, [("name", b"x")])])
    (record,) = setting.client.scan("headers").records()
    expect("headers", list(record.headers), [("name", b"x")])


def check_transactions(setting: Setting) -> None:
    """Commit a transaction, and read its record with a read_committed scan."""
    with (
        setting.client.producer(transactional_id="etl") as producer,
        producer.transaction(),
    ):
        producer.send_many("transactions", [(None, b"value")])
    # The coordinator confirms the end of the transaction before the partition leaders
    # have received the markers. A scan that starts too early does not return the
    # record.
    deadline = time.monotonic() + SECONDS
    records: list[tuple[Any, ...]] = []
    while not records and time.monotonic() < deadline:
        records = scanned(
            setting.client.scan("transactions", isolation_level="read_committed")
        )
    expect("the values", [value for *_, value in records], [b"value"])


def check_committed_offsets(setting: Setting) -> None:
    """Commit offsets for a group and continue there, without joining the group."""
    for _ in range(2):
        with setting.client.consumer(
            "to-kwire", group_id="etl", partitions="all", start="earliest"
        ) as consumer:
            chunk = next(iter(consumer))
            consumer.commit(chunk)
    ends = setting.client.offsets("to-kwire", at="latest")
    expect("the second partition", chunk.next_offset, ends[chunk.partition])


def check_group(setting: Setting) -> None:
    """Join a group, read a chunk and commit it.

    The broker's error that the protocol is disabled counts as an unsupported feature.
    """
    try:
        with setting.client.consumer(
            "to-kwire", group_id="joined", start="earliest"
        ) as consumer:
            chunk = next(iter(consumer))
            consumer.commit(chunk)
    except RequestRefused as error:
        if "does not have this group protocol enabled" not in str(error):
            raise
        raise FeatureUnsupported(
            "the group protocol of KIP-848", "", setting.line, "4.0", ""
        ) from None


def run_kwire(setting: Setting, *arguments: str, text: str = "", code: int = 0) -> str:
    """Run a kwire command that connects to the broker.

    ``code`` is the expected exit code. Returns the output.
    """
    name, *rest = arguments
    fallback = [] if setting.fallback is None else ["--fallback", setting.fallback]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "kwire",
            name,
            setting.kafka.address,
            *rest,
            *fallback,
            "--timeout",
            str(SECONDS),
        ],
        input=text,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode != code:
        raise BrokerError(f"kwire {name} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def check_commands(setting: Setting) -> None:
    """The commands topics, versions, write and read work with the broker."""
    rows = run_kwire(setting, "topics", "to-kwire", "-o", "jsonl").splitlines()
    counts = [json.loads(row)["end_offset"] for row in rows]
    expect("kwire topics", sum(counts), setting.written)
    row = json.loads(run_kwire(setting, "versions", "-o", "jsonl").splitlines()[0])
    if setting.fallback is None:
        expect("kwire versions", setting.line in row["release"], True)
    plain = () if setting.line not in before("0.11.0") else ("--no-idempotent",)
    lines = [f"line {number}" for number in range(COUNT)]
    run_kwire(setting, "write", "commands", *plain, text="\n".join(lines) + "\n")
    read = run_kwire(setting, "read", "commands", "-o", "jsonl").splitlines()
    values = [json.loads(line)["value"] for line in read]
    expect("kwire read", sorted(values), sorted(lines))


FEATURES: dict[str, Callable[[Setting], None]] = {
    "topics": check_topics,
    "scans": check_scan,
    "scans with little memory": check_small_fetches,
    "scans that follow": check_follow,
    "first and last offsets": check_offsets,
    "offsets by time": check_offsets_by_time,
    "producers with `idempotent=False`": check_plain_producer,
    **{f"{name} compression": partial(check_codec, name) for name in LATER_CODECS},
    "idempotent producers": check_producer,
    "headers": check_headers,
    "transactions": check_transactions,
    "committed offsets": check_committed_offsets,
    "joining groups": check_group,
    "commands": check_commands,
}
TOPICS = (
    "to-kwire",
    "from-kwire",
    "idempotent",
    "followed",
    "headers",
    "transactions",
    "commands",
    *LATER_CODECS,
)


def write_with_peer(setting: Setting, topic: str, rows: list[Row], codec: str) -> None:
    """Write rows to both partitions with librdkafka. Waits for acknowledgements."""
    producer = confluent_kafka.Producer(
        {"compression.type": codec, "linger.ms": 20, **peer(setting)}
    )
    failures: list[Any] = []

    def note(failure: Any, _message: Any) -> None:
        if failure is not None:
            failures.append(failure)

    for number, row in enumerate(rows):
        producer.produce(
            topic,
            row.value,
            row.key,
            partition=number % 2,
            timestamp=row.timestamp,
            on_delivery=note,
        )
    if producer.flush(SECONDS) or failures:
        raise BrokerError(
            f"librdkafka did not deliver all records of {topic} with codec {codec}:"
            f" {failures[:1]}"
        )


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, str]]:
    """Required release by tested release and feature. It is "" if the feature works."""
    return {}


@pytest.fixture(scope="module")
def setting(version: str, results: dict[str, dict[str, str]]) -> Iterator[Setting]:
    """Broker with topics and records of librdkafka, and a connected client.

    At the end, the results of the release are stored if all of its features have been
    checked.
    """
    with brokers.running(version) as kafka:
        unconnected = Setting(kafka, client.connect_sync("unused:1"))
        with client.connect_sync(
            kafka.address, timeout_s=SECONDS, fallback=unconnected.fallback
        ) as connected:
            setting = Setting(kafka, connected)
            with ThreadPoolExecutor(2) as threads:
                list(threads.map(partial(create_topic, kafka), TOPICS))
            for codec in setting.codecs:
                write_with_peer(setting, "to-kwire", make_rows(codec), codec)
            yield setting
        required = results.get(kafka.release, {})
        if required.keys() == FEATURES.keys():
            stored_result(kafka.release).write_text(json.dumps(required))


@pytest.mark.releases(*SAMPLE)
@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_works_or_names_the_release_that_it_requires(
    setting: Setting, feature: str, results: dict[str, dict[str, str]]
) -> None:
    required = ""
    try:
        FEATURES[feature](setting)
    except FeatureUnsupported as error:
        required = error.first_release
        assert setting.line in before(required)
        print(f"requires {required}")
    results.setdefault(setting.kafka.release, {})[feature] = required


@pytest.mark.releases(*SAMPLE)
def test_brokers_that_cannot_report_versions_require_the_fallback(
    setting: Setting,
) -> None:
    if setting.fallback is None:
        return
    with (
        client.connect_sync(setting.kafka.address, timeout_s=SECONDS) as kafka,
        pytest.raises(BrokersUnreachable, match="set fallback to its release"),
    ):
        kafka.topics()


def stored_result(release: str) -> Path:
    """Return the file that stores the results of a release in the build directory."""
    return brokers.TARGET / f"features-{release}.json"


def document() -> None:
    """Write the stored results of all releases to docs/guides/live.md, newest first.

    Raises ``BrokerError`` if a release has no stored results.
    """
    lines = ["| release | working features | missing features |", "|---|---|---|"]
    for release in brokers.releases():
        try:
            required = json.loads(stored_result(release).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BrokerError(f"Kafka {release} has not passed the check yet") from None
        missing = [f"{name} ({required[name]})" for name in FEATURES if required[name]]
        working = [name for name in FEATURES if not required[name]]
        names = ", ".join(working) if missing else "all"
        lines.append(f"| {release} | {names} | {', '.join(missing) or 'none'} |")
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    table = "\n".join(lines)
    PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}", encoding="utf-8")
