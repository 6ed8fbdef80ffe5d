# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options and columns for the sink ``kafka-live``, and errors about wrong ones."""

import pickle

import pytest

from kwire.client.property_names import OF_CONNECTIONS, OF_PRODUCERS
from kwire.spark.live.sink_options import SinkColumns, find_columns, read_sink_options
from kwire.spark.topics.option_names import SINK_OPTIONS
from tests.spark.guide_tables import listed_options

_, HONOURED, IGNORED, REFUSED = SINK_OPTIONS
SPARKS_OPTIONS = {"topic", "includeHeaders", "kafka.bootstrap.servers"}
"""Options in the documentation of Spark's own sink, except producer properties."""

SPARK_REFUSES = {"kafka.key.serializer", "kafka.value.serializer"}
PASSWORD = "s3cr3t-Kx9"
HEADERS = "array<struct<key:string,value:binary>>"


def options(**settings):
    return read_sink_options({"kafka.bootstrap.servers": "broker:9092", **settings})


def test_guide_lists_the_effect_of_every_option():
    """The guide lists all options: those with an effect, ignored ones, rejected ones.

    Its lists equal the lists in the code.
    """
    guide = "spark/write.md"
    assert listed_options(guide, "Options") == sorted(HONOURED)
    assert listed_options(guide, "Ignored options") == sorted(IGNORED)
    assert listed_options(guide, "Refused options") == sorted(REFUSED)
    assert len({*HONOURED, *IGNORED, *REFUSED}) == sum(
        map(len, (HONOURED, IGNORED, REFUSED))
    )


def test_every_option_of_sparks_own_sink_is_known():
    """Every option that Spark's own sink reads is accepted.

    A job therefore only has to change the name of the format. Options that Spark's own
    sink rejects are rejected.
    """
    assert {*HONOURED, *IGNORED} >= SPARKS_OPTIONS
    assert REFUSED.keys() >= SPARK_REFUSES
    followed = {*OF_CONNECTIONS, *OF_PRODUCERS}
    assert {*HONOURED} >= {f"kafka.{name}" for name in followed}


def test_without_options_a_producer_has_its_defaults():
    """By default, the producer is idempotent and waits for all in-sync replicas.

    Other properties of Kafka are ignored.
    """
    plain = options()
    assert plain.topic is None
    assert plain.producer == {"acks": "all", "compression": "none"}
    assert options(**{name.upper(): "whatever" for name in IGNORED}) == plain
    assert options(**{"kafka.group.id": "g", "kafka.isolation.level": "x"}) == plain


