# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations of topics, brokers, groups and client metrics subscriptions.

A value that is not set for the resource itself comes from the broker, and finally from
the default in ``config_tables``. Source: ``ConfigHelper``, ``LogConfig.validate``,
``DynamicBrokerConfig`` and ``ClientMetricsConfigs``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...schema import error_codes
from .config_tables import PER_BROKER, READ_ONLY, Property, load_tables
from .features import (
    DESCRIBES_UNSET_METRICS,
    ELIGIBLE_REPLICAS_VERSION,
    is_since,
    list_finalized_features,
)
from .rejection import Rejected
from .topic_pattern import TopicPattern

if TYPE_CHECKING:
    from .cluster import BrokerState
    from .topic import Topic

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
"""Types of resources. Source: ``ConfigResource.Type``."""

SOURCE_TOPIC, SOURCE_BROKER, SOURCE_CLUSTER, SOURCE_STATIC, SOURCE_DEFAULT = range(1, 6)
SOURCE_CLIENT_METRICS, SOURCE_GROUP = 7, 8
"""Sources of a value. Source: ``DescribeConfigsResponse.ConfigSource``."""

_FAMILIES = (
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
)
"""Broker properties with the same meaning, the one with the highest priority first."""

_INVALID = error_codes.INVALID_CONFIG
_BITS = {"short": 15, "int": 31, "long": 63}
_CLIENT_PARAMETERS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


class Synonym(NamedTuple):
    """Value of a property that applies if no earlier synonym has a value."""

    name: str
    value: str | None
    source: int


class ConfigValue(NamedTuple):
    """Effective value of a property, and the synonyms that determine it."""

    property: Property
    value: str | None
    synonyms: tuple[Synonym, ...]

    @property
    def source(self) -> int:
        """Source of the value."""
        return self.synonyms[0].source if self.synonyms else SOURCE_DEFAULT


