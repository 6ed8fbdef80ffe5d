# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of ``kafka-log``, and errors about wrong options."""

import pytest

from kwire.spark.log.options import LOG_OPTIONS, read_options
from kwire.spark.topics.layout import chosen_layout, default_layout
from kwire.spark.topics.options import EVERYWHERE
from tests.spark.guide_tables import SPARK_REFUSES, SPARKS_OPTIONS, listed_options

_, HONOURED, IGNORED, REFUSED = LOG_OPTIONS


def options(**settings):
    return read_options({"path": "logs", **settings})


def test_defaults_are_those_of_the_documentation():
    """The default of every option is the first word in the documentation's list."""
    read = options()
    assert (read.view, read.mode, read.duplicates) == ("records", "FAILFAST", "keep")
    assert read.isolation_level == "read_uncommitted"
    assert read.starting == ("offsets", "earliest")
    assert read.ending == ("offsets", "latest")
    assert not read.strict_tail and read.verify_crc and not read.include_headers
    assert read.max_partition_bytes == 128 << 20


def test_names_and_words_count_without_case():
    """Names and values of options are accepted in any case.

    Spark passes names in any case, and users write values in any case.
    """
    read = read_options({"PATH": "logs", "MODE": "permissive", "strictTAIL": "TRUE"})
    assert (read.mode, read.strict_tail) == ("PERMISSIVE", True)


def test_guide_lists_the_effect_of_every_option():
    """The guide lists all options: those with an effect, ignored ones, rejected ones.

    Its lists equal the lists in the code.
    """
    assert listed_options("spark/index.md", "Options") == sorted(HONOURED)
    assert listed_options("spark/index.md", "Ignored options") == sorted(IGNORED)
    assert listed_options("spark/index.md", "Refused options") == sorted(REFUSED)
    assert len({*HONOURED, *IGNORED, *REFUSED}) == sum(
        map(len, (HONOURED, IGNORED, REFUSED))
    )


def test_every_option_of_sparks_own_source_is_known():
    """Every option that Spark's own source reads is accepted.

    A query therefore only has to change the name of the format. Options that Spark's
    own source rejects are rejected.
    """
    assert {*HONOURED, *IGNORED} >= SPARKS_OPTIONS
    assert REFUSED.keys() == SPARK_REFUSES


@pytest.mark.parametrize("name", IGNORED)
def test_options_without_effect_on_rows_are_ignored(name):
    """An option that has no effect on the rows is ignored.

    It may have any value, and its name may be in any case.
    """
    assert options(**{name.upper(): "whatever"}) == options()


@pytest.mark.parametrize("name", REFUSED)
def test_options_rejected_by_sparks_own_source_have_an_alternative(name):
    with pytest.raises(ValueError, match="kafka-log does not support") as caught:
        options(**{name.upper(): "true"})
    assert name.upper() in str(caught.value) and REFUSED[name] in str(caught.value)


def test_settings_that_kafka_does_not_know_are_ignored_as_kafka_ignores_them():
    assert options(**{"kafka.key.serializer": "y", "kafka.acks": "1"}) == options()
    with pytest.warns(UserWarning, match=r"kafka-log ignores the option of a name"):
        assert options(**{"kafka.my.plugin": "x"}) == options()


def test_a_slip_in_a_setting_of_kafka_is_named_in_a_warning():
    """A misspelled Kafka property causes a warning, as in Kafka.

    A name that looks like a secret is not shown.
    """
    with pytest.warns(
        UserWarning, match=r"min\.byte, .* did you mean kaf"
    ) as warning_list:
        options(**{"kafka.fetch.min.byte": "1", "kafka.max.poll.recods": "2"})
    (warning,) = warning_list
    assert "kafka.max.poll.recods" in str(warning.message)
    with pytest.warns(UserWarning, match="not shown") as warning_list:
        options(**{"kafka.MIGHAgEAMBMGByqGSM49AgEGC": "", "kafka.hunter2": ""})
    assert "MIG" not in str(warning_list[0].message) and "hunter" not in str(
        warning_list[0].message
    )


def test_kafkas_isolation_level_is_honoured():
    """``kafka.isolation.level`` and ``isolationLevel`` select the isolation level."""
    level = "kafka.isolation.level"
    assert options(**{level: "read_committed"}).isolation_level == "read_committed"
    assert options(**{level: "read_uncommitted"}) == options()
    equal_levels = {level: "read_committed", "isolationLevel": "read_committed"}
    assert options(**equal_levels).isolation_level == "read_committed"
    for kafka_level, spark_level in (
        ("committed", "uncommitted"),
        ("uncommitted", "committed"),
    ):
        with pytest.raises(ValueError, match="give one of them") as caught:
            options(
                **{
                    level: f"read_{kafka_level}",
                    "isolationLevel": f"read_{spark_level}",
                }
            )
        assert (
            f"isolationLevel is read_{spark_level} and {level} is read_{kafka_level}"
            in str(caught.value)
        )


