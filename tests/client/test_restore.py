# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""If restores are killed at any time, every record is written once and in order.

The broker is simulated, but the connections are real. If a run is killed, its requests
in flight arrive before, between and after the requests from later runs.
"""

import dataclasses
import importlib
import random
import time
from types import SimpleNamespace

import pytest

import kwire as installed
from tests.client.restore_broker import RestoreBroker
from tests.client.restored_logs import (
    START,
    make_rows,
    rows_of,
    with_offsets,
    write_log,
)

TRIES = 200


class Killed(BaseException):
    """Simulates a killed process."""


@pytest.fixture
def job(kwire, monkeypatch):
    """Restore job with small batches and without pauses."""
    module = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.job")
    batches = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.batches")
    monkeypatch.setattr(batches, "BATCH_BYTES", 500)
    monkeypatch.setattr(module, "_POLL_INTERVAL_S", 0.0)
    # Otherwise lagging replicas would return responses without records many times.
    machine = importlib.import_module(f"{kwire.__name__}.client.machines.cluster")
    monkeypatch.setattr(machine, "_FRUITLESS_S", 0.001)
    return module


@pytest.fixture
def restore(kwire, job):
    """Function that restores the log directories below a path.

    Returns the number of written records, and of records that were already present.
    """
    module = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.sources")
    client = importlib.import_module(f"{kwire.__name__}.client")
    log = importlib.import_module(f"{kwire.__name__}.log")
    limits = importlib.import_module(f"{kwire.__name__}._limits")

    def restore(broker, path, topic="orders", bytes_per_s=None):
        log_directory = log.LogDirectory(path)
        sources = module.find_logs(
            log_directory, is_committed=True, limits=limits.DEFAULT
        )
        options = job.RestoreOptions("none", bytes_per_s)
        counts = job.RestoreCounts()
        seen = []
        names = {source.topic: topic for source in sources}
        with client.connect_sync(broker.address) as kafka:
            kafka.settings = dataclasses.replace(
                kafka.settings, retry_backoff_s=0.001, retry_backoff_max_s=0.002
            )
            job.restore(kafka, sources, names, options, counts, seen.append)
        assert sum(seen) == sum(source.size for source in sources)
        return counts.written, counts.present

    return restore


@pytest.mark.parametrize("seed", range(12))
def test_each_record_is_written_once_whatever_is_killed(
    kwire, job, restore, tmp_path, monkeypatch, seed
):
    """Runs are killed while they wait for responses.

    Requests are lost, appended late, or get no response.
    """
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    source = random.Random(seed)
    source_rows = [make_rows(source, source.choice([1, 20, 90])) for _ in range(3)]
    for number, rows in enumerate(source_rows):
        write_log(tmp_path / f"orders-{number}", rows, source)
    with RestoreBroker({"orders": 3}, random=source) as broker:

        def wait(self, active):
            self._runner.run_until(
                lambda: broker.is_killing or not all(copy.is_waiting for copy in active)
            )
            if broker.is_killing:
                broker.is_killing = False
                raise Killed

        monkeypatch.setattr(job._Writer, "wait", wait)
        for _ in range(TRIES):
            try:
                restore(broker, tmp_path)
            except (Killed, errors.DataLost):
                # DataLost is raised if a leader without all records was elected.
                continue
            break
        else:
            pytest.fail("a restore that is killed again and again makes no progress")
        broker.deliver(len(broker.late))
        broker.random = None
        for partition in range(3):
            broker.log("orders", partition).unseen = 0
        written, present = restore(broker, tmp_path)
        # An election may have lost acknowledged records, which are written again.
        assert written + present == sum(map(len, source_rows))
        restored_rows = [
            broker.log("orders", partition).rows() for partition in range(3)
        ]
    assert restored_rows == list(map(with_offsets, source_rows))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("form", ["logs", "export", "partition", "file"])
def test_records_come_back_as_they_were(
    run_restore, tmp_path, rows_by_partition, form, codec
):
    """All records are restored from logs, an export, a partition directory or a file.

    A second run does not add records.
    """
    path = tmp_path / "logs"
    if form == "export":
        path = tmp_path / "out"
        installed.jobs.export([tmp_path / "logs"], path)
    elif form == "partition":
        path, rows_by_partition = path / "orders-1", [[], rows_by_partition[1]]
    elif form == "file":
        path, rows_by_partition = (
            path / "orders-1" / f"{0:020}.log",
            [[], rows_by_partition[1]],
        )
    count = sum(map(len, rows_by_partition))
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, path, "-z", codec)
        assert (code, err.count(f"{count} records of")) == (0, 1), err
        code, err = run_restore(broker, path, "-z", codec)
        assert (code, err.count(f", {count} were there already")) == (0, 1), err
        assert rows_of(broker) == list(map(with_offsets, rows_by_partition))


def test_topic_is_created_on_request(run_restore, tmp_path, rows_by_partition):
    """The topic has the partitions of the source, CreateTime, and long retention."""
    with RestoreBroker() as broker:
        code, err = run_restore(broker, tmp_path / "logs")
        assert (code, broker.created) == (2, [])
        assert "create it with 2 partitions, or add --create-topics" in err
        code, err = run_restore(
            broker, tmp_path / "logs", "--create-topics", "--to-topic", "new"
        )
        assert code == 0 and "new: created with retention.ms=-1" in err
        assert rows_of(broker, "new") == list(map(with_offsets, rows_by_partition))
        (created_topic,) = broker.created
        configs = {config.name: config.value for config in created_topic.configs}
        assert (created_topic.num_partitions, created_topic.replication_factor) == (
            2,
            -1,
        )
        created = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
        assert configs == created
        options = ["--partitions", "5", "--replication-factor", "3", "--topic-config"]
        code, err = run_restore(
            broker, tmp_path / "logs", "--create-topics", *options, "retention.ms=5"
        )
        assert (code, "retention.ms" in err) == (0, False)
        created_topic = broker.created[-1]
        configs = {config.name: config.value for config in created_topic.configs}
        assert (created_topic.name, created_topic.num_partitions) == ("orders", 5)
        assert (created_topic.replication_factor, configs["retention.ms"]) == (3, "5")
        assert [len(rows) for rows in rows_of(broker)] == [30, 40, 0, 0, 0]


def test_a_topic_is_created_in_spite_of_passing_errors(
    run_restore, tmp_path, rows_by_partition
):
    """Covers a moved controller, a lost response, and a topic that exists meanwhile."""
    codes = installed.error_codes
    passing = [codes.NOT_CONTROLLER, None, codes.REQUEST_TIMED_OUT]
    for last in (codes.NONE, codes.TOPIC_ALREADY_EXISTS):
        with RestoreBroker() as broker:
            broker.refusals = [*passing, last]
            if last:
                create = broker._create

                def create_first(request, broker=broker, create=create):
                    if not broker.cluster_truth.topics:
                        broker.add_topic("orders", 2)
                    return create(request)

                broker._create = create_first
            code, err = run_restore(broker, tmp_path / "logs", "--create-topics")
            assert code == 0, err
            assert rows_of(broker) == list(map(with_offsets, rows_by_partition))
            assert len(broker.created) == 4


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            "INVALID_REPLICATION_FACTOR",
            "INVALID_REPLICATION_FACTOR (in its own words)",
        ),
        ("TOPIC_AUTHORIZATION_FAILED", "the broker answered TOPIC_AUTHORIZATION"),
        ("CLUSTER_AUTHORIZATION_FAILED", "the broker answered CLUSTER_AUTHORIZATION"),
        ("NOT_CONTROLLER", "the broker answered NOT_CONTROLLER"),
    ],
)
def test_a_topic_that_cannot_be_created_is_one_sentence(
    run_restore, tmp_path, rows_by_partition, code, text
):
    """The error contains the code and the message of the broker."""
    with RestoreBroker() as broker:
        broker.refusals = [getattr(installed.error_codes, code)] * 1000
        ended, err = run_restore(
            broker, tmp_path / "logs", "--create-topics", "--timeout", "0.3"
        )
    assert (ended, err.count("\n"), broker.cluster_truth.topics) == (2, 1, {})
    assert "creating topics: 'orders': " in err and text in err


def test_topic_error_message_of_a_broker_is_one_short_line(kwire, job):
    """The message is shortened and contains no terminal control characters."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with RestoreBroker() as broker:
        broker.words = "\x1b[2J no\n" * 4000
        broker.refusals = [installed.error_codes.INVALID_REPLICATION_FACTOR]
        with (
            client.connect_sync(broker.address) as kafka,
            pytest.raises(kwire.client.RequestRefused) as caught,
        ):
            job.create_topic(kafka, "orders", 2, 1, {})
    text = str(caught.value)
    assert len(text) < 1000 and text.isprintable() and "no" in text


