# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The command group, its one-line error messages, and its exit codes.

Commands are the modules of ``commands/``. To add a command, add a module with a
function ``command``. A command returns its exit code (None means 0) and raises an
exception if it fails. ``Program.main`` prints the exception.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import sys
from typing import Any, NoReturn

import click

from .. import __version__
from .._engine.active import backend
from .._text import escape_line, format_name, suggest_names
from ..client.shown_texts import is_pem
from ..errors import KwireError
from .output.terminal import buffer_output, guard_terminals, say, say_usage

FINE = 0
PROBLEMS = 1
CANNOT = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

EXIT_CODES = (
    "Exit codes: 0 success; 1 problems found; 2 wrong usage, or a failure to read or"
    " write; 130 interrupted; 141 the reader of the output closed it."
)


class Program(click.Group):
    """Command group that imports a command when it is first used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the command names in alphabetical order."""
        folder = os.path.join(os.path.dirname(__file__), "commands")
        names = (module.name for module in pkgutil.iter_modules([folder]))
        return sorted(name.replace("_", "-") for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command by its name. Returns None if there is no such command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = f"{__package__}.commands.{cmd_name.replace('-', '_')}"
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command name at the beginning of the arguments.

        Raises ``UsageError`` if no command has this name. The message suggests the
        kwire command for another tool's command, or commands with similar names.
        """
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            near = _find_command(args[0]) or suggest_names(args[0], names)
            raise click.UsageError(f"unknown command {args[0]!r:.100}{near}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, flush stdout, and return the exit code."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_output()
            return PIPE_CLOSED
        except OSError as error:
            if error.filename is None and error.errno in _NO_ROOM:
                _drop_output()
            raise
        return code

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run the program and exit. Errors are printed as one line on stderr."""
        guard_terminals()
        buffer_output()
        options["standalone_mode"] = False
        try:
            code = super().main(*args, **options)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = CANNOT
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "kwire"
            text = error.format_message()
            if isinstance(error, click.NoSuchOption):
                text = _describe_option(error)
            if is_pem(text):
                # The text may contain a private key, which must not appear in a
                # terminal log.
                text = "an argument is PEM text; pass the path of a file instead"
            say_usage(path, _make_line(text))
            code = CANNOT
        except click.Abort:
            code = INTERRUPTED
        except (click.ClickException, KwireError, ImportError, OSError) as error:
            say(explain(error))
            code = CANNOT
        sys.exit(code or FINE)


def _find_command(name: str) -> str:
    """Suggest the kwire command for another tool's command. Empty if there is none."""
    from .._text.foreign_names import COMMANDS

    command = COMMANDS.get(name)
    return "" if command is None else f"; use kwire {command}"


def _describe_option(error: click.NoSuchOption) -> str:
    """Describe an unknown option, with advice if another tool has this option."""
    from .._text.foreign_names import OPTIONS
    from .._text.name_advice import find_advice

    advice = find_advice(OPTIONS, error.option_name)
    if not advice:
        return error.format_message()
    return f"no such option {error.option_name}{advice}"


def _drop_output() -> None:
    """Discard the output that stdout has buffered.

    Python flushes stdout when the process exits, and would print a second error.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain(error: Exception) -> str:
    """Format an exception as one line without control characters."""
    if isinstance(error, click.ClickException):
        return _make_line(error.format_message())
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        reason = error.strerror[:1].lower() + error.strerror[1:]
        return _make_line(f"{format_name(os.fsdecode(error.filename))}: {reason}")
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        # The error was raised while writing to stdout. Errors about other files contain
        # a file name, and connections do not fail with the numbers in ``_NO_ROOM``.
        return f"stdout: {os.strerror(error.errno).lower()}"
    if isinstance(error, OSError) and error.strerror:
        return _make_line(error.strerror[:1].lower() + error.strerror[1:])
    return _make_line(str(error))


def _make_line(text: str) -> str:
    return escape_line(" ".join(text.split()).removesuffix("."))


@click.command(
    cls=Program,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(
    __version__, prog_name="kwire", message=f"%(prog)s %(version)s, {backend} engine"
)
def program() -> None:
    """Inspect and manage Kafka: brokers, traffic, protocol bytes, and log files.

    \b
    Brokers           versions, topics, groups, configs, read, write, restore
    Traffic           record, audit
    Tests             serve
    Bytes             decode, explain, schema
    Log files         ls, dump, verify, repair
    Logs of clusters  export, offsets
    Spark             spark-bundle
    Designs           drafts
    Shell             completion

    PATH of log files is a broker's data directory, a parent directory of several, a
    partition directory, or one .log file. Data goes to stdout, messages to stderr.
    """  # noqa: D301 - click reads the escape
