# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Logs with topics and consumer groups, and the rows that ``offsets`` must return.

The expected rows are stored while the logs are written. For example, the lag at a
commit is counted record by record.
"""

from pathlib import Path
from uuid import UUID

from kwire import encode, messages, records
from kwire.messages import internal_topics

START = 1_700_000_000_000
MINUTE = 60_000
ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"
END_TXN = b"\0\0\0\0\0\0"
TOPIC_ID = UUID(int=0x1234)
TOPIC_ID_TEXT = "AAAAAAAAAAAAAAAAAAASNA"


class Log:
    """Partition directory under construction.

    Batches are kept in memory, in the last segment of ``segments``, until ``write``.
    """

    def __init__(self, root, topic, partition, base_offset=0):
        self.folder = Path(root) / f"{topic}-{partition}"
        self.next = base_offset
        self.segments = [(base_offset, [])]

    def roll(self):
        """Start the next segment. It has the next offset as name."""
        self.segments.append((self.next, []))

    def batch(self, rows, **options):
        """Append (key, value, timestamp) rows as a batch. Return its first offset."""
        first = self.next
        rows = [(*row, []) for row in rows]
        options = {"base_offset": first} | options
        if options.get("producer_id", -1) >= 0 and not options.get("is_control"):
            options["base_sequence"] = 0
        self.segments[-1][1].append(records.encode_batch(rows, **options))
        self.next = options.get("last_offset", first + len(rows) - 1) + 1
        return first

    def marker(self, producer, kind, offset):
        """Append the commit or abort marker that ends a producer's transaction."""
        self.batch(
            [(kind, END_TXN, offset)],
            producer_id=producer,
            producer_epoch=0,
            is_transactional=True,
            is_control=True,
        )

    def skip(self, count):
        """Skip ``count`` offsets, as if compaction had removed the records."""
        self.next += count

    def write(self):
        """Write all segments to the directory, and return their paths."""
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for base_offset, batches in self.segments:
            paths.append(self.folder / f"{base_offset:020}.log")
            paths[-1].write_bytes(b"".join(batches))
        return paths


class Topic(Log):
    """Partition of a topic.

    ``arrivals`` contains the arrival time of every record in milliseconds, by offset.
    """

    def __init__(self, root, topic, partition, base_offset=0, topic_id=None):
        super().__init__(root, topic, partition, base_offset)
        self.start = base_offset
        self.arrivals = {}
        if topic_id is not None:
            self.folder.mkdir(parents=True)
            text = f"version: 0\ntopic_id: {topic_id}\n"
            (self.folder / "partition.metadata").write_text(text)

    def produce(self, count, timestamp, **options):
        """Append a batch of ``count`` records that arrived at ``timestamp``."""
        first = self.batch([(b"k", b"v", timestamp)] * count, **options)
        self.arrivals |= dict.fromkeys(range(first, self.next), timestamp)

    def lag(self, committed, timestamp):
        """Return (log end offset, lag in records, lag in milliseconds) at a time.

        ``committed`` is the committed offset. All three values are None if no record is
        known to have arrived by then.
        """
        end = max(
            (n + 1 for n, t in self.arrivals.items() if t <= timestamp), default=0
        )
        if not end and self.start:
            return None, None, None
        end = max(end, committed)
        waiting = [
            t for n, t in self.arrivals.items() if n >= committed and t <= timestamp
        ]
        return end, end - committed, timestamp - waiting[0] if waiting else 0