def test_records_of_others_are_never_mixed_with_restored_ones(
    run_restore, tmp_path, rows_by_partition
):
    """The restore fails if foreign records existed before, or are added later."""
    row = [(b"k", b"foreign", START, [])]
    logs = tmp_path / "logs"
    text = "orders-0: the partition has records that this restore did not write"
    with RestoreBroker({"orders": 2, "other": 2}) as broker:
        broker.put("orders", 0, row)
        code, err = run_restore(broker, logs)
        assert (code, err.count(text)) == (2, 1)
        assert len(rows_of(broker)[0]) == 1
        assert run_restore(broker, logs, "--to-topic", "other")[0] == 0
        broker.put("other", 0, row)
        code, err = run_restore(broker, logs, "--to-topic", "other")
        assert (code, err.count("other-0: the partition has records that")) == (2, 1)


def test_a_record_that_comes_meanwhile_ends_the_restore(
    run_restore, job, tmp_path, rows_by_partition, monkeypatch
):
    """The next receipt reveals the record. Later runs do not accept it as their own."""
    with RestoreBroker({"orders": 2}) as broker:
        wait = job._Writer.wait

        def disturb(self, active):
            wait(self, active)
            if not any(row[3] == b"foreign" for row in broker.log("orders", 1).rows()):
                broker.put("orders", 1, [(b"k", b"foreign", START, [])])

        monkeypatch.setattr(job._Writer, "wait", disturb)
        text = "orders-1: the partition has records that this restore did not write"
        for _ in range(2):
            code, err = run_restore(broker, tmp_path / "logs")
            assert (code, err.count(text)) == (2, 1)


