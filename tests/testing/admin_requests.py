# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests that administer a test cluster."""

from __future__ import annotations

from kwire import messages

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def new_topic(name, partitions=1, factor=1, *, assignments=(), **configs):
    """Return an entry of CreateTopics. Names of ``configs`` have underscores."""
    request = messages.CreateTopicsRequest
    return request.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            request.CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
            for index, ids in assignments
        ],
        configs=[
            request.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(client, *topics, version=None, timeout_ms=1000, validate_only=False):
    """Send CreateTopics; return the response's entries by topic name."""
    request = messages.CreateTopicsRequest(
        topics=topics, timeout_ms=timeout_ms, validate_only=validate_only
    )
    response = client.request(request, version)
    return {topic.name: topic for topic in response.topics}


def create_code(client, *arguments, version=None, **options):
    """Create one topic and return the error code."""
    topic = new_topic(*arguments, **options)
    return create(client, topic, version=version)[topic.name].error_code


def alter(client, kind, name, *changes, version=None, validate_only=False):
    """Send IncrementalAlterConfigs with (name, operation, value); return the code."""
    request = messages.IncrementalAlterConfigsRequest
    resource = request.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            request.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )
    response = client.request(
        request(resources=[resource], validate_only=validate_only), version
    )
    return response.responses[0].error_code


def describe(client, kind, name, *keys, version=None):
    """Send DescribeConfigs; return the error code and the entries by name."""
    request = messages.DescribeConfigsRequest
    resource = request.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys or None
    )
    newest = client.machine.table.pick(request)
    used = newest if version is None else version
    options = {"include_synonyms": True} if used >= 1 else {}
    if used >= 3:
        options["include_documentation"] = True
    (result,) = client.request(request(resources=[resource], **options), used).results
    return result.error_code, {config.name: config for config in result.configs}


def value_of(client, kind, name, key):
    """Return the effective value of one property."""
    return describe(client, kind, name, key)[1][key].value
