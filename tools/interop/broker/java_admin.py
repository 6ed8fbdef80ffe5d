# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run Kafka's own Admin client, and convert kwire's results to the same JSON form.

``AdminCalls.java`` executes the calls in one Java process. Both sides return JSON
values in which partitions are named "orders-3". The order of object members is
irrelevant.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from kwire.client import GroupDescription, KafkaSync
from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import BrokerError

_SOURCES = {
    "DYNAMIC_TOPIC_CONFIG": "dynamic_topic",
    "DYNAMIC_BROKER_CONFIG": "dynamic_broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "dynamic_default_broker",
    "DYNAMIC_BROKER_LOGGER_CONFIG": "dynamic_broker_logger",
    "DYNAMIC_CLIENT_METRICS_CONFIG": "client_metrics",
    "DYNAMIC_GROUP_CONFIG": "group",
    "STATIC_BROKER_CONFIG": "static_broker",
    "DEFAULT_CONFIG": "default",
    "UNKNOWN": "unknown",
}
"""kwire's names for config sources, indexed by Java's names."""


class AdminFailure(Exception):
    """Error that Java's Admin has raised. ``name`` is the name of the Kafka error."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class JavaAdmin:
    """Process that runs Kafka's Admin. It ends with the ``with`` block."""

    def __init__(self, release: str, address: str) -> None:
        program = str(brokers.HERE / "AdminCalls.java")
        command = brokers.java(release, program, address)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def __enter__(self) -> JavaAdmin:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def call(self, name: str, *arguments: Any) -> Any:
        """Execute a call and return its JSON result.

        Raises ``AdminFailure`` if Java's Admin raises an error.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise BrokerError(f"AdminCalls.java ended in the call {name}")
        answer = json.loads(line)
        if "error" in answer:
            raise AdminFailure(answer["error"])
        return answer["result"]

    def configs(self, resource_type: str, name: str) -> Any:
        """Return a configuration as read by Java's Admin.

        The names of its sources are converted to kwire's names.
        """
        found = self.call("configs", resource_type, name)
        for entry in found.values():
            entry["source"] = _SOURCES[entry["source"]]
        return found


def name_partitions(values: Mapping[tuple[str, int], Any]) -> dict[str, Any]:
    """Convert (topic, partition) keys of a dictionary to the form "topic-partition"."""
    return {f"{topic}-{number}": value for (topic, number), value in values.items()}


def read_topics(kafka: KafkaSync, names: Iterable[str]) -> Any:
    """Return the topic descriptions of kwire in the form of Java's Admin."""
    topics = kafka.topics()
    return {
        name: {
            "id": base64.urlsafe_b64encode(topics[name].topic_id.bytes)
            .decode()
            .rstrip("="),
            "is_internal": topics[name].is_internal,
            "partitions": {
                str(number): {
                    "leader": each.leader,
                    "replicas": list(each.replicas),
                    "in_sync": sorted(each.in_sync),
                }
                for number, each in topics[name].partitions.items()
            },
        }
        for name in names
        if name in topics
    }


def read_configs(kafka: KafkaSync, resource_type: Any, name: str) -> Any:
    """Return a configuration that kwire has read, in the form of Java's Admin."""
    return {
        key: {
            "value": entry.value,
            "source": entry.source,
            "is_read_only": entry.is_read_only,
            "is_sensitive": entry.is_sensitive,
        }
        for key, entry in kafka.configs(resource_type, name).items()
    }


def read_groups(kafka: KafkaSync) -> Any:
    """Return the groups that kwire has listed, in the form of Java's Admin."""
    return {
        name: {
            "protocol_type": group.protocol_type,
            "state": group.state,
            "group_type": group.group_type,
        }
        for name, group in kafka.groups().items()
    }


def format_group(group: GroupDescription) -> Any:
    """Return a group description of kwire in the form of Java's Admin."""
    return {
        "group_type": group.group_type,
        "state": group.state,
        "assignor": group.assignor,
        "members": {
            member.member_id: {
                "group_instance_id": member.group_instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "partitions": sorted(f"{t}-{n}" for t, n in member.partitions),
            }
            for member in group.members
        },
    }