def test_properties_of_a_producer_become_its_arguments():
    read = options(
        **{
            "TOPIC": " orders ",
            "KAFKA.ACKS": "1",
            "kafka.enable.idempotence": "false",
            "kafka.compression.type": "zstd",
            "kafka.compression.zstd.level": "-5",
            "kafka.compression.lz4.level": "whatever",
            "kafka.batch.size": "16384",
            "kafka.max.request.size": "2000000",
            "kafka.buffer.memory": "1000000",
            "kafka.delivery.timeout.ms": "5000",
            "kafka.max.block.ms": "7000",
            "kafka.request.timeout.ms": "9000",
        }
    )
    assert read.topic == "orders"
    assert read.producer == {
        "acks": 1,
        "idempotent": False,
        "compression": "zstd",
        "compression_level": -5,
        "max_batch_bytes": 16384,
        "max_request_bytes": 2_000_000,
        "memory_bytes": 1_000_000,
        "delivery_timeout_s": 5.0,
    }
    settings = read.cluster.connect().settings
    assert (settings.timeout_s, settings.request_timeout_s) == (7.0, 9.0)
    same = {"kafka.compression.type": "gzip", "kafka.compression.gzip.level": "-1"}
    assert options(**same).producer == {"acks": "all", "compression": "gzip"}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_options_are_rejected_with_an_alternative(name):
    with pytest.raises(
        ValueError, match="the sink kafka-live does not support"
    ) as caught:
        options(**{name.upper(): "true"})
    assert name.upper() in str(caught.value) and REFUSED[name] in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"kafka.bootstrap.servers": " "}, "the sink kafka-live requires brokers: "),
        ({"tpic": "x"}, "has no option 'tpic': did you mean topic?"),
        ({"subscribe": "x"}, "the sink kafka-live has no option 'subscribe': use one"),
        ({"path": "orders"}, "the sink kafka-live has no option 'path': "),
        ({"topic": "  "}, "topic cannot be empty"),
        ({"kafka.acks": "0"}, "kafka.acks must be one of all, -1, 1"),
        ({"kafka.ack": "1"}, "did you mean kafka.acks?"),
        ({"kafka.enable.idempotense": "1"}, "did you mean kafka.enable.idempotence?"),
        (
            {"kafka.acks": "1", "kafka.enable.idempotence": "true"},
            "kafka.enable.idempotence=true requires kafka.acks=all (got kafka.acks=1)",
        ),
        ({"kafka.compression.type": "brotli"}, "must be one of none, gzip, snappy"),
        (
            {"kafka.compression.type": "gzip", "kafka.compression.gzip.level": "12"},
            "options kafka.compression.*: ",
        ),
        (
            {"kafka.compression.type": "lz4", "kafka.compression.lz4.level": "best"},
            "kafka.compression.lz4.level must be a number",
        ),
        ({"kafka.batch.size": "0"}, "kafka.batch.size must be 1 or more"),
        ({"kafka.delivery.timeout.ms": "2m"}, "kafka.delivery.timeout.ms must be a"),
        ({"kafka.ssl.enabled.protocols": "x"}, "has no option kafka.ssl.enabled.prot"),
        ({"kafka.security.protocol": "TLS"}, "options kafka.* of kafka-live: security"),
    ],
)
def test_wrong_options_are_errors_with_a_correction(settings, text):
    with pytest.raises(ValueError, match=r"\w") as caught:
        options(**settings)
    assert text in str(caught.value)


def test_no_repr_shows_a_secret():
    """No repr contains a secret. Pickles do, because the workers need it."""
    read = options(
        **{
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.username": "writer",
            "kafka.sasl.password": PASSWORD,
        }
    )
    assert PASSWORD not in repr(read) and "broker:9092" in repr(read)
    assert pickle.loads(pickle.dumps(read)) == read


def test_columns_are_found_by_name_wherever_they_are():
    """Columns are found by name at any position, and other columns are ignored.

    The column ``topic`` is ignored if an option specifies the topic.
    """
    columns = [
        ("offset", "bigint"),
        ("value", "string"),
        ("headers", HEADERS),
        ("topic", "string"),
        ("key", "binary"),
        ("partition", "int"),
    ]
    expected = SinkColumns(key=4, value=1, headers=2, partition=5, topic=3)
    assert find_columns(columns, None) == expected
    assert find_columns(columns, "orders") == expected._replace(topic=None)
    assert find_columns([("value", "binary"), ("topic", "int")], "orders") == (
        SinkColumns(None, 0, None, None, None)
    )


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ([], "requires the column value (got no column)"),
        ([("Value", "string")], "requires the column value (got Value); name the"),
        ([("value", "int")], "the column value must be string or binary (got int)"),
        ([("key", "bigint")], "the column key must be string or binary (got bigint)"),
        ([("partition", "bigint")], "the column partition must be int (got bigint)"),
        ([("topic", "binary")], "the column topic must be string (got binary)"),
        ([("headers", "map<string,binary>")], f"headers must be {HEADERS} (got map"),
        ([("key", "string"), ("key", "string")], "several columns have the name key"),
        ([("value", "string"), ("value", "int")], "several columns have the name "),
        ([("value", "string")], "requires topics: give the option topic, or a column"),
    ],
)
def test_unsupported_columns_are_rejected(columns, text):
    names = [name.lower() for name, _ in columns]
    if columns and "value" not in names:
        columns = [("value", "string"), *columns]
    with pytest.raises(ValueError, match=r"\w") as caught:
        find_columns(columns, None)
    assert text in str(caught.value)
