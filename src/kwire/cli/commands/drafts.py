# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire drafts``: runs a Kafka design document on loopback sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...drafts.runs import find_document, report
from ...drafts.runs.requirement import run_document
from ..main import FINE, PROBLEMS
from ..output.tables import JsonLines, open_output

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_EXAMPLES = """\b
Examples:
  kwire drafts
  kwire drafts 002
  kwire drafts kip951_leader_endpoints --format jsonl

Exit codes: 0 all requirements are met; 1 an observed behaviour contradicts its
requirement; 2 wrong usage.
"""


@click.command(
    epilog=_EXAMPLES, short_help="Run a design document that Kafka never released."
)
@click.argument("document", required=False)
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("table", "jsonl")),
    default="table",
    help="Text (the default), or JSON lines.",
)
def command(document: str | None, form: str) -> int:
    """Run a design document on loopback sockets, and compare it with its text.

    The brokers and clients of the document run in this process. Each requirement is
    printed beside the observed behaviour. DOCUMENT is a number (002), a module
    (kip951_leader_endpoints) or a KIP (KIP-951). Without DOCUMENT: a list.
    """
    if document is None:
        _write(form, report.describe_documents(), report.list_documents())
        return FINE
    try:
        chosen = find_document(document)
    except LookupError as error:
        raise click.BadParameter(error.args[0], param_hint="DOCUMENT") from None
    results = run_document(chosen)
    _write(
        form,
        report.describe_results(chosen, results),
        report.format_report(chosen, results),
    )
    return FINE if all(result.is_met for result in results) else PROBLEMS


def _write(form: str, rows: Iterable[dict[str, Any]], lines: Iterable[str]) -> None:
    with open_output() as output:
        if form == "jsonl":
            writer = JsonLines(output)
            for row in rows:
                writer.write(row)
            return
        for line in lines:
            output.write(f"{line}\n")
