# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write the records of the committed data directories, one function per subject.

Every function creates its topics and writes to them with real clients.
``write_data.py`` selects the releases, copies the files and writes their manifest.
"""

from __future__ import annotations

import re
import time
from typing import Any

import confluent_kafka
import confluent_kafka.admin
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from tools.interop.broker import clients
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import SECONDS, Row

# Type checkers cannot resolve the names of this module, because they are defined in
# private modules.
admin: Any = confluent_kafka.admin

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
FIRST_TIMESTAMP = 1_700_000_000_000
WORDS = "the quick brown fox jumps over the lazy dog and runs on"


def numbered_rows(name: str, count: int, first: int = 0, keys: int = 7) -> list[Row]:
    """Create ``count`` rows with text values.

    The first of them has the number ``first``.

    Every fifth row has a unique key, and the other rows share ``keys`` keys. The
    timestamps increase by one second per row.
    """
    return [
        Row(
            f"key-{number if number % 5 == 0 else number % keys}".encode(),
            f"{name} {number} {WORDS}".encode(),
            [("number", str(number).encode())],
            FIRST_TIMESTAMP + number * 1000,
        )
        for number in range(first, first + count)
    ]


# Encoders treat null, empty, repeated and non-ASCII values in special ways, so there is
# a row for each of them.
ODD_ROWS = [
    Row(None, b"null key", [], FIRST_TIMESTAMP),
    Row(b"null value", None, [], FIRST_TIMESTAMP + 1),
    Row(None, None, [], FIRST_TIMESTAMP + 2),
    Row(b"", b"", [], FIRST_TIMESTAMP + 3),
    Row(b"one", b"header", [("name", b"value")], FIRST_TIMESTAMP + 4),
    Row(b"null", b"header", [("null", None), ("empty", b"")], FIRST_TIMESTAMP + 5),
    Row(b"same", b"names", [("a", b"1"), ("a", b""), ("a", None)], FIRST_TIMESTAMP + 6),
    Row(b"empty", b"name", [("", b"of a header")], FIRST_TIMESTAMP + 7),
    Row("ключ".encode(), "Größe €".encode(), [("имя", b"\xf0\x9f")], FIRST_TIMESTAMP),
    Row(b"large", b"x" * 3000, [("many", b"y" * 300)] * 3, FIRST_TIMESTAMP + 9),
]


def administer(broker: Broker, action: str, *arguments: Any) -> None:
    """Run a method of librdkafka's admin client and wait for its results.

    Raises librdkafka's error if one of the results is an error.
    """
    client = admin.AdminClient({"bootstrap.servers": broker.address})
    for each in getattr(client, action)(*arguments).values():
        each.result(SECONDS)


def create_topic(
    broker: Broker, topic: str, *, partitions: int = 1, **settings: Any
) -> None:
    """Create a topic. Underscores in the names of settings become dots."""
    named = {name.replace("_", "."): str(value) for name, value in settings.items()}
    if broker.release.startswith("4.") and "segment.bytes" in named:
        # Since 4.0, the public setting rejects segments smaller than 1 MiB.
        named["internal.segment.bytes"] = named.pop("segment.bytes")
    asked = admin.NewTopic(topic, partitions, 1, config=named)
    administer(broker, "create_topics", [asked])


def set_config(broker: Broker, kind: Any, resource: str, name: str, value: str) -> None:
    """Change one setting of a topic or group. ``kind`` is the type of the resource."""
    operation = admin.AlterConfigOpType.SET
    entry = admin.ConfigEntry(name, value, incremental_operation=operation)
    asked = admin.ConfigResource(kind, resource, incremental_configs=[entry])
    administer(broker, "incremental_alter_configs", [asked])


def create_internal_topics(broker: Broker) -> None:
    """Create Kafka's internal topics with segments of 16 KiB.

    A broker would create them with segments of 100 MiB, which would not be rolled.
    """
    topics = ["__consumer_offsets", "__transaction_state"]
    if broker.release.startswith("4."):
        topics.append("__share_group_state")
    for topic in topics:
        # The share coordinator deletes old state itself, so this topic is not
        # compacted.
        policy = "delete" if topic == "__share_group_state" else "compact"
        create_topic(
            broker,
            topic,
            cleanup_policy=policy,
            segment_bytes=16384,
            min_cleanable_dirty_ratio="0.01",
        )


def write_codecs(broker: Broker) -> None:
    """Write a topic for each codec, with rows of every client."""
    for codec in CODECS:
        topic = f"codec-{codec}"
        create_topic(broker, topic)
        for number, (client, produce) in enumerate(clients.PRODUCERS.items()):
            produce(broker, topic, numbered_rows(client, 24, number * 24), codec, 10)


def rows_for(client: str) -> list[Row]:
    """Return the rows of ``ODD_ROWS`` that a client can write."""
    rows = ODD_ROWS
    if client != "librdkafka":
        rows = [row for row in rows if (row.key, row.value) != (None, None)]
    if client == "kafka-python":
        rows = [row for row in rows if None not in [v for _, v in row.headers]]
    return rows


def write_odd_rows(broker: Broker) -> None:
    """Write ``ODD_ROWS`` to one topic with three clients and codecs."""
    create_topic(broker, "odd-rows")
    codecs = {"librdkafka": "none", "kafka-python": "gzip", "aiokafka": "snappy"}
    for client, codec in codecs.items():
        produce = clients.PRODUCERS[client]
        produce(broker, "odd-rows", rows_for(client), codec, 5)


def write_append_time(broker: Broker, **settings: Any) -> None:
    """Write to a topic in which the broker assigns the timestamps (LogAppendTime)."""
    topic = "append-time"
    create_topic(broker, topic, message_timestamp_type="LogAppendTime", **settings)
    for codec in ("none", "gzip"):
        # Omit the headers, because old_formats.py also calls this function for magic 1,
        # which does not support them.
        rows = [row._replace(headers=[]) for row in numbered_rows(codec, 12)]
        clients.produce_with_librdkafka(broker, topic, rows, codec, 4)


def write_segments(broker: Broker) -> None:
    """Write segments with unordered timestamps, and delete the first 130 records."""
    topic = "segments"
    create_topic(broker, topic, segment_bytes=8192, index_interval_bytes=512)
    rows = numbered_rows(topic, 300)
    for group in range(0, len(rows), 50):
        rows[group : group + 50] = reversed(rows[group : group + 50])
    clients.produce_with_librdkafka(broker, topic, rows, "none", 5)
    start = TopicPartition(topic, 0, 130)
    administer(broker, "delete_records", [start])


def write_partitions(broker: Broker) -> None:
    """Write to two partitions of a topic. A third partition remains empty."""
    create_topic(broker, "partitions", partitions=3)
    producer = clients.librdkafka_producer(broker)
    for number, row in enumerate(numbered_rows("partitions", 20)):
        producer.produce("partitions", row.value, row.key, partition=number % 2)
    producer.flush(SECONDS)


def transactional_producer(
    broker: Broker, name: str, **settings: Any
) -> confluent_kafka.Producer:
    """Create a librdkafka producer that can begin a transaction immediately."""
    producer = clients.librdkafka_producer(broker, transactional_id=name, **settings)
    producer.init_transactions(SECONDS)
    return producer


def write_transactions(broker: Broker) -> None:
    """Write overlapping transactions that span several segments.

    Some of them are committed and some are aborted.
    """
    topic = "transactions"
    create_topic(broker, topic, segment_bytes=4096, index_interval_bytes=512)
    overlap_transactions(broker, topic, 0)


def write_more_transactions(broker: Broker) -> None:
    """Write further transactions to the same topic after a restart of the broker."""
    overlap_transactions(broker, "transactions", 200)


def overlap_transactions(broker: Broker, topic: str, first: int) -> None:
    """Write overlapping transactions of two producers, and records without transaction.

    Each producer commits one transaction and aborts one. ``first`` is the number of the
    first row.
    """
    one = transactional_producer(broker, "one")
    two = transactional_producer(broker, "two", compression_type="zstd")
    rows = iter(numbered_rows(topic, 400, first))

    def send(producer: confluent_kafka.Producer, count: int) -> None:
        group = [next(rows) for _ in range(count)]
        clients.send_with_librdkafka(producer, topic, group)

    for end_of_one, end_of_two in (("commit", "abort"), ("abort", "commit")):
        one.begin_transaction()
        send(one, 3)
        two.begin_transaction()
        for _ in range(8):
            send(two, 3)
            send(one, 4)
        getattr(two, f"{end_of_two}_transaction")(SECONDS)
        clients.produce_with_kafka_python(
            broker, topic, [next(rows), next(rows)], "none", 1
        )
        send(one, 5)
        getattr(one, f"{end_of_one}_transaction")(SECONDS)
    for _ in range(3):
        two.begin_transaction()
        send(two, 2)
        two.abort_transaction(SECONDS)


def leave_transaction_open(broker: Broker) -> confluent_kafka.Producer:
    """Begin a transaction without ending it. The caller must keep the producer alive.

    The transaction timeout is 15 minutes, which is the maximum of the broker. With the
    default of one minute, the broker could abort the transaction during a slow
    comparison, and the last stable offset would change.
    """
    topic = "transaction-open"
    create_topic(broker, topic)
    rows = numbered_rows(topic, 12)
    clients.produce_with_librdkafka(broker, topic, rows[:4], "none", 4)
    producer = transactional_producer(broker, "open", transaction_timeout_ms=900_000)
    producer.begin_transaction()
    clients.send_with_librdkafka(producer, topic, rows[4:8])
    clients.produce_with_librdkafka(broker, topic, rows[8:], "none", 4)
    return producer


def write_compacted(broker: Broker) -> None:
    """Write tombstones, and wait until the log cleaner has set their delete horizon.

    They are then retained for one day.
    """
    topic = "compacted"
    create_compacted(broker, topic, delete_retention_ms=86_400_000)
    for number in range(6):
        rows = numbered_rows(topic, 40, number * 40, keys=29)
        gone = [row._replace(value=None) for row in rows[::9]]
        codec = CODECS[number % len(CODECS)]
        clients.produce_with_librdkafka(broker, topic, rows, codec, 5)
        clients.produce_with_librdkafka(broker, topic, gone, codec, 2)
    wait_for_cleaner(broker, topic)


def write_emptied(broker: Broker) -> None:
    """Write batches that the log cleaner empties.

    The cleaner retains the last batch of each producer without its records.
    """
    topic = "emptied"
    create_compacted(broker, topic, delete_retention_ms=0)
    rows = rows_of_one_key(topic, 30, 0)
    for codec in ("none", "gzip"):
        producer = clients.librdkafka_producer(
            broker, enable_idempotence=True, compression_type=codec
        )
        for group in clients.groups(rows, 5):
            clients.send_with_librdkafka(producer, topic, group)
    for end in ("abort", "commit"):
        producer = transactional_producer(broker, f"emptied-{end}")
        producer.begin_transaction()
        clients.send_with_librdkafka(producer, topic, rows[:10])
        getattr(producer, f"{end}_transaction")(SECONDS)
    # The log cleaner first sets the delete horizon of tombstones and markers, and
    # removes them in a later run.
    for number in range(3):
        rows = rows_of_one_key(topic, 60, number * 60)
        gone = [row._replace(value=None) for row in rows[:2]]
        clients.produce_with_librdkafka(broker, topic, gone + rows, "none", 10)
        wait_for_cleaner(broker, topic)


def rows_of_one_key(name: str, count: int, first: int) -> list[Row]:
    """Create rows with the same key, of which the log cleaner retains only the last."""
    return [row._replace(key=b"key") for row in numbered_rows(name, count, first)]


def create_compacted(broker: Broker, topic: str, **settings: Any) -> None:
    """Create a topic whose closed segments are compacted immediately."""
    create_topic(
        broker,
        topic,
        cleanup_policy="compact",
        segment_bytes=4096,
        index_interval_bytes=512,
        min_cleanable_dirty_ratio="0.001",
        **settings,
    )


def wait_for_cleaner(broker: Broker, topic: str) -> None:
    """Wait until the log cleaner has processed all segments except the active one.

    Raises ``BrokerError`` if that takes more than ``SECONDS``.
    """
    in_use = max(int(log.stem) for log in broker.data.glob(f"{topic}-0/*.log"))
    checkpoint = broker.data / "cleaner-offset-checkpoint"
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        text = checkpoint.read_text() if checkpoint.exists() else ""
        found = re.search(rf"^{re.escape(topic)} 0 (\d+)$", text, re.MULTILINE)
        if found and int(found[1]) >= in_use:
            return
        time.sleep(0.1)
    raise BrokerError(f"the cleaner did not reach offset {in_use} of {topic}-0")


def write_classic_groups(broker: Broker) -> None:
    """Commit offsets of classic groups: with members, in transactions, and manually.

    One group is deleted.
    """
    topic = next(path.name for path in broker.data.glob("*none-0")).removesuffix("-0")
    join_group(broker, "classic-group", topic).close()
    join_group(broker, "static-group", topic, group_instance_id="a-member").close()
    join_group(broker, "deleted-group", topic).close()
    administer(broker, "delete_consumer_groups", ["deleted-group"])
    # Commit offsets through the admin client, for a group that has no members. 60
    # commits are enough to make the log cleaner run.
    for number in range(60):
        at = TopicPartition(topic, 0, number, metadata=f"commit {number}")
        asked = ConsumerGroupTopicPartitions("manual-group", [at])
        administer(broker, "alter_consumer_group_offsets", [asked])
    commit_in_transaction(broker, topic)


def write_consumer_groups(broker: Broker) -> confluent_kafka.Consumer:
    """Commit offsets with the consumer group protocol (KIP-848).

    One group has no members afterwards. The member of the other group is returned, and
    the caller must keep it alive.
    """
    protocol = {"group_protocol": "consumer"}
    join_group(broker, "consumer-group", "codec-none", **protocol).close()
    return join_group(broker, "lasting-group", "codec-none", **protocol)


def join_group(
    broker: Broker, group: str, topic: str, **settings: str
) -> confluent_kafka.Consumer:
    """Join a group, read five records, and commit the offset after each of them.

    Returns the consumer, which the caller must close.
    """
    consumer = clients.librdkafka_consumer(broker, group, **settings)
    consumer.subscribe([topic])
    for _ in range(5):
        message = next_message(consumer)
        at = TopicPartition(topic, 0, message.offset() + 1, metadata="read")
        consumer.commit(offsets=[at], asynchronous=False)
    return consumer


def next_message(consumer: confluent_kafka.Consumer) -> Any:
    """Return the next message. Raises ``BrokerError`` on an error or timeout."""
    message = consumer.poll(SECONDS)
    if message is None or message.error():
        raise BrokerError(f"a consumer got {message and message.error()}")
    return message


def commit_in_transaction(broker: Broker, topic: str) -> None:
    """Commit offsets in two transactions of a producer. The second one is aborted."""
    consumer = clients.librdkafka_consumer(broker, "transactional-group")
    consumer.subscribe([topic])
    producer = transactional_producer(broker, "offsets")
    for end in ("commit", "abort"):
        offset = next_message(consumer).offset() + 1
        producer.begin_transaction()
        producer.send_offsets_to_transaction(
            [TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata()
        )
        getattr(producer, f"{end}_transaction")(SECONDS)
    consumer.close()


def write_share_group(broker: Broker) -> None:
    """Read records as a share group, and acknowledge them in several rounds."""
    group, topic = "share-group", "shared"
    create_topic(broker, topic)
    of_group = admin.ResourceType.GROUP
    set_config(broker, of_group, group, "share.auto.offset.reset", "earliest")
    consumer = confluent_kafka.ShareConsumer(
        {"bootstrap.servers": broker.address, "group.id": group}
    )
    consumer.subscribe([topic])
    # Polling acknowledges the records that the previous poll returned.
    for number in range(8):
        rows = numbered_rows(topic, 6, number * 6)
        clients.produce_with_librdkafka(broker, topic, rows, "none", 6)
        read, deadline = 0, time.monotonic() + SECONDS
        while read < len(rows):
            read += len(consumer.poll(0.5))
            if time.monotonic() > deadline:
                raise BrokerError(f"the share group read {read} of {len(rows)} records")
    consumer.close()


def write_tiered(broker: Broker) -> None:
    """Write to two topics with tiered storage, and delete the second topic.

    The function waits until the broker has moved all closed segments to the remote
    storage.
    """
    for topic, rows in (("tiered", 200), ("tiered-deleted", 120)):
        create_topic(
            broker,
            topic,
            segment_bytes=8192,
            remote_storage_enable="true",
            local_retention_bytes=1,
            retention_ms=-1,
        )
        sent = numbered_rows(topic, rows)
        clients.produce_with_librdkafka(broker, topic, sent, "none", 10)
        deadline = time.monotonic() + SECONDS
        while len(list(broker.data.glob(f"{topic}-0/*.log"))) > 1:
            if time.monotonic() > deadline:
                raise BrokerError(f"{topic}-0 was not moved to tiered storage")
            time.sleep(0.1)
    administer(broker, "delete_topics", ["tiered-deleted"])


def write_metadata(broker: Broker) -> None:
    """Change the cluster, so that the metadata log contains many types of records."""
    create_topic(broker, "deleted")
    administer(broker, "delete_topics", ["deleted"])
    set_config(broker, admin.ResourceType.TOPIC, "partitions", "retention.bytes", "-1")
    administer(broker, "create_partitions", [admin.NewPartitions("partitions", 4)])
    scram = admin.ScramCredentialInfo(admin.ScramMechanism.SCRAM_SHA_256, 4096)
    user = admin.UserScramCredentialUpsertion("alice", scram, b"password", b"salt")
    administer(broker, "alter_user_scram_credentials", [user])
    allowed = admin.AclBinding(
        admin.ResourceType.TOPIC,
        "partitions",
        admin.ResourcePatternType.LITERAL,
        "User:alice",
        "*",
        admin.AclOperation.READ,
        admin.AclPermissionType.ALLOW,
    )
    administer(broker, "create_acls", [allowed])


def write_odd_topics(broker: Broker) -> None:
    """Write all topics that are difficult to read, for comparisons of clients."""
    create_internal_topics(broker)
    write_codecs(broker)
    write_odd_rows(broker)
    write_append_time(broker)
    write_segments(broker)
    write_partitions(broker)
    write_transactions(broker)
    write_compacted(broker)
    write_emptied(broker)
