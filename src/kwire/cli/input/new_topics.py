# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options for new topics, and a parser for NAME=VALUE properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def add_new_topic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for new topics to a command.

    The options are ``--partitions``, ``--replication-factor`` and ``--topic-config``.
    The command receives ``--topic-config`` as parameter ``configs``. Parse it with
    ``parse_properties``.
    """
    for add in (
        click.option(
            "--topic-config",
            "configs",
            multiple=True,
            metavar="NAME=VALUE",
            help="A property of new topics, such as retention.ms=-1; repeatable.",
        ),
        click.option(
            "--replication-factor",
            type=click.IntRange(1, 32767),
            metavar="N",
            help=(
                "Replicas of each partition of new topics; the default is that of the"
                " brokers."
            ),
        ),
        click.option(
            "--partitions",
            type=click.IntRange(1, 2**31 - 1),
            metavar="N",
            help="Partition count of new topics.",
        ),
    ):
        command = add(command)
    return command


def parse_properties(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Parse NAME=VALUE strings, and return {name: value}.

    ``option`` is the name of the option with these strings, for errors.

    Raises ``UsageError`` if a string has another form, or if a name occurs twice.
    """
    properties: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not name or not separator:
            raise click.UsageError(
                f"{option} must be NAME=VALUE, such as retention.ms=-1 (got"
                f" {text!r:.60})"
            )
        if name in properties:
            raise click.UsageError(f"{option} must be specified once for {name!r:.60}")
        properties[name] = value
    return properties