class Configs:
    """Configuration of all resources, except that topics store their own.

    * ``metrics_version``: number of changes of client metrics subscriptions.
    """

    def __init__(self, release: str) -> None:
        self.tables = load_tables(release)
        self.metrics_version = 0
        self._has_broker_values = False
        self._describes_unset_metrics = is_since(release, DESCRIBES_UNSET_METRICS)
        self._resources: dict[int, dict[str, dict[str, str]]] = {
            kind: {} for kind in (BROKER, CLIENT_METRICS, GROUP)
        }
        if ELIGIBLE_REPLICAS_VERSION in list_finalized_features(release):
            # Eligible leader replicas are enabled, which fixes this value (KIP-966).
            self._resources[BROKER][""] = {"min.insync.replicas": "1"}

    def dynamic(self, resource_type: int, name: str) -> Mapping[str, str]:
        """Return the values that are set for a broker, group or subscription.

        The broker with the name "" contains the values of all brokers.
        """
        return self._resources[resource_type].get(name, {})

    def replace(self, resource_type: int, name: str, values: Mapping[str, str]) -> None:
        """Set all values of a broker, group or subscription."""
        resources = self._resources[resource_type]
        if values:
            resources[name] = dict(values)
        else:
            resources.pop(name, None)
        if resource_type == BROKER:
            self._has_broker_values = bool(resources)
        elif resource_type == CLIENT_METRICS:
            self.metrics_version += 1

    def list_names(self, resource_type: int) -> list[str]:
        """List the resources of a type that have values."""
        return list(self._resources[resource_type])

    def topic_value(self, topic: Topic, name: str, broker: BrokerState) -> str:
        """Return the effective value of a topic property, or "" if there is none."""
        value = topic.configs.get(name)
        if value is None:
            prop = self.tables.topic.get(name)
            if prop is None:
                return ""
            if not self._has_broker_values:
                return prop.default or ""
            value = self._effective(prop, {}, SOURCE_TOPIC, broker).value
        return value or ""

    def group_number(self, group_id: str, name: str, default: int) -> int:
        """Return the number that is set for a group, or ``default``."""
        return int(self.dynamic(GROUP, group_id).get(name, default))

    def describe_topic(
        self, configs: Mapping[str, str], broker: BrokerState
    ) -> list[ConfigValue]:
        """Return the effective configuration of a topic with these values."""
        return [
            self._effective(prop, configs, SOURCE_TOPIC, broker)
            for prop in self.tables.topic.values()
        ]

    def describe_group(self, group_id: str, broker: BrokerState) -> list[ConfigValue]:
        """Return the effective configuration of a group."""
        values = self.dynamic(GROUP, group_id)
        return [
            self._effective(prop, values, SOURCE_GROUP, broker)
            for prop in self.tables.group.values()
        ]

    def describe_broker(self, broker: BrokerState) -> list[ConfigValue]:
        """Return the effective configuration of a broker."""
        dynamic = self.dynamic(BROKER, str(broker.node_id))
        properties = dict(self.tables.broker)
        for name in (*self.dynamic(BROKER, ""), *dynamic):
            properties.setdefault(name, _unknown(name))
        return [self._broker_value(prop, broker) for prop in properties.values()]

    def describe_cluster(self) -> list[ConfigValue]:
        """Return the values that are set for all brokers."""
        return [
            ConfigValue(
                self.tables.broker.get(name, _unknown(name)),
                value,
                (Synonym(name, value, SOURCE_CLUSTER),),
            )
            for name, value in self.dynamic(BROKER, "").items()
        ]

    def describe_metrics(self, name: str) -> list[ConfigValue]:
        """Return the configuration of a client metrics subscription."""
        values = self.dynamic(CLIENT_METRICS, name)
        entries = []
        for prop in self.tables.client_metrics.values():
            if prop.name in values:
                source, value = (
                    SOURCE_CLIENT_METRICS,
                    normalize(prop, values[prop.name]),
                )
            elif self._describes_unset_metrics:
                source, value = SOURCE_DEFAULT, prop.default or ""
            else:
                continue
            synonym = Synonym(prop.name, value, source)
            entries.append(ConfigValue(prop, value, (synonym,)))
        return entries

    def _effective(
        self,
        prop: Property,
        values: Mapping[str, str],
        source: int,
        broker: BrokerState,
    ) -> ConfigValue:
        """Return the value of a topic or group property."""
        synonyms: tuple[Synonym, ...] = ()
        default = prop.default
        broker_property = self.tables.broker.get(prop.broker_property)
        if broker_property is not None:
            inherited = self._broker_value(broker_property, broker)
            synonyms = inherited.synonyms
            if inherited.value is not None:
                default = inherited.value
        elif source == SOURCE_GROUP:
            synonyms = (Synonym(prop.name, default, SOURCE_DEFAULT),)
        if prop.name in values:
            value = normalize(prop, values[prop.name])
            return ConfigValue(
                prop, value, (Synonym(prop.name, value, source), *synonyms)
            )
        return ConfigValue(prop, default, synonyms)

    def _broker_value(self, prop: Property, broker: BrokerState) -> ConfigValue:
        """Return the value of a broker property."""
        names: tuple[str, ...] = (prop.name,)
        for family in _FAMILIES:
            if prop.name in family:
                names = family
        defaults = {
            name: self.tables.broker[name].default
            for name in names
            if name in self.tables.broker
        }
        levels: list[tuple[Mapping[str, str | None], int]] = [
            (self.dynamic(BROKER, str(broker.node_id)), SOURCE_BROKER),
            (self.dynamic(BROKER, ""), SOURCE_CLUSTER),
            (broker.static_configs, SOURCE_STATIC),
            (defaults, SOURCE_DEFAULT),
        ]
        synonyms = []
        for values, source in levels:
            for name in names:
                value = values.get(name)
                if value is not None:
                    synonyms.append(Synonym(name, value, source))
        # Like brokers, begin with the first synonym that has the name of the property.
        while synonyms and synonyms[0].name != prop.name:
            del synonyms[0]
        if not synonyms:
            return ConfigValue(prop, None, ())
        first = synonyms[0]
        return ConfigValue(prop, normalize(prop, first.value or ""), tuple(synonyms))


def _unknown(name: str) -> Property:
    """Return a property that kwire does not know. Brokers hide its value."""
    return Property(name, "password", None, "*")


def normalize(prop: Property, value: str) -> str:
    """Return a valid value in the form in which brokers describe it."""
    text = value.strip()
    if prop.kind in _BITS:
        return str(int(text))
    if prop.kind == "double":
        return str(float(text))
    if prop.kind == "boolean":
        return text.lower()
    if prop.kind == "list":
        return ",".join(split_list(text))
    return text


def split_list(value: str) -> list[str]:
    """Return the elements of a list property."""
    text = value.strip()
    return [element.strip() for element in text.split(",")] if text else []


def check_topic_configs(configs: Configs, values: Mapping[str, str]) -> None:
    """Raise ``Rejected`` if brokers reject these topic properties."""
    properties = configs.tables.topic
    for name in values:
        if name not in properties:
            raise Rejected(_INVALID, f"Unknown topic config name: {name:.200}")
    for name, value in values.items():
        check_value(properties[name], value)
    lags = [
        int(values.get(name, properties[name].default or 0))
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
        if name in properties
    ]
    if len(lags) == 2 and lags[0] > lags[1]:
        raise Rejected(
            _INVALID,
            f"conflict topic config setting min.compaction.lag.ms ({lags[0]}) >"
            f" max.compaction.lag.ms ({lags[1]})",
        )