@pytest.mark.parametrize("change", ["first", "later", "shorter"])
def test_another_source_does_not_continue_a_restore(
    run_restore, tmp_path, rows_by_partition, change
):
    """Another source is rejected if any record differs, or if it is shorter."""
    logs, other = tmp_path / "logs", tmp_path / "other"
    rows = list(rows_by_partition[0])
    if change == "shorter":
        rows = rows[:20]
    else:
        index = 0 if change == "first" else 29
        rows[index] = (b"another", *rows[index][1:])
    write_log(other / "orders-0", rows, random.Random(5))
    text = {
        "first": "records that this restore did not write",
        "later": "its record at offset 29 is not record 29 of the source",
        "shorter": "the partition has 30 records, but the source has 20",
    }
    with RestoreBroker({"orders": 2}) as broker:
        assert run_restore(broker, logs, "-p", "0")[0] == 0
        code, err = run_restore(broker, other)
        assert (code, err.count(text[change])) == (2, 1), err
        assert rows_of(broker)[0] == with_offsets(rows_by_partition[0])


def test_aborted_and_unfinished_transactions_are_skipped(run_restore, tmp_path):
    """Aborted records are skipped.

    Records from the start of an unfinished transaction on are skipped and reported.
    """
    folder = tmp_path / "orders-0"
    folder.mkdir()
    encode = installed.records.encode_batch
    marker = b"\0\0\0\0\0\0"

    def in_transaction(base, producer, values, **options):
        rows = [(None, value, START, []) for value in values]
        return encode(
            rows,
            base_offset=base,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=base,
            is_transactional=True,
            **options,
        )

    def end(base, producer, kind):
        row = [(b"\0\0\0" + bytes([kind]), marker, START, [])]
        return encode(
            row,
            base_offset=base,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=-1,
            is_transactional=True,
            is_control=True,
        )

    data = in_transaction(0, 1, [b"aborted"]) + end(1, 1, 0)
    data += in_transaction(2, 1, [b"a", b"b"]) + end(4, 1, 1)
    data += in_transaction(5, 2, [b"open"]) + encode([(None, b"c")], base_offset=6)
    (folder / f"{0:020}.log").write_bytes(data)
    with RestoreBroker({"orders": 1, "all": 1}) as broker:
        code, err = run_restore(broker, tmp_path)
        assert code == 1 and "unfinished transaction begins at offset 5" in err
        assert [row[3] for row in rows_of(broker)[0]] == [b"a", b"b"]
        options = ["--to-topic", "all", "--uncommitted"]
        assert run_restore(broker, tmp_path, *options)[0] == 0
        values = [row[3] for row in rows_of(broker, "all")[0]]
        assert values == [b"aborted", b"a", b"b", b"open", b"c"]
        installed.jobs.export([tmp_path], tmp_path / "out")
        code, err = run_restore(broker, tmp_path / "out", "--to-topic", "all")
        assert code == 0 and "which transactions were aborted" in err


