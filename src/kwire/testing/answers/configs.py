# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to DescribeConfigs, AlterConfigs and IncrementalAlterConfigs.

Source: ``ConfigHelper``, ``ConfigAdminManager``, ``ConfigurationControlManager`` and
``ControllerConfigurationValidator``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...messages import (
    AlterConfigsResponse,
    DescribeConfigsResponse,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesResponse,
)
from ...schema import error_codes
from ..state import configs as configs_state
from ..state.config_tables import READ_ONLY, Property
from ..state.configs import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    SOURCE_DEFAULT,
    TOPIC,
    ConfigValue,
    split_list,
)
from ..state.features import OMITS_DEFAULT_FLAG
from ..state.rejection import Rejected
from ..state.topic import check_topic_name

if TYPE_CHECKING:
    from .context import Answer, RequestContext

_SET, _DELETE, _APPEND, _SUBTRACT = range(4)
_INVALID = error_codes.INVALID_REQUEST
_RESOURCE_TYPES = {
    TOPIC: None,
    BROKER: None,
    CLIENT_METRICS: "3.7",
    GROUP: "3.8",
}
"""First release in which a type of resource has a configuration."""

_KINDS = {
    "boolean": 1,
    "string": 2,
    "int": 3,
    "short": 4,
    "long": 5,
    "double": 6,
    "list": 7,
    "password": 9,
}
"""Numbers of the types. Source: ``DescribeConfigsResponse.ConfigType``."""


def answer_describe_configs(context: RequestContext) -> Answer:
    """Return the effective configuration of resources."""
    resources = context.request.resources
    make = DescribeConfigsResponse.DescribeConfigsResult
    results = []
    for resource in resources:
        kind, name = resource.resource_type, resource.resource_name
        code, message = 0, None
        entries: list[ConfigValue] = []
        try:
            _check_rule(context, kind, name)
            entries = _find_values(context, kind, name)
        except Rejected as error:
            code, message = error.code, str(error)
        names = set(resource.configuration_keys or ())
        results.append(
            make(
                error_code=code,
                error_message=message,
                resource_type=kind,
                resource_name=name,
                configs=[
                    _describe_value(context, kind, entry)
                    for entry in entries
                    if not names or entry.property.name in names
                ],
            )
        )
    return DescribeConfigsResponse(results=results)


def _find_values(context: RequestContext, kind: int, name: str) -> list[ConfigValue]:
    """Return the configuration of a resource."""
    state = context.state
    _check_kind(context, kind)
    if kind == TOPIC:
        _check_topic(context, name)
        topic = state.topics[name]
        return state.configs.describe_topic(topic.configs, context.broker)
    if kind == BROKER:
        if not name:
            return state.configs.describe_cluster()
        _check_node(context, name)
        return state.configs.describe_broker(context.broker)
    if not name:
        text = {GROUP: "Group name must not be empty"}.get(
            kind, "Client metrics subscription name must not be empty"
        )
        raise Rejected(_INVALID, text)
    if kind == GROUP:
        return state.configs.describe_group(name, context.broker)
    return state.configs.describe_metrics(name)


def _describe_value(
    context: RequestContext, kind: int, entry: ConfigValue
) -> DescribeConfigsResponse.DescribeConfigsResourceResult:
    version, request = context.version, context.request
    make = DescribeConfigsResponse
    prop = entry.property
    has_flag = version == 0 and not context.state.is_since(OMITS_DEFAULT_FLAG)
    has_synonyms = version >= 1 and request.include_synonyms
    has_documentation = version >= 3 and request.include_documentation
    return make.DescribeConfigsResourceResult(
        name=prop.name,
        value=None if prop.is_sensitive else entry.value,
        read_only=kind == BROKER and prop.update_mode == READ_ONLY,
        is_default=has_flag and entry.source == SOURCE_DEFAULT,
        config_source=entry.source if version >= 1 else -1,
        is_sensitive=prop.is_sensitive,
        synonyms=[
            make.DescribeConfigsSynonym(
                name=synonym.name,
                value=None if prop.is_sensitive else synonym.value,
                source=synonym.source,
            )
            for synonym in entry.synonyms
        ]
        if has_synonyms
        else (),
        config_type=_KINDS[prop.kind] if version >= 3 else 0,
        documentation=_document(prop) if has_documentation else None,
    )


def _document(prop: Property) -> str:
    """Return a description of a property. Brokers return their documentation."""
    values = "all" if prop.valid_values == "*" else prop.valid_values
    return f"Type: {prop.kind}. Default: {prop.default}. Valid values: {values}."


