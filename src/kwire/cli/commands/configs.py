# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire configs``: shows and sets topic and broker properties.

Sensitive values, as marked by the brokers, are never printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from ..input.brokers import add_cluster_options, connect_cluster
from ..input.changes import (
    check_requirements,
    collect_rows,
    dry_run_option,
    quote,
)
from ..input.cluster_address import ClusterCommand
from ..input.new_topics import parse_properties
from ..main import CANNOT, EXIT_CODES, FINE
from ..output.tables import RowFormat, Table, format_option, open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...client import KafkaSync
    from ...client.admin_results import ConfigEntry

_SHOWN = (
    "resource_type",
    "resource_name",
    "property",
    "value",
    "source",
    "is_read_only",
    "is_sensitive",
)
_CHANGED = ("resource_type", "resource_name", "property", "before", "after")
_SENSITIVE = "(sensitive)"
_MAX_NAME_WIDTH = 60
"""Maximum width of the column for property names, in characters."""
_MAX_VALUE_WIDTH = 20
"""Maximum width of the column for old values, in characters. The last column of the
table has no limit.
"""

_ALL_BROKERS = "all"


class _Resource(NamedTuple):
    """Resource whose properties the command shows or changes.

    * ``type``: "topic" or "broker".
    * ``name``: topic name or node id. "" means the default of all brokers.
    """

    type: Literal["topic", "broker"]
    name: str

    @property
    def title(self) -> str:
        if self.type == "broker" and not self.name:
            return "all brokers"
        return f"{self.type} {self.name}"


def _read_broker(_context: Any, _option: Any, texts: tuple[str, ...]) -> list[str]:
    """Validate the broker ids that the user has passed.

    Returns an empty string for "all", because the default configuration of all brokers
    has an empty name in Kafka.
    """
    for text in texts:
        if text != _ALL_BROKERS and not (text.isascii() and text.isdigit()):
            raise click.BadParameter(
                f"it must be a node id or {_ALL_BROKERS} (got {text!r:.60})"
            )
    return ["" if text == _ALL_BROKERS else text for text in texts]


@click.command(
    cls=ClusterCommand,
    epilog=EXIT_CODES,
    short_help="Show and set properties of topics and brokers.",
)
@add_cluster_options
@click.argument("topics", metavar="[TOPIC]...", nargs=-1)
@click.option(
    "--broker",
    "-b",
    "brokers",
    multiple=True,
    metavar="ID",
    callback=_read_broker,
    help="This broker, or all: the properties that brokers share; repeatable.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a property; repeatable.",
)
@click.option(
    "--unset",
    "unset_names",
    multiple=True,
    metavar="NAME",
    help="Remove a property, so that its default applies; repeatable.",
)
@click.option(
    "--defaults", is_flag=True, help="Also show properties that have their default."
)
@dry_run_option
@format_option
def command(
    address: str,
    topics: tuple[str, ...],
    brokers: list[str],
    assignments: tuple[str, ...],
    unset_names: tuple[str, ...],
    defaults: bool,
    dry_run: bool,
    form: RowFormat,
    **access: Any,
) -> int:
    """Show the properties of topics and brokers, or set them.

    The table is by the source of values, such as dynamic_topic, or static_broker for
    the property file of a broker. --set and --unset print each property before and
    after; all other properties keep their values. The values that a broker marks as
    sensitive are not shown.
    """
    resources = [_Resource("topic", name) for name in dict.fromkeys(topics)]
    resources += [_Resource("broker", name) for name in dict.fromkeys(brokers)]
    if not resources:
        raise click.UsageError("name a TOPIC, or a broker with --broker")
    values: dict[str, str | None] = {**parse_properties("--set", assignments)}
    for name in unset_names:
        if name in values:
            raise click.UsageError(f"--set and --unset name the same {quote(name)}")
        values[name] = None
    check_requirements((("--dry-run", dry_run, "--set or --unset", values),))
    if defaults and values:
        raise click.UsageError("--defaults excludes --set and --unset")
    with connect_cluster(address, **access) as kafka:
        if values:
            changes, has_failed = collect_rows(
                resources, lambda each: _change(kafka, each, values, dry_run)
            )
            titles: tuple[str, ...] = ("PROPERTY", "BEFORE", "AFTER")
            _write(form, _CHANGED, titles, changes)
            if dry_run and changes:
                say("nothing was changed (--dry-run)")
        else:
            entries, has_failed = collect_rows(
                resources, lambda each: _read(kafka, each, defaults)
            )
            _write(form, _SHOWN, ("PROPERTY", "VALUE"), entries)
    return CANNOT if has_failed else FINE