@pytest.mark.parametrize("form", ["logs", "export"])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_timestamps_of_old_formats_are_restored(run_restore, tmp_path, magic, form):
    """Magic 0 has no timestamps. LogAppendTime is restored as the timestamp."""
    rows = [(b"k%d" % n, b"v%d" % n, START + n, []) for n in range(30)]
    options = {"magic": magic, "compression": "gzip" if magic else "none"}
    if magic:
        options["log_append_time"] = START + 99
    write_log(tmp_path / "in" / "orders-0", rows, **options)
    path = tmp_path / "in"
    if form == "export":
        installed.jobs.export([path], path := tmp_path / "out")
    with RestoreBroker({"orders": 1}) as broker:
        for _ in range(2):
            assert run_restore(broker, path)[0] == 0
        restored_rows = rows_of(broker)[0]
    assert [row[2:] for row in restored_rows] == [row[2:] for row in with_offsets(rows)]
    assert {row[1] for row in restored_rows} == {START + 99 if magic else -1}


def test_a_topic_that_stamps_records_is_refused(
    run_restore, tmp_path, rows_by_partition
):
    """The topic has LogAppendTime, so that the timestamps cannot be restored.

    The error is raised on the first receipt, after one record per partition.
    """
    with RestoreBroker({"orders": 2}) as broker:
        broker.append_time = START
        code, err = run_restore(broker, tmp_path / "logs")
        assert code == 2 and "set the topic's message.timestamp.type to Create" in err
        assert max(map(len, rows_of(broker))) == 1
    with RestoreBroker({"orders": 2}) as broker:
        assert run_restore(broker, tmp_path / "logs")[0] == 0
        log = broker.log("orders", 0)
        last = log.batches[-1]
        (batch,) = installed.records.decode_batches(last.data)
        stamped = installed.records.encode_batch(
            [
                (record.key, record.value, record.timestamp, record.headers)
                for record in batch.records
            ],
            base_offset=batch.base_offset,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            log_append_time=START,
        )
        log.batches[-1] = last._replace(data=stamped)
        code, err = run_restore(broker, tmp_path / "logs")
        assert code == 2 and "set the topic's message.timestamp.type to Create" in err


def test_a_damaged_log_is_restored_up_to_the_damage(run_restore, tmp_path):
    """The error for a damaged log recommends ``kwire export``.

    An export of the log restores the records after the damage as well.
    """
    rows = make_rows(random.Random(3), 40)
    write_log(tmp_path / "in" / "orders-0", rows)
    path = tmp_path / "in" / "orders-0" / f"{0:020}.log"
    data = bytearray(path.read_bytes())
    size = installed.records.read_batch_header(bytes(data)).size
    data[2 * size + 100] ^= 1
    path.write_bytes(data)
    with RestoreBroker({"orders": 1}) as broker:
        code, err = run_restore(broker, tmp_path / "in")
        assert code == 2 and "kwire export recovers what is not damaged" in err
        installed.jobs.export([tmp_path / "in"], tmp_path / "out")
        assert run_restore(broker, tmp_path / "out")[0] == 0
        restored_rows = rows_of(broker)[0]
        assert 20 <= len(restored_rows) < 40
        assert [row[1:] for row in restored_rows[:10]] == [
            row[1:] for row in with_offsets(rows)[:10]
        ]