def check_broker_configs(
    configs: Configs, values: Mapping[str, str], is_per_broker: bool
) -> None:
    """Raise ``Rejected`` if brokers reject these dynamic properties.

    Unknown properties are allowed, because plugins can have their own.
    """
    code = error_codes.INVALID_REQUEST
    properties = configs.tables.broker
    modes = {
        name: properties[name].update_mode for name in values if name in properties
    }
    fixed = sorted(name for name, mode in modes.items() if mode == READ_ONLY)
    if fixed:
        names = ", ".join(fixed)
        raise Rejected(code, f"Cannot update these configs dynamically: {names}")
    for name, value in values.items():
        if name in properties:
            try:
                check_value(properties[name], value)
            except Rejected as error:
                raise Rejected(code, str(error)) from None
    single = sorted(name for name, mode in modes.items() if mode == PER_BROKER)
    if single and not is_per_broker:
        raise Rejected(
            code,
            "Cannot update these configs at default cluster level, broker id must be"
            f" specified: {', '.join(single)}",
        )


def check_group_configs(configs: Configs, values: Mapping[str, str]) -> None:
    """Raise ``Rejected`` if brokers reject these group properties."""
    properties = configs.tables.group
    for name in values:
        if name not in properties:
            raise Rejected(_INVALID, f"Unknown group config name: {name:.200}")
    for name, value in values.items():
        check_value(properties[name], value)


def check_metrics_configs(configs: Configs, values: Mapping[str, str]) -> None:
    """Raise ``Rejected`` if brokers reject a client metrics subscription."""
    properties = configs.tables.client_metrics
    code = error_codes.INVALID_REQUEST
    for name in values:
        if name not in properties:
            raise Rejected(code, f"Unknown client metrics configuration: {name:.200}")
    interval = properties["interval.ms"]
    if interval.name in values:
        try:
            check_value(interval, values[interval.name])
        except Rejected as error:
            raise Rejected(code, str(error)) from None
    parse_match(values.get("match", ""))


def parse_match(text: str) -> dict[str, TopicPattern]:
    """Return the patterns of a subscription by client parameter.

    Brokers use Java's regular expressions. ``TopicPattern`` supports fewer, but its
    time is linear. Raises ``Rejected`` if a pattern is invalid or not supported.
    """
    patterns = {}
    for element in split_list(text):
        parameter, separator, pattern = (
            part.strip() for part in element.partition("=")
        )
        is_valid = separator and parameter in _CLIENT_PARAMETERS and "=" not in pattern
        parsed = TopicPattern.parse(pattern) if is_valid and pattern else None
        if parsed is None:
            text = f"Illegal client matching pattern: {element:.200}"
            raise Rejected(_INVALID, text)
        patterns[parameter] = parsed
    return patterns


def check_value(prop: Property, value: str) -> None:
    """Raise ``Rejected`` if a property cannot have a value."""
    text = value.strip()
    number: float | None = None
    if prop.kind in _BITS:
        limit = 1 << _BITS[prop.kind]
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text):
            _reject(prop, value, f"Not a number of type {prop.kind.upper()}")
        number = int(text)
        if not -limit <= number < limit:
            _reject(prop, value, f"Not a number of type {prop.kind.upper()}")
    elif prop.kind == "double":
        try:
            number = float(text)
        except ValueError:
            _reject(prop, value, "Not a number of type DOUBLE")
    elif prop.kind == "boolean" and text.lower() not in ("true", "false"):
        _reject(prop, value, "Expected value to be either true or false")
    if number is not None:
        _check_range(prop, value, number)
    elif prop.valid_values != "*":
        elements = split_list(text) if prop.kind == "list" else [text]
        _check_elements(prop, value, elements)


def _check_range(prop: Property, value: str, number: float) -> None:
    minimum, _, maximum = prop.valid_values.partition("..")
    if minimum not in ("", "*") and not number >= float(minimum):
        _reject(prop, value, f"Value must be at least {minimum}")
    if maximum and not number <= float(maximum):
        _reject(prop, value, f"Value must be no more than {maximum}")


def _check_elements(prop: Property, value: str, elements: Iterable[str]) -> None:
    options = prop.valid_values.split("|")
    for element in elements:
        is_valid = element in options or any(
            option.endswith("*") and element.startswith(option[:-1])
            for option in options
        )
        if not is_valid:
            _reject(prop, value, f"String must be one of: {', '.join(options)}")


def _reject(prop: Property, value: str, reason: str) -> None:
    raise Rejected(
        _INVALID,
        f"Invalid value {value:.200} for configuration {prop.name}: {reason}",
    )