class Groups(Log):
    """Partition of ``__consumer_offsets``, and the rows that ``offsets`` must return.

    ``topics`` contains the available logs by (topic, partition).
    """

    def __init__(self, root, partition=0, topics=None):
        super().__init__(root, "__consumer_offsets", partition)
        self.number = partition
        self.topics = topics or {}
        self.commits = []
        self.lag = []

    def write_records(self, messages_, timestamp, **options):
        """Append one batch of (key message, value message, version) records.

        Return its first offset.
        """
        rows = [
            (*internal_topics.encode(self.name, *message), timestamp)
            for message in messages_
        ]
        return self.batch(rows, **options)

    name = "__consumer_offsets"

    def commit(
        self,
        group,
        topic,
        partition,
        offset,
        timestamp,
        *,
        version=3,
        counts=True,
        topic_id=None,
        metadata="",
        epoch=-1,
        **options,
    ):
        """Append a commit of ``offset``, or a tombstone if the offset is None.

        ``counts`` is whether the job must return the commit as a row.
        """
        key = messages.OffsetCommitKey(group=group, topic=topic, partition=partition)
        value = None
        if offset is not None:
            value = messages.OffsetCommitValue(
                offset=offset,
                leader_epoch=epoch,
                metadata=metadata,
                commit_timestamp=timestamp,
                **({} if topic_id is None else {"topic_id": topic_id}),
            )
        written = self.write_records([(key, value, version)], timestamp, **options)
        if not counts:
            return
        is_tombstone = offset is None
        self.commits.append(
            {
                "timestamp": timestamp,
                "group": group,
                "topic": topic,
                "partition": partition,
                "offset": offset,
                "leader_epoch": None if epoch < 0 else epoch,
                "metadata": None if is_tombstone else metadata,
                "expire_timestamp": None,
                "is_tombstone": is_tombstone,
                "log_offset": written,
                "log_partition": self.number,
                "record_version": None if is_tombstone else version,
                "topic_id": None if topic_id is None else TOPIC_ID_TEXT,
            }
        )
        if not is_tombstone:
            log = self.topics.get((topic, partition))
            end, lag, lag_ms = (
                (None,) * 3 if log is None else log.lag(offset, timestamp)
            )
            self.lag.append(
                {
                    "timestamp": timestamp,
                    "group": group,
                    "topic": topic,
                    "partition": partition,
                    "committed": offset,
                    "log_end": end,
                    "lag": lag,
                    "lag_ms": lag_ms,
                    "log_offset": written,
                }
            )

    def classic(
        self, group, generation, members, timestamp, *, protocol_type="consumer"
    ):
        """Append the state of a classic group.

        ``members`` maps member ids to the assigned partitions, which are a dict from
        topic to partition ids.
        """
        member_entries = []
        for member, assigned in members.items():
            subscription = messages.ConsumerProtocolSubscription(topics=["orders"])
            assignment = messages.ConsumerProtocolAssignment(
                assigned_partitions=[
                    messages.ConsumerProtocolAssignment.TopicPartition(
                        topic=topic, partitions=partitions
                    )
                    for topic, partitions in assigned.items()
                ]
            )
            member_entries.append(
                messages.GroupMetadataValue.MemberMetadata(
                    member_id=member,
                    client_id="client",
                    client_host="/10.0.0.1",
                    subscription=b"\0\0" + encode(subscription, 0),
                    assignment=b"\0\0" + encode(assignment, 0),
                )
            )
        value = messages.GroupMetadataValue(
            protocol_type=protocol_type,
            generation=generation,
            protocol="range" if members else None,
            leader=next(iter(members), None),
            current_state_timestamp=timestamp,
            members=member_entries,
        )
        self.write_records(
            [(messages.GroupMetadataKey(group=group), value, 3)], timestamp
        )