@pytest.mark.parametrize("level", ["kafka.isolation.level", "isolationLevel"])
def test_batches_of_aborted_transactions_are_not_shown_as_committed(level):
    """The batch view rejects the level read_committed.

    It shows all batches, including those of aborted transactions.
    """
    with pytest.raises(ValueError, match="omit the level, or set view=records"):
        options(view="batches", **{level: "read_committed"})
    assert options(view="batches", **{level: "read_uncommitted"}).view == "batches"


@pytest.mark.parametrize("name", ["isolaton.level", "isolation_level", "isolation"])
def test_a_slip_in_the_isolation_level_is_not_taken_for_a_plugins_setting(name):
    """A misspelled name of the isolation level raises an error with the correct name.

    Kafka ignores unknown names, and would silently return aborted records.
    """
    with pytest.raises(ValueError, match=r"did you mean kafka\.isolation\.level\?"):
        options(**{f"kafka.{name}": "read_committed"})


@pytest.mark.parametrize("name", [n for n in (*HONOURED, *IGNORED) if "." not in n])
def test_a_slip_in_a_name_is_answered_with_that_name(name):
    """The error for a misspelled option recommends the intended option.

    It must not recommend the option with the opposite effect.
    """
    for slip in (name[:-1], name[:3] + name[4:], name + "s"):
        if slip.lower() in map(str.lower, (*HONOURED, *IGNORED)):
            continue
        with pytest.raises(ValueError, match=rf"did you mean {name}\?$"):
            LOG_OPTIONS.choose({slip: ""})


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("90s", 90_000),
        ("15 m", 900_000),
        ("2H", 7_200_000),
        ("250", 250),
        ("1d", 864e5),
    ],
)
def test_the_delay_of_a_trigger_is_written_as_spark_writes_times(text, milliseconds):
    assert options().max_trigger_delay_ms == 900_000
    assert options(maxTriggerDelay=text).max_trigger_delay_ms == milliseconds


def test_batch_view_only_reads_headers_by_default():
    """The batch view only reads batch headers by default."""
    assert not options(view="batches").verify_crc
    assert options(view="batches", verifyCrc="true").verify_crc


def test_several_paths_come_as_json():
    read = read_options({"paths": '["a", "b"]'})
    assert read.paths == ("a", "b")


@pytest.mark.parametrize(
    ("settings", "topic", "partition", "is_selected"),
    [
        ({}, "any", 0, True),
        ({"subscribe": "orders, bills"}, "bills", 3, True),
        ({"subscribe": "orders"}, "order", 0, False),
        ({"subscribePattern": "ord.*"}, "orders", 0, True),
        ({"subscribePattern": " rde"}, "orders", 0, True),
        ({"subscribePattern": "^rde"}, "orders", 0, False),
        ({"subscribePattern": ".*"}, "__consumer_offsets", 0, False),
        ({"subscribePattern": ".*"}, "__cluster_metadata", 0, False),
        ({"subscribePattern": ".*"}, "__remote_log_metadata", 0, True),
        ({"subscribe": "__consumer_offsets"}, "__consumer_offsets", 0, True),
        ({"assign": '{"orders": [0, 2]}'}, "orders", 2, True),
        ({"assign": '{"orders": [0, 2]}'}, "orders", 1, False),
    ],
)
def test_partitions_are_chosen_as_by_sparks_own_source(
    settings, topic, partition, is_selected
):
    assert options(**settings).takes(topic, partition) is is_selected


@pytest.mark.parametrize(
    ("settings", "starting"),
    [
        (
            {"startingOffsets": '{"t": {"0": 5, "1": -2}}'},
            ("offsets", {("t", 0): 5, ("t", 1): -2}),
        ),
        ({"startingTimestamp": "1700"}, ("timestamps", {EVERYWHERE: 1700})),
        (
            {"startingOffsetsByTimestamp": '{"t": {"0": 9}}', "startingOffsets": "{}"},
            ("timestamps", {("t", 0): 9}),
        ),
        (
            {
                "startingTimestamp": "1",
                "startingOffsetsByTimestamp": '{"t": {"0": 9}}',
            },
            ("timestamps", {EVERYWHERE: 1}),
        ),
    ],
)
def test_first_of_the_three_start_options_applies(settings, starting):
    """If several start options are set, the first one in Spark's order applies.

    The order is one timestamp, timestamps by partition, and offsets.
    """
    assert options(**settings).starting == starting


