# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of commands that change a cluster, and the changes item by item.

Deletions have to be confirmed: with an answer in a terminal, or with ``--yes``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ..._text import escape_line
from ...client.errors import NotAuthorized, RequestRefused, TopicNotFound
from ...errors import KwireError
from ...schema import error_codes as codes
from ..main import CANNOT, FINE, explain
from ..output.tables import RowFormat, open_output, write_table
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Item = TypeVar("Item")

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)

delete_option = click.option(
    "--delete", is_flag=True, help="Delete the named topics or groups."
)

yes_option = click.option(
    "--yes",
    "-y",
    is_flag=True,
    help="Delete without a question; required if stdin is not a terminal.",
)

_HINTS = {
    codes.TOPIC_ALREADY_EXISTS: "choose another name",
    codes.INVALID_REPLICATION_FACTOR: (
        "--replication-factor must be at most the number of brokers"
    ),
    codes.UNKNOWN_TOPIC_OR_PARTITION: "kwire topics lists the topics",
    codes.GROUP_ID_NOT_FOUND: "kwire groups lists the groups",
    codes.NON_EMPTY_GROUP: "stop the consumers of the group first",
    codes.UNKNOWN_MEMBER_ID: "stop the consumers of the group first",
    codes.INVALID_CONFIG: "kwire configs --defaults lists the properties",
    codes.TOPIC_DELETION_DISABLED: "set delete.topic.enable=true on the brokers",
}
"""What a user can do about an error code."""


class Outcome(NamedTuple):
    """The result of a change of one item. ``error`` is "" if it succeeded."""

    name: str
    error: str = ""


def check_confirmation(is_confirmed: bool) -> None:
    """Check that a deletion is confirmed, or that there is a terminal to ask in.

    Raises ``UsageError``. Call it before connecting, so that a script fails early.
    """
    if not is_confirmed and (sys.stdin is None or not sys.stdin.isatty()):
        raise click.UsageError(
            "--delete requires --yes if stdin is not a terminal; --dry-run shows what"
            " would be deleted"
        )


def confirm_deletion(descriptions: Sequence[str], is_confirmed: bool) -> None:
    """Ask whether to delete the described items, unless ``is_confirmed``.

    Raises ``ClickException`` if the answer is not yes.
    """
    if is_confirmed:
        return
    for description in descriptions:
        say(description)
    if not click.confirm("Delete for ever?", default=False, err=True):
        raise click.ClickException("nothing was deleted")


def describe_error(error: KwireError) -> str:
    """Return the text of an error, with what the user can do about it."""
    if isinstance(error, RequestRefused):
        hint = _HINTS.get(error.error_code)
    elif isinstance(error, TopicNotFound):
        hint = _HINTS[codes.UNKNOWN_TOPIC_OR_PARTITION]
    else:
        hint = None
    return explain(error) + (f"; {hint}" if hint else "")


def is_of_item(error: KwireError) -> bool:
    """Whether an error concerns one item, so that other items may succeed."""
    return isinstance(error, (NotAuthorized, RequestRefused, TopicNotFound))


def change_each(names: Iterable[str], change: Callable[[str], Any]) -> list[Outcome]:
    """Change items one by one. Errors are printed, and do not end the others.

    After an error of the connection, the remaining items are not changed.
    """
    outcomes = []
    for name in names:
        try:
            change(name)
        except KwireError as error:
            text = describe_error(error)
            say(text)
            outcomes.append(Outcome(name, text))
            if not is_of_item(error):
                break
        else:
            outcomes.append(Outcome(name))
    return outcomes


def collect_rows(
    items: Iterable[Item], read: Callable[[Item], list[dict[str, Any]]]
) -> tuple[list[dict[str, Any]], bool]:
    """Collect rows of items; return them, and whether an item has failed.

    Errors are printed, and do not end the others, as in ``change_each``.
    """
    rows = []
    has_failed = False
    for item in items:
        try:
            rows += read(item)
        except (KwireError, click.ClickException) as error:
            has_failed = True
            if isinstance(error, click.ClickException):
                say(error.format_message())
                continue
            say(describe_error(error))
            if not is_of_item(error):
                break
    return rows, has_failed


def write_outcomes(
    form: RowFormat, kind: str, outcomes: Sequence[Outcome], done: str
) -> int:
    """Write a row for each item, and return the exit code.

    ``kind`` is the column of names, and ``done`` the result of a change that succeeded,
    such as "created". The table has no rows for errors, which are on stderr.
    """
    with open_output() as output:
        if form.is_table:
            rows = [("", (done, each.name)) for each in outcomes if not each.error]
            if rows:
                write_table(output, ("RESULT", kind.upper()), rows)
        else:
            writer = form.open_rows(output, (kind, "result", "error"))
            for each in outcomes:
                writer.write(
                    {
                        kind: each.name,
                        "result": "failed" if each.error else done,
                        "error": each.error or None,
                    }
                )
    return CANNOT if any(each.error for each in outcomes) else FINE


def check_requirements(requirements: Iterable[tuple[str, Any, str, Any]]) -> None:
    """Check options that require another option.

    Each requirement is (option, its value, required option, its value). Raises
    ``UsageError`` if an option has a value, and the option that it requires has none.
    """
    for option, value, required, is_present in requirements:
        if value and not is_present:
            raise click.UsageError(f"{option} requires {required}")


def quote(name: str) -> str:
    """Quote a name for a message in one line."""
    return escape_line(f"{name!r:.100}")