def consumer_records(group, epoch, members, *, joined=(), left=(), assigned=None):
    """Return the records that a coordinator writes for an epoch bump of a group.

    * ``members``: ids of the members that have reached the epoch.
    * ``joined``: ids of new members.
    * ``left``: ids of members that left the group.
    * ``assigned``: epoch of the target assignment.
    """
    group_records = []
    for member in joined:
        group_records.append(
            (
                messages.ConsumerGroupMemberMetadataKey(
                    group_id=group, member_id=member
                ),
                messages.ConsumerGroupMemberMetadataValue(
                    client_id="client",
                    client_host="/10.0.0.2",
                    subscribed_topic_names=["orders"],
                ),
                0,
            )
        )
    for member in left:
        for cls in (
            messages.ConsumerGroupCurrentMemberAssignmentKey,
            messages.ConsumerGroupTargetAssignmentMemberKey,
            messages.ConsumerGroupMemberMetadataKey,
        ):
            group_records.append((cls(group_id=group, member_id=member), None, 0))
    if epoch is not None:
        group_records.append(
            (
                messages.ConsumerGroupMetadataKey(group_id=group),
                messages.ConsumerGroupMetadataValue(epoch=epoch),
                0,
            )
        )
    if assigned is not None:
        group_records.append(
            (
                messages.ConsumerGroupTargetAssignmentMetadataKey(group_id=group),
                messages.ConsumerGroupTargetAssignmentMetadataValue(
                    assignment_epoch=assigned
                ),
                0,
            )
        )
    value = messages.ConsumerGroupCurrentMemberAssignmentValue
    for member, (at_epoch, partitions) in members.items():
        group_records.append(
            (
                messages.ConsumerGroupCurrentMemberAssignmentKey(
                    group_id=group, member_id=member
                ),
                value(
                    member_epoch=at_epoch,
                    previous_member_epoch=at_epoch - 1,
                    state=0,
                    assigned_partitions=[
                        value.TopicPartitions(topic_id=TOPIC_ID, partitions=partitions)
                    ],
                ),
                0,
            )
        )
    return group_records


def write_cluster(root):
    """Write 30 minutes of a small cluster. Return its groups and the stuck rows.

    * The two ``orders`` partitions get ten records every ten seconds.
    * ``idle`` gets no records after the first minute.
    * ``unseen`` has commits, but no log.
    """
    topics = {
        ("orders", n): Topic(root, "orders", n, topic_id=TOPIC_ID_TEXT) for n in (0, 1)
    }
    topics["idle", 0] = idle = Topic(root, "idle", 0)
    for timestamp in range(START, START + 30 * MINUTE, 10_000):
        for number in (0, 1):
            topics["orders", number].produce(10, timestamp + number)
        if timestamp < START + MINUTE:
            idle.produce(5, timestamp)
    for log in topics.values():
        log.write()
    groups = Groups(root, 7, topics)
    groups.classic("good", 1, {"a": {"orders": [0, 1]}}, START)
    groups.commit("idle-reader", "idle", 0, 20, START + 50_000)
    groups.commit("dead", "orders", 0, 30, START + MINUTE, topic_id=TOPIC_ID, version=4)
    for minute in range(1, 30):
        timestamp = START + minute * MINUTE + 500
        for number in (0, 1):
            groups.commit("good", "orders", number, 60 * minute, timestamp)
        groups.commit(
            "slow", "orders", 0, 20 * minute, timestamp, metadata="café", epoch=2
        )
        groups.commit("blocked", "orders", 1, min(minute, 4) * 50, timestamp + 1)
        groups.commit("gone", "unseen", 0, minute, timestamp + 2)
        if minute == 10:
            groups.classic(
                "good", 2, {"a": {"orders": [0]}, "b": {"orders": [1]}}, timestamp + 3
            )
            groups.roll()
        if minute == 20:
            groups.classic("good", 3, {"b": {"orders": [0, 1]}}, timestamp + 3)
    end = START + 29 * MINUTE + 2000
    transaction = {"producer_epoch": 0, "is_transactional": True}
    groups.commit("txn", "orders", 0, 100, end, producer_id=1, **transaction)
    groups.marker(1, COMMIT, end + 1)
    for offset in (200, 300):
        groups.commit(
            "txn",
            "orders",
            0,
            offset,
            end + 2,
            counts=False,
            producer_id=2,
            **transaction,
        )
    groups.marker(2, ABORT, end + 3)
    groups.pending = groups.next
    groups.commit(
        "txn", "orders", 0, 400, end + 4, counts=False, producer_id=3, **transaction
    )
    groups.commit("expired", "orders", 1, 7, end + 5)
    groups.commit("expired", "orders", 1, None, end + 6)
    groups.end = end + 6
    groups.paths = groups.write()
    since = START + 4 * MINUTE + 501
    groups.stuck = [
        ("dead", "orders", 0, 30, 1800, START + MINUTE, START + MINUTE),
        ("blocked", "orders", 1, 200, 1800, since, START + 29 * MINUTE + 501),
    ]
    return groups
