# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lets commands read their cluster address from the environment.

With ``KWIRE_BOOTSTRAP_SERVERS``, ``kwire read broker:9092 orders`` becomes ``kwire read
orders``. The first argument is the address if it contains a colon and is not an
existing path. Topic names never contain a colon.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click import Context, HelpFormatter

ADDRESS_VARIABLE = "KWIRE_BOOTSTRAP_SERVERS"
CONFIG_VARIABLE = "KWIRE_CONFIG"

_HELP = (
    f"Environment: {ADDRESS_VARIABLE} is the address if the first argument is none,"
    f" which is one without a colon. {CONFIG_VARIABLE} is the file of --config."
)


class ClusterCommand(click.Command):
    """Command whose first argument, ``address``, can be set in the environment."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse the arguments, and insert a missing address from the environment.

        Raises ``UsageError`` if the first argument is not an address and none is
        configured.
        """
        if not ctx.resilient_parsing:
            options, _, _ = self.make_parser(ctx).parse_args(list(args))
            first = options.get("address")
            is_name = isinstance(first, str) and not _is_address(first)
            configured = os.environ.get(ADDRESS_VARIABLE)
            if configured and (is_name or not isinstance(first, str)):
                args = [configured, *args]
            elif is_name:
                raise click.UsageError(
                    f"the first argument must be the address HOST:PORT (got"
                    f" {first!r:.100}); give it, or set {ADDRESS_VARIABLE}",
                    ctx,
                )
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Describe the supported environment variables before the exit codes."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_HELP)
        super().format_epilog(ctx, formatter)


def _is_address(text: str) -> bool:
    return ":" in text and not os.path.exists(text)
