# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options for commands that change a cluster, and helpers for item-by-item changes.

Deletions require a confirmation: an answer in a terminal, or the option ``--yes``.
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
"""Hint for the user by error code."""


class Outcome(NamedTuple):
    """Name of a changed item, and the error of the change.

    ``error`` is an empty string if the change was successful.
    """

    name: str
    error: str = ""


def check_confirmation(is_confirmed: bool) -> None:
    """Check that a deletion is confirmed, or that the user can be asked in a terminal.

    Call this function before connecting, so that a script fails early. Raises
    ``UsageError`` if neither is true.
    """
    if not is_confirmed and (sys.stdin is None or not sys.stdin.isatty()):
        raise click.UsageError(
            "--delete requires --yes if stdin is not a terminal; --dry-run shows what"
            " would be deleted"
        )


def confirm_deletion(descriptions: Sequence[str], is_confirmed: bool) -> None:
    """Ask the user whether to delete the described items, unless ``is_confirmed``.

    Raises ``ClickException`` if the answer is not yes.
    """
    if is_confirmed:
        return
    for description in descriptions:
        say(description)
    if not click.confirm("Delete for ever?", default=False, err=True):
        raise click.ClickException("nothing was deleted")


def describe_error(error: KwireError) -> str:
    """Format an error with a hint for the user, if there is one for its error code."""
    if isinstance(error, RequestRefused):
        hint = _HINTS.get(error.error_code)
    elif isinstance(error, TopicNotFound):
        hint = _HINTS[codes.UNKNOWN_TOPIC_OR_PARTITION]
    else:
        hint = None
    return explain(error) + (f"; {hint}" if hint else "")


def is_of_item(error: KwireError) -> bool:
    """Whether an error concerns only one item, so that other changes may succeed."""
    return isinstance(error, (NotAuthorized, RequestRefused, TopicNotFound))


def change_each(names: Iterable[str], change: Callable[[str], Any]) -> list[Outcome]:
    """Call ``change`` for every name, and return the outcomes.

    Errors are printed. After an error that concerns one item, the next item is changed.
    After any other error, for example a lost connection, the remaining items are
    neither changed nor returned.
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
    """Read the rows for all items. Returns the rows, and whether any item has failed.

    Errors are printed and handled as in ``change_each``.
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
    """Write a row per item, and return the exit code.

    * ``kind``: name of the item column, for example "topic".
    * ``done``: result if a change succeeded, for example "created".

    A table omits failed items, because their errors have been printed on stderr.
    """
    with open_output() as output:
        if form.is_table:
            rows = [
                ("", (done, outcome.name)) for outcome in outcomes if not outcome.error
            ]
            if rows:
                write_table(output, ("RESULT", kind.upper()), rows)
        else:
            writer = form.open_rows(output, (kind, "result", "error"))
            for outcome in outcomes:
                writer.write(
                    {
                        kind: outcome.name,
                        "result": "failed" if outcome.error else done,
                        "error": outcome.error or None,
                    }
                )
    return CANNOT if any(outcome.error for outcome in outcomes) else FINE


def check_requirements(requirements: Iterable[tuple[str, Any, str, Any]]) -> None:
    """Check options that require another option.

    A requirement is (option, its value, required option, its value). Raises
    ``UsageError`` if an option has a value, but the option that it requires does not.
    """
    for option, value, required, is_present in requirements:
        if value and not is_present:
            raise click.UsageError(f"{option} requires {required}")


def quote(name: str) -> str:
    """Quote a name for a one-line message. At most 100 characters are shown."""
    return escape_line(f"{name!r:.100}")
