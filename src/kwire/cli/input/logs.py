# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the partitions below the paths that are passed to a command.

Arguments and options that several commands share are defined here, so that they have
the same meaning in every command.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ... import log
from ..._files import NotRegularFile, open_regular
from ..._text import format_name
from ..main import explain
from ..output.terminal import say
from .selection import partition_option, topic_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Command = TypeVar("Command", bound=Callable[..., Any])

_STATES = ("future", "stray", "delete")
_BESIDE = (".index", ".timeindex", ".txnindex", ".snapshot", "-checkpoint")
"""Suffixes of files that Kafka stores next to segments, and that have no records."""

_NAMED = 5
"""Maximum number of existing partitions that an error message names."""


def add_partition_options(command: Command) -> Command:
    """Add the path arguments and the options that select partitions to a command."""
    for add in (
        click.option(
            "--include",
            multiple=True,
            type=click.Choice(_STATES),
            help="Also read directories that Kafka does not use; repeatable.",
        ),
        partition_option,
        topic_option,
        click.argument("paths", metavar="PATH...", nargs=-1, required=True),
    ):
        command = add(command)
    return command


class LogInputs:
    """The selected partitions, and the errors for unreadable inputs.

    ``unreadable`` lists errors about directories, about checkpoints beside partitions,
    and about paths that are named like a log file but are not regular files.

    A partition is listed once, even if several paths contain it. Raises
    ``ClickException`` if no partition is selected.
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
        names: set[str] = set()
        for path in paths:
            log_directory = _open(path, include)
            self.unreadable += [*log_directory.unreadable, *log_directory.skipped]
            for log_partition in log_directory:
                names.add(f"{log_partition.topic}-{log_partition.partition}")
                if topic and log_partition.topic not in topic:
                    continue
                if partition and log_partition.partition not in partition:
                    continue
                partition_path = _place(log_partition)
                if partition_path not in seen:
                    seen.add(partition_path)
                    self.partitions.append(log_partition)
        if not self.partitions:
            raise click.ClickException(
                "no partition matches --topic and --partition; the input has"
                f" {_list_names(sorted(names))}"
            )

    @property
    def is_complete(self) -> bool:
        """Whether all directories and files could be read.

        A path that is not a regular file, for example a FIFO, does not count.
        """
        return not any(
            isinstance(error, OSError) and not isinstance(error, NotRegularFile)
            for error in self.unreadable
        )

    @property
    def size(self) -> int:
        """Total size of all segments in bytes."""
        return sum(file.size for file in self.files())

    def files(self) -> Iterator[log.Segment]:
        """Iterate over the files with records, partition by partition."""
        for partition in self.partitions:
            yield from list_files(partition)


def list_files(partition: log.Partition) -> tuple[log.Segment, ...]:
    """List a partition's segments, or its checkpoints if it has no segments."""
    return partition.segments or partition.snapshots


def _place(partition: log.Partition) -> str:
    """Return the absolute path that identifies a partition."""
    files = [str(file.path) for file in list_files(partition)]
    path = files[0] if len(files) == 1 else str(partition.path)
    return path if "://" in path else os.path.abspath(path)


def _open(path: str, include: tuple[str, ...]) -> log.LogDirectory:
    """Open a path as a log directory.

    Raises ``ClickException`` or ``OSError`` if it contains no readable partition.
    """
    if path.endswith(_BESIDE):
        raise click.ClickException(
            f"{format_name(path)} has no records; give the .log file"
        )
    if os.path.isdir(path):
        os.listdir(path)
    elif "://" not in path:
        open_regular(path).close()
    log_directory = log.LogDirectory(path, include=include)
    if not len(log_directory):
        for error in log_directory.skipped:
            raise error
        raise click.ClickException(
            f"no partition in {format_name(path)}; give a data directory of Kafka, a"
            " parent directory of several, a partition directory, or a .log file"
        )
    return log_directory


def _list_names(names: list[str]) -> str:
    text = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{text} and {more} more" if more > 0 else text


def say_unreadable(inputs: LogInputs) -> None:
    """Print the errors for unreadable inputs on stderr."""
    for error in inputs.unreadable:
        say(f"skipped: {explain(error)}")