def answer_alter_configs(context: RequestContext) -> Answer:
    """Replace the configuration of resources."""
    make = AlterConfigsResponse
    results = [
        make.AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, code, message in _alter(context, _replace_values)
    ]
    return make(responses=results)


def answer_incremental_alter_configs(context: RequestContext) -> Answer:
    """Change properties of resources, and leave other properties unchanged."""
    make = IncrementalAlterConfigsResponse
    results = [
        make.AlterConfigsResourceResponse(
            error_code=code,
            error_message=message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource, code, message in _alter(context, _change_values)
    ]
    return make(responses=results)


def _alter(
    context: RequestContext,
    compute: Callable[[RequestContext, Any, Mapping[str, str]], dict[str, str]],
) -> list[tuple[Any, int, str | None]]:
    """Change the configuration of each resource; return error codes and messages.

    * ``compute``: returns the new values of a resource.
    """
    resources = context.request.resources
    counts = Counter((entry.resource_type, entry.resource_name) for entry in resources)
    results: list[tuple[Any, int, str | None]] = []
    for resource in resources:
        kind, name = resource.resource_type, resource.resource_name
        try:
            _check_rule(context, kind, name)
            if counts[kind, name] > 1:
                text = "Each resource must appear at most once."
                raise Rejected(_INVALID, text)
            _check_entries(resource)
            _check_kind(context, kind)
            _check_target(context, kind, name)
            values = compute(context, resource, _find_current(context, kind, name))
            _check_values(context, kind, name, values)
        except Rejected as error:
            results.append((resource, error.code, str(error)))
            continue
        if not context.request.validate_only:
            _store(context, kind, name, values)
        results.append((resource, 0, None))
    return results


def _check_rule(context: RequestContext, kind: int, name: str) -> None:
    code = context.injected_error(name if kind == TOPIC else "")
    if code:
        raise Rejected(code, "Error of a rule of the test cluster.")


def _check_entries(resource: Any) -> None:
    """Reject repeated properties, and properties without a required value."""
    counts = Counter(config.name for config in resource.configs)
    if any(count > 1 for count in counts.values()):
        raise Rejected(_INVALID, "Error due to duplicate config keys")
    names = [
        config.name
        for config in resource.configs
        if config.value is None and getattr(config, "config_operation", _SET) != _DELETE
    ]
    if names:
        text = f"Null value not supported for : {', '.join(names)}"
        raise Rejected(_INVALID, text)


def _check_kind(context: RequestContext, kind: int) -> None:
    since = _RESOURCE_TYPES.get(kind, "")
    if since == "" or (since is not None and not context.state.is_since(since)):
        raise Rejected(_INVALID, f"Unknown resource type {kind}")


def _check_target(context: RequestContext, kind: int, name: str) -> None:
    """Check the name of a resource.

    ZooKeeper brokers check first whether a topic exists, and KRaft controllers last.
    """
    if kind == BROKER and name:
        _check_node(context, name)
    if kind == GROUP and not name:
        raise Rejected(_INVALID, "Default group resources are not allowed.")
    if kind == CLIENT_METRICS and not name:
        raise Rejected(_INVALID, "Subscription name can't be empty")
    if kind == TOPIC and not name:
        raise Rejected(_INVALID, "Default topic resources are not allowed.")
    if kind == TOPIC and context.state.has_zookeeper:
        _check_topic(context, name)


def _check_values(
    context: RequestContext, kind: int, name: str, values: Mapping[str, str]
) -> None:
    """Check the complete new configuration of a resource."""
    configs = context.state.configs
    if kind == BROKER:
        configs_state.check_broker_configs(configs, values, is_per_broker=bool(name))
    elif kind == GROUP:
        configs_state.check_group_configs(configs, values)
    elif kind == CLIENT_METRICS:
        configs_state.check_metrics_configs(configs, values)
    else:
        problem = check_topic_name(name)
        if problem:
            raise Rejected(error_codes.INVALID_TOPIC_EXCEPTION, problem)
        try:
            configs_state.check_topic_configs(configs, values)
        except Rejected as error:
            # ZooKeeper brokers report an invalid value of a valid property differently.
            is_known = all(key in configs.tables.topic for key in values)
            code = _INVALID if context.state.has_zookeeper and is_known else error.code
            raise Rejected(code, str(error)) from None
        _check_topic(context, name)


def _check_topic(context: RequestContext, name: str) -> None:
    problem = check_topic_name(name)
    if problem:
        raise Rejected(error_codes.INVALID_TOPIC_EXCEPTION, problem)
    if name not in context.state.topics:
        text = f"The topic '{name}' does not exist."
        raise Rejected(error_codes.UNKNOWN_TOPIC_OR_PARTITION, text)


def _check_node(context: RequestContext, name: str) -> None:
    """Check that a broker's configuration is requested from this broker."""
    node_id = context.broker.node_id
    if not name.removeprefix("-").isdecimal():
        text = f"Node id must be an integer, but it is: {name:.200}"
        raise Rejected(_INVALID, text)
    if name != str(node_id):
        text = f"Unexpected broker id, expected {node_id}, but received {name:.200}"
        raise Rejected(_INVALID, text)


def _find_current(context: RequestContext, kind: int, name: str) -> Mapping[str, str]:
    """Return the values that are set for a resource."""
    if kind == TOPIC:
        topic = context.state.topics.get(name)
        return topic.configs if topic else {}
    return context.state.configs.dynamic(kind, name)


def _store(
    context: RequestContext, kind: int, name: str, values: dict[str, str]
) -> None:
    if kind == TOPIC:
        context.state.topics[name].configs = values
    else:
        context.state.configs.replace(kind, name, values)
    context.state.note_change()


def _replace_values(
    context: RequestContext, resource: Any, current: Mapping[str, str]
) -> dict[str, str]:
    return {config.name: config.value for config in resource.configs}


def _change_values(
    context: RequestContext, resource: Any, current: Mapping[str, str]
) -> dict[str, str]:
    """Apply the operations of a request to the values that are set."""
    values = dict(current)
    for config in resource.configs:
        name, operation = config.name, config.config_operation
        if operation == _SET:
            values[name] = config.value
        elif operation == _DELETE:
            values.pop(name, None)
        elif operation in (_APPEND, _SUBTRACT):
            elements = _split_current(context, resource.resource_type, name, values)
            values[name] = _combine(elements, operation, split_list(config.value))
        else:
            raise Rejected(_INVALID, f"Unknown operations type {operation}")
    return values


def _split_current(
    context: RequestContext, kind: int, name: str, values: Mapping[str, str]
) -> list[str]:
    """Return the elements of a list property before an operation."""
    tables = context.state.configs.tables
    table = {TOPIC: tables.topic, BROKER: tables.broker, GROUP: tables.group}
    prop = table.get(kind, tables.client_metrics).get(name)
    if prop is None and kind == TOPIC and context.state.has_zookeeper:
        text = f"Unknown config name: {name:.200}"
        raise Rejected(error_codes.UNKNOWN_SERVER_ERROR, text)
    if prop is None or prop.kind != "list":
        is_checked_by_broker = kind == BROKER or context.state.has_zookeeper
        raise Rejected(
            _INVALID if is_checked_by_broker else error_codes.INVALID_CONFIG,
            f"Can't append to or subtract from {name:.200}: its type is not LIST.",
        )
    return split_list(values.get(name, prop.default or ""))


def _combine(elements: list[str], operation: int, operands: Iterable[str]) -> str:
    if operation == _APPEND:
        return ",".join(dict.fromkeys([*elements, *operands]))
    removed = set(operands)
    return ",".join(element for element in elements if element not in removed)


def answer_list_config_resources(context: RequestContext) -> Answer:
    """List client metrics subscriptions, or resources of other types (KIP-1142)."""
    state = context.state
    make = ListConfigResourcesResponse
    code = context.injected_error()
    if code:
        return make(error_code=code)
    if context.version == 0:
        kinds = {CLIENT_METRICS}
    else:
        supported = {*_RESOURCE_TYPES, configs_state.BROKER_LOGGER}
        kinds = set(context.request.resource_types) or supported
        if not kinds <= supported:
            return make(error_code=error_codes.UNSUPPORTED_VERSION)
    brokers = [str(node_id) for node_id in state.brokers]
    names = {
        TOPIC: list(state.topics),
        BROKER: brokers,
        configs_state.BROKER_LOGGER: brokers,
        CLIENT_METRICS: state.configs.list_names(CLIENT_METRICS),
        GROUP: list(dict.fromkeys([*state.groups, *state.configs.list_names(GROUP)])),
    }
    return make(
        config_resources=[
            make.ConfigResource(
                resource_name=name,
                resource_type=kind if context.version >= 1 else CLIENT_METRICS,
            )
            for kind in sorted(kinds)
            for name in names[kind]
        ]
    )