def test_invalid_restore_sources_are_errors(run_restore, tmp_path, rows_by_partition):
    """Each error says how to run the restore instead."""
    logs = tmp_path / "logs"
    installed.jobs.export([logs], tmp_path / "out")
    write_log(tmp_path / "again" / "orders-0", rows_by_partition[0])
    write_log(tmp_path / "more" / "other-0", rows_by_partition[0])
    write_log(tmp_path / "internal" / "__consumer_offsets-0", rows_by_partition[0])
    single = tmp_path / f"{0:020}.log"
    single.write_bytes((logs / "orders-0" / single.name).read_bytes())
    with RestoreBroker({"orders": 1}) as broker:
        for args, text in (
            ([logs], "topic 'orders' must have at least 2 partitions"),
            ([logs, tmp_path / "again"], "orders-0 is in"),
            (
                [logs, tmp_path / "more", "--to-topic", "x"],
                "--to-topic requires a source of one",
            ),
            ([tmp_path / "out", logs], "must be the only PATH"),
            ([tmp_path / "out", "--uncommitted"], "require log files"),
            ([logs, "-t", "typo"], "no partition matches"),
            ([tmp_path / "out", "-t", "typo"], "no partition to restore: "),
            ([tmp_path / "internal"], "only internal topics"),
            ([logs, "--partitions", "2"], "require --create-topics"),
            ([logs, "--create-topics", "--topic-config", "x"], "must be NAME=VALUE"),
        ):
            code, err = run_restore(broker, *args)
            assert (code, err.count(text)) == (2, 1), err
        assert broker.created == []
        code, err = run_restore(broker, single)
        assert code == 2 and len(err.splitlines()) == 1, err


def test_sequence_numbers_go_round_as_those_of_producers(kwire):
    """Sequence number 2^31 - 1 is followed by 0.

    A partition may have more records than there are sequence numbers.
    """
    module = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.batches")
    assert module.sequence_of((1 << 31) - 1) == (1 << 31) - 1
    assert module.sequence_of(1 << 31) == 0
    assert module.sequence_of(5 << 31 | 7) == 7


def test_the_brokers_deletions_are_reported(run_restore, tmp_path, rows_by_partition):
    """Restored records that the brokers have deleted again are reported.

    If the retention is a week, the brokers delete older records immediately.
    """
    with RestoreBroker({"orders": 2}) as broker:
        assert run_restore(broker, tmp_path / "logs")[0] == 0
        broker.log("orders", 0).delete_before(12)
        code, err = run_restore(broker, tmp_path / "logs")
        assert code == 1
        assert "orders-0: the brokers have deleted the first 12 records again" in err
        broker.log("orders", 0).delete_before(30)
        code, err = run_restore(broker, tmp_path / "logs")
        assert code == 2 and "its 30 records are already deleted" in err


def test_interrupted_restore_reports_how_to_continue(
    run_restore, job, tmp_path, rows_by_partition, monkeypatch
):
    """The exit code is 130, as for Ctrl-C. The error says how to continue."""

    def interrupt(self, active):
        raise KeyboardInterrupt

    with RestoreBroker({"orders": 2}) as broker:
        monkeypatch.setattr(job._Writer, "wait", interrupt)
        code, err = run_restore(broker, tmp_path / "logs")
        assert code == 130
        assert "0 records written; the same command continues where" in err


def test_restore_respects_bytes_per_s(
    job, monkeypatch, tmp_path, rows_by_partition, restore
):
    """The pauses between batches limit the rate to ``bytes_per_s``."""
    pauses = []
    # Replace only this module's clock, because other threads need the real one.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=pauses.append)
    monkeypatch.setattr(job, "time", clock)
    with RestoreBroker({"orders": 2}) as broker:
        restore(broker, tmp_path / "logs")
        assert pauses == []
        broker.add_topic("orders", 2)
        restore(broker, tmp_path / "logs", bytes_per_s=100.0)
    # The encoded records have more than 3,000 bytes, so they take more than 30 s at
    # 100 bytes per second. The test does not sleep, so the pauses become longer.
    assert len(pauses) > 4 and pauses[-1] > 10
