# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands read: the partitions below the paths that they are given.

The arguments and options that several commands have stand here, so that they are the
same everywhere.
"""

from __future__ import annotations

import os

import click

from .. import log
from .program import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    Command = TypeVar("Command", bound=Callable[..., Any])

_STATES = ("future", "stray", "delete")
_NAMED = 5
"""How many names an error message lists."""


def takes_partitions(command: Command) -> Command:
    """Give a command its paths and the options that choose among their partitions."""
    for add in (
        click.option(
            "--include",
            multiple=True,
            type=click.Choice(_STATES),
            help="Folders that Kafka does not use, too; repeatable.",
        ),
        click.option(
            "--partition", "-p", multiple=True, type=int, help="Only this; repeatable."
        ),
        click.option("--topic", "-t", multiple=True, help="Only this; repeatable."),
        click.argument("paths", metavar="PATH...", nargs=-1, required=True),
    ):
        command = add(command)
    return command


class Inputs:
    """The partitions that were chosen, and what could not be read on the way.

    ``unreadable`` are errors about checkpoints beside the partitions.
    """

    def __init__(
        self,
        paths: tuple[str, ...],
        topic: tuple[str, ...] = (),
        partition: tuple[int, ...] = (),
        include: tuple[str, ...] = (),
    ) -> None:
        self.partitions: list[log.Partition] = []
        self.unreadable: list[Exception] = []
        seen: set[str] = set()
        topics: set[str] = set()
        for path in paths:
            found = _open(path, include)
            self.unreadable += found.unreadable
            for each in found:
                topics.add(each.topic)
                if topic and each.topic not in topic:
                    continue
                if partition and each.partition not in partition:
                    continue
                place = _place(each)
                if place not in seen:
                    seen.add(place)
                    self.partitions.append(each)
        if not self.partitions:
            raise click.ClickException(
                "no partition is called so; there are partitions of "
                + _listed(sorted(topics))
            )

    @property
    def size(self) -> int:
        """The bytes of all segments."""
        return sum(file.size for file in self.files())

    def files(self) -> Iterator[log.Segment]:
        """Go through the files with records, partition by partition."""
        for partition in self.partitions:
            yield from files_of(partition)


def files_of(partition: log.Partition) -> tuple[log.Segment, ...]:
    """List the segments; the checkpoints only where they are all there is."""
    return partition.segments or partition.snapshots


def _place(partition: log.Partition) -> str:
    files = [str(file.path) for file in files_of(partition)]
    return os.path.abspath(files[0] if len(files) == 1 else partition.path)


def _open(path: str, include: tuple[str, ...]) -> log.LogDirectory:
    if os.path.isdir(path):
        os.listdir(path)
    else:
        with open(path, "rb"):
            pass
    found = log.LogDirectory(path, include=include)
    if not len(found):
        raise click.ClickException(
            f"no partition in {path}: give a data directory of Kafka, a folder above"
            " it, the folder of a partition, or a .log file"
        )
    return found


def _listed(names: list[str]) -> str:
    text = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{text} and {more} more" if more > 0 else text


def say_unreadable(inputs: Inputs) -> None:
    """Tell which checkpoints were left aside."""
    for error in inputs.unreadable:
        say(f"left aside: {error}")