WRONG = [
    ({"path": ""}, "requires a path"),
    ({"pathh": "x"}, "no option 'pathh': did you mean path?"),
    ({"zzzzzz": "x"}, "no option of such a name: use one of path"),
    ({"maxRecords": "x"}, "no option 'maxRecords': did you mean"),
    ({"mode": "LAX"}, "PERMISSIVE, DROPMALFORMED (got 'LAX')"),
    ({"view": "rows"}, "view must be one of records, batches, problems, index"),
    ({"includeHeaders": "yes"}, "includeHeaders must be true or false (got 'yes')"),
    ({"minPartitions": "0"}, "minPartitions must be 1 or more"),
    ({"minPartitions": "two"}, "minPartitions must be a number"),
    ({"maxPartitionBytes": "1.5g"}, "maxPartitionBytes must be a number of bytes"),
    ({"maxPartitionBytes": "0"}, "maxPartitionBytes must be 1 or more"),
    ({"subscribe": "a", "assign": "{}"}, "subscribe and assign cannot be given"),
    ({"subscribe": " , "}, "subscribe names no topic"),
    ({"kafka.isolation.level": "committed"}, "kafka.isolation.level must be one of re"),
    ({"maxRecordsPerPartition": "0"}, "maxRecordsPerPartition must be 1 or more"),
    ({"maxTriggerDelay": "soon"}, "maxTriggerDelay must be a duration such as 90s"),
    ({"maxTriggerDelay": "3 weeks"}, "maxTriggerDelay must be a duration such as 90s"),
    (
        {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"},
        "minOffsetsPerTrigger is 5 and maxOffsetsPerTrigger 4",
    ),
    ({"subscribePattern": " "}, "subscribePattern cannot be empty"),
    ({"subscribePattern": "("}, "subscribePattern must be a regular"),
    ({"assign": "[1]"}, "assign must be JSON such as"),
    ({"assign": '{"t": [true]}'}, "assign must list the partitions"),
    ({"assign": "{"}, "assign must be JSON such as"),
    ({"startingOffsets": "first"}, "startingOffsets must be JSON such as"),
    ({"startingOffsets": "beginning"}, "or earliest or latest"),
    ({"startingOffsets": '{"t": 5}'}, "startingOffsets must have a number for"),
    ({"startingOffsets": '{"t": {"0": -3}}'}, "(got -3 for t-0)"),
    ({"endingOffsets": '{"t": {"x": 3}}'}, "(got 3 for t-x)"),
    ({"startingOffsetsByTimestamp": '{"t": {"0": -1}}'}, "(got -1 for t-0)"),
    ({"startingTimestamp": "yesterday"}, "startingTimestamp must be a number, milli"),
    ({"paths": '["a", 5]'}, "requires a path"),
]


@pytest.mark.parametrize(
    ("settings", "text"), WRONG, ids=[str(case) for case, _ in WRONG]
)
def test_wrong_option_is_an_error_with_valid_choices(settings, text):
    """A wrong option raises an error with the valid choices.

    Spark only shows the text of the error.
    """
    with pytest.raises(ValueError, match=r".") as caught:
        options(**settings)
    assert text in str(caught.value)


def test_sizes_may_be_written_as_people_do():
    sizes = {"65536": 65536, "128m": 128 << 20, "1 GB": 1 << 30, "4kb": 4096}
    for text, size in sizes.items():
        assert options(maxPartitionBytes=text).max_partition_bytes == size


SPARKS_OWN = (
    "`key` binary, `value` binary, `topic` string, `partition` int, `offset` bigint, "
    "`timestamp` timestamp, `timestampType` int"
)


def test_the_columns_are_those_of_sparks_own_kafka_source():
    """The columns equal those of Spark's own Kafka source.

    Code that reads from brokers can also read files without a change.
    """
    assert default_layout(options()).ddl == SPARKS_OWN
    with_headers = default_layout(options(includeHeaders="true")).ddl
    assert with_headers == (
        f"{SPARKS_OWN}, `headers` array<struct<key:string,value:binary>>"
    )


def test_the_column_of_corrupt_regions_comes_when_it_is_named():
    """The column of corrupt regions only exists if it is requested.

    An option or the schema contains its name.
    """
    assert default_layout(options(mode="PERMISSIVE")).corrupt is None
    layout = default_layout(options(columnNameOfCorruptRecord="bad"))
    assert layout.corrupt == "bad" and "bad" in layout.columns
    kind = layout.columns["bad"]
    chosen = chosen_layout(options(), [("value", "binary"), ("_corrupt_record", kind)])
    assert chosen.corrupt == "_corrupt_record"


def test_a_schema_chooses_among_all_columns_in_its_order():
    chosen = chosen_layout(options(), [("file_path", "string"), ("offset", "bigint")])
    assert list(chosen.columns) == ["file_path", "offset"]


@pytest.mark.parametrize(
    ("requested", "text"),
    [
        (("place", "bigint"), "has no column 'place' in view=records; it has key,"),
        (("offset", "int"), "column 'offset' of kafka-log must be bigint (got"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(requested, text):
    with pytest.raises(ValueError, match="kafka-log") as caught:
        chosen_layout(options(), [requested])
    assert text in str(caught.value)