def _read(
    kafka: KafkaSync, resource: _Resource, defaults: bool
) -> list[dict[str, Any]]:
    """Return the property rows of a resource.

    ``defaults`` includes properties with their default value.
    """
    entries = kafka.configs(resource.type, resource.name)
    return [
        {
            "resource_type": resource.type,
            "resource_name": resource.name,
            "property": name,
            "value": None if entry.is_sensitive else entry.value,
            "source": entry.source,
            "is_read_only": entry.is_read_only,
            "is_sensitive": entry.is_sensitive,
        }
        for name, entry in sorted(entries.items(), key=_find_order)
        if defaults or entry.source != "default"
    ]


def _find_order(item: tuple[str, ConfigEntry]) -> tuple[bool, str, str]:
    """Return the sort key of a property: its source and name, with defaults last."""
    name, entry = item
    return entry.source == "default", entry.source, name


def _change(
    kafka: KafkaSync,
    resource: _Resource,
    values: Mapping[str, str | None],
    dry_run: bool,
) -> list[dict[str, Any]]:
    """Set properties on a resource, and return the changed rows.

    ``dry_run`` only lets the broker validate the values.
    """
    entries = kafka.configs(resource.type, resource.name)
    kafka.set_configs(resource.type, resource.name, values, validate_only=dry_run)
    return [
        _make_change(resource, name, entries.get(name), value)
        for name, value in values.items()
    ]


def _make_change(
    resource: _Resource, name: str, entry: ConfigEntry | None, value: str | None
) -> dict[str, Any]:
    """Return the row of a changed property. A placeholder replaces sensitive values."""
    is_sensitive = entry is not None and entry.is_sensitive
    before = None if entry is None else entry.value
    return {
        "resource_type": resource.type,
        "resource_name": resource.name,
        "property": name,
        "before": _SENSITIVE if is_sensitive else before,
        "after": _SENSITIVE if is_sensitive and value is not None else value,
    }


def _write(
    form: RowFormat,
    names: tuple[str, ...],
    titles: tuple[str, ...],
    rows: list[dict[str, Any]],
) -> None:
    """Write property rows in the specified format."""
    with open_output() as output:
        if not form.is_table:
            writer = form.open_rows(output, names)
            for row in rows:
                writer.write(row)
        elif rows:
            lines = [_make_line(row) for row in rows]
            widths = [
                max(len(title), *(len(cells[index]) for _, cells in lines))
                for index, title in enumerate(titles)
            ]
            widths[0] = min(widths[0], _MAX_NAME_WIDTH)
            widths[1] = min(widths[1], _MAX_VALUE_WIDTH)
            widths[-1] = 0
            table = Table(output, list(zip(titles, widths, strict=True)))
            for heading, cells in lines:
                table.write(cells, heading)


def _make_line(row: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the heading and the table cells for one property.

    The cells contain the current value, or the values before and after a change.
    """
    title = _Resource(row["resource_type"], row["resource_name"]).title
    if "source" in row:
        value = _SENSITIVE if row["is_sensitive"] else _show(row["value"])
        return f"{title} ({row['source']})", (row["property"], value)
    before, after = _show(row["before"]), _show(row["after"], "(removed)")
    return title, (row["property"], before, after)


def _show(value: str | None, missing: str = "-") -> str:
    """Format a property value as a table cell.

    An empty value becomes ``""``, to distinguish it from a missing value, which becomes
    ``missing``.
    """
    if value is None:
        return missing
    return value or '""'
