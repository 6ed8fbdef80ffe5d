# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests public names: consistent vocabulary, and units in names for numbers.

The rules apply to all parameters and attributes that the reference documents, see
``public_names``. Fields in Kafka messages are not included. Names that match a Kafka
property are exempt from the rule about limits.
"""

from collections.abc import Callable

import pytest

from kwire.client.property_names import KNOWN
from tests.project.public_names import PublicName, list_public_names

_LIMITS = {"most", "least", "maximum", "minimum", "largest", "smallest"}
_DURATIONS = {
    "age",
    "backoff",
    "delay",
    "interval",
    "latency",
    "lifetime",
    "linger",
    "timeout",
}
_COUNTS = {"num", "number_of", "message_count", "messages_count", "row_count"}

# Modules in which an offset would be a position in bytes, because they do not read
# logs. ``kwire.messages.wire`` and ``DecodeError`` are exempt: their ``offset`` existed
# before the rule.
_WITHOUT_LOGS = (
    "kwire.connection",
    "kwire.explain",
    "kwire.messages",
    "kwire.records.compression",
    "kwire.schema",
)
_WIRE = "kwire.messages.wire"
_WITH_RECORDS = ("kwire.client", "kwire.log", "kwire.records")


def words_of(item: PublicName) -> set[str]:
    """Split a name into its words."""
    return set(item.name.split("_"))


def is_value(item: PublicName) -> bool:
    """Return whether a name is a parameter or an attribute."""
    return item.kind != "function"


def is_of_kafka(item: PublicName) -> bool:
    """Return whether a name is that of a Kafka property (``retry.backoff.max.ms``)."""
    name = item.name.removesuffix("_s") + "_ms" if item.name[-2:] == "_s" else item.name
    return name.replace("_", ".") in KNOWN


def has_milliseconds(item: PublicName) -> bool:
    """Rule: durations are in seconds, or a ``timedelta``, never in milliseconds."""
    return item.name.endswith("_ms")


def lacks_seconds(item: PublicName) -> bool:
    """Rule: a duration in seconds ends with ``_s``."""
    is_duration = is_value(item) and bool(words_of(item) & _DURATIONS)
    has_unit = item.name.endswith("_s") or "timedelta" in item.annotation
    return is_duration and not has_unit


def has_other_limit(item: PublicName) -> bool:
    """Rule: a limit begins with ``max_`` or ``min_``."""
    words = item.name.split("_")
    is_inside = bool({"max", "min"} & set(words[1:]))
    return bool(_LIMITS & set(words)) or (is_inside and not is_of_kafka(item))


def lacks_bytes(item: PublicName) -> bool:
    """Rule: a size in bytes ends with ``_bytes``.

    The name ``size`` alone is allowed for the size of the object in bytes.
    """
    words = words_of(item)
    is_size = bool(words & {"size", "length"}) and len(words) > 1
    return is_value(item) and is_size and not item.name.endswith("_bytes")


def has_offset_in_bytes(item: PublicName) -> bool:
    """Rule: an offset always refers to a log. A position in bytes is a ``position``."""
    is_elsewhere = item.module.startswith(_WITHOUT_LOGS) and item.module != _WIRE
    return is_value(item) and is_elsewhere and "offset" in words_of(item)


def has_other_count(item: PublicName) -> bool:
    """Rule: a number of records is called ``record_count``."""
    is_vague = item.kind == "attribute" and item.name == "count"
    is_other = bool(words_of(item) & {"num"}) or item.name in _COUNTS
    return is_value(item) and (is_vague or is_other or item.name == "records_count")


def has_other_kafka_word(item: PublicName) -> bool:
    """Rule: use Kafka's terms, such as ``isolation_level`` and ``group_id``."""
    is_group = item.name == "group" and item.annotation in ("str", "str | None")
    return is_value(item) and (item.name in ("isolation", "instance_id") or is_group)


def has_rows(item: PublicName) -> bool:
    """Rule: only tables have rows, and only the protocol has messages."""
    # ``batch_rows`` is allowed, because it is the number of rows in an Arrow record
    # batch.
    if not item.module.startswith(_WITH_RECORDS) or item.name == "batch_rows":
        return False
    is_of_protocol = any(
        word in item.annotation for word in ("Message", "Request", "messages.")
    )
    words = words_of(item)
    has_message = bool(words & {"message", "messages"}) and not is_of_protocol
    return has_message or bool(words & {"row", "rows"})


Rule = Callable[[PublicName], bool]
RULES: dict[Rule, PublicName] = {
    has_milliseconds: PublicName("kwire.client", "a", "linger_ms"),
    lacks_seconds: PublicName("kwire.client", "a", "poll_timeout", "float"),
    has_other_limit: PublicName("kwire.records", "a", "most_bytes"),
    lacks_bytes: PublicName("kwire.client", "a", "batch_size", "int"),
    has_offset_in_bytes: PublicName("kwire.explain", "a", "offset", "int"),
    has_other_count: PublicName("kwire.client", "a", "count", "int", "attribute"),
    has_other_kafka_word: PublicName("kwire.client", "a", "group", "str"),
    has_rows: PublicName("kwire.client", "a", "rows"),
}
"""All rules. The value is an example of a name that violates only this rule."""


@pytest.fixture(scope="module")
def names():
    """Return all public names."""
    public_names = list_public_names()
    assert len(public_names) > 1500
    return public_names


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_public_names_follow_the_rules(names, rule):
    """No public name violates the rule."""
    assert [str(item) for item in names if rule(item)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_name_that_breaks_a_rule_is_detected(rule):
    """A rule rejects its example, and the other rules accept it."""
    example = RULES[rule]
    assert [rule_check.__name__ for rule_check in RULES if rule_check(example)] == [
        rule.__name__
    ] or (rule is has_milliseconds)
    assert rule(example)


def test_names_of_kafka_properties_are_exempt():
    """A limit with the name of a Kafka property need not begin with ``max_``.

    An example is ``retry_backoff_max_s``.
    """
    assert not has_other_limit(PublicName("kwire.client", "a", "retry_backoff_max_s"))
    assert has_other_limit(PublicName("kwire.client", "a", "retry_pause_max_s"))


@pytest.mark.parametrize(
    "name",
    [
        "kwire.client.Kafka.scan: isolation_level",
        "kwire.client.KafkaSync.consumer: group_instance_id",
        "kwire.client.Producer.send: value",
        "kwire.client.Receipt: record_count",
        "kwire.records.BatchHeader: record_count",
        "kwire.records.encode_batch: compression",
        "kwire.messages.wire.decode_varint: offset",
        "kwire.Limits: frame_bytes",
    ],
)
def test_the_list_of_names_is_complete(names, name):
    """Test parameters and attributes of classes, compiled and inherited functions."""
    assert name in {str(item) for item in names}
